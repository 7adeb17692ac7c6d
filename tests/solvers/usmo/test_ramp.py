"""Ramp loss by the concave-convex procedure: monotone, majorized, stationary, and never beaten by a local search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from pucli.estimators.unbiased.ramp import STARTS, RampPU
from pucli.estimators.unbiased.usmo import USMO
from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.row_losses.losses import loss_values
from pucli.solvers.usmo.ramp import RampProblem, _tangent_losses, ramp, solve_ramp
from tests.helpers import examples


def make(seed, n=80, p=15, m=2, prior=0.4):
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n) < prior, 1.0, -1.0)
    X = np.concatenate([rng.normal(size=(p, m)) + 1.0, rng.normal(size=(n, m)) + signs[:, None]])
    return X, np.arange(n + p) < p


def objective(X, labeled, kernel, prior, lam, weights, intercept):
    K = kernel.matrix(X, X)
    f = K @ weights + intercept
    c1, c2 = prior / (2 * lam * labeled.sum()), 1 / (2 * lam * (~labeled).sum())
    return 2 * c1 * ramp(f[labeled]).sum() + c2 * ramp(-f[~labeled]).sum() + 0.5 * weights @ K @ weights


@examples(30)
@given(st.integers(0, 10_000))
def test_tangent_losses_majorize_the_ramp_and_touch_it(seed):
    rng = np.random.default_rng(seed)
    f, z, labeled = rng.normal(size=40) * 2, rng.normal(size=40) * 3, rng.random(40) < 0.5
    c1, c2 = 0.7, 0.3
    losses = _tangent_losses(f, labeled, c1, c2)

    def true(v):
        return np.where(labeled, 2 * c1 * ramp(v), c2 * ramp(-v))

    rise = loss_values(losses, z) - loss_values(losses, f)
    assert np.all(true(f) + rise >= true(z) - 1e-12)


@examples(10)
@given(st.integers(0, 10_000), st.sampled_from(["linear", "rbf"]), st.sampled_from([1e-3, 0.01, 0.1]))
def test_objective_falls_and_is_the_documented_one(seed, name, lam):
    X, labeled = make(seed)
    kernel = Kernel(name, 1.0)
    solution = solve_ramp(RampProblem(X, labeled, kernel, 0.4, lam), tol=1e-6)
    assert solution.converged
    assert np.all(np.diff(solution.objectives) <= 0)
    value = objective(X, labeled, kernel, 0.4, lam, solution.weights, solution.intercept)
    assert value == pytest.approx(solution.objective, rel=1e-6)
    assert 0 <= solution.residual <= 1e-6 * max(solution.objective, 1.0 / lam)


def test_the_solution_is_stationary():
    X, labeled = make(1)
    solution = solve_ramp(RampProblem(X, labeled, Kernel("linear"), 0.4, 0.01), tol=1e-8)
    w = solution.weights @ X

    def value(v):
        f = X @ v[:2] + v[2]
        c1, c2 = 0.4 / (0.02 * labeled.sum()), 1 / (0.02 * (~labeled).sum())
        return 2 * c1 * ramp(f[labeled]).sum() + c2 * ramp(-f[~labeled]).sum() + 0.5 * v[:2] @ v[:2]

    x0 = np.append(w, solution.intercept)
    simplex = np.vstack([x0, x0 + 1e-4 * np.eye(3)])
    found = minimize(value, x0, method="Nelder-Mead", options={"initial_simplex": simplex, "maxiter": 60})
    assert found.fun >= solution.objective * (1 - 1e-5)


def test_estimator_keeps_labels_and_residual():
    X, labeled = make(0)
    model = RampPU(prior=0.4, width=1.0).fit(X, np.where(labeled, "yes", "a"))
    assert set(model.predict(X)) <= {"yes", "a"}
    assert np.isnan(model.dual_gap_)
    assert model.converged_
    assert model.objectives_[-1] == model.objective_


@examples(12)
@given(st.integers(0, 10_000), st.sampled_from(["linear", "rbf"]), st.sampled_from([1e-3, 0.03]))
def test_from_any_scores_it_falls_to_a_stationary_point(seed, name, lam):
    X, labeled = make(seed)
    kernel, start = Kernel(name, 1.0), 3.0 * np.random.default_rng(seed).normal(size=len(X))
    before = start.copy()
    solution = solve_ramp(RampProblem(X, labeled, kernel, 0.4, lam), tol=1e-6, start=start)
    assert (start == before).all()
    assert solution.converged and np.isfinite(solution.objectives).all() and len(solution.objectives)
    assert np.all(np.diff(solution.objectives) <= 0)
    value = objective(X, labeled, kernel, 0.4, lam, solution.weights, solution.intercept)
    assert value == pytest.approx(solution.objective, rel=1e-6)
    # the scores that it ends at are where it stays
    f = kernel.matrix(X, X) @ solution.weights + solution.intercept
    again = solve_ramp(RampProblem(X, labeled, kernel, 0.4, lam), tol=1e-6, start=f)
    assert again.objective == pytest.approx(solution.objective, rel=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
def test_where_it_starts_decides_where_it_ends(kernel):
    X, labeled = make(4)
    params = {"prior": 0.4, "kernel": kernel, "width": 0.5, "lam": 1e-4, "degree": 2}
    ends = {init: RampPU(init=init, random_state=0, **params).fit(X, labeled) for init in STARTS}
    assert all(model.converged_ for model in ends.values())
    assert len({round(model.objective_, 3) for model in ends.values()}) > 1
    again = RampPU(init="random", random_state=0, **params).fit(X, labeled)
    assert again.objective_ == ends["random"].objective_


def test_from_the_double_hinge_it_improves_on_the_ramp_of_that_solution():
    X, labeled = make(2)
    params = {"prior": 0.4, "kernel": "rbf", "width": 1.0, "lam": 1e-3}
    convex = USMO(**params).fit(X, labeled)
    c1, c2 = 0.4 / (2e-3 * labeled.sum()), 1 / (2e-3 * (~labeled).sum())
    f = convex.decision_function(X)
    K, dual = Kernel("rbf", 1.0).matrix(convex.support_vectors_, convex.support_vectors_), np.ravel(convex.dual_coef_)
    there = 2 * c1 * ramp(f[labeled]).sum() + c2 * ramp(-f[~labeled]).sum() + 0.5 * dual @ K @ dual
    assert RampPU(init="double-hinge", **params).fit(X, labeled).objective_ < there


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_first_objective_is_that_of_zero_if_it_starts_there(kernel):
    X, labeled = make(6)
    model = RampPU(prior=0.4, kernel=kernel, width=1.0, lam=0.01).fit(X, labeled)
    # R(0) = 1/2: prior / (2 lam) + 1 / (4 lam)
    assert model.objectives_[0] == pytest.approx(0.4 / 0.02 + 0.25 / 0.01)
    assert len(model.objectives_) > 1
    stays = RampPU(prior=0.5, kernel=kernel, width=0.5, lam=1e3).fit(X, labeled)
    assert stays.converged_ and len(stays.objectives_) >= 1 and np.isfinite(stays.objective_)


@pytest.mark.parametrize("init", ["random", "double-hinge"])
def test_one_step_from_given_scores_proves_nothing(init):
    X, labeled = make(1)
    with pytest.warns(ConvergenceWarning, match="RampPU"):
        early = RampPU(prior=0.4, kernel="linear", lam=1e-3, init=init, random_state=0, max_iter=1).fit(X, labeled)
    assert not early.converged_ and early.residual_ == np.inf


@pytest.mark.slow
def test_a_start_at_the_double_hinge_follows_the_seed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4300, 2)) + 2.0 * (np.arange(4300) < 900)[:, None]
    labeled = np.arange(4300) < 150
    ends = []
    for seed in (1, 2):
        np.random.seed(seed)
        ends.append(
            RampPU(prior=0.2, lam=1e-3, width=1.0, init="double-hinge", random_state=0).fit(X, labeled).objective_
        )
    assert ends[0] == ends[1]
