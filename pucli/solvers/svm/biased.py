"""The biased SVM (Liu et al. 2003; Wang 2024, eq. 2.2): unlabeled rows as negatives with a separate weight.

    J = lam/2 |g|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u [1 + f_i]_+,    f = g + beta_0

is libsvm's problem with row weights c_i / lam. The bound is computed here from libsvm's dual variables, so that the
certificate does not depend on libsvm's own stopping rule.
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats
from pucli.solvers.row_losses.losses import RowLosses, best_bias


def svm_gap(f: Floats, norm2: float, dual: Floats, signs: Floats, weights: Floats, lam: float) -> tuple[float, float]:
    """Compute the objective of a solution and its proven gap.

    Parameters
    ----------
    f : ndarray of shape (n,)
        Scores.
    norm2 : float
        |g|^2.
    dual : ndarray of shape (n,)
        Dual variables of the problem divided by lam, in [0, weights / lam], with signs'dual = 0 and
        g = sum_i dual_i signs_i k(x_i, .).
    signs : ndarray of shape (n,)
        +1 for labelled rows, -1 for unlabeled ones.
    weights : ndarray of shape (n,)
        c_p or c_u of each row.
    lam : float
        Ridge.

    Returns
    -------
    objective, gap : float
        J, and a bound on J minus its minimum.
    """
    loss = float(np.sum(weights * np.maximum(1.0 - signs * f, 0.0)))
    objective = 0.5 * lam * norm2 + loss
    bound = lam * (float(dual.sum()) - 0.5 * norm2)
    return objective, max(objective - bound, 0.0)


def best_intercept(g: Floats, signs: Floats, weights: Floats) -> float:
    """Return the beta_0 that minimises the loss of given scores.

    Parameters
    ----------
    g : ndarray of shape (n,)
        Scores without beta_0.
    signs : ndarray of shape (n,)
        1 for labelled, -1 for unlabeled rows.
    weights : ndarray of shape (n,)
        Weights of the hinges.
    """
    positive = signs > 0
    lower, upper = np.where(positive, -weights, 0.0), np.where(positive, 0.0, weights)
    return float(best_bias(RowLosses(lower, upper, upper, signs, signs), 0.0, g))
