"""CPB-GLPUAL: each printed update against a numerical minimizer, stationarity, monotone steps, and brute force."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import pucli.solvers.cpb.dc as cpb_solver
from pucli.estimators.global_local.cpb import CPBGLPUAL
from pucli.solvers.cpb.admm import _push_from_zero, _update_a, solve_cpb_admm, solve_cpb_thesis
from pucli.solvers.cpb.dc import solve_cpb
from pucli.solvers.cpb.problem import CPBProblem, cpb_loss
from pucli.solvers.kernels.graph import edge_weights, mutual_knn, squared_distances
from pucli.solvers.kernels.low_rank import rbf_from_distances
from pucli.solvers.row_losses.losses import intercept_and_gap
from pucli.solvers.row_losses.smoothed import WIDTHS, smoothed_slopes
from tests import oracles
from tests.helpers import examples
from tests.oracles import clarabel, with_graph


def problem(seed, n=60, m=3, n_p=15, shift=1.0):
    return oracles.problem(seed, n, m, n_p, shift=shift, moved=2 * n_p, scales=(0.5, 2.0))


def global_minimum(Z, labeled, edges, prior, lam):
    """Minimize (5.8) over every choice of sides: on each, -|1 + f| is linear on the rows that stay on that side."""
    i, j, weight = edges
    n_p, n_u = labeled.sum(), (~labeled).sum()
    w = cp.Variable(Z.shape[1])
    f = Z @ w
    side = cp.Parameter(n_p)
    goal = lam / 2 * cp.sum_squares(w[:-1]) + cp.sum_squares(cp.multiply(np.sqrt(weight), f[i] - f[j]))
    goal += prior / n_p * (cp.sum(cp.pos(1 - f[labeled])) - cp.sum(cp.multiply(side, 1 + f[labeled])))
    goal += cp.sum(cp.abs(1 + f[~labeled])) / n_u
    same_side = cp.multiply(side, 1 + f[labeled]) >= 0
    values = []
    for signs in itertools.product([-1.0, 1.0], repeat=int(n_p)):
        side.value = np.array(signs)
        values.append(clarabel(goal, [same_side], accuracy=None))
    return min(values)


@pytest.mark.parametrize("seed", range(2))
def test_a_small_problem_is_solved_to_its_global_minimum(seed):
    Z, labeled, edges = with_graph(*problem(seed, n=24, m=2, n_p=4))
    best = global_minimum(Z, labeled, edges, 0.4, 0.05)
    assert solve_cpb(CPBProblem(Z, labeled, edges, 0.4, 0.05)).objective <= best + 1e-5


@given(
    seed=st.integers(0, 1000),
    prior=st.sampled_from([0.1, 0.4, 0.8]),
    lam=st.sampled_from([1e-3, 0.1, 10.0]),
    shift=st.sampled_from([0.0, 1.0, 3.0]),
)
@examples(20)
def test_steps_decrease_the_objective_and_end_at_a_stationary_point(seed, prior, lam, shift):
    X, y = problem(seed, shift=shift)
    Z, labeled, edges = with_graph(X, y)
    fit = solve_cpb(CPBProblem(Z, labeled, edges, prior, lam))
    assert fit.converged
    assert np.all(np.diff(fit.objectives) <= 1e-12)
    assert np.isclose(fit.objective, fit.objectives[-1], rtol=1e-9, atol=1e-9)
    assert np.isclose(fit.objective, CPBProblem(Z, labeled, edges, prior, lam).objective(fit.coef), rtol=1e-12)
    # the convex majorant at the result, which touches J there, is minimal to the residual: J falls nowhere nearby
    side = np.where(Z[labeled] @ fit.coef >= -1, 1.0, -1.0)
    rng = np.random.default_rng(seed)
    for step in (1e-3, 1e-1, 1.0):
        moved = fit.coef + step * rng.normal(size=len(fit.coef))
        assert majorant(moved, Z, labeled, edges, prior, lam, side) >= fit.objective - fit.residual - 1e-6


def majorant(w, Z, labeled, edges, prior, lam, side):
    f = Z[labeled] @ w
    return CPBProblem(Z, labeled, edges, prior, lam).objective(w) + prior * np.mean(np.abs(1 + f) - side * (1 + f))


def least_majorant(Z, labeled, edges, prior, lam, side):
    i, j, weight = edges
    w = cp.Variable(Z.shape[1])
    f = Z @ w
    goal = lam / 2 * cp.sum_squares(w[:-1]) + cp.sum_squares(cp.multiply(np.sqrt(weight), f[i] - f[j]))
    p, u = f[labeled], f[~labeled]
    goal += prior * cp.sum(cp.pos(1 - p) - cp.multiply(side, 1 + p)) / labeled.sum()
    goal += cp.sum(cp.abs(1 + u)) / (~labeled).sum()
    return clarabel(goal, accuracy=None)


@pytest.mark.parametrize("max_iter", [1, 2, 100])
@pytest.mark.parametrize("seed", [0, 1, 2, 23, 28, 44])
def test_the_residual_is_the_possible_decrease_of_the_majorant(seed, max_iter):
    """Also if the steps end before a stationary point; the fit is then not converged."""
    Z, labeled, edges = with_graph(*problem(seed, n=80, m=11, n_p=20, shift=0.0))
    for prior, lam in ((0.5, 1e-3), (0.9, 0.1)):
        fit = solve_cpb(CPBProblem(Z, labeled, edges, prior, lam), max_iter=max_iter)
        side = np.where(Z[labeled] @ fit.coef >= -1, 1.0, -1.0)
        fall = fit.objective - least_majorant(Z, labeled, edges, prior, lam, side)
        scale = 1.0 + abs(fit.objective)
        assert -1e-6 * scale <= fall <= fit.residual + 1e-6 * scale
        assert fit.residual <= fall + 1e-3 * scale
        assert fit.converged or max_iter < 100


def test_a_convex_problem_that_is_solved_loosely_makes_the_residual_larger():
    """What is not proven to be out of reach counts as reachable."""
    rng = np.random.default_rng(0)
    labeled = np.arange(12) < 5
    losses = cpb_solver._majorant_losses(np.ones(5), labeled, 0.4)
    point, new = (cpb_solver._Convex(rng.normal(size=12), 0.0, np.zeros(12), h, 0.0) for h in (2.0, 0.1))
    exact = cpb_solver._possible_fall(losses, point, new)
    assert exact > 0
    assert cpb_solver._possible_fall(losses, point, new._replace(gap=0.3)) == pytest.approx(exact + 0.3)


@pytest.mark.parametrize(
    ("seed", "n", "m", "shift", "prior", "lam"), [(0, 40, 2, 0.3, 0.4, 0.05), (11, 60, 6, 0.0, 0.5, 1e-3)]
)
def test_the_better_of_both_starts_is_taken(seed, n, m, shift, prior, lam, monkeypatch):
    """Of the first problem it is the first start, of the second the other."""
    Z, labeled, edges = with_graph(*oracles.problem(seed, n=n, m=m, n_p=15, shift=shift))
    problem_ = CPBProblem(Z, labeled, edges, prior, lam)
    both, starts = solve_cpb(problem_).objective, cpb_solver._starts(Z[:, :-1], labeled)
    alone = []
    for one in starts:
        monkeypatch.setattr(cpb_solver, "_starts", lambda F, labeled, one=one: [one])
        alone.append(solve_cpb(problem_).objective)
    assert np.sign(alone[0] - alone[1]) == (1.0 if seed else -1.0) and both == pytest.approx(min(alone), rel=1e-6)


@pytest.mark.parametrize("prior", [0.3, 0.7])
def test_features_beyond_the_solver_give_the_best_constant(prior, monkeypatch):
    monkeypatch.setattr(cpb_solver, "WORSE", 0.0)
    Z, labeled, edges = with_graph(*problem(0))
    rows = CPBProblem(Z, labeled, edges, prior, 0.1)
    found = solve_cpb(rows)
    assert not found.converged and found.objective == pytest.approx(rows.objective(found.coef))
    assert found.objective == pytest.approx(2.0 * min(prior, 1.0 - prior))


def test_too_few_steps_are_not_reported_as_converged():
    Z, labeled, edges = with_graph(*problem(23, n=80, m=11, n_p=20, shift=0.0))
    early = solve_cpb(CPBProblem(Z, labeled, edges, 0.5, 1e-3), max_iter=1)
    assert not early.converged and early.residual > 0.1
    with pytest.warns(ConvergenceWarning):
        CPBGLPUAL(lam=1e-3, prior=0.5, kernel="linear", max_iter=1).fit(*problem(23, n=80, m=11, n_p=20, shift=0.0))


@pytest.mark.slow
@given(seed=st.integers(0, 1000), mu=st.sampled_from([0.01, 0.1]), lam=st.sampled_from([0.01, 1.0]))
@examples(5)
def test_no_worse_than_the_printed_admm(seed, mu, lam):
    Z, labeled, edges = with_graph(*problem(seed))
    steps = solve_cpb(CPBProblem(Z, labeled, edges, 0.3, lam))
    admm = solve_cpb_admm(CPBProblem(Z, labeled, edges, 0.3, lam), mu, max_iter=800)
    assert steps.objective <= admm.objective + 1e-5


@pytest.mark.parametrize("dense_rows", [4000, 0])
@pytest.mark.parametrize("offset", [1e5, 1e8])
def test_rows_far_from_the_origin_have_the_solution_of_centered_ones(offset, dense_rows, monkeypatch):
    monkeypatch.setattr(cpb_solver, "DENSE_ROWS", dense_rows)
    X, y = problem(6, n=120, m=4, n_p=30)
    near, far = CPBGLPUAL(prior=0.3).fit(X, y), CPBGLPUAL(prior=0.3).fit(X + offset, y)
    assert far.converged_
    np.testing.assert_allclose(far.objective_, near.objective_, rtol=1e-6)
    np.testing.assert_allclose(far.decision_function(X + offset), near.decision_function(X), atol=1e-5)


def test_admm_reaches_the_same_point_on_an_easy_problem():
    Z, labeled, edges = with_graph(*problem(1, n=80, shift=2.0))
    steps = solve_cpb(CPBProblem(Z, labeled, edges, 0.25, 0.1))
    admm = solve_cpb_admm(CPBProblem(Z, labeled, edges, 0.25, 0.1), 0.05, tol=1e-7, max_iter=50_000)
    assert admm.converged
    np.testing.assert_allclose(admm.objective, steps.objective, rtol=1e-4)


def test_the_two_convex_solvers_agree(monkeypatch):
    Z, labeled, edges = with_graph(*problem(3, n=120, m=4, n_p=40))
    dense = solve_cpb(CPBProblem(Z, labeled, edges, 0.4, 0.1))
    monkeypatch.setattr(cpb_solver, "DENSE_ROWS", 0)
    sparse = solve_cpb(CPBProblem(Z, labeled, edges, 0.4, 0.1))
    np.testing.assert_allclose(sparse.objective, dense.objective, rtol=1e-5)


@given(seed=st.integers(0, 10_000), m=st.integers(1, 6), prior=st.sampled_from([0.2, 0.6]))
@examples(25)
def test_the_smoothed_minimum_is_within_the_bound_of_its_width(seed, m, prior):
    """At the smoothed minimum a row's Fenchel gap is at most (upper - lower) width / 8."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, m))
    labeled = np.arange(80) < 20
    X[labeled] += 1.0
    losses = cpb_solver._majorant_losses(np.where(rng.random(20) < 0.8, 1.0, -1.0), labeled, prior)
    slopes = smoothed_slopes(X, losses.lower, losses.upper, losses.left, WIDTHS, 200)
    assert np.all(slopes >= losses.lower) and np.all(slopes <= losses.upper)
    assert abs(slopes.sum()) < 1e-4
    _, gap = intercept_and_gap(losses, 0.0, slopes, X @ (X.T @ slopes))
    assert gap <= np.sum(losses.upper - losses.lower) * WIDTHS[-1] / 8 + 1e-5


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_the_starting_point_does_not_matter(shift, monkeypatch):
    Z, labeled, edges = with_graph(*problem(11, n=120, m=3, n_p=30, shift=shift))
    near = solve_cpb(CPBProblem(Z, labeled, edges, 0.4, 0.1))
    monkeypatch.setattr(cpb_solver._Problem, "near", lambda self, side, dual: dual)
    np.testing.assert_allclose(solve_cpb(CPBProblem(Z, labeled, edges, 0.4, 0.1)).objective, near.objective, rtol=1e-7)


@given(d=st.floats(-5, 5), c=st.floats(0.01, 4))
def test_update_of_a_on_labeled_rows_minimizes_its_subproblem(d, c):
    a = float(_push_from_zero(np.array(d), c))
    grid = np.linspace(-12, 12, 4801)
    assert -c * abs(a) + 0.5 * (a - d) ** 2 <= np.min(-c * np.abs(grid) + 0.5 * (grid - d) ** 2) + 1e-12


@given(seed=st.integers(0, 100), mu=st.sampled_from([0.01, 0.3]), prior=st.sampled_from([0.2, 0.7]))
@examples(10)
def test_update_of_a_minimizes_the_augmented_lagrangian(seed, mu, prior):
    """(5.15) with the weights of (5.9): the printed threshold for unlabeled rows, prior/(mu n_p), would not."""
    rng = np.random.default_rng(seed)
    labeled = np.arange(12) < 4
    f, u = rng.normal(size=12) * 3, rng.normal(size=12) * mu
    a = _update_a(1 + u / mu + f, labeled, prior, mu)
    weight = np.where(labeled, -prior / 4, 1 / 8)
    grid = np.linspace(-30, 30, 6001)

    def lagrangian(a, k):
        return weight[k] * np.abs(a) + u[k] * (1 + f[k] - a) + mu / 2 * (1 + f[k] - a) ** 2

    for k in range(12):
        assert lagrangian(a[k], k) <= lagrangian(grid, k).min() + 1e-12


@pytest.mark.parametrize("width", [0.5, 2.0])
def test_thesis_form_is_the_derived_iteration_and_ignores_sigma(width):
    """(5.31)-(5.33): with Phi = phi B^-1 phi' the update of beta is that of Omega; every vector in full."""
    X, y = problem(7, n=40)
    labeled = y == 1
    K = rbf_from_distances(squared_distances(X), width)
    prior, mu = 0.3, 0.02
    n_p, n = labeled.sum(), len(y)
    one_p = labeled.astype(float)
    u_h, u_a, f = np.zeros(n_p), np.zeros(n), np.zeros(n)
    for _ in range(30):
        a = _update_a(1 + u_a / mu + f, labeled, prior, mu)
        d, c = 1 + u_h / mu - f[labeled], prior / (n_p * mu)
        h = np.where(d > c, d - c, np.where(d < 0, d, 0.0))
        head = np.zeros(n)
        head[labeled] = u_h + mu * (1 - h)
        m2, M22 = head.sum() - u_a.sum() - mu * (1 - a).sum(), mu * (n_p + n)
        omega = head - mu * m2 / M22 * one_p - (u_a + mu * (1 - a) + mu * m2 / M22)
        g = K @ omega
        f = g + m2 / M22 - (mu * g.sum() + mu * g[labeled].sum()) / M22
        u_h = u_h + mu * (1 - f[labeled] - h)
        u_a = u_a + mu * (1 + f - a)
    result = solve_cpb_thesis(K, labeled, prior, mu, 30)
    np.testing.assert_allclose(K @ result.coef + result.intercept, f, atol=1e-9)
    model = CPBGLPUAL(prior=0.3, kernel="rbf", form="thesis", width=width, mu=mu)
    scores = [model.set_params(sigma=sigma).fit(X, y).decision_function(X) for sigma in (0.1, 100.0)]
    np.testing.assert_array_equal(*scores)


def test_rbf_model_scores_new_rows_as_it_scored_them_in_training():
    X, y = problem(5)
    for model in (CPBGLPUAL(prior=0.3, lam=0.1), CPBGLPUAL(prior=0.3, lam=0.1, form="thesis")):
        model.fit(X, y)
        np.testing.assert_allclose(model.decision_function(X[::-1])[::-1], model.decision_function(X), atol=1e-8)
        assert model.residual_ >= 0 and np.isnan(model.dual_gap_)
    value = model.set_params(form="rkhs").fit(X, y)
    graph = mutual_knn(X, 5)
    f = value.decision_function(X)
    similarity = np.sum(edge_weights(graph, 1.0) * (f[graph.i] - f[graph.j]) ** 2)
    expected = 0.05 * value._coef @ value._coef + cpb_loss(f, y == 1, 0.3) + similarity
    assert np.isclose(value.objective_, expected, rtol=1e-6)


@pytest.mark.parametrize(("estimator", "scale"), [("km2", 1), ("bbe", 4)])  # best bins need more labeled rows
@pytest.mark.slow
def test_prior_is_estimated_when_it_is_not_given(estimator, scale):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(4, 1, (150 * scale, 2)), rng.normal(0, 1, (150 * scale, 2))]
    y = np.r_[np.ones(50 * scale), np.zeros(250 * scale)]
    model = CPBGLPUAL(prior_estimator=estimator, random_state=0).fit(X, y)
    assert abs(model.prior_ - 0.4) < 0.1
    truth = np.r_[np.ones(150 * scale), np.zeros(150 * scale)]
    assert np.mean(model.predict(X) == truth) > 0.9


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.2, 1.7])
def test_a_prior_outside_the_unit_interval_is_refused(prior):
    with pytest.raises(ValueError, match="prior"):
        CPBGLPUAL(prior=prior).fit(*problem(0))


def test_thesis_form_needs_a_kernel():
    with pytest.raises(ValueError, match="set kernel='rbf'"):
        CPBGLPUAL(prior=0.3, kernel="linear", form="thesis").fit(*problem(0))
