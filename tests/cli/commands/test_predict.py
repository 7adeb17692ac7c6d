"""predict and evaluate: files, columns, labels, and rows that were held out."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest

from pucli.metrics import METRICS
from tests.cli.helpers import LABELED, refused, small_table, train, write

PROBABILITIES = ("probability", "probability_low", "probability_high")


@pytest.fixture(scope="module")
def trained():
    """The model file that one test of this module has trained for the others."""
    return {}


@pytest.fixture
def model(pucli, customers, tmp_path, trained):
    """A model of customers.pu."""
    path = tmp_path / "m.model"
    if not trained:
        assert pucli("train", "--method", "glpual", "--data", customers.pu, *LABELED, "--model", path).code == 0
        trained[path.name] = path.read_bytes()
    path.write_bytes(trained[path.name])
    return path.name


def test_predict_and_evaluate_agree(pucli, customers, model, tmp_path):
    assert pucli("predict", "--model", model, "--data", customers.new, "--out", "scored.csv").code == 0
    scored = pd.read_csv(tmp_path / "scored.csv")
    assert list(scored.columns) == ["row", "prediction", "score", *PROBABILITIES]
    assert list(scored["row"]) == list(range(1, 151))
    assert set(scored["prediction"]) == {"yes", "no"}  # the words of the file
    predicted = scored["prediction"] == "yes"
    assert (predicted == (scored["score"] > 0)).all()
    truth = np.array(customers.truth) == "yes"
    document = pucli("evaluate", "--model", model, "--data", customers.true, "--label", "really", "--json").document
    scores = document["scores"]
    assert (scores["tp"], scores["fp"]) == (int((predicted & truth).sum()), int((predicted & ~truth).sum()))
    assert (scores["fn"], scores["tn"]) == (int((~predicted & truth).sum()), int((~predicted & ~truth).sum()))
    assert scores["f1"] == pytest.approx(2 * scores["tp"] / (2 * scores["tp"] + scores["fp"] + scores["fn"]))
    assert scores["puf"] == pytest.approx(scores["recall"] ** 2 / predicted.mean())
    needs = document["needs"]
    assert {name for name in needs if needs[name] == "true labels"} >= {"f1", "precision", "accuracy", "auc", "tp"}
    assert needs["puf"] != "true labels"


def test_why_names_the_columns_that_change_the_score_of_any_row(pucli, customers, model, tmp_path):
    words = ("predict", "--model", model, "--data", customers.new, "--why")
    for arguments in ((), ("--top", "5")):
        assert pucli(*words, "--out", "scored.csv", *arguments).code == 0
        scored = pd.read_csv(tmp_path / "scored.csv", keep_default_na=False)
        one = r"\w+ = [^;]+ \(usually [^;]+\): [+-][\d.]+( ± [\d.]+)?"
        assert scored["why"].str.fullmatch(rf"{one}(; {one}){{0,5}}").all()
        assert (scored["score"] <= 0).any() == (not arguments)
    row = pucli(*words, "--top", "1", "--json").document["predictions"][0]
    assert all(set(part) == {"column", "value", "usual", "change", "spread"} for part in row["why"])
    assert row["why"][0]["change"] > 0 and isinstance(row["most_like"], list)


def test_evaluate_without_true_labels_gives_only_pu_metrics(pucli, customers, model):
    document = pucli("evaluate", "--model", model, "--data", customers.pu, "--labels", "pu", "--json").document
    ranked = {"pu_auc", "recall_labeled@10%", "lift_labeled@1%", "boyce_labeled"}
    assert set(document["scores"]) == {"recall_labeled", "predicted_positive", "puf"} | ranked
    assert "true labels" not in document["needs"].values()
    assert document["positive_rows"] == 20


def test_evaluate_takes_metrics_at_other_places(pucli, customers, model):
    true = ("evaluate", "--model", model, "--data", customers.true, "--label", "really")
    scores = pucli(*true, "--metric", "precision@7", "--metric", "bedroc@80", "--json").document["scores"]
    assert scores["precision@7"] * 7 == pytest.approx(round(scores["precision@7"] * 7)) and 0 < scores["bedroc@80"] <= 1
    assert 0 < scores["brier"] < 1 and {"average_precision", "boyce", "calibration_error"} <= set(scores)
    refused(pucli(*true, "--metric", "lift_labeled@5%"), "--labels pu")
    refused(pucli(*true, "--metric", "precision@7x"), "precision@100")


def test_evaluate_gives_no_score_of_two_classes_without_negative_rows(pucli, customers, model):
    table = pd.read_csv(customers.true)
    table["really"] = table["really"].where(table["really"] == "yes")
    table.to_csv("positive.csv", index=False)
    words = ("evaluate", "--model", model, "--data", "positive.csv", "--label", "really", "--positive", "yes")
    document = pucli(*words, "--json").document
    known = {name for name, value in document["scores"].items() if value is not None}
    assert known == {"recall", "predicted_positive", "tp", "fp", "fn", "tn"}
    assert document["needs"]["f1"] == document["needs"]["auc"] == "true labels of both classes"
    assert "cannot be computed without negative rows: f1, precision" in pucli(*words).out


def test_evaluate_says_of_how_many_rows_a_score_cannot_be_computed(pucli, customers, model):
    rows = len(pd.read_csv(customers.true))
    words = ("--data", customers.true, "--label", "really", "--metric", f"precision@{rows + 1}")
    done = pucli("evaluate", "--model", model, *words)
    assert f"cannot be computed from these {rows} rows: precision@{rows + 1}\n" in done.out


def test_evaluate_prints_a_confusion_matrix(pucli, customers, model):
    done = pucli("evaluate", "--model", model, "--data", customers.true, "--label", "really")
    assert "confusion matrix" in done.out
    assert "labeled positives and unlabeled rows" in done.out


@pytest.mark.slow
def test_predictions_have_the_labels_of_the_file(pucli, tmp_path):
    path = tmp_path / "rows.csv"
    small_table().to_csv(path, index=False)
    for positive, expected in ((None, {"0", "1"}), ("1", {"0", "1"}), ("0", {"0", "1"})):
        words = ("--positive", positive) if positive else ()
        assert train(pucli, path, "--label", "label", *words).code == 0
        predictions = pucli("predict", "--model", "m.model", "--data", path, "--json").document["predictions"]
        assert {entry["prediction"] for entry in predictions} <= expected
        positives = {entry["prediction"] for entry in predictions if entry["score"] > 0}
        assert positives <= {positive or "1"}


def test_predict_prints_csv(pucli, customers, model):
    rows = list(csv.reader(pucli("predict", "--model", model, "--data", customers.new).out.splitlines()))
    assert rows[0] == ["row", "prediction", "score", *PROBABILITIES]
    assert len(rows) == 151


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_rows_that_the_model_was_trained_on_are_warned_of(pucli, customers, scenario):
    words = ("train", "--method", "blssvm", "--data", customers.pu, *LABELED, "--scenario", scenario)
    assert pucli(*words, "--model", "b.model").code == 0
    said = pucli("predict", "--model", "b.model", "--data", customers.pu).err
    assert "rows that the model was trained on" in said
    assert ("positive less often" in said) == (scenario == "single-training-set")
    table = pd.read_csv(customers.new)
    table.assign(income=table["income"] * 1.01).to_csv("other.csv", index=False)
    assert "was trained on" not in pucli("predict", "--model", "b.model", "--data", "other.csv").err


def test_columns_are_found_by_name_in_any_order(pucli, customers, model, tmp_path):
    table = pd.read_csv(customers.new)
    table[["visits", "remark", "age", "income"]].to_csv(tmp_path / "shuffled.csv", index=False)
    one = pucli("predict", "--model", model, "--data", customers.new).out
    assert pucli("predict", "--model", model, "--data", "shuffled.csv").out == one


def test_a_column_that_the_model_needs_is_missing(pucli, customers, model, tmp_path):
    pd.read_csv(customers.new).rename(columns={"visits": "visit"}).to_csv(tmp_path / "other.csv", index=False)
    refused(pucli("predict", "--model", model, "--data", "other.csv"), "other.csv", "'visits'", "'visit'")
    assert not (tmp_path / "scored.csv").exists()


def test_evaluate_needs_a_choice_of_rows(pucli, customers, model):
    refused(pucli("evaluate", "--model", model), "--data", "--dataset")
    refused(pucli("evaluate", "--model", model, "--data", customers.true), "'bought'")
    refused(pucli("evaluate", "--model", model, "--dataset", "wine"), "trained on", "wine")
    refused(pucli("evaluate", "--model", model, "--data", customers.true, "--labels", "tru"), "'true'")


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_file_that_is_not_a_model(pucli, customers, tmp_path, command):
    write(tmp_path, "not a model", "m.model")
    refused(pucli(command, "--model", "m.model", "--data", customers.new), "m.model", "not a model of pucli")
    refused(pucli(command, "--model", "none.model", "--data", customers.new), "none.model", "no such model file")


def test_evaluate_on_the_rows_that_were_held_out(pucli):
    words = ("train", "--method", "gllc", "--dataset", "wine", "--seed", 4, "--model", "m.model", "--json")
    trained = pucli(*words).document
    evaluated = pucli("evaluate", "--model", "m.model", "--dataset", "wine", "--json").document
    assert evaluated["rows"] == trained["test"]["rows"]
    assert evaluated["scores"]["f1"] == trained["test"]["f1"]


@pytest.mark.slow
def test_train_uses_the_rows_of_a_split_file(pucli, tmp_path):
    words = ("split", "wine", "--repeats", 3, "--seed", 2, "--label-frequency", 0.4, "--out", "s.json", "--json")
    document = pucli(*words).document
    splits = json.loads((tmp_path / "s.json").read_text())["splits"]
    for repeat, (declared, split) in enumerate(zip(document["splits"], splits, strict=True)):
        words = ("train", "--method", "gllc", "--dataset", "wine", "--split", "s.json", "--repeat", repeat, "--json")
        trained = pucli(*words).document
        assert trained["labeled"] == declared["labeled"] == len(split["labeled"])
        assert trained["rows"] == len(split["train"])
        assert trained["test"]["rows"] == declared["test"] == len(split["test"])
        drawn = ("--label-frequency", 0.4, "--seed", 2, "--repeat", repeat)
        same = pucli("train", "--method", "gllc", "--dataset", "wine", *drawn, "--json").document
        assert same["objective"] == trained["objective"]


def test_evaluate_finds_the_split_file_of_the_model(pucli, tmp_path):
    pucli("split", "wine", "--repeats", 2, "--out", "s.json")
    words = ("--dataset", "wine", "--split", "s.json", "--repeat", 1, "--model", "m.model")
    trained = pucli("train", "--method", "gllc", *words, "--json").document
    evaluated = pucli("evaluate", "--model", "m.model", "--dataset", "wine", "--json").document
    assert evaluated["scores"]["f1"] == trained["test"]["f1"]
    (tmp_path / "s.json").unlink()
    refused(pucli("evaluate", "--model", "m.model", "--dataset", "wine"), "s.json")


def test_a_split_file_that_cannot_be_used(pucli, tmp_path, customers):
    pucli("split", "wine", "--repeats", 2, "--out", "s.json")
    train = ("train", "--method", "gllc", "--dataset")
    refused(pucli(*train, "wine", "--split", "s.json", "--repeat", 2), "--repeat 2", "0 to 1")
    refused(pucli(*train, "breast-cancer", "--split", "s.json"), "s.json", "'wine'")
    refused(pucli(*train, "wine", "--split", "none.json"), "none.json")
    own = ("train", "--method", "gllc", "--data", customers.pu, *LABELED)
    refused(pucli(*own, "--split", "s.json"), "--split")
    write(tmp_path, '{"format": ', "s.json")
    refused(pucli(*train, "wine", "--split", "s.json"), "s.json", "damaged")


def test_empty_label_cells_are_not_scored_as_negatives(pucli, tmp_path, customers, model):
    rows = pd.read_csv(customers.true)
    rows.loc[rows.index[::2], "really"] = ""
    rows.to_csv(tmp_path / "half.csv", index=False)
    rows[rows["really"] != ""].to_csv(tmp_path / "known.csv", index=False)
    half = pucli("evaluate", "--model", model, "--data", "half.csv", "--label", "really")
    known = pucli("evaluate", "--model", model, "--data", "known.csv", "--label", "really")
    assert f"{(len(rows) + 1) // 2} of {len(rows)} rows have no label (empty) and are not scored" in half.err
    assert half.out == known.out


def test_several_other_classes_that_count_as_negative_are_said(pucli, tmp_path, customers, model):
    rows = pd.read_csv(customers.true)
    rows.loc[(rows["really"] == "no") & (rows.index % 2 == 0), "really"] = "maybe"
    rows.to_csv(tmp_path / "three.csv", index=False)
    done = pucli("evaluate", "--model", model, "--data", "three.csv", "--label", "really")
    assert done.code == 0 and "rows of 2 other classes ('maybe', 'no') count as negative" in done.err
    done = pucli("evaluate", "--model", model, "--data", "three.csv", "--label", "really", "--positive", "ja")
    assert "give --positive maybe or --positive no or another class" in done.err


def test_a_folder_as_output_is_a_usage_error(pucli, tmp_path, customers, model):
    (tmp_path / "folder").mkdir()
    refused(pucli("predict", "--model", model, "--data", customers.true, "--out", "folder"), "--out folder", "folder")
    words = ("--method", "glpual", "--data", customers.pu, "--label", "bought", "--positive", "yes")
    refused(pucli("tune", *words, "--grid", "lam=1,2", "--trials", "folder"), "--trials folder", "folder")


def test_the_help_of_evaluate_lists_the_metrics_of_the_registry(pucli):
    text = " ".join(pucli("evaluate", "--help").out.replace("│", " ").split())
    names = [name for name, metric in METRICS.items() if metric.needs in (("counts",), ("truth", "predictions"))]
    assert len(names) >= 3
    assert all(name in text for name in names)
