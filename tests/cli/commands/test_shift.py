"""shift and predict --adapt: the share of positives of a new file, and what else has changed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pucli.cli.commands.shift import _share
from tests.cli.helpers import refused


def rows(n: int, share: float, seed: int, move: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    X = rng.normal(size=(n, 3)) + np.outer(y, [2.5, 1.5, 0.0]) + [0.0, 0.0, move]
    return pd.DataFrame(X, columns=["age", "income", "visits"]), y


WORDS = ("--data", "old.csv", "--label", "bought", "--positive", "yes")


@pytest.fixture
def tables(tmp_path):
    """The rows of training, and new files beside them."""
    table, y = rows(1200, 0.25, 0)  # of fewer rows, labels like these may be taken for biased
    labeled = y & (np.random.default_rng(1).random(1200) < 0.5)
    table.assign(bought=np.where(labeled, "yes", "")).to_csv(tmp_path / "old.csv", index=False)
    for name, share, move in (("same", 0.11, 0.0), ("more", 0.7, 0.0), ("other", 0.25, 1.5)):
        found, truth = rows(400, share, 2, move)
        found.to_csv(tmp_path / f"{name}.csv", index=False)
        np.save(tmp_path / f"{name}.npy", truth)


@pytest.fixture(scope="module")
def trained():
    """What the first training left in its file, for the tests that follow."""
    return []


@pytest.fixture
def model(pucli, tables, trained, tmp_path):
    """A model of `pucli auto`, beside the tables."""
    if not trained:
        assert pucli("auto", *WORDS, "--model", "m.model").code == 0
        trained.append((tmp_path / "m.model").read_bytes())
    (tmp_path / "m.model").write_bytes(trained[0])
    return "m.model"


@pytest.mark.slow
def test_shift_reads_with_the_options(pucli, tables, tmp_path):
    table = pd.read_csv(tmp_path / "more.csv").rename(columns={"visits": "visités"})
    old = pd.read_csv(tmp_path / "old.csv").rename(columns={"visits": "visités"})
    old.to_csv(tmp_path / "old.csv", index=False)
    assert pucli("train", "--method", "gllc", *WORDS, "--model", "g.model").code == 0
    table.loc[3, "age"] = np.nan
    table.to_csv(tmp_path / "plain.csv", index=False)
    lines = table.to_csv(index=False, sep=";", decimal=",", na_rep="??").splitlines(keepends=True)
    text = "".join(lines)
    (tmp_path / "other.csv").write_bytes(text.encode("latin-1"))
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        table.iloc[:50].to_excel(book, sheet_name="a", index=False)
        table.to_excel(book, sheet_name="b", index=False)
    reading = ("--sep", ";", "--decimal", ",", "--encoding", "latin-1", "--missing", "??")
    asked = [("plain.csv",), ("other.csv", *reading), ("book.xlsx", "--sheet", "b")]
    found = [pucli("shift", "--model", "g.model", "--data", *words, "--json").document for words in asked]
    assert [document["rows"] for document in found] == [400] * 3
    assert found[0]["prior"] == found[1]["prior"] == found[2]["prior"]


@pytest.mark.slow
def test_rows_of_training_tell_nothing_new(pucli, model):
    done = pucli("shift", "--model", model, "--data", "old.csv")
    assert "that the model was trained on" in " ".join(done.err.split())
    assert "trained on" not in pucli("shift", "--model", model, "--data", "same.csv").err


@pytest.mark.slow
def test_shift_and_adapted_predictions(pucli, model, tmp_path):
    asked = {name: pucli("shift", "--model", model, "--data", f"{name}.csv", "--json").document
             for name in ("same", "more", "other")}  # fmt: skip
    assert {name: found["verdict"] for name, found in asked.items()} == {
        "same": "same", "more": "prior", "other": "more",
    }  # fmt: skip
    assert asked["other"]["columns"] == ["visits"]  # the only one that was moved
    prior, truth = asked["more"]["prior"], np.load(tmp_path / "more.npy")
    noise = 2.0 * truth.std() / len(truth) ** 0.5  # the rows are a sample, and the interval is for their population
    assert abs(prior["value"] - truth.mean()) < 0.06 + noise
    assert prior["low"] - noise <= truth.mean() <= prior["high"] + noise

    done = pucli("predict", "--model", model, "--data", "more.csv", "--adapt", "--out", "adapted.csv", "--json")
    assert (done.document["shift"]["verdict"], done.document["shift"]["prior"]) == ("prior", prior)
    assert pucli("predict", "--model", model, "--data", "more.csv", "--out", "plain.csv").code == 0
    adapted, plain = pd.read_csv(tmp_path / "adapted.csv"), pd.read_csv(tmp_path / "plain.csv")
    assert ((adapted["score"] > 0) == (adapted["prediction"] == "yes")).all()
    assert np.allclose(np.diff(adapted["score"] - plain["score"]), 0.0)  # only the threshold moves
    assert np.mean((adapted["probability"] - truth) ** 2) < np.mean((plain["probability"] - truth) ** 2)
    assert (adapted["probability_low"] <= adapted["probability_high"]).all()

    text = pucli("shift", "--model", model, "--data", "other.csv")
    assert "more than the class prior: visits" in text.out and "train again" in text.err
    assert max(map(len, text.out.splitlines())) <= 80


@pytest.mark.slow
def test_shift_refuses_what_it_cannot_answer(pucli, model, tmp_path):
    pd.read_csv(tmp_path / "more.csv").iloc[:20].to_csv(tmp_path / "few.csv", index=False)
    refused(pucli("shift", "--model", model, "--data", "few.csv"), "at least 30 rows")
    refused(pucli("predict", "--model", model, "--data", "more.csv", "--adapt", "--recall", "0.9"), "--recall")
    assert pucli("train", "--method", "gllc", *WORDS, "--model", "g.model").code == 0
    found = pucli("shift", "--model", "g.model", "--data", "more.csv", "--json").document
    assert found["verdict"] == "prior" and 0.5 < found["prior"]["value"] < 0.9


def test_small_shares_are_not_said_to_be_none():
    assert _share(0.004, 0.0002, 0.0949) == "0.4% (0% to 9.5%)"
    assert _share(0.32, 0.0021, 0.46) == "32% (0.21% to 46%)"  # which was read as 21 %
    assert _share(0.004, 0.0021, 0.0046) == "0.4% (0.21% to 0.46%)"
