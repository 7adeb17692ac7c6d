"""Base of the PU classifiers that are linear in features: a linear model, one in an RKHS, or a sum of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.core.errors import by_interface
from pucli.core.memory import check_memory
from pucli.core.saved_state import STATEMENT, Array, Scalar, State
from pucli.estimators.base.data_defaults import Rule, median_distance
from pucli.estimators.base.parameters import CUT, FROM_ONE, POSITIVE, Constraints, one_of
from pucli.estimators.base.pu import MEASURED_ROWS, PUClassifier
from pucli.solvers.glpual.sums import BLOCK_ROWS, RowSums, sums_in_blocks
from pucli.solvers.kernels.few_rows import coordinates_of_rows, is_wide
from pucli.solvers.kernels.graph import Edges, squared_distances_between
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.low_rank import landmarks_of, rbf_features, rbf_from_distances, rbf_map

# Above so many rows the kernel's features are had block by block, from so many landmarks unless `max_rank` says more.
WHOLE_KERNEL_ROWS = 10_000
LANDMARKS = 500


class FeatureModel(PUClassifier):
    """A score f(x) = phi(x)'coef + intercept, with phi(x) = x or low-rank features of the RBF kernel.

    With ``form="thesis"``, the coefficients are those of the kernel at the landmarks.

    Attributes
    ----------
    coef_ : ndarray of shape (r,)
    intercept_ : float
    width_ : float
        The width used.
    landmarks_ : ndarray of shape (r, m)
        Rows that span the kernel features (RBF kernel only).
    landmark_factor_ : ndarray of shape (r, r)
        Triangular factor that turns kernel values at the landmarks into features.
    kernel_residual_ : float
        Largest diagonal entry of K - LL', with the kernel matrix K and the features L of the training rows; above
        10,000 rows, of 2000 of them. Objective and gap are those of the kernel LL'.
    """

    kernel: str
    width: float | str
    width_: float
    max_rank: int | None
    coef_: Floats
    intercept_: float

    _parameter_constraints: ClassVar[Constraints] = {
        "kernel": [one_of("linear", "rbf")],
        "width": [POSITIVE, one_of("median")],
        "max_rank": [FROM_ONE, None],
        "cut": CUT,
    }

    _rules: ClassVar[Mapping[str, Rule]] = {"width": median_distance}

    saved_state: ClassVar[State] = {
        "coef_": Array("r"),
        "intercept_": Scalar(),
        "landmarks_": Array("r", "m"),
        "landmark_factor_": Array("r", "r"),
        "kernel_residual_": STATEMENT,
    }

    def _rows(self, X: Floats) -> Floats:
        """Return the features (phi(x_i), 1) of the training rows; keep what new rows need."""
        self._basis: Floats | None = None
        if self.kernel == "linear":
            if is_wide(X):
                X, self._basis = coordinates_of_rows(X)
            return with_intercept(X)
        features = rbf_map(X, self.width_, self.max_rank)
        self.landmarks_ = X[features.pivots]
        self.landmark_factor_ = features.factor
        self.kernel_residual_ = features.residual
        return with_intercept(features.L)

    def _in_blocks(self, X: Floats) -> bool:
        """Return whether the kernel features are computed in blocks because there are many rows."""
        return self.kernel == "rbf" and len(X) > WHOLE_KERNEL_ROWS

    def _check_blocks(self, X: Floats, labelled: Bools) -> None:
        """Raise ValueError if the landmarks need more memory than there is."""
        rank = self.max_rank or LANDMARKS
        needed = 8 * (4 * rank * int(np.count_nonzero(labelled)) + 12 * rank * rank + 6 * BLOCK_ROWS * rank)
        smaller = by_interface("max_rank or fewer rows", "--param max_rank or fewer --rows")
        check_memory(needed, f"{rank} landmarks for {len(X)} rows", f"give a smaller {smaller}")

    def _block_sums(
        self, X: Floats, labelled: Bools, edges: Edges | None = None, weights: Floats | None = None
    ) -> tuple[RowSums, Floats]:
        """Return sums over all rows of the kernel features, and the features of labelled rows; keep the landmarks.

        `weights` are factors of the losses of the rows that are not labelled.
        """
        self._check_blocks(X, labelled)
        found = landmarks_of(X, self.width_, self.max_rank or LANDMARKS)
        self.landmarks_, self.landmark_factor_ = X[found.pivots], found.factor

        def features(rows: Floats) -> Floats:
            return with_intercept(rbf_features(rows, self.landmarks_, found.factor, self.width_))

        sums, Zp = sums_in_blocks(features, X, labelled, edges, weights)
        some = X[np.linspace(0, len(X) - 1, MEASURED_ROWS).astype(int)]
        left = 1.0 - (features(some)[:, :-1] ** 2).sum(axis=1)
        self.kernel_residual_ = max(float(left.max()), 0.0)
        return sums, Zp

    def _keep_coef(self, coef: Floats) -> None:
        """Keep coefficients, the last of which is the intercept."""
        self.coef_, self.intercept_ = coef[:-1], float(coef[-1])
        basis = self.__dict__.pop("_basis", None)
        if basis is not None:
            self.coef_ = basis @ self.coef_

    def _score(self, X: Floats) -> Floats:
        if getattr(self, "form", "rkhs") == "thesis":
            X = rbf_from_distances(squared_distances_between(X, self.landmarks_), self.width_)
        elif self.kernel == "rbf":
            X = rbf_features(X, self.landmarks_, self.landmark_factor_, self.width_)
        return X @ self.coef_ + self.intercept_
