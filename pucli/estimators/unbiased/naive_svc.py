"""The plain baseline: scikit-learn's SVC with unlabeled rows as negatives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils.validation import check_random_state

from pucli.core.arrays import Bools, Floats, Ints
from pucli.core.saved_state import STATEMENT, Array, Nested, Scalar, State
from pucli.data.splits.groups import group_numbers
from pucli.estimators.base.certificate import COEF, INTERCEPT, OF_SCORES
from pucli.estimators.base.class_prior import PRIOR, PRIOR_ESTIMATOR, resolve_prior
from pucli.estimators.base.parameters import POSITIVE, THRESHOLD, Constraints, Label, RandomState, one_of
from pucli.estimators.base.pu import PUClassifier
from pucli.estimators.global_local.libsvm import rbf_gamma
from pucli.solvers.folds import number_of_folds, stratified_folds
from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.kernels.low_rank import rbf_features, rbf_map
from pucli.solvers.result import Certificate
from pucli.solvers.row_losses.linear import solve_linear
from pucli.solvers.svm.hinge import hinge_losses, svm_gap

# Above this many rows libsvm is not used: its time grows with their square, and it cannot be interrupted.
LIBSVM_ROWS = 10_000
# Rank of the kernel features above that: this many numbers in total, within limits.
FEATURE_NUMBERS = 20_000_000
LEAST_RANK, LARGEST_RANK = 20, 200
FEATURE_TOLERANCE = 1e-3
# Wide rows can mostly be separated, so that the objective is far smaller than the constant that the solver leaves out.
SPARSE_TOLERANCE = 1e-7
NEWTON_STEPS = 1000
# libsvm may stop where rounding of large features hides the solution; a gap of this share of the objective shows it.
NOTHING_KNOWN = 0.5
# Rows are far from the origin if their mean is so many deviations away.
FAR = 100.0
# Rounding errors below this share of the objective are not reported.
LEAST_ROUNDING = 1e-9


class NaiveSVC(PUClassifier):
    """The plain baseline: scikit-learn's SVC with unlabeled rows as negatives and balanced class weights.

    Minimizes 1/2 |g|^2 + C sum_i w_i [1 - s_i f_i]_+ over f = g + beta_0, with s_i = 1 for labeled rows and -1 for
    unlabeled ones, and weights w_i that give both kinds the same total. Above 10,000 rows, features of rank at most 200
    (Nystrom) approximate the RBF kernel, and Newton steps replace libsvm; so they do for sparse rows, which the linear
    kernel keeps sparse.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss: larger fits more closely.
    kernel : {"linear", "rbf"}, default="rbf"
    width : float or None, default=None
        Width of the RBF kernel exp(-d^2 / (2 width^2)), in units of X; None means the root of half the total variance
        of X (scikit-learn's ``gamma="scale"``).
    prior : float in (0, 1), "estimate" or None, default=None
        Share of positives among the unlabeled rows. With it, the threshold is set so that this share of the unlabeled
        training rows, scored out of fold, is positive; "estimate" estimates it first. None sets it to zero.
    prior_estimator : {"auto", "bbe", "km2"}, default="auto"
        Estimator for ``prior="estimate"``: that of `pucli.AutoPU`, best bins, or kernel mean embedding.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the estimate.
    pos_label : label or None, default=None
        The label of y that marks labeled positives, as in `GLPUAL`.
    threshold : float or None, default=None
        As in `GLPUAL`.

    Attributes
    ----------
    threshold_ : float
        Subtracted from the SVC's score.
    prior_ : float or None
        The share used.
    objective_ : float
        Value of the objective above.
    dual_gap_ : float
        Proven bound on `objective_` minus the optimum.
    svc_ : sklearn.svm.SVC
        The fitted SVC, up to 10,000 rows.
    coef_, intercept_, landmarks_, landmark_factor_, kernel_residual_
        Above 10,000 rows, as in `GLPUAL`; `coef_` and `intercept_` also of the linear kernel.
    n_iter_, converged_, classes_, positive_share_, labeled_recall_
        As in `GLPUAL`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import NaiveSVC
    >>> X, positive = make_blobs(120, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> y = positive.copy()
    >>> y[60:] = 0  # only positives among the first 60 rows are labeled
    >>> model = NaiveSVC(prior=1 / 3, random_state=0).fit(X, y)
    >>> bool((model.predict(X) == positive).mean() > 0.9)
    True
    """

    saved_types = ("sklearn.svm._classes.SVC",)
    _parameter_constraints: ClassVar[Constraints] = {
        "C": [POSITIVE],
        "kernel": [one_of("linear", "rbf")],
        "width": [POSITIVE, None],
        "prior": [*PRIOR, one_of("estimate")],
        "prior_estimator": PRIOR_ESTIMATOR,
        "random_state": ["random_state"],
        "threshold": THRESHOLD,
    }

    _coef: Floats

    coef_, intercept_ = COEF, INTERCEPT
    saved_state: ClassVar[State] = {
        "threshold_": Scalar(),
        "svc_": Nested("SVC"),
        "_coef": Array("r"),
        "_intercept": Scalar(),
        "landmarks_": Array("r", "m"),
        "landmark_factor_": Array("r", "r"),
        "kernel_residual_": STATEMENT,
    }

    def __init__(
        self,
        C: float = 1.0,
        kernel: str = "rbf",
        width: float | None = None,
        prior: float | str | None = None,
        prior_estimator: str = "auto",
        random_state: RandomState = None,
        pos_label: Label | None = None,
        threshold: float | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.width = width
        self.prior = prior
        self.prior_estimator = prior_estimator
        self.random_state = random_state
        self.pos_label = pos_label
        self.threshold = threshold

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "svc_" in state:  # what scikit-learn 1.9 added, and a default that earlier ones refuse
            vars(self.svc_).update(probability=SVC().probability, _effective_probability=False)

    @property
    def _sparse_format(self) -> str | bool:
        return "csr" if self.kernel == "linear" else False

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows, labeled and unlabeled.
        y : array-like of shape (n,)
            Two labels: `pos_label` marks labeled positives, the other label unlabeled rows.
        groups : array-like of shape (n,), optional
            Group of each row, such as the person of a visit: folds do not divide one.

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
        together = None if groups is None else group_numbers(groups, len(labeled))
        self._fit_svc(X, labeled)
        self.threshold_: float = 0.0
        self.prior_: float | None = None
        if self.prior is not None:
            random = check_random_state(self.random_state)
            given = None if isinstance(self.prior, str) else self.prior
            self.prior_ = resolve_prior(given, X, labeled, random, self.prior_estimator, together)
            unlabeled = self._held_out(X, labeled, random, together)[~labeled]
            self.threshold_ = float(np.quantile(unlabeled, 1.0 - self.prior_))
        return self._finish(X, labeled)

    def _fit_svc(self, X: Floats, labeled: Bools) -> None:
        """Fit the SVC by libsvm, or, of many or of sparse rows, on features."""
        for name in ("svc_", "_coef"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if X.shape[0] <= LIBSVM_ROWS and not issparse(X):
            self.svc_ = self._svc().fit(X, labeled)
            self._certify(X, labeled)
            if self.kernel == "linear":
                self._coef, self._intercept = self.svc_.coef_[0], float(self.svc_.intercept_[0])
        else:
            self._fit_features(X, labeled)

    def _svc(self) -> SVC:
        gamma = "scale" if self.width is None else rbf_gamma(self.width)
        return SVC(C=self.C, kernel=self.kernel, gamma=gamma, class_weight="balanced", max_iter=10_000_000)

    def _fit_features(self, X: Floats, labeled: Bools) -> None:
        """Fit by Newton steps on X or on kernel features: with many rows libsvm would not react to Ctrl-C."""
        features = X
        if self.kernel == "rbf":
            total = float(X.var()) * X.shape[1]
            self.width_ = self.width or (np.sqrt(0.5 * total) if total > 0.0 else 1.0)
            rank = int(np.clip(FEATURE_NUMBERS / len(X), LEAST_RANK, LARGEST_RANK))
            found = rbf_map(X, self.width_, rank)
            self.landmarks_, self.landmark_factor_ = X[found.pivots], found.factor
            self.kernel_residual_, features = found.residual, found.L
        counts = np.bincount(labeled)
        n = X.shape[0]
        losses = hinge_losses(np.where(labeled, 1.0, -1.0), self.C * 0.5 * n / counts[labeled.astype(int)])
        tol = SPARSE_TOLERANCE if issparse(X) else FEATURE_TOLERANCE
        result = solve_linear(features, losses, 0.0, np.zeros(features.shape[1]), tol=tol, max_iter=NEWTON_STEPS)
        self._coef, self._intercept = result.coef, float(result.intercept)
        # the solver's objective leaves out the cost of a labeled row at f = 0
        self._keep_certificate(replace(result, objective=result.objective + 0.5 * self.C * n))

    def _held_out(self, X: Floats, labeled: Bools, random: np.random.RandomState, groups: Ints | None) -> Floats:
        """Score each row by a model that was fitted without it, or by the model itself if folds are impossible."""
        count = number_of_folds(labeled, groups)
        if count < 2:
            return self._score(X)
        if groups is None:
            parts = [held for _, held in StratifiedKFold(count, shuffle=True, random_state=random).split(X, labeled)]
        else:
            fold = stratified_folds(labeled, count, np.random.default_rng(random.randint(2**31)), groups)
            parts = [np.flatnonzero(fold == k) for k in range(count)]
        f = np.empty(X.shape[0])
        for valid in parts:
            train = np.setdiff1d(np.arange(X.shape[0]), valid, assume_unique=True)
            part = NaiveSVC(self.C, self.kernel, self.width)
            part._fit_svc(X[train], labeled[train])
            part.threshold_ = 0.0
            f[valid] = part._score(X[valid])
        return f

    def _certify(self, X: Floats, labeled: Bools) -> None:
        svc = self.svc_
        weights = self.C * np.where(labeled, svc.class_weight_[1], svc.class_weight_[0])
        signs = np.where(labeled, 1.0, -1.0)
        f = svc.decision_function(X)
        dual = np.zeros(len(X))
        dual[svc.support_] = np.abs(svc.dual_coef_[0])
        norm2 = float((dual * signs) @ (f - svc.intercept_[0]))
        objective, gap = svm_gap(f, norm2, dual, signs, weights, 1.0)
        if self.kernel == "linear":
            w, b = svc.coef_[0], float(svc.intercept_[0])
            at_w = 0.5 * float(w @ w) + float(weights @ np.maximum(1.0 - signs * (X @ w + b), 0.0))
            cost = max(at_w - objective, 0.0) + OF_SCORES * float(weights @ (np.abs(X) @ np.abs(w) + abs(b)))
            if np.linalg.norm(X.mean(axis=0)) > FAR * X.std(axis=0).max():  # libsvm does not center the rows
                kernel = Kernel("linear")
                cost += kernel.rounding(X, dual) + kernel.rounding_of_scores(X, dual, weights)
                cost += abs(float(signs @ dual) * b)
            gap += cost if cost > LEAST_ROUNDING * objective else 0.0
        converged = bool(svc.fit_status_ == 0 and gap <= NOTHING_KNOWN * objective)
        self._keep_certificate(
            Certificate(objective=objective, gap=gap, n_iter=int(np.max(svc.n_iter_)), converged=converged)
        )

    def _score(self, X: Floats) -> Floats:
        if hasattr(self, "svc_"):
            scores: Floats = self.svc_.decision_function(X)
            return scores - self.threshold_
        if self.kernel == "rbf":
            X = rbf_features(X, self.landmarks_, self.landmark_factor_, self.width_)
        return X @ self._coef + self._intercept - self.threshold_
