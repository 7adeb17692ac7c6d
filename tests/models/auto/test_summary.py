"""What the estimates claim: no more than the prior that they rest on."""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import pytest

from pucli.estimators.auto.auto_pu import AutoPU
from pucli.estimators.auto.random_labeling import RandomLabeling
from pucli.estimators.auto.ranking import training_probabilities
from pucli.models.auto.summary import Findings, scored_rows, summary
from pucli.solvers.ensemble.estimates import Estimate, if_odds
from pucli.solvers.ensemble.hidden_share import hidden_share
from pucli.solvers.ensemble.threshold import Threshold
from pucli.solvers.prior.gains import greatest_prior


def test_twofold_odds_of_being_labeled_widen_what_is_said_and_tip_it():
    precision = Estimate(0.8, 0.75, 0.85)
    found = shown(recall=precision, share=Estimate(0.5, 0.5, 0.5), precision=precision)["if_odds"]
    assert found["recall"] == {
        "value": 0.8,
        "low": pytest.approx(0.6),
        "high": pytest.approx(1.7 / 1.85),
        "rows": "these rows",
    }
    assert found["lift"]["low"] == pytest.approx(1.2) and found["precision"]["low"] == pytest.approx(0.6)
    assert found["recall_half"] == pytest.approx(3.0) and found["lift_one"] == pytest.approx(3.0)
    assert found["ahead"] == 27  # of 90 even scores, whose squares are twice 0.25 from 0.707 on
    assert found["prior"] == {"value": 0.5, "low": 0.45, "high": 0.55, "rows": "these rows"}  # given, it stays
    certain = shown(recall=Estimate(1.0, 1.0, 1.0))["if_odds"]
    assert certain["recall_half"] is None and shown(recall=Estimate(0.5, 0.4, 0.6))["if_odds"]["recall_half"] == 1.0
    assert shown(leaks=("column 'a' ...",))["if_odds"] is None and shown(labeling="sar")["if_odds"] is None


def test_a_lift_has_its_tipping_point_where_the_recall_is_the_share():
    recall, share = Estimate(0.8, 0.7, 0.9), Estimate(0.2, 0.2, 0.2)
    bounds = if_odds({"recall": recall, "share": share, "precision": recall, "prior": recall})
    assert bounds.lift_one == pytest.approx((0.7 / 0.3) / (0.2 / 0.8))


def test_the_share_of_positives_among_unlabeled_rows_leaves_out_the_labeled_ones():
    labeled = np.arange(100) < 20
    assert hidden_share(0.5, labeled, "single-training-set") == pytest.approx(30 / 80)
    assert hidden_share(0.5, labeled, "case-control") == 0.5


def test_the_fewer_positives_are_hidden_the_higher_is_the_upper_end_of_the_prior():
    positive = np.linspace(1.0, 2.0, 8)
    population = np.append(np.linspace(-2.0, 0.0, 54), np.linspace(0.9, 2.1, 6))
    few, many = (greatest_prior(positive, np.repeat(population, times)) for times in (1, 100))
    assert 0.1 < many < few


def scored(scenario="single-training-set"):
    """A fitted model as far as its scored rows go: two labeled rows, four others, a threshold of 0.5."""
    return SimpleNamespace(
        held_out_=np.array([0.9, 0.6, 0.8, 0.4, 0.55, 0.2]),
        threshold_=0.5,
        labeling_="scar",
        prior_=0.5,
        prior_interval_=(0.4, 0.8),
        prior_estimate_=SimpleNamespace(labeled=1 / 3 if scenario == "single-training-set" else 0.0),
        probability_of=lambda scores: scores,
        probability_range=lambda p: (0.9 * p, np.minimum(1.0, 1.1 * p)),
    )


def test_probabilities_of_training_rows_are_those_of_bayes_and_lie_within_their_range():
    model, labeled = scored(), np.arange(6) < 2
    p, low, high = training_probabilities(model, labeled)
    q, c = model.held_out_, (1 / 3) / 0.5
    np.testing.assert_allclose(p[labeled], q[labeled])
    # positive and unlabeled, over unlabeled
    np.testing.assert_allclose(p[~labeled], (q * (1 - c) / (q * (1 - c) + 1 - q))[~labeled])
    assert (low <= p).all() and (p <= high).all()
    model.probability_range = lambda p: (np.ones_like(p), np.zeros_like(p))
    p, low, high = training_probabilities(model, labeled)
    assert (low <= p).all() and (p <= high).all()


def test_scored_rows_have_the_sign_of_their_prediction_and_unlabeled_ones_come_first():
    found = Findings(scored(), 2, 4, 2, RandomLabeling(0.5, 0, 0.0))
    rows = scored_rows(found, np.arange(6) < 2, {"1": "yes", "0": "no"})
    assert rows["row"].tolist() == [3, 5, 4, 6, 1, 2]
    assert rows["prediction"].tolist() == ["yes", "yes", "no", "no", "yes", "yes"]
    np.testing.assert_allclose(rows["score"], np.array([0.3, 0.05, -0.1, -0.3, 0.4, 0.1]))


SIX = ("prior", "share", "recall", "precision", "f1", "auc")


def shown(leaks=(), goal="f1", wanted=None, scenario="case-control", labeling="scar", repeated="", **changed):
    known = {name: Estimate(0.5, 0.45, 0.55) for name in (*SIX, "recall_odds_2", "new_share", "new_recall")}
    model = SimpleNamespace(
        estimates_=known | changed,
        chosen_threshold_=Threshold(0.0, 0.5, goal, wanted),
        scenario=scenario,
        labeling=labeling,
        labeling_=labeling,
        negatives="biased",
        n_negative_=0,
        rare_=False,
        prior_interval_=(0.5, 0.5),  # as if given
        _given=True,
        ranks_=True,
        _positive=np.linspace(0.3, 1.0, 10),
        _population=np.linspace(0.0, 1.0, 90),
        threshold_=0.5,
        calibration_=SimpleNamespace(of=np.square),
        prior_estimate_=SimpleNamespace(labeled=0.0),
    )
    model.leaderboard_ = []
    return asdict(summary(Findings(model, 10, 90, 40, RandomLabeling(0.5, 0, 0.0), leaks, repeated), ["a"]))


@pytest.mark.parametrize(
    ("changed", "unknown"),
    [
        ({}, set()),
        ({"prior": Estimate(0.3, 0.0, 0.6)}, {"prior", "precision", "f1", "auc"}),
        ({"prior": Estimate(0.1, 0.02, 0.2)}, {"prior", "precision", "f1"}),
        ({"share": Estimate(0.0, 0.0, 0.0)}, {"prior", "recall", "precision", "f1", "auc"}),
        ({"recall": Estimate(0.5, 0.2, 0.8)}, {"recall"}),
    ],
)
def test_what_rests_on_something_unknown_is_not_known(changed, unknown):
    found = shown(**changed)
    assert {name for name in SIX if not found["estimates"][name]["known"]} == unknown
    assert "how were these rows chosen?" in found["random_labeling"]["verdict"]


UNKNOWN = {"prior": Estimate(0.3, 0.0, 0.6)}


@pytest.mark.parametrize(
    ("given", "doubted"),
    [
        ({}, False),
        (UNKNOWN, True),
        ({**UNKNOWN, "goal": "precision", "wanted": 0.8}, True),
        ({**UNKNOWN, "goal": "recall", "wanted": 0.8}, False),  # recall needs no prior
        ({"goal": "recall", "wanted": 0.8, "leaks": ("column 'a' ...",)}, True),
        ({**UNKNOWN, "goal": "share", "wanted": 0.5}, False),
    ],
)
def test_a_threshold_for_something_unknown_says_so(given, doubted):
    why = shown(**given)["threshold"]["why"]
    assert ("cannot be told" in why or "unknown" in why) == doubted


@pytest.mark.parametrize(("scenario", "rows"), [("case-control", "unlabeled rows"), ("single-training-set", "rows")])
def test_the_share_above_the_threshold_says_of_which_rows(scenario, rows):
    assert f"50.0% of the {rows} are above" in shown(scenario=scenario)["threshold"]["why"]


@pytest.mark.parametrize("given", [{"leaks": ("column 'a' is 'web' ...",)}, {"repeated": "labeled rows repeat ..."}])
def test_nothing_is_known_if_a_column_gives_the_label_away_or_labeled_rows_are_repeated(given):
    found = shown(**given)
    assert not found["sound"]
    assert {name for name in SIX if found["estimates"][name]["known"]} == {"share"}
    assert "cannot be judged" in found["random_labeling"]["verdict"]


def test_recall_and_auc_are_not_known_if_the_labels_are_no_random_sample():
    found = shown(goal="recall", wanted=0.9, labeling="sar")
    assert {name for name in SIX if not found["estimates"][name]["known"]} == {"recall", "auc"}
    assert "with 90% confidence" not in found["threshold"]["why"] and "cannot be told" in found["threshold"]["why"]
    assert "with 90% confidence" in shown(goal="recall", wanted=0.9)["threshold"]["why"]


@pytest.mark.slow
def test_unlabeled_rows_of_a_single_training_set_are_positive_less_often():
    rng = np.random.default_rng(0)
    positive = rng.random(1000) < 0.4
    X = rng.normal(size=(1000, 3)) + 2.0 * positive[:, None]
    labeled = positive & (rng.random(1000) < 0.8)
    model = AutoPU(scenario="single-training-set", random_state=0).fit(X, labeled)
    p, low, high = training_probabilities(model, labeled)
    hidden = int((positive & ~labeled).sum())
    assert low[~labeled].sum() <= hidden <= high[~labeled].sum()
    whole = model.calibration_.of(model.held_out_)
    assert p[~labeled].sum() < 0.85 * whole[~labeled].sum()
    assert (p[labeled] == whole[labeled]).all()
    assert (np.diff(p[~labeled][np.argsort(model.held_out_[~labeled])]) >= -1e-12).all()
    other = AutoPU(random_state=0).fit(X, labeled)
    assert (training_probabilities(other, labeled)[0] == other.probability_of(other.held_out_)).all()
