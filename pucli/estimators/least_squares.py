"""Least squares classification with 0/1 coded labels: supervised, ICLS and the never-worse CPLS (Bertazzi 2018, 3)."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from pucli.estimators.base.semi_supervised import SemiSupervisedClassifier
from pucli.solvers.safe.least_squares import least_squares, safe_least_squares


class _LeastSquaresClassifier(SemiSupervisedClassifier):
    """Binary: f(x) = x.coef_ + intercept_ is fitted to labels 0 and 1; the greater class where f(x) > 1/2."""

    _unit = "squared error, summed over all rows,"
    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        "lam": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
    }

    def _set_supervised(self, X, y) -> np.ndarray:
        w = least_squares(X, y, lam=self.lam, fit_intercept=self.fit_intercept)
        self.coef_, self.intercept_ = w[:-1], float(w[-1])
        residual = X @ w[:-1] + w[-1] - y
        self.objective_ = float(residual @ residual + self.lam * (w[:-1] @ w[:-1]))
        self.dual_gap_, self.n_iter_, self.converged_ = 0.0, 1, True
        return w

    def decision_function(self, X):
        """Return f(x) - 1/2 for each row of X (n, D), shape (n,); positive means the greater label."""
        return self._validate_predict(X) @ self.coef_ + self.intercept_ - 0.5

    def predict(self, X):
        """Return the label of each row of X (n, D), shape (n,)."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def squared_error(self, X, y) -> float:
        """Return the sum over rows of (code - f(x))^2, the measure in which CPLS is safe; y (n,) has no -1.

        With `lam` > 0 the guarantee is about this sum plus lam ||coef_||^2.
        """
        f = self._validate_predict(X) @ self.coef_ + self.intercept_
        return float(np.sum((self._codes_of(y, len(f)) - f) ** 2))

    def own_loss(self, X, y) -> float:
        """Return `squared_error` plus lam ||coef_||^2: the measure of the guarantee on the training rows."""
        return self.squared_error(X, y) + self.lam * float(self.coef_ @ self.coef_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class LeastSquares(_LeastSquaresClassifier):
    """Supervised least squares classifier: minimise sum_i (y_i - x_i.coef_ - intercept_)^2 + lam ||coef_||^2, (3.6).

    Parameters
    ----------
    lam : float, default 0
        Ridge on the slopes, in squared label units per squared slope.
    fit_intercept : bool, default True

    Attributes
    ----------
    coef_ : (D,) array; intercept_ : float
        Of least norm in standardised features where the labelled rows leave them undetermined (N <= D, lam = 0).
    classes_ : (2,) array; the lesser label is coded 0, the greater 1.
    objective_ : float, the minimised sum over the labelled rows; dual_gap_ = 0, n_iter_ = 1, converged_ = True.
    supervised_only_ : bool, whether y had no unlabeled row. Unlabeled rows are ignored.
    improvement_ : float, 0 by definition.

    References
    ----------
    Bertazzi 2018, section 3.2.
    """

    def __init__(self, lam=0.0, fit_intercept=True):
        self.lam = lam
        self.fit_intercept = fit_intercept

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to X (n, D) and labels y (n,); rows with label -1 are ignored.

        Raises ValueError for fewer or more than two classes among the labelled rows, or no labelled row.
        """
        X, codes = self._validate_fit(X, y)
        labelled = codes >= 0
        self._set_supervised(X[labelled], codes[labelled].astype(float))
        self.improvement_ = 0.0
        return self


class _SafeLeastSquares(_LeastSquaresClassifier):
    _metric = ""
    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        **_LeastSquaresClassifier._parameter_constraints,
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, lam=0.0, fit_intercept=True, tol=1e-8, max_iter=2000):
        self.lam = lam
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to X (n, D) and labels y (n,), -1 for unlabeled rows.

        Raises ValueError for fewer or more than two classes among the labelled rows, or no labelled row; warns
        (ConvergenceWarning) when the duality gap is above tol per row after max_iter sweeps.
        """
        X, codes = self._validate_fit(X, y)
        labelled = codes >= 0
        X_labelled, y_labelled = X[labelled], codes[labelled].astype(float)
        w = self._set_supervised(X_labelled, y_labelled)
        self.supervised_coef_, self.supervised_intercept_ = w[:-1].copy(), float(w[-1])
        self.soft_labels_, self.improvement_ = np.empty(0), 0.0
        if not self.supervised_only_:
            fit = safe_least_squares(
                X_labelled,
                y_labelled,
                X[~labelled],
                metric=self._metric,
                lam=self.lam,
                fit_intercept=self.fit_intercept,
                tol=self.tol,
                max_iter=self.max_iter,
            )
            self.coef_, self.intercept_ = fit.coef[:-1], float(fit.coef[-1])
            self.soft_labels_, self.improvement_ = fit.soft_labels, fit.improvement
            self.objective_, self.dual_gap_ = fit.objective, fit.gap
            self.n_iter_, self.converged_ = fit.n_iter, fit.converged
        self.gap_ = self.dual_gap_
        self._warn_unless_converged()
        return self


class CPLS(_SafeLeastSquares):
    """Contrastive pessimistic least squares: never worse than supervised, for any labels of the unlabeled rows.

    Solves min over w, max over soft labels y_u in [0, 1]^M of risk(w) - risk(w_sup), with the risk ||y_e - X_e w||^2
    (+ lam ||slopes||^2) over all N + M rows, (3.15); the same as the projection of w_sup on the solutions of all
    labellings in the metric of all rows (Prop. 3.4) and as the quadratic programme of Prop. 3.12.

    Parameters
    ----------
    lam : float, default 0
        Ridge on the slopes, in the supervised and the semi-supervised risk alike.
    fit_intercept : bool, default True
    tol : float, default 1e-8
        Duality gap per row at which to stop, in squared label units.
    max_iter : int, default 2000
        Largest number of coordinate sweeps.

    Attributes
    ----------
    coef_ : (D,) array; intercept_ : float; supervised_coef_, supervised_intercept_ : the supervised solution.
    soft_labels_ : (M,) array, the most adversarial labels of the unlabeled rows, in their order.
    improvement_ : float >= 0
        risk(supervised) - risk(this) on all rows is at least this for every labelling (Theorem 3.6), for the returned
        coefficients, converged or not. A bound on the rounding of double precision is subtracted, so that it is lower
        than the exact value where features are large against their spread; 0 where rounding could explain the gain.
    gap_ = dual_gap_ : float, proven distance of the contrastive risk from its saddle value.
    objective_ : float, the contrastive risk at (coef_, soft_labels_), <= 0. Where no improvement is certain the
        supervised coefficients are returned (a fall-back), with improvement_ = objective_ = 0: their contrastive risk
        is 0 for all labels, so that the soft labels found are as adversarial as any, and gap_ bounds its distance
        from the saddle value.
    n_iter_, converged_, classes_, supervised_only_.

    References
    ----------
    Bertazzi 2018, section 3.4; Krijthe & Loog 2017, Projected estimators for robust semi-supervised classification.
    """

    _metric = "all"

    def _fell_back(self) -> bool:
        return self.improvement_ == 0.0 and not self.supervised_only_


class ICLS(_SafeLeastSquares):
    """Implicitly constrained least squares: the best labelled risk among the solutions of all labellings, (3.11).

    Minimises ||y - X w||^2 (+ lam ||slopes||^2) over w in the constraint set (3.8). Often better than CPLS, but
    without its guarantee: `improvement_`, the gain over supervised for the worst labelling, may be negative (0 within
    rounding).

    Parameters and attributes are those of `CPLS`; objective_ is the labelled risk, and soft_labels_ are labels whose
    least squares solution (coef_, intercept_) is. Where the labelled rows leave that undetermined, several attain the
    minimum and the one reached from the supervised predictions is returned.

    References
    ----------
    Bertazzi 2018, section 3.3.2; Krijthe & Loog 2015, Implicitly constrained semi-supervised least squares.
    """

    _metric = "labelled"
