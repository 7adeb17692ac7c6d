"""tune and train --tune: choice, trials, and what an interruption keeps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.cli.helpers import LABELED, refused


def test_tune_reports_choice_and_trials(pucli, customers, tmp_path):
    words = ("tune", "--method", "gllc", "--data", customers.pu, *LABELED, "--trials", "t.csv", "--json")
    done = pucli(*words, "--grid", "lam=0.1,1,10", "--grid", "c_u=0.5,0.1")
    assert done.code == 0
    document = done.document
    trials = pd.read_csv(tmp_path / "t.csv")
    assert document["points"] == len(trials) == 6
    assert document["fits"] == 48
    assert document["score"] == pytest.approx(trials["score"].max())
    chosen = document["chosen"]
    assert set(chosen) == {"lam", "c_u", "threshold"}
    row = trials[(trials["lam"] == chosen["lam"]) & (trials["c_u"] == chosen["c_u"])]
    assert row["score"].item() == pytest.approx(document["score"])


@pytest.mark.parametrize("rule", ["pu-auc", "f1", "puf"])
def test_tune_says_its_criterion_and_that_of_the_thesis(pucli, rule):
    words = ("tune", "--method", "blssvm", "--grid", "lam=1,2", "--score", rule)
    document = pucli(*words, "--json").document
    assert (document["rule"], document["rule_of_thesis"]) == (rule, "puf")
    line = next(line for line in pucli(*words).out.splitlines() if line.startswith("criterion"))
    assert line.split()[1].rstrip(",") == rule.upper()
    assert ("as in the GLPUAL thesis" in line) == (rule == "puf")
    assert ("that of the GLPUAL thesis is PUF (--score puf --cv-repeats 1)" in line) == (rule != "puf")


def test_tune_warns_at_the_edge_of_the_grid_and_of_one_class(pucli, customers):
    words = ("tune", "--method", "gllc", "--data", customers.pu, *LABELED)
    done = pucli(*words, "--grid", "lam=1e5,1e6,1e7", "--param", "c_u=10", "--score", "f1")
    assert done.code == 0
    assert "warning:" in done.err
    assert "edge of its grid" in done.err
    assert "one class only" in done.err


@pytest.mark.slow
def test_the_choice_of_tune_can_be_trained_as_printed(pucli, customers):
    import shlex

    words = ("--method", "gllc", "--data", customers.pu, *LABELED)
    tuned = pucli("tune", *words, "--grid", "lam=0.1,1", "--grid", "sigma=1,10")
    line = tuned.err.splitlines()[-1].partition("pucli ")[2]
    trained = pucli(*shlex.split(line), "--json")
    assert trained.code == 0
    chosen = pucli("tune", *words, "--grid", "lam=0.1,1", "--grid", "sigma=1,10", "--json").document["chosen"]
    assert {key: trained.document["params"][key] for key in chosen} == chosen


@pytest.mark.slow
def test_train_tune_uses_the_tuned_choice(pucli):
    words = ("--method", "gllc", "--dataset", "wine", "--param", "sigma=1", "--param", "lam=1")
    chosen = pucli("tune", *words, "--json").document["chosen"]
    trained = pucli("train", *words, "--tune", "--json").document
    assert set(chosen) == {"c_u", "threshold"}
    assert {key: trained["params"][key] for key in chosen} == chosen


@pytest.mark.slow
def test_a_tuned_model_predicts_with_the_cut_that_was_chosen(pucli, customers):
    from pucli.models.saved import load_model

    words = ("--method", "gllc", "--data", customers.pu, *LABELED, "--param", "sigma=1", "--param", "lam=1")
    trained = pucli("train", *words, "--tune", "--model", "m.model")
    threshold = load_model("m.model").estimator.threshold
    assert "highest PU-AUC" in trained.err and "F1 is estimated" in trained.err
    chosen = pucli("tune", *words, "--json").document["chosen"]
    assert chosen["threshold"] == threshold != 0.0
    pucli("train", *words, "--param", f"c_u={chosen['c_u']}", "--model", "zero.model")
    pucli(
        "train",
        *words,
        "--param",
        f"c_u={chosen['c_u']}",
        "--param",
        f"threshold={threshold}",
        "--model",
        "named.model",
    )
    assert load_model("named.model").estimator.threshold == threshold
    scored = {}
    for name in ("m", "zero"):
        assert pucli("predict", "--model", f"{name}.model", "--data", customers.pu, "--out", f"{name}.csv").code == 0
        scored[name] = pd.read_csv(f"{name}.csv")
    np.testing.assert_allclose(scored["m"]["score"], scored["zero"]["score"] - threshold, atol=1e-12)
    assert set(scored["m"]["prediction"][scored["zero"]["score"] > threshold]) == {"yes"}
    assert "yes" not in set(scored["m"]["prediction"][scored["zero"]["score"] <= threshold])


def test_one_estimate_of_the_class_prior_is_said_and_trained_with(pucli, customers):
    words = ("--method", "usmo", "--data", customers.pu, *LABELED, "--grid", "lam=0.01,0.1")
    done = pucli("tune", *words)
    assert "no class prior was given: all fits take the estimate" in done.err
    assert "--param prior=0." in done.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--grid", "lam=1,2", "--param", "lam=1"], "lam"),
        (["--grid", "lam="], "--grid lam"),
        (["--grid", "lam"], "NAME=VALUE"),
        (["--cv", "1"], "--cv"),
        (["--param", "lam=1", "--param", "sigma=1", "--param", "c_u=0.1"], "nothing to choose"),
        (["--grid", "lam=decade", "--grid", "c_u=0.1"], "lam"),
    ],
)
def test_a_wrong_grid(pucli, customers, words, message):
    refused(pucli("tune", "--method", "gllc", "--data", customers.pu, *LABELED, *words), message)


def test_ctrl_c_names_the_command_to_resume(pucli, customers, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("pucli.tuning.tune", interrupted)
    done = pucli("tune", "--method", "gllc", "--data", customers.pu, *LABELED)
    refused(done, "interrupted", "Nothing was chosen", code=130)


@pytest.mark.slow
def test_rows_draws_a_sample_and_keeps_labeled_rows(pucli, customers):
    words = ("train", "--method", "gllc", "--data", customers.pu, *LABELED, "--json")
    document = pucli(*words, "--rows", 60).document
    assert (document["rows"], document["labeled"]) == (60, 15)  # of 20 in 150
    alone = pucli(*words, "--rows", 60, "--scenario", "single-training-set").document
    assert alone["labeled"] == 8
    assert document["data"]["rows_drawn"] == 60
    assert pucli(*words, "--rows", 60).document["objective"] == document["objective"]
    assert pucli(*words, "--rows", 60, "--seed", 1).document["objective"] != document["objective"]
    assert pucli(*words, "--rows", 1000).document["objective"] == pucli(*words).document["objective"]


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.slow
def test_ctrl_c_keeps_the_best_choice_so_far(pucli, customers, monkeypatch, as_json):
    from pucli.cli.progress import Progress

    def third(self, done, total, text, seconds_left):
        if done >= 3:
            raise KeyboardInterrupt

    words = ("--method", "svc-naive", "--data", customers.pu, *LABELED)
    whole = pucli("tune", *words, "--grid", "C=0.01,0.1,1", "--json").document
    with monkeypatch.context() as patch:
        patch.setattr(Progress, "show", third)
        patch.setattr("pucli.cli.output.Lines.show", third)
        done = pucli("tune", *words, *(["--json"] if as_json else []))  # C = 0.01, 0.1, 1, 10, 100
        trained = pucli("train", *words, "--tune", "--model", "m.model")
    assert done.code == trained.code == 130
    assert "Traceback" not in done.err
    chosen = whole["chosen"]["C"]
    done_by_then = "(3 of 5 points were compared, each on all 8 folds)"
    assert f"Best choice among the points tried so far {done_by_then}: --param C={chosen}" in trained.err
    if as_json:
        assert done.document["chosen"] == whole["chosen"] and done.document["error"]["kind"] == "interrupted"
    else:
        assert f"--param C={chosen}" in done.err and "interrupted: 3 of 5 points" in done.err
        assert "3 points" in done.out


@pytest.mark.slow
def test_a_choice_that_may_be_chance_is_warned_of(pucli, tmp_path):
    random = np.random.default_rng(0)
    for name, shift in (("noise.csv", 0.0), ("apart.csv", 3.0)):
        table = pd.DataFrame(random.normal(size=(300, 2)), columns=["a", "b"])
        table["bought"] = np.where(np.arange(300) < 60, "yes", "")
        table.loc[table["bought"] == "yes", "a"] += shift
        table.to_csv(tmp_path / name, index=False)
        words = ("--method", "svc-naive", "--data", tmp_path / name, "--label", "bought", "--positive", "yes")
        done = pucli("tune", *words, "--grid", "C=1,10", "--cv-repeats", 1)
        assert ("may be chance" in done.err) == (name == "noise.csv"), done.err


def test_a_model_that_may_be_useless_is_said_to_be_so_when_it_is_applied(pucli, tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(300, 2)), columns=["a", "b"])
    table["bought"] = np.where(np.arange(300) < 60, "yes", "")
    table.to_csv(tmp_path / "noise.csv", index=False)
    words = ("--data", tmp_path / "noise.csv", "--label", "bought", "--positive", "yes")
    assert "may be useless" in pucli("train", "--method", "svc-naive", *words, "--model", "m").err
    applied = pucli("predict", "--model", "m", "--data", tmp_path / "noise.csv", "--out", "p.csv")
    assert "found in training: the model may be useless" in applied.err
