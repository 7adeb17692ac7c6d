"""What holds for every format of files: cells, places of rows, blocks, the estimate of memory, hostile input."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.io

from pucli.core import plug_ins
from pucli.core.errors import UsageError
from pucli.data.files import tables
from pucli.data.files.table import Reader, Table
from pucli.data.files.tables import READERS, open_table, readers
from pucli.data.reading import AS_IT_IS
from pucli.data.rows.blocks import read_blocks

ROWS = 60
FEATURES = np.column_stack([np.arange(ROWS) * 0.5 + 0.25, np.arange(ROWS)[::-1] * 3.0 + 1.0])
FRAME = pd.DataFrame(FEATURES, columns=["1", "2"]).assign(label=np.arange(ROWS) % 2)
SUFFIXES = sorted({suffix for reader in READERS for suffix in reader.suffixes})


def written(suffix: str) -> bytes:  # noqa: C901
    """Return the table as a file of a format."""
    out = io.BytesIO()
    features, labels = FEATURES, FRAME["label"].to_numpy()
    match suffix:
        case ".csv" | ".txt" | ".data" | ".dat":
            return FRAME.to_csv(index=False).encode()
        case ".tsv":
            return FRAME.to_csv(index=False, sep="\t").encode()
        case ".json":
            return FRAME.to_json(orient="records").encode()
        case ".jsonl" | ".ndjson":
            return FRAME.to_json(orient="records", lines=True).encode()
        case ".libsvm" | ".svm" | ".svmlight":
            lines = [f"{y} 1:{a!r} 2:{b!r}" for (a, b), y in zip(features.tolist(), labels.tolist(), strict=True)]
            return ("\n".join(lines) + "\n").encode()
        case ".arff":
            head = "@relation t\n" + "".join(f"@attribute {name} numeric\n" for name in FRAME) + "@data\n"
            return (head + FRAME.to_csv(index=False, header=False)).encode()
        case ".mat":
            scipy.io.savemat(out, {"X": features, "label": labels[:, None]})
        case ".npz":
            np.savez(out, X=features, label=labels)
        case ".parquet":
            pytest.importorskip("pyarrow")
            FRAME.to_parquet(out, index=False)
        case ".feather" | ".arrow":
            pytest.importorskip("pyarrow")
            FRAME.to_feather(out)
        case ".xlsx":
            FRAME.to_excel(out, index=False)
        case ".ods":
            pytest.importorskip("odf")
            FRAME.to_excel(out, index=False, engine="odf")
        case _:
            pytest.skip("nothing writes this format here")
    return out.getvalue()


@pytest.fixture(params=SUFFIXES)
def file(request, tmp_path):
    path = tmp_path / f"rows{request.param}"
    path.write_bytes(written(request.param))
    return path


def opened(path, **options) -> Table:
    return open_table(path, "label", **options)


def test_a_reader_gives_the_cells_and_the_place_of_each_row(file):
    table = opened(file)
    assert len(table.frame) == ROWS and list(table.frame.columns)[-1] == "label"
    assert (table.frame.iloc[:, :2].to_numpy(dtype=float) == FEATURES).all()
    assert (table.frame["label"].astype(float) == FRAME["label"]).all()
    places = [table.place(row) for row in range(ROWS)]
    assert len(set(places)) == ROWS
    numbers = [int(place.split()[1]) for place in places]
    assert (np.diff(numbers) == 1).all() and numbers[0] in (1, 2, 6)


def test_blocks_are_the_table(file):
    table = opened(file)
    blocks = list(read_blocks(file, ["1", "2"], rows=16))
    assert [len(block.frame) for block in blocks] == [16, 16, 16, ROWS - 48]
    joined = pd.concat([block.frame[["1", "2"]] for block in blocks], ignore_index=True)
    assert (joined.to_numpy(dtype=float) == FEATURES).all()
    assert blocks[-1].place(ROWS - 1) == table.place(ROWS - 1)


def test_the_size_is_that_of_the_table(file):
    cells = readers()[file.suffix].size(file, AS_IT_IS)
    assert cells == 0 or 0.8 * FRAME.size < cells < 1.25 * FRAME.size


def test_a_table_beyond_the_memory_is_refused_before_it_is_read(file, monkeypatch):
    if not readers()[file.suffix].size(file, AS_IT_IS):
        pytest.skip("the reader itself counts cells")
    monkeypatch.setattr("pucli.core.memory.available_bytes", lambda: 1000)
    monkeypatch.setattr(tables, "read_text", None)
    with pytest.raises(UsageError, match=r"a table of about .* cells"):
        opened(file)


@pytest.mark.parametrize("damage", ["cut", "empty", "zeros", "noise", "text"])
def test_a_damaged_file_is_refused_in_one_line_or_read(file, damage):
    raw = file.read_bytes()
    noise = np.random.default_rng(0).integers(0, 256, len(raw), dtype=np.uint8).tobytes()
    file.write_bytes(
        {"cut": raw[: len(raw) // 2], "empty": b"", "zeros": bytes(len(raw)), "noise": noise, "text": b"hello\n"}[
            damage
        ]
    )
    with warnings.catch_warnings(action="ignore"):
        try:
            table = opened(file)
        except UsageError as error:
            assert str(file) in str(error) and "\n" not in str(error)
        else:
            assert damage in ("cut", "text") and len(table.frame) < ROWS


def test_a_package_adds_a_format(tmp_path, monkeypatch):
    def read(path, wanted):
        frame = pd.DataFrame([line.split("|") for line in path.read_text().split("\n")[1:]], columns=["a", "label"])
        return Table(frame, lambda row: f"record {row + 1}")

    own = Reader("bars", (".bars",), read, recognize=lambda head: head.startswith(b"BARS"))
    offers = [plug_ins.PlugIn(one.name, "package", "1.0", one) for one in (own, Reader("mine", (".csv",), read))]
    monkeypatch.setattr(plug_ins, "plug_ins", lambda group: tuple(offers))
    plug_ins.named.cache_clear()
    path = tmp_path / "rows.bars"
    path.write_text("BARS\n" + "\n".join(f"{i}|{i % 2}" for i in range(9)))
    with pytest.warns(plug_ins.PlugInWarning, match=r"files \.csv have a reader already"):
        table = opened(path)
    assert table.place(3) == "record 4" and table.frame["a"].tolist() == [str(i) for i in range(9)]
    with warnings.catch_warnings(action="ignore"):
        assert opened(path.rename(tmp_path / "rows.other")).frame.shape == (9, 2)
        assert sum(len(block.frame) for block in read_blocks(tmp_path / "rows.other", ["a"], rows=4)) == 9
    plug_ins.named.cache_clear()
