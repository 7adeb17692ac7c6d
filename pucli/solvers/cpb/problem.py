"""The objective of class-prior-based GLPUAL (Wang 2024, eq. 5.8 with c = 1).

    J = lam/2 |g|^2 + prior/n_p sum_p ([1 - f_i]_+ - |1 + f_i|) + 1/n_u sum_u |1 + f_i| + f'Rf,    f = g + beta_0

The two middle terms are the unbiased PU risk with the hinge for positives and the absolute loss for negatives. Only
-|1 + f| on labelled rows is not convex.

With known negatives q the risk is (1 - eta) R_PN + eta R_PU (Sakai et al. 2017), in which only the weights of |1 + f_i|
differ: -eta prior/n_p, eta/n_u and (1 - eta) (1 - prior)/n_q for a labelled row, an unlabeled one and a known negative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.solvers.kernels.graph import Edges


class CPBProblem(NamedTuple):
    """Rows and weights."""

    Z: Floats  # (n, m + 1), rows with a last column of ones
    labelled: Bools  # (n,), True for labelled positives
    edges: Edges  # edges of R (`pucli.solvers.kernels.graph`)
    prior: float  # share of positives among the unlabeled rows, in (0, 1)
    lam: float  # ridge, positive
    weights: Floats | None = None  # (n,), weights of |1 + f_i| with known negatives (`pnu_weights`)

    def objective(self, w: Floats) -> float:
        """Return J(w) from its definition."""
        f = self.Z @ w
        i, j, weight = self.edges
        similarity = float(np.sum(weight * (f[i] - f[j]) ** 2))
        risk = cpb_loss(f, self.labelled, self.prior, self.weights)
        return 0.5 * self.lam * float(w[:-1] @ w[:-1]) + risk + similarity


def pnu_weights(labelled: Bools, negative: Bools, prior: float, eta: float) -> Floats:
    """Return the weight of |1 + f_i| of each row (n,) in the risk with known negatives.

    Parameters
    ----------
    labelled, negative : ndarray of bool of shape (n,)
        Marks of labelled positives and of known negatives.
    prior : float
        Class prior.
    eta : float
        Weight of the unlabeled rows, above 0 and up to 1.
    """
    kinds = labelled, negative, ~(labelled | negative)
    n_p, n_q, n_u = (np.count_nonzero(kind) for kind in kinds)
    return np.select(kinds[:2], (-eta * prior / n_p, (1.0 - eta) * (1.0 - prior) / n_q), eta / n_u)


def cpb_loss(f: Floats, labelled: Bools, prior: float, weights: Floats | None = None) -> float:
    """Return the unbiased risk of scores, the two middle terms of J.

    Parameters
    ----------
    f, labelled : ndarray of shape (n,)
        Scores, and marks of the labelled positives.
    prior : float
        Class prior.
    weights : ndarray of shape (n,), optional
        Weights of |1 + f_i| with known negatives.
    """
    if weights is not None:
        return float(prior * np.mean(np.maximum(1.0 - f[labelled], 0.0)) + weights @ np.abs(1.0 + f))
    p, u = f[labelled], f[~labelled]
    labelled_part = np.mean(np.maximum(1.0 - p, 0.0) - np.abs(1.0 + p))
    return float(prior * labelled_part + np.mean(np.abs(1.0 + u)))


def trivial_value(prior: float) -> float:
    """Return J of the best constant f."""
    return 2.0 * min(prior, 1.0 - prior)
