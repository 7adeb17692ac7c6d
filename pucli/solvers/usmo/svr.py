"""The double-hinge problem by scikit-learn's SVR on stacked rows, which USMO is compared with.

With epsilon = 0 and targets far beyond any |f|, weighted absolute deviations add up to the double hinge: labeled rows
with target +M and weight c1; unlabeled rows with targets -1 and +1 and weight c2/4 each, and -M with weight c2/2.
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats
from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.row_losses.losses import restore_total
from pucli.solvers.usmo.problem import DoubleHingeProblem

# Above this many unlabeled rows libsvm's 2 (p + 3 n) variables take minutes.
LARGEST = 30_000
FIRST_TARGET = 10.0


def _svr_kernel(kernel: Kernel) -> dict[str, object]:
    """Return SVR's parameters for `kernel`."""
    if kernel.name == "rbf":
        return {"kernel": "rbf", "gamma": 0.5 / kernel.width**2}
    if kernel.name == "polynomial":
        return {"kernel": "poly", "gamma": 1.0, "degree": int(kernel.degree), "coef0": kernel.coef0}
    return {"kernel": "linear"}


def solve_svr(
    problem: DoubleHingeProblem, *, tol: float = 1e-3, cache_size: float = 200.0, first_target: float = FIRST_TARGET
) -> tuple[Floats, float]:
    """Return feasible dual variables sigma (n,) of the problem, and the last target M."""
    from sklearn.svm import SVR

    p, n = len(problem.X_p), len(problem.X_u)
    if n > LARGEST:
        raise ValueError(
            f"solver='svr' stacks every unlabeled row three times; it is meant for at most {LARGEST} of them, not {n}. "
            "Use solver='usmo', which solves the same problem."
        )
    rows = np.concatenate([problem.X_p, problem.X_u, problem.X_u, problem.X_u])
    weight = np.repeat([problem.c1, 0.25 * problem.c2, 0.25 * problem.c2, 0.5 * problem.c2], [p, n, n, n])
    far = first_target
    while True:
        target = np.repeat([far, -1.0, 1.0, -far], [p, n, n, n])
        model = SVR(epsilon=0.0, C=1.0, tol=tol, cache_size=cache_size, **_svr_kernel(problem.kernel))
        model.fit(rows, target, sample_weight=weight)
        dual = np.zeros(len(rows))
        dual[model.support_] = model.dual_coef_.ravel()
        low, high = problem.c1 * (1.0 - 1e-6), -0.5 * problem.c2 * (1 - 1e-6)
        inside = dual[:p].min() >= low and dual[p + 2 * n :].max() <= high
        if inside or far > 1e12:
            sigma = np.clip(-dual[p:].reshape(3, n).sum(axis=0), 0.0, problem.c2)
            return restore_total(sigma, problem.losses, problem.total), far
        far *= 10.0
