"""Records of text files: columns never shift, and what is skipped or filled is said."""

from __future__ import annotations

import csv
import io
import re
import warnings

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table
from pucli.data.files.text import checked_records
from pucli.data.reading import Reading
from pucli.data.rows.blocks import read_blocks
from pucli.data.rows.user_file import fit_file


def read(tmp_path, text, label="y", name="rows.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_table(path, label, **options).frame


def cells(frame):
    return frame.astype(object).where(frame.notna(), None).to_numpy().tolist()


# --- too many or too few fields ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y,a,note\n0,1,late, see mail\n1,1,ok\n0,2,ok\n", "line 2 has 4 fields, but the header has 3; quote a cell"),
        ("y,a\n0,1\n1,2\n0,3,4\n", "line 4 has 3 fields, but the header has 2"),
        ("id,y,a\n7,0,1,5\n8,1,2,5\n9,0,3,7\n", "line 2 has 4 fields, but the header has 3"),
        ("id,n,y\n1,'x, y',0\n2,'z, w',1\n", "line 2 has 4 fields, but the header has 3"),
        ("city,y\nParis, Texas,0\nRome, Ohio,1\n", "line 2 has 3 fields, but the header has 2"),
        ('n;a;y\n"5 pipe;1;0\nx;2;1\n', "the quote that opens in line 2 is not closed"),
        ("y;a,b;c\n0;1\n1;2\n", "the header has 3 fields, but line 2 and all lines after it have fewer"),
        (
            '"a","y"\n' + "".join(f'"r{i}",5,0\n' for i in range(3000)) + '"r3",7\n',
            "line 3002 has 2 fields, but the lines before have 3 with a row name",
        ),
        ("y,a\n0,1\n1,\0x2\n", "line 3 has a NUL character"),
        ("y,a\n0,1\n1,two\rlines\n0,3\n", "line 3 has a carriage return within a cell that is not quoted"),
        ('y,a\n0,"x\n1,"y"\n0,"z"\n', "the quote that opens in line 2 is not closed"),
    ],
)
def test_a_line_that_would_shift_columns_or_lose_cells_is_refused(tmp_path, text, message):
    with pytest.raises(UsageError, match=message):
        read(tmp_path, text)


def test_the_line_is_told_from_a_pipe_and_far_from_the_beginning(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,a\n" + "0,1\n" * 300_000 + '0,"b\nc"\n' + "0,1,2\n")
    with pytest.raises(UsageError, match="line 300004 has 3 fields"):
        list(read_blocks(path, ["a"]))


@pytest.mark.parametrize(
    "text",
    [
        "y,a,\n0,1\n1,2\n",  # a separator at the end of the header alone
        "y,a\n0,1,\n1,2,\n",  # of the rows alone
        "y,a\n0,1\n1,2,\n",  # of one row
        "y,a,,\n0,1,,\n1,2,,\n",  # of all lines
    ],
)
def test_separators_at_the_end_of_lines_are_no_columns(tmp_path, text):
    frame = read(tmp_path, text)
    assert list(frame.columns) == ["y", "a"]
    assert cells(frame) == [[0, 1], [1, 2]]


def test_short_lines_are_filled_and_said(tmp_path):
    with pytest.warns(
        UserWarning, match="line 3 has 1 field for 2 columns, and 1 more line is short.*may be cut short"
    ):
        frame = read(tmp_path, "y,a\n0,1\n1\n0,5\n1")
    assert cells(frame) == [[0, 1], [1, None], [0, 5], [1, None]]
    with pytest.warns(UserWarning, match=r"line 4 has 1 field for 3 columns; the cells .* empty$"):
        frame = read(tmp_path, "id;y;a\n1;0;1\n2;1;2\n--- page 2 ---\n3;0;1\n4;0;2\n5;1;1\n")
    assert len(frame) == 6


# --- quotes -----------------------------------------------------------------------------------------------------------


def test_quotes_after_backslashes_are_read(tmp_path):
    frame = read(tmp_path, 'age,city,y\n39,"the \\"Wien\\", old",0\n45,"the \\"Oslo\\", old",1\n')
    assert frame["city"].tolist() == ['the "Wien", old', 'the "Oslo", old']
    assert frame["age"].tolist() == [39, 45]
    paths = read(tmp_path, 'path,y\n"C:\\dir\\",0\n"D:\\",1\n')  # the backslash is a character of its own here
    assert paths["path"].tolist() == ["C:\\dir\\", "D:\\"]
    late = "a,y\n" + "x,0\n" * 20_000 + '"say \\"yes\\"",1\n'
    with pytest.raises(UsageError, match=r"line 20002 .*backslash"):
        read(tmp_path, late)


@pytest.mark.parametrize("chunk", [5, 64, 2**20])
@settings(max_examples=60, deadline=None)
@given(st.data())
@pytest.mark.slow
def test_any_cells_come_back(chunk, tmp_path_factory, data):
    width = data.draw(st.integers(1, 3))
    cell = st.text('ab,;\t"\n\r\u2028\f é', max_size=4).filter(lambda text: not text.startswith(" "))
    rows = data.draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=1, max_size=6))
    separator = data.draw(st.sampled_from(",;\t" if width > 1 else ","))
    text = io.StringIO(newline="")
    # csv.writer leaves a carriage return unquoted otherwise
    quoting = csv.QUOTE_ALL if any("\r" in cell for row in rows for cell in row) else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=separator, lineterminator="\n", quoting=quoting)
    names = [f"c{i}" for i in range(width)]
    writer.writerows([names, *rows])
    path = tmp_path_factory.mktemp("any") / "rows.csv"
    path.write_bytes(text.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checked_records, "_CHUNK", chunk)
        frame = open_table(path, None, known=names, keep=names).frame
    filled = [row for row in rows if any(row) or width == 1]  # a line of separators alone is blank
    assert cells(frame) == [[cell or None for cell in row] for row in filled]


# --- lines above the header, blank lines, line ends ------------------------------------------------------------------


@pytest.mark.parametrize(
    "above", ["Report Q1\n", "# exported\n# by hand\n", "Report,,\n,,\n", "Report; with, commas\n\n", "a note: 5\n\n\n"]
)
def test_what_stands_above_the_header_is_skipped_and_said(tmp_path, above):
    text = above + "id,a,y\n07,5,0\n08,6,1\n"
    with pytest.warns(UserWarning, match=f"the table begins in line {above.count(chr(10)) + 1}"):
        frame = read(tmp_path, text, keep=["id"])
    assert cells(frame) == [["07", 5, 0], ["08", 6, 1]]
    with pytest.warns(UserWarning, match="the table begins in line"):
        [table] = read_blocks(tmp_path / "rows.csv", ["a", "id"], keep=["id"])
    assert table.frame["id"].tolist() == ["07", "08"]
    assert table.place(1) == f"line {above.count(chr(10)) + 3}"


def test_joined_files_are_read(tmp_path):
    with pytest.warns(UserWarning, match="line 3 repeats the header, as do 1 more; skipped"):
        frame = read(tmp_path, b"\xef\xbb\xbfa,y\n1,0\n\xef\xbb\xbfa,y\n2,1\na,y\r\n3,1\n\x1a")
    assert frame["a"].tolist() == [1, 2, 3]


def test_blank_lines_are_counted(tmp_path):
    with pytest.warns(UserWarning, match=r"2 blank lines are skipped \(the first is line 3\)"):
        frame = read(tmp_path, "a,y\n1,0\n\n2,1\n  \n3,1\n\n")
    assert frame["a"].tolist() == [1, 2, 3]


def test_a_blank_line_of_one_column_is_an_empty_cell(tmp_path):
    frame = read(tmp_path, "a\n\n2\n\n3\n", label=None, known=["a"])
    assert cells(frame) == [[None], [2], [None], [3]]
    [table] = read_blocks(tmp_path / "rows.csv", ["a"])
    assert len(table.frame) == 4
    assert table.place(3) == "line 5"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\r\r\n"])
def test_every_line_end_is_read(tmp_path, end):
    assert read(tmp_path, end.join(["a,y", "1,0", "2,1", ""]))["a"].tolist() == [1, 2]
    assert len(read(tmp_path, end.join(["a", "1", "2", ""]), label=None, known=["a"])) == 2


@pytest.mark.parametrize("name", ["rows.csv", "rows.txt"])
@pytest.mark.parametrize("character", ["\u2028", "\f", "\v", "\x85", "\x1c"])
def test_a_character_that_ends_a_line_elsewhere_is_one_of_a_cell(tmp_path, name, character):
    frame = read(tmp_path, f"note;a;y\nsee;1;0\nsee{character}note;2;1\n", name=name)
    assert frame["a"].tolist() == [1, 2]
    assert frame["note"].tolist() == ["see", f"see{character}note"]


def test_cells_over_several_lines_do_not_hide_the_separator(tmp_path):
    frame = read(tmp_path, "".join(["note;a;y\n", *('"one\ntwo\nthree";1;0\n' for _ in range(30))]))
    assert frame["note"].tolist() == ["one\ntwo\nthree"] * 30


def test_quoted_names_in_a_file_separated_by_blanks(tmp_path):
    frame = read(tmp_path, '"two words"  a y\n"x y" 1 0\nz   2\t1  \n', name="rows.txt")
    assert cells(frame) == [["x y", 1, 0], ["z", 2, 1]]


def test_columns_without_a_name_are_numbered(tmp_path):
    frame = read(tmp_path, ",,a,y\n0,0,5,0\n1,1,6,1\n")
    assert list(frame.columns) == ["Unnamed: 0", "Unnamed: 1", "a", "y"]


def test_an_index_that_was_saved_twice_is_read(tmp_path):
    pd.DataFrame({"Unnamed: 0": range(2), "a": [5, 6]}).to_csv(tmp_path / "twice.csv")
    pd.DataFrame({"Unnamed: 0": range(2), "a": [5, 6]}).to_excel(tmp_path / "twice.xlsx")
    for name in ("twice.csv", "twice.xlsx"):
        frame = open_table(tmp_path / name, None).frame
        assert list(frame.columns) == ["Unnamed: 0.1", "Unnamed: 0", "a"]


def test_a_header_alone_has_no_rows(tmp_path):
    for text in ("a,y\n", "a,y", "a;y\r\n"):
        frame = read(tmp_path, text)
        assert (list(frame.columns), len(frame)) == (["a", "y"], 0)
        [table] = read_blocks(tmp_path / "rows.csv", ["a"])
        assert (list(table.frame.columns), len(table.frame)) == (["a"], 0)


def test_words_for_empty_are_identifiers_where_they_are_identifiers(tmp_path):
    frame = read(tmp_path, "id,a,y\nNA,NA,0\nnull,1,1\n,2,1\n", keep=["id"])
    assert cells(frame[["id", "a"]]) == [["NA", None], ["null", 1], [None, 2]]


def test_fields_are_read_where_a_c_long_has_32_bits(tmp_path, monkeypatch):
    limit = csv.field_size_limit

    def narrow(*size):
        if size and size[0] > 2**31 - 1:
            raise OverflowError("Python int too large to convert to C long")
        return limit(*size)

    monkeypatch.setattr(csv, "field_size_limit", narrow)
    assert isinstance(read(tmp_path, "a,y\n1,0\n2,1\n"), pd.DataFrame)


def told(tmp_path, text, label="y"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = read(tmp_path, text, label)
    return frame, " | ".join(str(one.message) for one in caught)


ROWS = [f"C{i},{i},{i % 2}" for i in range(60)]


def test_comments_below_the_header_are_no_rows(tmp_path):
    frame, texts = told(tmp_path, "\n".join(["id,age,y", "# units", *ROWS[:30], "# by hand, twice", *ROWS[30:], ""]))
    assert frame["age"].tolist() == list(range(60))
    assert "line 2 is a comment or a rule, as is 1 more; skipped" in texts
    table = open_table(tmp_path / "rows.csv", "y")
    assert table.place(0) == "line 3" and table.place(30) == "line 34"


def test_rows_that_look_like_comments_are_said(tmp_path):
    frame, texts = told(tmp_path, "\n".join(["id,age,y", *ROWS[:30], "#C99,99,1", *ROWS[30:], ""]))
    assert len(frame) == 61
    assert "line 32 begins with #, like a comment, and counts as a row" in texts


def test_rows_that_begin_with_a_sign_are_rows(tmp_path):
    frame, texts = told(tmp_path, "\n".join(["color,age,y", *(f"#{row}" for row in ROWS), "#C98", ""]))
    assert len(frame) == 61
    assert "comment" not in texts and "1 field for 3 columns" in texts


@pytest.mark.parametrize(
    "header", ["customer,age,y", " customer , age,y", '"customer","age","y"', "\ufeffcustomer,age,y"]
)
def test_the_header_of_a_joined_file_is_no_row(tmp_path, header):
    frame, texts = told(tmp_path, "\n".join(["customer,age,y", *ROWS[:30], header, *ROWS[30:], ""]))
    assert frame["age"].tolist() == list(range(60))
    assert "line 32 repeats the header; skipped" in texts
    assert open_table(tmp_path / "rows.csv", "y").place(30) == "line 33"


@pytest.mark.parametrize("header", ["a,b,y", '"a","b","y"', "a, b, y", '"paid, net",b,y'])
def test_the_header_of_a_joined_file_is_no_row_however_it_is_written(tmp_path, header):
    rows = [f"{i},{i},1" for i in range(60)]
    frame, texts = told(tmp_path, "\n".join([header, *rows, header, *rows, ""]))
    assert frame.dtypes.tolist()[:2] == [int, int] and len(frame) == 120
    assert "line 62 repeats the header; skipped" in texts


@pytest.mark.parametrize("names", ["customer,age", "x1,x2"])
def test_a_header_in_another_order_is_refused(tmp_path, names):
    first, second = names.split(",")
    with pytest.raises(UsageError, match="line 62 is a header with the columns in another order"):
        read(tmp_path, "\n".join([f"{names},y", *ROWS, f"{second},{first},y", "3,C61,1", ""]))


@pytest.mark.parametrize("names", ["0,1", "win,loss"])
def test_rows_of_the_words_of_the_header_are_rows(tmp_path, names):
    first, second = names.split(",")
    frame, texts = told(tmp_path, "\n".join([names, names, f"{second},{first}", names, ""]), label=first)
    assert frame.astype(str).to_numpy().tolist() == [[first, second], [second, first], [first, second]]
    assert "header" not in texts


def test_rules_of_printed_tables_are_no_rows(tmp_path):
    lines = ["id | age | y", "---+-----+---", *(row.replace(",", " | ") for row in ROWS), ""]
    frame, texts = told(tmp_path, "\n".join(lines))
    assert frame["age"].tolist() == list(range(60))
    assert "line 2 is a comment or a rule; skipped" in texts


def test_a_joined_file_with_another_separator_is_refused(tmp_path):
    with pytest.raises(UsageError, match="line 62 is separated by ';', but the header by ','"):
        read(tmp_path, "\n".join(["id,age,y", *ROWS, "C61;61;1", ""]))


def test_a_remark_with_commas_is_no_joined_file(tmp_path):
    rows = [row.replace(",", ";") for row in ROWS]
    frame, texts = told(tmp_path, "\n".join(["id;age;y", *rows, "Source: office, 2020, table 3", ""]))
    assert len(frame) == 60 and "after the last row, line 62 fits no column ('Source: office" in texts


@pytest.mark.parametrize("sign", ["~", "^", ":"])
def test_a_separator_that_is_not_guessed_is_named(tmp_path, sign):
    path = tmp_path / "rows.csv"
    path.write_text(f"id{sign}age{sign}y\n1{sign}2{sign}0\n")
    with pytest.raises(UsageError, match=f"no column 'y'; the only column is .* --sep .*{re.escape(sign)}.* splits it"):
        fit_file(path, "y")
    assert open_table(path, "y", how=Reading(separator=sign)).frame["age"].tolist() == [2]


@pytest.mark.parametrize("sign", ["\uff0c", "\uff1b", "\u00a0"])
def test_a_separator_that_no_option_takes_is_to_be_replaced(tmp_path, sign):
    path = tmp_path / "rows.csv"
    path.write_text(f"id{sign}age{sign}y\n1{sign}2{sign}0\n", encoding="utf-8")
    with pytest.raises(UsageError, match=f"the only column is .*; replace {re.escape(repr(sign))} by commas"):
        fit_file(path, "y")


def test_lines_that_are_quoted_whole_are_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('"id,age,y"\n"1,2,0"\n')
    with pytest.raises(UsageError, match="each line is quoted as one cell; remove the quotes"):
        fit_file(path, "y")


def test_lines_are_counted_past_very_many_blank_ones(tmp_path):
    with pytest.raises(UsageError, match="line 600003 has 3 fields"):
        read(tmp_path, "a,y\n1,0\n" + 600_000 * "\n" + "2,1,3\n")


def test_names_in_single_quotes_are_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("'a','y'\n1,0\n2,1\n")
    with pytest.raises(UsageError, match="no column 'y'; the quotes in 'y' belong to its name"):
        fit_file(path, "y")


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
def test_a_rule_of_dashes_below_the_header_is_no_row(tmp_path, separator):
    lines = ["age city y", "---- ---- --", *(f"{age} Oslo {age % 2}" for age in range(30))]
    with pytest.warns(UserWarning, match="line 2 is a comment or a rule; skipped"):
        frame = read(tmp_path, "\n".join(lines).replace(" ", separator) + "\n", name="rows.txt")
    assert frame["age"].tolist() == list(range(30))


def test_a_row_of_dashes_for_empty_cells_stays(tmp_path):
    frame = read(tmp_path, "age,city,y\n-,-,-\n" + "1,Oslo,0\n" * 9 + "-5,-,-\n")
    assert len(frame) == 11


def test_rows_without_any_cell_of_the_model_are_told(tmp_path):
    path = tmp_path / "new.csv"
    beside = [f"{row},{row % 3}.5,,{row}" if row < 5 else f",,,{row}" for row in range(20)]
    path.write_text("a,b,,z\n" + "\n".join(beside) + "\n")
    with pytest.warns(UserWarning, match=r"15 rows have no cell in any column of the model \(first in line 7\)"):
        blocks = list(read_blocks(path, ["a", "b"], rows=4))
    assert sum(len(block.frame) for block in blocks) == 20
