"""Files that are damaged, or unpack beyond all bounds."""

from __future__ import annotations

import bz2
import gzip
import random
import zipfile

import pytest

from pucli.core.errors import UsageError
from pucli.data.files import packed as damage
from pucli.data.files import packed as unpacking
from pucli.data.files.tables import open_table
from pucli.data.files.text import layout, records
from pucli.data.files.text.layout import HEAD


def test_a_packed_table_that_unpacks_beyond_all_bounds_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "TEXT_BYTES", 10_000)
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(b"a,b,y\n") + 30 * gzip.compress(b"1,2,0\n" * 20_000))
    with pytest.raises(UsageError, match="unpacks to more than 200 times its size"):
        open_table(file, "y")


def test_noise_at_the_end_does_not_pay_for_a_bomb_at_the_start(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "TEXT_BYTES", 10_000)
    bomb = gzip.compress(b"a,b,y\n" + b"1,2,0\n" * 700_000)
    noise = random.Random(0)
    rows = "".join(f"{noise.random()},{noise.random()},1\n" for _ in range(5000)).encode()
    file, twin = tmp_path / "t.csv.gz", tmp_path / "twin.csv.gz"
    file.write_bytes(bomb + gzip.compress(rows))
    assert file.stat().st_size * damage.RATIO > 8_000_000
    with pytest.raises(UsageError, match="unpacks to more than 200 times its size"):
        open_table(file, "y")
    twin.write_bytes(gzip.compress(b"a,b,y\n" + b"1,2,0\n" * 7000 + rows))
    assert len(open_table(twin, "y").frame) == 12_000


@pytest.mark.slow
def test_a_file_without_a_line_end_is_no_table(tmp_path, monkeypatch):
    for part in (layout, records):
        monkeypatch.setattr(part, "LONGEST", 2**20)
    file = tmp_path / "t.csv.bz2"
    file.write_bytes(bz2.compress(b"0" * 3 * 2**20))
    with pytest.raises(UsageError, match="line 1 has more than 1 million characters, so it is no table"):
        open_table(file, "y")
    file.write_bytes(bz2.compress(b"a,b,y\n" + b"1,2,0\n" * 2**19))
    assert len(open_table(file, "y").frame) == 2**19


def test_an_archive_that_claims_too_much_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "t.npz"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", bytes(1_000_000))
    damage.check_unpacked(file)
    with pytest.raises(UsageError, match="unpacks"):
        damage.check_unpacked(file, free=1000)


@pytest.mark.slow
def test_a_header_longer_than_the_head_of_a_file_is_read(tmp_path):
    names = [f"column{i}" for i in range(20_000)]
    file = tmp_path / "t.csv"
    file.write_text(",".join([*names, "y"]) + "\n" + ",".join(["1"] * 20_001) + "\n")
    assert file.stat().st_size > 2 * HEAD
    assert list(open_table(file, "y").frame.columns[-2:]) == ["column19999", "y"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            ValueError("Error tokenizing data. C error: EOF inside string starting at row 7"),
            "data row 7 is never closed",
        ),
        (ValueError("could not convert string to float: b'1.2.3'"), "where a number belongs"),
        (ValueError("could not convert string to float: 'password'"), "where a number belongs"),
        (ValueError("Error -3 while decompressing data: invalid block type"), "cut short"),
        (KeyError("whatever"), "is damaged or not CSV; save it again"),
    ],
)
def test_what_a_reader_says_is_told_in_own_words(error, words, tmp_path):
    message = str(damage.damaged(tmp_path / "t.csv", error))
    assert words in message and "Error" not in message and "C error" not in message
