"""The result of a solver: a solution and its certificate.

Families with further results subclass `Solution`; those whose model is not a vector of coefficients subclass
`Certificate`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pucli.core.arrays import Floats

# Relative gap, of rounding alone, above which a solution in closed form counts as not converged.
CLOSED_FORM = 1e-6


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Distance of a solution from the optimum, and the number of iterations."""

    # value of the documented objective at the solution. NaN if the method minimizes no fixed objective
    objective: float
    n_iter: int  # iterations of the solver, in the solver's own unit
    converged: bool  # whether the tolerance was reached
    # proven upper bound on the objective minus its minimum. NaN if there is none, as for non-convex methods
    gap: float = np.nan
    # distance of the solution from stationarity, for methods without a gap. NaN for convex methods
    residual: float = np.nan


@dataclass(frozen=True, kw_only=True)
class Solution(Certificate):
    """A model with one vector of coefficients, and its certificate."""

    # (m,) or (m + 1,), coefficients of the given columns. If the last column is constant, the intercept is last
    coef: Floats
    dual: Floats | None = None  # dual variables, from which another fit can start. None if there are none


def within(gap: float, objective: float, tol: float) -> bool:
    """Return whether a gap is within a relative tolerance, with room for the rounding of one more evaluation."""
    return bool(gap <= tol * objective * 1.01 + 1e-12)
