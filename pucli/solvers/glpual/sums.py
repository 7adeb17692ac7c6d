"""GLPUAL, GLLC and BLS-SVM from sums over the rows, which can be computed in blocks, also on several machines.

With f = Z w the squared losses, the ridge and f'Rf depend on the rows only through Zp'Zp, Zu'Zu, Z'RZ, the two sums of
rows, and their numbers. The sums of blocks are added. The hinge of GLPUAL also needs the labeled rows themselves.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.solvers.glpual.dual import solve_quadratic_and_hinge
from pucli.solvers.kernels.cholesky import solve_refined
from pucli.solvers.result import CLOSED_FORM, Solution


class RowSums(NamedTuple):
    """Sums over labeled rows (p) and unlabeled rows (u), each row with a last entry of one."""

    # (r, r), Zp'Zp and Zu'Zu; the last row is the sum of the rows, and its last entry their number
    G_p: Floats
    G_u: Floats
    G_r: Floats  # (r, r), Z'RZ, or zero without a graph

    @classmethod
    def of(cls, Z: Floats, labeled: Bools) -> Self:
        """Return the sums of one block of rows Z (n, r), whose last column is one; without a graph."""
        Zp, Zu = Z[labeled], Z[~labeled]
        return cls(Zp.T @ Zp, Zu.T @ Zu, np.zeros((Z.shape[1], Z.shape[1])))

    def plus(self, other: RowSums) -> RowSums:
        """Return the sums of both blocks."""
        return RowSums(self.G_p + other.G_p, self.G_u + other.G_u, self.G_r + other.G_r)

    @property
    def n_labeled(self) -> int:
        """Number of labeled rows."""
        return round(float(self.G_p[-1, -1]))

    @property
    def n_unlabeled(self) -> float:
        """Number of unlabeled rows, or the sum of their weights."""
        return float(self.G_u[-1, -1])

    def quadratic(self, lam: float, c_u: float) -> tuple[Floats, Floats]:
        """Return A and b of `pucli.solvers.glpual.problem`."""
        A = 2.0 * c_u * self.G_u + 2.0 * self.G_r
        A[np.diag_indices(len(A) - 1)] += lam
        return 0.5 * (A + A.T), 2.0 * c_u * self.G_u[-1]


def solve_hinge_from_sums(
    sums: RowSums, Zp: Floats, lam: float, c_p: float, c_u: float, tol: float = 1e-6, max_iter: int = 1000
) -> Solution:
    """Minimize GLPUAL's objective (3.2), given sums over the rows, like `solve_quadratic_and_hinge`."""
    A, b = sums.quadratic(lam, c_u)
    return solve_quadratic_and_hinge(A, b, Zp, c_u * sums.n_unlabeled, c_p, tol, max_iter)


def solve_squares_from_sums(sums: RowSums, lam: float, c_p: float, c_u: float) -> Solution:
    """Minimize GLLC's objective (2.5), or without a graph that of BLS-SVM; the gap is what rounding leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from pucli.solvers.kernels.intercept import with_intercept
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> labeled = X[:, 0] > 0.7
    >>> halves = [RowSums.of(with_intercept(X[part]), labeled[part]) for part in (slice(0, 30), slice(30, 60))]
    >>> found = solve_squares_from_sums(halves[0].plus(halves[1]), lam=1.0, c_p=1.0, c_u=0.3)
    >>> found.coef.shape, found.gap < 1e-12
    ((3,), True)
    """
    A, b = sums.quadratic(lam, c_u)
    A += 2.0 * c_p * sums.G_p
    rhs = 2.0 * c_p * sums.G_p[-1] - b
    w, _, gap, _ = solve_refined(A, rhs)
    value = float(0.5 * (w @ A @ w) - rhs @ w) + c_u * sums.n_unlabeled + c_p * sums.n_labeled
    return Solution(coef=w, objective=value, gap=gap, n_iter=1, converged=bool(gap <= CLOSED_FORM * value))
