"""The objectives of GLPUAL and GLLC on a feature matrix (Wang 2024, eq. 3.2 and 2.5), and their quadratic part.

With w = (beta, beta_0), f = Z w and Z the rows (x_i, 1), GLPUAL minimizes

    J(w) = lam/2 |beta|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf
         = 1/2 w'Aw + b'w + n_u c_u + c_p sum_p [1 - f_i]_+,
    A = lam I_0 + 2 c_u Zu'Zu + 2 Z'RZ,    b = 2 c_u Zu'1,

where I_0 is the identity with a zero for the intercept. GLLC has c_p (1 - f_i)^2 in place of the hinge.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import cho_solve

from pucli.core.arrays import Bools, Floats
from pucli.solvers.kernels.cholesky import Cholesky
from pucli.solvers.kernels.graph import Edges, similarity_form
from pucli.solvers.kernels.intercept import without_offset

# A has lost too many digits if the objectives computed from A and from the rows differ by this share.
DIFFERENCE = 1e-11
# Steps of refinement with gradients from the rows.
REFINEMENTS = 3


class GlobalLocalProblem(NamedTuple):
    """Rows and weights of GLPUAL, GLLC and their elastic variants."""

    Z: Floats  # (n, m + 1), rows with a last column of ones
    labeled: Bools  # (n,), True for labeled positives
    edges: Edges  # edges of R (`pucli.solvers.kernels.graph`)
    lam: float  # ridge, positive
    c_p: float = 1.0  # weight of each labeled row, positive
    c_u: float = 0.1  # weight of each unlabeled row, positive

    @property
    def Zp(self) -> Floats:
        """Labeled rows (n_p, m + 1)."""
        return self.Z[self.labeled]

    @property
    def Zu(self) -> Floats:
        """Unlabeled rows (n_u, m + 1)."""
        return self.Z[~self.labeled]

    @property
    def constant(self) -> float:
        """The sum of c_u over the unlabeled rows."""
        return self.c_u * int(np.count_nonzero(~self.labeled))

    def squares(self) -> Floats:
        """Return 2 c_u Zu'Zu (m + 1, m + 1)."""
        Zu = self.Zu
        return 2.0 * self.c_u * (Zu.T @ Zu)

    def linear(self) -> Floats:
        """Return b (m + 1,)."""
        total: Floats = 2.0 * self.c_u * self.Zu.sum(axis=0)
        return total

    def near_origin(self) -> tuple[Self, Floats]:
        """Return the problem and the shift of `pucli.solvers.kernels.intercept.without_offset`."""
        Z, center = without_offset(self.Z)
        return self._replace(Z=Z), center

    def quadratic_part(self) -> tuple[Floats, Floats]:
        """Return A (m + 1, m + 1), symmetric, and b (m + 1,) of the objective."""
        A = self.squares() + similarity_form(self.Z, self.edges)
        A[np.diag_indices(A.shape[0] - 1)] += self.lam
        return 0.5 * (A + A.T), self.linear()

    def objective(self, w: Floats, squared: bool = False) -> float:
        """Return J(w) from its definition: GLPUAL's (3.2), or GLLC's (2.5) where `squared`."""
        f = self.Z @ w
        i, j, weight = self.edges
        positive = 1.0 - f[self.labeled]
        loss = np.sum(positive**2) if squared else np.sum(np.maximum(positive, 0.0))
        similarity = float(np.sum(weight * (f[i] - f[j]) ** 2))
        ridge, unlabeled = 0.5 * self.lam * (w[:-1] @ w[:-1]), self.c_u * np.sum((1.0 + f[~self.labeled]) ** 2)
        return float(ridge + self.c_p * loss + unlabeled + similarity)


def refined(w: Floats, a: Floats | None, problem: GlobalLocalProblem, factor: Cholesky) -> tuple[Floats, float]:
    """Return w after steps against the gradient from the rows, and a bound on its objective minus the minimum.

    Entries of A are sums of squares, which keep too few digits if a row is far from all others. Scores of rows do not.
    """
    Z, labeled, edges, lam, c_p, c_u = problem
    i, j, weight = edges
    for step in range(REFINEMENTS + 1):
        f = Z @ w
        slope = np.zeros(len(f))
        slope[~labeled] = 2.0 * c_u * (1.0 + f[~labeled])
        slope[labeled] = -(2.0 * c_p * (1.0 - f[labeled]) if a is None else a)
        pull = 2.0 * weight * (f[i] - f[j])
        slope += np.bincount(i, pull, len(f)) - np.bincount(j, pull, len(f))
        gradient = slope @ Z
        gradient[:-1] += lam * w[:-1]
        change = cho_solve(factor, gradient, check_finite=False)
        if step < REFINEMENTS:
            w = w - change
    return w, max(0.5 * float(gradient @ change), 0.0)
