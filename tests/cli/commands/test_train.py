"""train: what it prints, its model, and messages about bad input."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from pucli.cli.assignments import scalar
from pucli.cli.terminal import percent
from tests.cli.helpers import LABELED, refused, small_table, train, write


def test_train_on_a_declared_set_scores_the_held_out_rows(pucli):
    done = pucli("train", "--method", "glpual", "--dataset", "breast-cancer", "--json")
    assert done.code == 0
    document = done.document
    assert document["rows"] == document["labeled"] + document["unlabeled"]
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
    done = pucli("train", "--method", "glpual", "--data", customers.pu, *LABELED)
    assert done.code == 0
    assert "150 rows, 20 labeled, 130 unlabeled" in done.out
    assert "ranking" in done.out and "PU-AUC" in done.out
    assert "--model glpual.model" in done.err  # a remark, not a result


def test_quiet_suppresses_the_remarks(pucli, customers):
    done = pucli("train", "--method", "glpual", "--data", customers.pu, *LABELED, "--quiet")
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


def test_a_fit_that_does_not_converge_is_flagged(pucli, customers):
    words = ("train", "--method", "glpual", "--data", customers.pu, *LABELED)
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


@pytest.mark.slow
def test_standardization_is_part_of_the_model(pucli, tmp_path):
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
    words = ("train", "--method", "glpual", "--data", customers.pu, *LABELED, "--json")
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
    done = pucli("train", "--method", "glpual", "--data", customers.pu, *LABELED, *words, "--model", "m.model")
    refused(done, message)
    assert not (tmp_path / "m.model").exists()


def test_a_missing_file(pucli):
    refused(train(pucli, "nowhere.csv", "--label", "y"), "nowhere.csv")


def test_a_missing_column(pucli, customers):
    refused(train(pucli, customers.pu, "--label", "bougth"), "pu.csv", "'bought'")


def test_no_label_column_given(pucli, customers):
    refused(train(pucli, customers.pu), "--label")


def test_both_sources_of_rows(pucli, customers):
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
def test_a_label_column_that_does_not_determine_the_labeled_rows(pucli, tmp_path, values, words, message):
    path = tmp_path / "rows.csv"
    small_table().assign(label=values).to_csv(path, index=False)
    refused(train(pucli, path, "--label", "label", *words), "rows.csv", message)


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


@pytest.mark.slow
def test_an_estimated_prior_is_shown(pucli, customers):
    words = ("--method", "upu", "--data", customers.pu, "--label", "bought", "--positive", "yes")
    done = pucli("train", *words)
    prior = pucli("train", *words, "--json").document["prior"]
    assert 0 < prior < 1 and f"with a class prior of {percent(prior)}% (90% interval" in " ".join(done.out.split())
    assert "prior of 30% (as given)" in " ".join(pucli("train", *words, "--param", "prior=0.3").out.split())


@pytest.mark.slow
def test_classtering_predicts_clusters(pucli, tmp_path):
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]], 30, axis=0) + rng.normal(size=(90, 2))
    pd.DataFrame(X, columns=["a", "b"]).assign(c="").to_csv(tmp_path / "rows.csv", index=False)
    words = ("--method", "classtering", "--data", "rows.csv", "--label", "c", "--model", "c.model")
    trained = pucli("train", *words)
    assert trained.code == 0 and re.search(r"^components +3$", trained.out, flags=re.MULTILINE)
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


def test_infinite_values_are_counted_and_empty(pucli, tmp_path):
    done = train(pucli, with_cells(tmp_path, "inf"), "--label", "label")
    said = " ".join(done.err.split())
    assert done.code == 0 and "'b'" in said and "2 " in said and "infinite cells" in said


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
    assert re.search(r"warning: column 'a': 1 cell .*line 2: 'large'", done.err)


@pytest.mark.slow
def test_fewer_labeled_rows_than_folds(pucli, tmp_path):
    path = tmp_path / "rows.csv"
    small_table().assign(label=[1, 1, 1] + [0] * 37).to_csv(path, index=False)
    words = ("--method", "glpual", "--data", path, "--label", "label")
    refused(pucli("tune", *words, "--cv", 4), "3", "4")
    refused(pucli("train", *words, "--tune", "--model", "m.model"), "3", "4")
    assert pucli("tune", *words, "--cv", 3, "--grid", "lam=1,2").code == 0


def test_no_row_would_be_labeled(pucli):
    refused(pucli("train", "--method", "glpual", "--dataset", "wine", "--label-frequency", 0.001), "no labeled row")


@pytest.mark.parametrize("frequency", [0, 1, -1, 2])
def test_a_label_frequency_out_of_range(pucli, frequency):
    refused(pucli("train", "--method", "glpual", "--dataset", "wine", "--label-frequency", frequency), "frequency")


def test_fewer_rows_than_neighbors(pucli, tmp_path):
    path = write(tmp_path, "a,b,label\n1,2,1\n2,1,0\n3,3,0\n")
    refused(train(pucli, path, "--label", "label"), "rows.csv", "n_neighbors=5")


@pytest.mark.parametrize("place", [".", "pu.csv/m.model"])
def test_an_unwritable_model_path_is_an_error_before_training(pucli, customers, monkeypatch, place):
    monkeypatch.setattr("pucli.cli.commands.train._fit", lambda *_: pytest.fail("trained for nothing"))
    refused(pucli("train", "--method", "glpual", "--data", customers.pu, *LABELED, "--model", place), place)


def test_no_space_for_the_model(pucli, customers, monkeypatch, tmp_path):
    def no_space(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    done = pucli("train", "--method", "glpual", "--data", customers.pu, *LABELED, "--model", "m.model")
    refused(done, "No space left", code=1)
    assert not list(tmp_path.glob("*m.model*"))


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
    assert "rows that the model was trained on" in done.err
    assert done.document["scores"]["auc"] > 0.9


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


def test_few_labeled_rows_and_constant_features_give_a_warning(pucli, tmp_path):
    rows = "".join(f"1,2,{'yes' if i == 0 else ''}\n" for i in range(30))
    (tmp_path / "constant.csv").write_text("a,b,bought\n" + rows)
    done = pucli("train", "--method", "gllc", "--data", "constant.csv", "--label", "bought", "--positive", "yes")
    assert "every feature is constant" in done.err and "only 1 labeled row:" in done.err


@pytest.mark.slow
def test_the_seed_reaches_the_estimator(pucli, customers, tmp_path):
    words = (
        "train",
        "--method",
        "nnpu",
        "--data",
        customers.pu,
        *LABELED,
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


def test_a_class_prior_is_not_printed_if_the_ranking_may_be_chance(pucli):
    noise = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2)), columns=["a", "b"])
    noise.assign(bought=["yes"] * 30 + [""] * 90).to_csv("noise.csv", index=False)
    train = ("train", "--method", "svc-naive", "--data", "noise.csv", "--label", "bought", "--positive", "yes")
    words = " ".join(pucli(*train).out.split())
    assert "the class prior cannot be told" in words and "with a class prior of" not in words
    assert "with a class prior of 20% (as given)" in " ".join(
        pucli("train", "--method", "upu", *train[3:], "--param", "prior=0.2").out.split()
    )
