"""Identifiers leave a file as they came, in every format."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table
from pucli.data.files.writers import open_writer
from pucli.data.ids import exact, with_ids
from pucli.data.rows.blocks import read_blocks

BIG = 2**53 + 1


def copied(path, out, rows=4, name="id"):
    """Write the identifiers of a file in blocks, and return the lines of the CSV."""
    with open_writer(out) as writer:
        for table in read_blocks(path, ["a", name], keep=[name], rows=rows):
            writer.write(pd.DataFrame({"row": np.ones(len(table.frame), dtype=int), name: table.frame[name].array}))
    return [line.partition(",")[2] for line in out.read_text().splitlines()[1:]] if out.suffix == ".csv" else out


@pytest.mark.parametrize("kind", ["parquet", "csv", "xlsx", "jsonl", "feather"])
@pytest.mark.parametrize("place", [0, 5, 9])
def test_integers_beside_an_empty_cell_stay_exact(kind, place, tmp_path):
    path = tmp_path / f"t.{kind}"
    ids = [(10**14 if kind == "xlsx" else BIG) + i for i in range(10)]  # a sheet has 15 digits
    ids[place] = None
    frame = pd.DataFrame({"id": pd.array(ids, dtype="Int64"), "a": np.arange(10.0)})
    if kind == "jsonl":
        lines = [{"id": one, "a": float(row)} for row, one in enumerate(ids)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    elif kind == "xlsx":
        frame.astype({"id": object}).where(frame.notna(), None).to_excel(path, index=False)
    else:
        {"parquet": frame.to_parquet, "csv": lambda p: frame.to_csv(p, index=False), "feather": frame.to_feather}[kind](
            path
        )
    wanted = ["" if one is None else str(one) for one in ids]
    assert copied(path, tmp_path / "o.csv") == wanted
    back = pd.read_parquet(copied(path, tmp_path / "o.parquet"))["id"]
    assert ["" if pd.isna(one) else str(one) for one in back.astype(object)] == wanted


@pytest.mark.parametrize("out", ["o.csv", "o.parquet"])
def test_identifiers_that_are_first_all_empty(out, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,a\n" + ",1\n" * 8 + "007,2\n" * 4)
    copied(path, tmp_path / out)
    read = pd.read_csv(tmp_path / out, dtype=str) if out.endswith("csv") else pd.read_parquet(tmp_path / out)
    assert read["id"].isna().sum() == 8
    assert read["id"].tolist()[8:] == ["007"] * 4


def test_words_and_codes_stay(tmp_path):
    ids = ["TRUE", "01", "1e5", "+49", "=x", "NA", "null", "1.0", "да", "8192"]
    pd.DataFrame({"id": ids, "a": 1.0}).to_csv(tmp_path / "t.csv", index=False)
    assert copied(tmp_path / "t.csv", tmp_path / "o.csv") == ids
    pd.DataFrame({"id": pd.Categorical(ids), "a": 1.0}).to_parquet(tmp_path / "t.parquet")
    assert copied(tmp_path / "t.parquet", tmp_path / "o.csv") == ids


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (pd.Series([8192.0, np.nan, 0.5]), ["8192", None, "0.5"]),
        (pd.Series(pd.Categorical([3, 1, None])), ["3", "1", None]),
        (pd.Series([True, None], dtype=object), ["True", None]),
        (pd.Series(pd.to_datetime(["2024-01-01", None])), ["2024-01-01 00:00:00", None]),
        (pd.Series([b"x", "", None]), ["x", None, None]),
        (pd.Series([None, None], dtype=object), [None, None]),
        (pd.Series([2**70, 1], dtype=object), [str(2**70), "1"]),
    ],
)
def test_every_kind_of_cell_is_exact(column, texts):
    found = exact(column)
    assert [None if pd.isna(one) else str(one) for one in found] == texts


def test_nested_cells_are_refused(tmp_path):
    pd.DataFrame({"id": [{"a": 1}, {"a": 2}], "a": [1, 2]}).to_parquet(tmp_path / "t.parquet")
    for read in (lambda p: open_table(p, None, keep=["id"]), lambda p: list(read_blocks(p, ["id"], keep=["id"]))):
        with pytest.raises(UsageError, match=r"t.parquet: column 'id' holds lists or structs"):
            read(tmp_path / "t.parquet")


def test_an_index_in_parquet_is_a_column(tmp_path):
    frame = pd.DataFrame({"id": ["x", "y", "z"], "part": [1, 2, 3], "a": [1.0, 2.0, 3.0]})
    path = tmp_path / "t.parquet"
    frame.set_index("id").to_parquet(path)
    assert set(open_table(path, None).frame.columns) == {"id", "part", "a"}
    assert copied(path, tmp_path / "o.csv") == ["x", "y", "z"]
    frame.set_index(["id", "part"]).to_parquet(path)
    assert copied(path, tmp_path / "o.csv", rows=2, name="part") == ["1", "2", "3"]
    frame.set_index(pd.RangeIndex(10, 40, 10, name="step")).to_parquet(path)
    assert copied(path, tmp_path / "o.csv", rows=2, name="step") == ["10", "20", "30"]
    frame[["a"]].set_index(pd.Index([5, 9, 7])).to_parquet(path)
    with pytest.warns(UserWarning, match="index without a name .*--id __index_level_0__"):
        assert list(open_table(path, None).frame.columns) == ["a"]
    assert copied(path, tmp_path / "o.csv", name="__index_level_0__") == ["5", "9", "7"]


def test_two_columns_of_one_name_in_parquet_are_named(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table([pa.array([1]), pa.array([2])], names=["age", "age"])
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    for read in (lambda p: open_table(p, None), lambda p: list(read_blocks(p, ["age"]))):
        with pytest.raises(UsageError, match="two columns are named 'age'"):
            read(tmp_path / "t.parquet")


@pytest.mark.parametrize(("written", "cut"), [("1.2345{}E+17", True), ("1.2345{}", False), ("12{}E+03", False)])
def test_identifiers_that_a_spreadsheet_has_cut_are_told(written, cut, tmp_path, recwarn):
    path = tmp_path / "t.csv"
    path.write_text("id,a\n" + "".join(f"{written.format(row)},{row}\n" for row in range(9)))
    assert copied(path, tmp_path / "o.csv")[:2] == [written.format(0), written.format(1)]
    assert any("a spreadsheet has cut" in str(one.message) for one in recwarn) == cut


@pytest.mark.parametrize("rows", [3, 8192])
@pytest.mark.parametrize("place", [0, 1])
def test_blanks_around_an_identifier_of_a_text_file_stay(tmp_path, place, rows):
    wanted = [" 007", "007", "  8 ", " 9", "a, b", " c", ""]
    cells = [" 007", "007", "  8 ", " 9", '"a, b"', ' "c"', "   "]
    wanted[5] = "c"  # the blank stands before the quote
    lines = [f"{cell},{i}, x" if place == 0 else f"{i},{cell}, x" for i, cell in enumerate(cells)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["id,a,b" if place == 0 else "a,id,b", *lines, ""]))
    blocks = list(read_blocks(path, ["a", "id", "b"], keep=["id"], as_text=["b"], rows=rows))
    found = pd.concat([block.frame for block in blocks])
    assert ["" if pd.isna(one) else one for one in found["id"]] == wanted
    assert found["a"].tolist() == list(range(7))
    assert set(found["b"]) == {"x"}


def test_blanks_that_follow_every_separator_are_no_part_of_an_identifier(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a, id\n1, 007\n2, 008\n")
    [block] = read_blocks(path, ["a", "id"], keep=["id"])
    assert block.frame["id"].tolist() == ["007", "008"]


def test_blanks_before_every_separator_are_no_part_of_an_identifier(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text(" id   | a \n------+---\n 007  | 1 \n a b  | 2 \n      | 3 \n")
    [block] = read_blocks(path, ["a", "id"], keep=["id"])
    assert block.frame["id"].fillna("").tolist() == ["007", "a b", ""]
    path.write_text("+------+---+\n| id   | a |\n+------+---+\n| 007  | 1 |\n| a b  | 2 |\n+------+---+\n")
    [block] = read_blocks(path, ["a", "id"], keep=["id"])
    assert block.frame["id"].tolist() == ["007", "a b"]
    path.write_text("id,a\n007  ,1\n a b ,2\n")
    [block] = read_blocks(path, ["a", "id"], keep=["id"])
    assert block.frame["id"].tolist() == ["007  ", " a b "]


@pytest.mark.parametrize("quote", ["", '"'])
def test_blanks_in_front_of_identifiers_are_kept_in_every_block_of_a_file(tmp_path, quote):
    ids = [f"{' ' * (i % 5000 == 17)}{i:06d}" for i in range(20_000)]
    path = tmp_path / "t.csv"
    path.write_text("a,note,id\n" + "".join(f"{i},{quote}x{quote},{one}\n" for i, one in enumerate(ids)))
    found = pd.concat([block.frame for block in read_blocks(path, ["a", "id"], keep=["id"])])
    assert found["id"].tolist() == ids


@pytest.mark.parametrize(("first", "step", "cut"), [(10**15, 10, True), (10**15, 9, False), (10**14, 10, False)])
def test_numbers_of_more_digits_than_a_spreadsheet_keeps_are_told(first, step, cut, recwarn):
    for cells in (first + step * np.arange(9), (first + step * np.arange(9)).astype(str)):
        recwarn.clear()
        with_ids(pd.DataFrame({"id": cells}), ["id"])
        assert any("a spreadsheet may have cut" in str(one.message) for one in recwarn) == cut
