"""The route of EKF-GLPUAL: solutions taken from neighbors are solutions, and columns share the outcomes of folds."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pucli.methods import get_method
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.graph import mutual_knn
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.quadratic_surface import surface_features, surface_ridge
from pucli.solvers.surface.problem import surface_objective, surface_problem
from pucli.solvers.surface.working_set import solve_surface
from pucli.tuning.folds import pu_folds
from pucli.tuning.paths import surface as surface_path
from pucli.tuning.routes import FoldedRows, make_route
from tests.helpers import examples

DECADES = [1e-4, 1e-2, 1.0, 100.0, 1e4]


def rows_inside(seed, n=60, m=3, n_p=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    inside = np.argsort(np.sum(X[:, :2] ** 2, axis=1))[: n // 2]
    s = np.zeros(n, dtype=np.int8)
    s[rng.permutation(inside)[:n_p]] = 1
    return X, s


def points_of(lam1, lam2, sigma, c_u, tol=1e-6, c_p=1.0):
    fixed = {"c_p": c_p, "n_neighbors": 5, "tol": tol, "max_iter": None}
    grid = itertools.product(lam1, lam2, sigma, c_u)
    return [dict(zip(("lam1", "lam2", "sigma", "c_u"), values, strict=True)) | fixed for values in grid]


def optimum(X, s, point):
    Z, edges = with_intercept(surface_features(X)), mutual_knn(X, 5).edges(point["sigma"])
    task = surface_problem(
        GlobalLocalProblem(Z, s == 1, edges, point["lam2"], point["c_p"], point["c_u"]), surface_ridge(X)
    )
    return task, Z, solve_surface(task, point["lam1"], tol=1e-11)


@pytest.mark.parametrize("score_error", [0.0, 0.02, 0.2])
@given(seed=st.integers(0, 1000))
@examples(3)
@pytest.mark.slow
def test_every_solution_of_a_grid_is_within_its_tolerance(score_error, seed):
    X, s = rows_inside(seed)
    fold = surface_path._Fold(X, s == 1, score_error)
    points = points_of(DECADES, DECADES, [0.01, 1.0, 10.0, 1e4], [0.01, 0.5], tol=1e-5)
    for k, point in enumerate(sorted(points, key=fold.order)):
        fit = fold.solution(point)
        if k % 5:
            continue
        task, Z, best = optimum(X, s, point)
        value = surface_objective(task, fit.coef, point["lam1"])
        allowed = max(score_error**2 * point["c_u"] * np.sum(s == 0), 1e-5 * value)
        assert value - best.objective <= allowed * (1 + 1e-6)
        assert fold.last.bound <= best.objective * (1 + 1e-9)
        assert value - fold.last.bound <= allowed * (1 + 1e-6)
        apart = (Z @ (fit.coef - best.coef))[s == 0]
        assert np.sum(apart**2) <= (allowed + best.gap) / point["c_u"] * (1 + 1e-6)


@pytest.mark.slow
def test_most_points_of_a_large_grid_need_no_fit(monkeypatch):
    X, s = rows_inside(1)
    calls = []
    monkeypatch.setattr(surface_path, "solve_surface", lambda *a: calls.append(a[1]) or solve_surface(*a))
    monkeypatch.setattr(surface_path, "limit", lambda *_: 500)
    points = points_of([10.0**k for k in range(-4, 5)], [10.0**k for k in range(-4, 5)], DECADES, [0.05, 0.5])
    numbers = []
    for score_error in (0.0, 0.02):
        calls.clear()
        fold = surface_path._Fold(X, s == 1, score_error)
        for point in sorted(points, key=fold.order):
            fold.solution(point)
        numbers.append(len(calls))
    assert numbers[1] < numbers[0] < len(points) / 2


def test_neighbors_are_those_with_the_same_graph_and_weights():
    """Bounds hold along sigma, lam2, c_u and lam1 only: other numbers of neighbors start anew."""
    X, s = rows_inside(2)
    points = points_of([0.1, 3.0], [0.01], [1.0, 5.0], [0.1])
    points = [{**p, "n_neighbors": k, "c_p": c} for p in points for k in (2, 9) for c in (0.1, 2.0)]
    fold = surface_path._Fold(X, s == 1, 0.0)
    for point in sorted(points, key=fold.order):
        fit = fold.solution(point)
        Z, edges = with_intercept(surface_features(X)), mutual_knn(X, point["n_neighbors"]).edges(point["sigma"])
        task = surface_problem(
            GlobalLocalProblem(Z, s == 1, edges, point["lam2"], point["c_p"], point["c_u"]), surface_ridge(X)
        )
        best = solve_surface(task, point["lam1"], tol=1e-10)
        assert surface_objective(task, fit.coef, point["lam1"]) <= best.objective * (1 + 2e-6)


def test_a_second_column_takes_the_outcomes_of_the_first(monkeypatch):
    X, s = rows_inside(3)
    points = [{"lam1": a, "lam2": b, "sigma": 1.0, "c_u": 0.1} for a in (0.1, 3.0) for b in (0.01, 1.0)]
    method, cache = get_method("ekf-glpual"), {}
    once, thrice = pu_folds(s, 2, 0, 1), pu_folds(s, 2, 0, 3)
    first = make_route("path", method, FoldedRows(X, s, once), {}, cache).outcomes(points)
    alone = make_route("path", method, FoldedRows(X, s, thrice), {}, None).outcomes(points)
    fitted = []
    solved = surface_path._Fold.solution
    monkeypatch.setattr(surface_path._Fold, "solution", lambda fold, point: fitted.append(1) or solved(fold, point))
    second = make_route("path", method, FoldedRows(X, s, thrice), {}, cache).outcomes(points)
    assert len(fitted) == 4 * len(points)  # the folds of the second and third cross-validation
    np.testing.assert_array_equal(second, alone)
    np.testing.assert_array_equal(second[:, :1], first)
