"""Every update of the printed ADMMs against a numerical minimizer of its sub-problem.

Each method's augmented Lagrangian is written down from the splitting, and Clarabel minimizes it over one block after
the other, in the printed order; the solver's iterates must be the same, iteration by iteration.
"""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from pucli.solvers.cpb.admm import solve_cpb_admm
from pucli.solvers.cpb.problem import CPBProblem
from pucli.solvers.elastic.admm import solve_elastic_admm
from pucli.solvers.glpual.admm import solve_glpual_admm
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.quadratic_surface import surface_features, surface_groups, surface_ridge
from pucli.solvers.surface.admm import solve_surface_admm
from tests import oracles
from tests.oracles import clarabel

ITERATIONS = 4


def problem(seed):
    X, y = oracles.problem(seed, n=16, m=2, n_p=5, shift=0.7, scales=(1.0, 1.0))
    _, labeled, edges = oracles.with_graph(X, y, sigma=2.0, n_neighbors=3)
    return X, labeled, edges


def similarity(f, edges):
    i, j, weight = edges
    return cp.sum_squares(cp.multiply(np.sqrt(weight), f[i] - f[j]))


def coupling(multiplier, residual, mu):
    """What holds a constraint `residual = 0` in the augmented Lagrangian."""
    return cp.sum(cp.multiply(multiplier, residual)) + mu / 2 * cp.sum_squares(residual)


def alternate(lagrangian, blocks, order, constraints, multipliers, mu, record):
    """Minimize over the blocks in `order`, then move each multiplier by mu times its residual; return the records."""
    seen = []
    for _ in range(ITERATIONS):
        for name in order:
            free = cp.Variable(blocks[name].shape)
            parts = {**blocks, name: free}
            clarabel(lagrangian(parts, multipliers), accuracy=1e-12)
            blocks = {**blocks, name: np.asarray(free.value)}
        for name, constraint in constraints.items():
            multipliers = {**multipliers, name: multipliers[name] + mu * np.asarray(constraint(blocks))}
        seen.append(record(blocks, multipliers))
    return seen


@pytest.mark.parametrize("mu", [0.3, 2.0])
def test_glpual(mu):
    """(3.9), (3.13), (3.6)."""
    X, labeled, edges = problem(0)
    Z, lam, c_p, c_u = with_intercept(X), 0.4, 1.3, 0.2
    n_p = labeled.sum()

    def lagrangian(x, y):
        f = Z @ x["w"]
        value = lam / 2 * cp.sum_squares(x["w"][:-1]) + c_p * cp.sum(cp.pos(x["h"]))
        value += c_u * cp.sum_squares(1 + f[~labeled]) + similarity(f, edges)
        return value + coupling(y["u"], 1 - f[labeled] - x["h"], mu)

    expected = alternate(
        lagrangian,
        {"w": np.zeros(3), "h": np.ones(n_p)},
        ["w", "h"],
        {"u": lambda x: 1 - Z[labeled] @ x["w"] - x["h"]},
        {"u": np.zeros(n_p)},
        mu,
        lambda x, y: (x["w"], y["u"]),
    )
    for count, (w, u) in enumerate(expected, start=1):
        found = solve_glpual_admm(GlobalLocalProblem(Z, labeled, edges, lam, c_p, c_u), mu, tol=1e-15, max_iter=count)
        np.testing.assert_allclose(found.coef, w, atol=1e-5)
        np.testing.assert_allclose(found.dual, np.clip(u, 0, c_p), atol=1e-5)


@pytest.mark.parametrize("mu", [0.3, 2.0])
def test_elastic_glpual(mu):
    """(4.10), (4.14), (4.17), (4.19), (4.21)."""
    X, labeled, edges = problem(1)
    Z, lam1, lam2, c_p, c_u = with_intercept(X), 0.8, 0.3, 1.0, 0.2
    n, n_p = len(X), labeled.sum()

    def lagrangian(x, y):
        f = Z @ x["w"]
        value = lam1 / 2 * cp.norm1(x["t"]) + lam2 / 2 * cp.sum_squares(x["w"][:-1]) + c_p * cp.sum(cp.pos(x["h"]))
        value += c_u * cp.sum_squares(x["a"]) + similarity(x["b"], edges)
        value += coupling(y["h"], 1 - f[labeled] - x["h"], mu) + coupling(y["a"], 1 + f[~labeled] - x["a"], mu)
        return value + coupling(y["t"], x["w"][:-1] - x["t"], mu) + coupling(y["b"], f - x["b"], mu)

    expected = alternate(
        lagrangian,
        {"w": np.zeros(3), "h": np.ones(n_p), "a": np.ones(n - n_p), "t": np.zeros(2), "b": np.zeros(n)},
        ["w", "h", "a", "t", "b"],
        {
            "h": lambda x: 1 - Z[labeled] @ x["w"] - x["h"],
            "a": lambda x: 1 + Z[~labeled] @ x["w"] - x["a"],
            "t": lambda x: x["w"][:-1] - x["t"],
            "b": lambda x: Z @ x["w"] - x["b"],
        },
        {"h": np.zeros(n_p), "a": np.zeros(n - n_p), "t": np.zeros(2), "b": np.zeros(n)},
        mu,
        lambda x, y: (np.append(x["t"], x["w"][-1]), y["h"], y["t"]),
    )
    for count, (w, u_h, v) in enumerate(expected, start=1):
        found = solve_elastic_admm(
            GlobalLocalProblem(Z, labeled, edges, lam2, c_p, c_u), lam1, mu, tol=1e-15, max_iter=count
        )
        np.testing.assert_allclose(found.coef, w, atol=1e-5)
        dual = np.concatenate([-np.clip(u_h, 0, c_p), np.clip(v, -lam1 / 2, lam1 / 2)])
        np.testing.assert_allclose(found.dual, dual, atol=1e-5)


@pytest.mark.parametrize("mu", [0.3, 2.0])
def test_elastic_kernel_free_glpual(mu):
    """(4.30), (4.33) with c_p / mu, (4.35), (4.37), (4.43)."""
    X, labeled, edges = problem(2)
    Z, G, groups = with_intercept(surface_features(X)), surface_ridge(X), surface_groups(2)
    lam1, lam2, c_p, c_u = 0.2, 0.05, 1.0, 0.2
    n, n_p, r = len(X), labeled.sum(), Z.shape[1]

    def lagrangian(x, y):
        alpha, f = x["w"][:-1], Z @ x["w"]
        copies = cp.vstack([alpha[group] for group in groups])
        value = lam1 / 2 * cp.sum(cp.norm(x["t"], axis=1)) + lam2 / 2 * cp.quad_form(alpha, cp.psd_wrap(G))
        value += c_p * cp.sum(cp.pos(x["h"])) + c_u * cp.sum_squares(x["a"]) + similarity(x["b"], edges)
        value += coupling(y["h"], 1 - f[labeled] - x["h"], mu) + coupling(y["a"], 1 + f[~labeled] - x["a"], mu)
        return value + coupling(y["t"], copies - x["t"], mu) + coupling(y["b"], f - x["b"], mu)

    expected = alternate(
        lagrangian,
        {
            "w": np.zeros(r),
            "h": np.ones(n_p),
            "a": np.ones(n - n_p),
            "b": np.zeros(n),
            "t": np.zeros(groups.shape),
        },
        ["w", "h", "a", "b", "t"],
        {
            "h": lambda x: 1 - Z[labeled] @ x["w"] - x["h"],
            "a": lambda x: 1 + Z[~labeled] @ x["w"] - x["a"],
            "t": lambda x: x["w"][groups] - x["t"],
            "b": lambda x: Z @ x["w"] - x["b"],
        },
        {"h": np.zeros(n_p), "a": np.zeros(n - n_p), "t": np.zeros(groups.shape), "b": np.zeros(n)},
        mu,
        lambda x, y: (x["w"], y["h"], x["t"]),
    )
    compared = 0
    for count, (w, u_h, t) in enumerate(expected, start=1):
        found = solve_surface_admm(
            GlobalLocalProblem(Z, labeled, edges, lam2, c_p, c_u), G, lam1, mu, tol=1e-15, max_iter=count
        )
        np.testing.assert_allclose(found.dual, -np.clip(u_h, 0, c_p), atol=1e-5)
        zero = np.linalg.norm(t, axis=1) < 1e-6
        kept = np.setdiff1d(np.arange(r - 1), groups[zero])
        np.testing.assert_allclose(found.coef[kept], w[kept], atol=1e-5)
        assert not found.coef[groups[zero]].any()
        compared += len(kept)
    assert compared >= 2 * (r - 1)


@pytest.mark.parametrize("mu", [0.05, 0.5])
def test_class_prior_based_glpual(mu):
    """(5.19), (5.23) with 1 / (mu n_u), (5.27) with prior / (n_p mu), (5.30); the update of `a` is not convex."""
    X, labeled, edges = problem(3)
    Z, lam, prior = with_intercept(X), 0.3, 0.4
    n, n_p = len(X), labeled.sum()
    slope = np.where(labeled, -prior / n_p, 1.0 / (n - n_p))

    def lagrangian(x, y):
        f = Z @ x["w"]
        value = lam / 2 * cp.sum_squares(x["w"][:-1]) + prior / n_p * cp.sum(cp.pos(x["h"])) + similarity(f, edges)
        return value + coupling(y["h"], 1 - f[labeled] - x["h"], mu) + coupling(y["a"], 1 + f - x["a"], mu)

    def best_a(f, u):
        """Row by row, the better of the minima on either side of zero."""
        found = np.empty(n)
        for k in range(n):

            def value(a, k=k):
                return slope[k] * abs(a) + u[k] * (1 + f[k] - a) + mu / 2 * (1 + f[k] - a) ** 2

            sides = [
                minimize_scalar(value, bounds=bounds, method="bounded", options={"xatol": 1e-9}).x
                for bounds in ((-40.0, 0.0), (0.0, 40.0))
            ]
            found[k] = min([*sides, 0.0], key=value)
        return found

    w, h, u_h, u_a = np.zeros(3), np.ones(n_p), np.zeros(n_p), np.zeros(n)
    values = []
    for _ in range(ITERATIONS):
        a = best_a(Z @ w, u_a)
        for name in ("h", "w"):
            blocks = {"w": w, "h": h, "a": a}
            free = cp.Variable(blocks[name].shape)
            clarabel(lagrangian({**blocks, name: free}, {"h": u_h, "a": u_a}), accuracy=1e-12)
            w, h = (free.value, h) if name == "w" else (w, free.value)
        f = Z @ w
        u_h, u_a = u_h + mu * (1 - f[labeled] - h), u_a + mu * (1 + f - a)
        values.append(CPBProblem(Z, labeled, edges, prior, lam).objective(w))
    found = solve_cpb_admm(CPBProblem(Z, labeled, edges, prior, lam), mu, tol=1e-15, max_iter=ITERATIONS)
    np.testing.assert_allclose(found.objectives, values, atol=1e-5)
    assert np.ptp(values) > 1e-3  # the iterates move
