"""Sheets of workbooks: no row, column or cell is lost without a word."""

from __future__ import annotations

import datetime
import re
import zipfile

import openpyxl
import pandas as pd
import pytest
from openpyxl.chart import BarChart

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table
from pucli.data.reading import Reading
from tests.data.helpers import write_ods


@pytest.fixture
def sheet(tmp_path):
    """Return a function that writes rows to a workbook, after `change(book)`, and reads its table."""

    def read(rows, label="y", change=None, **options):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        if change is not None:
            change(book)
        book.save(tmp_path / "t.xlsx")
        return open_table(tmp_path / "t.xlsx", label, **options)

    return read


def test_empty_columns_and_header_cells_are_kept(sheet):
    with pytest.warns(UserWarning, match="column C .* no name .*'Unnamed: 2'"):
        frame = sheet([["a", "none", None, "y", None], [1, None, 5, 0, None], [2, None, 6, 1, None]]).frame
    assert list(frame.columns) == ["a", "none", "Unnamed: 2", "y"]
    assert frame["none"].isna().all()


def test_columns_of_one_name_are_numbered(sheet):
    with pytest.warns(UserWarning, match="two columns are named 'a'; the second is called 'a.2'; so are 1 more"):
        frame = sheet([["a", "a", "a.1", "y", "a"], [1, 2, 3, 0, 4]]).frame
    assert frame.iloc[0].to_dict() == {"a": 1, "a.2": 2, "a.1": 3, "y": "0", "a.3": 4}


def test_blank_rows_and_rows_above_the_header_are_said_and_counted(sheet):
    with pytest.warns(UserWarning) as said:
        table = sheet([["Report"], [], ["a", "y"], [1, 0], [], [2, 1]])
    assert [str(one.message).partition(": ")[2] for one in said] == [
        "sheet 'Sheet': the header is row 3; what stands above it is skipped",
        "sheet 'Sheet': 1 blank row is skipped (row 5)",
    ]
    assert (table.frame["a"].tolist(), table.place(1)) == ([1, 2], "row 6 of sheet 'Sheet'")


def test_formulas_without_results_and_merged_cells_are_said(sheet):
    def merge(book):
        book.active.merge_cells("A2:A3")

    with pytest.warns(UserWarning) as said:
        frame = sheet([["a", "ratio", "y"], [1, "=A2/2", 0], [None, "=A3/2", 1]], change=merge).frame
    texts = " ".join(str(one.message) for one in said)
    assert re.search("2 cells have formulas .*B2", texts)
    assert "merged (A2:A3)" in texts
    assert list(frame.columns) == ["a", "ratio", "y"]


def test_errors_are_empty_and_said(sheet):
    with pytest.warns(UserWarning, match=r"1 cell holds an error, read as empty \(#DIV/0! in column 'a'\)"):
        frame = sheet([["a", "y"], ["#DIV/0!", 0], [2, 1]]).frame
    assert frame["a"].isna().tolist() == [True, False]


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_numbers_of_more_digits_than_a_sheet_holds_are_said(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    try:
        pd.DataFrame({"id": [2**53 + 2 * row + 1 for row in range(9)], "a": range(9)}).to_excel(path, index=False)
    except ImportError:
        pytest.skip("odfpy is not installed")
    with pytest.warns(UserWarning, match="column 'id' .*9007199254740992.*digits"):
        open_table(path, None, keep=["id"])


CELLS = {
    "number": 'office:value-type="float" office:value="1.5"><text:p>2</text:p>',
    "share": 'office:value-type="percentage" office:value="0.125"><text:p>12.5%</text:p>',
    "price": 'office:value-type="currency" office:currency="EUR" office:value="3"><text:p>3 €</text:p>',
    "day": 'office:value-type="date" office:date-value="2024-02-29"><text:p>29/2</text:p>',
    "moment": 'office:value-type="date" office:date-value="2024-02-29T10:30:15"><text:p>half past ten</text:p>',
    "time": 'office:value-type="time" office:time-value="PT10H30M15S"><text:p>half past ten</text:p>',
    "yes": 'office:value-type="boolean" office:boolean-value="true"><text:p>TRUE</text:p>',
    "text": 'office:value-type="string"><text:p>007<text:s text:c="2"/>x</text:p>',
    "error": 'office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>#DIV/0!</text:p>',
    "empty": ">",
}


@pytest.fixture
def open_document(tmp_path):
    """Return a function that writes a hidden sheet H and a sheet S, each with these rows, and returns the path."""

    def write(rows):
        styles = "".join(
            f'<style:style style:name="{style}" style:family="table">'
            f'<style:table-properties table:display="{shown}"/></style:style>'
            for style, shown in (("ta1", "false"), ("ta2", "true"))
        )
        lines = ["".join(f"<table:table-cell {cell}</table:table-cell>" for cell in row) for row in rows]
        table = "".join(f"<table:table-row>{line}</table:table-row>" for line in lines)
        sheets = "".join(
            f'<table:table table:name="{name}" table:style-name="{style}">{table}</table:table>'
            for name, style in (("H", "ta1"), ("S", "ta2"))
        )
        write_ods(tmp_path / "t.ods", sheets, styles)
        return tmp_path / "t.ods"

    return write


def text_cell(text):
    return f'office:value-type="string"><text:p>{text}</text:p>'


def test_cells_of_an_open_document(open_document):
    """A value is read, not what the sheet shows; a hidden sheet is not taken, and an error is told."""
    header = [text_cell(name) for name in CELLS]
    with pytest.warns(UserWarning) as said:
        table = open_table(open_document([header, list(CELLS.values()), list(CELLS.values())]), None)
    moment = datetime.datetime(2024, 2, 29, 10, 30, 15)
    row = [1.5, 0.125, 3, moment.replace(hour=0, minute=0, second=0), moment, moment.time(), True, "007  x"]
    assert table.frame.iloc[1, :8].tolist() == row
    assert table.frame[["error", "empty"]].isna().all(axis=None)
    assert [str(one.message).partition(": ")[2] for one in said] == [
        "sheet 'H' is hidden; sheet 'S' is read instead",
        "sheet 'S': 2 cells hold errors, read as empty",
    ]


def test_columns_of_an_open_document_keep_their_letters(open_document):
    rows = [[">", text_cell("a"), text_cell("b"), ">"], *[[">", *[CELLS["number"]] * 3]] * 2]
    with pytest.warns(UserWarning, match="column D has cells but no name in the header; it is called 'Unnamed: 3'"):
        assert list(open_table(open_document(rows), None).frame) == ["a", "b", "Unnamed: 3"]


def test_a_hidden_sheet_is_not_read_and_others_are_named(sheet):
    def hide(book):
        shown = book.create_sheet("shown")
        shown.append(["a", "y"])
        shown.append([5, 1])
        book.create_sheet("last").append(["x"])
        book.active.sheet_state = "hidden"

    with pytest.warns(UserWarning, match="sheet 'Sheet' is hidden; sheet 'shown' is read instead"):
        table = sheet([["b", "y"], [1, 0]], change=hide)
    assert table.frame["a"].tolist() == [5]
    assert "sheet 'shown' was read, the others are 'last' (--sheet NAME)" in table.naming
    assert sheet([["b", "y"], [1, 0]], "y", hide, sheet="Sheet").frame["b"].tolist() == [1]


def test_cells_are_kept_as_the_sheet_shows_them(sheet):
    def codes(book):
        for row in (2, 3):
            book.active.cell(row, 1).number_format = "00000"

    rows = [["code", "key", "y"], [123, 900719925474099, True], [456, None, False], [None, 8192.0, None]]
    frame = sheet(rows, change=codes, keep=["code", "key"]).frame
    assert frame["code"].tolist()[:2] == ["00123", "00456"]
    assert frame["key"].tolist()[::2] == ["900719925474099", "8192"]
    assert frame["y"].tolist()[:2] == ["TRUE", "FALSE"]
    assert frame.isna().sum().tolist() == [1, 1, 1]


def test_kinds_of_cells(sheet):
    day = datetime.datetime(2024, 5, 6)
    frame = sheet([["n", "f", "d", "t", "y"], [1, 1.5, day, "x", 0], [2, 2, day, "007", 1]]).frame
    assert [frame[name].dtype.kind for name in "nfd"] == ["i", "f", "M"]
    assert frame["t"].tolist() == ["x", "007"]


def test_a_far_cell_is_refused_and_a_header_alone_has_no_rows(sheet):
    def far(book):
        book.active.cell(1_000_000, 16_384, 7)

    with pytest.raises(UsageError, match="5 filled cells in a table of 1000000 rows and 16384 columns"):
        sheet([["a", "y"], [1, 0]], change=far)
    frame = sheet([["a", "y"]]).frame
    assert (list(frame.columns), len(frame)) == (["a", "y"], 0)


@pytest.mark.parametrize(
    ("number_format", "number", "shown"),
    [
        ('"C-"0000', 12, "C-0012"),
        ("000\\-00\\-0000", 12345678, "012-34-5678"),
        ("00000;-00000", 7, "00007"),
        ('000"/A"', 12345, "12345/A"),
        ('"no number"', 5, "5"),
        ("#,##0", 1234, "1234"),
        ("0.00", 3, "3"),
    ],
)
def test_an_id_leaves_as_its_number_format_shows_it(sheet, number_format, number, shown):
    def form(book):
        book.active["A2"].number_format = number_format

    frame = sheet([["id", "a", "y"], [number, 1, 0], [8, 2, 1]], change=form, keep=["id"]).frame
    assert frame["id"].tolist() == [shown, "8"]


def test_a_date_as_an_id_leaves_without_a_time_that_the_sheet_does_not_show(sheet):
    day, moment = datetime.datetime(2024, 3, 1), datetime.datetime(2024, 3, 1, 10, 30)

    def form(book):
        book.active["A2"].number_format, book.active["A3"].number_format = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"

    frame = sheet([["id", "a", "y"], [day, 1, 0], [moment, 2, 1]], change=form, keep=["id"]).frame
    assert frame["id"].tolist() == ["2024-03-01", "2024-03-01 10:30:00"]


@pytest.mark.parametrize("suffix", [".xls", ".ods"])
def test_a_workbook_under_the_name_of_another_kind_is_read(sheet, tmp_path, suffix):
    sheet([["a", "y"], [1, 0], [2, 1]])
    path = (tmp_path / "t.xlsx").rename(tmp_path / f"t{suffix}")
    assert open_table(path, "y").frame["a"].tolist() == [1, 2]


@pytest.mark.parametrize("suffix", [".xls", ".xlsx", ".parquet", ".npz"])
def test_text_under_the_name_of_a_binary_file_is_named(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    for raw in (b"a\ty\n1\t0\n2\t1\n", "a,y\n1,0\n2,1\n".encode("utf-16")):
        path.write_bytes(raw)
        with pytest.raises(UsageError, match=rf"is a text file, not {suffix[1:].upper()}; name it t.csv"):
            open_table(path, "y")


def test_hidden_rows_and_columns_are_said(sheet):
    def hide(book):
        book.active.row_dimensions[3].hidden = book.active.row_dimensions[4].hidden = True
        book.active.column_dimensions["B"].hidden = True

    with pytest.warns(UserWarning) as caught:
        frame = sheet([["a", "b", "y"], [1, 5, 0], [2, 6, 1], [3, 7, 1]], change=hide).frame
    assert frame["b"].tolist() == [5, 6, 7]
    texts = [str(one.message) for one in caught]
    assert any("2 rows are hidden, and read as the others" in text for text in texts)
    assert any("1 column is hidden, and read as the others" in text for text in texts)


def test_what_is_hidden_beside_the_table_is_not_said(sheet, recwarn):
    def hide(book):
        book.active.row_dimensions[50].hidden = True
        book.active.column_dimensions.group("D", "XFD", hidden=True)

    sheet([["a", "b", "y"], [1, 5, 0], [2, 6, 1]], change=hide)
    assert not [one for one in recwarn if "hidden" in str(one.message)]


@pytest.mark.parametrize("filled", [False, True])
def test_a_chart_sheet_is_no_table(sheet, tmp_path, filled):
    def charted(book):
        chart = book.create_chartsheet("Chart", index=0)
        if filled:
            chart.add_chart(BarChart())

    assert sheet([["a", "y"], [1, 0], [2, 1]], change=charted).frame["a"].tolist() == [1, 2]
    with pytest.raises(UsageError, match=r"sheet 'Chart' .*: Sheet"):
        sheet([["a", "y"], [1, 0], [2, 1]], change=charted, how=Reading(sheet="Chart"))
    with zipfile.ZipFile(tmp_path / "t.xlsx") as whole, zipfile.ZipFile(tmp_path / "one.xlsx", "w") as alone:
        for name in whole.namelist():
            alone.writestr(name, re.sub(b'<sheet name="Sheet"[^>]*>', b"", whole.read(name)))
    with pytest.raises(UsageError, match="no sheet with cells; 'Chart' is a chart"):
        open_table(tmp_path / "one.xlsx", "y")
