"""An interior-point method for GLPUAL's dual where coordinate ascent is slow: equal rows, or a very smooth kernel.

    min_{0 <= a <= upper}  1/2 a'Qa - (1 + q)'a

by predictor and corrector (Mehrotra, SIAM J. Optim. 1992): a factorization of Q plus a diagonal for each of about a
dozen steps, however Q is conditioned. The gap is that of `pucli.solvers.glpual.dual`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from pucli.core.arrays import Floats

# Largest number of steps; 12 to 18 are typical.
MAX_STEPS = 60
# Share of the box by which the start is kept off the bounds, and share of the way to a bound that a step may go.
MARGIN, OF_THE_WAY = 0.01, 0.995


def box_interior(Q: Floats, q: Floats, a: Floats, upper: float, constant: float, tol: float) -> tuple[int, Floats]:
    """Return the number of steps, and dual variables (n_p,) inside the box whose gap is at most `tol` of the objective.

    Examples
    --------
    >>> import numpy as np
    >>> Q, q = np.ones((3, 3)), np.zeros(3)
    >>> _, a = box_interior(Q, q, np.zeros(3), upper=1.0, constant=0.0, tol=1e-9)
    >>> float(a.sum().round(6))
    1.0
    """
    a = np.clip(a, MARGIN * upper, (1.0 - MARGIN) * upper)
    slack, diagonal = 1.0 - (Q @ a - q), np.diag_indices(len(a))
    center = 0.1 * upper * max(float(np.abs(slack).mean()), 1e-3)
    low, high = np.maximum(-slack, 0.0) + center / a, np.maximum(slack, 0.0) + center / (upper - a)
    for step in range(MAX_STEPS):
        room = upper - a
        f = Q @ a - q
        slack = 1.0 - f
        loss = upper * np.maximum(slack, 0.0)
        if (loss - a * slack).sum() <= tol * (0.5 * a @ (f + q) + constant + loss.sum()):
            return step, a
        M = Q.copy()
        M[diagonal] += low / a + high / room
        C, failed = dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
        if failed:
            break
        center = float(a @ low + room @ high) / (2 * len(a))
        # the predictor aims at the optimum, the corrector at a center as near to it as the predictor came
        move = dpotrs(C, slack, lower=1)[0]
        d_low, d_high = -low - low / a * move, -high + high / room * move
        size = _longest(a, move, room, low, d_low, high, d_high)
        after = (a + size * move) @ (low + size * d_low) + (room - size * move) @ (high + size * d_high)
        center *= (float(after) / (2 * len(a)) / center) ** 3
        to_low, to_high = (center - move * d_low) / a, (center + move * d_high) / room
        move = dpotrs(C, slack + to_low - to_high, lower=1)[0]
        d_low, d_high = to_low - low - low / a * move, to_high - high + high / room * move
        size = OF_THE_WAY * _longest(a, move, room, low, d_low, high, d_high)
        a, low, high = a + size * move, low + size * d_low, high + size * d_high
    return MAX_STEPS, a


def _longest(a: Floats, move: Floats, room: Floats, low: Floats, d_low: Floats, high: Floats, d_high: Floats) -> float:
    """Return the largest step, 1 at most, that leaves nothing negative."""
    shrink = max(
        float((-move / a).max()), float((move / room).max()), float((-d_low / low).max()), float((-d_high / high).max())
    )
    return 1.0 if shrink <= 1.0 else 1.0 / shrink
