"""Known negatives: a third label, in training alone or for the class prior as well."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from pucli import AutoPU
from pucli.core.errors import UsageError
from pucli.data.rows.training_rows import TrainingRows
from pucli.estimators.auto.random_labeling import RandomLabeling
from pucli.metrics.ranking import auc, true_auc
from pucli.models.auto import Options, rank
from pucli.models.auto.ranking import Ranking
from pucli.models.auto.summary import Findings, likeliest_first, summary
from pucli.models.fitting import Fitted
from pucli.solvers.ensemble.class_prior import OutOfFoldScores
from pucli.solvers.prior.known_negatives import _share_of_means
from tests.helpers import by_night


def rows(n: int = 600, share: float = 0.4, seed: int = 0, distance: float = 1.2) -> tuple[np.ndarray, ...]:
    """Return rows of overlapping classes, whether positive, and y: 60 labeled positives, 40 random negatives."""
    random = np.random.default_rng(seed)
    positive = random.random(n) < share
    X = random.normal(size=(n, 3)) + distance * positive[:, None] * np.r_[1.0, 0.5, 0.0]
    y = np.zeros(n, int)
    y[np.flatnonzero(positive)[:60]] = 1
    y[np.flatnonzero(~positive)[:40]] = -1
    return X, positive, y


@pytest.mark.slow
def test_without_the_third_value_nothing_changes() -> None:
    X, _, y = rows(200)
    plain, named = (
        AutoPU(**how).fit(X, (y == 1).astype(int)) for how in ({}, {"neg_label": -1, "negatives": "random"})
    )
    assert np.array_equal(plain.held_out_, named.held_out_)
    assert plain.prior_ == named.prior_ and plain.estimates_ == named.estimates_


@pytest.mark.slow
def test_three_labels_need_neg_label() -> None:
    X, _, y = rows(100)
    with pytest.raises(ValueError, match="y has 3 labels"):
        AutoPU().fit(X, y)
    with pytest.raises(ValueError, match="there must be labeled positives and unlabeled rows"):
        AutoPU(neg_label=-1).fit(X, np.where(y == 0, -1, y))
    with pytest.raises(ValueError, match="both 1"):
        AutoPU(neg_label=1, pos_label=1).fit(X, y)
    words = np.array(["no", "unknown", "yes"])[y + 1]
    model = AutoPU(neg_label="no").fit(X, words)
    assert model.classes_.tolist() == ["unknown", "yes"]
    assert np.array_equal(model.held_out_, AutoPU(neg_label=-1).fit(X, y).held_out_)


def test_random_negatives_give_the_share_of_positives() -> None:
    errors, given = [], []
    for seed in range(200):
        random = np.random.default_rng(seed)
        share = random.uniform(0.1, 0.9)
        positive = random.random(400) < share
        found, error = _share_of_means(
            random.normal(1.0, 1.0, 50), np.where(positive, 1.0, 0.0) + random.normal(size=400), random.normal(size=50)
        )
        errors.append((found - share) / error)
        given.append(error)
    assert np.mean(np.abs(errors) < 1.645) > 0.84
    assert np.mean(given) < 0.15


@pytest.mark.slow  # two fits of the whole ensemble for each seed
@pytest.mark.parametrize("seeds", by_night([1, 3], by_day=[1]))
def test_random_negatives_make_the_prior_and_the_precision_known(seeds: int) -> None:
    """Where classes overlap, labeled and unlabeled rows alone leave the prior open."""
    apart = []
    for seed in range(seeds):
        X, positive, y = rows(seed=seed)
        known = AutoPU(neg_label=-1, negatives="random").fit(X, y)
        without = AutoPU(neg_label=-1).fit(X, y)
        share = positive[y == 0].mean()
        apart.append((abs(known.prior_ - share), abs(without.prior_ - share)))
        precision, called = known.estimates_["precision"], (known.held_out_ > known.threshold_) & (y == 0)
        assert precision.low < positive[called].mean() < precision.high
        wide = without.estimates_["precision"]
        assert precision.high - precision.low < wide.high - wide.low
        assert np.ptp(known.prior_interval_) < np.ptp(without.prior_interval_)
        assert np.array_equal(known.with_threshold("share", 0.2).prior_interval_, known.prior_interval_)
        of = {line["name"]: line["auc"] for line in known.leaderboard_}
        ranking = auc(known.held_out_[y == 1], known.held_out_[y == 0])
        assert of["ensemble"] == pytest.approx(float(true_auc(ranking, known.prior_)))
    assert np.mean(apart, axis=0)[0] < 0.08


@pytest.mark.slow
def test_known_negatives_are_no_part_of_the_population() -> None:
    X, _, y = rows(200)
    model = AutoPU(neg_label=-1).fit(X, y)
    assert len(model._population) == np.count_nonzero(y == 0)
    assert model.n_negative_ == 40
    single = AutoPU(neg_label=-1, scenario="single-training-set").fit(X, y)
    assert len(single._population) == len(X)
    random = np.random.default_rng(0).permutation(len(X))
    assert np.array_equal(model.held_out_[random], AutoPU(neg_label=-1).fit(X[random], y[random]).held_out_)


def findings(scenario: str = "case-control", **changed) -> tuple[Findings, TrainingRows]:
    """Return findings about 120 rows, of which 20 are labeled and the 30 with the highest other scores negative."""
    model = AutoPU(scenario=scenario, neg_label=-1, **changed)
    rng = np.random.default_rng(0)
    y = np.r_[np.ones(20, int), np.full(30, -1), np.zeros(70, int)]
    model.held_out_ = np.r_[rng.normal(1.0, 1.0, 20), np.linspace(3.0, 4.0, 30), rng.normal(0.0, 1.0, 70)]
    X = np.column_stack([model.held_out_, rng.normal(size=120)])
    labeled, negative = y == 1, y == -1
    population = y == 0 if scenario == "case-control" else y < 2
    model.n_negative_, model._biased = 30, 0
    model.leaderboard_ = [{"name": "ensemble", "pu_auc": 0.9}]
    share = float(labeled[population].mean())
    model._conclude(OutOfFoldScores(np.sort(model.held_out_[labeled]), np.sort(model.held_out_[population]), share, 0))
    marks = pd.DataFrame({"row": np.arange(1, 121)})
    rows = TrainingRows(
        X, labeled.astype(int), ["a", "b"], None, None, "unlabeled", {}, "rows.csv", marks=marks, negative=negative
    )
    return Findings.of(model, labeled, RandomLabeling(0.5, 0, 0.0), negative=negative), rows


def test_known_negatives_are_not_among_the_rows_to_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    found, rows = findings()
    assert likeliest_first(found.model, rows).min() == 50 and len(likeliest_first(found.model, rows)) == 70
    monkeypatch.setattr("pucli.models.scores.decision_values", lambda _, X: X[:, 0])
    ranking = Ranking(Fitted("auto", make_pipeline(found.model), rows, False, 0.0), found)
    why = ranking.explained.sort_index()["why"]
    assert (why[20:50] == "").all() and (why[50:] != "").any() and (why[:20] != "").any()
    for row in ranking.shown:
        assert row.row > 50 or (row.kind == "double-check" and row.row <= 20)
        assert all(one.spread is None for one in row.columns) and f"row {row.row}" not in row.most_like
    with pytest.raises(UsageError, match="only 70 unlabeled rows"):
        rank(rows, Options(goal="top", wanted=71))


def test_known_negatives_are_rows_too() -> None:
    """Of a single training set they are part of the population, of which the class prior is a share."""
    found, _ = findings()
    assert summary(found, ["a", "b"]).rows == 120 and found.if_odds is not None
    single, _ = findings("single-training-set", goal="top", wanted=60)
    assert summary(single, ["a", "b"]).rows == len(single.model._population) == 120
    assert single.if_odds is None and single.called_positive < 60
    assert single.goal == ", from the 60 most likely rows, labeled ones and known negatives included"
    assert single.why == "the 60 most likely rows, labeled ones and known negatives included"
