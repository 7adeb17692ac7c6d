"""A starting point for losses with one kink per row: Newton steps on losses that are smoothed less and less.

    min_{v, b}  1/2 |v|^2 + sum_i loss_i(x_i'v + b),      loss_i' = lower_i below kink_i, upper_i above

Between kink - width and kink + width the slope rises linearly, so that the loss is quadratic there and differs from the
true loss by at most (upper - lower) width / 4 per row. The slopes at the minimum are feasible dual variables of the
true problem, free where |f_i - kink_i| < width. With few columns, a few steps of n m^2 operations find nearly all of
the active set, for which pair steps need about as many steps as there are rows. Madsen and Nielsen (1993) solve a whole
piecewise-linear problem this way; here an exact method continues.

Used by CPB-GLPUAL (`cpb.dc`).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pucli.core.arrays import Floats
from pucli.solvers.kernels.lapack import solved

# Widths in units of f, whose kinks are at -1 and 1: at the first, every row is in its quadratic zone.
WIDTHS = np.array([4.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001])
# Newton steps at each width. More steps, or the exact minimum, save nothing later.
STEPS = 3
# Longest step of the intercept, in widths.
LONGEST = 10.0
# Share of the predicted decrease that a step must reach, the shortest step, and the relative decrease that ends the
# steps.
SUFFICIENT = 1e-4
SHORTEST = 1e-6
STATIONARY = 1e-12


@njit(cache=True)
def smoothed_slopes(X: Floats, lower: Floats, upper: Floats, kink: Floats, widths: Floats, steps: int) -> Floats:
    """Return the slopes (n,) of the losses at the minimum of the problem smoothed with the last of `widths`.

    They lie inside their boxes, and sum to zero up to the accuracy of the last minimum.
    """
    n, m = X.shape
    w = np.zeros(m + 1)
    f = np.zeros(n)
    slopes = np.empty(n)
    for width in widths:
        value = _value(X, w, lower, upper, kink, width, f)
        for _ in range(steps):
            gradient, hessian = _derivatives(X, w, lower, upper, kink, width, f)
            direction = solved(hessian, gradient)
            fall = 0.0
            for k in range(m + 1):
                fall += direction[k] * gradient[k]
            if not fall > STATIONARY * abs(value):
                break
            step = 1.0
            new = w - direction
            new_value = _value(X, new, lower, upper, kink, width, f)
            while new_value > value - SUFFICIENT * step * fall and step > SHORTEST:
                step *= 0.5
                new = w - step * direction
                new_value = _value(X, new, lower, upper, kink, width, f)
            if new_value >= value:
                break
            w, value = new, new_value
    width = widths[-1]
    _value(X, w, lower, upper, kink, width, f)
    for i in range(n):
        slopes[i] = _slope(f[i] - kink[i], lower[i], upper[i], width)
    return slopes


@njit(cache=True)
def _slope(d: float, lower: float, upper: float, width: float) -> float:
    """Return the slope of a smoothed loss at a distance `d` from its kink."""
    slope = 0.5 * (lower + upper) + 0.5 * (upper - lower) * d / width
    return min(max(slope, lower), upper)


@njit(cache=True)
def _value(X: Floats, w: Floats, lower: Floats, upper: Floats, kink: Floats, width: float, f: Floats) -> float:
    """Return the smoothed objective at w = (v, b); fill f (n,) with the scores."""
    n, m = X.shape
    total = 0.0
    for k in range(m):
        total += 0.5 * w[k] * w[k]
    for i in range(n):
        score = w[m]
        for k in range(m):
            score += X[i, k] * w[k]
        f[i] = score
        d = score - kink[i]
        size = abs(d)
        rounded = size if size > width else 0.5 * d * d / width + 0.5 * width
        total += 0.5 * (lower[i] + upper[i]) * d + 0.5 * (upper[i] - lower[i]) * rounded
    return total


@njit(cache=True)
def _derivatives(
    X: Floats, w: Floats, lower: Floats, upper: Floats, kink: Floats, width: float, f: Floats
) -> tuple[Floats, Floats]:
    """Return gradient (m + 1,) and Hessian (m + 1, m + 1) at w, whose scores are f (n,)."""
    n, m = X.shape
    gradient = np.zeros(m + 1)
    hessian = np.zeros((m + 1, m + 1))
    for k in range(m):
        gradient[k] = w[k]
        hessian[k, k] = 1.0
    for i in range(n):
        d = f[i] - kink[i]
        slope = _slope(d, lower[i], upper[i], width)
        for k in range(m):
            gradient[k] += slope * X[i, k]
        gradient[m] += slope
        if -width < d < width:
            bend = 0.5 * (upper[i] - lower[i]) / width
            for k in range(m):
                weighted = bend * X[i, k]
                hessian[m, k] += weighted
                for other in range(k + 1):
                    hessian[k, other] += weighted * X[i, other]
            hessian[m, m] += bend
    for k in range(m + 1):
        for other in range(k):
            hessian[other, k] = hessian[k, other]
    # with hardly any row in its quadratic zone the intercept has little curvature, and its step would be far too long
    hessian[m, m] = max(hessian[m, m], abs(gradient[m]) / (LONGEST * width), 1e-9)
    return gradient, hessian
