"""SVM baselines: biased SVM, biased least-squares SVM, and the plain SVC that takes unlabeled rows as negatives."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.base import _fit_context
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_random_state

from pucli.estimators.feature_model import POSITIVE, FeatureModel
from pucli.estimators.prior import PRIOR_CONSTRAINT, resolve_prior
from pucli.estimators.pu import PUClassifier
from pucli.solvers.biased_svm import svm_gap
from pucli.solvers.glpual import solve_gllc

# libsvm's stopping tolerance starts here and is divided by ten until the gap is small enough.
FIRST_TOLERANCE = 1e-3
LAST_TOLERANCE = 1e-9
OUT_OF_FOLD = 5


class BSVM(PUClassifier):
    """Biased SVM: hinge loss, unlabeled rows as negatives with a weight of their own.

    Minimises lam/2 |g|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u [1 + f_i]_+ over f = g + beta_0, by libsvm.

    Parameters
    ----------
    lam : float, default 1.0
        Ridge.
    c_p, c_u : float, default 1.0 and 0.1
        Weight of each labelled and of each unlabeled row.
    kernel : {"linear", "rbf"}, default "linear"
    width : float, default 1.0
        Of the RBF kernel exp(-d^2 / (2 width^2)), in units of X.
    tol : float, default 1e-4
        Relative duality gap to reach.
    max_iter : int, default 10_000_000
        Steps of libsvm.

    Attributes
    ----------
    support_vectors_, dual_coef_ : rows that carry g, and their weights; coef_ : (m,), linear kernel only.
    intercept_, objective_, n_iter_, converged_, classes_, n_features_in_ : as usual.
    dual_gap_ : proven bound on objective_ minus the optimum.

    References
    ----------
    Liu, Dai, Li, Lee, Yu (2003); Wang (2024), eq. (2.2).
    """

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        "lam": [POSITIVE],
        "c_p": [POSITIVE],
        "c_u": [POSITIVE],
        "kernel": [StrOptions({"linear", "rbf"})],
        "width": [POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, lam=1.0, c_p=1.0, c_u=0.1, kernel="linear", width=1.0, tol=1e-4, max_iter=10_000_000):
        self.lam = lam
        self.c_p = c_p
        self.c_u = c_u
        self.kernel = kernel
        self.width = width
        self.tol = tol
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to rows X (n, m) and two labels y (n,): the greater marks labelled positives, the lesser unlabeled rows.

        Returns self. Raises ValueError for other than two labels, NaN or infinite values. Warns (ConvergenceWarning)
        where the gap stays above `tol`.
        """
        X, labelled = self._validate_fit(X, y)
        weights = np.where(labelled, self.c_p, self.c_u)
        signs = np.where(labelled, 1.0, -1.0)
        tolerance = FIRST_TOLERANCE
        while True:
            svc = SVC(kernel=self.kernel, gamma=_gamma(self.width), tol=tolerance, max_iter=self.max_iter, C=1.0)
            svc.fit(X, signs, sample_weight=weights / self.lam)
            f = svc.decision_function(X)
            dual = np.zeros(len(X))
            dual[svc.support_] = np.abs(svc.dual_coef_[0])
            norm2 = float((dual * signs) @ (f - svc.intercept_[0]))
            self.objective_, self.dual_gap_ = svm_gap(f, norm2, dual, signs, weights, self.lam)
            self.converged_ = bool(self.dual_gap_ <= self.tol * self.objective_)
            if self.converged_ or tolerance <= LAST_TOLERANCE or svc.fit_status_ != 0:
                break
            tolerance *= 0.1
        self.n_iter_ = int(np.max(svc.n_iter_))
        self.support_vectors_, self.dual_coef_ = X[svc.support_], svc.dual_coef_[0]
        self.intercept_ = float(svc.intercept_[0])
        if self.kernel == "linear":
            self.coef_ = self.support_vectors_.T @ self.dual_coef_
        self._warn_unless_converged()
        return self

    def decision_function(self, X):
        """Return f(x) for each row of X (n, m), shape (n,); positive means the greater label."""
        X = self._validate_predict(X)
        if self.kernel == "linear":
            return X @ self.coef_ + self.intercept_
        return rbf_kernel(X, self.support_vectors_, gamma=_gamma(self.width)) @ self.dual_coef_ + self.intercept_


def _gamma(width):
    return 0.5 / width**2


class BLSSVM(FeatureModel):
    """Biased least-squares SVM: the squared loss on labelled and on unlabeled rows, in closed form.

    Minimises lam/2 |g|^2 + c_p sum_p (1 - f_i)^2 + c_u sum_u (1 + f_i)^2 over f = g + beta_0: GLLC without the graph.

    Parameters
    ----------
    lam : float, default 1.0
        Ridge.
    c_p, c_u : float, default 1.0 and 0.1
        Weight of each labelled and of each unlabeled row.
    kernel : {"linear", "rbf"}, default "linear"
    width : float, default 1.0
        Of the RBF kernel exp(-d^2 / (2 width^2)), in units of X.
    max_rank : int or None
        Cap on the rank of the kernel features; None is exact up to 4000 rows, then 2000.

    Attributes
    ----------
    coef_ : coefficients of X (linear) or of the low-rank kernel features; intercept_ : float.
    objective_, n_iter_, converged_, classes_, n_features_in_ : as usual.
    dual_gap_ : half the squared gradient in the metric of the inverse Hessian: objective_ minus the optimum.

    References
    ----------
    Ke, Jing, Lv, Xu, Zhou (2018); Wang (2024), eq. (2.4).
    """

    _parameter_constraints = {  # noqa: RUF012
        **FeatureModel._parameter_constraints,
        "lam": [POSITIVE],
        "c_p": [POSITIVE],
        "c_u": [POSITIVE],
    }

    def __init__(self, lam=1.0, c_p=1.0, c_u=0.1, kernel="linear", width=1.0, max_rank=None):
        self.lam = lam
        self.c_p = c_p
        self.c_u = c_u
        self.kernel = kernel
        self.width = width
        self.max_rank = max_rank

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to rows X (n, m) and two labels y (n,): the greater marks labelled positives, the lesser unlabeled rows.

        Returns self. Raises ValueError for other than two labels, NaN or infinite values.
        """
        X, labelled = self._validate_fit(X, y)
        none = np.zeros(0, dtype=np.int64)
        result = solve_gllc(self._rows(X), labelled, (none, none, np.zeros(0)), self.lam, self.c_p, self.c_u)
        self._keep(result.w)
        self.objective_, self.dual_gap_ = result.objective, result.gap
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        return self


class NaiveSVC(PUClassifier):
    """The plain baseline: scikit-learn's SVC with unlabeled rows as negatives and balanced class weights.

    Parameters
    ----------
    C : float, default 1.0
        Of the SVC: larger fits more closely.
    kernel : {"linear", "rbf"}, default "rbf"
    width : float or None
        Of the RBF kernel exp(-d^2 / (2 width^2)); None takes the root of half the total variance of X
        (scikit-learn's ``gamma="scale"``).
    prior : float in (0, 1), "estimate" or None
        Share of positives among the unlabeled rows. With it, the score is cut so that this share of the unlabeled
        training rows, scored out of fold, is positive; ``"estimate"`` estimates it first. None cuts at zero.
    random_state : int, RandomState or None
        Of the folds and of the estimate.

    Attributes
    ----------
    cut_ : float, subtracted from the SVC's score; prior_ : the share used, or None.
    objective_, dual_gap_ : of the SVC's own problem, 1/2 |g|^2 + sum of weighted hinges, and a proven bound on what
        it is above the optimum.
    svc_ : the fitted SVC; n_iter_, converged_, classes_, n_features_in_ : as usual.
    """

    saved_types = ("sklearn.svm._classes.SVC",)
    _parameter_constraints = {  # noqa: RUF012
        "C": [POSITIVE],
        "kernel": [StrOptions({"linear", "rbf"})],
        "width": [POSITIVE, None],
        "prior": [*PRIOR_CONSTRAINT, StrOptions({"estimate"})],
        "random_state": ["random_state"],
    }

    def __init__(self, C=1.0, kernel="rbf", width=None, prior=None, random_state=None):
        self.C = C
        self.kernel = kernel
        self.width = width
        self.prior = prior
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to rows X (n, m) and two labels y (n,): the greater marks labelled positives, the lesser unlabeled rows.

        Returns self. Raises ValueError for other than two labels, NaN or infinite values.
        """
        X, labelled = self._validate_fit(X, y)
        self.svc_ = self._svc().fit(X, labelled)
        self.cut_, self.prior_ = 0.0, None
        if self.prior is not None:
            random = check_random_state(self.random_state)
            given = None if self.prior == "estimate" else self.prior
            self.prior_ = resolve_prior(given, X, labelled, random)
            self.cut_ = float(np.quantile(self._held_out(X, labelled, random)[~labelled], 1.0 - self.prior_))
        self._certify(X, labelled)
        self._warn_unless_converged()
        return self

    def _svc(self) -> SVC:
        gamma = "scale" if self.width is None else _gamma(self.width)
        return SVC(C=self.C, kernel=self.kernel, gamma=gamma, class_weight="balanced", max_iter=10_000_000)

    def _held_out(self, X, labelled, random) -> np.ndarray:
        """Score each row by a model that has not seen it; by the model itself where folds are impossible."""
        folds = min(OUT_OF_FOLD, int(np.count_nonzero(labelled)), int(np.count_nonzero(~labelled)))
        if folds < 2:
            return self.svc_.decision_function(X)
        f = np.empty(len(X))
        for train, valid in StratifiedKFold(folds, shuffle=True, random_state=random).split(X, labelled):
            f[valid] = self._svc().fit(X[train], labelled[train]).decision_function(X[valid])
        return f

    def _certify(self, X, labelled) -> None:
        svc = self.svc_
        weights = self.C * np.where(labelled, svc.class_weight_[1], svc.class_weight_[0])
        signs = np.where(labelled, 1.0, -1.0)
        f = svc.decision_function(X)
        dual = np.zeros(len(X))
        dual[svc.support_] = np.abs(svc.dual_coef_[0])
        norm2 = float((dual * signs) @ (f - svc.intercept_[0]))
        self.objective_, self.dual_gap_ = svm_gap(f, norm2, dual, signs, weights, 1.0)
        self.n_iter_ = int(np.max(svc.n_iter_))
        self.converged_ = bool(svc.fit_status_ == 0)

    def decision_function(self, X):
        """Return the SVC's score less `cut_` for each row of X (n, m), shape (n,)."""
        X = self._validate_predict(X)
        return self.svc_.decision_function(X) - self.cut_
