"""Rows of a file that are not data: units, totals, remarks, and lines of separators alone."""

from __future__ import annotations

import warnings
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from pucli.data.columns.doubtful_rows import doubtful_rows
from pucli.data.files.table import Table
from pucli.data.files.tables import open_table
from pucli.data.reading import AS_IT_IS, Reading
from pucli.data.rows.blocks import read_blocks

HEADER = ["customer", "age", "income", "city", "bought"]
ROWS = [[f"C{i}", 20 + i, 1000 + 7 * i, "Ulm" if i % 3 else "Bonn", "yes" if i % 4 == 0 else ""] for i in range(12)]
SUMS = [sum(row[1] for row in ROWS), sum(row[2] for row in ROWS)]
MEANS = [total / len(ROWS) for total in SUMS]


def saved(path: Path, rows: list[list[object]]) -> Path:
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in [HEADER, *rows]:
            book.active.append([None if cell == "" else cell for cell in row])
        book.save(path)
    else:
        path.write_text("\n".join(",".join(map(str, row)) for row in [HEADER, *rows]) + "\n")
    return path


def read(path: Path, how: Reading = AS_IT_IS) -> tuple[Table, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = open_table(path, "bought", how=how)
    return table, " | ".join(str(one.message) for one in caught)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [["", "years", "EUR", "", ""], *ROWS],
            r"2 fits no column \('years', 'EUR'\) and is left out; --header-rows 2 join",
        ),
        ([["", "years", "", "", ""], *ROWS], r"2 fits no column \('years'\)"),
        (
            [["-", "°C", "EUR", "-", ""], ["(1)", "(2)", "(3)", "(4)", ""], *ROWS],
            r"s 2 to 3 fit no column .*--header-rows 1 keep",
        ),
        (
            [*ROWS, ["Total", *SUMS, "", ""]],
            r"14 fits no column \('Total', '\d+', '\d+'\) .* --skip-footer 0 keeps it as a row",
        ),
        ([*ROWS, ["Summe:", *SUMS, "", ""]], r"14 fits no column"),
        ([*ROWS, ["Total: account", *SUMS, "", ""], ["Total: filtered", 1, 2, "", ""]], r"s 14 to 15 fit no column"),
        ([*ROWS, ["Source: CRM", "", "", "", ""]], r"14 fits no column \('Source: CRM'\)"),
        (
            [*ROWS, ["", "", "", "", ""], ["Day", "Users", "", "", ""], ["20260101", 15, "", "", ""]],
            r"s 15 to 16 fit no column",
        ),
    ],
)
def test_a_line_that_is_no_row_is_left_out_and_named(
    tmp_path: Path, suffix: str, rows: list[list[object]], said: str
) -> None:
    table, texts = read(saved(tmp_path / f"t{suffix}", rows))
    pd.testing.assert_frame_equal(table.frame, read(saved(tmp_path / f"rows{suffix}", ROWS))[0].frame)
    assert pd.Series([texts]).str.contains(said).item(), texts
    kept, texts = read(tmp_path / f"t{suffix}", Reading(header_rows=1, skip_footer=0))
    assert len(kept.frame) == len([row for row in rows if any(row)]) and "left out" not in texts


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*ROWS[:6], ["Subtotal", *SUMS, "", ""], *ROWS[6:]], r"8 .*looks like totals \('Subtotal'\)"),
        ([*ROWS[:6], ["Ulm Total", *SUMS, "", ""], *ROWS[6:]], r"8 .*looks like totals \('Ulm Total'\)"),
        ([*ROWS, ["", *SUMS, "", ""]], r"14 .*has the sums of the rows above it in 'age' and 'income'"),
        ([*ROWS, ["", *MEANS, "", ""]], r"14 .*has the averages of the rows above it in 'age' and 'income'"),
    ],
)
def test_a_row_that_may_be_none_is_kept_and_named(
    tmp_path: Path, suffix: str, rows: list[list[object]], said: str
) -> None:
    table, texts = read(saved(tmp_path / f"t{suffix}", rows))
    assert len(table.frame) == 13
    assert pd.Series([texts]).str.contains(said + ".*counts as a row").item(), texts


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_names_in_two_lines_are_joined(tmp_path: Path, suffix: str) -> None:
    path = saved(tmp_path / f"t{suffix}", [["", "years", "EUR", "", ""], *ROWS])
    table, _ = read(path, Reading(header_rows=2))
    assert list(table.frame.columns) == ["customer", "age years", "income EUR", "city", "bought"]
    assert len(table.frame) == len(ROWS)


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [["C", "unknown", 3, "Ulm", ""], *ROWS],  # one empty cell in other words
        [["C", "n/a", "-", "Ulm", ""], *ROWS],
        [["Total", 40, 2000, "Ulm", ""], *ROWS],
        [*ROWS, ["Total", 40, 2000, "Ulm", ""], ["Total", 41, 2001, "Ulm", ""]],  # a company of this name
        [*ROWS, ["C99", 40, "", "", ""]],
        [*ROWS, ["C99", *MEANS, "Ulm", ""]],  # an average customer
    ],
)
def test_usual_rows_are_not(tmp_path: Path, rows: list[list[object]]) -> None:
    table, texts = read(saved(tmp_path / "t.csv", rows))
    assert len(table.frame) == len(rows) and "counts as a row" not in texts


def test_such_rows_are_named_in_blocks_too(tmp_path: Path) -> None:
    later = [*ROWS[:8], ["Subtotal", *SUMS, "", ""], *ROWS[8:], ["Total", *SUMS, "", ""]]
    path = saved(tmp_path / "t.csv", [["", "years", "EUR", "", ""], *later])
    with pytest.warns(UserWarning) as caught:
        blocks = list(read_blocks(path, ["customer", "age", "income", "city"], rows=6, keep=["customer"]))
    assert sum(len(block.frame) for block in blocks) == 13
    texts = [str(one.message) for one in caught]
    assert any("line 2 fits no column" in text for text in texts)
    assert any("line 11 looks like totals ('Subtotal')" in text for text in texts)
    assert any("after the last row, line 16 fits no column ('Total'" in text for text in texts)


@pytest.mark.parametrize("line", [",,,,", '"","","","",""', " , , , , ", ",,,,,,,"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_separators_alone_are_blank_and_counted(tmp_path: Path, line: str, end: str) -> None:
    lines = [",".join(map(str, row)) for row in [HEADER, *ROWS]]
    path = tmp_path / "t.csv"
    path.write_bytes(end.join([*lines[:5], line, *lines[5:], line, line, ""]).encode())
    table, texts = read(path)
    assert table.frame["customer"].tolist() == [row[0] for row in ROWS]
    assert "3 blank lines are skipped (the first is line 6)" in texts
    assert table.place(4) == "line 7"


@pytest.mark.parametrize("kind", ["Int64", "int64[pyarrow]"])
def test_sums_are_found_among_empty_cells_of_nullable_columns(kind: str) -> None:
    cells = pd.array([None] * 60 + [1] * 9 + [9], dtype=kind)
    [found] = doubtful_rows(pd.DataFrame({"a": cells, "b": cells}), lambda row: f"row {row + 1}")
    assert found.startswith("row 70 has the sums of the rows above it in 'a' and 'b'")


STACKED = [[i, i / 2, "u"] for i in range(40)]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            ["p", "q", "r"],
            "has words ('p', 'q') where other rows have numbers, like units or the header of a second table",
        ),
        (["n.a.", "unknown", "r"], ""),
        (["error", "error", "r"], ""),
        (["p", 3, "r"], ""),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_the_header_of_a_second_table_below_is_said(tmp_path, row, said, ending):
    path = tmp_path / f"t{ending}"
    rows = [["a", "b", "y"], *STACKED, row, *STACKED[:20]]
    if ending == ".csv":
        path.write_text("\n".join(",".join(map(str, one)) for one in rows) + "\n")
    else:
        book = openpyxl.Workbook()
        for one in rows:
            book.active.append(one)
        book.save(path)
    for read in (lambda: open_table(path, "y"), lambda: list(read_blocks(path, ["a", "b"], rows=25))):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            read()
        texts = [str(one.message) for one in told if "has words" in str(one.message)]
        assert [said in text and f" {'line' if ending == '.csv' else 'row'} 42 " in text for text in texts] == (
            [True] if said else []
        )


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_sums_in_the_first_row_are_told(tmp_path, suffix):
    _, told = read(saved(tmp_path / f"t{suffix}", [["", *SUMS, "", ""], *ROWS]))
    assert "sums of the rows below it in 'age' and 'income'" in told
    assert "sums" not in read(saved(tmp_path / f"t{suffix}", [["C99", 90, SUMS[1], "Ulm", ""], *ROWS]))[1]
