"""Biased SVM and biased least-squares SVM: unlabeled rows are negatives with a separate weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import _check_sample_weight

from pucli.core.arrays import Bools, Floats
from pucli.core.saved_state import Array, Scalar, State
from pucli.estimators.base.certificate import COEF, INTERCEPT, OF_SCORES
from pucli.estimators.base.data_defaults import Rule, balanced, median_distance, ridge_of_sums
from pucli.estimators.base.parameters import (
    FROM_ONE,
    POSITIVE,
    RIDGE,
    THRESHOLD,
    WEIGHT,
    WIDTH,
    Constraints,
    Label,
    one_of,
)
from pucli.estimators.base.pu import PUClassifier
from pucli.estimators.global_local.feature_model import LANDMARKS, FeatureModel
from pucli.estimators.global_local.libsvm import solve_by_libsvm
from pucli.solvers.glpual.gllc import solve_gllc
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.glpual.sparse import solve_blssvm_sparse
from pucli.solvers.kernels.few_rows import is_wide
from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.kernels.graph import NO_EDGES
from pucli.solvers.row_losses.kernel import DENSE_ROWS, solve_kernel_rows
from pucli.solvers.row_losses.linear import keeps_w, solve_linear
from pucli.solvers.row_losses.losses import RowLosses, Scale, intercept_and_gap
from pucli.solvers.svm.hinge import by_features, by_newton, feasible, hinge_losses
from pucli.solvers.svm.squares import solve_weighted_squares

# A solver that stops above our tolerance continues at this share of the smaller of the two tolerances.
TIGHTER = 0.1
# After this many pair steps times the number of rows, a kernel matrix of low rank is replaced by its features.
PAIRS_BEFORE_FEATURES = 20
# Of sparse rows, which are solved so quickly that a row of weight 2 may equal two rows to seven digits.
SPARSE_TOLERANCE = 1e-9
NO_DIGITS = np.finfo(float).eps  # a gap below this share of the objective is rounding

_RULES: Mapping[str, Rule] = {"lam": ridge_of_sums, "c_u": balanced, "width": median_distance}


class BSVM(PUClassifier):
    """Biased SVM: hinge loss, with unlabeled rows as negatives of a separate weight.

    Minimizes lam/2 |g|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u [1 + f_i]_+ over f = g + beta_0. With the linear kernel
    and at least two rows per column, w is found by semismooth Newton steps, for any number of rows. Otherwise, up to
    4000 rows, the kernel matrix is computed, and steps on pairs of rows alternate with Newton steps on the free rows.
    More rows are fitted by libsvm, which may stop early if row weights are ten times `lam` or more. With the linear
    kernel, sparse rows stay sparse: w is found by Newton steps with conjugate gradients.

    Parameters
    ----------
    lam : float or "scale", default="scale"
        Ridge; "scale" is 2 c_p n_p / n.
    c_p : float, default=1.0
        Weight of each labeled row.
    c_u : float or "balanced", default="balanced"
        Weight of each unlabeled row; "balanced" is c_p n_p / n_u, at which both kinds have the same total.
    kernel : {"linear", "rbf"}, default="linear"
    width : float or "median", default="median"
        Width of the RBF kernel exp(-d^2 / (2 width^2)), in units of X; "median" is the median distance between two
        rows.
    tol : float, default=1e-4
        Relative duality gap to reach.
    max_iter : int, default=1_000_000
        Largest number of steps: Newton steps if w is kept, otherwise steps on pairs of rows.
    pos_label : label or None, default=None
        The label of y that marks labeled positives, as in `GLPUAL`.
    threshold : float or None, default=None
        As in `GLPUAL`.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (s, m)
        Rows with a weight in g; not there for sparse rows, as `dual_coef_`.
    dual_coef_ : ndarray of shape (s,)
        Weights of the support vectors.
    coef_ : ndarray of shape (1, m)
        Linear kernel only.
    intercept_ : ndarray of shape (1,)
    objective_ : float
    dual_gap_ : float
        Proven bound on `objective_` minus the optimum.
    lam_, c_u_, width_, n_iter_, converged_, classes_, positive_share_, labeled_recall_
        As in `GLPUAL`.

    References
    ----------
    Liu, Dai, Li, Lee, Yu (2003); Wang (2024), eq. (2.2).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import BSVM
    >>> X, positive = make_blobs(120, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> y = positive.copy()
    >>> y[60:] = 0  # only positives among the first 60 rows are labeled
    >>> model = BSVM().fit(X, y)
    >>> bool((model.predict(X) == positive).mean() > 0.95)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "lam": RIDGE,
        "c_p": [POSITIVE],
        "c_u": WEIGHT,
        "kernel": [one_of("linear", "rbf")],
        "width": WIDTH,
        "tol": [POSITIVE],
        "max_iter": [FROM_ONE],
        "threshold": THRESHOLD,
    }

    coef_, intercept_ = COEF, INTERCEPT
    saved_state: ClassVar[State] = {
        "_coef": Array("m"),
        "_intercept": Scalar(),
        "support_vectors_": Array("s", "m"),
        "dual_coef_": Array("s"),
    }

    def __init__(  # noqa: PLR0913
        self,
        lam: float | str = "scale",
        c_p: float = 1.0,
        c_u: float | str = "balanced",
        kernel: str = "linear",
        width: float | str = "median",
        tol: float = 1e-4,
        max_iter: int = 1_000_000,
        pos_label: Label | None = None,
        threshold: float | None = None,
    ) -> None:
        self.lam = lam
        self.c_p = c_p
        self.c_u = c_u
        self.kernel = kernel
        self.width = width
        self.tol = tol
        self.max_iter = max_iter
        self.pos_label = pos_label
        self.threshold = threshold

    lam_: float
    c_u_: float
    width_: float
    _coef: Floats
    _intercept: float

    _rules: ClassVar[Mapping[str, Rule]] = _RULES

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows, labeled and unlabeled.
        y : array-like of shape (n,)
            Two labels: `pos_label` marks labeled positives, the other label unlabeled rows.
        sample_weight : array-like of shape (n,), optional
            Non-negative factors of the losses of rows. Weight 2 equals duplicating the row, weight 0 removing it.
            Defaults given by words, such as "balanced", count rows by weight.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of its range, y does not have two labels, X has NaN or infinite values, or there are
            too few rows.

        Warns
        -----
        ConvergenceWarning
            If the tolerance is not reached.
        DegenerateModelWarning
            If nearly no training row or nearly every one is predicted positive.
        """
        X, labeled = self._check_rows(X, y)
        X, labeled, given = _rows_of_weight(X, labeled, sample_weight)
        self._set_defaults(X, labeled, given)
        weights = np.where(labeled, self.c_p, self.c_u_) * (1.0 if given is None else given)
        signs = np.where(labeled, 1.0, -1.0)
        if issparse(X):
            return self._fit_sparse(X, labeled, hinge_losses(signs, weights / self.lam_))
        # shifting all rows only changes the intercept of a linear model, and rounding is smallest about their mean
        center = X.mean(axis=0) if self.kernel == "linear" else np.zeros(X.shape[1])
        rows = X - center if self.kernel == "linear" else X
        if self.kernel == "linear" and keeps_w(*X.shape):
            pull = self._fit_w(rows, signs, weights)
        elif len(X) <= DENSE_ROWS:
            pull = self._fit_rows(rows, signs, weights, np.zeros(len(X)), 0)
        else:
            pull = self._fit_libsvm(rows, signs, weights)
        self.support_vectors_, self.dual_coef_ = X[pull != 0.0], pull[pull != 0.0]
        if self.kernel == "linear":
            self._coef = rows.T @ pull
            intercept = abs(self._intercept)
            self._move_intercept(rows, signs, weights, center)
            sizes = np.abs(rows)
            # weights of rows may multiply the rounding of w in a score by 1e12
            reach = np.abs(self._coef) if given is None else sizes.T @ np.abs(pull)
            rounding = OF_SCORES * (sizes @ reach + intercept)
            self._add_cost(float(weights @ rounding), self.tol, known=False)
        else:
            scores = OF_SCORES * float(np.abs(pull).sum()) * float(weights.sum())
            self._add_cost(self.lam_ * Kernel("rbf", self.width_).rounding(X, pull) + scores, self.tol, known=False)
        self._prefer_constant(weights, labeled)
        return self._finish(X, labeled)

    @property
    def _sparse_format(self) -> str | bool:
        return "csr" if self.kernel == "linear" else False

    def _fit_sparse(self, X: Floats, labeled: Bools, losses: RowLosses) -> Self:
        for name in ("support_vectors_", "dual_coef_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        at_zero = -float(losses.lower.sum())  # of labeled rows at f = 0, which the solver's objective leaves out
        tol, scale = min(self.tol, SPARSE_TOLERANCE), Scale(at_zero, at_zero)
        found = solve_linear(X, losses, 0.0, np.zeros(X.shape[1]), tol=tol, max_iter=self.max_iter, scale=scale)
        self._coef, self._intercept = found.coef, float(found.intercept)
        self._keep_certificate(replace(found, objective=found.objective + at_zero), scale=self.lam_)
        self.converged_ = bool(self.dual_gap_ <= self.tol * self.objective_)
        return self._finish(X, labeled)

    def _move_intercept(self, X: Floats, signs: Floats, weights: Floats, center: Floats) -> None:
        """Set the intercept for rows from which `center` is not subtracted, and add the cost of rounding to the gap."""
        at_center = self._intercept
        self._intercept = at_center - float(center @ self._coef)
        shift = float(np.longdouble(self._intercept) - at_center + center.astype(np.longdouble) @ self._coef)
        f = X @ self._coef + (at_center + shift)
        loss = float((weights * np.maximum(1.0 - signs * f, 0.0)).sum())
        cost = 0.5 * self.lam_ * float(self._coef @ self._coef) + loss - self.objective_
        self._add_cost(cost, self.tol)

    def _prefer_constant(self, weights: Floats, labeled: Bools) -> None:
        """Keep the best constant f if it is better, as where features are too large for the solver."""
        losses = weights[~labeled].sum(), weights[labeled].sum()
        if self.converged_ or self.objective_ <= 2.0 * min(losses):
            return
        self._intercept = 1.0 if losses[0] < losses[1] else -1.0
        self.support_vectors_, self.dual_coef_ = self.support_vectors_[:0], self.dual_coef_[:0]
        self.objective_ = self.dual_gap_ = 2.0 * float(min(losses))
        if self.kernel == "linear":
            self._coef = np.zeros(self.n_features_in_)
        self.converged_ = False

    def _fit_w(self, X: Floats, signs: Floats, weights: Floats) -> Floats:
        """Fit the linear kernel by Newton steps on w; return each row's weight in g (n,)."""
        losses, aim, n_iter, dual = hinge_losses(signs, weights / self.lam_), self.tol, 0, np.zeros(len(X))
        while True:
            near, steps, reached = by_newton(X, losses, dual, aim, self.max_iter - n_iter)
            n_iter += steps
            dual = feasible(near, losses)
            self._certify(losses, dual, X @ -(X.T @ dual), n_iter)
            if self.converged_ or not reached or n_iter >= self.max_iter or aim < NO_DIGITS:
                break
            # the solver's objective leaves out sum_p c_p, so that its relative gap may be far smaller
            aim *= TIGHTER * min(1.0, self.tol * self.objective_ / self.dual_gap_)
        if not self.converged_ and len(X) <= DENSE_ROWS and n_iter < self.max_iter:
            return self._fit_rows(X, signs, weights, dual, n_iter)
        return -dual

    def _fit_rows(self, X: Floats, signs: Floats, weights: Floats, dual: Floats, n_iter: int) -> Floats:
        """Fit with the kernel matrix from `dual` (n,), reached after `n_iter` steps; return the same as `_fit_w`."""
        losses = hinge_losses(signs, weights / self.lam_)
        K = Kernel(self.kernel, self.width_).matrix(X, X)
        # twice the lesser weight is the value of the best constant f
        aim = self.tol * 2.0 * min(losses.upper.sum(), -losses.lower.sum())
        most = min(PAIRS_BEFORE_FEATURES * len(X), self.max_iter)
        while True:
            found = solve_kernel_rows(K, losses, dual, aim, min(most, self.max_iter - n_iter))
            n_iter += found.n_iter
            # for the certificate, without the rounding of pair steps, nor that of the kernel matrix of long rows
            dual = feasible(found.dual, losses)
            g = X @ -(X.T @ dual) if self.kernel == "linear" else K @ -dual
            self._certify(losses, dual, g, n_iter)
            if self.converged_ or n_iter >= self.max_iter or aim < NO_DIGITS * self.objective_ / self.lam_:
                return -dual
            if found.gap <= aim:
                aim = TIGHTER * min(aim, self.tol * self.objective_ / self.lam_)
            elif most < self.max_iter:
                most = self.max_iter
                dual, steps = by_features(K, losses, dual, self.tol, self.max_iter - n_iter)
                n_iter += steps
            else:
                return -dual

    def _certify(self, losses: RowLosses, dual: Floats, g: Floats, n_iter: int) -> None:
        """Keep the model of the dual variables (n,), each the slope of a row's loss over lam, and its certificate."""
        intercept, gap = intercept_and_gap(losses, 0.0, dual, -g)
        distance = g + intercept - losses.left
        loss = np.maximum(losses.lower * distance, losses.upper * distance).sum()
        self._intercept = intercept
        self.objective_, self.dual_gap_ = self.lam_ * float(loss - 0.5 * (dual @ g)), self.lam_ * gap
        self.converged_ = bool(self.dual_gap_ <= self.tol * self.objective_)
        self.n_iter_ = max(n_iter, 1)
        self.residual_ = np.nan

    def _fit_libsvm(self, X: Floats, signs: Floats, weights: Floats) -> Floats:
        """Fit by libsvm; return the same as `_fit_w`."""
        kernel = Kernel(self.kernel, self.width_)
        found = solve_by_libsvm(X, signs, weights, self.lam_, kernel, self.tol, self.max_iter)
        self._intercept, self.objective_, self.dual_gap_ = found.intercept, found.objective, found.gap
        self.converged_ = bool(found.gap <= self.tol * found.objective)
        self.n_iter_, self.residual_ = found.n_iter, np.nan
        return found.pull

    def _score(self, X: Floats) -> Floats:
        if self.kernel == "linear":
            return X @ self._coef + self._intercept
        result: Floats = Kernel("rbf", self.width_).combination(X, self.support_vectors_, self.dual_coef_)
        result += self._intercept
        return result


class BLSSVM(FeatureModel):
    """Biased least-squares SVM: the squared loss on labeled and on unlabeled rows, in closed form.

    Minimizes lam/2 |g|^2 + c_p sum_p (1 - f_i)^2 + c_u sum_u (1 + f_i)^2 over f = g + beta_0, which is GLLC without the
    graph. With the linear kernel, rows may be sparse; the memory is then proportional to the number of non-zeros.

    Parameters
    ----------
    lam : float or "scale", default="scale"
        Ridge; "scale" is 2 c_p n_p / n.
    c_p : float, default=1.0
        Weight of each labeled row.
    c_u : float or "balanced", default="balanced"
        Weight of each unlabeled row; "balanced" is c_p n_p / n_u, at which both kinds have the same total.
    kernel : {"linear", "rbf"}, default="linear"
    width : float or "median", default="median"
        Width of the RBF kernel exp(-d^2 / (2 width^2)), in units of X; "median" is the median distance between two
        rows.
    max_rank : int or None, default=None
        Largest rank of the kernel features. None is no limit up to 4000 rows, 2000 up to 10,000 rows, and 500 above.
    pos_label : label or None, default=None
        The label of y that marks labeled positives, as in `GLPUAL`.
    threshold : float or None, default=None
        As in `GLPUAL`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, r)
        Coefficients of X (linear) or of the low-rank kernel features.
    intercept_ : ndarray of shape (1,)
    objective_ : float
    dual_gap_ : float
        Half the squared gradient in the metric of the inverse Hessian: `objective_` minus the optimum.
    lam_, c_u_, width_, n_iter_, converged_, classes_, positive_share_, labeled_recall_
        As in `GLPUAL`.

    References
    ----------
    Ke, Jing, Lv, Xu, Zhou (2018); Wang (2024), eq. (2.4).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import BLSSVM
    >>> X, positive = make_blobs(120, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> y = positive.copy()
    >>> y[60:] = 0  # only positives among the first 60 rows are labeled
    >>> model = BLSSVM().fit(X, y)
    >>> bool((model.predict(X) == positive).mean() > 0.95)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **FeatureModel._parameter_constraints,
        "lam": RIDGE,
        "c_p": [POSITIVE],
        "c_u": WEIGHT,
    }

    def __init__(
        self,
        lam: float | str = "scale",
        c_p: float = 1.0,
        c_u: float | str = "balanced",
        kernel: str = "linear",
        width: float | str = "median",
        max_rank: int | None = None,
        pos_label: Label | None = None,
        threshold: float | None = None,
    ) -> None:
        self.lam = lam
        self.c_p = c_p
        self.c_u = c_u
        self.kernel = kernel
        self.width = width
        self.max_rank = max_rank
        self.pos_label = pos_label
        self.threshold = threshold

    lam_: float
    c_u_: float

    _rules: ClassVar[Mapping[str, Rule]] = _RULES

    @property
    def _sparse_format(self) -> str | bool:
        return "csr" if self.kernel == "linear" else False

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows, labeled and unlabeled.
        y : array-like of shape (n,)
            Two labels: `pos_label` marks labeled positives, the other label unlabeled rows.
        sample_weight : array-like of shape (n,), optional
            Non-negative factors of the losses of rows. Weight 2 equals duplicating the row, weight 0 removing it.
            Defaults given by words, such as "balanced", count rows by weight.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of its range, y does not have two labels, X has NaN or infinite values, or there are
            too few rows.

        Warns
        -----
        ConvergenceWarning
            If the tolerance is not reached.
        DegenerateModelWarning
            If nearly no training row or nearly every one is predicted positive.
        """
        X, labeled = self._check_rows(X, y)
        X, labeled, given = _rows_of_weight(X, labeled, sample_weight)
        self._set_defaults(X, labeled, given)
        if issparse(X) or (self.kernel == "linear" and is_wide(X)):
            result = solve_blssvm_sparse(csr_array(X), labeled, self.lam_, self.c_p, self.c_u_, weights=given)
        elif given is not None:
            weights = given * np.where(labeled, self.c_p, self.c_u_)
            features = self._features(X, LANDMARKS)
            result = solve_weighted_squares(features, np.where(labeled, 1.0, -1.0), weights, self.lam_)
        else:
            features = self._features(X, LANDMARKS)
            result = solve_gllc(GlobalLocalProblem(features, labeled, NO_EDGES, self.lam_, self.c_p, self.c_u_))
        self._keep_coef(result.coef)
        self._keep_certificate(result)
        return self._finish(X, labeled)


def _rows_of_weight(X: Floats, labeled: Bools, sample_weight: ArrayLike | None) -> tuple[Floats, Bools, Floats | None]:
    """Return the rows and marks whose weight is not zero, and their weights (n,), None where none are given."""
    if sample_weight is None:
        return X, labeled, None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    kept = weights > 0.0
    X, labeled, weights = X[kept], labeled[kept], weights[kept]
    if labeled.all() or not labeled.any():
        raise ValueError("sample_weight leaves one class: it is zero for all labeled or for all unlabeled rows.")
    return X, labeled, weights
