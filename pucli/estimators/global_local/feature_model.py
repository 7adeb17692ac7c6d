"""Base of the PU classifiers that are linear in features: a linear model, one in an RKHS, or a sum of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pucli.core.arrays import Floats
from pucli.core.errors import by_interface
from pucli.core.memory import check_memory
from pucli.core.saved_state import STATEMENT, Array, Scalar, State
from pucli.estimators.base.certificate import COEF, INTERCEPT
from pucli.estimators.base.data_defaults import Rule, median_distance
from pucli.estimators.base.parameters import FROM_ONE, THRESHOLD, WIDTH, Constraints, one_of
from pucli.estimators.base.pu import PUClassifier
from pucli.solvers.kernels.few_rows import coordinates_of_rows, is_wide
from pucli.solvers.kernels.graph import squared_distances_between
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.low_rank import landmark_map, rbf_features, rbf_from_distances, rbf_map

# Above so many rows GLPUAL, GLLC and BLSSVM take so many landmarks of the kernel, unless `max_rank` says otherwise.
WHOLE_KERNEL_ROWS = 10_000
LANDMARKS = 500
# A fit makes about so many copies of the features.
FEATURE_COPIES = 5


class FeatureModel(PUClassifier):
    """A score f(x) = phi(x)'coef + intercept, with phi(x) = x or low-rank features of the RBF kernel.

    With ``form="thesis"``, the coefficients are those of the kernel at the landmarks.

    Attributes
    ----------
    coef_ : ndarray of shape (1, r)
    intercept_ : ndarray of shape (1,)
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
    _coef: Floats
    _intercept: float

    _parameter_constraints: ClassVar[Constraints] = {
        "kernel": [one_of("linear", "rbf")],
        "width": WIDTH,
        "max_rank": [FROM_ONE, None],
        "threshold": THRESHOLD,
    }

    _rules: ClassVar[Mapping[str, Rule]] = {"width": median_distance}

    coef_, intercept_ = COEF, INTERCEPT
    saved_state: ClassVar[State] = {
        "_coef": Array("r"),
        "_intercept": Scalar(),
        "landmarks_": Array("r", "m"),
        "landmark_factor_": Array("r", "r"),
        "kernel_residual_": STATEMENT,
    }

    def _features(self, X: Floats, landmarks: int | None = None) -> Floats:
        """Return the features (phi(x_i), 1) of the training rows; keep what new rows need.

        With `landmarks`, more than `WHOLE_KERNEL_ROWS` rows get features of so many landmarks, or of `max_rank`.
        """
        self._basis: Floats | None = None
        if self.kernel == "linear":
            if is_wide(X):
                X, self._basis = coordinates_of_rows(X)
            return with_intercept(X)
        if landmarks is None or len(X) <= WHOLE_KERNEL_ROWS:
            features = rbf_map(X, self.width_, self.max_rank)
        else:
            check_landmarks(X, self.max_rank or landmarks)
            features = landmark_map(X, self.width_, self.max_rank or landmarks)
        self.landmarks_ = X[features.pivots]
        self.landmark_factor_ = features.factor
        self.kernel_residual_ = features.residual
        return with_intercept(features.L)

    def _keep_coef(self, coef: Floats) -> None:
        """Keep coefficients, the last of which is the intercept."""
        self._coef, self._intercept = coef[:-1], float(coef[-1])
        basis = self.__dict__.pop("_basis", None)
        if basis is not None:
            self._coef = basis @ self._coef

    def _score(self, X: Floats) -> Floats:
        if getattr(self, "form", "rkhs") == "thesis":
            X = rbf_from_distances(squared_distances_between(X, self.landmarks_), self.width_)
        elif self.kernel == "rbf":
            X = rbf_features(X, self.landmarks_, self.landmark_factor_, self.width_)
        return X @ self._coef + self._intercept


def check_landmarks(X: Floats, rank: int) -> None:
    """Raise ValueError if the features of rows X (n, m) from `rank` landmarks need more memory than there is."""
    needed = 8.0 * rank * (FEATURE_COPIES * len(X) + 12 * rank)
    smaller = by_interface("max_rank or fewer rows", "--param max_rank or fewer --rows")
    check_memory(needed, f"{rank} landmarks for {len(X)} rows", f"give a smaller {smaller}")
