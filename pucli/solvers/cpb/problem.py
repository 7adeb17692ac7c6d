"""The objective of class-prior-based GLPUAL (Wang 2024, eq. 5.8 with c = 1).

    J = lam/2 |g|^2 + prior/n_p sum_p ([1 - f_i]_+ - |1 + f_i|) + 1/n_u sum_u |1 + f_i| + f'Rf,    f = g + beta_0

The two middle terms are the unbiased PU risk with the hinge for positives and the absolute loss for negatives. Only
-|1 + f| on labeled rows is not convex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.solvers.kernels.graph import Edges


class CPBProblem(NamedTuple):
    """Rows and weights."""

    Z: Floats  # (n, m + 1), rows with a last column of ones
    labeled: Bools  # (n,), True for labeled positives
    edges: Edges  # edges of R (`pucli.solvers.kernels.graph`)
    prior: float  # share of positives among the unlabeled rows, in (0, 1)
    lam: float  # ridge, positive

    def objective(self, w: Floats) -> float:
        """Return J(w) from its definition."""
        f = self.Z @ w
        i, j, weight = self.edges
        similarity = float(np.sum(weight * (f[i] - f[j]) ** 2))
        risk = cpb_loss(f, self.labeled, self.prior)
        return 0.5 * self.lam * float(w[:-1] @ w[:-1]) + risk + similarity


def cpb_loss(f: Floats, labeled: Bools, prior: float) -> float:
    """Return the unbiased risk of scores, the two middle terms of J."""
    p, u = f[labeled], f[~labeled]
    labeled_part = np.mean(np.maximum(1.0 - p, 0.0) - np.abs(1.0 + p))
    return float(prior * labeled_part + np.mean(np.abs(1.0 + u)))


def trivial_value(prior: float) -> float:
    """Return J of the best constant f."""
    return 2.0 * min(prior, 1.0 - prior)
