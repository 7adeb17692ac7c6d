"""Elastic kernel-free GLPUAL by the augmented Lagrangian with semismooth Newton steps (Li, Sun and Toh 2018).

The hinges and groups of `pucli.solvers.surface.problem` are split off. Minimising the augmented Lagrangian over w keeps
the multipliers p and v in their box and balls. The matrix of a Newton step is A plus the rows on a kink plus the
groups, positive definite even where A is singular. This reaches any accuracy; `pucli.solvers.surface.splitting` is
quicker to a moderate one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from pucli.core.arrays import Bools, Floats
from pucli.solvers.kernels.cholesky import scaled_cholesky
from pucli.solvers.kernels.quadratic_surface import surface_groups
from pucli.solvers.surface.problem import (
    SurfaceProblem,
    surface_bound,
    surface_objective,
    with_exact_zeros,
)

PENALTY_GROWTH = 5.0
PENALTY_RANGE = 1e6
# Inner problems are solved until the Newton decrement is this share of the tolerance. If that holds from the start,
# the share is reduced for the following ones.
INNER_ACCURACY = 0.05
INNER_DIVISOR = 100.0
SMALLEST_ACCURACY = 1e-18
MAX_INNER = 50
MAX_OUTER = 40


class _State(NamedTuple):
    """Penalties of hinges and groups, their growth so far, and the accuracy of the inner problems."""

    rho_h: float
    rho_t: float
    growth: float
    accuracy: float


def newton(
    problem: SurfaceProblem,
    lam1: float,
    tolerance: tuple[float, float],
    max_iter: int,
    w: Floats,
    p: Floats,
    v: Floats,
    penalties: tuple[float, float],
) -> tuple[Floats, Floats, Floats, int]:
    """Minimise J to a relative gap.

    Parameters
    ----------
    problem, lam1, tolerance, max_iter, w, p, v, penalties : SurfaceProblem, float, tuple, int and ndarray
        As in `pucli.solvers.surface.splitting.alternate`; `max_iter` counts Newton steps.

    Returns
    -------
    w, p, v : ndarray
        The point with the smallest gap, w with exact zeros. Late steps can lose accuracy to rounding.
    n_iter : int
        Number of Newton steps.
    """
    everything = np.ones(problem.m, dtype=bool)
    rho_h, rho_t = penalties
    relative = max(tolerance[0], tolerance[1] / surface_objective(problem, w, lam1))
    state = _State(rho_h, rho_t, 1.0, INNER_ACCURACY * relative)
    n_iter, smallest = 0, np.inf
    best = w, p, v
    for _ in range(MAX_OUTER):
        if n_iter >= max_iter:
            break
        w, p, v, zero, steps = _lagrangian_step(problem, lam1, w, p, v, state)
        n_iter += max(steps, 1)
        sparse = with_exact_zeros(problem, w, zero)
        value = surface_objective(problem, sparse, lam1)
        gap = value - surface_bound(problem, sparse, p, v, lam1, everything)[0]
        if gap < smallest:
            smallest, best = gap, (sparse, p, v)
        if gap <= max(tolerance[0] * value, tolerance[1]):
            break
        if steps == 0:
            state = state._replace(accuracy=max(state.accuracy / INNER_DIVISOR, SMALLEST_ACCURACY))
        if state.growth < PENALTY_RANGE:
            rho_h, rho_t, growth = (PENALTY_GROWTH * part for part in state[:3])
            state = _State(rho_h, rho_t, growth, state.accuracy)
    return *best, n_iter


def _lagrangian_step(
    problem: SurfaceProblem, lam1: float, w: Floats, p: Floats, v: Floats, state: _State
) -> tuple[Floats, Floats, Floats, Bools, int]:
    """Minimise the augmented Lagrangian once and update the multipliers.

    Returns w, p, v, which groups (m,) are zero, and the number of Newton steps.
    """
    A, b, Zp, c_p, m = problem.A, problem.b, problem.Zp, problem.c_p, problem.m
    groups, radius = surface_groups(m), 0.5 * lam1
    rho_h, rho_t = state.rho_h, state.rho_t
    steps = 0

    def multipliers(w: Floats) -> tuple[Floats, Floats, Floats, Floats, float]:
        t = Zp @ w - 1.0
        q = np.clip(p + rho_h * t, -c_p, 0.0)
        y = v + rho_t * w[groups]
        norms = np.linalg.norm(y, axis=1)
        u = y * (radius / np.maximum(norms, max(radius, 1e-300)))[:, None]
        value = float(q @ t) - float(np.sum((q - p) ** 2)) / (2.0 * rho_h)
        value += float(np.sum(u * w[groups])) - float(np.sum((u - v) ** 2)) / (2.0 * rho_t)
        return q, u, y, norms, value

    q, u, y, norms, value = multipliers(w)
    value += 0.5 * float(w @ A @ w) + float(b @ w)
    while steps < MAX_INNER:
        gradient = A @ w + b + Zp.T @ q
        np.add.at(gradient, groups.ravel(), u.ravel())
        on_kink = (q > -c_p) & (q < 0.0)
        H = A + rho_h * (Zp[on_kink].T @ Zp[on_kink])
        shrink = radius / np.maximum(norms, max(radius, 1e-300))
        for j in range(m):
            block = np.eye(m + 1)
            if norms[j] > radius:
                block -= np.outer(y[j], y[j] / norms[j] ** 2)
            H[np.ix_(groups[j], groups[j])] += rho_t * shrink[j] * block
        direction = -_solve(H, gradient)
        slope = float(gradient @ direction)
        if -0.5 * slope <= state.accuracy * (abs(value) + problem.constant):
            break
        steps += 1
        length = 1.0
        while True:
            trial = w + length * direction
            q, u, y, norms, new = multipliers(trial)
            new += 0.5 * float(trial @ A @ trial) + float(b @ trial)
            if new <= value + 1e-4 * length * slope + 1e-14 * abs(value) or length < 1e-10:
                break
            length *= 0.5
        w, value = trial, new
    return w, q, u, norms <= radius, steps


def _solve(H: Floats, rhs: Floats) -> Floats:
    """Solve H x = rhs for a positive definite H, whatever the scale of its rows; the factor is then freed."""
    d, factor = scaled_cholesky(H)
    x: Floats = d * cho_solve(factor, d * rhs, check_finite=False)
    return x
