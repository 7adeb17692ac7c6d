"""A folder of part files is one table, with the columns that its folders name; what is no such folder is refused."""

from pathlib import Path

import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.files.tables import files_of, open_files, partition_of, parts_of_folder
from pucli.data.rows.blocks import read_blocks

ROWS = pd.DataFrame({"id": ["007", "008", "009", "010"], "age": [1.5, 2.5, 3.5, 4.5], "label": [1, 0, 1, 0]})


@pytest.fixture
def partitioned(tmp_path):
    pytest.importorskip("pyarrow")
    folder = tmp_path / "rows"
    year, town = ["2023", "2024", "2024", None], ["St/Ives", "a b", "a b", "x"]
    ROWS.assign(year=year, town=town).to_parquet(folder, partition_cols=["year", "town"])
    for name in ("_SUCCESS", ".part-0.parquet.crc", "_metadata"):
        (folder / name).write_text("" if name == "_SUCCESS" else "crc")
    (folder / "year=2023" / "empty.csv").touch()
    return folder


def test_a_partitioned_folder_has_the_columns_of_its_folders(partitioned):
    table = open_files(files_of(partitioned), "label")
    found = table.frame.sort_values("id", ignore_index=True)
    assert found["year"].isna().tolist() == [False, False, False, True]
    assert found["year"].tolist()[:3] == ["2023", "2024", "2024"]
    assert found["town"].tolist() == ["St/Ives", "a b", "a b", "x"] and found["id"].tolist() == ROWS["id"].tolist()
    assert "year=2023" in table.place(0)


def test_blocks_of_a_partitioned_folder_have_them_as_well(partitioned):
    blocks = list(read_blocks(files_of(partitioned), ["age", "year", "id"], as_text={"id"}, rows=1, keep=["id"]))
    whole = pd.concat([block.frame for block in blocks]).sort_values("id")
    assert whole["age"].tolist() == ROWS["age"].tolist() and whole["id"].tolist() == ROWS["id"].tolist()
    assert whole["year"].tolist()[:3] == ["2023", "2024", "2024"]


def test_a_folder_of_csv_parts_is_the_table_of_its_parts(tmp_path):
    for number in range(2):
        ROWS[2 * number : 2 * number + 2].to_csv(tmp_path / f"part-0000{number}.csv", index=False)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part-00000.csv.crc").write_bytes(b"crc\0")
    (tmp_path / "part-00002.csv").touch()  # Spark writes empty parts
    frame = open_files(files_of(tmp_path), "label", as_text=["id"]).frame
    pd.testing.assert_frame_equal(frame, ROWS, check_dtype=False)


def test_a_column_of_the_file_stays(tmp_path):
    folder = tmp_path / "age=9"
    folder.mkdir()
    ROWS.to_csv(folder / "a.csv", index=False)
    assert open_files(files_of(tmp_path), "label").frame["age"].tolist() == ROWS["age"].tolist()


@pytest.mark.parametrize(
    ("names", "named"),
    [
        ([], "without a file that is read"),
        (["_SUCCESS", ".a.csv"], "without a file that is read"),
        (["a.csv", "b.parquet"], "several kinds, such as a.csv and b.parquet"),
        (["data/a.parquet", "metadata/00001-a.metadata.json"], "is a table of Iceberg, whose log tells which parts"),
        (["a.parquet", "_delta_log/0.json"], "is a table of Delta Lake, whose log tells which parts are valid"),
    ],
)
def test_other_folders_are_refused(tmp_path, names, named):
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a,label\n1,0\n")
    with pytest.raises(UsageError, match=named):
        parts_of_folder(tmp_path)


def test_only_folders_right_above_a_file_name_columns(tmp_path):
    assert partition_of(tmp_path / "a=1" / "rows" / "b.csv") == {}
    assert partition_of(tmp_path / "a=1" / "b=__HIVE_DEFAULT_PARTITION__" / "c.csv") == {"a": "1", "b": None}


def test_a_name_that_is_no_path_is_left_to_the_reader():
    assert files_of("a" * 5000) == [Path("a" * 5000)]


def test_the_folder_of_a_single_file_is_no_column_of_training(tmp_path):
    file = tmp_path / "run=1" / "a.csv"
    file.parent.mkdir()
    ROWS.to_csv(file, index=False)
    assert list(open_files(files_of(file), "label").frame.columns) == list(ROWS.columns)
    [block] = read_blocks(file, ["age", "run"])  # a model of the whole folder needs it
    assert block.frame["run"].tolist() == ["1"] * len(ROWS)
    assert [len(block.frame) for block in read_blocks(file, ["age"], rows=2)] == [2, 2]
