"""The biased SVM (Liu et al. 2003; Wang 2024, eq. 2.2): unlabeled rows as negatives, with weights of their own.

    J = lam/2 |g|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u [1 + f_i]_+,    f = g + beta_0

is libsvm's problem with row weights c_i / lam. Given libsvm's dual variables the bound is computed here, so that the
certificate does not rest on libsvm's own stopping rule.
"""

from __future__ import annotations

import numpy as np

from pucli.solvers.rows.losses import RowLosses, best_bias


def svm_gap(f, norm2, dual, signs, weights, lam) -> tuple[float, float]:
    """Return (objective, gap) of a solution.

    f : (n,) scores; norm2 : |g|^2; dual : (n,) variables of the problem divided by lam, in [0, weights / lam], with
    signs'dual = 0 and g = sum_i dual_i signs_i k(x_i, .); signs : (n,) +1 or -1; weights : (n,) c_p or c_u.
    """
    loss = float(np.sum(weights * np.maximum(1.0 - signs * f, 0.0)))
    objective = 0.5 * lam * norm2 + loss
    bound = lam * (float(dual.sum()) - 0.5 * norm2)
    return objective, max(objective - bound, 0.0)


def best_intercept(g, signs, weights) -> float:
    """Return the beta_0 that minimises the loss of the scores g (n,) without it; signs, weights as in `svm_gap`."""
    positive = signs > 0
    lower, upper = np.where(positive, -weights, 0.0), np.where(positive, 0.0, weights)
    return float(best_bias(RowLosses(lower, upper, upper, signs, signs), 0.0, g))
