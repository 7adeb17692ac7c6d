"""What PU classifiers that are linear in features share: a linear model, one in an RKHS, or a sum of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pucli.arrays import Floats
from pucli.estimators.base.parameters import FROM_ONE, POSITIVE, Constraints, one_of
from pucli.estimators.base.pu import PUClassifier
from pucli.estimators.base.scales import Rule, median_distance
from pucli.kernels.graph import squared_distances_between
from pucli.kernels.intercept import with_intercept
from pucli.kernels.low_rank import rbf_features, rbf_from_distances, rbf_map


class FeatureModel(PUClassifier):
    """A score f(x) = phi(x)'coef + intercept, with phi(x) = x or low-rank features of the RBF kernel.

    A subclass with ``form="thesis"`` keeps coefficients of the kernel at its landmarks instead.

    Attributes
    ----------
    coef_ : ndarray of shape (r,)
    intercept_ : float
    width_ : float
        The width used.
    landmarks_ : ndarray of shape (r, m)
        Rows that the kernel features are made of (RBF kernel only).
    landmark_factor_ : ndarray of shape (r, r)
        Triangular factor that turns kernel values at the landmarks into features.
    kernel_residual_ : float
        What the features leave of the trace of the kernel matrix.
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
    }

    _rules: ClassVar[Mapping[str, Rule]] = {"width": median_distance}

    def _rows(self, X: Floats) -> Floats:
        """Return the rows (phi(x_i), 1) of the training rows; keep what new rows need."""
        if self.kernel == "linear":
            return with_intercept(X)
        features = rbf_map(X, self.width_, self.max_rank)
        self.landmarks_ = X[features.pivots]
        self.landmark_factor_ = features.factor
        self.kernel_residual_ = features.residual
        return with_intercept(features.L)

    def _keep_coef(self, coef: Floats) -> None:
        """Keep coefficients whose last one is the intercept."""
        self.coef_, self.intercept_ = coef[:-1], float(coef[-1])

    def _score(self, X: Floats) -> Floats:
        if getattr(self, "form", "rkhs") == "thesis":
            X = rbf_from_distances(squared_distances_between(X, self.landmarks_), self.width_)
        elif self.kernel == "rbf":
            X = rbf_features(X, self.landmarks_, self.landmark_factor_, self.width_)
        return X @ self.coef_ + self.intercept_
