"""Least squares classification with 0/1 coded labels: supervised, ICLS and the never-worse CPLS (Bertazzi 2018, 3)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import Floats, Ints
from pucli.core.saved_state import Array, Scalar, State
from pucli.estimators.base.certificate import COEF, INTERCEPT
from pucli.estimators.base.parameters import FROM_ONE, NOT_NEGATIVE, POSITIVE, Constraints
from pucli.estimators.base.semi_supervised import SemiSupervisedClassifier
from pucli.solvers.kernels.few_rows import coordinates_of_rows, is_wide
from pucli.solvers.result import CLOSED_FORM, Certificate
from pucli.solvers.safe.least_squares import (
    contrast,
    excess_risk,
    fitted_values,
    least_squares,
    risk,
    rounding_of_values,
    safe_least_squares,
)

_STOPPING: Constraints = {"tol": [POSITIVE], "max_iter": [FROM_ONE]}


class _LeastSquaresClassifier(SemiSupervisedClassifier):
    """Base: f(x) = x.coef_ + intercept_ is fitted to labels 0 and 1; the greater label is predicted if f(x) > 1/2."""

    _unit = "squared error, summed over all rows,"
    lam: float
    fit_intercept: bool
    tol: float
    max_iter: int
    _coef: Floats
    _intercept: float

    _parameter_constraints: ClassVar[Constraints] = {
        "lam": [NOT_NEGATIVE],
        "fit_intercept": ["boolean"],
    }

    coef_, intercept_ = COEF, INTERCEPT
    saved_state: ClassVar[State] = {
        "_coef": Array("m"),
        "_intercept": Scalar(),
        "supervised_coef_": Array("m"),
        "supervised_intercept_": Scalar(),
    }

    def _fit_supervised(self, X: Floats, y: Floats) -> Floats:
        """Keep the fit to labeled rows X (N, D) with codes y (N,); return its coefficients, the intercept last."""
        w = least_squares(X, y, lam=self.lam, fit_intercept=self.fit_intercept)
        self._coef, self._intercept = w[:-1], float(w[-1])
        residual = X @ w[:-1] + w[-1] - y
        objective = float(residual @ residual + self.lam * (w[:-1] @ w[:-1]))
        gap = 0.0
        if rounding_of_values(X, w) > 0.0:
            objective = risk(X, y, w, self.lam)
            gap = excess_risk(X, y, w, lam=self.lam, fit_intercept=self.fit_intercept)
        converged = gap <= CLOSED_FORM * len(y)
        self._keep_certificate(Certificate(objective=objective, gap=gap, n_iter=1, converged=converged))
        return w

    def _keep_coordinates(self, basis: Floats | None) -> None:
        """Turn coefficients for the coordinates of `few_coordinates` into those of the columns."""
        if basis is not None:
            for name in ("_coef", "supervised_coef_"):
                if hasattr(self, name):
                    setattr(self, name, basis @ getattr(self, name))

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return f(x) - 1/2 for each row of X (n, D), shape (n,); above zero for the greater label."""
        return self._validate_predict(X) @ self._coef + self._intercept - 0.5

    def squared_error(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the sum over rows of (code - f(x))^2, the measure in which CPLS is safe; y (n,) has no -1.

        With `lam` > 0 the guarantee holds for this sum plus lam ||coef_||^2.
        """
        f = self._validate_predict(X) @ self._coef + self._intercept
        return float(np.sum((self._codes_of(y, len(f)) - f) ** 2))

    def own_loss(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return `squared_error` plus lam ||coef_||^2: the measure of the guarantee on the training rows."""
        return self.squared_error(X, y) + self.lam * float(self._coef @ self._coef)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def few_coordinates(X: Floats) -> tuple[Floats, Floats | None]:
    """Return coordinates of rows X (n, D) in their span and its basis, or X itself and None where D is not large."""
    return coordinates_of_rows(X) if is_wide(X) else (X, None)


class LeastSquares(_LeastSquaresClassifier):
    """Supervised least squares classifier: minimize sum_i (y_i - x_i.coef_ - intercept_)^2 + lam ||coef_||^2, (3.6).

    Parameters
    ----------
    lam : float, default=0.0
        Ridge on the slopes, in squared label units per squared slope.
    fit_intercept : bool, default=True
        Whether to fit an intercept; otherwise it is 0.

    Attributes
    ----------
    coef_ : ndarray of shape (1, D)
        Coefficients; of least norm in standardized features if they are not determined (N <= D, lam = 0).
    intercept_ : ndarray of shape (1,)
    classes_ : ndarray of shape (2,)
        The labels; the smaller one is coded 0, the greater one 1.
    objective_ : float
        The minimized sum over the labeled rows.
    dual_gap_ : float
        0, as the solution is in closed form; with very large features, the cost of rounding.
    supervised_only_ : bool
        Whether y had no unlabeled row. Unlabeled rows are ignored.
    improvement_ : float
        0 by definition.
    n_iter_, converged_
        1 and True.

    References
    ----------
    Bertazzi 2018, section 3.2.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import LeastSquares
    >>> X, y = make_blobs(100, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> bool(LeastSquares().fit(X[:10], y[:10]).score(X, y) > 0.9)
    True
    """

    def __init__(self, lam: float = 0.0, fit_intercept: bool = True) -> None:
        self.lam = lam
        self.fit_intercept = fit_intercept

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
        rows, basis = few_coordinates(X)
        labeled = codes >= 0
        self._fit_supervised(rows[labeled], codes[labeled].astype(float))
        self.improvement_ = 0.0
        self._keep_coordinates(basis)
        return self._finish(X, codes)


class CPLS(_LeastSquaresClassifier):
    """Contrastive pessimistic least squares: never worse than supervised, for any labels of the unlabeled rows.

    Solves min over w, max over soft labels y_u in [0, 1]^M of risk(w) - risk(w_sup), with the risk ||y_e - X_e w||^2
    (+ lam ||slopes||^2) over all N + M rows, (3.15). It is equivalent to projecting w_sup onto the solutions of all
    labelings in the metric of all rows (Prop. 3.4), and to the quadratic program of Prop. 3.12. The thesis defines
    two classes; for several, fit one model per class against the other labeled rows: each is never worse in its risk,
    nor is their sum, the risk with one 0/1 code per class.

    Parameters
    ----------
    lam : float, default=0.0
        Ridge on the slopes, in both the supervised and the semi-supervised risk.
    fit_intercept : bool, default=True
        Whether to fit an intercept; otherwise it is 0.
    tol : float, default=1e-8
        Duality gap per row at which to stop, in squared label units.
    max_iter : int, default=2000
        Largest number of coordinate sweeps.

    Attributes
    ----------
    coef_ : ndarray of shape (1, D)
    intercept_ : ndarray of shape (1,)
    supervised_coef_, supervised_intercept_ : ndarray of shape (D,), float
        The supervised solution.
    soft_labels_ : ndarray of shape (M,)
        The most adversarial labels of the unlabeled rows, in their order.
    improvement_ : float
        risk(supervised) - risk(this) on all rows is at least this for every labeling (Theorem 3.6). It is not negative
        and holds for the returned coefficients, converged or not. A bound on the rounding error is subtracted, which
        lowers it if features are large compared with their spread; it is 0 if rounding could explain the gain.
    dual_gap_ : float
        Proven distance of the contrastive risk from its saddle value; `gap_` is the same.
    objective_ : float
        The contrastive risk at (coef_, soft_labels_), at most 0. If no improvement is guaranteed, the supervised
        coefficients are returned, with improvement_ = objective_ = 0: their contrastive risk is 0 for all labels, so
        that any soft labels are equally adversarial, and the gap bounds its distance from the saddle value.
    n_iter_, converged_, classes_, supervised_only_
        As in `LeastSquares`.

    References
    ----------
    Bertazzi 2018, section 3.4; Krijthe & Loog 2017, Projected estimators for robust semi-supervised classification.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import CPLS
    >>> X, y = make_blobs(100, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> model = CPLS().fit(X, np.where(np.arange(100) < 10, y, -1))
    >>> bool(model.improvement_ >= 0)
    True
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _safe = True

    _parameter_constraints: ClassVar[Constraints] = {**_LeastSquaresClassifier._parameter_constraints, **_STOPPING}

    def __init__(self, lam: float = 0.0, fit_intercept: bool = True, tol: float = 1e-8, max_iter: int = 2000) -> None:
        self.lam = lam
        self.fit_intercept = fit_intercept
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
        rows, basis = few_coordinates(X)
        labeled = codes >= 0
        w = self._fit_supervised(rows[labeled], codes[labeled].astype(float))
        self.supervised_coef_, self.supervised_intercept_ = w[:-1].copy(), float(w[-1])
        self.soft_labels_, self.improvement_ = np.empty(0), 0.0
        if not self.supervised_only_:
            fit_soft_labels(self, rows, codes, w, metric="all")
        self.gap_ = self.dual_gap_
        self._keep_coordinates(basis)
        return self._finish(X, codes)


class ICLS(_LeastSquaresClassifier):
    """Implicitly constrained least squares: the best labeled risk among the solutions of all labelings, (3.11).

    Minimizes ||y - X w||^2 (+ lam ||slopes||^2) over w in the constraint set (3.8). Often better than CPLS, but
    without its guarantee: `improvement_`, the gain over supervised for the worst labeling, may be negative (0 within
    rounding). It is defined for two classes; for several, fit one model per class against the other labeled rows.

    Parameters
    ----------
    lam : float, default=0.0
        Ridge on the slopes.
    fit_intercept : bool, default=True
        Whether to fit an intercept; otherwise it is 0.
    tol : float, default=1e-8
        Duality gap per row at which to stop, in squared label units.
    max_iter : int, default=2000
        Largest number of coordinate sweeps.

    Attributes
    ----------
    objective_ : float
        The labeled risk.
    soft_labels_ : ndarray of shape (M,)
        Labels of the unlabeled rows whose least squares solution is (coef_, intercept_). If the labeled rows do not
        determine it, several solutions attain the minimum, and the one reached from the supervised predictions is
        returned.
    coef_, intercept_, supervised_coef_, supervised_intercept_, improvement_, dual_gap_, n_iter_, converged_, classes_
        As in `CPLS`.

    References
    ----------
    Bertazzi 2018, section 3.3.2; Krijthe & Loog 2015, Implicitly constrained semi-supervised least squares.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import ICLS
    >>> X, y = make_blobs(100, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> model = ICLS().fit(X, np.where(np.arange(100) < 10, y, -1))
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {**_LeastSquaresClassifier._parameter_constraints, **_STOPPING}

    def __init__(self, lam: float = 0.0, fit_intercept: bool = True, tol: float = 1e-8, max_iter: int = 2000) -> None:
        self.lam = lam
        self.fit_intercept = fit_intercept
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
        rows, basis = few_coordinates(X)
        labeled = codes >= 0
        w = self._fit_supervised(rows[labeled], codes[labeled].astype(float))
        self.supervised_coef_, self.supervised_intercept_ = w[:-1].copy(), float(w[-1])
        self.soft_labels_, self.improvement_ = np.empty(0), 0.0
        if not self.supervised_only_:
            fit_soft_labels(self, rows, codes, w, metric="labeled")
        self.gap_ = self.dual_gap_
        self._keep_coordinates(basis)
        return self._finish(X, codes)


def fit_soft_labels(model: CPLS | ICLS, X: Floats, codes: Ints, supervised: Floats, *, metric: str) -> None:
    """Find the labels of the unlabeled rows together with the coefficients, and keep both."""
    labeled = codes >= 0
    own, y = X[labeled], codes[labeled].astype(float)
    fit = safe_least_squares(
        own,
        y,
        X[~labeled],
        metric=metric,
        lam=model.lam,
        fit_intercept=model.fit_intercept,
        tol=model.tol,
        max_iter=model.max_iter,
    )
    w = fit.coef
    model._coef, model._intercept = w[:-1], float(w[-1])
    model.soft_labels_, model.improvement_ = fit.soft_labels, fit.improvement
    model._keep_certificate(fit)
    # the objective of the rounded coefficients, and what rounding them changes
    error = rounding_of_values(X, np.maximum(np.abs(w), np.abs(supervised)))
    if error == 0.0:
        return
    if metric == "all":
        rows, labels = np.vstack([own, X[~labeled]]), np.append(y, model.soft_labels_)
        objective = contrast(rows, labels, w, supervised, model.lam)
    else:
        objective = risk(own, y, w, model.lam)
    # an `error` in a fitted value changes the risk by twice the error times the residual
    reach = float(np.abs(fitted_values(X, w)).sum()) + len(X)
    model.dual_gap_ += abs(objective - model.objective_) + 2.0 * error * reach + len(X) * error**2
    model.objective_ = objective
    model.converged_ = bool(model.converged_ and model.dual_gap_ <= model.tol * len(X))
