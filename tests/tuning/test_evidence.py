"""The rule "pu-auc": held-out scores, their ranking, and the threshold, against refits and brute force."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from pucli.core.errors import DegenerateModelWarning, EstimatedPriorWarning, UsageError
from pucli.estimators.base.data_defaults import in_numbers
from pucli.estimators.global_local.cpb import CPBGLPUAL
from pucli.estimators.global_local.glpual import GLLC
from pucli.estimators.unbiased.naive_svc import NaiveSVC
from pucli.methods import estimator_class, get_method, make_estimator
from pucli.metrics.scorers import puf_scorer
from pucli.tuning import tune
from pucli.tuning.evidence import _best_threshold, evidence, ranked
from pucli.tuning.folds import pu_folds
from pucli.tuning.grids import expand
from pucli.tuning.inputs import share_of_positives
from pucli.tuning.paths.landmarks import LandmarkRoute
from pucli.tuning.routes import FoldedRows, make_route
from pucli.tuning.scorers import Rule
from tests.tuning.test_search import pu_data

BY = Rule("pu-auc", "unlabeled", {}, prior=0.4, moves_threshold=True)
RBF = {"kernel": "rbf", "width": 2.0}
LAM = {"lam": [0.1, 10.0], "c_u": [0.5, 0.05]}
# Method, fixed parameters, grid, and how far the tolerance of its solver lets two fits differ.
CASES = [
    ("gllc", {}, LAM, 1e-8),
    ("gllc", RBF, LAM, 1e-8),
    ("gllc", {**RBF, "form": "thesis"}, {"c_u": [0.5, 0.05]}, 1e-8),
    ("blssvm", {}, LAM, 1e-8),
    ("glpual", {"tol": 1e-10}, LAM, 1e-4),
    ("e-glpual", {"tol": 1e-10}, {"lam1": [0.1, 10.0], "c_u": [0.1]}, 1e-4),
    ("ekf-glpual", {"tol": 1e-10}, {"lam1": [1.0, 10.0], "c_u": [0.1]}, 1e-4),
    ("cpb-glpual", {"prior": 0.4, "tol": 1e-8}, {"lam": [0.01, 1.0]}, 1e-3),
]


def refitted(method, X, s, folds, fixed, points):
    """Return the scores (n_points, repeats, n) of models that are fitted one at a time."""
    found = np.empty((len(points), len(folds), len(s)))
    for p, point in enumerate(points):
        for r, repeat in enumerate(folds):
            for train, valid in repeat:
                with warnings.catch_warnings():  # at the ends of grids
                    warnings.simplefilter("ignore", DegenerateModelWarning)
                    model = make_estimator(method, **fixed, **point).fit(X[train], s[train])
                found[p, r, valid] = model.decision_function(X[valid])
    return found


@pytest.mark.parametrize(("method", "fixed", "grid", "tolerance"), CASES, ids=str)
@pytest.mark.slow
def test_held_out_scores_are_those_of_refits_and_counts_are_theirs(method, fixed, grid, tolerance):
    X, s = pu_data(3, n=100, m=2)
    folds, points, entry = pu_folds(s, 4, 0, 2), expand(grid), get_method(method)
    fixed = in_numbers(estimator_class(entry), fixed, grid, X, s == 1)
    route = make_route("auto", entry, FoldedRows(X, s, folds), fixed, None, 1, True)
    scores = route.outcomes(points)
    assert scores.shape == (len(points), 2, len(s))
    np.testing.assert_allclose(scores, refitted(method, X, s, folds, fixed, points), atol=tolerance)
    counts = make_route("auto", entry, FoldedRows(X, s, folds), fixed, None).outcomes(points)
    np.testing.assert_array_equal(evidence(route, scores, BY._replace(moves_threshold=False)).counts, counts)


@pytest.mark.parametrize("method", ["gllc", "blssvm"])
def test_held_out_scores_on_all_features_of_a_kernel_are_those_of_refits(method):
    X, s = pu_data(4, n=100, m=2)
    folds, points = pu_folds(s, 4, 0, 2), expand({**LAM, "width": [1.0, 3.0]})
    entry = get_method(method)
    defaults = estimator_class(entry)().get_params()
    scores = LandmarkRoute(entry, X, s, folds, {**defaults, "kernel": "rbf"}, len(s), 1, True).outcomes(points)
    # the features of the refits leave out up to 1e-6 of the diagonal of the kernel
    np.testing.assert_allclose(scores, refitted(method, X, s, folds, {"kernel": "rbf"}, points), atol=1e-4)


@pytest.mark.parametrize("denominator", ["unlabeled", "all"])
@pytest.mark.slow
def test_the_choice_is_the_best_ranking_and_its_cut_the_greatest_estimated_f1(denominator):
    X, s = pu_data(5)
    result = tune("gllc", X, s, grid=LAM, denominator=denominator, seed=3)
    folds, points = pu_folds(s, 4, 3, 2), expand(LAM)
    scores = refitted("gllc", X, s, folds, {}, points)
    areas = [np.mean([roc_auc_score(s, one) for one in point]) for point in scores]
    np.testing.assert_allclose(result.trials.columns["score"], areas, atol=1e-12)
    best = int(np.argmax(areas))
    assert {key: result.params[key] for key in LAM} == points[best]
    assert (result.rule, result.score) == ("pu-auc", pytest.approx(areas[best]))
    threshold, pooled, labeled = result.params["threshold"], scores[best].ravel(), np.tile(s, 2) == 1
    prior = result.trials.columns["f1"][best]  # of the F1 at the threshold, from which the prior follows
    recall = np.mean(pooled[labeled] > threshold)
    population = pooled if denominator == "all" else pooled[~labeled]
    share = np.mean(population > threshold)
    prior = result.f1 * share / (2.0 * recall - result.f1)

    def f1(at):
        return 2.0 * prior * np.mean(pooled[labeled] > at) / (np.mean(population > at) + prior)

    assert 0.02 <= prior <= 0.98
    assert f1(threshold) == pytest.approx(max(f1(at) for at in [pooled.min() - 1.0, *pooled]))
    trial = result.trials[best]
    assert trial["positive_labeled"] == np.count_nonzero(pooled[labeled] > threshold)
    assert trial["positive_unlabeled"] == np.count_nonzero(pooled[~labeled] > threshold)


def test_an_interrupted_search_is_judged_by_the_folds_that_are_there():
    X, s = pu_data(3, n=100, m=2)
    folds = pu_folds(s, 4, 0, 2)
    route = make_route("auto", get_method("gllc"), FoldedRows(X, s, folds), {"c_u": 0.1}, None, 1, True)
    scores, there = route.outcomes([{"lam": 1.0}]), np.array([[True, False, True, False], [True] * 4])
    found = evidence(route, scores, BY, there)
    assert found.counts.shape == (1, 1, 6, 4)
    some = np.concatenate([folds[0][0][1], folds[0][2][1]])
    areas = roc_auc_score(s[some], scores[0, 0, some]), roc_auc_score(s, scores[0, 1])
    assert found.ranking[0] == pytest.approx(np.mean(areas))
    assert found.counts[0, 0, :, [1, 3]].sum() == 150


SCORES = st.lists(st.integers(-4, 4), min_size=2, max_size=12)


@given(upper=SCORES, lower=SCORES, prior=st.floats(0.05, 0.95), all_rows=st.booleans())
def test_the_cut_and_the_ranking_are_those_of_brute_force_and_follow_the_scores(upper, lower, prior, all_rows):
    upper, lower = np.array(upper, dtype=float), np.array(lower, dtype=float)
    rule = BY._replace(prior=prior, denominator="all" if all_rows else "unlabeled")
    population = np.concatenate([upper, lower]) if all_rows else lower

    def f1(threshold):
        return 2 * prior * np.mean(upper > threshold) / (np.mean(population > threshold) + prior)

    threshold = _best_threshold(upper, lower, rule)
    assert f1(threshold) == pytest.approx(max(f1(at) for at in [-9.0, *upper, *lower]))
    values = np.concatenate([upper, lower])
    assert threshold not in values or threshold == values.min()
    stretched = _best_threshold(7.0 * upper - 3.0, 7.0 * lower - 3.0, rule)
    np.testing.assert_array_equal(values > threshold, 7.0 * values - 3.0 > stretched)
    area, error = ranked(upper, lower)
    pairs = (upper[:, None] > lower) + 0.5 * (upper[:, None] == lower)
    assert area == pytest.approx(pairs.mean())
    parts = [pairs.mean(axis=axis).var(ddof=1) / pairs.shape[1 - axis] for axis in (0, 1)]
    assert error == pytest.approx(np.sqrt(sum(parts)), abs=1e-12)
    assert ranked(-lower, -upper) == (pytest.approx(area), pytest.approx(error))


@pytest.mark.slow
def test_neither_the_names_of_labels_nor_the_scale_of_features_changes_the_choice():
    X, s = pu_data(6)
    options = {"params": {"kernel": "rbf"}, "grid": {"lam": [0.1, 1.0, 10.0]}, "route": "stages"}
    plain = tune("blssvm", X, s, **options)
    named = tune("blssvm", X, np.where(s == 1, "yes", "no"), **options)
    assert named.params == plain.params and named.score == plain.score
    shifted = tune("blssvm", 2.0 * X + 1.0, s, **options)  # the width of the kernel is relative
    assert shifted.score == pytest.approx(plain.score, abs=1e-12)
    assert shifted.params["threshold"] == pytest.approx(plain.params["threshold"], abs=1e-6)


@pytest.mark.slow
def test_two_processes_find_the_same_scores():
    X, s = pu_data(6)
    one = tune("glpual", X, s, grid=LAM, seed=2)
    two = tune("glpual", X, s, grid=LAM, seed=2, n_jobs=2)
    assert one.params == two.params
    for column, values in one.trials.columns.items():
        np.testing.assert_array_equal(two.trials.columns[column], values, err_msg=column)


def test_a_cut_is_subtracted_from_the_scores():
    X, s = pu_data(7)
    for kind, params in ((GLLC, {}), (NaiveSVC, {"prior": 0.3, "random_state": 0})):
        plain, moved = kind(**params).fit(X, s), kind(**params, threshold=0.25).fit(X, s)
        f = plain.decision_function(X)
        np.testing.assert_array_equal(moved.decision_function(X), f - 0.25)
        np.testing.assert_array_equal(moved.predict(X), f > 0.25)
        assert moved.positive_share_ == np.mean(f[s == 0] > 0.25)


@pytest.mark.slow
def test_a_given_cut_stays_and_is_no_parameter_of_a_grid():
    X, s = pu_data(8)
    result = tune("gllc", X, s, params={"threshold": 0.1}, grid={"lam": [0.1, 10.0]})
    assert result.params["threshold"] == 0.1 and "threshold" not in result.trials.columns
    free = tune("gllc", X, s, grid={"lam": [0.1, 10.0]})
    assert result.score == free.score and result.f1 <= free.f1
    with pytest.raises(UsageError, match="threshold: no parameter of a grid"):
        tune("gllc", X, s, grid={"threshold": [0.0, 1.0]})


@pytest.mark.slow
def test_all_fits_take_one_estimate_of_the_class_prior():
    X, s = pu_data(9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = tune("usmo", X, s, params={"random_state": 0}, grid={"lam": [0.01, 0.1]})
        for rule in ("puf", "f1"):
            by_other = tune("usmo", X, s, params={"random_state": 0}, grid={"lam": [0.1]}, rule=rule)
            assert by_other.params["prior"] == result.params["prior"]
    assert 0.02 <= result.params["prior"] <= 0.98
    assert tune("usmo", X, s, params={"prior": 0.3}, grid={"lam": [0.01, 0.1]}).params["prior"] == 0.3
    assert "prior" not in tune("gllc", X, s, grid={"lam": [0.1]}, rule="puf").params


@pytest.mark.slow
def test_the_estimator_of_the_prior_that_is_asked_for_is_taken_in_tuning_as_well():
    X, s = pu_data(9)
    km2 = {"prior_estimator": "km2", "kernel": "linear", "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimatedPriorWarning)
        # a rule that judges each fold apart lets every fit estimate, as the fits of a plain cross-validation would
        result = tune("cpb-glpual", X, s, params=km2, grid={"lam": [0.01, 0.1]}, rule="puf", cv_repeats=1, seed=3)
        assert "prior" not in result.params
        (folds,) = pu_folds(s, 4, 3)
        for lam, score in zip(result.trials.columns["lam"], result.trials.columns["score"], strict=True):
            model = CPBGLPUAL(**km2, lam=lam)
            by_fold = [puf_scorer(model.fit(X[train], s[train]), X[valid], s[valid]) for train, valid in folds]
            assert score == pytest.approx(np.mean(by_fold))
        pooled = tune("cpb-glpual", X, s, params=km2, grid={"lam": [0.01, 0.1]})
    assert pooled.params["prior"] == share_of_positives(X, s == 1, 0, "km2")
    assert pooled.params["prior"] != share_of_positives(X, s == 1, 0)


def test_a_method_without_a_cut_is_tuned_by_the_estimated_f1(monkeypatch):
    class Without(GLLC):
        def __init__(self, lam=1.0, pos_label=None):
            super().__init__(lam=lam, pos_label=pos_label)

    X, s = pu_data(9)
    monkeypatch.setattr("pucli.tuning.inputs.estimator_class", lambda _: Without)
    assert tune("gllc", X, s, grid={"lam": [0.1, 1.0]}).rule == "f1"
    with pytest.raises(UsageError, match="gllc has no parameter 'threshold'"):
        tune("gllc", X, s, grid={"lam": [0.1, 1.0]}, rule="pu-auc")


@pytest.mark.parametrize("method", ["gllc", "glpual"])
@pytest.mark.parametrize("kernel", [{}, RBF], ids=["linear", "rbf"])
@pytest.mark.parametrize("weight", [0.05, 4.0])
def test_counts_are_those_of_refits_whatever_the_weight_of_labeled_rows(method, kernel, weight):
    X, s = pu_data(3, n=60, m=2)
    folds, points, entry = pu_folds(s, 2, 0, 1), expand(LAM), get_method(method)
    fixed = kernel | ({"tol": 1e-10} if method == "glpual" else {})
    given = in_numbers(estimator_class(entry), {**fixed, "c_p": weight}, LAM, X, s == 1)
    counts = make_route("auto", entry, FoldedRows(X, s, folds), given, None).outcomes(points)
    called = refitted(method, X, s, folds, {**fixed, "c_p": weight}, points)[:, 0] > 0
    for k, (_, valid) in enumerate(folds[0]):
        p, u = (np.intersect1d(valid, np.flatnonzero(s == label)) for label in (1, 0))
        for point, found in zip(called, counts[:, 0, k], strict=True):
            assert found.tolist() == [point[p].sum(), len(p), point[u].sum(), len(u)]
