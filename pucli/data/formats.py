"""A user's own file as a table, with the place of each row as its user counts it.

Told by the name: .csv .tsv .txt .data .dat (also .gz), .xlsx .xls, .parquet, .arff, .mat, .npz, .libsvm .svm.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pucli.data.labels import LABEL
from pucli.data.readers import read_csv
from pucli.errors import UsageError, unknown

if TYPE_CHECKING:
    import pandas as pd


class Table(NamedTuple):
    """Columns by name; the place in the file of row i ("line 17"); what to say about how columns are named."""

    frame: pd.DataFrame
    place: Callable[[int], str]
    naming: str = ""


def open_table(path: Path, label: str | None, sheet: str | None = None) -> Table:
    """Return the table in a file of one of the known formats.

    Parameters
    ----------
    path : the file.
    label : the label's column or variable, None if there is none; helps to tell a header line from data.
    sheet : sheet of a spreadsheet, the first one if None.

    Raises
    ------
    UsageError
        The file is missing, empty, of an unknown kind, or not what its name says.
    """
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name a file")
        if path.stat().st_size == 0:
            raise UsageError(f"{path} is empty")
        return _opener(path)(path, label, sheet)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text (byte {error.start + 1}); save it as UTF-8") from error
    except FileNotFoundError as error:
        raise _missing(path) from error
    except ImportError as error:
        raise UsageError(f"{path}: reading Parquet needs pyarrow: pip install 'pucli[parquet]'") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except UsageError:
        raise
    except Exception as error:  # the readers' libraries raise whatever they like on a damaged file
        kind, message = path.suffix.lstrip(".").upper(), " ".join(str(error).split())
        raise UsageError(
            f"{path} is damaged or not {kind}; save it again, or name it for what it is. The reader says: {message}"
        ) from error


def _missing(path: Path) -> UsageError:
    if not path.parent.is_dir():
        return UsageError(f"no file {path}: the folder {path.parent} does not exist")
    names = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    hint = str(unknown("file", path.name, names)) if names else f"unknown file {path.name!r}"
    near = re.search(r"did you mean .*\?", hint)
    return UsageError(f"no file {path}" + (f"; {near[0]}" if near else ""))


def _opener(path: Path) -> Callable[[Path, str | None, str | None], Table]:
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in _OPENERS:
        raise UsageError(f"{path}: unknown file type {suffix or path.name!r}; known: {' '.join(_OPENERS)}")
    return _OPENERS[suffix]


def _text(path: Path, label: str | None, sheet: str | None) -> Table:
    import pandas as pd

    text = _decoded(path)
    if not text.strip():
        raise UsageError(f"{path} is empty")
    separator = _separator(path, text)
    first, *more = _records(text, separator, count=2)
    second = more[0] if more else []
    header = _has_header(first, second, label)
    if header and len(second) == len(first) + 1:  # R's write.table: row names without a name
        first = ["row", *first]
    names = [cell.strip() for cell in first] if header else [str(i) for i in range(1, len(first) + 1)]
    _check_names(path, names)
    if second and len(second) > len(names):
        raise UsageError(f"{path}: a data row has {len(second)} fields, the header {len(names)}; make them equal")
    if header and not second:
        raise UsageError(f"{path} has a header line and no data rows")
    try:
        frame = read_csv(
            path,
            sep=r"\s+" if separator == " " else separator,
            header=0 if header else None,
            names=names,
            encoding="utf-8-sig",
        )
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found is None:
            raise
        raise UsageError(
            f"{path}: line {found[2]} has {found[3]} fields, the lines before have {found[1]}; correct that line"
        ) from error
    naming = "" if header else f"; the file has no header line, its columns are numbered 1 to {len(names)}"
    return Table(frame, lambda row: f"line {_line_of(text, separator, row + header)}", naming)


def _decoded(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")


def _separator(path: Path, text: str) -> str:
    """Return the separator: by the name for .tsv, else the one that splits the first lines most evenly."""
    if path.name.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    lines = [line for line in text[: 2**16].splitlines()[:20] if line.strip()]
    counts = {sep: [len(record) for record in csv.reader(lines, delimiter=sep)] for sep in ",;\t"}
    best = max(counts, key=lambda sep: min(counts[sep]))
    if min(counts[best]) > 1:
        return best
    if path.name.lower().removesuffix(".gz").endswith(".csv"):
        return ","
    return " " if min(len(line.split()) for line in lines) > 1 else ","


def _records(text: str, separator: str, count: int) -> list[list[str]]:
    """Return the first records that are not blank."""
    found: list[list[str]] = []
    for _, record in _numbered(text, separator):
        found.append(record)
        if len(found) == count:
            break
    return found


def _line_of(text: str, separator: str, position: int) -> int:
    """Return the line (from 1) on which record `position` (from 0, blank ones not counted) begins."""
    for index, (line, _) in enumerate(_numbered(text, separator)):
        if index == position:
            return line
    return position + 1


def _numbered(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line on which it begins, fields) of the records that are not blank."""
    lines = io.StringIO(text, newline=None)  # lazily, and with every kind of line end
    if separator == " ":
        yield from ((number, line.split()) for number, line in enumerate(lines, start=1) if line.strip())
        return
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    begin = 1
    for record in reader:
        if record and (len(record) > 1 or record[0].strip()):
            yield begin, record
        begin = reader.line_num + 1


def _has_header(first: list[str], second: list[str], label: str | None) -> bool:
    """Tell a header line from data: it names the label, or has text where the next line has a number."""
    cells = [cell.strip() for cell in first]
    if label is not None and label in cells and not _number(label):
        return True
    if not any(_number(cell) for cell in cells):
        # all text: a header names its columns differently, and no column is named by a number in it
        return len(set(cells)) == len(cells) and not (label is not None and _number(label))
    return any(not _number(top) and _number(below) for top, below in zip(cells, second, strict=False))


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _check_names(path: Path, names: list[str]) -> None:
    for left, right in pairwise(sorted(names)):
        if left == right:
            raise UsageError(f"{path}: two columns are named {left!r}; rename one of them")


def _excel(path: Path, label: str | None, sheet: str | None) -> Table:
    import pandas as pd

    from pucli.data.readers import read_excel

    with pd.ExcelFile(path) as book:
        sheets = [str(name) for name in book.sheet_names]
    if sheet is not None and sheet not in sheets:
        raise UsageError(f"{path}: {unknown('sheet', sheet, sheets)}")
    frame = read_excel(path, sheets[0] if sheet is None else sheet).dropna(axis=1, how="all")
    empty = frame.isna().all(axis=1).to_numpy()
    rows = np.flatnonzero(~empty) + 2
    frame = frame[~empty].reset_index(drop=True)
    frame.columns = frame.columns.map(str)
    where = f"row {{}} of sheet {sheet or sheets[0]!r}"
    return Table(frame, lambda row: where.format(rows[row]))


def _parquet(path: Path, label: str | None, sheet: str | None) -> Table:
    import pandas as pd

    frame = pd.read_parquet(path).reset_index(drop=True)
    frame.columns = frame.columns.map(str)
    return Table(frame, lambda row: f"row {row + 1}")


def _arff(path: Path, label: str | None, sheet: str | None) -> Table:
    from pucli.data.arff import read_arff

    try:
        frame, lines = read_arff(path)
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    _check_names(path, list(frame.columns))
    return Table(frame, lambda row: f"line {lines[row]}")


def _libsvm(path: Path, label: str | None, sheet: str | None) -> Table:
    from sklearn.datasets import load_svmlight_file

    from pucli.data.readers import label_frame

    X, y = load_svmlight_file(str(path))
    frame = label_frame(X.toarray(), y, [str(i) for i in range(1, X.shape[1] + 1)])
    return Table(frame, lambda row: f"row {row + 1}", f"; the label of a LIBSVM file is called {LABEL!r}")


def _mat(path: Path, label: str | None, sheet: str | None) -> Table:
    import scipy.sparse
    from scipy.io import loadmat

    try:
        content = loadmat(path)
    except NotImplementedError as error:
        raise UsageError(f"{path}: MATLAB 7.3 files are not read; save it in MATLAB with the option -v7") from error
    arrays = {
        name: value.toarray() if scipy.sparse.issparse(value) else value
        for name, value in content.items()
        if not name.startswith("__")
    }
    return _from_arrays(path, arrays, label)


def _npz(path: Path, label: str | None, sheet: str | None) -> Table:
    with path.open("rb") as stream:
        saved = np.load(stream, allow_pickle=False)
        if isinstance(saved, np.ndarray):
            raise UsageError(f"{path} holds a single array; save features X and labels y with numpy.savez")
        return _from_arrays(path, {name: saved[name] for name in saved.files}, label)


def _from_arrays(path: Path, arrays: dict[str, np.ndarray], label: str | None) -> Table:
    """Return the table of a feature matrix (n, m) and a label vector (n,) among named arrays.

    The features are the variable "X", else the only numeric matrix. The label is the variable or column named.
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
    **dict.fromkeys((".csv", ".tsv", ".txt", ".data", ".dat"), _text),
    **dict.fromkeys((".xlsx", ".xls"), _excel),
    ".parquet": _parquet,
    ".arff": _arff,
    ".mat": _mat,
    ".npz": _npz,
    **dict.fromkeys((".libsvm", ".svm", ".svmlight"), _libsvm),
}
