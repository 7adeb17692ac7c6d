"""Arrow files from anyone: positions of texts and codes of categories are checked before compiled code trusts them."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table
from pucli.data.rows.user_file import fit_file

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
WORDS = ["Ulm", "Bonn", "Kiel", "Aachen"] * 20
TABLE = {"city": WORDS, "area": pa.array(WORDS).dictionary_encode(), "y": np.arange(80) % 2}


@pytest.mark.parametrize(
    ("part", "number"),
    [("positions", 2**30), ("positions", -5), ("codes", 2**30), ("codes", -7), ("codes", 1000)],
)
@pytest.mark.parametrize("name", ["t.feather", "t.arrow"])
def test_positions_outside_of_the_file(tmp_path: Path, name: str, part: str, number: int) -> None:
    table, path = pa.table(TABLE), tmp_path / name
    if name == "t.feather":
        feather.write_feather(table, path, compression="uncompressed")
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    assert open_table(path, "y").frame["city"].tolist() == WORDS
    positions = np.cumsum([0, *map(len, WORDS)]).astype("<i4").tobytes()
    codes = table["area"].chunk(0).indices.to_numpy().astype("<i4").tobytes()
    content = bytearray(path.read_bytes())
    place = bytes(content).index(positions if part == "positions" else codes) + 40
    content[place : place + 4] = struct.pack("<i", number)
    path.write_bytes(content)
    with pytest.raises(UsageError, match=f"{name} is damaged"):
        open_table(path, "y")


def test_the_first_version_of_feather_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.feather"
    path.write_bytes(b"FEA1" + bytes(400) + b"FEA1")
    with pytest.raises(UsageError, match="version 1"):
        open_table(path, "y")


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_bytes_and_long_integers_beside_empty_cells_stay_apart(tmp_path: Path, name: str) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    long = [None if row % 5 == 0 else 2**53 + row for row in range(40)]
    labels = [b"yes" if row % 3 == 0 else b"no" for row in range(40)]
    uuids = [bytes([200 + row % 4, row]) for row in range(40)]
    table = pa.table({"long": long, "uuid": uuids, "a": np.arange(40.0) % 7, "y": labels})
    (pq.write_table if name == "t.parquet" else feather.write_feather)(table, tmp_path / name)
    file = fit_file(tmp_path / name, "y")
    assert file.labels is not None and file.labels.present == ["no", "yes"]
    kinds = {column.name: (column.kind, column.n_distinct) for column in file.encoder.columns_}
    assert kinds["long"] == ("identifier", 32) and kinds["uuid"] == ("identifier", 40)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_times_of_day_in_nanoseconds_are_read_and_far_times_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name

    def saved(times: object) -> Path:
        table = pa.table({"z": times, "x": np.arange(80.0), "y": np.arange(80) % 2})
        if name == "t.parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        else:
            feather.write_feather(table, path)
        return path

    found = open_table(saved(pa.array(np.arange(80) * 10**9 + 1, pa.time64("ns"))), "y").frame
    assert found["z"].astype(str).tolist()[:2] == ["00:00:00", "00:00:01"] and found["x"].sum() == 3160
    saved(pa.array([2**62] * 80, pa.timestamp("ms")))
    with pytest.raises(UsageError, match="column 'z' has times beyond the year 262,000"):
        open_table(path, "y")
