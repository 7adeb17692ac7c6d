"""The refinement after the grid, and the standard error of a rule, by what they mean."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pucli.metrics import puf
from pucli.tuning import search, tune
from pucli.tuning.scorers import Rule, choose, score_counts

X, S = np.zeros((40, 2)), np.repeat([1, 0], [12, 28])


class Peak:
    """A route whose PUF is highest where `lam` and `sigma` are at a target, and falls with the distance in logs."""

    def __init__(self, **target):
        self.target, self.asked = target, []

    s, folds, scores = S, [[((), ())] * 3], False

    def outcomes(self, points, progress=None):
        self.asked += [dict(point) for point in points]
        distance = [sum(abs(math.log(point[k] / v)) for k, v in self.target.items() if k in point) for point in points]
        predicted = np.round(1000 + 1e5 * np.array(distance)).astype(int)
        counts = np.empty((len(points), 1, 3, 4), dtype=np.int64)
        counts[..., 0], counts[..., 1], counts[..., 3] = 4, 4, 10**7
        counts[..., 2] = predicted[:, None, None]
        return counts


def refined(monkeypatch, grid, step=0.1, **target):
    peak = Peak(**target)
    monkeypatch.setattr(search, "make_route", lambda *_: peak)
    return tune("glpual", X, S, grid=grid, folds=3, rule="puf", cv_repeats=1, greedy_step=step), peak


@pytest.mark.parametrize("target", [0.3, 0.93, 1.0, 1.07, 4.0])
def test_refinement_climbs_up_and_down_to_the_best_point(monkeypatch, target):
    result, _ = refined(monkeypatch, {"lam": [1.0]}, lam=target)
    assert abs(math.log(result.params["lam"] / target)) <= math.log(1.1)


def test_each_move_is_the_whole_step(monkeypatch):
    for step in (0.1, 0.5):
        result, peak = refined(monkeypatch, {"lam": [1.0]}, step, lam=1.0)
        assert [point["lam"] for point in peak.asked] == pytest.approx([1.0, 1.0 + step, 1.0 - step])
        assert result.params["lam"] == 1.0


def test_refinement_continues_from_the_last_gain_and_ends_without_one(monkeypatch):
    result, peak = refined(monkeypatch, {"lam": [1.0]}, lam=1.3)
    assert result.params["lam"] == pytest.approx(1.1**3)
    tried = [point["lam"] for point in peak.asked]
    expected = [1.0, 1.1, 0.9, 1.1**2, 1.1 * 0.9, 1.1**3, 1.1**2 * 0.9, 1.1**4, 1.1**3 * 0.9]
    assert tried == pytest.approx(expected)
    assert len(result.trials) == len(tried) and result.n_fits == 3 * len(tried)


def test_every_parameter_is_refined(monkeypatch):
    result, _ = refined(monkeypatch, {"lam": [1.0], "sigma": [1.0]}, lam=0.5, sigma=2.0)
    assert abs(math.log(result.params["lam"] / 0.5)) <= math.log(1.1)
    assert abs(math.log(result.params["sigma"] / 2.0)) <= math.log(1.1)


def test_the_refinement_starts_at_the_choice_of_the_grid(monkeypatch):
    result, peak = refined(monkeypatch, {"lam": [0.01, 1.0, 100.0]}, lam=120.0)
    assert peak.asked[3]["lam"] == pytest.approx(110.0) and result.params["lam"] > 100.0


COUNTS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 20)).map(lambda c: [c[0], 6, c[1], 20]), min_size=2, max_size=8
)


@given(COUNTS)
def test_the_standard_error_is_that_of_a_mean_over_folds(folds):
    counts = np.array(folds)[None, None]
    scores = score_counts(counts, Rule("puf-pooled", "unlabeled", {}))
    per_fold = [puf(fold, "unlabeled") for fold in folds]
    assert scores.standard_error[0] == pytest.approx(stats.sem(per_fold))


def test_four_times_the_folds_halve_the_standard_error():
    fold = np.array([[4, 6, 5, 20], [3, 6, 9, 20]])
    few, many = (score_counts(np.tile(fold, (n, 1))[None, None], Rule("puf", "all", {})) for n in (100, 400))
    assert many.standard_error[0] == pytest.approx(few.standard_error[0] / 2, rel=0.01)


def test_one_standard_error_decides_what_is_near_the_best():
    """The second point's bound is inside one standard error of the best bound, and outside half of one."""
    points = [{"lam": 1.0}, {"lam": 100.0}]
    rule = Rule("puf-lower-1se", "unlabeled", {"lam": -1})
    for difference, chosen in ((0.9, 1), (1.1, 0)):
        scores = score_counts(np.array([[[[3, 6, 9, 20]] * 2]] * 2), rule)
        scores = scores._replace(score=np.array([5.0, 5.0 - difference]), standard_error=np.array([1.0, 1.0]))
        assert choose(points, scores, rule) == chosen
