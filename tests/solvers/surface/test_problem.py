"""EKF-GLPUAL: the surface's features, cvxpy with Clarabel, group-lasso conditions, and no singular systems."""

import tracemalloc
import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from pucli.data import load_dataset
from pucli.estimators.base.data_defaults import L1_SHARE, l1_of_groups
from pucli.estimators.global_local.elastic import EKFGLPUAL
from pucli.methods import Method
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels import quadratic_surface
from pucli.solvers.kernels.graph import edge_weights, mutual_knn
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.quadratic_surface import (
    check_memory,
    n_surface_features,
    surface_coordinates,
    surface_features,
    surface_groups,
    surface_matrix,
    surface_ridge,
    surface_score,
)
from pucli.solvers.surface.admm import shrink_groups
from pucli.solvers.surface.problem import surface_bound, surface_objective, surface_problem
from pucli.solvers.surface.working_set import Penalties, Point, Tolerance, newton, solve_surface
from pucli.tuning.folds import pu_folds
from pucli.tuning.paths import surface as surface_path
from pucli.tuning.paths.surface import SurfacePath
from pucli.tuning.routes import GenericRoute
from pucli.tuning.search import tune
from tests.helpers import examples
from tests.oracles import clarabel

METHOD = Method("ekf-glpual", "pucli.estimators.global_local.elastic:EKFGLPUAL", "pu", "")


def rows_inside(seed, n=80, m=4, n_p=20):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    inside = np.argsort(np.sum(X[:, :2] ** 2, axis=1))[: n // 2]
    y = np.zeros(n)
    y[rng.permutation(inside)[:n_p]] = 1
    return X, y


def parts(X, y, lam2=0.01, c_p=1.0, c_u=0.1, sigma=1.0):
    graph = mutual_knn(X, 5)
    edges = graph.edges(sigma)
    Z, G = with_intercept(surface_features(X)), surface_ridge(X)
    return surface_problem(GlobalLocalProblem(Z, y == 1, edges, lam2, c_p, c_u), G)


def largest_lam1(X, y, c_u=0.1):
    return l1_of_groups(EKFGLPUAL(c_u=c_u), X, y == 1) / L1_SHARE


def optimum(X, y, lam1, lam2, c_p, c_u, sigma):
    """Solve (4.23) with the group penalty of (4.26), in the matrix A itself."""
    m = X.shape[1]
    graph = mutual_knn(X, 5)
    weight = edge_weights(graph, sigma)
    A, beta, b = cp.Variable((m, m), symmetric=True), cp.Variable(m), cp.Variable()
    f = cp.hstack([0.5 * cp.sum(cp.multiply(np.outer(x, x), A)) + x @ beta + b for x in X])
    goal = lam2 / 2 * cp.sum_squares(X @ A + np.ones((len(X), 1)) @ cp.reshape(beta, (1, m), order="C"))
    goal += lam1 / 2 * sum(cp.norm(cp.hstack([A[j], beta[j]])) for j in range(m))
    goal += c_p * cp.sum(cp.pos(1 - f[y == 1])) + c_u * cp.sum_squares(1 + f[y == 0])
    goal += cp.sum_squares(cp.multiply(np.sqrt(weight), f[graph.i] - f[graph.j]))
    return clarabel(goal, accuracy=1e-9)


@given(seed=st.integers(0, 1000), m=st.integers(1, 6))
@examples(20)
def test_features_ridge_and_groups_are_those_of_the_matrix_form(seed, m):
    rng = np.random.default_rng(seed)
    X, alpha = rng.normal(size=(9, m)), rng.normal(size=n_surface_features(m))
    A, beta = surface_matrix(alpha, m)
    np.testing.assert_array_equal(A, A.T)
    f = 0.5 * np.einsum("ij,jk,ik->i", X, A, X) + X @ beta
    np.testing.assert_allclose(surface_features(X) @ alpha, f, atol=1e-12)
    np.testing.assert_allclose(surface_score(X, A, beta, 2.0), f + 2.0, atol=1e-12)
    np.testing.assert_allclose(alpha @ surface_ridge(X) @ alpha, np.sum((X @ A + beta) ** 2), rtol=1e-10)
    for j, group in enumerate(surface_groups(m)):
        np.testing.assert_array_equal(alpha[group], np.append(A[j], beta[j]))
    some = np.flatnonzero(rng.random(m) < 0.6)
    inner = alpha[surface_coordinates(some, m)]
    A_some, beta_some = surface_matrix(inner, len(some))
    np.testing.assert_array_equal(A_some, A[np.ix_(some, some)])
    np.testing.assert_array_equal(beta_some, beta[some])


weights = st.sampled_from([0.01, 0.3, 10.0])


@given(seed=st.integers(0, 1000), lam1=weights, lam2=weights, c_u=st.sampled_from([0.01, 0.5]), sigma=weights)
@examples(6)
@pytest.mark.slow
def test_objective_is_clarabels_and_the_gap_is_a_bound(seed, lam1, lam2, c_u, sigma):
    X, y = rows_inside(seed, n=30, m=3, n_p=8)
    model = EKFGLPUAL(lam1=lam1, lam2=lam2, c_u=c_u, sigma=sigma, tol=1e-7).fit(X, y)
    best = optimum(X, y, lam1, lam2, 1.0, c_u, sigma)
    assert abs(model.objective_ - best) <= 1e-6 * best
    assert model.objective_ - best <= model.dual_gap_ + 1e-6 * best
    assert model.dual_gap_ <= 1e-7 * model.objective_


@given(
    seed=st.integers(0, 1000),
    lam1=st.sampled_from([1e-3, 0.1, 3.0, 20.0]),
    lam2=st.sampled_from([1e-4, 0.1, 100.0]),
    c_u=st.sampled_from([0.01, 0.5]),
)
@examples(10)
def test_group_lasso_conditions_hold(seed, lam1, lam2, c_u):
    """With the multipliers v: |v_j| <= lam1/2, v_j = lam1/2 alpha_[j] / |alpha_[j]| where it is not zero, and the
    gradient of the rest is -D'v (4.41). The multipliers settle after the objective: the tolerance is far below it."""
    X, y = rows_inside(seed, m=6)
    task = parts(X, y, lam2=lam2, c_u=c_u)
    fit = solve_surface(task, lam1, tol=1e-10)
    assert fit.gap <= 1e-7 * fit.objective
    groups = surface_groups(6)
    gradient = task.A @ fit.coef + task.b + task.Zp.T @ fit.dual
    np.add.at(gradient, groups.ravel(), fit.multipliers.ravel())
    scale = np.abs(task.b).max() + np.abs(task.Zp).sum(axis=0).max()
    assert np.max(np.abs(gradient)) <= 1e-3 * scale
    radius = 0.5 * lam1
    assert np.all(np.linalg.norm(fit.multipliers, axis=1) <= radius * 1.02 + 1e-9)
    for j in range(6):
        alpha = fit.coef[groups[j]]
        if np.linalg.norm(alpha) > 1e-3:
            np.testing.assert_allclose(
                fit.multipliers[j], radius * alpha / np.linalg.norm(alpha), atol=0.03 * radius + 1e-6
            )


@given(seed=st.integers(0, 1000), lam1=st.sampled_from([0.01, 1.0, 10.0]))
@examples(10)
def test_bound_holds_at_any_point(seed, lam1):
    X, y = rows_inside(seed)
    task = parts(X, y)
    best = solve_surface(task, lam1, tol=1e-8)
    rng = np.random.default_rng(seed)
    w = best.coef + rng.normal(size=len(best.coef)) * rng.choice([0.0, 1e-3, 1.0])
    p = np.clip(best.dual + rng.normal(size=len(best.dual)) * 0.3, -1.0, 0.0)
    v = best.multipliers + rng.normal(size=best.multipliers.shape) * rng.choice([0.0, 0.1])
    bound, _, _ = surface_bound(task, w, p, v, lam1, rng.random(4) < 0.5)
    assert bound <= best.objective + 1e-7 * best.objective
    assert surface_objective(task, w, lam1) >= best.objective - best.gap - 1e-9


@given(seed=st.integers(0, 1000), lam1=st.sampled_from([0.05, 2.0]))
@examples(8)
def test_newton_steps_alone_reach_the_same_optimum(seed, lam1):
    X, y = rows_inside(seed)
    task = parts(X, y)
    fit = solve_surface(task, lam1, tol=1e-8)
    start = Point(np.zeros_like(fit.coef), np.zeros_like(fit.dual), np.zeros_like(fit.multipliers))
    found, _ = newton(task, lam1, Tolerance(1e-8, 0.0), 2000, start, Penalties(1.0, lam1))
    assert np.isclose(surface_objective(task, found.w, lam1), fit.objective, rtol=1e-6)


def test_the_grid_route_gives_the_counts_of_single_fits():
    X, y = rows_inside(5, n=90, n_p=30)
    s = y.astype(np.int8)
    folds = pu_folds(s, 3, 0, 1)
    points = [
        {"lam1": lam1, "lam2": 0.01, "c_u": c_u, "sigma": sigma}
        for lam1 in (0.1, 3.0, 30.0)
        for c_u in (0.05, 0.5)
        for sigma in (0.3, 5.0)
    ]
    path = SurfacePath(METHOD, X, s, folds, {"tol": 1e-8}, None).outcomes(points)
    single = GenericRoute(METHOD, X, s, folds, {"tol": 1e-8}).outcomes(points)
    np.testing.assert_array_equal(path, single)


def test_equal_problems_of_a_grid_are_solved_once(monkeypatch):
    """Far below the distances between rows every sigma gives the same problem, and none of those above does."""
    X, y = rows_inside(5, n=60, n_p=20)
    s, calls = y.astype(np.int8), []
    monkeypatch.setattr(surface_path, "solve_surface", lambda *a, **k: calls.append(a[1]) or solve_surface(*a, **k))
    monkeypatch.setattr(surface_path, "limit", lambda *_: 500)
    points = [{"lam1": lam1, "lam2": 0.01, "sigma": v} for lam1 in (0.1, 3.0) for v in (1e-6, 1e-5, 1e-4, 0.3, 5.0)]
    route = SurfacePath(METHOD, X, s, pu_folds(s, 2, 0, 1), {"c_u": 0.1}, None)
    counts = route.outcomes(points)
    assert len(calls) == 3 * 2 * 2  # sigmas that differ, ridges, folds
    for v, number in ((1e-6, 0), (1e-4, 2), (5.0, 4)):
        alone = route.outcomes([point for point in points if point["sigma"] == v])
        np.testing.assert_array_equal(alone, counts[[number, number + 5]])


def test_features_of_zero_groups_do_not_enter_the_score():
    X, y = rows_inside(1, n=300, m=8, n_p=75)
    model = EKFGLPUAL(lam1=0.6 * largest_lam1(X, y), sigma=8.0).fit(X, y)
    assert model.selected_[:2].all() and not model.selected_[2:].any()
    assert not model.quadratic_[~model.selected_].any() and not model._coef[~model.selected_].any()
    other = X.copy()
    other[:, ~model.selected_] = 99.0
    np.testing.assert_array_equal(model.decision_function(other), model.decision_function(X))


@given(seed=st.integers(0, 1000), c_u=st.sampled_from([0.02, 0.5]))
@examples(10)
def test_the_model_is_constant_from_twenty_times_the_default_of_lam1(seed, c_u):
    X, y = rows_inside(seed)
    task = parts(X, y, c_u=c_u)
    fit = solve_surface(task, largest_lam1(X, y, c_u) * 1.0001)
    assert fit.n_iter == 0 and fit.converged and not fit.coef[:-1].any()


def test_a_warm_start_does_not_change_the_result():
    X, y = rows_inside(2, n=200, m=8, n_p=50)
    task = parts(X, y)
    fit, cold_steps, warm_steps = None, 0, 0
    for lam1 in (20.0, 15.0, 10.0, 7.0, 5.0):
        cold = solve_surface(task, lam1, tol=1e-8)
        fit = solve_surface(task, lam1, tol=1e-8, start=fit)
        np.testing.assert_allclose(fit.objective, cold.objective, rtol=1e-7)
        cold_steps, warm_steps = cold_steps + cold.n_iter, warm_steps + fit.n_iter
    assert warm_steps <= 1.2 * cold_steps


@pytest.mark.parametrize("lam1", [0.5, 5.0])
def test_printed_admm_reaches_the_same_objective(lam1):
    X, y = rows_inside(3)
    ours = EKFGLPUAL(lam1=lam1, lam2=0.01).fit(X, y)
    printed = EKFGLPUAL(lam1=lam1, lam2=0.01, solver="admm", mu=0.5).fit(X, y)
    assert printed.converged_
    assert abs(ours.objective_ - printed.objective_) <= ours.dual_gap_ + printed.dual_gap_ + 1e-9


@given(seed=st.integers(0, 100), c=st.floats(0.1, 3))
@examples(15)
def test_group_shrinkage_minimizes_its_subproblem(seed, c):
    rng = np.random.default_rng(seed)
    d = rng.normal(size=(1, 3))
    t = shrink_groups(d, c)
    best = c * np.linalg.norm(t) + 0.5 * np.sum((t - d) ** 2)
    for _ in range(200):
        other = t + rng.normal(size=(1, 3)) * rng.choice([1e-3, 0.1, 1.0])
        assert best <= c * np.linalg.norm(other) + 0.5 * np.sum((other - d) ** 2) + 1e-12


def awkward():
    X, y = rows_inside(4, n=120, m=5, n_p=30)
    rng = np.random.default_rng(0)
    yield "constant feature", np.column_stack([X, np.full(120, 3.0)]), y
    yield "equal features", np.column_stack([X, X]), y
    yield "unscaled", X * np.array([1.0, 1e3, 1e-2, 5e4, 10.0]) + 7, y
    yield "heavy tails", rng.standard_t(2, size=(120, 5)), y
    yield "few rows", X[:12], np.r_[np.ones(4), np.zeros(8)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "X", "y"), list(awkward()), ids=[name for name, _, _ in awkward()])
@pytest.mark.filterwarnings("ignore:EKFGLPUAL stopped")
def test_no_singular_systems(name, X, y):
    for lam1 in (0.01, 1.0):
        model = EKFGLPUAL(lam1=lam1, lam2=1e-4, max_iter=40).fit(X, y)
        assert np.all(np.isfinite(model.quadratic_))
        # squares of features of scales 1e-2 to 5e4 leave too few digits for the gap: then a warning says so
        assert model.converged_ or name == "unscaled"


def optimum_in_scaled_features(X, y, lam1, lam2, c_u):
    """As `optimum`, for features of very different sizes: in A' = SAS and beta' = S beta the numbers are near one."""
    m, size = X.shape[1], np.abs(X).mean(axis=0)
    graph, scaled = mutual_knn(X, 5), X / size
    weight = edge_weights(graph, 1.0)
    A, beta, b = cp.Variable((m, m), symmetric=True), cp.Variable(m), cp.Variable()
    f = cp.hstack([0.5 * cp.sum(cp.multiply(np.outer(x, x), A)) + x @ beta + b for x in scaled])
    gradients = (scaled @ A + np.ones((len(X), 1)) @ cp.reshape(beta, (1, m), order="C")) @ np.diag(1 / size)
    A_raw, beta_raw = cp.multiply(np.outer(1 / size, 1 / size), A), cp.multiply(1 / size, beta)
    goal = lam2 / 2 * cp.sum_squares(gradients)
    goal += lam1 / 2 * sum(cp.norm(cp.hstack([A_raw[j], beta_raw[j]])) for j in range(m))
    goal += cp.sum(cp.pos(1 - f[y == 1])) + c_u * cp.sum_squares(1 + f[y == 0])
    goal += cp.sum_squares(cp.multiply(np.sqrt(weight), f[graph.i] - f[graph.j]))
    return clarabel(goal, accuracy=1e-9)


@pytest.mark.slow
def test_unscaled_features_reach_the_minimum_and_warn_if_it_is_not_proven():
    X, y = next((X, y) for name, X, y in awkward() if name == "unscaled")
    with pytest.warns(ConvergenceWarning, match=r"proven to a relative 0\.\d+, not to tol=1e-06: scale the features"):
        model = EKFGLPUAL(lam1=1e-3, lam2=100.0, c_u=0.1).fit(X, y)
    assert not model.converged_ and model.dual_gap_ > 1e-6 * model.objective_
    best = optimum_in_scaled_features(X, y, 1e-3, 100.0, 0.1)
    assert abs(model.objective_ - best) <= 1e-6 * best
    proven = EKFGLPUAL(lam1=1.0, lam2=1e-4, c_u=0.1).fit(X, y)
    assert proven.converged_
    best = optimum_in_scaled_features(X, y, 1.0, 1e-4, 0.1)
    assert abs(proven.objective_ - best) <= 1e-6 * best
    scaled = EKFGLPUAL(lam1=1.0, lam2=1e-4, c_u=0.1).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    assert scaled.converged_


@pytest.mark.parametrize("name", ["pb", "avila"])
@pytest.mark.parametrize("raw", [False, True])
def test_the_data_sets_with_singular_systems_in_the_thesis(name, raw, data_cache, mirror):
    data = load_dataset(name, mirror=str(mirror.parent), offline=True)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(data.y))[:300]
    X, positive = data.X[rows], np.flatnonzero(data.y[rows] == 1)
    if not raw:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.zeros(300)
    y[positive[: len(positive) // 3]] = 1
    for lam1, c_u in ((0.1, 0.3), (10.0, 0.05)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = EKFGLPUAL(lam1=lam1, lam2=1e-4, c_u=c_u).fit(X, y)
        assert np.all(np.isfinite(model.decision_function(X)))
        assert model.converged_ or raw


def test_too_many_features_are_refused_with_the_bytes_they_take():
    with pytest.raises(ValueError, match=r"3,654 coefficients; fitting it to 100 rows takes up to 1,294,162,400 bytes"):
        check_memory(100, 84, limit=1e8)
    check_memory(100, 20, limit=1e8)


def test_the_memory_limit_of_a_container_is_used(monkeypatch, tmp_path):
    monkeypatch.setattr("pucli.core.memory.CONTAINER", ((tmp_path / "memory.max", tmp_path / "memory.current"),))
    (tmp_path / "memory.max").write_text("100000000\n")
    with pytest.raises(ValueError, match="50,000,000 may be used"):
        check_memory(100, 84)
    (tmp_path / "memory.max").write_text("max\n")
    check_memory(100, 20)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["working-set", "admm", "tune"])
@pytest.mark.filterwarnings("ignore:EKFGLPUAL stopped")
def test_a_fit_takes_no_more_memory_than_predicted(how):
    X, y = rows_inside(0, n=200, m=34, n_p=50)
    size = n_surface_features(34) + 1
    stated = 8.0 * (quadratic_surface.MATRICES * size**2 + quadratic_surface.ROW_MATRICES * len(X) * size)

    def fit(X, y):
        if how == "tune":
            tune("ekf-glpual", X, y, params={"max_iter": 20}, grid={"lam1": [1e-3], "lam2": [1.0], "c_u": [0.1]})
        else:
            EKFGLPUAL(lam1=1e-3, solver=how, max_iter=20).fit(X, y)

    fit(*rows_inside(0, m=2))  # modules and compiled code are loaded before
    tracemalloc.start()
    try:
        fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.3 * stated < peak <= stated


def test_bad_weights_are_refused():
    X, y = rows_inside(0)
    for wrong in ({"lam1": 0.0}, {"lam2": -1.0}, {"c_p": 0.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            EKFGLPUAL(**wrong).fit(X, y)
