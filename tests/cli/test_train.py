"""train, tune, evaluate and predict on small real files: what they say, and what they say about bad input."""

import csv
import json
import signal
import subprocess
import sys
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from pucli.cli.options import scalar
from pucli.methods import METHODS, Method

LABELLED = ("--label", "bought", "--positive", "yes")


def refused(done, *words, code=2):
    """The command ended with `code` and one message that holds `words`."""
    assert done.code == code
    assert done.out == ""
    message = done.err.splitlines()[-1]
    assert message.startswith("pucli: ")
    assert "Traceback" not in done.err
    for word in words:
        assert str(word) in message
    return message


def write(tmp_path, text, name="rows.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def small_table(n=40, **columns):
    """A table of n rows, 12 of them labelled positives."""
    random = np.random.default_rng(3)
    table = pd.DataFrame({"a": random.normal(size=n), "b": random.normal(size=n)})
    table["label"] = [1] * 12 + [0] * (n - 12)
    return table.assign(**columns)


# --- what train says ---------------------------------------------------------------------------------------------


def test_train_on_a_declared_set_scores_the_held_out_rows(pucli):
    done = pucli("train", "--method", "glpual", "--dataset", "breast-cancer", "--json")
    assert done.code == 0
    document = done.document
    assert document["rows"] == document["labelled"] + document["unlabeled"]
    assert document["features"] == 30
    assert document["converged"] is True
    assert 0 <= document["dual_gap"] <= 1e-6 * document["objective"] * 1.01
    test = document["test"]
    assert test["rows"] + document["rows"] == 569
    assert test["tp"] + test["fp"] + test["fn"] + test["tn"] == test["rows"]
    assert 0.8 < test["auc"] <= 1
    assert document["model"] is None
    assert document["data"]["dataset"] == "breast-cancer"


def test_train_prints_a_summary_for_people(pucli, customers):
    done = pucli("train", "--method", "glpual", "--data", customers.pu, *LABELLED)
    assert done.code == 0
    assert "150: 20 labelled, 130 unlabeled" in done.out
    assert "proven to be within" in done.out
    assert "training time" in done.out
    assert "--model FILE" in done.err  # a remark, not a result


def test_quiet_suppresses_the_remarks(pucli, customers):
    done = pucli("train", "--method", "glpual", "--data", customers.pu, *LABELLED, "--quiet")
    assert (done.code, done.err) == (0, "")
    assert done.out


def test_constant_features_and_duplicate_rows_work_and_are_mentioned(pucli, tmp_path):
    table = small_table(steady=7.0)
    path = tmp_path / "rows.csv"
    pd.concat([table, table.iloc[:3]]).to_csv(path, index=False)
    words = ("train", "--method", "glpual", "--data", path, "--label", "label")
    document = pucli(*words, "--json").document
    assert document["constant_features"] == ["steady"]
    assert document["duplicate_rows"] == 3
    shown = pucli(*words).out
    assert "steady" in shown
    assert "duplicate rows" in shown


def test_a_fit_that_does_not_converge_is_flagged(pucli, customers):
    words = ("train", "--method", "glpual", "--data", customers.pu, *LABELLED)
    done = pucli(*words, "--param", "solver=admm", "--param", "max_iter=2", "--json")
    assert done.code == 0
    assert done.document["converged"] is False
    assert any("stopped after 2 iterations" in text for text in done.document["warnings"])
    assert "warning: " in done.err


def test_the_model_is_determined_by_the_seed(pucli):
    words = ("train", "--method", "gllc", "--dataset", "wine", "--json", "--seed")
    first, again, other = (pucli(*words, seed).document for seed in (1, 1, 2))
    assert first["objective"] == again["objective"]
    assert first["objective"] != other["objective"]


def test_options_override_the_environment(pucli, monkeypatch):
    monkeypatch.setenv("PUCLI_SEED", "5")
    words = ("train", "--method", "gllc", "--dataset", "wine", "--json")
    assert pucli(*words).document["data"]["seed"] == 5
    assert pucli(*words, "--seed", 1).document["data"]["seed"] == 1


def test_standardisation_is_part_of_the_model(pucli, tmp_path):
    table = small_table()
    scaled = table.assign(a=1000 * table["a"] + 5)
    table.to_csv(tmp_path / "one.csv", index=False)
    scaled.to_csv(tmp_path / "two.csv", index=False)
    for name in ("one", "two"):
        words = ("--data", f"{name}.csv", "--label", "label", "--model", f"{name}.model")
        assert pucli("train", "--method", "glpual", *words).code == 0
        assert pucli("predict", "--model", f"{name}.model", "--data", f"{name}.csv", "--out", f"{name}.out").code == 0
    one, two = (pd.read_csv(tmp_path / f"{name}.out") for name in ("one", "two"))
    assert (one["prediction"] == two["prediction"]).all()
    np.testing.assert_allclose(one["score"], two["score"], atol=1e-3)


# --- parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("3", 3),
        ("0.5", 0.5),
        ("rbf", "rbf"),
        ("true", True),
        ("null", None),
        ("None", "None"),
        ("[1,", "[1,"),
        ("", None),
    ],
)
def test_a_value_is_a_yaml_scalar(text, value):
    found = scalar(text)
    assert found == value
    assert type(found) is type(value)


def test_parameters_reach_the_estimator(pucli, customers):
    words = ("train", "--method", "glpual", "--data", customers.pu, *LABELLED, "--json")
    params = pucli(*words, "--param", "kernel=rbf", "--param", "lam=2", "--param", "n_neighbors=3").document["params"]
    assert (params["kernel"], params["lam"], params["n_neighbors"]) == ("rbf", 2.0, 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--param", "lam"], "NAME=VALUE"),
        (["--param", "lam=1", "--param", "lam=2"], "given twice"),
        (["--param", "kernl=rbf"], "'kernel'"),
        (["--param", "kernel=rbff"], "kernel"),
        (["--param", "lam=-1"], "lam"),
        (["--param", "n_neighbors=150"], "n_neighbors=150"),
        (["--param", "form=thesis"], "rbf"),
    ],
)
def test_a_wrong_parameter(pucli, customers, tmp_path, words, message):
    done = pucli("train", "--method", "glpual", "--data", customers.pu, *LABELLED, *words, "--model", "m.model")
    refused(done, message)
    assert not (tmp_path / "m.model").exists()


# --- bad input ----------------------------------------------------------------------------------------------------


def train(pucli, path, *words):
    return pucli("train", "--method", "glpual", "--data", path, *words, "--model", "m.model")


def test_a_missing_file(pucli):
    refused(train(pucli, "nowhere.csv", "--label", "y"), "nowhere.csv")


def test_a_missing_column(pucli, customers):
    refused(train(pucli, customers.pu, "--label", "bougth"), "pu.csv", "'bought'")


def test_no_label_column_given(pucli, customers):
    refused(train(pucli, customers.pu), "--label")


def test_neither_or_both_sources_of_rows(pucli, customers):
    refused(pucli("train", "--method", "glpual"), "--dataset", "--data")
    both = ("--dataset", "wine", "--data", customers.pu, "--label", "bought")
    refused(pucli("train", "--method", "glpual", *both), "--dataset", "--data")
    refused(pucli("train", "--method", "glpual", "--dataset", "wine", "--label", "x"), "--label")


@pytest.mark.parametrize(
    ("values", "words", "message"),
    [
        (["x"] * 40, [], "one class"),
        (["x", "y", "z", "y"] * 10, [], "--positive"),
        (["x"] * 20 + [""] * 20, [], "--positive"),
        (["x"] * 20 + ["y"] * 20, ["--positive", "w"], "'w'"),
        ([""] * 40, ["--positive", "x"], "label"),
    ],
)
def test_a_label_column_that_does_not_determine_the_labelled_rows(pucli, tmp_path, values, words, message):
    path = tmp_path / "rows.csv"
    small_table().assign(label=values).to_csv(path, index=False)
    refused(train(pucli, path, "--label", "label", *words), "rows.csv", message)


def test_empty_label_cells_are_not_scored_as_negatives(pucli, tmp_path, customers, model):
    rows = pd.read_csv(customers.true)
    rows.loc[rows.index[::2], "really"] = ""
    rows.to_csv(tmp_path / "half.csv", index=False)
    rows[rows["really"] != ""].to_csv(tmp_path / "known.csv", index=False)
    half = pucli("evaluate", "--model", model, "--data", "half.csv", "--label", "really")
    known = pucli("evaluate", "--model", model, "--data", "known.csv", "--label", "really")
    assert f"{(len(rows) + 1) // 2} of {len(rows)} rows have no label (empty) and are not scored" in half.err
    assert half.out == known.out


def test_a_folder_as_output_is_a_usage_error(pucli, tmp_path, customers, model):
    (tmp_path / "folder").mkdir()
    refused(pucli("predict", "--model", model, "--data", customers.true, "--out", "folder"), "--out folder", "folder")
    words = ("--method", "glpual", "--data", customers.pu, "--label", "bought", "--positive", "yes")
    refused(pucli("tune", *words, "--grid", "lam=1,2", "--trials", "folder"), "--trials folder", "folder")


def test_more_than_two_classes_are_predicted_with_the_probability_of_theirs(pucli, tmp_path):
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 20, axis=0) + rng.normal(size=(60, 2))
    table = pd.DataFrame(X, columns=["a", "b"]).assign(c=np.repeat(["x", "y", "z"], 20))
    table.to_csv(tmp_path / "three.csv", index=False)
    words = ("--method", "mcpl-lda", "--data", "three.csv", "--label", "c", "--model", "three.model")
    assert pucli("train", *words).code == 0
    predictions = pucli("predict", "--model", "three.model", "--data", "three.csv", "--json").document["predictions"]
    assert all(1 / 3 <= row["probability"] <= 1 and "score" not in row for row in predictions)
    assert np.mean([row["probability"] for row in predictions]) > 0.9


def test_an_estimated_prior_is_shown(pucli, customers):
    words = ("--method", "upu", "--data", customers.pu, "--label", "bought", "--positive", "yes")
    done = pucli("train", *words)
    prior = pucli("train", *words, "--json").document["prior"]
    assert 0 < prior < 1 and f"prior estimated  {prior:.4g}" in done.out
    given = pucli("train", *words, "--param", "prior=0.3")
    assert "prior estimated" not in given.out and "prior=0.3" in given.out


def test_classtering_predicts_clusters(pucli, tmp_path):
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]], 30, axis=0) + rng.normal(size=(90, 2))
    pd.DataFrame(X, columns=["a", "b"]).assign(c="").to_csv(tmp_path / "rows.csv", index=False)
    words = ("--method", "classtering", "--data", "rows.csv", "--label", "c", "--model", "c.model")
    trained = pucli("train", *words)
    assert trained.code == 0 and "components" in trained.out
    predictions = pucli("predict", "--model", "c.model", "--data", "rows.csv", "--json").document["predictions"]
    clusters = [[row["cluster"] for row in predictions[start : start + 30]] for start in (0, 30, 60)]
    assert [len(set(group)) for group in clusters] == [1, 1, 1]
    assert len({group[0] for group in clusters}) == 3


def test_a_semi_supervised_method_names_the_only_class_as_the_file_does(pucli, tmp_path):
    small_table().assign(label=["yes"] * 20 + [""] * 20).to_csv(tmp_path / "rows.csv", index=False)
    done = pucli("train", "--method", "cpls", "--data", "rows.csv", "--label", "label")
    refused(done, "rows.csv", "of the class 'yes'", "each class needs")


def with_cells(tmp_path, value):
    """The small table with `value` in column b of lines 8 and 10."""
    lines = small_table().to_csv(index=False).splitlines()
    for number in (7, 9):
        cells = lines[number].split(",")
        lines[number] = ",".join([cells[0], value, cells[2]])
    return write(tmp_path, "\n".join(lines))


def test_infinite_values_are_counted_and_located(pucli, tmp_path):
    path = with_cells(tmp_path, "inf")
    refused(train(pucli, path, "--label", "label"), "rows.csv", "'b'", "2 ", "infinite", "line 8")


@pytest.mark.parametrize("value", ["", "NaN", "?"])
def test_empty_cells_are_filled_and_marked(pucli, tmp_path, value):
    done = train(pucli, with_cells(tmp_path, value), "--label", "label", "--json")
    assert done.code == 0
    assert done.document["features"] == 3
    [_, b] = done.document["columns"]
    assert (b["empty"], b["features"]) == (2, 2)
    assert "empty cells in 1, filled and marked" in done.err


def test_a_word_among_numbers_is_an_empty_cell_and_located(pucli, tmp_path):
    path = write(tmp_path, small_table().to_csv(index=False).replace("\n", "\nlarge,1,0\n", 1))
    done = train(pucli, path, "--label", "label")
    assert done.code == 0
    assert "warning: column 'a': 1 cell not a number, treated as empty (first in line 2: 'large')" in done.err


def test_fewer_labelled_rows_than_folds(pucli, tmp_path):
    path = tmp_path / "rows.csv"
    small_table().assign(label=[1, 1, 1] + [0] * 37).to_csv(path, index=False)
    words = ("--method", "glpual", "--data", path, "--label", "label")
    refused(pucli("tune", *words, "--cv", 4), "3", "4")
    refused(pucli("train", *words, "--tune", "--model", "m.model"), "3", "4")
    assert pucli("tune", *words, "--cv", 3, "--grid", "lam=1,2").code == 0


def test_no_row_would_be_labelled(pucli):
    refused(pucli("train", "--method", "glpual", "--dataset", "wine", "--label-frequency", 0.001), "no labelled row")


@pytest.mark.parametrize("frequency", [0, 1, -1, 2])
def test_a_label_frequency_out_of_range(pucli, frequency):
    refused(pucli("train", "--method", "glpual", "--dataset", "wine", "--label-frequency", frequency), "frequency")


def test_fewer_rows_than_neighbours(pucli, tmp_path):
    path = write(tmp_path, "a,b,label\n1,2,1\n2,1,0\n3,3,0\n")
    refused(train(pucli, path, "--label", "label"), "rows.csv", "n_neighbors=5")


@pytest.mark.parametrize("place", [".", "pu.csv/m.model"])
def test_an_unwritable_model_path_is_an_error_before_training(pucli, customers, monkeypatch, place):
    monkeypatch.setattr("pucli.cli.commands.train._fit", lambda *_: pytest.fail("trained for nothing"))
    refused(pucli("train", "--method", "glpual", "--data", customers.pu, *LABELLED, "--model", place), place)


def test_no_space_for_the_model(pucli, customers, monkeypatch, tmp_path):
    def no_space(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    done = pucli("train", "--method", "glpual", "--data", customers.pu, *LABELLED, "--model", "m.model")
    refused(done, "No space left", code=1)
    assert not list(tmp_path.glob("*m.model*"))


# --- predict and evaluate -----------------------------------------------------------------------------------------


@pytest.fixture
def model(pucli, customers):
    """A model of customers.pu."""
    assert pucli("train", "--method", "glpual", "--data", customers.pu, *LABELLED, "--model", "m.model").code == 0
    return "m.model"


def test_predict_and_evaluate_agree(pucli, customers, model, tmp_path):
    assert pucli("predict", "--model", model, "--data", customers.new, "--out", "scored.csv").code == 0
    scored = pd.read_csv(tmp_path / "scored.csv")
    assert list(scored.columns) == ["row", "prediction", "score"]
    assert list(scored["row"]) == list(range(1, 151))
    assert set(scored["prediction"]) == {"yes", "not yes"}  # the words of the file
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


def test_evaluate_without_true_labels_gives_only_pu_metrics(pucli, customers, model):
    document = pucli("evaluate", "--model", model, "--data", customers.pu, "--labels", "pu", "--json").document
    assert set(document["scores"]) == {"recall_labelled", "predicted_positive", "puf"}
    assert "true labels" not in document["needs"].values()
    assert document["positive_rows"] == 20


def test_evaluate_prints_a_confusion_matrix(pucli, customers, model):
    done = pucli("evaluate", "--model", model, "--data", customers.true, "--label", "really")
    assert "confusion matrix" in done.out
    assert "labelled positives and unlabeled rows" in done.out


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
    assert rows[0] == ["row", "prediction", "score"]
    assert len(rows) == 151


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


# --- splits -------------------------------------------------------------------------------------------------------


def test_train_uses_the_rows_of_a_split_file(pucli, tmp_path):
    words = ("split", "wine", "--repeats", 3, "--seed", 2, "--label-frequency", 0.4, "--out", "s.json", "--json")
    document = pucli(*words).document
    splits = json.loads((tmp_path / "s.json").read_text())["splits"]
    for repeat, (declared, split) in enumerate(zip(document["splits"], splits, strict=True)):
        words = ("train", "--method", "gllc", "--dataset", "wine", "--split", "s.json", "--repeat", repeat, "--json")
        trained = pucli(*words).document
        assert trained["labelled"] == declared["labelled"] == len(split["labelled"])
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
    own = ("train", "--method", "gllc", "--data", customers.pu, *LABELLED)
    refused(pucli(*own, "--split", "s.json"), "--split")
    write(tmp_path, '{"format": ', "s.json")
    refused(pucli(*train, "wine", "--split", "s.json"), "s.json", "damaged")


# --- tune ---------------------------------------------------------------------------------------------------------


def test_tune_reports_choice_and_trials(pucli, customers, tmp_path):
    words = ("tune", "--method", "gllc", "--data", customers.pu, *LABELLED, "--trials", "t.csv", "--json")
    done = pucli(*words, "--grid", "lam=0.1,1,10", "--grid", "c_u=0.5,0.1")
    assert done.code == 0
    document = done.document
    trials = pd.read_csv(tmp_path / "t.csv")
    assert document["points"] == len(trials) == 6
    assert document["fits"] == 24
    assert document["score"] == pytest.approx(trials["score"].max())
    chosen = document["chosen"]
    assert set(chosen) == {"lam", "c_u"}
    row = trials[(trials["lam"] == chosen["lam"]) & (trials["c_u"] == chosen["c_u"])]
    assert row["score"].item() == pytest.approx(document["score"])


def test_tune_warns_at_the_edge_of_the_grid_and_of_one_class(pucli, customers):
    words = ("tune", "--method", "gllc", "--data", customers.pu, *LABELLED)
    done = pucli(*words, "--grid", "lam=1e5,1e6,1e7", "--param", "c_u=10")
    assert done.code == 0
    assert "warning:" in done.err
    assert "edge of its grid" in done.err
    assert "one class only" in done.err


def test_the_choice_of_tune_can_be_trained_as_printed(pucli, customers):
    import shlex

    words = ("--method", "gllc", "--data", customers.pu, *LABELLED)
    tuned = pucli("tune", *words, "--grid", "lam=0.1,1", "--grid", "sigma=1,10")
    line = tuned.err.splitlines()[-1].partition("pucli ")[2]
    trained = pucli(*shlex.split(line), "--json")
    assert trained.code == 0
    chosen = pucli("tune", *words, "--grid", "lam=0.1,1", "--grid", "sigma=1,10", "--json").document["chosen"]
    assert {key: trained.document["params"][key] for key in chosen} == chosen


def test_train_tune_uses_the_tuned_choice(pucli):
    words = ("--method", "gllc", "--dataset", "wine", "--param", "sigma=1", "--param", "lam=1")
    chosen = pucli("tune", *words, "--json").document["chosen"]
    trained = pucli("train", *words, "--tune", "--json").document
    assert set(chosen) == {"c_u"}
    assert trained["params"]["c_u"] == chosen["c_u"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--grid", "lam=1,2", "--param", "lam=1"], "lam"),
        (["--grid", "lam="], "--grid lam"),
        (["--grid", "lam"], "NAME=VALUE"),
        (["--greedy", "2"], "--greedy"),
        (["--cv", "1"], "--cv"),
        (["--param", "lam=1", "--param", "sigma=1", "--param", "c_u=0.1"], "nothing to choose"),
        (["--grid", "lam=decade", "--grid", "c_u=0.1"], "lam"),
    ],
)
def test_a_wrong_grid(pucli, customers, words, message):
    refused(pucli("tune", "--method", "gllc", "--data", customers.pu, *LABELLED, *words), message)


def test_ctrl_c_names_the_command_to_resume(pucli, customers, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("pucli.tuning.tune", interrupted)
    done = pucli("tune", "--method", "gllc", "--data", customers.pu, *LABELLED)
    refused(done, "interrupted", "Nothing was chosen", code=130)


# --- a file that scikit-learn gives -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_real_file_from_the_shell(shell, tmp_path):
    data = load_breast_cancer(as_frame=True)
    table = data.frame.rename(columns={"target": "benign"})
    known = (table["benign"] == 1) & (np.arange(len(table)) % 3 == 0)
    table.assign(benign=np.where(known, 1, 0)).to_csv(tmp_path / "known.csv", index=False)
    table.to_csv(tmp_path / "all.csv", index=False)
    trained = shell("train", "--method", "glpual", "--data", "known.csv", "--label", "benign", "--model", "m.model")
    assert trained.code == 0, trained.err
    done = shell("evaluate", "--model", "m.model", "--data", "all.csv", "--label", "benign", "--json")
    assert done.code == 0, done.err
    assert done.err == ""
    assert done.document["scores"]["auc"] > 0.9


# --- methods that learn from classes ------------------------------------------------------------------------------

SEMI_SUPERVISED = [name for name, method in METHODS.items() if method.kind == "semi-supervised"][:1]


@pytest.mark.parametrize("name", SEMI_SUPERVISED)
def test_a_semi_supervised_method_takes_classes_and_unlabeled_rows(pucli, tmp_path, name):
    table = small_table()
    truth = np.where(table["a"] > 0, "up", "down")
    table.assign(label=np.where(np.arange(40) % 2, truth, "-1")).to_csv(tmp_path / "part.csv", index=False)
    table.assign(label=truth).to_csv(tmp_path / "all.csv", index=False)
    full = pucli("train", "--method", name, "--data", "all.csv", "--label", "label", "--json").document
    assert (full["labelled"], full["unlabeled"]) == (40, 0)
    words = ("--method", name, "--data", "part.csv", "--label", "label")
    trained = pucli("train", *words, "--model", "m.model", "--json")
    assert trained.code == 0, trained.err
    assert (trained.document["labelled"], trained.document["unlabeled"]) == (20, 20)
    predictions = pucli("predict", "--model", "m.model", "--data", "all.csv", "--json").document["predictions"]
    assert {entry["prediction"] for entry in predictions} == {"up", "down"}
    right = np.mean([entry["prediction"] == word for entry, word in zip(predictions, truth, strict=True)])
    scores = pucli("evaluate", "--model", "m.model", "--data", "all.csv", "--json").document["scores"]
    assert scores["accuracy"] == pytest.approx(right)
    assert right > 0.8
    refused(pucli("tune", *words), name)
    refused(pucli("train", *words, "--positive", "up"), "--positive")


@pytest.mark.parametrize("name", SEMI_SUPERVISED)
@pytest.mark.parametrize("classes", [("down", "up"), ("0", "1"), ("2.0", "7.0")])
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
        assert (trained.document["labelled"], trained.document["unlabeled"]) == (20, 20)
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
    assert document["labelled"] == pytest.approx(0.3 * document["rows"], abs=1)
    evaluated = pucli("evaluate", "--model", "m.model", "--dataset", "breast-cancer", "--json").document
    assert evaluated["scores"]["accuracy"] == document["test"]["accuracy"]


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.kind == "density"][:1])
def test_a_density_is_not_trained_on_labels(pucli, customers, name):
    refused(pucli("train", "--method", name, "--data", customers.pu, *LABELLED), name, "density")


def test_a_file_that_is_read_is_never_written_over(pucli, tmp_path):
    rows = "".join(f"{i},{i % 7},{'yes' if i % 3 == 0 else ''}\n" for i in range(60))
    (tmp_path / "rows.csv").write_text("a,b,bought\n" + rows)
    before = (tmp_path / "rows.csv").read_bytes()
    own = ("--method", "svc-naive", "--data", "rows.csv", "--label", "bought", "--positive", "yes")
    assert pucli("train", *own, "--model", "kept.model").code == 0
    model = (tmp_path / "kept.model").read_bytes()
    for words in (
        ("train", *own, "--model", "rows.csv"),
        ("tune", *own, "--trials", "./rows.csv"),
        ("predict", "--model", "kept.model", "--data", "rows.csv", "--out", "rows.csv"),
        ("predict", "--model", "kept.model", "--data", "rows.csv", "--out", "kept.model"),
    ):
        done = pucli(*words)
        assert done.code == 2 and "would overwrite" in done.err
    done = pucli("predict", "--model", "kept.model", "--data", "rows.csv", "--out", "/dev/null")
    assert done.code == 2 and "not a file that can be replaced" in done.err
    assert (tmp_path / "rows.csv").read_bytes() == before and (tmp_path / "kept.model").read_bytes() == model


def test_evaluate_refuses_classes_that_the_model_does_not_know(pucli, tmp_path):
    lines = [f"{i % 10},{i % 7},{('ill', 'well', '')[i % 3]}" for i in range(60)]
    (tmp_path / "seen.csv").write_text("a,b,outcome\n" + "\n".join(lines) + "\n")
    (tmp_path / "other.csv").write_text(
        "a,b,outcome\n" + "\n".join(f"{i},{i},{'no' if i % 2 else 'yes'}" for i in range(9))
    )
    assert pucli("train", "--method", "cpls", "--data", "seen.csv", "--label", "outcome", "--model", "m").code == 0
    done = pucli("evaluate", "--model", "m", "--data", "other.csv", "--label", "outcome")
    assert done.code == 2 and "no, yes" in done.err and "ill, well" in done.err


def test_few_labelled_rows_and_constant_features_give_a_warning(pucli, tmp_path):
    rows = "".join(f"1,2,{'yes' if i == 0 else ''}\n" for i in range(30))
    (tmp_path / "constant.csv").write_text("a,b,bought\n" + rows)
    done = pucli("train", "--method", "gllc", "--data", "constant.csv", "--label", "bought", "--positive", "yes")
    assert "every feature is constant" in done.err and "only 1 labelled row:" in done.err


def test_the_seed_reaches_the_estimator(pucli, customers, tmp_path):
    words = (
        "train",
        "--method",
        "nnpu",
        "--data",
        customers.pu,
        *LABELLED,
        "--param",
        "n_epochs=2",
        "--param",
        "prior=0.3",
    )
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        assert pucli(*words, "--seed", seed, "--model", f"{name}.model").code == 0
        pucli("predict", "--model", f"{name}.model", "--data", customers.new, "--out", f"{name}.csv")
    a, b, c = ((tmp_path / f"{name}.csv").read_text() for name in "abc")
    assert a == b != c


def test_rows_draws_a_sample_and_keeps_labelled_rows(pucli, customers):
    words = ("train", "--method", "gllc", "--data", customers.pu, *LABELLED, "--json")
    document = pucli(*words, "--rows", 60).document
    assert (document["rows"], document["labelled"]) == (60, 15)  # of 20 in 150
    alone = pucli(*words, "--rows", 60, "--scenario", "single-training-set").document
    assert alone["labelled"] == 8
    assert document["data"]["rows_drawn"] == 60
    assert pucli(*words, "--rows", 60).document["objective"] == document["objective"]
    assert pucli(*words, "--rows", 60, "--seed", 1).document["objective"] != document["objective"]
    assert pucli(*words, "--rows", 1000).document["objective"] == pucli(*words).document["objective"]


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_keeps_the_best_choice_so_far(pucli, customers, monkeypatch, as_json):
    from pucli.cli.output import Progress

    def third(self, done, total, text, seconds_left):
        if done >= 3:
            raise KeyboardInterrupt

    words = ("--method", "svc-naive", "--data", customers.pu, *LABELLED)
    whole = pucli("tune", *words, "--grid", "C=0.01,0.1,1", "--json").document
    with monkeypatch.context() as patch:
        patch.setattr(Progress, "show", third)
        patch.setattr("pucli.cli.output.Lines.show", third)
        done = pucli("tune", *words, *(["--json"] if as_json else []))  # C = 0.01, 0.1, 1, 10, 100
        trained = pucli("train", *words, "--tune", "--model", "m.model")
    assert done.code == trained.code == 130
    assert "Traceback" not in done.err
    chosen = whole["chosen"]["C"]
    done_by_then = "(3 of 5 points were compared, each on all 4 folds)"
    assert f"Best choice among the points tried so far {done_by_then}: --param C={chosen}" in trained.err
    if as_json:
        assert done.document["chosen"] == whole["chosen"] and done.document["error"]["kind"] == "interrupted"
    else:
        assert f"--param C={chosen}" in done.err and "interrupted: 3 of 5 points" in done.err
        assert "3 points" in done.out


class Foreign(ClassifierMixin, BaseEstimator):
    """An estimator of another package that keeps something which no model file can hold."""

    fits = 0

    def __init__(self, depth=2):
        self.depth = depth

    def fit(self, X, y):
        type(self).fits += 1
        self.tree_ = DecisionTreeClassifier(max_depth=self.depth, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def test_a_model_that_cannot_be_saved_is_an_error_before_training(pucli, customers, tmp_path, monkeypatch):
    entry = Method("foreign", "elsewhere:Foreign", "pu", "a fork", grid={"depth": [1, 2, 3]})
    monkeypatch.setitem(METHODS, "foreign", entry)
    module = types.ModuleType("elsewhere")
    module.Foreign = Foreign
    monkeypatch.setattr(Foreign, "__module__", "elsewhere")
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    words = ("train", "--method", "foreign", "--data", customers.pu, *LABELLED)
    assert pucli(*words).code == 0
    monkeypatch.setattr(Foreign, "fits", 0)
    done = pucli(*words, "--tune", "--model", "m.model")
    refused(done, "foreign", "tree_", "DecisionTreeClassifier", "--model")
    assert Foreign.fits == 1 and not (tmp_path / "m.model").exists()


INTERRUPTED = """
import ctypes, os, signal, sys, threading
from pucli.cli.commands import list as listing
from pucli.cli.main import main

def compiled():
    # Ctrl-C while the main thread sleeps in the C library, from which the signal does not wake it
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    ctypes.CDLL(None).sleep(60)

listing._methods = compiled
sys.exit(main(["list", "methods"]))
"""


@pytest.mark.slow
def test_ctrl_c_ends_blocked_compiled_code(tmp_path, data_cache):
    """A main thread in compiled code cannot take the signal; libsvm runs so for minutes."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert done.returncode == 130
    assert done.stderr.startswith("pucli: interrupted.") and "Traceback" not in done.stderr
