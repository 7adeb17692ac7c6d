"""The biased SVM by libsvm, which keeps few kernel rows at a time, with its own certificate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.svm import SVC

from pucli.core.arrays import Floats
from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.svm.hinge import best_intercept, svm_gap

# libsvm's stopping tolerance starts here and is divided by ten until the gap is small enough.
FIRST_TOLERANCE = 1e-3
LAST_TOLERANCE = 1e-9


class LibsvmFit(NamedTuple):
    """A fit: the dual variables (n,) times the signs, beta_0, the objective, its proven gap, and libsvm's steps."""

    pull: Floats
    intercept: float
    objective: float
    gap: float
    n_iter: int


def rbf_gamma(width: float) -> float:
    """Return gamma of exp(-gamma d^2) for a width."""
    return 0.5 / width**2


def solve_by_libsvm(
    X: Floats, signs: Floats, weights: Floats, lam: float, kernel: Kernel, tol: float, max_iter: int
) -> LibsvmFit:
    """Minimize lam/2 |g|^2 + sum_i weights_i [1 - signs_i f_i]_+ over f = g + beta_0."""
    tolerance = FIRST_TOLERANCE
    while True:
        svc = SVC(kernel=kernel.name, gamma=rbf_gamma(kernel.width), tol=tolerance, max_iter=max_iter, C=1.0)
        svc.fit(X, signs, sample_weight=weights / lam)
        g = svc.decision_function(X) - svc.intercept_[0]
        # libsvm's intercept is the mean over free rows, which is inexact unless all of them are on a margin
        intercept = best_intercept(g, signs, weights)
        dual = np.zeros(len(X))
        dual[svc.support_] = np.abs(svc.dual_coef_[0])
        objective, gap = svm_gap(g + intercept, float((dual * signs) @ g), dual, signs, weights, lam)
        if gap <= tol * objective or tolerance <= LAST_TOLERANCE or svc.fit_status_ != 0:
            return LibsvmFit(dual * signs, intercept, objective, gap, int(np.max(svc.n_iter_)))
        tolerance *= 0.1
