"""Reading of a user's file, or of several with the same columns, as a table, with the place of each row for messages.

The format follows from the extension: .csv .tsv .txt .data .dat, .jsonl .ndjson .json, .arff, .libsvm .svm (these also
packed: .gz .bz2 .xz .zst .zip), .xlsx .xls .ods, .parquet .feather .arrow, .mat, .npz.
"""

from __future__ import annotations

import bisect
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pucli.core.errors import UsageError, missing_file, unknown
from pucli.core.plug_ins import named
from pucli.data.columns.cells import TableError
from pucli.data.columns.doubtful_rows import doubtful_rows, parts_of, side_by_side
from pucli.data.columns.doubts import HINT, twice_encoded
from pucli.data.files.binary.parquet_files import feather_table, parquet_blocks, read_parquet
from pucli.data.files.binary.workbooks import read_sheet
from pucli.data.files.disguises import Disguise, check_not_address, packing, recognized
from pucli.data.files.packed import (
    PACKED_SUFFIXES,
    check_unpacked,
    damaged,
    is_packed,
    member_name,
    opened,
    plain_text,
)
from pucli.data.files.spool import STDIN, check_ends, is_stream, reread, shown
from pucli.data.files.table import Reader, ReadRequest, Table, WideTable
from pucli.data.files.table_size import cells_of_parquet, cells_of_text, check_filled, check_fits
from pucli.data.files.text.clean import doubtful_texts, is_plain, read_clean
from pucli.data.files.text.decimal_comma import with_decimal_points
from pucli.data.files.text.encodings import SAMPLE, choices
from pucli.data.files.text.json_lines import JSON, read_objects
from pucli.data.files.text.layout import UNNAMED, is_text_table, text_head, text_layout
from pucli.data.files.text.libsvm import MOST_FEATURES, read_libsvm
from pucli.data.files.text.records import note
from pucli.data.files.text.text_files import SUFFIXES, head_cells, line_of, read_text, text_blocks
from pucli.data.ids import with_ids
from pucli.data.labels import LABEL
from pucli.data.reading import AS_IT_IS, WANTED, Reading, normal, without_missing

if TYPE_CHECKING:
    import pandas as pd

LIBSVM = (".libsvm", ".svm", ".svmlight")
SHEETS = (".xlsx", ".xls", ".ods")
FEATHER = (".feather", ".arrow")
PACKABLE = (*SUFFIXES, *JSON, ".arff", *LIBSVM)
BINARY = (*SHEETS, ".parquet", *FEATHER, ".mat", ".npz")
KNOWN = (*PACKABLE, *BINARY)
FORMATS = (
    f"{' '.join(PACKABLE)} (also {' '.join(PACKED_SUFFIXES)}), .xlsx .xls .ods .mat .npz; with pucli[parquet]: "
    f".parquet {' '.join(FEATHER)} and .zst"
)
"""Known extensions, for messages."""


def check_applies(how: Reading, files: Collection[Path]) -> None:
    """Raise UsageError for an option that has no effect on any of the files."""
    if how.format:
        _given_kind(how)
    if not files or how == AS_IT_IS:
        return
    kinds = {Path(member_name(path).lower()).suffix for path in files if not is_stream(path)}
    if how.format:
        kinds = {_given_kind(how)}
    if len(kinds) < 1 or not kinds <= set(KNOWN):
        return
    shown = next(iter(files))
    if how.sheet and not kinds & set(SHEETS):
        raise UsageError(f"--sheet {how.sheet}: {shown} has no sheets; only {' '.join(SHEETS)} have")
    if how.separator and not kinds & set(SUFFIXES):
        raise UsageError(f"--sep {how.separator}: {shown} is not separated text; leave it out")
    if how.encoding and not kinds & set(PACKABLE):
        raise UsageError(f"--encoding {how.encoding}: {shown} is no text file; leave it out")
    if how.skip_rows and not kinds & {*SUFFIXES, *SHEETS}:
        raise UsageError(f"--skip-rows {how.skip_rows}: {shown} is neither separated text nor a workbook; leave it out")
    for option, value in (("--header-rows", how.header_rows), ("--skip-footer", how.skip_footer)):
        if value is not None and not kinds & {*SUFFIXES, *SHEETS}:
            raise UsageError(f"{option} {value}: {shown} is neither separated text nor a workbook; leave it out")
    if how.quote and not kinds & set(SUFFIXES):
        raise UsageError(f"--quote {how.quote}: {shown} is not separated text; leave it out")


def check_content(path: Path, kind: str) -> None:
    """Raise UsageError if the content of a file is of another kind than `kind`, the kind that its extension names."""
    with path.open("rb") as stream:
        head = stream.read(4096)
    if kind not in KNOWN and reader_of(kind).recognize(head):
        return
    packed = packing(head)
    found = recognized(head, path)
    if found is None and packed and (packed != "zip" or kind in PACKABLE):
        with opened(path) as stream:
            found = recognized(stream.read(4096))
    alike = {".xls": SHEETS, ".xlsx": SHEETS, ".ods": SHEETS, ".json": JSON, ".jsonl": JSON, ".feather": FEATHER}
    if found is None and packed and kind not in PACKABLE and path.suffix.lower() in PACKED_SUFFIXES:
        raise UsageError(f"{path} is a packed {kind} file, and only text is read packed; unpack it")
    if found is None and not packed and kind in BINARY and is_text_table(path):
        found = Disguise("a text file", ".csv")
    if found is None or kind in alike.get(found.suffix, (found.suffix,)):
        return
    stem = path.name if path.suffix.lower() not in KNOWN else path.stem
    way_out = found.advice or f"name it {stem}{found.suffix}, or add --format {found.suffix.lstrip('.')}"
    expected = "" if kind in JSON and "JSON" in found.name else f", not {kind.lstrip('.').upper()}"
    raise UsageError(f"{path} is {found.name}{expected}; {way_out}")


def _given_kind(how: Reading) -> str:
    """Return the extension that --format names; raise UsageError for an unknown one."""
    kind = f".{how.format}"
    if kind not in KNOWN and kind not in (known := readers()):
        raise unknown("format", how.format, [name.lstrip(".") for name in known])
    return kind


def file_kind(path: Path, how: Reading = AS_IT_IS) -> str:
    """Return the extension of a file, without .gz etc.; raise UsageError for an unknown one.

    A file with another extension (adult.test) is recognized by its content, as a text file if its first lines look like
    a table when they are read as `how` says.
    """
    if how.format:
        return _given_kind(how)
    suffix = Path(member_name(path).lower()).suffix
    if suffix in KNOWN or suffix in (known := readers()):
        return suffix
    if path.is_file():
        with path.open("rb") as stream:
            start = stream.read(4096)
        found = recognized(start, path)
        if found is None and is_packed(path):
            with opened(path) as stream:
                found = recognized(stream.read(4096))
        if found is not None and found.suffix:
            return found.suffix
        if other := next((kind for kind, one in known.items() if one.recognize(start)), ""):
            return other
        if found is not None:
            raise UsageError(f"{path} is {found.name}; {found.advice}")
        if is_text_table(path, how):
            return ".txt"
    if not path.exists():
        raise FileNotFoundError(path)
    raise UsageError(
        f"{path}: unknown file type {suffix or path.name!r}; if it is one of these, say which, such as --format csv: "
        f"{FORMATS}"
    )


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn every error in reading `path` into a UsageError that describes it."""
    try:
        check_not_address(path)
        check_ends(path)
        if path == STDIN:
            path = Path(shown(path))
        else:
            _check_filled(path)
        before = _state(path)
        yield
        _check_same(path, before)
    except UnicodeDecodeError as error:
        if path.suffix.lower() in BINARY:  # a name inside of it
            raise damaged(path, error) from error
        place, line, sample = error.start, 0, _lines_at(error.object, error.start)
        if path.is_file():
            place, line, sample = _not_utf8(path)
        where = f"line {line}, byte {place + 1}" if line else f"byte {place + 1}"
        fitting = choices(sample) or "cp1252 for a file from Windows"
        raise UsageError(
            f"{path} is not UTF-8 text ({where}); give its encoding, e.g. --encoding {fitting}, or save it as UTF-8"
        ) from error
    except FileNotFoundError as error:
        raise missing_file(path) from error
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


def _state(path: Path) -> tuple[int, int] | None:
    """Return what changes with the content of a file; None for a stream, and for a file that is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _check_same(path: Path, before: tuple[int, int] | None) -> None:
    """Raise UsageError if a file has changed since `before`, its state; rows may be lost, or belong to two files."""
    now = _state(path)
    if before and before[0] and now and now != before:
        raise UsageError(f"{path} changed while it was read; take a copy of it, or run this once it is written")


def _check_filled(path: Path) -> None:
    """Raise UsageError for a folder and an empty file; files of /proc and of some remote folders only look empty."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give a file")
    if path.is_file() and path.stat().st_size == 0:
        with path.open("rb") as stream:
            if not stream.read(1):
                raise UsageError(f"{path} is empty; {WANTED}")


def _needed(path: Path, error: ImportError) -> str:
    """Return which package a file needs; pandas raises ImportError for one that is missing and for one too old."""
    needed = {".xlsx": ("XLSX", "openpyxl"), ".xls": ("XLS", "xlrd"), ".ods": ("ODS", "python-calamine")}
    if path.suffix.lower() in needed:
        form, package = needed[path.suffix.lower()]
        return f"reading {form} needs {package}, no older than pandas asks: pip install --upgrade {package} ({error})"
    if path.suffix.lower() in FEATHER:
        return "reading Feather needs pyarrow: pip install 'pucli[parquet]'"
    return "reading Parquet needs pyarrow: pip install 'pucli[parquet]'"


def _not_utf8(path: Path) -> tuple[int, int, bytes]:
    """Return the position of the first byte that is not valid UTF-8, its line from 1, and that line and some below."""
    import codecs

    decoder, place, line = codecs.getincrementaldecoder("utf-8")(), 0, 1
    with opened(path) as stream:
        while raw := stream.read(2**20):
            kept = len(decoder.getstate()[0])
            try:
                decoder.decode(raw)
            except UnicodeDecodeError as error:
                at = max(error.start - kept, 0)
                lines = _lines_at(raw + stream.read(SAMPLE), at)
                return place - kept + error.start, line + raw[:at].count(b"\n"), lines
            place, line = place + len(raw), line + raw.count(b"\n")
    return place, line, b""


def _lines_at(raw: bytes, place: int) -> bytes:
    """Return some lines of a text, from that of a byte on."""
    first = raw.rfind(b"\n", 0, place) + 1
    lines = raw[first : first + SAMPLE].splitlines(keepends=True)
    return b"".join(lines[:-1] or lines)


MOST_PARTS = 10_000
MISSING = "__HIVE_DEFAULT_PARTITION__"
# Folders of tables whose valid parts stand in a log, by what they hold. Few catalogues of Iceberg write a hint.
LOGGED = {
    "_delta_log": "Delta Lake",
    ".hoodie": "Hudi",
    "metadata/version-hint.text": "Iceberg",
    "metadata/*.metadata.json": "Iceberg",
}


def parts_of_folder(folder: Path) -> list[Path]:
    """Return the part files of a folder and the folders in it, by name, without empty, hidden and marker files."""
    for mark, kind in LOGGED.items():
        if any(folder.glob(mark)):
            raise UsageError(
                f"{folder} is a table of {kind}, whose log tells which parts are valid; write it as Parquet"
            )
    there = (
        path
        for path in folder.rglob("*")
        if not any(name.startswith(("_", ".")) for name in path.relative_to(folder).parts)
        and path.is_file()
        and path.stat().st_size
    )
    parts = sorted(islice(there, MOST_PARTS + 1))
    if len(parts) > MOST_PARTS:
        raise UsageError(f"{folder} is a folder with more than {MOST_PARTS:,} files; join them to fewer parts")
    if not parts:
        raise UsageError(f"{folder} is a folder without a file that is read; give a file, or a folder of part files")
    kinds = {path.suffix.lower(): path for path in parts}
    if len(kinds) > 1:
        first, second, *_ = kinds.values()
        raise UsageError(
            f"{folder} is a folder with files of several kinds, such as {first.name} and {second.name}; give one of "
            "them, or a folder of part files alone"
        )
    return parts


def with_partition(path: Path, frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the columns that the folders of its file name; a column that the file has stays."""
    columns = {name: value for name, value in partition_of(path).items() if name not in frame.columns}
    if not columns:
        return frame
    import pandas as pd

    return frame.assign(**{name: pd.Series(value, frame.index, dtype="str") for name, value in columns.items()})


def partition_of(path: Path) -> dict[str, str | None]:
    """Return the columns that the folders right above a file name, and their values; None is a missing one.

    Examples
    --------
    >>> partition_of(Path("sales/year=2024/town=St%20Ives/part-0.parquet"))
    {'year': '2024', 'town': 'St Ives'}
    """
    found: list[tuple[str, str | None]] = []
    for folder in path.parents:
        name, equals, value = folder.name.partition("=")
        if not equals or not name:
            break
        found.append((unquote(name), None if value == MISSING else unquote(value)))
    return dict(reversed(found))


WIDE_CELLS = 20_000_000  # a LIBSVM file with fewer cells is read as a table (160 MB)
WIDE_SHARE = 0.1  # so is a file with a larger share of non-zeros
WIDE_COLUMNS = 20_000  # so is a file with more columns; a table takes time for each
SHEET_BYTES = 16 * 2**20  # to which any spreadsheet may unpack


def open_table(
    path: Path,
    label: str | None,
    sheet: str | None = None,
    *,
    known: Collection[str] = (),
    as_text: Collection[str] = (),
    as_number: Collection[str] = (),
    how: Reading = AS_IT_IS,
    keep: Collection[str] = (),
) -> Table:
    """Read a file of one of the supported formats as a table."""
    how = replace(how, sheet=sheet) if sheet else how
    with reading(path), reread(path) as file:
        required = [*known, *keep, label] if label is not None else [*known, *keep]
        wanted = ReadRequest(label, required, as_text, as_number, keep, how)
        table = read_clean(file, wanted) or _table(file, wanted)
    frame = without_missing(with_ids(table.frame, keep), how.missing, keep)
    frame.columns = [normal(str(name)) for name in frame.columns]
    for text in doubtful_rows(frame, table.place):
        note(f"{shown(path)}: {text}")
    if twice := twice_encoded(list(frame.columns)):
        name, meant = twice
        note(f"{shown(path)}: the header was encoded as UTF-8 twice: {name!r} is probably {meant!r}; {HINT}")
    found = table.reading
    how = replace(how, first_feature=found.first_feature, header_rows=found.header_rows or how.header_rows)
    return table._replace(frame=frame, reading=how)


def _table(path: Path, wanted: ReadRequest) -> Table:
    kind = file_kind(path, wanted.how)
    check_content(path, kind)
    reader = reader_of(kind)
    check_fits(path, reader.size(path, wanted.how))
    return reader.read(path, wanted)


def _delimited(path: Path, wanted: ReadRequest) -> Table:
    how, label = wanted.how, wanted.label
    head = text_head(path, how)
    layout = text_layout(path, head, wanted.known, how)
    cells = head_cells(head, layout)
    written = label is not None and not is_plain(cells.get(label, ()))  # numbers are read in less time
    as_text = {*wanted.as_text, *how.formed, *([str(label)] if written else [])}
    [frame] = read_text(path, layout, as_text=as_text, ids=wanted.ids)
    frame = _without_empty(path, frame, wanted.known)
    inferred = layout.separator != "," and not how.decimal
    commas = with_decimal_points(frame, as_text, wanted.as_number) if inferred else frozenset()
    codes = doubtful_texts(head, cells)
    place, found = lambda row: f"line {line_of(path, layout, row)}", layout.reading
    return Table(frame, place, layout.naming, commas, codes, found)


def _delimited_size(path: Path, how: Reading) -> float:
    head = text_head(path, how)
    return cells_of_text(path, head, how.separator or max(",;\t| ", key=lambda sign: (sign != " ") * head.count(sign)))


def _delimited_blocks(path: Path, columns: Any, rows: int, how: Reading) -> Iterator[Table]:
    layout = text_layout(path, text_head(path, how), columns.required, how)
    return text_blocks(path, layout, None, columns, rows)


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


def _sheet(path: Path, wanted: ReadRequest) -> Table:
    check_unpacked(path, free=SHEET_BYTES)
    how, label = wanted.how, wanted.label
    found = read_sheet(
        path,
        how.sheet,
        how=how,
        known=wanted.known,
        as_text=wanted.as_text,
        as_shown={*wanted.ids, label} if label is not None else wanted.ids,
    )
    others = ", ".join(map(repr, found.others))
    naming = f"; sheet {found.sheet!r} was read, the others are {others} (--sheet NAME)" if others else ""
    rows, sheet = found.rows, found.sheet
    place = lambda row: f"row {rows[row]} of sheet {sheet!r}"  # noqa: E731
    return Table(found.frame, place, naming, reading=replace(how, header_rows=found.header_rows))


def _parquet(path: Path, wanted: ReadRequest) -> Table:
    return Table(read_parquet(path, wanted.known, wanted.ids), lambda row: f"row {row + 1}")


def _mat(path: Path, wanted: ReadRequest) -> Table:
    from pucli.data.files.binary.mat import mat_table

    return mat_table(path, wanted.label)


def _npz(path: Path, wanted: ReadRequest) -> Table:
    from pucli.data.files.binary.mat import npz_table

    return npz_table(path, wanted.label)


def _json(path: Path, wanted: ReadRequest) -> Table:
    with plain_text(path, wanted.how) as text:
        frame, lines = read_objects(path, text)
    return Table(frame, lambda row: f"line {lines[row]}")


def _arff(path: Path, wanted: ReadRequest) -> Table:
    from pucli.data.files.text.arff import read_arff

    try:
        frame, lines = read_arff(path)
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    return Table(frame, lambda row: f"line {lines[row]}")


def _libsvm(path: Path, wanted: ReadRequest) -> Table:
    from pucli.data.files.readers import label_frame

    how = wanted.how
    X, y, first = read_libsvm(path, how)
    width = max([X.shape[1], *(int(name) for name in wanted.known if name.isdecimal() and int(name) <= MOST_FEATURES)])
    check_filled(
        path, X.shape[0], width, X.nnz, "a method that keeps rows sparse reads it (`pucli train --method blssvm`)"
    )
    check_fits(path, float(X.shape[0]) * width)
    X.resize(X.shape[0], width)  # a feature that no row has is zero
    frame = label_frame(X.toarray(), y, [str(i) for i in range(1, width + 1)])
    naming = f"; the label of a LIBSVM file is called {LABEL!r}"
    return Table(frame, lambda row: f"row {row + 1}", naming, reading=replace(how, first_feature=first))


READERS = (
    Reader("delimited text", SUFFIXES, _delimited, size=_delimited_size, blocks=_delimited_blocks),
    Reader("workbook", SHEETS, _sheet),
    Reader("Parquet", (".parquet",), _parquet, size=lambda path, how: cells_of_parquet(path), blocks=parquet_blocks),
    Reader("Feather", FEATHER, lambda path, wanted: feather_table(path)),
    Reader("JSON", JSON, _json),
    Reader("LIBSVM", LIBSVM, _libsvm),
    Reader("ARFF", (".arff",), _arff),
    Reader("MATLAB", (".mat",), _mat),
    Reader("NumPy", (".npz",), _npz),
)
"""The formats of pucli; installed packages add others (`readers`)."""


def readers() -> dict[str, Reader]:
    """Return the readers of all formats by the extensions of their files, those of installed packages among them."""
    own = {suffix: reader for reader in READERS for suffix in reader.suffixes}
    for offer, reader in named("pucli.readers", Reader, frozenset(reader.name for reader in READERS)):
        if taken := [suffix for suffix in reader.suffixes if suffix in own]:
            offer.refuse(f"files {' '.join(taken)} have a reader already")
        else:
            own |= dict.fromkeys(reader.suffixes, reader)
    return own


def reader_of(kind: str) -> Reader:
    """Return the reader of files with an extension that `file_kind` returned."""
    return readers()[kind]


def open_wide(path: Path, *, always: bool = False, how: Reading = AS_IT_IS) -> WideTable | None:
    """Read a LIBSVM file as a sparse matrix; return None if it should be read as a table."""
    suffix = f".{how.format}" if how.format else Path(member_name(path).lower()).suffix
    if is_stream(path) or suffix not in LIBSVM:
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


def files_of(path: Path | str | Sequence[Path]) -> list[Path]:
    """Return one or several files as a list; a folder stands for its part files. None may be given twice."""
    given = [Path(path)] if isinstance(path, Path | str) else [Path(one) for one in path]
    # os.path: a name that is too long or lies in a locked folder is no folder, and the reader says what is wrong
    files = [file for one in given for file in (parts_of_folder(one) if os.path.isdir(one) else [one])]  # noqa: PTH112
    seen: dict[object, Path] = {}
    for file in files if len(files) > 1 else ():
        if (first := seen.setdefault(_identity(file), file)) is not file:
            other = f" as {file}" if file != first else ""
            raise UsageError(f"{shown(first)} is given twice{other}, so each of its rows would count twice")
    return files


def _identity(file: Path) -> object:
    """Return what is equal for two names of one file."""
    try:
        found = file.stat()
    except OSError:  # its reader says what is wrong
        return file
    return (found.st_dev, found.st_ino) if found.st_ino else file


def title_of(files: Sequence[Path]) -> str:
    """Return the name of files for messages and titles."""
    first, *others = files
    rest = f" and {len(others)} more file{'s' * (len(others) > 1)}" if others else ""
    return f"{shown(first)}{rest}"


def open_files(
    files: Sequence[Path],
    label: str | None,
    *,
    known: Collection[str] = (),
    as_text: Collection[str] = (),
    as_number: Collection[str] = (),
    how: Reading = AS_IT_IS,
    keep: Collection[str] = (),
) -> Table:
    """Read files with the same columns, in any order, as one table."""
    tables: list[Table] = []
    for file in files:
        options = {"known": known, "as_text": as_text, "as_number": as_number, "keep": keep}
        table = open_table(file, label, how=how, **options)  # type: ignore[arg-type]
        table.frame.columns = table.frame.columns.map(str)
        if len(files) > 1:  # the folder of a single file says nothing that differs between rows
            table = table._replace(frame=with_partition(file, table.frame))
        how = table.reading  # the numbering of LIBSVM features is that of the first file
        tables.append(table)
    if len(tables) == 1:
        return tables[0]
    return joined(files, tables)


def joined(files: Sequence[Path], tables: list[Table]) -> Table:
    """Return tables of the same columns as one."""
    import pandas as pd

    first, *others = tables
    names = list(first.frame.columns)
    sparse = first.reading.first_feature is not None
    frames = [first.frame]
    for file, table in zip(files[1:], others, strict=True):
        lacking = [name for name in names if name not in table.frame.columns]
        extra = [name for name in table.frame.columns if name not in names]
        if sparse and not extra:  # a feature that no row of a LIBSVM file has is zero
            frames.append(table.frame.reindex(columns=names, fill_value=0.0))
            continue
        if lacking or extra:
            what = f"no column {lacking[0]!r}" if lacking else f"a column {extra[0]!r}, which {files[0]} lacks"
            raise UsageError(
                f"{file} has {what}; files that are read as one table must have the same columns (one of the labeled "
                "rows alone is for --positives-from)"
            )
        frames.append(table.frame[names])
    starts = [0, *accumulate(map(len, frames))]
    parts = [table.parts or [(file, len(table.frame))] for file, table in zip(files, tables, strict=True)]

    def place(row: int) -> str:
        which = bisect.bisect_right(starts, row) - 1
        return f"{tables[which].place(row - starts[which])} of {files[which]}"

    return first._replace(
        frame=pd.concat(frames, ignore_index=True),
        place=place,
        parts=[*chain.from_iterable(parts)],
        decimal_commas=frozenset().union(*(table.decimal_commas for table in tables)),
        doubtful_texts={name: text for table in reversed(tables) for name, text in table.doubtful_texts.items()},
    )
