"""Reading of a user's file as a table, with the place of each row for messages.

The format follows from the extension: .csv .tsv .txt .data .dat, .jsonl .ndjson .json, .arff, .libsvm .svm (these also
packed: .gz .bz2 .xz .zst .zip), .xlsx .xls .ods, .parquet .feather .arrow, .mat, .npz.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pucli.core.errors import UsageError
from pucli.data.encode.doubtful_rows import doubtful_rows, parts_of, side_by_side
from pucli.data.encode.twice_encoded import WAY_OUT, twice_encoded
from pucli.data.files.binary.parquet_files import feather_table, read_parquet
from pucli.data.files.binary.workbooks import read_sheet
from pucli.data.files.damaged import check_unpacked
from pucli.data.files.file_kinds import FEATHER, LIBSVM, SHEETS, check_content, file_kind
from pucli.data.files.read_errors import reading
from pucli.data.files.spool import is_stream, reread, shown
from pucli.data.files.table import Table, WideTable
from pucli.data.files.table_size import cells_of_parquet, cells_of_text, check_filled, check_fits, check_names
from pucli.data.files.text.decimal_comma import with_decimal_points
from pucli.data.files.text.json_lines import JSON, read_objects
from pucli.data.files.text.layout import UNNAMED, text_head, text_layout
from pucli.data.files.text.libsvm import MOST_FEATURES, read_libsvm
from pucli.data.files.text.records import note
from pucli.data.files.text.text_files import SUFFIXES, doubtful_texts, is_plain, line_of, read_text
from pucli.data.files.unpacking import member_name, plain_text
from pucli.data.ids import with_ids
from pucli.data.labels import LABEL
from pucli.data.reading import AS_IT_IS, Reading, normal, without_missing

if TYPE_CHECKING:
    import pandas as pd


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
    kind = file_kind(path, how)
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
    if kind in FEATHER:
        return feather_table(path)
    if kind == ".arff":
        return _arff(path)
    from pucli.data.files.binary.mat import mat_table, npz_table

    return mat_table(path, label) if kind == ".mat" else npz_table(path, label)


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
    with plain_text(path, how) as text:
        frame, lines = read_objects(path, text)
    return Table(frame, lambda row: f"line {lines[row]}")


def _arff(path: Path) -> Table:
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


def open_wide(path: Path, *, always: bool = False, how: Reading = AS_IT_IS) -> WideTable | None:
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
