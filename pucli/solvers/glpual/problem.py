"""The objectives of GLPUAL and GLLC on a feature matrix (Wang 2024, eq. 3.2 and 2.5), and their quadratic part.

With w = (beta, beta_0), f = Z w and Z the rows (x_i, 1), GLPUAL minimises

    J(w) = lam/2 |beta|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf
         = 1/2 w'Aw + b'w + n_u c_u + c_p sum_p [1 - f_i]_+,
    A = lam I_0 + 2 c_u Zu'Zu + 2 Z'RZ,    b = 2 c_u Zu'1,

where I_0 is the identity with a zero for the intercept. GLLC has c_p (1 - f_i)^2 in place of the hinge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_solve

from pucli.core.arrays import Bools, Floats
from pucli.solvers.kernels.graph import Edges, similarity_form

# Rounding of A costs too many digits if the objective by A and by the rows differ by this share.
DIFFERENCE = 1e-11
# Steps of refinement with gradients from the rows.
REFINEMENTS = 3


def quadratic_part(Z: Floats, labelled: Bools, edges: Edges, lam: float, c_u: float) -> tuple[Floats, Floats]:
    """Compute A and b of the objective.

    Parameters
    ----------
    Z : ndarray of shape (n, m + 1)
        Rows with a last column of ones.
    labelled : ndarray of shape (n,)
        Which rows are labelled positives.
    edges : tuple of ndarray
        Edges of R (`pucli.solvers.kernels.graph`).
    lam, c_u : float
        Ridge, and weight of each unlabeled row.

    Returns
    -------
    A : ndarray of shape (m + 1, m + 1)
        Symmetric.
    b : ndarray of shape (m + 1,)
        The linear term.
    """
    Zu = Z[~labelled]
    A = 2.0 * c_u * (Zu.T @ Zu) + similarity_form(Z, edges)
    A[np.diag_indices(A.shape[0] - 1)] += lam
    return 0.5 * (A + A.T), 2.0 * c_u * Zu.sum(axis=0)


def glpual_objective(
    w: Floats, Z: Floats, labelled: Bools, edges: Edges, lam: float, c_p: float, c_u: float, squared: bool = False
) -> float:
    """Return J(w) from its definition: GLPUAL's (3.2), or GLLC's (2.5) where `squared`."""
    f = Z @ w
    i, j, weight = edges
    positive = 1.0 - f[labelled]
    loss = np.sum(positive**2) if squared else np.sum(np.maximum(positive, 0.0))
    similarity = float(np.sum(weight * (f[i] - f[j]) ** 2))
    return float(0.5 * lam * (w[:-1] @ w[:-1]) + c_p * loss + c_u * np.sum((1.0 + f[~labelled]) ** 2) + similarity)


def refined(
    w: Floats, a: Floats | None, Z: Floats, labelled: Bools, edges: Edges, weights: tuple[float, float, float], C: Any
) -> tuple[Floats, float]:
    """Return w after steps against the gradient from the rows, and how far above the minimum the last gradient allows.

    Entries of A are sums of squares, which keep too few digits if a row is far from all others. Scores of rows do not.

    Parameters
    ----------
    w : ndarray of shape (m + 1,)
        Coefficients.
    a : ndarray of shape (n_p,) or None
        Fixed slopes of the hinges of labelled rows; None for squares.
    Z, labelled, edges
        As in `quadratic_part`.
    weights : tuple of float
        lam, c_p, c_u.
    C : tuple
        Cholesky factor of the Hessian, of `scipy.linalg.cho_factor`.
    """
    lam, c_p, c_u = weights
    i, j, weight = edges
    for step in range(REFINEMENTS + 1):
        f = Z @ w
        slope = np.where(labelled, 0.0, 2.0 * c_u * (1.0 + f))
        slope[labelled] = -(2.0 * c_p * (1.0 - f[labelled]) if a is None else a)
        pull = 2.0 * weight * (f[i] - f[j])
        slope += np.bincount(i, pull, len(f)) - np.bincount(j, pull, len(f))
        gradient = slope @ Z
        gradient[:-1] += lam * w[:-1]
        change = cho_solve(C, gradient, check_finite=False)
        if step < REFINEMENTS:
            w = w - change
    return w, max(0.5 * float(gradient @ change), 0.0)
