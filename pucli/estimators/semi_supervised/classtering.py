"""Classtering: joint classification and clustering with few labels (Sansone 2018, chapter 2)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.core.errors import DegenerateModelWarning, warn_user
from pucli.core.saved_state import ABOVE_ZERO, Array, Either, Labels, Parts, Scalar, State, StateError, Whole
from pucli.estimators.base.certificate import Certified
from pucli.estimators.base.input_rows import dense_rows, validated
from pucli.estimators.base.parameters import FROM_ONE, POSITIVE, Constraints, RandomState, one_of
from pucli.estimators.base.semi_supervised import (
    check_no_missing_label,
    class_labels,
    classes_and_codes,
    unlabeled_rows,
)
from pucli.solvers.classtering import updates as solver
from pucli.solvers.classtering.moves import Fit, fit
from pucli.solvers.classtering.state import ClassteringRows, Globals, Hyper, initial_hyper, rows

# Features whose deviations differ by more than this factor are scaled one by one.
UNLIKE = 300.0


class Classtering(Certified, ClassifierMixin, BaseEstimator):
    """Variational Bayesian mixture of factor analyzers with class labels.

    Each component is a Gaussian with low-rank covariance plus noise and has its own distribution over the classes, so
    that a class may have many clusters and a cluster many classes. Maximizes the lower bound of ln p(X, labels), eq.
    (2.3).

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        "auto" adds and removes components as long as the bound rises; an integer fixes their number.
    n_factors : int, default=2
        Latent dimension k of a component; at most the number of features is used. The thesis has 2 or 3.
    max_components : int, default=50
        Largest number of components that "auto" may reach.
    starts : sequence of int, default=(1, 10)
        Numbers of components, found by k-means, from which "auto" starts; the fit with the highest bound is kept.
    form : {"collapsed", "thesis"}, default="collapsed"
        "collapsed" sums over the class of an unlabeled row; "thesis" gives it a separate factor in q, as in (2.3). The
        collapsed bound is higher, and components without labeled rows do not reinforce their own class.
    tol : float, default=1e-5
        Stop when a sweep raises the bound by less than this, in nats per row. A birth or death of a component is kept
        if it raises the bound by more.
    max_iter : int, default=1000
        Largest number of sweeps of one ascent.
    random_state : int, RandomState or None, default=None
        Seed of k-means.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels in y; without any label, only the marker of unlabeled rows.
    n_components_, n_factors_ : int
        Number of components and of their factors.
    cluster_class_proba_ : ndarray of shape (n_components_, K)
        Probabilities of the classes in each component, the means of q(beta).
    weights_ : ndarray of shape (n_components_,)
        Expected shares of the rows, in decreasing order.
    means_ : ndarray of shape (n_components_, d)
        Expected centers.
    factors_ : ndarray of shape (n_components_, d, n_factors_)
        Expected loadings.
    noise_variance_ : ndarray of shape (d,)
        Variance outside the factors, shared by all components, in squared units of X.
    relevance_ : ndarray of shape (n_components_, n_factors_)
        Expected variance of the loadings of each factor relative to the mean variance of the features, in decreasing
        order; near zero where automatic relevance determination has switched the factor off.
    labels_ : ndarray of shape (n,)
        Component of each training row.
    lower_bound_ : ndarray
        Bound in nats after every kept sweep; it never decreases.
    objective_ : float
        Last value of the bound.
    dual_gap_ : float
        NaN: the problem is not concave.
    residual_ : float
        Increase of the bound in one more sweep, in nats per row.
    n_iter_ : int
        Total number of sweeps, including those of rejected births and deaths.
    n_births_, n_deaths_ : int
        Number of births and deaths of components.
    converged_ : bool
        Whether the kept ascents ended by `tol`.

    Notes
    -----
    `y` has -1 (or "-1" among strings) for unlabeled rows. If all rows are unlabeled, the model is a clustering and
    `predict` returns -1; if all are labeled, it is a supervised classifier. A class without a labeled row is unknown
    to the model: its rows form components that `predict_cluster` separates and `predict` does not. Features are used in
    their own units; scale them first.

    References
    ----------
    E. Sansone, PhD thesis, University of Trento, 2018, chapter 2. Z. Ghahramani and M. J. Beal, Variational inference
    for Bayesian mixtures of factor analyzers, NIPS 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import Classtering
    >>> X, y = make_blobs(150, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    >>> model = Classtering(random_state=0).fit(X, np.where(np.arange(150) < 9, y, -1))
    >>> model.n_components_
    3
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _posterior: tuple[tuple[Any, ...], tuple[Any, ...]]
    classes_: AnyArray
    n_features_in_: int

    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [one_of("auto"), FROM_ONE],
        "n_factors": [FROM_ONE],
        "max_components": [FROM_ONE],
        "starts": ["array-like"],
        "form": [one_of("collapsed", "thesis")],
        "tol": [POSITIVE],
        "max_iter": [FROM_ONE],
        "random_state": ["random_state"],
    }

    saved_state: ClassVar[State] = {
        "classes_": Labels("K"),
        "n_factors_": Whole(1, size="k"),
        "n_components_": Whole(1, size="S"),
        "_offset": Array("m"),
        "_scale": Either(ABOVE_ZERO, Array("m", low=float(np.finfo(float).tiny))),
        "_posterior": Parts(
            Parts(*[Array("m")] * 3, Scalar(), Scalar(), Scalar(), Array("K", low=0.0)),
            Parts(
                Array("S", low=0.0),
                Array("S", "K", low=0.0),
                Array("S", "m", "k1"),
                Array("S", "m", "k1", "k1"),
                ABOVE_ZERO,
                Array("S", "k", low=0.0),
            ),
        ),
        "weights_": Array("S", low=0.0, high=1.0 + 1e-9),
        "cluster_class_proba_": Array("S", "K", low=0.0, high=1.0 + 1e-9),
        "means_": Array("S", "m"),
        "factors_": Array("S", "m", "k"),
        "noise_variance_": Array("m", low=0.0),
        "relevance_": Array("S", "k", low=0.0),
        "labels_": Array("n", dtype="i8", low=0),
        "lower_bound_": Array("sweeps", finite=False),
        "n_births_": Whole(),
        "n_deaths_": Whole(),
    }

    def __init__(
        self,
        n_components: str | int = "auto",
        *,
        n_factors: int = 2,
        max_components: int = 50,
        starts: Sequence[int] = (1, 10),
        form: str = "collapsed",
        tol: float = 1e-5,
        max_iter: int = 1000,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_factors = n_factors
        self.max_components = max_components
        self.starts = starts
        self.form = form
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.
        y : array-like of shape (n,) or None, default=None
            Labels, -1 for unlabeled rows; without y all rows are unlabeled.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If there are fewer rows than factors, or more components than rows, if None or '' is among the labels, or if
            a parameter is out of its range.

        Warns
        -----
        ConvergenceWarning
            If the tolerance is not reached.
        """
        self._validate_params()
        X, codes = self._validate(X, y)
        self.n_factors_ = min(self.n_factors, X.shape[1])
        self._offset = X.mean(axis=0)
        # with one common factor, the bound is that of the rows in their own units minus n d ln(scale)
        self._scale = _scale_of(X - self._offset)
        data = rows((X - self._offset) / self._scale, codes, self.form == "collapsed")
        best = self._best_fit(data)
        self._keep(best, data)
        labeled = codes >= 0
        several = len(np.unique(codes[labeled])) > 1
        found = self._class_proba(self._assigned(X[labeled])[0]).argmax(axis=1) if several else np.arange(2)
        if len(np.unique(found)) == 1:
            self.converged_ = False
            warn_user(
                f"Classtering has not learned: it predicts {self.classes_[found[0]].item()!r} for all labeled rows, "
                f"of {len(self.classes_)} classes. Drop repeated features, or give n_components or more rows.",
                ConvergenceWarning,
            )
        else:
            self._warn_unless_converged()
        return self

    def _check_saved(self, where: str, sizes: Mapping[str, int]) -> None:
        """Raise StateError unless the means have one column more than there are factors."""
        if sizes.get("k1", 0) != sizes.get("k", 0) + 1:
            raise StateError(f"{where}._posterior is not that of {sizes.get('k')} factors")

    def _advice(self) -> str:
        return "raise max_iter or tol"

    def _validate(self, X: ArrayLike, y: ArrayLike | None) -> tuple[Floats, Ints]:
        """Return X (n, d) as float64 and codes (n,): position in `classes_`, -1 for an unlabeled row."""
        if y is None:
            table = validated(self, X, least_rows=2)
            labels: AnyArray = np.full(table.shape[0], -1)
        else:
            table, labels = validated(self, X, class_labels(y), least_rows=2)
            check_no_missing_label(labels)
        table = dense_rows(self, table)
        unlabeled = unlabeled_rows(labels)
        self.classes_, codes = classes_and_codes(labels, unlabeled)
        if unlabeled.all():
            self.classes_ = np.unique(labels)
        elif unlabeled.any() and len(self.classes_) == 1:
            warn_user(
                f"only one class has labels, {self.classes_[0].item()!r}, so every row is predicted to be of it; "
                "label rows of another class too.",
                DegenerateModelWarning,
            )
        self._check_parameters(*table.shape)
        return table, codes

    def _check_parameters(self, n: int, d: int) -> None:
        if len(self.starts) == 0 or not all(isinstance(start, Integral) and int(start) >= 1 for start in self.starts):
            raise ValueError(f"starts must be one or more integers, each at least 1; got {self.starts!r}.")
        if n <= min(self.n_factors, d):
            raise ValueError(
                f"n_samples={n} is too few for n_factors={self.n_factors}: give more rows than factors, or "
                "lower n_factors."
            )
        if not isinstance(self.n_components, str) and self.n_components > n:
            raise ValueError(
                f"n_components must be 'auto' or between 1 and the number of rows, {n}; got {self.n_components!r}."
            )

    def _best_fit(self, data: ClassteringRows) -> Fit:
        """Return the fit with the highest bound; its number of sweeps is that of all fits."""
        n = len(data.X)
        random_state = check_random_state(self.random_state)
        given = None if isinstance(self.n_components, str) else int(self.n_components)
        # a component with fewer than k + 2 rows cannot estimate its factors
        most = max(1, min(self.max_components, n // (self.n_factors_ + 2))) if given is None else given
        starts = sorted({min(start, most) for start in self.starts}) if given is None else [given]
        hyper = initial_hyper(data, len(self.classes_))
        fits = []
        for start in starts:
            R = np.eye(start)[_k_means(data.X, start, random_state)]
            state = solver.start(data, hyper, R, self.n_factors_)
            fits.append(
                fit(data, state, max_components=most, tol=self.tol * n, max_iter=self.max_iter, moves=given is None)
            )
        best = max(fits, key=lambda one: float(one.bounds[-1]))
        return replace(best, n_iter=sum(one.n_iter for one in fits))

    def _keep(self, best: Fit, data: ClassteringRows) -> None:
        hyper, q, local = best.state
        order = np.argsort(-local.mass, kind="stable")
        q = q._replace(**{name: getattr(q, name)[order] for name in ("omega", "phi", "mean", "cov", "rate")})
        variance = q.rate / q.shape
        for s, columns in enumerate(np.argsort(-variance, axis=1, kind="stable")):
            columns = np.append(columns, self.n_factors_)
            q.mean[s] = q.mean[s][:, columns]
            q.cov[s] = q.cov[s][:, columns][:, :, columns]
            q.rate[s] = q.rate[s][columns[:-1]]
        self._posterior = (tuple(hyper), tuple(q))  # plain tuples of arrays can be stored without trust
        in_units = self._log_scale(*data.X.shape)
        self.n_components_ = len(order)
        self.weights_ = q.omega / q.omega.sum()
        self.cluster_class_proba_ = q.phi / q.phi.sum(axis=1, keepdims=True)
        self.means_ = q.mean[:, :, -1] * self._scale + self._offset
        self.factors_ = q.mean[:, :, :-1] * (self._scale if np.ndim(self._scale) == 0 else self._scale[:, None])
        self.noise_variance_ = hyper.psi * self._scale**2
        self.relevance_ = q.rate / q.shape
        self.labels_ = np.argsort(order)[local.R.argmax(axis=1)]
        self.lower_bound_ = best.bounds - in_units
        self.n_births_, self.n_deaths_ = best.births, best.deaths
        objective, residual = float(self.lower_bound_[-1]), best.residual / len(data.X)
        self._keep_certificate(replace(best, objective=objective, residual=residual))

    def _parameters(self) -> tuple[Hyper, Globals]:
        hyper, q = self._posterior
        return Hyper(*hyper), Globals(*q)

    def _assign(self, X: ArrayLike) -> tuple[Floats, Floats]:
        """Return q(s) of each row of X (n, d), (n, S), and its bound, (n,), from the maximum of (2.5)."""
        check_is_fitted(self)
        return self._assigned(dense_rows(self, validated(self, X, reset=False)))

    def _assigned(self, table: Floats) -> tuple[Floats, Floats]:
        """Return `_assign` of validated rows (n, d)."""
        hyper, q = self._parameters()
        terms = solver.row_terms((table - self._offset) / self._scale, hyper, q)[2]
        return solver.assignments(terms, np.full(len(table), -1), q, self.form == "collapsed")

    def predict_cluster(self, X: ArrayLike) -> Ints:
        """Return the most probable component of each row of X (n, d), shape (n,), numbered by decreasing weight."""
        result: Ints = self._assign(X)[0].argmax(axis=1)
        return result

    def predict_cluster_proba(self, X: ArrayLike) -> Floats:
        """Return the probabilities of the components for each row of X (n, d), shape (n, n_components_)."""
        return self._assign(X)[0]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probabilities of `classes_` for each row of X (n, d), shape (n, K).

        In the "thesis" form they are the q(l) that maximize (2.5); in the "collapsed" form the expected probabilities.
        """
        return self._class_proba(self._assign(X)[0])

    def _class_proba(self, R: Floats) -> Floats:
        """Return the probabilities of the classes (n, K) from those of the components (n, S)."""
        if self.form == "collapsed":
            result: Floats = R @ self.cluster_class_proba_
            return result
        return R @ solver.label_terms(self._parameters()[1], collapsed=False)[0]

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return the most probable class of each row of X (n, d), shape (n,)."""
        column = self.predict_proba(X).argmax(axis=1)
        result: AnyArray = self.classes_[column]
        return result

    def score_samples(self, X: ArrayLike) -> Floats:
        """Return the lower bound of ln p(x | training data), eq. (2.5), for each row of X (n, d), in nats."""
        result: Floats = self._assign(X)[1] - self._log_scale(1, self.n_features_in_)
        return result

    def _log_scale(self, n: int, d: int) -> float:
        """Return the sum over n rows and d features of the logarithm of the scale."""
        return float(n * d * np.log(self._scale) if np.ndim(self._scale) == 0 else n * np.log(self._scale).sum())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def _scale_of(X: Floats) -> Any:
    """Return the scale of centered rows X (n, d): one number, or one for each feature if they differ much."""
    own = np.sqrt((X**2).mean(axis=0))
    varied = own[own > 0.0]
    if len(varied) and varied.max() > UNLIKE * varied.min():
        return np.where(own > 0.0, own, 1.0)
    return float(np.sqrt((X**2).mean())) or 1.0


def _k_means(X: Floats, k: int, random_state: np.random.RandomState) -> Ints:
    """Return the cluster of each row, shape (n,); there may be fewer than `k` if rows coincide."""
    if k == 1:
        return np.zeros(len(X), dtype=int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # raised if there are fewer than k distinct rows
        labels: Ints = KMeans(k, n_init=1, random_state=random_state).fit(X).labels_
        return labels
