"""Several classes by binary classifiers: one machine for each class against the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.solvers.result import Certificate


def signs_of_machines(codes: Ints, n_classes: int) -> list[Ints]:
    """Return the labels of each machine: 1, -1, and 0 for unlabeled rows."""
    positives = range(n_classes) if n_classes > 2 else [1]
    return [np.where(codes < 0, 0, np.where(codes == positive, 1, -1)) for positive in positives]


def scores_of_machines(values: Floats) -> Floats:
    """Return scores (n, n_machines) as (n,) if there is one machine."""
    return values[:, 0] if values.shape[1] == 1 else values


def certificate_of_machines(found: Sequence[Certificate]) -> Certificate:
    """Return the sums of objectives and gaps, and the largest residual and number of iterations."""
    return Certificate(
        objective=sum(one.objective for one in found),
        gap=sum(one.gap for one in found),
        residual=max(one.residual for one in found),
        n_iter=max(one.n_iter for one in found),
        converged=all(one.converged for one in found),
    )
