"""Input rows that a method cannot take as they are: empty cells, sparse rows, and rows of singular systems."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from pucli.core.arrays import Bools, Floats
from pucli.core.errors import warn_user
from pucli.core.memory import check_memory
from pucli.data.table_libraries import numeric_rows

# A fit makes about so many copies of its rows.
COPIES = 3
# Distances hardly see a feature whose standard deviation is smaller by this factor than that of another.
UNEQUAL = 1e5
# Rounding that changes a squared distance by this share.
OF_DISTANCES = 1e-3
LARGEST = float(np.sqrt(np.finfo(np.float64).max))


def validated(
    estimator: Any,
    X: Any,
    y: Any = "no_validation",
    *,
    reset: bool = True,
    sparse: str | bool = "csr",
    least_rows: int = 1,
    **how: Any,
) -> Any:
    """Return rows X (n, m) as float64, a sparse matrix if X is one, and the labels y (n,) if they are given."""
    rows = numeric_rows(estimator, X, reset=reset)
    # in C order, as sums in another order have other last bits
    how = {"dtype": np.float64, "order": "C", "accept_sparse": sparse, "ensure_min_samples": least_rows, **how}
    try:
        return validate_data(estimator, rows, y, reset=reset, **how)
    except (TypeError, OverflowError) as error:
        raise _of_no_number(X, error) from error
    except ValueError as error:
        text = str(error)
    name = type(estimator).__name__
    if "does not accept missing values" in text:
        raise ValueError(
            f"Input X contains NaN: {name} takes no empty cells, such as {_first(rows, np.isnan)}. "
            f"pucli.data.TableEncoder fills and marks them: make_pipeline(TableEncoder(), Standardizer(), {name}())."
        )
    if "X contains infinity" in text:
        raise ValueError(f"Input X contains infinity: {_first(rows, np.isinf)}; correct it or leave the row out.")
    if text.startswith("Complex data"):
        raise ValueError(f"Complex data not supported: {name} takes real numbers.")
    if text.startswith("Expected 2D"):  # followed by the data
        first, *_, last = text.splitlines()
        raise ValueError(f"{first.removesuffix(' instead:')}. {last}")
    raise ValueError(text)


def _of_no_number(X: Any, error: Exception) -> Exception:
    """Return the error about the first cell of X that is no number, or too large for one; else `error`."""
    for row, cells in enumerate(X.to_numpy() if hasattr(X, "iloc") else X if type(X) in (np.ndarray, list) else ()):
        for column, cell in enumerate(cells if isinstance(cells, np.ndarray | list | tuple) else ()):
            try:
                float(cell)
            except OverflowError:
                return ValueError(
                    f"Input X has a number of too many digits in row {row} and feature {column}; correct it."
                )
            except TypeError as found:  # scikit-learn's tests ask for this type
                return TypeError(f"row {row}, feature {column}: {found}. Convert it to a number first.")
            except ValueError:
                return error
    return error


def _first(rows: Any, bad: Callable[[Floats], Bools]) -> str:
    """Return the place of the first bad cell, for a message."""
    if issparse(rows):
        cells = rows.tocoo()
        k = int(np.argmax(bad(cells.data)))
        row, column = int(cells.row[k]), int(cells.col[k])
    else:
        array = np.asarray(rows.to_numpy(np.float64, na_value=np.nan) if hasattr(rows, "iloc") else rows, np.float64)
        row, column = (int(found[0]) for found in bad(array).nonzero())
    named = f"column {rows.columns[column]!r}" if hasattr(rows, "iloc") else f"feature {column}"
    return f"row {row}, {named}"


def explained_errors(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method `fit` with clear messages about singular matrices and numbers out of range."""

    @functools.wraps(fit)
    def explained(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return fit(self, *args, **kwargs)
        except (ZeroDivisionError, OverflowError) as error:
            raise ValueError(
                f"{type(self).__name__} cannot be fitted with these parameters: one is so small or so large that its "
                "square leaves double precision. Choose a width, a sigma or a weight nearer to 1."
            ) from error
        except ValueError as error:  # NumPy's LinAlgError, or libsvm's
            if not isinstance(error, np.linalg.LinAlgError) and not str(error).startswith("The dual coefficients"):
                raise
            raise ValueError(
                f"{type(self).__name__} cannot be fitted to these rows: its linear system is singular in double "
                "precision, because features are very large, very small or of very different size. Scale the features "
                "(for example to unit variance), or change the weights of the objective."
            ) from error

    return explained


def check_finite(estimator: Any) -> None:
    """Raise LinAlgError, which `explained_errors` turns into a clear message, if a hyperplane is not finite."""
    if not all(np.isfinite(vars(estimator).get(name, 0.0)).all() for name in ("_coef", "_intercept")):
        raise np.linalg.LinAlgError("the coefficients overflow")


def warn_of_sizes(estimator: Any, X: Floats, compared: str = "rows by their distances") -> None:
    """Warn if a feature varies `UNEQUAL` times less than another, which then hardly counts."""
    spread = X.std(axis=0)
    spread = spread[spread > 0.0]
    if spread.size and spread.max() > UNEQUAL * spread.min():
        warn_user(
            f"{type(estimator).__name__} compares {compared}, and one feature varies "
            f"{spread.max() / spread.min():.1g} times as much as another, which then has no weight; scale the features "
            "(for example to unit variance).",
        )


def warn_of_rounding(estimator: Any, X: Any) -> None:
    """Warn if rows X (n, m) are so far from zero that distances from their squares are mostly rounding."""
    if issparse(X):
        return
    largest = np.finfo(np.float64).eps * float((X**2).sum(axis=1).max())
    if largest > OF_DISTANCES * float(X.var(axis=0).sum()) > 0.0:
        warn_user(
            f"{type(estimator).__name__} takes distances of rows that are so far from zero that rounding changes them; "
            "subtract the means of the features.",
        )


def refuse_large(X: Any) -> None:
    """Raise ValueError if the square of a number in rows X (n, m), sparse or not, overflows."""
    values = X.data if issparse(X) else X
    if values.size and max(-np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)) > LARGEST:
        row, column = (int(found[0]) for found in (abs(X) > LARGEST).nonzero())
        raise ValueError(
            f"Input X has a number in row {row} and feature {column} whose square overflows in double precision; "
            "correct it or change the unit of the feature."
        )


def dense_rows(estimator: Any, X: Any) -> Floats:
    """Return rows X (n, m), sparse or not, as an array; refuse them before they fill the memory."""
    refuse_large(X)
    if not issparse(X):
        rows: Floats = X
        return rows
    n, m = X.shape
    check_memory(
        8.0 * COPIES * n * m,
        f"{type(estimator).__name__} on {n} x {m} sparse rows in dense form",
        "take fewer rows or features, or a method that keeps rows sparse: BLSSVM, BSVM, UPU(loss='double-hinge'), "
        "USMO(kernel='linear') or NaiveSVC(kernel='linear')",
    )
    made: Floats = X.toarray()
    return made
