from types import SimpleNamespace

import numpy as np
import pytest

from pucli.methods import get_method
from pucli.solvers.kernels.graph import squared_distances
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.low_rank import landmark_map, rbf_features, rbf_from_distances
from pucli.tuning import stages, tune
from pucli.tuning.folds import pu_folds
from pucli.tuning.grids import expand
from pucli.tuning.paths.glpual import _labeled_last
from pucli.tuning.paths.hinges import BSVMPath
from pucli.tuning.routes import GenericRoute
from pucli.tuning.scorers import PointScores


def rows(n, m=3, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    X = rng.normal(size=(n, m)) + np.where(positive, 0.9, -0.6)[:, None]
    return X, (positive & (rng.random(n) < share)).astype(int)


GRID = {"lam": [0.1, 1.0, 10.0, 100.0], "c_u": [0.3, 0.05]}


@pytest.mark.parametrize("method", ["glpual", "gllc", "blssvm", "bsvm", "usmo"])
@pytest.mark.slow
def test_stages_choose_the_same_point_as_the_full_kernel(method, monkeypatch):
    monkeypatch.setattr(stages, "WHOLE_KERNEL_ROWS", 100)
    monkeypatch.setattr(stages, "FINALISTS", 3)
    X, s = rows(240)
    params, grid = {"kernel": "rbf", "width": 2.0}, GRID
    if method == "usmo":
        params |= {"prior": 0.3}
        grid = {"lam": [10.0**-k for k in range(8)]}
    whole = tune(method, X, s, params=params, grid=grid)
    staged = tune(method, X, s, params=params, grid=grid, route="stages")
    assert {**staged.params, "threshold": 0} == {**whole.params, "threshold": 0}
    assert staged.params["threshold"] == pytest.approx(whole.params["threshold"], abs=1e-3)
    assert staged.score == pytest.approx(whole.score)
    assert "3 of them on the whole kernel" in staged.how
    trials = [trial["stage"] for trial in staged.trials]
    assert trials.count("screen") == 5 and trials.count("grid") == 3


@pytest.mark.slow
def test_a_slow_method_first_compares_by_one_cross_validation(monkeypatch):
    monkeypatch.setattr(stages, "WHOLE_KERNEL_ROWS", 100)
    X, s = rows(240)
    found = tune("bsvm", X, s, params={"kernel": "rbf"}, grid=GRID, route="stages", cv_repeats=3)
    assert "by one cross-validation" in found.how
    assert found.n_fits == 4 * (8 - stages.CUBIC_FINALISTS) + 12 * stages.CUBIC_FINALISTS
    seen = [trial["n_labeled"] + trial["n_unlabeled"] for trial in found.trials]
    assert seen == [240] * (8 - stages.CUBIC_FINALISTS) + [720] * stages.CUBIC_FINALISTS


@pytest.mark.slow
def test_the_route_of_bsvm_gives_the_counts_of_its_estimator():
    X, s = rows(160, m=6)
    folds, method = pu_folds(s, 3, 0, 1), get_method("bsvm")
    points = expand({"lam": [1e-3, 1e-1, 1.0, 100.0], "c_u": [0.5, 0.05], "c_p": [1.0, 2.0]})
    fixed = {"kernel": "linear", "tol": 1e-9}
    generic = GenericRoute(method, X, s, folds, fixed).outcomes(points)
    np.testing.assert_array_equal(BSVMPath(method, X, s, folds, fixed).outcomes(points), generic)


@pytest.mark.slow
def test_few_rows_are_not_searched_in_stages():
    X, s = rows(120)
    plain = tune("glpual", X, s, grid=GRID)
    staged = tune("glpual", X, s, grid=GRID, route="stages")
    assert staged.how == "" and staged.params == plain.params
    np.testing.assert_array_equal(staged.trials.columns["score"], plain.trials.columns["score"])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["glpual", "svc-naive"])
def test_many_rows_are_searched_on_nested_samples(method, monkeypatch):
    monkeypatch.setattr(stages, "WHOLE_LINEAR_ROWS", 300)
    monkeypatch.setattr(stages, "SAMPLE_ROWS", (300, 600))
    monkeypatch.setattr(stages, "LABELED_ROWS", 20)
    monkeypatch.setattr(stages, "FINALISTS", 2)
    X, s = rows(1200)
    grid = GRID if method == "glpual" else {"C": [0.01, 0.1, 1.0, 10.0, 100.0], "kernel": ["linear"]}
    found = tune(method, X, s, grid=grid, route="stages")
    assert "300 of 1200 rows, then on 600 of 1200 rows" in found.how
    finalizts = [trial for trial in found.trials if trial["stage"] == "grid"]
    assert len(finalizts) == 2
    assert all(trial["n_labeled"] + trial["n_unlabeled"] == 2 * 1200 for trial in finalizts)
    exact = {tuple(t["params"].values()): t["score"] for t in tune(method, X, s, grid=grid).trials}
    assert all(trial["score"] == exact[tuple(trial["params"].values())] for trial in finalizts)
    assert found.score >= 0.98 * max(exact.values())


def test_samples_are_nested_and_rows_represent_those_left_out():
    _, s = rows(5000, share=0.1)
    staged = stages.StagedPoints(None, None, s, {}, 4, 1, 3, None)
    small, large = staged.sample(1000), staged.sample(2500)
    assert set(small.rows) <= set(large.rows)
    assert np.count_nonzero(s[small.rows]) == min(np.count_nonzero(s), stages.LABELED_ROWS)
    for sample in (small, large):
        kept = s[sample.rows] == 1
        assert kept.sum() / sample.shares["labeled"] == pytest.approx(np.count_nonzero(s))
        assert (~kept).sum() / sample.shares["unlabeled"] == pytest.approx(np.count_nonzero(s == 0))
        assert len(kept) / sample.shares["all"] == pytest.approx(len(s))


def test_a_stage_takes_the_rows_groups_weights_and_repeats_of_its_sample(monkeypatch):
    X, s = rows(3000, share=0.8)
    groups = np.arange(3000) // 3
    fixed, made = {"c_u": 0.2}, []
    monkeypatch.setattr(stages, "make_route", lambda kind, *given: made.append(given))
    monkeypatch.setattr(stages, "LandmarkRoute", lambda *given: made.append(given))
    for name, (once, rank, repeats) in {"puf": (True, None, 1), "pu-auc": (False, 64, 2)}.items():
        rule = stages.Rule(name, "unlabeled", {})
        staged = stages.StagedPoints(get_method("glpual"), X, s, fixed, 4, 2, 0, rule, 3, groups)
        sample = staged.sample(1500)
        staged.route(stages.Stage(1500, rank, 1, once), sample)
        if rank is None:
            _, (X_here, s_here, folds), weights, _, n_jobs, scores = made[-1]
        else:
            _, X_here, s_here, folds, weights, width, n_jobs, scores = made[-1]
            assert width == rank and weights["lam"] == staged.defaults["lam"]
        np.testing.assert_array_equal(X_here, X[sample.rows])
        np.testing.assert_array_equal(s_here, s[sample.rows])
        assert len(folds) == repeats and n_jobs == 3 and scores == (name == "pu-auc")
        for train, valid in (fold for repeat in folds for fold in repeat):
            assert not set(groups[sample.rows][train]) & set(groups[sample.rows][valid])
        # rows of the sample stand for those left out, by given weights as by default ones
        assert weights["c_u"] * sample.shares["unlabeled"] == pytest.approx(0.2)
        assert weights["c_p"] * sample.shares["labeled"] == pytest.approx(1.0)
        assert staged.weighed({"lam": 1.0}, sample) == {"lam": 1.0}


def test_the_points_that_go_on_are_those_with_the_highest_scores_and_the_choice_of_the_rule():
    """The rule chooses the largest ridge within one standard error of the best bound; its score is the lowest."""
    points = [{"lam": lam} for lam in (1.0, 2.0, 3.0, 4.0)]
    score, error = np.array([1.0, 0.99, 0.98, 0.97]), np.array([0.05, 0.3, 0.05, 0.05])
    scores = PointScores(score, error, np.zeros(4, dtype=bool))
    found = SimpleNamespace(scores=lambda rule: scores)

    def leading(name, keep):
        rule = stages.Rule(name, "unlabeled", {"lam": 1})
        return stages.StagedPoints(None, None, None, {}, 4, 1, 0, rule).leading(points, found, keep)

    assert leading("puf", 2) == [0, 1]
    assert leading("puf-lower-1se", 2) == [0, 3] and leading("puf-lower-1se", 3) == [0, 2, 3]
    scores.constant[0] = True  # a model of one class comes last
    assert leading("puf-lower-1se", 3) == [1, 2, 3]


@pytest.mark.parametrize("features", [12, 3])
def test_rotated_features_have_the_same_inner_products(features):
    rng = np.random.default_rng(4)
    Z, Z_valid = with_intercept(rng.normal(size=(30, features))), with_intercept(rng.normal(size=(9, features)))
    labeled = np.arange(30) % 6 == 0
    assert _labeled_last(Z, Z_valid, labeled, 1)[2] == 0  # it would not pay
    turned, turned_valid, k = _labeled_last(Z, Z_valid, labeled, 50)
    assert k == max(features - 5, 0) and not turned[labeled, :k].any()
    np.testing.assert_allclose(turned @ turned.T, Z @ Z.T, atol=1e-12)
    np.testing.assert_allclose(turned_valid @ turned.T, Z_valid @ Z.T, atol=1e-12)
    np.testing.assert_array_equal(turned[:, -1], 1.0)


def test_landmarks_give_the_nystroem_kernel():
    X, _ = rows(400)
    K = rbf_from_distances(squared_distances(X), 2.0)
    found = landmark_map(X, 2.0, 40)
    p = found.pivots
    nystroem = K[:, p] @ np.linalg.solve(K[np.ix_(p, p)], K[p])
    np.testing.assert_allclose(found.L @ found.L.T, nystroem, atol=1e-8)
    assert found.residual == pytest.approx(np.max(1.0 - np.diagonal(nystroem)), abs=1e-10)
    np.testing.assert_allclose(rbf_features(X, X[p], found.factor, 2.0), found.L, atol=1e-12)


@pytest.mark.parametrize("method", ["glpual", "gllc"])
def test_many_labeled_rows_give_the_same_counts(method, monkeypatch):
    X, s = rows(400, m=26, share=0.8)
    few = tune(method, X, s, grid=GRID | {"sigma": [1.0, 100.0]}, rule="puf")
    monkeypatch.setattr("pucli.tuning.paths.glpual.MANY_LABELED", 50)
    many = tune(method, X, s, grid=GRID | {"sigma": [1.0, 100.0]}, rule="puf")
    for name, column in few.trials.columns.items():
        np.testing.assert_allclose(many.trials.columns[name], column, rtol=1e-9)
