"""Reading of a user's file as a table, with the place of each row for messages.

The format follows from the extension: .csv .tsv .txt .data .dat, .jsonl .ndjson .json, .arff, .libsvm .svm (these also
packed: .gz .bz2 .xz .zst .zip), .xlsx .xls .ods, .parquet .feather .arrow, .mat, .npz.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pucli.core.errors import UsageError, did_you_mean
from pucli.data.encode.doubtful_rows import doubtful_rows, parts_of, side_by_side
from pucli.data.encode.twice_encoded import WAY_OUT, twice_encoded
from pucli.data.files.binary.parquet_files import read_parquet
from pucli.data.files.binary.workbooks import read_sheet
from pucli.data.files.damaged import check_unpacked, damaged
from pucli.data.files.disguises import check_not_address, recognised
from pucli.data.files.packing import packing
from pucli.data.files.spool import is_stream, reread, shown
from pucli.data.files.table_size import (
    MOST_COLUMNS,
    cells_of_parquet,
    cells_of_text,
    check_columnar,
    check_filled,
    check_fits,
    text_bytes,
)
from pucli.data.files.text.decimal_comma import with_decimal_points
from pucli.data.files.text.json_lines import JSON, json_blocks
from pucli.data.files.text.layout import UNNAMED, check_names, is_text_table, text_head, text_layout
from pucli.data.files.text.libsvm import MOST_FEATURES, read_libsvm
from pucli.data.files.text.records import note
from pucli.data.files.text.text_files import SUFFIXES, doubtful_texts, is_plain, line_of, read_text
from pucli.data.files.unpacking import PACKED_SUFFIXES, is_packed, member_name, opened, plain_text
from pucli.data.frames import TableError
from pucli.data.ids import with_ids
from pucli.data.labels import LABEL
from pucli.data.reading import WANTED, Reading, normal, without_missing

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
    doubtful_texts : dict of str to str
        Columns that may be codes, though read as numbers or empty cells, each with an example.
    reading : Reading
        How the file was read, to read the next one alike.
    """

    frame: pd.DataFrame
    place: Callable[[int], str]
    naming: str = ""
    decimal_commas: frozenset[str] = frozenset()
    doubtful_texts: Mapping[str, str] = MappingProxyType({})
    reading: Reading = Reading()


class WideTable(NamedTuple):
    """Sparse features (n, m), named by their numbers from 1, and labels (n,).

    first_feature : int
        Number of the first feature in the file, 0 or 1.
    """

    X: csr_array
    y: Floats
    first_feature: int = 1

    @property
    def names(self) -> list[str]:
        """Return the names of the features."""
        return [str(i) for i in range(1, self.X.shape[1] + 1)]


LIBSVM = (".libsvm", ".svm", ".svmlight")
WIDE_CELLS = 20_000_000  # a LIBSVM file with fewer cells is read as a table (160 MB)
WIDE_SHARE = 0.1  # so is a file with a larger share of non-zeros
WIDE_COLUMNS = 20_000  # so is a file with more columns; a table takes time for each
_AS_IT_IS = Reading()
SHEET_BYTES = 16 * 2**20  # to which any spreadsheet may unpack


def open_table(
    path: Path,
    label: str | None,
    sheet: str | None = None,
    *,
    known: Collection[str] = (),
    as_text: Collection[str] = (),
    as_number: Collection[str] = (),
    how: Reading = _AS_IT_IS,
    keep: Collection[str] = (),
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
        Columns known to hold numbers, see `pucli.data.files.text.decimal_comma`.
    how : Reading
        The user's options.
    keep : collection of str
        Columns in which the user's words for empty cells are kept, such as identifiers.

    Raises
    ------
    UsageError
        The file is missing, empty or of an unknown format, or its content does not match its extension.
    """
    how = replace(how, sheet=sheet) if sheet else how
    with reading(path), reread(path) as file:
        wanted = [*known, *keep, label] if label is not None else [*known, *keep]
        table = _table(file, wanted, label, as_text, as_number, keep, how)
    frame = without_missing(with_ids(table.frame, keep), how.missing, keep)
    frame.columns = [normal(str(name)) for name in frame.columns]
    for text in doubtful_rows(frame, table.place):
        note(f"{shown(path)}: {text}")
    if twice := twice_encoded(list(frame.columns)):
        name, meant = twice
        note(f"{shown(path)}: the header was encoded as UTF-8 twice: {name!r} is probably {meant!r}; {WAY_OUT}")
    return table._replace(frame=frame, reading=replace(how, first_feature=table.reading.first_feature))


def _table(
    path: Path,
    known: Collection[str],
    label: str | None,
    as_text: Collection[str],
    as_number: Collection[str],
    ids: Collection[str],
    how: Reading,
) -> Table:
    kind = file_kind(path)
    check_content(path, kind)
    if kind in SUFFIXES:
        head = text_head(path, how)
        layout = text_layout(path, head, known, how)
        check_fits(path, cells_of_text(path, head, layout.separator))
        written = label is not None and not is_plain(head, layout, label)  # numbers are read in less time
        as_text = {*as_text, *how.formed, *([str(label)] if written else [])}
        [frame] = read_text(path, layout, as_text=as_text, ids=ids)
        frame = _without_empty(path, frame, known)
        inferred = layout.separator != "," and not how.decimal
        commas = with_decimal_points(frame, as_text, as_number) if inferred else frozenset()
        codes = doubtful_texts(head, layout)
        return Table(frame, lambda row: f"line {line_of(path, layout, row)}", layout.naming, commas, codes)
    if kind in SHEETS:
        return _sheet(path, known, label, how, as_text, ids)
    if kind == ".parquet":
        check_fits(path, cells_of_parquet(path))
        return Table(read_parquet(path, known, ids), lambda row: f"row {row + 1}")
    if kind in JSON:
        return _json(path, how)
    if kind in LIBSVM:
        return _libsvm(path, how, known)
    return _OPENERS[kind](path, label, None)


def _without_empty(path: Path, frame: pd.DataFrame, known: Collection[str]) -> pd.DataFrame:
    """Return a text table without empty columns that have no name."""
    unnamed = [name for name in frame.columns if name.startswith(UNNAMED) and name not in known]
    empty = {name for name in unnamed if frame[name].isna().all()}
    if not empty:
        return frame
    places = [place for place, name in enumerate(frame.columns) if name not in empty]
    kept = frame.drop(columns=list(empty))
    names = list(kept.columns)
    if beside := side_by_side(str(path), kept, parts_of(names, places, list(map(repr, names)))):
        note(beside)
    return kept


def check_applies(how: Reading, files: Collection[Path]) -> None:
    """Raise UsageError for an option that has no effect on any of the files."""
    if not files or how == _AS_IT_IS:
        return
    kinds = {Path(member_name(path).lower()).suffix for path in files if not is_stream(path)}
    if len(kinds) < 1 or not kinds <= set(KNOWN):
        return
    shown = next(iter(files))
    if how.sheet and not kinds & set(SHEETS):
        raise UsageError(f"--sheet {how.sheet}: {shown} has no sheets; only {' '.join(SHEETS)} have")
    if how.separator and not kinds & set(SUFFIXES):
        raise UsageError(f"--sep {how.separator}: {shown} is not separated text; leave it out")
    if how.encoding and not kinds & set(_PACKABLE):
        raise UsageError(f"--encoding {how.encoding}: {shown} is no text file; leave it out")
    if how.skip_rows and not kinds & {*SUFFIXES, *SHEETS}:
        raise UsageError(f"--skip-rows {how.skip_rows}: {shown} is neither separated text nor a workbook; leave it out")


def check_content(path: Path, kind: str) -> None:
    """Raise UsageError if the content of a file is of another kind than `kind`, the kind that its extension names."""
    with path.open("rb") as stream:
        head = stream.read(4096)
    packed = packing(head)
    found = recognised(head, path)
    if found is None and packed and (packed != "zip" or kind in _PACKABLE):
        with opened(path) as stream:
            found = recognised(stream.read(4096))
    alike = {".xls": SHEETS, ".xlsx": SHEETS, ".ods": SHEETS, ".json": JSON, ".jsonl": JSON, ".feather": FEATHER}
    if found is None and packed and kind not in _PACKABLE and path.suffix.lower() in PACKED_SUFFIXES:
        raise UsageError(f"{path} is a packed {kind} file, and only text is read packed; unpack it")
    if found is None or kind in alike.get(found.suffix, (found.suffix,)):
        return
    stem = path.name if path.suffix.lower() not in KNOWN else path.stem
    way_out = found.advice or f"name it {stem}{found.suffix}"
    expected = "" if kind in JSON and "JSON" in found.name else f", not {kind.lstrip('.').upper()}"
    raise UsageError(f"{path} is {found.name}{expected}; {way_out}")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn every error in reading `path` into a UsageError that describes it."""
    try:
        check_not_address(path)
        if path.is_dir():
            raise UsageError(f"{path} is a folder; give a file")
        if path.is_file() and path.stat().st_size == 0:
            raise UsageError(f"{path} is empty; {WANTED}")
        yield
    except UnicodeDecodeError as error:
        place, line = _not_utf8(path) if path.is_file() else (error.start, 0)
        where = f"line {line}, byte {place + 1}" if line else f"byte {place + 1}"
        raise UsageError(
            f"{path} is not UTF-8 text ({where}); give its encoding, e.g. --encoding cp1252 for a file from "
            "Windows, or save it as UTF-8"
        ) from error
    except FileNotFoundError as error:
        raise _missing(path) from error
    except ImportError as error:
        raise UsageError(f"{path}: {_needed(path, error)}") from error
    except TableError as error:  # of a table, which does not know its file
        raise UsageError(f"{path}: {error}") from error
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
    if path.suffix.lower() == ".ods":
        return "reading ODS needs odfpy: pip install 'pucli[ods]'"
    if path.suffix.lower() in FEATHER:
        return "reading Feather needs pyarrow: pip install 'pucli[parquet]'"
    return "reading Parquet needs pyarrow: pip install 'pucli[parquet]'"


def _not_utf8(path: Path) -> tuple[int, int]:
    """Return the position of the first byte that is not valid UTF-8, and its line from 1."""
    import codecs

    decoder, place, line = codecs.getincrementaldecoder("utf-8")(), 0, 1
    with opened(path) as stream:
        while raw := stream.read(2**20):
            kept = len(decoder.getstate()[0])
            try:
                decoder.decode(raw)
            except UnicodeDecodeError as error:
                return place - kept + error.start, line + raw[: max(error.start - kept, 0)].count(b"\n")
            place, line = place + len(raw), line + raw.count(b"\n")
    return place, line


def _missing(path: Path) -> UsageError:
    if not path.parent.is_dir():
        return UsageError(f"no file {path}: the folder {path.parent} does not exist")
    near = did_you_mean(path.name, sorted(entry.name for entry in path.parent.iterdir() if entry.is_file()))
    return UsageError(f"no file {path}" + (f"; {near}" if near else ""))


def file_kind(path: Path) -> str:
    """Return the extension of a file, without .gz etc.; raise UsageError for an unknown one.

    A file with another extension (adult.test) is recognised by its content, as a text file if its first lines look like
    a table.
    """
    suffix = Path(member_name(path).lower()).suffix
    if suffix in KNOWN:
        return suffix
    if path.is_file():
        with path.open("rb") as stream:
            found = recognised(stream.read(4096), path)
        if found is None and is_packed(path):
            with opened(path) as stream:
                found = recognised(stream.read(4096))
        if found is not None and found.suffix:
            return found.suffix
        if found is not None:
            raise UsageError(f"{path} is {found.name}; {found.advice}")
        if is_text_table(path):
            return ".txt"
    raise UsageError(f"{path}: unknown file type {suffix or path.name!r}; known: {FORMATS}")


def _sheet(
    path: Path,
    known: Collection[str],
    label: str | None,
    how: Reading,
    as_text: Collection[str],
    ids: Collection[str],
) -> Table:
    check_unpacked(path, free=SHEET_BYTES)
    as_shown = {*ids, label} if label is not None else ids
    found = read_sheet(path, how.sheet, skip_rows=how.skip_rows, known=known, as_text=as_text, as_shown=as_shown)
    others = ", ".join(map(repr, found.others))
    naming = f"; sheet {found.sheet!r} was read, the others are {others} (--sheet NAME)" if others else ""
    rows, sheet = found.rows, found.sheet
    return Table(found.frame, lambda row: f"row {rows[row]} of sheet {sheet!r}", naming)


def _json(path: Path, how: Reading) -> Table:
    import pandas as pd

    with plain_text(path, how) as text:
        blocks = list(json_blocks(path, text))
    frame, lines = blocks[0] if blocks else (pd.DataFrame(), [])
    return Table(frame, lambda row: f"line {lines[row]}")


def _feather(path: Path, label: str | None, sheet: str | None) -> Table:
    import pyarrow as pa

    with pa.memory_map(str(path)) as source:
        if source.read(6) != b"ARROW1":
            source.seek(0)
            if source.read(4) == b"FEA1":
                raise UsageError(
                    f"{path} is a Feather file of version 1, which cannot be checked; save it as version 2"
                )
            source.seek(0)
            content = pa.ipc.open_stream(source).read_all()
        else:
            source.seek(0)
            file = pa.ipc.open_file(source)
            batches, n_rows = [], 0
            for number in range(file.num_record_batches):
                batches.append(file.get_batch(number))
                n_rows += batches[-1].num_rows
                check_columnar(path, n_rows, len(file.schema.names))
                check_fits(path, n_rows * len(file.schema.names))
            content = pa.Table.from_batches(batches, file.schema)
        content.validate(full=True)  # else Arrow trusts lengths, positions of texts and codes of categories
        check_names(path, content.column_names)
        check_columnar(path, len(content), content.num_columns, sum(map(text_bytes, content.columns)))
        # identifiers in an index are columns, and integers beside empty cells stay exact
        frame = content.to_pandas(ignore_metadata=True, integer_object_nulls=True)
    return Table(frame, lambda row: f"row {row + 1}")


def _arff(path: Path, label: str | None, sheet: str | None) -> Table:
    from pucli.data.files.text.arff import read_arff

    try:
        frame, lines = read_arff(path)
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    check_names(path, list(frame.columns))
    return Table(frame, lambda row: f"line {lines[row]}")


def _libsvm(path: Path, how: Reading, known: Collection[str]) -> Table:
    from pucli.data.files.readers import label_frame

    X, y, first = read_libsvm(path, how)
    width = max([X.shape[1], *(int(name) for name in known if name.isdecimal() and int(name) <= MOST_FEATURES)])
    check_filled(
        path, X.shape[0], width, X.nnz, "a method that keeps rows sparse reads it (`pucli train --method blssvm`)"
    )
    check_fits(path, float(X.shape[0]) * width)
    X.resize(X.shape[0], width)  # a feature that no row has is zero
    frame = label_frame(X.toarray(), y, [str(i) for i in range(1, width + 1)])
    naming = f"; the label of a LIBSVM file is called {LABEL!r}"
    return Table(frame, lambda row: f"row {row + 1}", naming, reading=replace(how, first_feature=first))


def open_wide(path: Path, *, always: bool = False, how: Reading = _AS_IT_IS) -> WideTable | None:
    """Read a LIBSVM file as a sparse matrix; return None if it should be read as a table.

    Parameters
    ----------
    path : Path
    always : bool, default=False
        Whether to return a small or dense file as a sparse matrix as well.
    how : Reading
        The user's options, and the number of the first feature of the training file.

    Raises
    ------
    UsageError
        The file is missing or damaged, or, with `always`, not a LIBSVM file.
    """
    if is_stream(path) or Path(member_name(path).lower()).suffix not in LIBSVM:
        if always:
            raise UsageError(f"{path}: the model was trained on sparse rows; give a LIBSVM file ({' '.join(LIBSVM)})")
        return None
    with reading(path):
        X, y, first = read_libsvm(path, how)
        n_cells = X.shape[0] * X.shape[1]
        few = n_cells < WIDE_CELLS and X.shape[1] <= WIDE_COLUMNS
        if not always and (few or X.nnz > WIDE_SHARE * n_cells):
            return None
        return WideTable(X, y, first)


def _mat(path: Path, label: str | None, sheet: str | None) -> Table:
    from pucli.data.files.binary.mat import read_mat

    return _from_arrays(path, read_mat(path, label), label)


def _npz(path: Path, label: str | None, sheet: str | None) -> Table:
    check_unpacked(path)
    from pucli.data.files.binary.mat import check_npz

    check_npz(path)
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
        there = [
            f"{key} {value.shape}{' of complex numbers' * (value.dtype.kind == 'c')}"
            for key, value in sorted(arrays.items())
        ]
        raise UsageError(
            f"{path}: the features must be a matrix of real numbers called 'X'; variables: "
            + (
                ", ".join(there)
                or "none but cells and structs; save the matrix and the labels as variables of their own"
            )
        )
    if arrays[name].shape[1] > MOST_COLUMNS:
        raise UsageError(f"{path}: {name!r} has {arrays[name].shape[1]} columns; at most {MOST_COLUMNS} are read")
    frame = pd.DataFrame(np.asarray(arrays[name], dtype=np.float64))
    frame.columns = [str(i) for i in range(1, frame.shape[1] + 1)]
    if labels is not None:
        if labels.size != len(frame):
            turned = f"; save its transpose, {name}'" if labels.size == frame.shape[1] else ""
            raise UsageError(f"{path}: {labels.size} labels in {label!r} for {len(frame)} rows of {name!r}{turned}")
        frame[label] = labels.ravel()
    others = ", ".join(sorted(set(arrays) - {name}))
    naming = f"; the columns of {name!r} are numbered 1 to {arrays[name].shape[1]}" + (
        f", other variables: {others}" if others else ""
    )
    return Table(frame, lambda row: f"row {row + 1}", naming)


SHEETS = (".xlsx", ".xls", ".ods")
FEATHER = (".feather", ".arrow")
_OPENERS: dict[str, Callable[[Path, str | None, str | None], Table]] = {
    **dict.fromkeys(FEATHER, _feather),
    ".arff": _arff,
    ".mat": _mat,
    ".npz": _npz,
}
_PACKABLE = (*SUFFIXES, *JSON, ".arff", *LIBSVM)
KNOWN = (*_PACKABLE, *SHEETS, ".parquet", *_OPENERS)
FORMATS = (
    f"{' '.join(_PACKABLE)} (also {' '.join(PACKED_SUFFIXES)}), .xlsx .xls .mat .npz; with pucli[parquet]: .parquet "
    f"{' '.join(FEATHER)} and .zst; with pucli[ods]: .ods"
)
"""Known extensions, for messages."""
