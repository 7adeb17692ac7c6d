"""Writing of rows in blocks, as CSV, Parquet or a workbook."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from pucli.core.errors import UsageError
from pucli.data.columns.cells import is_number

if TYPE_CHECKING:
    import pandas as pd


# CSV under these names would be read as something else, or not at all.
NOT_WRITTEN = frozenset(
    {".xlsm", ".xls", ".ods", ".arff", ".mat", ".npz", ".npy", ".tsv", ".json", ".jsonl", ".ndjson",
     ".feather", ".arrow", ".libsvm", ".svm", ".svmlight", ".gz", ".bz2", ".xz", ".zst", ".zip",
     ".html", ".pdf", ".md", ".tex", ".sav", ".dta", ".sas7bdat", ".rds", ".sqlite", ".db", ".pkl", ".model"}
)  # fmt: skip


class Writer(Protocol):
    """Context manager that writes blocks of rows and closes the files it opened."""

    def write(self, frame: pd.DataFrame) -> None:
        """Write rows with the columns of the first block."""

    def __enter__(self) -> Writer: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_writer(path: Path, *, safe: bool = False) -> Writer:
    """Return a writer of rows to a CSV file, a workbook or a Parquet file; UsageError without pyarrow.

    If `safe`, texts of CSV that a spreadsheet would run as formulas get an apostrophe (`without_formulas`). A program
    then reads other texts than were written.
    """
    if path.suffix.lower() == ".parquet":
        return _ParquetWriter(path)
    if path.suffix.lower() == ".xlsx":
        return _WorkbookWriter(path)
    return _CsvWriter(path, safe)


def check_writable_format(path: Path) -> None:
    """Raise UsageError if rows cannot be written in the format of the file extension."""
    if path.suffix.lower() in NOT_WRITTEN:
        raise UsageError(
            f"{path}: rows are written as CSV, Parquet or a workbook; use the extension .csv, .parquet or .xlsx"
        )
    if path.suffix.lower() == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise UsageError(f"{path}: writing Parquet needs pyarrow: pip install 'pucli[parquet]'") from error


# A spreadsheet takes a cell that begins so for a formula, and runs it.
_BEGINNINGS = "=+-@\t\r＝＋－＠"


def inert(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet would take it for a formula."""
    if not text or text[0] not in _BEGINNINGS or is_number(text):
        return text
    return f"'{text}"


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows for CSV, with an apostrophe before every text that a spreadsheet would take for a formula.

    That is a text or a column name that begins with = + - @, tab or carriage return and is not a number. Numbers stay
    as they are, and so does everything in Parquet, which has no formulas.
    """
    import pandas as pd

    changed = {}
    for name in frame.columns:
        column = frame[name]
        if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
            continue
        suspect = column.astype(str).str.match(f"[{re.escape(_BEGINNINGS)}]") & column.notna()
        if suspect.any():
            changed[name] = column.astype(object).where(~suspect, column[suspect].astype(str).map(inert))
    frame = frame.assign(**changed) if changed else frame
    return frame.rename(columns=lambda name: inert(str(name)))


class _CsvWriter:
    def __init__(self, path: Path, safe: bool) -> None:
        self._stream = path.open("w", newline="", encoding="utf-8")
        self._safe, self._begun = safe, False

    def write(self, frame: pd.DataFrame) -> None:
        frame = without_formulas(frame) if self._safe else frame
        frame.to_csv(self._stream, index=False, header=not self._begun, lineterminator="\n")
        self._begun = True

    def __enter__(self) -> _CsvWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()


class _ParquetWriter:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: Any = None
        self._stream: Any = None

    def write(self, frame: pd.DataFrame) -> None:
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
        if self._file is None:
            self._stream = pyarrow.OSFile(os.fsencode(self._path), "wb")  # Arrow takes no name that is not text
            self._file = pyarrow.parquet.ParquetWriter(self._stream, table.schema)
        try:
            table = table.cast(self._file.schema)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
            raise UsageError(
                f"a column of the predictions changes its type, which Parquet does not allow ({error}); write .csv"
            ) from error
        self._file.write_table(table)

    def __enter__(self) -> _ParquetWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._stream.close()


LAST_ROW, LONGEST_TEXT, EXACT_DIGITS = 1_048_576, 32_767, 15
"""Rows of a sheet, characters of a cell, and digits that a spreadsheet keeps of a number."""
_CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class _WorkbookWriter:
    def __init__(self, path: Path) -> None:
        from openpyxl import Workbook

        self._path, self._book, self._rows = path, Workbook(write_only=True), 0
        self._sheet = self._book.create_sheet("rows")

    def write(self, frame: pd.DataFrame) -> None:
        if not self._rows:
            self._append(list(map(str, frame.columns)))
        if self._rows + len(frame) > LAST_ROW:
            raise UsageError(
                f"{self._path}: a sheet holds {LAST_ROW:,} rows at most; write .csv or .parquet, or --top N"
            )
        for row in zip(*(frame[name].astype(object).where(frame[name].notna(), None) for name in frame), strict=True):
            self._append(row)

    def _append(self, cells: Sequence[Any]) -> None:
        self._sheet.append([self._cell(value) for value in cells])
        self._rows += 1

    def _cell(self, value: Any) -> Any:
        """Return a cell; a text stays one, even if it begins with "=", and a number of too many digits becomes one."""
        from openpyxl.cell import WriteOnlyCell

        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int) and len(str(abs(value))) <= EXACT_DIGITS:
            return value
        cell = WriteOnlyCell(self._sheet, None)
        text = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(value))
        if len(text) > LONGEST_TEXT:
            raise UsageError(f"{self._path}: a cell holds {LONGEST_TEXT:,} characters at most; write .csv or .parquet")
        cell.value, cell.data_type = text, "s"
        return cell

    def __enter__(self) -> _WorkbookWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._book.save(self._path)
