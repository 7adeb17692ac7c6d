"""train: methods that learn from classes and unlabeled rows."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.methods import METHODS
from tests.cli.helpers import LABELED, refused, small_table

SEMI_SUPERVISED = [name for name, method in METHODS.items() if method.kind == "semi-supervised"][:1]


@pytest.mark.parametrize("name", SEMI_SUPERVISED)
def test_a_semi_supervised_method_takes_classes_and_unlabeled_rows(pucli, tmp_path, name):
    table = small_table()
    truth = np.where(table["a"] > 0, "up", "down")
    table.assign(label=np.where(np.arange(40) % 2, truth, "-1")).to_csv(tmp_path / "part.csv", index=False)
    table.assign(label=truth).to_csv(tmp_path / "all.csv", index=False)
    full = pucli("train", "--method", name, "--data", "all.csv", "--label", "label", "--json").document
    assert (full["labeled"], full["unlabeled"]) == (40, 0)
    words = ("--method", name, "--data", "part.csv", "--label", "label")
    trained = pucli("train", *words, "--model", "m.model", "--json")
    assert trained.code == 0, trained.err
    assert (trained.document["labeled"], trained.document["unlabeled"]) == (20, 20)
    predictions = pucli("predict", "--model", "m.model", "--data", "all.csv", "--json").document["predictions"]
    assert {entry["prediction"] for entry in predictions} == {"up", "down"}
    right = np.mean([entry["prediction"] == word for entry, word in zip(predictions, truth, strict=True)])
    scores = pucli("evaluate", "--model", "m.model", "--data", "all.csv", "--json").document["scores"]
    assert scores["accuracy"] == pytest.approx(right)
    assert right > 0.8
    refused(pucli("tune", *words), name)
    refused(pucli("train", *words, "--positive", "up"), "--positive", "such as auto")


@pytest.mark.parametrize("name", SEMI_SUPERVISED)
@pytest.mark.parametrize(
    "classes", [("down", "up"), *(pytest.param(two, marks=pytest.mark.slow) for two in [("0", "1"), ("2.0", "7.0")])]
)
def test_an_empty_label_cell_is_unlabeled_like_minus_one(pucli, tmp_path, name, classes):
    table = small_table()
    truth = np.where(table["a"] > 0, classes[1], classes[0])
    odd = np.arange(40) % 2 == 1
    for file, mark in (("empty", ""), ("minus", "-1")):
        table.assign(label=np.where(odd, truth, mark)).to_csv(tmp_path / f"{file}.csv", index=False)
    by_file = {}
    for file in ("empty", "minus"):
        words = ("--method", name, "--data", f"{file}.csv", "--label", "label", "--model", f"{file}.model")
        trained = pucli("train", *words, "--json")
        assert trained.code == 0, trained.err
        assert (trained.document["labeled"], trained.document["unlabeled"]) == (20, 20)
        predicted = pucli("predict", "--model", f"{file}.model", "--data", "empty.csv", "--json").document
        by_file[file] = [entry["prediction"] for entry in predicted["predictions"]]
    assert by_file["empty"] == by_file["minus"]
    # rows without a class cannot be scored, and are not counted as errors
    scored = pucli("evaluate", "--model", "empty.model", "--data", "empty.csv")
    assert "20 of 40 rows have no label (empty or -1) and are not scored" in scored.err
    document = pucli("evaluate", "--model", "empty.model", "--data", "empty.csv", "--json").document
    assert document["rows"] == 20
    words = np.array([word.removesuffix(".0") for word in truth])
    assert document["scores"]["accuracy"] == pytest.approx(np.mean((np.array(by_file["empty"]) == words)[odd]))


@pytest.mark.parametrize("name", SEMI_SUPERVISED)
def test_the_error_without_any_label_says_so(pucli, tmp_path, name):
    table = small_table()
    truth = np.where(table["a"] > 0, "up", "down")
    table.assign(label=truth).to_csv(tmp_path / "all.csv", index=False)
    table.assign(label="").to_csv(tmp_path / "none.csv", index=False)
    refused(pucli("train", "--method", name, "--data", "none.csv", "--label", "label"), "unlabeled", "none.csv")
    pucli("train", "--method", name, "--data", "all.csv", "--label", "label", "--model", "m.model")
    refused(pucli("evaluate", "--model", "m.model", "--data", "none.csv"), "is empty in every row", "none.csv")


@pytest.mark.parametrize("name", SEMI_SUPERVISED)
def test_a_semi_supervised_method_on_a_declared_set(pucli, name):
    words = ("train", "--method", name, "--dataset", "breast-cancer", "--label-frequency", 0.3, "--model", "m.model")
    trained = pucli(*words, "--json")
    assert trained.code == 0, trained.err
    document = trained.document
    assert document["labeled"] == pytest.approx(0.3 * document["rows"], abs=1)
    evaluated = pucli("evaluate", "--model", "m.model", "--dataset", "breast-cancer", "--json").document
    assert evaluated["scores"]["accuracy"] == document["test"]["accuracy"]


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.kind == "density"][:1])
def test_a_density_is_not_trained_on_labels(pucli, customers, name):
    refused(pucli("train", "--method", name, "--data", customers.pu, *LABELED), name, "density")
