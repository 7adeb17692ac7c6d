"""Tables of other libraries (polars, Arrow, ...) as pandas frames, column by column, through narwhals.

A column keeps its name and its kind: whole numbers beside empty cells stay whole, dates stay dates, durations stay
durations. The same values therefore give the same model whichever library holds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from pucli.core.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


class TableError(UsageError, ValueError):
    """Invalid table or cell; also a ValueError, as users of scikit-learn expect."""


_KIND = {"M": "dates", "m": "durations", "c": "complex numbers"}


def is_table(X: Any) -> bool:
    """Return whether X has named columns, whatever library made it."""
    if isinstance(X, np.ndarray | list | tuple) or issparse(X) or len(getattr(X, "shape", ("", ""))) < 2:
        return False
    kind = type(X)  # a lazy table would resolve its columns
    return any(hasattr(kind, name) for name in ("columns", "column_names", "__arrow_c_stream__", "__dataframe__"))


def to_pandas(X: Any) -> pd.DataFrame:
    """Return a table of any library as a pandas DataFrame; a lazy table is computed."""
    import narwhals as nw
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X
    try:
        table: Any = nw.from_native(X)
    except TypeError:
        return _by_protocol(X)
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    columns = {}
    for name in table.columns:
        try:
            columns[name] = _column(table[name])
        except (TypeError, ValueError, OverflowError, NotImplementedError) as error:
            raise TableError(f"column {name!r} of the {_library(X)} table cannot be read: {error}") from error
    return pd.DataFrame(columns, index=pd.RangeIndex(len(table)))


def _column(series: Any) -> Any:
    """Return a column of narwhals as pandas has it."""
    import narwhals as nw
    import pandas as pd

    kind = series.dtype
    if kind.is_decimal():
        # Arrow multiplies by powers of ten, which is not the nearest double
        return np.array([np.nan if cell is None else float(cell) for cell in series.to_list()], dtype=np.float64)
    if kind in (nw.Int128, nw.UInt128):  # NumPy has no such numbers
        return pd.Series(series.to_list(), dtype=object)
    if kind.is_integer() or kind == nw.Boolean:
        if series.null_count():
            name = "boolean" if kind == nw.Boolean else "Int64" if kind.is_signed_integer() else "UInt64"
            return pd.array(series.to_list(), dtype=name)
        return np.asarray(series.to_numpy())
    if kind.is_float():
        return np.asarray(series.to_numpy(), dtype=np.float64)
    if kind in (nw.Date, nw.Datetime, nw.Duration):
        return _moments(series)
    if kind in (nw.String, nw.Categorical, nw.Enum):
        return pd.Series(series.cast(nw.String).to_list())
    return pd.Series(series.to_list(), dtype=object)


def _moments(series: Any) -> Any:
    """Return a column of dates, moments or durations."""
    import narwhals as nw
    import pandas as pd

    zone = getattr(series.dtype, "time_zone", None)
    if zone is None:
        values = np.asarray(series.to_numpy())
        if values.dtype.kind in "Mm":
            return pd.Series(values)
        kind = "timedelta64[us]" if series.dtype == nw.Duration else "datetime64[us]"
        return pd.Series(np.array(series.to_list(), dtype=kind))
    moments = _moments(series.dt.convert_time_zone("UTC").dt.replace_time_zone(None))
    return moments.dt.tz_localize("UTC").dt.tz_convert(zone)


def _by_protocol(X: Any) -> pd.DataFrame:
    """Return a table that narwhals does not know: a record batch, or one with an interchange protocol."""
    import pandas as pd

    try:
        if hasattr(X, "__arrow_c_stream__"):
            import pyarrow as pa

            return to_pandas(pa.table(X))
        if hasattr(X, "__dataframe__"):
            return pd.api.interchange.from_dataframe(X)
    except (ImportError, TypeError, ValueError) as error:
        raise TableError(f"a table of {_library(X)} cannot be read: {error}; give it as pandas") from error
    raise TableError(f"a table of {_library(X)} cannot be read; give it as pandas, polars or pyarrow")


def _library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


def numeric_rows(estimator: Any, X: Any, *, reset: bool = True) -> Any:
    """Return X as scikit-learn takes it: a table as a pandas frame of numeric columns, anything else as it is."""
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)  # scikit-learn takes the values behind the mask
    if isinstance(X, dict) and not issparse(X):
        raise TableError("X is a dict of columns; give it as a table: pandas.DataFrame(X).")
    if isinstance(X, np.ndarray) and X.dtype.names:
        import pandas as pd

        X = pd.DataFrame(X)
    if not is_table(X):
        return _numeric_array(X, type(estimator).__name__)
    frame = to_pandas(X)
    if not frame.shape[1]:
        raise TableError(f"Found array with 0 feature(s) (shape={frame.shape}) while a minimum of 1 is required.")
    frame = _with_names(frame, estimator, reset)
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise TableError(f"two columns are named {twice[0]!r}; rename one of them.")
    for place, name in enumerate(frame.columns):
        _check_numeric(frame.iloc[:, place], name, type(estimator).__name__)
    return frame


def _numeric_array(X: Any, estimator: str) -> Any:
    """Return rows without column names with NaN for pandas.NA; refuse dates, which scikit-learn takes for numbers."""
    if issparse(X) and X.format in ("csr", "csc") and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()  # else squares of a cell's parts are taken, and sums have another order
        return X
    kind = X.dtype.kind if isinstance(X, np.ndarray) else ""
    if kind in _KIND and kind != "c":
        raise TableError(f"X holds {_KIND[kind]}, and {estimator} takes numbers alone; convert them first.")
    if kind == "O":
        import pandas as pd

        return np.where(pd.isna(X), np.nan, X)
    return X


def _with_names(frame: pd.DataFrame, estimator: Any, reset: bool) -> pd.DataFrame:
    """Return a frame whose column names are text: scikit-learn forgets other names, and then takes any order.

    Columns that pandas has numbered from 0 are left without names, as an array is.
    """
    names = frame.columns.tolist()
    if all(isinstance(name, str) for name in names):
        return frame
    texts, counted = [str(name) for name in names], [str(place) for place in range(len(names))]
    fitted = None if reset else getattr(estimator, "feature_names_in_", None)
    if texts == counted and (fitted is None or set(fitted) != set(texts)):
        return frame
    if not reset and fitted is None and sorted(texts) == sorted(counted):
        raise TableError(
            f"the columns are numbered {', '.join(texts[:5])}{', ...' * (len(texts) > 5)}, and the model was fitted to "
            "columns without names: put them in the order of the fit."
        )
    return frame.set_axis(texts, axis=1)


def _check_numeric(column: pd.Series, name: Any, estimator: str) -> None:
    """Raise TableError if a column is not made of numbers; numbers as text are numbers to scikit-learn."""
    kind = getattr(column.dtype, "kind", "O")
    way_out = f"pucli.data.TableEncoder encodes such columns: make_pipeline(TableEncoder(), {estimator}())"
    if kind in "iufbc":  # scikit-learn refuses complex numbers itself
        return
    if kind in _KIND:
        raise TableError(f"column {name!r} holds {_KIND[kind]}, and {estimator} takes numbers alone; {way_out}.")
    for cell in column.dropna().tolist() if kind == "O" else column.dropna().unique().tolist():
        try:
            float(cell)
        except (TypeError, ValueError):
            raise TableError(
                f"column {name!r} holds {str(cell)[:40]!r}, and {estimator} takes numbers alone; {way_out}."
            ) from None
        except OverflowError:
            raise TableError(f"column {name!r} holds a number of too many digits; correct it.") from None
