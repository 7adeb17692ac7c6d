"""Logistic regression on labeled rows that are weighted by a ratio of densities (DRESS I and II)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from pucli.core.arrays import Floats
from pucli.core.saved_state import Array, Scalar, State
from pucli.estimators.base.certificate import COEF, INTERCEPT
from pucli.estimators.base.parameters import FROM_ONE, NOT_NEGATIVE, POSITIVE, Constraints, NumberIn, one_of
from pucli.estimators.base.semi_supervised import SemiSupervisedClassifier
from pucli.solvers.safe.dress import density_ratio, weighted_logistic
from pucli.solvers.safe.gaussian import sample_moments

_SINGULAR = 1e-10  # smallest eigenvalue of a covariance, in standardized features


class DRESS(SemiSupervisedClassifier):
    """Density ratio estimation-based semi-supervised logistic regression, DRESS I and II.

    Maximizes sum_i w_i log p(y_i | x_i) over the labeled rows, with w_i = (g'(x_i) + r) / (g(x_i) + r) and
    r = rho N^nu. g and g' are Gaussians, fitted to the N labeled rows and to the unlabeled ones (I) or all rows (II).
    If the features are Gaussian and there are more unlabeled than labeled rows, the variance of the coefficients is,
    for many rows, never above that of the supervised fit; it is below it if the logistic model is wrong, and DRESS II
    has less than DRESS I. For few rows there is no guarantee.

    Parameters
    ----------
    numerator : {"all", "unlabeled"}, default="all"
        Rows that g' is fitted to: "all" is DRESS II, "unlabeled" DRESS I.
    rho : float, default=1.0
        Regularization of the weights, at least 0, in units of the greatest value of g.
    nu : float in (-1/2, 0), default=-0.25
        Exponent of N in the regularization.
    lam : float, default=0.001
        Ridge lam/2 ||coef_||^2 beside the sum over the labeled rows, which keeps the coefficients finite.
    ridge : float, default=0.0
        Variance added to every feature of g and g', in squared units of the features.
    tol : float, default=1e-9
        Duality gap at which to stop, relative to the sum of the weights.
    max_iter : int, default=200
        Largest number of Newton steps.

    Attributes
    ----------
    coef_ : ndarray of shape (1, D)
    intercept_ : ndarray of shape (1,)
    weights_ : ndarray of shape (N,)
        Weights of the labeled rows, in their order; 1 without unlabeled rows.
    objective_ : float
        The minimized -sum_i w_i log p(y_i | x_i) + lam/2 ||coef_||^2.
    dual_gap_ : float
        Proven distance of `objective_` from its minimum.
    improvement_ : float
        NaN, or 0 without unlabeled rows.
    n_iter_, converged_, classes_, supervised_only_
        As in `LeastSquares`.

    References
    ----------
    Kawakita & Takeuchi 2014, Safe semi-supervised learning based on weighted likelihood; Bertazzi 2018, section 2.3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import DRESS
    >>> X, y = make_blobs(100, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> model = DRESS().fit(X, np.where(np.arange(100) < 20, y, -1))
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _coef: Floats
    _intercept: float

    _column_matrices = 6

    _parameter_constraints: ClassVar[Constraints] = {
        "numerator": [one_of("all", "unlabeled")],
        "rho": [NOT_NEGATIVE],
        "nu": [NumberIn(Real, -0.5, 0, closed="neither")],
        "lam": [POSITIVE],
        "ridge": [NOT_NEGATIVE],
        "tol": [POSITIVE],
        "max_iter": [FROM_ONE],
    }

    coef_, intercept_ = COEF, INTERCEPT
    saved_state: ClassVar[State] = {
        "_coef": Array("m"),
        "_intercept": Scalar(),
        "weights_": Array("l", low=0.0),
    }

    def __init__(
        self,
        numerator: str = "all",
        rho: float = 1.0,
        nu: float = -0.25,
        lam: float = 1e-3,
        ridge: float = 0.0,
        tol: float = 1e-9,
        max_iter: int = 200,
    ) -> None:
        self.numerator = numerator
        self.rho = rho
        self.nu = nu
        self.lam = lam
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows, labeled and unlabeled.
        y : array-like of shape (n,)
            Labels, -1 for unlabeled rows.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of its range, X has NaN or infinite values, the labeled rows have fewer than two
            classes (or more than two, for a binary method), or the model cannot be fitted to the rows.

        Warns
        -----
        ConvergenceWarning
            If the tolerance is not reached.
        """
        X, codes = self._check_rows(X, y)
        labeled = codes >= 0
        own = X[labeled]
        self.weights_, self.improvement_ = np.ones(len(own)), 0.0
        if not self.supervised_only_:
            self.improvement_ = np.nan
            self.weights_ = self._weights(own, X if self.numerator == "all" else X[~labeled])
        y = np.where(codes[labeled] == 1, 1.0, -1.0)
        fit = weighted_logistic(own, y, self.weights_, lam=self.lam, tol=self.tol, max_iter=self.max_iter)
        self._coef, self._intercept = fit.coef[:-1], float(fit.coef[-1])
        self._keep_certificate(fit)
        return self._finish(X, codes)

    def _weights(self, own: Floats, other: Floats) -> Floats:
        """Return the weights (N,) of the labeled rows `own` (N, D), with g' fitted to the rows `other`."""
        for rows, whose in ((own, "labeled"), (other, self.numerator)):
            deviation = np.sqrt(rows.var(axis=0) + self.ridge)
            deviation[deviation == 0.0] = 1.0
            correlation = sample_moments(rows / deviation, self.ridge / deviation**2).covariance
            if not np.linalg.eigvalsh(correlation)[0] > _SINGULAR:
                raise ValueError(
                    f"the covariance of {len(rows)} rows ({whose}) of {self.n_features_in_} features is singular: set "
                    "ridge > 0 (a variance added to every feature), or drop constant or repeated features."
                )
        scale = np.sqrt(own.var(axis=0) + self.ridge)
        middle = own.mean(axis=0)
        weights = density_ratio(
            (own - middle) / scale, (other - middle) / scale, rho=self.rho, nu=self.nu, ridge=self.ridge / scale**2
        )
        if not np.isfinite(weights).all():
            raise ValueError("the ratio of the densities overflows at a labeled row: set rho > 0.")
        return weights

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the log odds of the greater label for each row of X (n, D), shape (n,)."""
        return self._validate_predict(X) @ self._coef + self._intercept

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probabilities of both classes for each row of X (n, D), (n, 2)."""
        odds = self.decision_function(X)
        return np.column_stack([expit(-odds), expit(odds)])

    def own_loss(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return minus the log-likelihood of labels y (n,) of the rows X (n, D), in nats; no label is -1."""
        odds = self.decision_function(X)
        signs = 2.0 * self._codes_of(y, len(odds)) - 1.0
        return float(np.sum(np.logaddexp(0.0, -signs * odds)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
