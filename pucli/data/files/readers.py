"""Reading of declared files and scikit-learn data sets as tables with a label column.

Numbers are parsed to the nearest double, so that a spreadsheet and its text copy give the same bits.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pucli.core.arrays import AnyArray
from pucli.core.errors import RunError
from pucli.data.labels import LABEL
from pucli.data.older_pandas import is_older

if TYPE_CHECKING:
    import pandas as pd

    from pucli.data.schema import Column, DeclaredFormat


NULL = "\\N"  # of databases
NA = [
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
    *("NULL", "NaN", "None", "n/a", "nan", "null", NULL),
]
"""Texts that pandas reads as empty cells."""
_SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";", "blank": r"\s+"}


def read_declared(path: Path, reader: DeclaredFormat, columns: Iterable[Column] | None = None) -> pd.DataFrame:
    """Read a declared file as a table."""
    read = {"table": _read_text, "excel": _read_excel, "arff": _read_arff, "mat": _read_mat, "idx": _read_idx}[
        reader.kind
    ]
    try:
        return read(path, reader, None if columns is None else set(columns))
    except (ValueError, KeyError, TypeError, NotImplementedError) as error:  # parser errors of pandas are ValueErrors
        raise RunError(f"{path} cannot be read as declared ({reader.kind}): {error}") from error


def _read_text(path: Path, reader: DeclaredFormat, columns: set[Column] | None) -> pd.DataFrame:
    header = None if reader.header == "none" or reader.columns else 0
    used: Any = None if columns is None else (lambda name: name in columns)
    if columns is not None and header is None and not reader.columns:
        used = sorted(columns)  # positions: pandas asks a function about names alone
    return read_csv(
        path,
        sep=_SEPARATORS[reader.separator],
        header=header,
        names=reader.columns,
        skiprows=reader.skip,
        usecols=used,
        keep_default_na=False,
        na_values=[""],
    )


def read_csv(source: Any, **options: Any) -> pd.DataFrame:
    """Read a path or a stream of bytes as a text table, each number rounded to the nearest double.

    A stream needs the method `read` alone, and `__iter__`, which pandas asks for but does not call.
    """
    import pandas as pd

    if is_older():
        options["float_precision"] = "round_trip"
    frame: pd.DataFrame = pd.read_csv(source, low_memory=False, index_col=False, skipinitialspace=True, **options)
    return frame


def _read_excel(path: Path, reader: DeclaredFormat, columns: set[Column] | None) -> pd.DataFrame:
    header = None if reader.header == "none" else 0
    frame = read_excel(path, 0 if reader.sheet is None else reader.sheet, header=header, skiprows=reader.skip)
    return frame.dropna(how="all").dropna(axis=1, how="all")


def excel_engine(path: Path) -> Literal["openpyxl", "xlrd", "calamine"]:
    """Return the reader of a workbook: the newer kinds are ZIP archives, of which ODS names its type."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            return "xlrd"
    with zipfile.ZipFile(path) as archive:
        return "calamine" if "mimetype" in archive.namelist() else "openpyxl"


def read_excel(
    path: Path, sheet: str | int, header: int | None = 0, skiprows: int = 0, as_text: Iterable[str] = ()
) -> pd.DataFrame:
    """Return a sheet of a .xlsx or .xls file; only empty cells are missing values."""
    import pandas as pd

    kept: dict[str, Any] = {"dtype": dict.fromkeys(as_text, str)} if as_text else {}

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*xlrd.*")  # pandas 3 announces another reader for .xls
        frame = pd.read_excel(
            path,
            engine=excel_engine(path),
            sheet_name=sheet,
            header=header,
            skiprows=skiprows,
            keep_default_na=False,
            na_values=[""],
            **kept,
        )
    return frame.rename(columns=lambda name: name.strip() if isinstance(name, str) else name)


def _read_arff(path: Path, reader: DeclaredFormat, columns: set[Column] | None) -> pd.DataFrame:
    from pucli.data.files.text.arff import read_arff

    return read_arff(path)[0]


def _read_mat(path: Path, reader: DeclaredFormat, columns: set[Column] | None) -> pd.DataFrame:
    from pucli.data.files.binary.mat import read_mat

    content = read_mat(path, reader.labels)
    labels = np.asarray(content[reader.labels])
    codes = labels.argmax(axis=1) if labels.ndim == 2 and labels.shape[1] > 1 else labels.ravel()
    return label_frame(content[reader.features], codes)


def _read_idx(path: Path, reader: DeclaredFormat, columns: set[Column] | None) -> pd.DataFrame:
    from pucli.data.files.binary.idx import idx_table

    return idx_table(path)


def label_frame(X: AnyArray, labels: AnyArray, names: Iterable[Column] | None = None) -> pd.DataFrame:
    """Return a table of the features and a column "label"."""
    import pandas as pd

    frame = pd.DataFrame(np.asarray(X, dtype=np.float64))
    if names is not None:
        frame.columns = list(names)
    frame[LABEL] = np.asarray(labels)
    return frame


def read_sklearn(name: str, parameters: Mapping[str, float]) -> pd.DataFrame:
    """Return a data set that comes with scikit-learn, with class names as labels, or one that it draws."""
    import sklearn.datasets

    if name == "make_classification":
        X, y = sklearn.datasets.make_classification(**parameters)
        return label_frame(X.round(6) + 0.0, y)  # no -0
    bunch = getattr(sklearn.datasets, f"load_{name}")()
    classes = np.asarray(bunch.target_names)
    return label_frame(bunch.data, classes[bunch.target], bunch.feature_names)
