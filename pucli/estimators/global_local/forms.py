"""The printed kernel forms of the GLPUAL family: their kernel matrix, their defaults, and the model that they leave."""

from __future__ import annotations

from typing import Any

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.core.memory import check_memory
from pucli.solvers.glpual.thesis import ThesisSolution
from pucli.solvers.kernels.graph import mutual_knn, squared_distances
from pucli.solvers.kernels.low_rank import rbf_from_distances
from pucli.solvers.result import Certificate

# Default number of updates of the printed kernel forms, and their default penalty.
THESIS_ITERATIONS = 150
THESIS_MU = 0.01


def check_form(form: str, kernel: str) -> None:
    """Raise ValueError for the thesis form with a linear kernel."""
    if form == "thesis" and kernel == "linear":
        raise ValueError("form='thesis' is a kernel form: set kernel='rbf', or form='rkhs' for the linear model.")


def thesis_kernel(X: Floats, width: float, n_neighbors: int) -> Floats:
    """Return the RBF kernel matrix (n, n); refuse too many rows, and too few for a graph."""
    check_memory(24 * len(X) ** 2, f"the kernel matrix of {len(X)} rows", "leave form=thesis out, or use fewer rows")
    mutual_knn(X, n_neighbors)  # raises as the other form does where there are too few rows
    return rbf_from_distances(squared_distances(X), width)


def keep_thesis(model: Any, X: Floats, labeled: Bools, found: ThesisSolution) -> None:
    """Keep the solution of the printed updates: coefficients of the kernel at all training rows."""
    model.landmarks_ = np.vstack([X[labeled], X[~labeled]])
    model._coef = np.concatenate([found.coef, np.full(np.count_nonzero(~labeled), found.omega_u)])
    model._intercept = float(found.intercept)
    model._keep_certificate(without_objective(found))


def without_objective(found: Any) -> Certificate:
    """Return the certificate of updates that minimize no fixed objective."""
    return Certificate(objective=np.nan, residual=found.residual, n_iter=found.n_iter, converged=found.converged)
