"""Tables as other programs print or dump them, and headers and lines that do not fit each other."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table
from pucli.data.reading import Reading
from pucli.data.rows.tables import check_model_columns, existing_column
from tests.data.helpers import refused

ROWS = [(f"C{row}", str(row % 7), "yes" if row % 3 else "no") for row in range(12)]
HEADER = ("code", "age", "bought")


def saved(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("INSERT INTO t VALUES('a',1);\n" * 9, "SQL statements"),
        ("-- dump of t\nSET a = 1;\nCREATE TABLE t (\n  a int,\n  b int\n);\n", "SQL statements"),
        ("COPY t (a, b) FROM stdin;\na\t1\n", "SQL statements"),
        (
            "┌──────┬─────┐\n│ code │ age │\n├──────┼─────┤\n│ a    │ 1   │\n└──────┴─────┘\n",
            "a table drawn with lines",
        ),
        ("\\begin{tabular}{lr}\na & 1 \\\\\n\\end{tabular}\n", "a LaTeX document"),
        ("<rows><row><code>a</code><age>1</age></row></rows>\n", "an XML document"),
        ("- code: a\n  age: 1\n- code: b\n  age: 2\n", "a YAML document"),
    ],
)
def test_text_that_is_no_table_is_named(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(UsageError, match=f"is (a file of )?{what}"):
        open_table(saved(tmp_path, text), None)


@pytest.mark.parametrize("text", ["<TICKER>\t<PER>\na\t1\nb\t2\n", "<TICKER>,<PER>\na,1\nb,2\n", "SET a,b\n1,2\n3,4\n"])
def test_tables_that_only_resemble_them_are_read(tmp_path: Path, text: str) -> None:
    assert open_table(saved(tmp_path, text), None).frame.shape == (2, 2)


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_a_header_with_another_separator_is_named(tmp_path: Path, sign: str) -> None:
    path = saved(tmp_path, sign.join(HEADER) + "\n" + "".join(",".join(row) + "\n" for row in ROWS))
    with pytest.raises(UsageError, match=r"the header is separated by .*, but the lines below it by ',' .3 fields"):
        open_table(path, "bought")


def test_lines_that_are_quoted_whole_below_a_header_are_named(tmp_path: Path) -> None:
    path = saved(tmp_path, ",".join(HEADER) + "\n" + "".join(f'"{",".join(row)}"\n' for row in ROWS))
    with pytest.raises(UsageError, match=r"quoted as one cell.* remove the quotes"):
        open_table(path, None)
    doubled = "".join('"' + '"",""'.join(row) + '"\n' for row in [HEADER, *ROWS])
    path = saved(tmp_path, doubled)
    with pytest.raises(UsageError, match="each line is quoted as one cell"):
        existing_column(path, open_table(path, None), "bought")


@pytest.mark.parametrize("quotes", ["“”", "«»", "''"])
def test_names_in_other_quotes_are_told(tmp_path: Path, quotes: str) -> None:
    begin, end = quotes
    path = saved(tmp_path, "".join(",".join(f"{begin}{cell}{end}" for cell in row) + "\n" for row in [HEADER, *ROWS]))
    with pytest.raises(UsageError, match=r"the quotes in .* belong to its name, as only double quotes"):
        existing_column(path, open_table(path, None), "bought")


@pytest.mark.parametrize("code", ["\x01", "\x14", "\x1f"])
def test_a_control_character_separates_as_the_message_types_it(tmp_path: Path, code: str) -> None:
    path = saved(tmp_path, "".join(code.join(row) + "\n" for row in [HEADER, *ROWS]), "t.txt")
    typed = f"\\x{ord(code):02x}"
    with pytest.raises(UsageError) as error:
        existing_column(path, open_table(path, None), "bought")
    assert f"--sep '{typed}' splits it" in str(error.value)
    assert list(open_table(path, None, how=Reading(separator=typed)).frame.columns) == list(HEADER)


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("gap", [" ", "   "])
def test_blanks_in_a_csv_are_named_where_a_column_is_missing(tmp_path: Path, quote: str, gap: str) -> None:
    lines = [gap.join(f"{quote}{cell}{quote}" for cell in HEADER), *(gap.join(row) for row in ROWS)]
    path = saved(tmp_path, "\n".join(lines) + "\n")
    table, way_out = open_table(path, None), "the only column is .*; --sep ' ' splits it"
    with pytest.raises(UsageError, match=way_out):
        existing_column(path, table, "bought")
    for rows in (table, table._replace(frame=table.frame.iloc[:0])):  # predict knows the names before the rows
        with pytest.raises(UsageError, match=way_out):
            check_model_columns(path, rows, ["age", "bought"])
    assert list(open_table(path, None, how=Reading(separator=" ")).frame.columns) == list(HEADER)


def test_a_name_of_several_words_is_not_taken_for_columns(tmp_path: Path) -> None:
    path = saved(tmp_path, "age in years\n31\n52\n")
    with pytest.raises(UsageError, match="did you mean 'age in years'"):
        existing_column(path, open_table(path, None), "age")
    with pytest.raises(UsageError, match="rename it if it is the same column"):
        check_model_columns(path, open_table(path, None), ["age"])


def test_rules_of_equal_signs_are_no_rows(tmp_path: Path) -> None:
    rule = "==== === ======\n"
    text = rule + " ".join(HEADER) + "\n" + rule + "".join(" ".join(row) + "\n" for row in ROWS) + rule
    with pytest.warns(UserWarning, match="line 3 is a comment or a rule, as is 1 more; skipped"):
        table = open_table(saved(tmp_path, text, "t.txt"), "bought")
    assert table.frame.shape == (12, 3)
    assert table.frame["age"].dtype.kind == "i"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_new_file_in_utf_8_is_not_garbled_in_silence(tmp_path: Path, mark: str) -> None:
    path = saved(tmp_path, mark + ",".join(HEADER) + "\n" + "".join(f"Köln{row},{row},yes\n" for row in range(12)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = open_table(path, "bought", how=Reading(encoding="cp1252")).frame
    told = [str(one.message) for one in caught]
    assert list(frame.columns) == list(HEADER)
    assert frame["code"][0] == ("Köln0" if mark else "KÃ¶ln0")
    assert any("is UTF-8, but is read as cp1252" in text for text in told) is (mark == "")
    path.write_bytes(path.read_text(encoding="utf-8").lstrip("\ufeff").encode("cp1252"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_table(path, "bought", how=Reading(encoding="cp1252")).frame["code"][0] == "Köln0"
        for encoding in ("utf-8", "utf-8-sig", "utf-16"):
            path.write_text("code,bought\nKöln,1\nUlm,0\n", encoding=encoding)
            assert open_table(path, "bought", how=Reading(encoding=encoding)).frame["code"][0] == "Köln"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (" code age\n" + "".join(f"{row} C{row} {row % 7}\n" for row in range(9)), "if 0 is a row number"),
        ("code,age\n" + "".join(f"“C, {row}”,{row % 7}\n" for row in range(9)), "“ is no quote"),
        ("code,age\n“C”,1\n“D”,2,3\n", "quote a cell that has ',' in it"),
        ("\x85".join(["code,age", *(f"C{row},{row}" for row in range(9))]), "lines end with U\\+0085"),
        ("\u2028".join(["code,age", *(f"C{row},{row}" for row in range(9))]), "lines end with U\\+2028"),
    ],
)
def test_printed_rows_curly_quotes_and_strange_line_ends_are_refused_with_the_way_out(tmp_path, text, told):
    with pytest.raises(UsageError, match=told):
        open_table(saved(tmp_path, text, "t.txt"), None)


def test_the_signs_of_strange_quotes_and_line_ends_are_read_within_cells(tmp_path):
    frame = open_table(saved(tmp_path, "code,note\nC1,a\x85b\u2028c\nC2,“said”\n"), None).frame
    assert frame["note"].tolist() == ["a\x85b\u2028c", "“said”"]


def test_an_empty_cell_among_blanks_is_refused_lest_columns_shift(tmp_path):
    path = tmp_path / "t.txt"
    rows = ["name  age  city  y", "Ann   31   Ulm   0", "Bob        Ulm   1", "Cid   52   Bonn  0"]
    path.write_text("\n".join(rows) + "\n")
    refused(path, "line 3 has 3 fields for 4 columns")
    path.write_text("\n".join(rows).replace("Bob   ", "Bob NA") + "\n")
    assert open_table(path, "y").frame["city"].tolist() == ["Ulm", "Ulm", "Bonn"]


def test_cells_that_join_without_a_blank_are_refused(tmp_path):
    path = tmp_path / "t.txt"
    rows = [f"{row:4d}{-100.5 - row:8.2f}{row % 2:3d}" for row in range(9)]
    path.write_text("\n".join(["   a     b   y", *rows[:5], f"{5:4d}{-11100.5:8.2f}{1:3d}", *rows[6:]]) + "\n")
    refused(path, "line 7 has 2 fields for 3 columns")
    path.write_text("\n".join(["   a     b   y", *(row.replace(" -", "-") for row in rows)]) + "\n")
    refused(path, "line 2 and all lines after it have fewer (2); where cells join without a blank")
