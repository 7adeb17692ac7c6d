"""A file with lines that are no rows is read as the file without them, at once, in blocks and packed."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.files.table import Table
from pucli.data.files.tables import open_table
from pucli.data.reading import Reading
from pucli.data.rows.blocks import read_blocks
from tests.helpers import SHARED

EXPORTS = SHARED / "cases" / "exports"
needs_exports = pytest.mark.skipif(not EXPORTS.is_dir(), reason="no ../shared/cases/exports beside the checkout")
ROWS = [
    (f"C{i}", 20 + i % 40, 1000 + 7 * i, "Ulm" if i % 3 else "Bonn", "yes" if i % 4 == 0 else "") for i in range(90)
]
HEADER = "customer,age,income,city,bought"
BODY = [",".join(map(str, row)) for row in ROWS]
SURVEY = [
    "Recorded,Duration,Q1,Q2,bought",
    '"Recorded Date","Duration (in seconds)","How old are you?","Where do you live?",""',
    '"{""ImportId"":""recorded""}","{""ImportId"":""duration""}","{""ImportId"":""QID1""}","{""ImportId"":""QID2""}",""',
    *(f"2024-03-{1 + i % 28:02} 10:{i % 60:02},{30 + i},{20 + i % 50},{city},{bought}"
      for i, (_, _, _, city, bought) in enumerate(ROWS)),
]  # fmt: skip
LOG = [
    "#Software: a server",
    "#Fields: date time bytes status bought",
    *(
        f"2024-03-{1 + i % 28:02} 10:{i % 60:02}:00 {300 + i} {200 + i % 5} {'yes' if i % 4 == 0 else '-'}"
        for i in range(60)
    ),
]
# Lines that are no rows, by kind: the lines, and the numbers (from 1) of those that are left out.
OWN = {
    "units": ([HEADER, ",years,EUR,,", *BODY], [2]),
    "survey": (SURVEY, [2, 3]),
    "totals": ([HEADER, *BODY, "Total,4000,120000,,", "Average: all,41,1311,,"], [92, 93]),
    "total of a group": ([HEADER, *BODY, "Ulm Total,,120000,,"], [92]),
    "footer": ([HEADER, *BODY, "", "Source: CRM", "Printed by A. Person, on Monday"], [93, 94]),
    "second table": ([HEADER, *BODY, ",,,,", "Day,Visitors,,,", "20260101,15,,,", "20260102,19,,,"], [93, 94, 95]),
}


def read(path: Path, label: str = "bought", **options: object) -> tuple[Table, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = open_table(path, label, how=Reading(**options))  # type: ignore[arg-type]
    return table, " | ".join(str(one.message) for one in caught)


def in_blocks(path: Path, needed: list[str], rows: int = 13, **options: object) -> tuple[pd.DataFrame, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        blocks = [one.frame for one in read_blocks(path, needed, as_text=needed, rows=rows, how=Reading(**options))]  # type: ignore[arg-type]
    return pd.concat(blocks, ignore_index=True), " | ".join(str(one.message) for one in caught)


@pytest.mark.parametrize("kind", OWN)
def test_a_file_is_read_as_the_file_without_these_lines(tmp_path: Path, kind: str) -> None:
    lines, left = OWN[kind]
    rows = [line for number, line in enumerate(lines, start=1) if number not in left and line.strip(",")]
    paths = [tmp_path / name for name in ("lines.csv", "rows.csv", "lines.csv.gz")]
    paths[0].write_text("\n".join(lines) + "\n")
    paths[1].write_text("\n".join(rows) + "\n")
    paths[2].write_bytes(gzip.compress(paths[0].read_bytes()))
    expected, silent = read(paths[1])
    assert "left out" not in silent
    option = "--header-rows 1 keeps" if left[0] == 2 else "--skip-footer 0 keeps"
    named = f"line {left[0]} fits" if len(left) == 1 else f"lines {left[0]} to {left[-1]} fit"
    for path in (paths[0], paths[2]):
        table, told = read(path)
        pd.testing.assert_frame_equal(table.frame, expected.frame)
        assert named in told and option in told, told
    needed = list(expected.frame.columns[:3])
    found, told = in_blocks(paths[0], needed)
    pd.testing.assert_frame_equal(found, in_blocks(paths[1], needed)[0])
    assert named in told and option in told, told


@pytest.mark.parametrize("kind", OWN)
def test_an_option_keeps_the_lines_or_leaves_them_out(tmp_path: Path, kind: str) -> None:
    lines, left = OWN[kind]
    path = tmp_path / "lines.csv"
    path.write_text("\n".join(lines) + "\n")
    kept, told = read(path, header_rows=1, skip_footer=0)
    assert len(kept.frame) == 90 + len(left) and "left out" not in told
    if left[0] > 2:
        alone, told = read(path, skip_footer=len(left))
        pd.testing.assert_frame_equal(alone.frame, read(path)[0].frame)
        assert "left out" not in told


def test_a_total_between_rows_is_kept_and_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join([HEADER, *BODY[:40], "Ulm Total,,120000,,", *BODY[40:]]) + "\n")
    table, told = read(path)
    assert len(table.frame) == 91 and "line 42 looks like totals ('Ulm Total')" in told and "counts as a row" in told


@pytest.mark.parametrize("row", ["C91,,,,", "C91,44,,Ulm,", "D-7,44,9000,Köln,", "C91,unknown,-,Bonn,yes"])
def test_an_unusual_last_row_stays(tmp_path: Path, row: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join([HEADER, *BODY, row]) + "\n")
    table, told = read(path)
    assert len(table.frame) == 91 and "left out" not in told


def test_years_below_a_title_are_parts_of_the_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "\n".join(["town,people,,bought", ",2019,2020,", *(f"T{i},{9000 + i},{9100 + i},yes" for i in range(30))])
    )
    joined, told = read(path)
    assert list(joined.frame.columns) == ["town", "people 2019", "people 2020", "bought"] and len(joined.frame) == 30
    assert "line 2 has parts of the names" in told and joined.reading.header_rows == 2
    given, told = read(path, header_rows=2)
    assert "names" not in told
    pd.testing.assert_frame_equal(given.frame, joined.frame)


def test_no_column_of_a_log_takes_the_values_of_its_neighbor(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("\n".join([*LOG, "#Remark: the end"]) + "\n")
    table, _ = read(path)
    assert list(table.frame.columns) == ["date", "time", "bytes", "status", "bought"]
    assert table.frame["bytes"].tolist() == list(range(300, 360))
    plain = tmp_path / "plain.csv"  # without the sign of a comment nobody knows which name is the one too many
    plain.write_text("\n".join(["a,b,c,bought", "i,number,number,string", *(f"{i},{i},yes" for i in range(40))]))
    with pytest.raises(UsageError, match="the header has 4 fields"):
        read(plain)


def test_quotes_may_be_plain_characters(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    cells = ['"Weiher north', 'pipe of 3"', '"Hut"', "mill"]
    path.write_text("\n".join(["n\tplace\tbought", *(f"{i}\t{cells[i % 4]}\tyes" for i in range(200))]) + "\n")
    with pytest.raises(UsageError, match="--quote none"):
        read(path)
    table, _ = read(path, quote="none")
    assert table.frame["place"].tolist() == cells * 50
    found, _ = in_blocks(path, ["n", "place"], quote="none")
    assert found["place"].tolist() == cells * 50
    assert Reading(quote="none").words == "--quote none"


def test_lines_within_a_quoted_cell_are_not_swallowed(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(
        "\n".join(["n\tplace\tbought", '1\t"a\tyes', "2\tb\tyes", '3\tc"\tyes', *(f"{i}\td\tyes" for i in range(9))])
    )
    with pytest.raises(UsageError, match="line 2 is not closed"):
        read(path)


@pytest.mark.parametrize("escape", ["", '\\"'])
def test_the_null_of_databases_is_empty_in_every_column(tmp_path: Path, escape: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "\n".join(["a,b,bought", f'1,"x{escape}y",yes', "\\N,\\N,\\N", *(f"{i},z,yes" for i in range(8))]) + "\n"
    )
    table, _ = read(path)
    assert table.frame.iloc[1].isna().all() and table.frame["a"].dtype.kind == "f"


CASES = [  # file, label, options, lines that are left out, what is cut off the header
    ("zeek_shift/zeek_mid.tsv", "local_orig", {}, [1, 3], "#fields\t"),
    ("pubchem_rows/pubchem.csv", "PUBCHEM_ACTIVITY_OUTCOME", {}, [2, 3, 4, 5], ""),
    ("census_second_header/census.csv", "hit", {}, [2], ""),
    ("ads_totals/gads.csv", "good", {}, [1, 2, 604, 605], ""),
    ("totals_prefix/tot3.csv", "bought", {}, [602, 603], ""),
    ("salesforce_footer/salesforce.csv", "Stage", {"encoding": "latin-1"}, list(range(602, 609)), ""),
    ("ga4_two/ga4_two.csv", "converted", {}, [1, *range(603, 608)], ""),
]


@needs_exports
@pytest.mark.parametrize(("file", "label", "options", "left", "cut"), CASES, ids=[one[0] for one in CASES])
def test_exports_are_read_without_the_lines_that_are_no_rows(
    tmp_path: Path, file: str, label: str, options: dict[str, object], left: list[int], cut: str
) -> None:
    encoding = str(options.get("encoding", "utf-8"))
    lines = (EXPORTS / file).read_text(encoding=encoding).splitlines()
    rows = [line for number, line in enumerate(lines, start=1) if number not in left]
    path = tmp_path / Path(file).name
    path.write_text("\n".join([rows[0].removeprefix(cut), *rows[1:]]) + "\n", encoding=encoding)
    table, told = read(EXPORTS / file, label, **options)
    pd.testing.assert_frame_equal(table.frame, read(path, label, **options)[0].frame)
    assert len(table.frame) == 600 and "left out" in told
    needed = [name for name in table.frame.columns if name != label]
    found = in_blocks(EXPORTS / file, needed, rows=101, **options)[0]
    pd.testing.assert_frame_equal(found, in_blocks(path, needed, rows=101, **options)[0])


@needs_exports
def test_exports_with_names_in_several_lines_and_with_plain_quotes() -> None:
    path, options = EXPORTS / "destatis_headers" / "destatis.csv", {"encoding": "cp1252", "skip_rows": 3}
    joined, told = read(path, "Treffer", **options)
    names = [
        "Kreise",
        "Unnamed: 1",
        *(f"Bevölkerungsstand Anzahl 31.12.{year}" for year in (2023, 2024)),
        "Quote Prozent",
    ]
    assert list(joined.frame.columns) == [*names, "Treffer"] and len(joined.frame) == 600
    assert "lines 5 to 6 have parts of the names" in told and "lines 607 to 610 fit no column" in told
    pd.testing.assert_frame_equal(read(path, "Treffer", header_rows=3, **options)[0].frame, joined.frame)
    path = EXPORTS / "gbif_quote" / "gbif_q.csv"
    with pytest.raises(UsageError, match="--quote none"):
        read(path, "species")
    table, _ = read(path, "species", quote="none")
    assert len(table.frame) == 600 and table.frame["locality"].iloc[0] == 'a "b'
