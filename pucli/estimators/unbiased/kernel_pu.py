"""Base of USMO and RampPU: the class prior, the kernel, and f = sum of kernels + intercept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from pucli.core.arrays import Floats
from pucli.core.saved_state import Array, Scalar, State
from pucli.estimators.base.certificate import COEF, INTERCEPT
from pucli.estimators.base.class_prior import PRIOR, PRIOR_ESTIMATOR
from pucli.estimators.base.data_defaults import Rule, half_ridge_of_means, median_distance
from pucli.estimators.base.parameters import (
    FROM_ONE,
    FROM_ZERO,
    NOT_NEGATIVE,
    POSITIVE,
    RIDGE,
    THRESHOLD,
    WIDTH,
    Constraints,
    RandomState,
    one_of,
)
from pucli.estimators.base.pu import PUClassifier
from pucli.solvers.kernels.functions import Kernel

# Terms of the objective above this may overflow during the solution.
LARGEST = 1e200
# With the linear kernel, rows are centered if their mean is farther from the origin than this many times their spread.
FAR = 1e3
# Number of rows on which this is decided.
_CENTER_ROWS = 1000


class KernelPU(PUClassifier):
    """Base of the PU classifiers with a prior and any kernel, f = sum_i weights_i k(x_i, .) + intercept.

    Attributes
    ----------
    coef_ : ndarray of shape (1, m)
        Linear kernel only.
    support_vectors_ : ndarray of shape (s, m)
        Rows with a weight; not with the linear kernel.
    dual_coef_ : ndarray of shape (s,)
        Weights of the support vectors.
    intercept_ : ndarray of shape (1,)
    prior_, lam_, width_ : float
        The values used.
    """

    prior: float | None
    lam: float | str
    kernel: str
    width: float | str
    random_state: RandomState
    prior_: float
    lam_: float
    width_: float
    degree: int
    coef0: float
    cache_size: float
    tol: float
    max_iter: int
    _intercept: float

    _parameter_constraints: ClassVar[Constraints] = {
        "prior": PRIOR,
        "lam": RIDGE,
        "kernel": [one_of("rbf", "linear", "polynomial")],
        "width": WIDTH,
        "degree": [FROM_ONE],
        "coef0": [NOT_NEGATIVE],
        "cache_size": [POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [FROM_ZERO],
        "prior_estimator": PRIOR_ESTIMATOR,
        "random_state": ["random_state"],
        "threshold": THRESHOLD,
    }
    _prior_in_objective = True
    _rules: ClassVar[Mapping[str, Rule]] = {"lam": half_ridge_of_means, "width": median_distance}

    coef_, intercept_ = COEF, INTERCEPT
    saved_state: ClassVar[State] = {
        "_coef": Array("m"),
        "_intercept": Scalar(),
        "support_vectors_": Array("s", "m"),
        "dual_coef_": Array("s"),
    }

    def _kernel(self, X: Floats) -> Kernel:
        """Return the kernel; raise ValueError if its values times dual variables of 1 / (2 lam) nearly overflow."""
        kernel = Kernel(self.kernel, self.width_, self.degree, self.coef0).check()
        with np.errstate(over="ignore"):
            if kernel.name == "rbf":
                largest = float(Kernel("linear").diagonal(X).max()) / kernel.width / kernel.width
            else:
                largest = float(kernel.diagonal(X).max())
            dual = max(1.0, 0.5 / self.lam_)
            largest *= dual * dual
        if not largest < LARGEST:
            raise ValueError(
                f"the numbers of this fit overflow ({largest:.3g}): scale the features (for example to unit variance), "
                "or choose a lower degree, a larger width or a larger lam."
            )
        return kernel

    def _advice(self) -> str:
        if self.n_iter_ >= self.max_iter:
            return super()._advice()
        return (
            "more would not help: rounding, or features of very different size. Scale the features (each to unit "
            "variance, say), or loosen tol"
        )

    def _center(self, X: Floats) -> Floats | None:
        """Return the mean (m,) to subtract from rows (n, m) that are far from the origin; None for other rows.

        With the linear kernel an offset only changes the intercept, but it costs inner products digits.
        """
        if self.kernel != "linear":
            return None
        some = X[:: max(1, len(X) // _CENTER_ROWS)]
        center: Floats = some.mean(axis=0)
        spread = float(np.sqrt(((some - center) ** 2).sum(axis=1).mean()))
        return center if float(np.linalg.norm(center)) > FAR * spread else None

    def _keep(
        self, X: Floats, weights: Floats, intercept: float, center: Floats | None = None, coef: Floats | None = None
    ) -> float:
        """Keep f = sum_i weights_i k(x_i, .) + intercept, as coefficients if linear, else as the rows with a weight.

        `center` (m,) was subtracted from the rows, and `coef` (m,) is weights'X, if known. Returns the shift of f by
        rounding of the intercept.
        """
        self._intercept = float(intercept)
        if self.kernel == "linear":
            self._coef = weights @ X if coef is None else coef
            if center is None:
                return 0.0
            self._intercept -= float(center @ self._coef)
            exact = np.longdouble(intercept) - center.astype(np.longdouble) @ self._coef
            return float(np.longdouble(self._intercept) - exact)
        support = np.flatnonzero(weights)
        self.support_vectors_, self.dual_coef_ = X[support], weights[support]
        return 0.0

    def _score(self, X: Floats) -> Floats:
        if self.kernel == "linear":
            return X @ self._coef + self._intercept
        kernel = Kernel(self.kernel, self.width_, self.degree, self.coef0)
        values: Floats = kernel.combination(X, self.support_vectors_, self.dual_coef_)
        return values + self._intercept
