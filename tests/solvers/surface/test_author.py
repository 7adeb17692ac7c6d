"""EKF-GLPUAL by the updates of the author's scripts: what differs from the printed ones, and what does not."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pucli.estimators import EKFGLPUAL
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.graph import NO_EDGES
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.quadratic_surface import surface_features, surface_ridge
from pucli.solvers.surface.admm import shrink_groups
from pucli.solvers.surface.author import full_laplacian, shrink_by_one_norm, solve_surface_author
from tests.helpers import examples
from tests.oracles import clarabel


def drawn(seed=0, n=40, m=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    labeled = np.zeros(n, dtype=bool)
    labeled[np.argsort((X**2).sum(axis=1))[: n // 4]] = True
    return X, labeled


@examples(40)
@given(st.integers(0, 10_000), st.floats(0.01, 5.0))
def test_the_one_norm_drops_fewer_groups_than_the_printed_length(seed, c):
    d = np.random.default_rng(seed).normal(size=(6, 4))
    ours, printed = shrink_by_one_norm(d, c), shrink_groups(d, c)
    assert (np.abs(ours) >= np.abs(printed) - 1e-12).all() and (ours * d >= 0.0).all()
    alone = np.diag(d[:4, 0])  # a group with one coefficient has one size
    assert shrink_by_one_norm(alone, c) == pytest.approx(shrink_groups(alone, c))


def test_the_graph_joins_all_pairs_and_is_not_divided():
    X, _ = drawn()
    R, f = full_laplacian(X, 2.0), np.random.default_rng(1).normal(size=40)
    pairs = [np.exp(-((X[i] - X[j]) ** 2).sum() / 2.0) * (f[i] - f[j]) ** 2 for i in range(len(X)) for j in range(i)]
    assert f @ R @ f == pytest.approx(sum(pairs)) and R.sum(axis=1) == pytest.approx(0.0)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "as_scripts"), [(0, False), (1, True)])
def test_with_hardly_a_group_penalty_they_reach_the_minimum_on_the_full_graph(seed, as_scripts):
    X, labeled = drawn(seed)
    Z, G, R = with_intercept(surface_features(X)), surface_ridge(X), full_laplacian(X, 2.0)
    rows = GlobalLocalProblem(Z, labeled, NO_EDGES, 1.0, 1.0, 0.2)
    found = solve_surface_author(rows, G, R, 1e-9, mu=1.0, n_iter=4000, start_as_scripts=as_scripts).coef
    first, other = (solve_surface_author(rows, G, R, 1.0, n_iter=1, start_as_scripts=is_so) for is_so in (True, False))
    assert not np.allclose(first.coef, other.coef)
    w = cp.Variable(Z.shape[1])
    f = Z @ w
    goal = 0.5 * cp.quad_form(w[:-1], cp.psd_wrap(G)) + cp.sum(cp.pos(1 - f[labeled]))
    goal += 0.2 * cp.sum_squares(1 + f[~labeled]) + cp.quad_form(f, cp.psd_wrap(R))
    best = clarabel(goal, accuracy=1e-9)
    f = Z @ found
    value = 0.5 * found[:-1] @ G @ found[:-1] + np.maximum(1 - f[labeled], 0).sum()
    value += 0.2 * ((1 + f[~labeled]) ** 2).sum() + f @ R @ f
    assert value == pytest.approx(best, rel=1e-4)


def test_the_estimator_drops_features_and_says_that_nothing_is_proven():
    X, labeled = drawn(n=60, m=4)
    X[:, 0] *= 2
    labeled[:] = np.argsort(np.argsort(X[:, 0] ** 2)) < 15
    model = EKFGLPUAL(solver="author", sigma=2.0, mu=0.01, lam1=0.8, lam2=0.1, c_u=0.2, max_iter=300)
    model.fit(X, labeled.astype(int))
    assert model.n_iter_ == 300 and np.isnan(model.objective_) and np.isnan(model.dual_gap_)
    dropped = ~model.selected_
    assert dropped.any() and not dropped.all()
    assert (model.quadratic_[dropped] == 0.0).all() and (model.quadratic_[:, dropped] == 0.0).all()
    moved = X.copy()
    moved[:, dropped] += 3.0
    assert np.array_equal(model.decision_function(moved), model.decision_function(X))
