"""Tables side by side are told from one table with an empty column."""

from __future__ import annotations

import warnings

import openpyxl
import pytest

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table

FIRST = [["a", "b", "y"], *([i, i * i, i % 2] for i in range(6))]


def _beside(first, second, gap=1):
    empty = [[None] * len(first[0])] * len(second), [[None] * len(second[0])] * len(first)
    longer = max(len(first), len(second))
    pairs = zip((first + empty[0])[:longer], (second + empty[1])[:longer], strict=True)
    return [left + [None] * gap + right for left, right in pairs]


@pytest.fixture(params=["xlsx", "csv"])
def read(request, tmp_path):
    """Return a function that writes rows to a file of either kind and reads its table."""

    def write_and_read(rows):
        path = tmp_path / f"t.{request.param}"
        if request.param == "csv":
            lines = (",".join("" if cell is None else str(cell) for cell in row) for row in rows)
            path.write_text("\n".join(lines) + "\n")
        else:
            book = openpyxl.Workbook()
            for row in rows:
                book.active.append(row)
            book.save(path)
        return open_table(path, "y")

    return write_and_read


@pytest.mark.parametrize("gap", [1, 3])
def test_two_tables_side_by_side_are_refused_with_their_ranges(read, gap):
    with pytest.raises(UsageError, match=r"(A to C|'a' to 'y') \(6 rows\) and (\w to \w|'p' to 'q') \(4 rows\)"):
        read(_beside(FIRST, [["p", "q"], *([i, 7] for i in range(4))], gap))


@pytest.mark.parametrize("second", [[["p", "q"], *([i, 7] for i in range(6))], [["list"], ["x"], ["y"], ["z"]]])
def test_one_table_with_an_empty_column_is_read_with_a_word(read, second):
    with pytest.warns(UserWarning, match=r"empty columns .*: columns (A to C|'a' to 'y')"):
        frame = read(_beside(FIRST, second)).frame
    assert list(frame.columns) == ["a", "b", "y", *second[0]]
    assert len(frame) == 6


@pytest.mark.parametrize("remarks", [["x", None, "z", None, None, "u"], ["x"] * 6])
def test_a_column_that_is_set_off_is_read_without_a_word(read, remarks):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read(_beside(FIRST, [["remark"], *([cell] for cell in remarks)])).frame) == 6


def test_an_empty_column_that_has_a_name_divides_nothing(read):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "empty" in read([[*row[:2], "empty" if row[0] == "a" else None, row[2]] for row in FIRST]).frame


def test_tables_of_one_header_without_a_gap_are_named(read):
    with pytest.raises(UsageError, match=r"its 3 columns \('a', 'b', 'y'\) 2 times, like tables side by side"):
        read(_beside(FIRST, FIRST, gap=0))
    with pytest.warns(UserWarning, match="two columns are named 'y'; the second is called 'y.1'"):
        read(_beside(FIRST, [["y"], *([i] for i in range(6))], gap=0))
