"""Figures agree: prior, recall, precision, lift and the gains curve at every number of rows, points and intervals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from benchmarks import coverage
from benchmarks.common.quality_labeling import labeled_split, scenario_of
from benchmarks.common.quality_tasks import each_task
from pucli.core.seeding import stream
from pucli.estimators.auto.auto_pu import AutoPU
from pucli.metrics.ranking import true_auc
from pucli.solvers.ensemble.calibration import make_calibration
from pucli.solvers.ensemble.hidden_share import PriorWithDraws, estimate_prior, rare_prior
from pucli.solvers.ensemble.joint import JointEstimate, joint_estimate
from pucli.solvers.ensemble.threshold import recall_curve
from pucli.solvers.prior.binormal import binormal

ALONE = [
    # prior, distance of the classes, labeled rows, rows of the population
    (prior, distance, labeled, rows)
    for prior, rows in ((0.01, 2000), (0.1, 1000), (0.4, 500), (0.8, 300))
    for distance, labeled in ((0.5, 15), (1.5, 60), (3.0, 20), (3.0, 400), (6.0, 100))
]


def of_scores(prior: float, distance: float, labeled: int, rows: int, *, whole: bool = False) -> JointEstimate:
    rng = np.random.default_rng([labeled, rows])
    positive = np.sort(rng.normal(distance, 1.0, labeled))
    population = np.where(rng.random(rows) < prior, distance, 0.0) + rng.normal(size=rows)
    population = np.sort(np.concatenate([population, positive]) if whole else population)
    part = labeled / len(population) if whole else 0.0
    law = binormal(positive, population, part)
    alone = rare_prior(positive, population, part) or estimate_prior(positive, population, rng)
    curve = recall_curve(make_calibration(positive, population, alone.value, rng).of(population))
    return joint_estimate(positive, population, alone, curve, whole=whole, law=law if law.rare else None)


@pytest.mark.parametrize(("prior", "distance", "labeled", "rows"), ALONE)
def test_no_figure_contradicts_another(prior: float, distance: float, labeled: int, rows: int) -> None:
    joint = of_scores(prior, distance, labeled, rows, whole=labeled in (15, 60))
    assert coverage.contradictions(joint, 0.5 * distance) == []
    assert coverage.contradictions(joint, float(joint.population[-3])) == []


@pytest.mark.nightly  # fits 300 tables: ten minutes
def test_no_figure_of_a_fitted_model_contradicts_another() -> None:
    found = coverage.run(draws=50)
    wrong = [cell for cell in found["cells"] if cell["figure"] == "no contradictions" and not cell["holds"]]
    assert wrong == []


@pytest.mark.nightly  # fits every task of benchmark `quality` four times
@pytest.mark.parametrize("labeling", ["case-control", "single-training-set"])
def test_no_figure_of_the_public_tasks_contradicts_another(labeling: str) -> None:
    for task, rows in each_task("all", None, lambda *_: None):
        for frequency in (0.25, 0.5):
            split = labeled_split(labeling, rows.X, rows.y, frequency, stream(7, task, labeling, frequency))
            with warnings.catch_warnings(action="ignore"):
                model = AutoPU(scenario=scenario_of(labeling)).fit(rows.X[split.train], split.s == 1)
            assert coverage.contradictions(model.joint, model.threshold_) == [], task


@pytest.mark.parametrize(("count", "widest"), [(50, 0.35), (100, 0.25), (1600, 0.07)])
def test_the_recall_is_narrower_with_more_labeled_rows(count: int, widest: float) -> None:
    rng = np.random.default_rng(0)
    prior = PriorWithDraws(0.3, 0.3, 0.3, np.full(200, 0.3))
    scores = np.sort(rng.normal(1, 1, count)), np.sort(rng.normal(0, 1, 5000))
    found = joint_estimate(*scores, prior, known_prior=True).at(0.5)
    for name in ("recall", "new_recall"):
        assert 0.02 < found[name].high - found[name].low < widest
    assert found["new_recall"].rows == found["new_share"].rows == "new rows" != found["recall"].rows


def test_the_recall_of_these_rows_is_known_where_their_positives_are_labeled() -> None:
    """All positives of the population are labeled but one in ten: there is little that sampling leaves open."""
    rng = np.random.default_rng(0)
    positive = np.sort(rng.normal(2, 1, 450))
    population = np.sort(np.concatenate([positive, rng.normal(2, 1, 50), rng.normal(0, 1, 500)]))
    prior = PriorWithDraws(0.5, 0.5, 0.5, np.full(40, 0.5), 0.45)
    found = joint_estimate(positive, population, prior, whole=True, known_prior=True).at(1.0)
    these, new = (found[name].high - found[name].low for name in ("recall", "new_recall"))
    assert these < 0.4 * new
    assert found["recall"].low <= np.mean(population[-500:] > 1.0) or found["recall"].high > 0.8


def test_what_rests_on_the_prior_follows_its_whole_range_where_classes_overlap() -> None:
    joint = of_scores(0.6, 1.2, 400, 1600)
    low, high = joint.prior.low, joint.prior.high
    assert low < 0.01 < 0.6 <= high
    found, share = joint.at(0.6), float(np.mean(joint.population > 0.6))
    assert found["precision"].low <= 2.0 * low * found["recall"].value / share + 0.05
    assert found["precision"].high >= min(1.0, 0.95 * high * found["recall"].value / share)
    ranking = joint._ranking[0]
    assert found["auc"].low <= true_auc(ranking, 0.1) <= true_auc(ranking, 0.9 * high) <= found["auc"].high


def test_a_given_prior_that_the_gains_curve_excludes_is_a_contradiction_and_the_curve_yields() -> None:
    rng = np.random.default_rng(0)
    positive = np.sort(rng.normal(6, 1, 300))
    population = np.sort(np.concatenate([rng.normal(6, 1, 100), rng.normal(0, 1, 900)]))
    kept, excluded = (
        joint_estimate(positive, population, PriorWithDraws(a, a, a, np.full(40, a)), known_prior=True)
        for a in (0.1, 0.3)
    )
    assert not kept.contradicted and excluded.contradicted and 0.1 < excluded.bound < 0.13
    assert excluded.prior.value == 0.3 and excluded.at(3.0)["recall"].value == pytest.approx(1 / 3, abs=0.02)
    assert kept.at(3.0)["recall"].value > 0.95 and coverage.contradictions(excluded, 3.0) == []


def test_where_no_row_is_flagged_there_is_no_lift() -> None:
    joint = of_scores(0.4, 3.0, 60, 500)
    none, every = joint.at(np.inf), joint.at(-np.inf)
    assert "lift" not in none and none["recall"].value == none["precision"].value == 0.0
    for name in ("recall", "share", "new_recall", "new_share", "lift", "new_lift"):
        assert (every[name].low, every[name].value, every[name].high) == (1.0, 1.0, 1.0)
