"""Models that are made of blocks know of their columns what models of one file know."""

import json

import numpy as np
import pandas as pd
import pytest

from pucli.cli.main import main
from pucli.core.errors import DegenerateModelWarning
from pucli.data.rows.row_hashes import MOST_HASHES
from pucli.distributed.auto import auto_on_blocks
from pucli.distributed.blocks import ColumnNames, find_blocks
from pucli.distributed.training import train_on_blocks
from pucli.models.saved import save_model
from tests.distributed.helpers import HereRunner

pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")

COLUMNS = ColumnNames(("a", "b", "sold", "customer"), "bought", "1")


def write(path, n=1200, seed=0):
    """Two files; a sale follows only on a label, and customers have numbers; return all rows."""
    draw = np.random.default_rng(seed)
    truth = draw.random(n) < 0.4
    marked = truth & (draw.random(n) < 0.5)
    table = pd.DataFrame({"a": draw.normal(size=n) + 2 * truth, "b": draw.normal(size=n)})
    table["sold"] = np.where(marked, draw.random(n) + 1, draw.random(n))
    table["customer"] = 10_000 + np.cumsum(draw.integers(1, 5, n))
    table["bought"] = marked.astype(int)
    for k, part in enumerate([table[: n // 3], table[n // 3 :]]):
        part.to_parquet(path / f"part{k}.parquet", row_group_size=n // 4)
    return table


@pytest.mark.parametrize("train", [train_on_blocks, auto_on_blocks])
@pytest.mark.slow
def test_leaks_and_identifiers_of_blocks_are_named(tmp_path, train, capsys):
    table = write(tmp_path)
    params = {"random_state": 0} if train is auto_on_blocks else {}
    found = train(HereRunner(), find_blocks(str(tmp_path / "*.parquet")), COLUMNS, params)
    (leak,) = found.checked.leaks
    assert leak.startswith("column 'sold' separates the labeled rows") and leak in found.checked.warnings
    assert any(line.startswith("column 'customer' looks like an identifier") for line in found.checked.warnings)
    save_model(tmp_path / "m.model", found.to_save("some"))
    new = table.assign(a=table["a"] * 1000)
    new.to_csv(tmp_path / "new.csv", index=False)
    table[::2].to_csv(tmp_path / "half.csv", index=False)
    words = ["--model", str(tmp_path / "m.model"), "--json"]
    assert main(["predict", *words, "--data", str(tmp_path / "new.csv")]) == 0
    said = " ".join(json.loads(capsys.readouterr().out)["warnings"])
    assert "column 'a'" in said and "are they in the same units?" in said and "column 'sold'" in said
    assert main(["evaluate", *words, "--data", str(tmp_path / "half.csv"), "--labels", "pu"]) == 0
    assert "these are the rows that the model was trained on" in capsys.readouterr().out


@pytest.mark.slow
def test_rows_of_many_blocks_are_known_by_a_sample(tmp_path, capsys):
    n = MOST_HASHES + 5000
    draw = np.random.default_rng(0)
    table = pd.DataFrame(draw.normal(size=(n, 2)), columns=["a", "b"]).assign(bought=(np.arange(n) % 5 == 0) * 1)
    table["a"] += 3 * table["bought"]
    table.to_parquet(tmp_path / "all.parquet", row_group_size=7000)
    found = train_on_blocks(
        HereRunner(), find_blocks(str(tmp_path / "*.parquet")), ColumnNames(("a", "b"), "bought", "1"), {}
    )
    assert not found.checked.warnings and len(found.labels) == 2
    save_model(tmp_path / "m.model", found.to_save("some"))
    new = table.assign(a=table["a"] + 1e-3)
    pd.concat([table[:1000], new[1000:4000]]).to_csv(tmp_path / "mixed.csv", index=False)
    words = ["--model", str(tmp_path / "m.model"), "--data", str(tmp_path / "mixed.csv"), "--labels", "pu", "--json"]
    assert main(["evaluate", *words]) == 0
    said = " ".join(json.loads(capsys.readouterr().out)["warnings"])
    counted = int(said.partition("about ")[2].partition(" of 4,000 rows are rows")[0].replace(",", ""))
    assert abs(counted - 1000) < 150


def test_a_model_of_blocks_that_finds_nothing_says_so(tmp_path):
    write(tmp_path)
    with pytest.warns(DegenerateModelWarning, match="blssvm predicts nearly no row positive"):
        train_on_blocks(HereRunner(), find_blocks(str(tmp_path / "*.parquet")), COLUMNS, {"c_u": 1e4, "lam": 1e6})
