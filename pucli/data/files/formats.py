"""Reading of a user's file as a table, with the place of each row for messages.

The format follows from the extension: .csv .tsv .txt .data .dat (also .gz), .xlsx .xls, .parquet, .arff, .mat, .npz,
.libsvm .svm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pucli.core.errors import UsageError, unknown
from pucli.data.files.damaged import check_unpacked, damaged
from pucli.data.files.decimal_comma import with_decimal_points
from pucli.data.files.table_size import cells_of_parquet, cells_of_text, check_fits
from pucli.data.files.text_files import (
    SUFFIXES,
    check_names,
    is_text_table,
    line_of,
    read_text,
    text_head,
    text_layout,
    zero_padded,
)
from pucli.data.labels import LABEL

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    from pucli.core.arrays import Floats


class Table(NamedTuple):
    """A table.

    frame : pandas.DataFrame
    place : callable
        Function from the number of a row to its place in the file ("line 17").
    naming : str
        Note for messages on how columns are named.
    decimal_commas : set of str
        The columns that are written with decimal commas.
    zero_padded : dict of str to str
        Columns of digits with leading zeros, each with an example.
    """

    frame: pd.DataFrame
    place: Callable[[int], str]
    naming: str = ""
    decimal_commas: frozenset[str] = frozenset()
    zero_padded: Mapping[str, str] = MappingProxyType({})


class WideTable(NamedTuple):
    """Sparse features (n, m), named by their numbers from 1, and labels (n,)."""

    X: csr_array
    y: Floats

    @property
    def names(self) -> list[str]:
        """Return the names of the features."""
        return [str(i) for i in range(1, self.X.shape[1] + 1)]


LIBSVM = (".libsvm", ".svm", ".svmlight")
WIDE_CELLS = 20_000_000  # a LIBSVM file with fewer cells is read as a table (160 MB)
WIDE_SHARE = 0.1  # so is a file with a larger share of non-zeros
MOST_FEATURES = 50_000_000  # of a LIBSVM file
SHEET_BYTES = 16 * 2**20  # to which any spreadsheet may unpack


def open_table(
    path: Path,
    label: str | None,
    sheet: str | None = None,
    *,
    known: Collection[str] = (),
    as_text: Collection[str] = (),
    as_number: Collection[str] = (),
) -> Table:
    """Read a file of one of the supported formats as a table.

    Parameters
    ----------
    path : Path
    label : str or None
        Column or variable of the labels, None if there is none; helps to recognise a header line.
    sheet : str, optional
        Sheet of a spreadsheet, by default the first.
    known : collection of str
        Other required columns, which also help to recognise a header line.
    as_text : collection of str
        Columns of a text file whose cells are kept as text ("007" is not 7).
    as_number : collection of str
        Columns known to hold numbers, see `pucli.data.files.decimal_comma`.

    Raises
    ------
    UsageError
        The file is missing, empty or of an unknown format, or its content does not match its extension.
    """
    with reading(path):
        kind = file_kind(path)
        if kind in SUFFIXES:
            head = text_head(path)
            layout = text_layout(path, head, [*known, label] if label is not None else known)
            check_fits(path, cells_of_text(path, head, layout.separator))
            [frame] = read_text(path, layout, as_text=as_text)
            commas = frozenset() if layout.separator == "," else with_decimal_points(frame, as_text, as_number)
            codes = zero_padded(head, layout)
            return Table(frame, lambda row: f"line {line_of(path, layout, row)}", layout.naming, commas, codes)
        if kind in {".xlsx", ".xls"}:
            return _excel(path, label, sheet, as_text)
        return _OPENERS[kind](path, label, sheet)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn every error in reading `path` into a UsageError that describes it."""
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder; give a file")
        if path.is_file() and path.stat().st_size == 0:
            raise UsageError(f"{path} is empty")
        yield
    except UnicodeDecodeError as error:
        place = _not_utf8(path) if path.is_file() else error.start
        raise UsageError(f"{path} is not UTF-8 text (byte {place + 1}); save it as UTF-8") from error
    except FileNotFoundError as error:
        raise _missing(path) from error
    except ImportError as error:
        raise UsageError(f"{path}: {_needed(path, error)}") from error
    except (UsageError, MemoryError):
        raise
    except OSError as error:
        if error.errno is None:  # a library's own, not the system's
            raise damaged(path, error) from error
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except Exception as error:  # the readers' libraries raise whatever they like on a damaged file
        raise damaged(path, error) from error


def _needed(path: Path, error: ImportError) -> str:
    """Return which package a file needs; pandas raises ImportError for one that is missing and for one too old."""
    needed = {".xlsx": ("XLSX", "openpyxl"), ".xls": ("XLS", "xlrd")}
    if path.suffix.lower() in needed:
        form, package = needed[path.suffix.lower()]
        return f"reading {form} needs {package}, no older than pandas asks: pip install --upgrade {package} ({error})"
    return "reading Parquet needs pyarrow: pip install 'pucli[parquet]'"


def _not_utf8(path: Path) -> int:
    """Return the position of the first byte that is not valid UTF-8."""
    import codecs
    import gzip

    decoder, place = codecs.getincrementaldecoder("utf-8")(), 0
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    with gzip.open(path) if packed else path.open("rb") as stream:
        while raw := stream.read(2**20):
            kept = len(decoder.getstate()[0])
            try:
                decoder.decode(raw)
            except UnicodeDecodeError as error:
                return place - kept + error.start
            place += len(raw)
    return place


def _missing(path: Path) -> UsageError:
    if not path.parent.is_dir():
        return UsageError(f"no file {path}: the folder {path.parent} does not exist")
    names = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    hint = str(unknown("file", path.name, names)) if names else f"unknown file {path.name!r}"
    near = re.search(r"did you mean .*\?", hint)
    return UsageError(f"no file {path}" + (f"; {near[0]}" if near else ""))


def file_kind(path: Path) -> str:
    """Return the extension of a file, without .gz; raise UsageError for an unknown one.

    A file with another extension (adult.test) is a text file if its first lines look like a table.
    """
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in SUFFIXES and suffix not in _OPENERS:
        if path.is_file() and is_text_table(path):
            return ".txt"
        if str(path) == "-":
            raise UsageError("- is stdin, which only `pucli predict` reads; write it to a file first")
        known = " ".join([*SUFFIXES, *_OPENERS])
        raise UsageError(f"{path}: unknown file type {suffix or path.name!r}; known: {known}")
    return suffix


def _excel(path: Path, label: str | None, sheet: str | None, as_text: Collection[str] = ()) -> Table:
    import pandas as pd

    from pucli.data.files.readers import excel_engine, read_excel

    check_unpacked(path, free=SHEET_BYTES)
    with pd.ExcelFile(path, engine=excel_engine(path)) as book:
        sheets = [str(name) for name in book.sheet_names]
    if sheet is not None and sheet not in sheets:
        raise UsageError(f"{path}: {unknown('sheet', sheet, sheets)}")
    frame = read_excel(path, sheets[0] if sheet is None else sheet, as_text=as_text).dropna(axis=1, how="all")
    empty = frame.isna().all(axis=1).to_numpy()
    rows = np.flatnonzero(~empty) + 2
    frame = frame[~empty].reset_index(drop=True)
    frame.columns = frame.columns.map(str)
    where = f"row {{}} of sheet {sheet or sheets[0]!r}"
    return Table(frame, lambda row: where.format(rows[row]))


def _parquet(path: Path, label: str | None, sheet: str | None) -> Table:
    import pandas as pd

    check_fits(path, cells_of_parquet(path))
    frame = pd.read_parquet(path).reset_index(drop=True)
    frame.columns = frame.columns.map(str)
    return Table(frame, lambda row: f"row {row + 1}")


def _arff(path: Path, label: str | None, sheet: str | None) -> Table:
    from pucli.data.files.arff import read_arff

    try:
        frame, lines = read_arff(path)
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    check_names(path, list(frame.columns))
    return Table(frame, lambda row: f"line {lines[row]}")


def _libsvm(path: Path, label: str | None, sheet: str | None) -> Table:
    from sklearn.datasets import load_svmlight_file

    from pucli.data.files.readers import label_frame

    X, y = load_svmlight_file(str(path))
    frame = label_frame(X.toarray(), y, [str(i) for i in range(1, X.shape[1] + 1)])
    return Table(frame, lambda row: f"row {row + 1}", f"; the label of a LIBSVM file is called {LABEL!r}")


def open_wide(path: Path, *, always: bool = False) -> WideTable | None:
    """Read a LIBSVM file as a sparse matrix; return None if it should be read as a table.

    Parameters
    ----------
    path : Path
    always : bool, default=False
        Whether to return a small or dense file as a sparse matrix as well.

    Raises
    ------
    UsageError
        The file is missing or damaged, or, with `always`, not a LIBSVM file.
    """
    if Path(path.name.lower().removesuffix(".gz")).suffix not in LIBSVM:
        if always:
            raise UsageError(f"{path}: the model was trained on sparse rows; give a LIBSVM file ({' '.join(LIBSVM)})")
        return None
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    with reading(path):
        check_unpacked(path)
        X, y = load_svmlight_file(str(path))
        if X.shape[1] > MOST_FEATURES:
            raise UsageError(f"{path} has a feature of number {X.shape[1]}; at most {MOST_FEATURES} are read")
        n_cells = X.shape[0] * X.shape[1]
        if not always and (n_cells < WIDE_CELLS or X.nnz > WIDE_SHARE * n_cells):
            return None
        return WideTable(csr_array(X), y)


def _mat(path: Path, label: str | None, sheet: str | None) -> Table:
    import scipy.sparse
    from scipy.io import loadmat

    try:
        content = loadmat(path)
    except NotImplementedError as error:
        raise UsageError(
            f"{path}: MATLAB 7.3 files are not supported; save the file in MATLAB with the option -v7"
        ) from error
    arrays = {
        name: value.toarray() if scipy.sparse.issparse(value) else value
        for name, value in content.items()
        if not name.startswith("__")
    }
    return _from_arrays(path, arrays, label)


def _npz(path: Path, label: str | None, sheet: str | None) -> Table:
    check_unpacked(path)
    with path.open("rb") as stream:
        saved = np.load(stream, allow_pickle=False)
        if isinstance(saved, np.ndarray):
            raise UsageError(f"{path} holds a single array; save features X and labels y with numpy.savez")
        return _from_arrays(path, {name: saved[name] for name in saved.files}, label)


def _from_arrays(path: Path, arrays: dict[str, np.ndarray], label: str | None) -> Table:
    """Return the table of the feature matrix (n, m) and the label vector (n,) among named arrays.

    The features are the variable "X", or the only numeric matrix. `label` names a variable or a column.
    """
    import pandas as pd

    labels = arrays.get(label) if label is not None else None
    if labels is not None and labels.size != max(labels.shape):
        raise UsageError(f"{path}: label {label!r} has shape {labels.shape}; it must be a vector")
    matrices = [
        name
        for name, value in arrays.items()
        if name != label and value.ndim == 2 and value.dtype.kind in "iufb" and (labels is None or min(value.shape) > 1)
    ]
    name = "X" if "X" in matrices else matrices[0] if len(matrices) == 1 else None
    if name is None:
        raise UsageError(
            f"{path}: the features must be a matrix called 'X'; variables: "
            + ", ".join(f"{key} {value.shape}" for key, value in sorted(arrays.items()))
        )
    frame = pd.DataFrame(np.asarray(arrays[name], dtype=np.float64))
    frame.columns = [str(i) for i in range(1, frame.shape[1] + 1)]
    if labels is not None:
        if labels.size != len(frame):
            raise UsageError(f"{path}: {labels.size} labels in {label!r} for {len(frame)} rows of {name!r}")
        frame[label] = labels.ravel()
    others = ", ".join(sorted(set(arrays) - {name}))
    naming = f"; the columns of {name!r} are numbered 1 to {arrays[name].shape[1]}" + (
        f", other variables: {others}" if others else ""
    )
    return Table(frame, lambda row: f"row {row + 1}", naming)


_OPENERS: dict[str, Callable[[Path, str | None, str | None], Table]] = {
    **dict.fromkeys((".xlsx", ".xls"), _excel),
    ".parquet": _parquet,
    ".arff": _arff,
    ".mat": _mat,
    ".npz": _npz,
    **dict.fromkeys(LIBSVM, _libsvm),
}
