"""BLS-SVM on sparse rows (Wang 2024, eq. 2.4): conjugate gradients, in memory proportional to the non-zeros.

With d_i = 2 c_p or 2 c_u, t_i = +1 or -1 and the intercept b at its best for each w, the objective

    J(w) = lam/2 |w|^2 + min_b sum_i d_i/2 (t_i - x_i'w - b)^2

has the system (lam I + X'(D - d d'/1'd) X) w = X'D (t - d't/1'd). It is never formed: a step costs one product with X
and one with X'. J is lam-strongly convex, so |grad J|^2 / (2 lam) bounds its distance to the minimum.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from pucli.core.arrays import Bools, Floats
from pucli.solvers.result import Solution, within


def solve_blssvm_sparse(
    X: csr_array,
    labeled: Bools,
    lam: float,
    c_p: float = 1.0,
    c_u: float = 0.1,
    *,
    tol: float = 1e-9,
    max_iter: int = 10_000,
    weights: Floats | None = None,
) -> Solution:
    """Minimize the objective of BLS-SVM over linear scores."""
    d = np.where(labeled, 2.0 * c_p, 2.0 * c_u)
    if weights is not None:
        d *= weights
    t = np.where(labeled, 1.0, -1.0)
    total = d.sum()

    def centered(values: Floats) -> Floats:
        """Return values (n,) minus their weighted mean."""
        less: Floats = values - (d @ values) / total
        return less

    transposed = X.T.tocsr()
    # Jacobi: the diagonal of the system
    squares = X.multiply(X).T @ d - (transposed @ d) ** 2 / total
    scale = 1.0 / (lam + np.maximum(squares, 0.0))
    w = np.zeros(X.shape[1])
    residuals = centered(t)  # of the fit, t - Xw - b
    gradient = -(transposed @ (d * residuals))
    step = scale * gradient
    direction, product = -step, float(gradient @ step)
    objective, gap, n_iter = np.inf, np.inf, 0
    for n_iter in range(max_iter + 1):
        objective = 0.5 * float(lam * (w @ w) + d @ residuals**2)
        gap = float(gradient @ gradient) / (2.0 * lam)
        if within(gap, objective, tol) or n_iter == max_iter:
            break
        change = centered(X @ direction)
        length = product / float(lam * (direction @ direction) + d @ change**2)
        w += length * direction
        residuals -= length * change
        gradient = lam * w - transposed @ (d * residuals)
        step = scale * gradient
        before, product = product, float(gradient @ step)
        direction = -step + (product / before) * direction
    intercept = float(d @ (t - X @ w)) / total
    return Solution(
        coef=np.append(w, intercept), objective=objective, gap=gap, n_iter=n_iter, converged=within(gap, objective, tol)
    )
