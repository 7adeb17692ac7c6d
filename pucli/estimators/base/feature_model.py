"""What PU classifiers that are linear in features share: the features of a linear or RBF model, and prediction."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from pucli.estimators.base.pu import PUClassifier
from pucli.kernels.intercept import with_intercept
from pucli.kernels.low_rank import rbf_features, rbf_map

POSITIVE = Interval(Real, 0, None, closed="neither")


class FeatureModel(PUClassifier):
    """A score f(x) = phi(x)'coef + intercept, with phi(x) = x or low-rank features of the RBF kernel."""

    kernel: str
    width: float
    max_rank: int | None

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        "kernel": [StrOptions({"linear", "rbf"})],
        "width": [POSITIVE],
        "max_rank": [Interval(Integral, 1, None, closed="left"), None],
    }

    def _rows(self, X: np.ndarray) -> np.ndarray:
        """Return the rows (phi(x_i), 1) of the training rows; keep what new rows need."""
        if self.kernel == "linear":
            return with_intercept(X)
        features = rbf_map(X, self.width, self.max_rank)
        self.landmarks_ = X[features.pivots]
        self.landmark_factor_ = features.factor
        self.kernel_residual_ = features.residual
        return with_intercept(features.L)

    def _keep(self, w: np.ndarray) -> None:
        self.coef_, self.intercept_ = w[:-1], float(w[-1])

    def decision_function(self, X):
        """Return f(x) for each row of X (n, m), shape (n,); positive means the greater label."""
        X = self._validate_predict(X)
        if self.kernel == "rbf":
            X = rbf_features(X, self.landmarks_, self.landmark_factor_, self.width)
        return X @ self.coef_ + self.intercept_
