"""The double-hinge problem of PU learning (du Plessis, Niu and Sugiyama 2015), as USMO and its peers solve it.

For f = g + b, with g in the space H of a kernel, p labeled and n unlabeled rows, c1 = prior / (2 lam p) and
c2 = 1 / (2 lam n), Sansone, De Natale and Zhou (2019) minimize

    -c1 sum_p f_i + c2 sum_u max(0, 1/2 + f_i/2, f_i) + 1/2 |g|_H^2

the unbiased PU risk with the double hinge max(-z, max(0, 1/2 - z/2)). It is the problem of
`pucli.solvers.row_losses.losses` on the unlabeled rows, with slopes 0, c2/2, c2, kinks at -1 and 1, a = c1 sum_p k(x_p,
.) and e = c1 p.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.row_losses.losses import RowLosses


def double_hinge_losses(n: int, c2: float) -> RowLosses:
    """Return c2 max(0, 1/2 + z/2, z) for each of n unlabeled rows."""
    ones = np.ones(n)
    return RowLosses(0.0 * ones, 0.5 * c2 * ones, c2 * ones, -ones, ones)


class DoubleHingeProblem(NamedTuple):
    """The double-hinge problem of one training set, with the constants that do not depend on the solution."""

    kernel: Kernel
    X_p: Floats  # (p, m), labeled rows; with the linear kernel sparse ones too, as `X_u`
    X_u: Floats  # (n, m), unlabeled rows
    # prior / (2 lam p) and 1 / (2 lam n)
    c1: float
    c2: float
    losses: RowLosses  # losses of the unlabeled rows
    total: float  # c1 p
    a_X: Floats  # (n,), c1 sum_p k(x_u, x_p)
    a_norm: float  # c1^2 times the sum of the kernel over pairs of labeled rows
    trivial: float  # value of the best constant f


def double_hinge_problem(X: Floats, labeled: Bools, kernel: Kernel, prior: float, lam: float) -> DoubleHingeProblem:
    """Return the double-hinge problem of rows; raise ValueError for a prior outside [0, 1]."""
    X_p, X_u = X[labeled], X[~labeled]
    p, n = X_p.shape[0], X_u.shape[0]
    c1, c2 = prior / (2.0 * lam * p), 1.0 / (2.0 * lam * n)
    weights = np.full(p, c1)
    losses = double_hinge_losses(n, c2)
    total = c1 * p
    _check_total(losses, total)
    return DoubleHingeProblem(
        kernel=kernel,
        X_p=X_p,
        X_u=X_u,
        c1=c1,
        c2=c2,
        losses=losses,
        total=total,
        a_X=kernel.combination(X_u, X_p, weights),
        a_norm=c1 * float(kernel.combination(X_p, X_p, weights).sum()),
        trivial=min(prior, 1.0 - prior) / (2.0 * lam),
    )


def _check_total(losses: RowLosses, total: float) -> None:
    """Raise ValueError if no point of the box sums to `total`, which is necessary for a finite intercept."""
    low, high = float(losses.lower.sum()), float(losses.upper.sum())
    slack = 1e-12 * max(abs(low), abs(high))
    if not low - slack <= total <= high + slack:
        raise ValueError(
            f"no solution: the dual variables lie in a box whose sums range from {low:.6g} to {high:.6g}, but they "
            f"must sum to c1 p = {total:.6g}. The class prior is outside [0, 1]; give it as a proportion."
        )
