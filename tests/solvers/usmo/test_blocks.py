"""The USMO solvers: against cvxpy, against each other, and through conditions checked from outside."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.row_losses.cache import RowStore
from pucli.solvers.row_losses.linear import solve_linear
from pucli.solvers.row_losses.losses import Scale, optimal_intercept
from pucli.solvers.usmo import blocks
from pucli.solvers.usmo.blocks import KernelProblem, _DualState, solve_kernel
from pucli.solvers.usmo.problem import double_hinge_losses, double_hinge_problem
from pucli.solvers.usmo.start import one_class_start, subsample_start, uniform_start
from tests.helpers import examples
from tests.oracles import clarabel

KERNELS = {"linear": Kernel("linear"), "rbf": Kernel("rbf", 1.5), "polynomial": Kernel("polynomial", 1.0, 2, 1.0)}


def make(seed, n=60, p=12, m=3, prior=0.4, lam=0.05, kernel="rbf"):
    """Two Gaussians; some unlabeled rows occur twice."""
    rng = np.random.default_rng(seed)
    center = np.ones(m) / np.sqrt(m)
    signs = np.where(rng.random(n) < prior, 1.0, -1.0)
    X_u = rng.normal(size=(n, m)) + signs[:, None] * center
    X_u[: n // 10] = X_u[n // 10 : n // 10 + n // 10]
    X = np.concatenate([rng.normal(size=(p, m)) + center, X_u])
    return double_hinge_problem(X, np.arange(p + n) < p, KERNELS[kernel], prior, lam)


def solve(problem, start=None, tol=1e-9, **options):
    start = uniform_start(problem.losses, problem.total) if start is None else start
    return solve_kernel(KernelProblem.of(problem), start, tol=tol, **options)


def primal(problem, sigma, intercept):
    """The documented objective, from coefficients, with dense matrices."""
    X = np.concatenate([problem.X_p, problem.X_u])
    alpha = np.concatenate([np.full(len(problem.X_p), problem.c1), -sigma])
    K = problem.kernel.matrix(X, X)
    f = K @ alpha + intercept
    f_p, f_u = f[: len(problem.X_p)], f[len(problem.X_p) :]
    hinge = np.maximum.reduce([0 * f_u, 0.5 + 0.5 * f_u, f_u])
    return -problem.c1 * f_p.sum() + problem.c2 * hinge.sum() + 0.5 * alpha @ K @ alpha


def cvxpy_value(problem):
    """The optimum of the primal over the span of the kernel, by Clarabel through cvxpy."""
    import cvxpy as cp

    X = np.concatenate([problem.X_p, problem.X_u])
    values, vectors = np.linalg.eigh(problem.kernel.matrix(X, X))
    keep = values > 1e-10 * values.max()
    features = vectors[:, keep] * np.sqrt(values[keep])
    p = len(problem.X_p)
    w, b = cp.Variable(features.shape[1]), cp.Variable()
    f = features @ w + b
    hinge = cp.maximum(0, 0.5 + 0.5 * f[p:], f[p:])
    objective = -problem.c1 * cp.sum(f[:p]) + problem.c2 * cp.sum(hinge) + 0.5 * cp.sum_squares(w)
    return clarabel(objective, accuracy=1e-11)


@pytest.mark.slow
@examples(12)
@given(
    st.integers(0, 10_000),
    st.sampled_from(list(KERNELS)),
    st.sampled_from([0.01, 0.1, 0.5, 0.9, 0.99]),
    st.sampled_from([1e-3, 0.05, 1.0]),
)
def test_objective_equals_cvxpy_on_random_problems(seed, kernel, prior, lam):
    problem = make(seed, prior=prior, lam=lam, kernel=kernel)
    optimum = cvxpy_value(problem)
    solution = solve(problem)
    scale = max(abs(optimum), 1e-3 * problem.trivial)
    assert solution.converged
    assert solution.objective == pytest.approx(optimum, abs=1e-6 * scale)
    assert primal(problem, solution.dual, solution.intercept) == pytest.approx(solution.objective, abs=1e-8 * scale)


@examples(12)
@given(
    st.integers(0, 10_000), st.sampled_from([0.05, 0.5, 0.95]), st.sampled_from([1e-4, 0.01, 1.0]), st.integers(1, 8)
)
def test_linear_path_equals_cvxpy_and_the_pairs(seed, prior, lam, m):
    problem = make(seed, prior=prior, lam=lam, m=m, kernel="linear")
    solution = solve_linear(
        problem.X_u,
        problem.losses,
        problem.total,
        problem.c1 * problem.X_p.sum(axis=0),
        tol=1e-8,
        scale=Scale(problem.trivial),
    )
    optimum = cvxpy_value(problem)
    scale = max(abs(optimum), 1e-3 * problem.trivial)
    assert solution.converged
    assert solution.objective == pytest.approx(optimum, abs=1e-6 * scale)
    w = problem.c1 * problem.X_p.sum(axis=0) - solution.dual @ problem.X_u
    assert np.allclose(w, solution.coef, atol=1e-6 * (1 + np.abs(w).max()))
    assert primal(problem, solution.dual, solution.intercept) == pytest.approx(solution.objective, abs=1e-7 * scale)


@pytest.mark.parametrize(("kernel", "tol"), [*((kernel, 1e-11) for kernel in KERNELS), ("rbf", 0.1)])
def test_kkt_and_tau_optimality_hold_from_outside(kernel, tol):
    problem = make(3, n=150, kernel=kernel, lam=0.01)
    solution = solve(problem, tol=tol)
    assert (solution.violation > 1e-3) == (tol > 1e-3)
    sigma, c2 = solution.dual, problem.c2
    f = problem.a_X - problem.kernel.matrix(problem.X_u, problem.X_u) @ sigma + solution.intercept
    assert np.allclose(f, solution.scores, atol=1e-7)
    assert sigma.sum() == pytest.approx(problem.total, rel=1e-10)
    assert np.all((sigma >= 0) & (sigma <= c2))
    tau = max(solution.violation, 1e-6)
    edge = 1e-9 * c2
    # (3.11): delta < c2 below the kink means f <= -1; above it f >= 1; delta > 0 means -1 <= f <= 1
    assert np.all(f[sigma < c2 / 2 - edge] <= -1 + tau)
    assert np.all(f[sigma > c2 / 2 + edge] >= 1 - tau)
    inside = (sigma > edge) & (sigma < c2 - edge)
    assert np.all(np.abs(f[inside]) <= 1 + tau)
    # (13), from the sets D1 (delta < c2 below the kink), D2 (above it) and D3 (delta > 0), without the intercept
    m1 = f[sigma < c2 / 2].max(initial=-np.inf)
    m2 = f[sigma > c2 / 2].min(initial=np.inf)
    m3_low, m3_high = f[inside].min(), f[inside].max()
    assert max(m1 - m3_low, m3_high - m2, m1 - m2 + 2) <= solution.violation + 1e-8


def test_result_does_not_depend_on_cache_shrinking_start_or_row_order(monkeypatch):
    problem = make(5, n=900, p=40, lam=1e-3)
    reference = solve(problem, tol=1e-8)
    objective = reference.objective
    others = [
        solve(problem, tol=1e-8, cache_bytes=1.0),
        solve(problem, tol=1e-8, cache_bytes=1e9),
        solve(problem, one_class_start(problem, 0.4), tol=1e-8),
        solve(problem, subsample_start(problem, np.random.default_rng(0), cache_bytes=1e6), tol=1e-8),
    ]
    order = np.random.default_rng(1).permutation(900)
    shuffled = problem._replace(X_u=problem.X_u[order], a_X=problem.a_X[order])
    others.append(solve(shuffled, tol=1e-8))
    monkeypatch.setattr(blocks, "SHRINK_EVERY", 10**9)
    others.insert(0, solve(problem, tol=1e-8))
    for other in others:
        assert other.converged
        assert other.objective == pytest.approx(objective, rel=2e-8)
    assert np.allclose(others[-1].scores, reference.scores[order], atol=1e-2)


def test_shrinking_leaves_rows_out_and_rebuilds_f_for_them(monkeypatch):
    restored = []
    original = blocks._DualState.restore
    monkeypatch.setattr(blocks._DualState, "restore", lambda self: (restored.append(self.active), original(self))[1])
    problem = make(7, n=2500, p=50, m=6, lam=1e-3)
    solution = solve(problem, tol=1e-7)
    assert restored
    assert min(restored) < 2500
    f = problem.a_X - problem.kernel.combination(problem.X_u, problem.X_u, solution.dual) + solution.intercept
    assert np.allclose(f, solution.scores, atol=1e-8)


def test_rows_that_cannot_violate_are_left_out_and_come_back_exact():
    """Left out in two steps, so that G of some rows is newer than when it was last exact."""
    problem = make(7, n=600, p=30, m=4, lam=1e-3)
    rows = RowStore(problem.X_u, problem.kernel, 1e7, 256)
    start = uniform_start(problem.losses, problem.total)
    state = _DualState(rows, problem.losses, problem.a_X, start)
    sizes = []
    while len(sizes) < 2:
        highest, lowest = state.critical_values()
        state.solve_block(highest, lowest)
        before, up, down = state.active, state.up.copy(), state.down.copy()
        state.shrink(highest, lowest)
        if state.active < before:
            sizes.append(state.active)
            assert before - state.active == np.sum((up[:before] > highest) & (down[:before] < lowest))
    assert state.frozen_sum() + state.active_part()[0].sum() == pytest.approx(problem.total)
    state.restore()
    sigma, G = state.in_order()
    exact = problem.kernel.combination(problem.X_u, problem.X_u, sigma) - problem.a_X
    np.testing.assert_allclose(G, exact, atol=1e-9)


@pytest.mark.parametrize("prior", [0.2, 0.7])
def test_the_trivial_value_is_that_of_the_best_constant(prior):
    problem = make(0, prior=prior)
    values = [
        -problem.total * b + problem.c2 * 60 * max(0.0, 0.5 + 0.5 * b, b) for b in np.linspace(-3.0, 3.0, 13).tolist()
    ]
    assert problem.trivial == pytest.approx(min(values))


def test_rows_are_not_changed_unless_they_may_be_overwritten():
    problem = make(8, n=300, lam=1e-3)
    before = problem.X_u.copy()
    reference = solve(problem)
    assert np.array_equal(problem.X_u, before)
    in_place = solve(problem._replace(X_u=np.asfortranarray(before)), overwrite_X=True)
    assert in_place.objective == pytest.approx(reference.objective, rel=1e-8)
    assert np.allclose(in_place.dual, reference.dual, atol=1e-2 * problem.c2)


@pytest.mark.parametrize("start", ["uniform", "one-class", "subsample"])
@pytest.mark.parametrize("prior", [0.001, 0.4, 0.999])
def test_starts_are_feasible(start, prior):
    problem = make(2, n=4500 if start == "subsample" else 80, p=5, prior=prior)
    sigma = {
        "uniform": lambda: uniform_start(problem.losses, problem.total),
        "one-class": lambda: one_class_start(problem, prior),
        "subsample": lambda: subsample_start(problem, np.random.default_rng(0), cache_bytes=1e6),
    }[start]()
    assert sigma.sum() == pytest.approx(problem.total, rel=1e-9)
    assert np.all((sigma >= 0) & (sigma <= problem.c2 * (1 + 1e-12)))


def test_all_rows_equal():
    X = np.ones((30, 2))
    for kernel in KERNELS.values():
        problem = double_hinge_problem(X, np.arange(30) < 4, kernel, 0.3, 0.1)
        solution = solve(problem, tol=1e-8)
        assert solution.converged
        # f is one constant z: the risk is -prior z + max(0, 1/2 + z/2, z) plus a ridge, and z = -1 costs no ridge
        assert solution.objective == pytest.approx(cvxpy_value(problem), rel=1e-6)


def test_one_labeled_row_and_few_unlabeled_ones():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3):
        X = rng.normal(size=(n + 1, 2))
        problem = double_hinge_problem(X, np.arange(n + 1) < 1, KERNELS["rbf"], 0.5, 0.1)
        solution = solve(problem, tol=1e-9)
        assert solution.converged
        assert solution.objective == pytest.approx(cvxpy_value(problem), rel=1e-6)


def test_a_total_outside_the_box_is_an_error_with_a_way_out():
    with pytest.raises(ValueError, match="prior"):
        double_hinge_problem(np.zeros((5, 1)), np.arange(5) < 2, KERNELS["rbf"], 1.2, 0.1)


def test_the_trace_ends_at_the_solution_and_the_dual_never_decreases():
    solution = solve(make(4, n=700, lam=1e-3), tol=1e-7)
    seconds, dual, gap = solution.trace.T
    assert len(seconds) >= solution.n_iter
    assert np.all(np.diff(seconds) >= 0)
    assert np.all(np.diff(dual) >= -1e-9 * np.abs(dual).max())
    assert dual[-1] + gap[-1] == pytest.approx(solution.objective, rel=1e-9)


@examples(50)
@given(st.integers(0, 10_000), st.integers(1, 30), st.floats(0.01, 0.99))
def test_best_intercept_minimizes_the_primal_over_it(seed, n, prior):
    g = np.random.default_rng(seed).normal(size=n) * 3
    losses, total = double_hinge_losses(n, 1.0 / n), prior

    def value(b):
        return -total * b + np.maximum.reduce([0 * g, 0.5 + 0.5 * (g + b), g + b]).sum() / n

    candidates = np.concatenate([-1 - g, 1 - g])
    assert value(optimal_intercept(losses, total, g)) <= min(map(value, candidates)) + 1e-12
