"""Unbiased and non-negative PU learning: a network, or a model that is linear in its parameters."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_random_state

from pucli.estimators.base.feature_model import POSITIVE, FeatureModel
from pucli.estimators.base.pu import PUClassifier
from pucli.estimators.prior import PRIOR_CONSTRAINT, PriorInObjective, resolve_prior
from pucli.solvers.rows.linear import solve_linear
from pucli.solvers.upu.network import Network, network_score, train_network
from pucli.solvers.upu.squared import solve_squared_upu
from pucli.solvers.usmo.problem import double_hinge_losses

_COUNT = Interval(Integral, 1, None, closed="left")
_NETWORK_CONSTRAINTS = {
    "prior": PRIOR_CONSTRAINT,
    "hidden": [_COUNT],
    "n_epochs": [_COUNT],
    "learning_rate": [POSITIVE],
    "weight_decay": [Interval(Real, 0, None, closed="left")],
    "batch_size": [_COUNT],
    "random_state": ["random_state"],
}


def _train(estimator: PUClassifier, X, labelled, non_negative: bool, **rule: float) -> None:
    """Train the network of `estimator`, whose parameters it has, and keep what fitting found."""
    random = check_random_state(estimator.random_state)
    estimator.prior_ = resolve_prior(estimator.prior, X, labelled, random)
    rng = np.random.default_rng(random.randint(0, 2**31, size=4))
    result = train_network(
        X,
        labelled,
        estimator.prior_,
        non_negative,
        rng,
        hidden=estimator.hidden,
        epochs=estimator.n_epochs,
        learning_rate=estimator.learning_rate,
        decay=estimator.weight_decay,
        batch_size=estimator.batch_size,
        **rule,
    )
    estimator.network_ = tuple(result.network)  # plain, so that a model file can hold it
    estimator.objective_, estimator.negative_risk_ = result.risks.objective, result.risks.negative
    estimator.residual_, estimator.dual_gap_ = result.gradient, np.nan
    estimator.n_iter_ = result.n_iter
    estimator.converged_ = bool(np.isfinite(result.gradient))
    estimator._warn_unless_converged()


class NNPU(PriorInObjective):
    """Non-negative PU learning (nnPU): a network m - hidden - ReLU - 1 with the sigmoid loss, trained by Adam.

    The published recommended setting. A step descends on the unbiased risk R_p + R_n, but where its part for the
    negatives, R_n, is below -beta, on -gamma R_n alone: R_n estimates something non-negative, and is raised again.

    Parameters
    ----------
    prior : float in (0, 1) or None
        Share of positives among the unlabeled rows; None estimates it (KM2).
    hidden : int, default 100
    n_epochs : int, default 100
        Part of the method: training stops there.
    learning_rate : float, default 1e-3
    weight_decay : float, default 0.005
        L2, added to the gradient of every parameter.
    batch_size : int, default 30000
        Rows a step; all of them where there are fewer.
    beta, gamma : float, default 0.0 and 1.0
        Of the rule above.
    random_state : int, RandomState or None
        Of the first weights, the order of rows, and the estimate of the prior.

    Attributes
    ----------
    network_ : the parameters (W, b, v, c); prior_ : the prior used.
    objective_ : R_p + max(R_n, 0) on the training rows; negative_risk_ : R_n there.
    residual_ : largest entry of the gradient at the end, decay included; dual_gap_ : NaN, there is no bound.
    n_iter_ : epochs; converged_ : whether the end is finite; classes_, n_features_in_ : as usual.

    References
    ----------
    Kiryo, Niu, du Plessis, Sugiyama (2017), algorithm 1; Wang (2024), eq. (2.14).
    """

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        **_NETWORK_CONSTRAINTS,
        "beta": [Interval(Real, 0, None, closed="left")],
        "gamma": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        prior=None,
        hidden=100,
        n_epochs=100,
        learning_rate=1e-3,
        weight_decay=0.005,
        batch_size=30000,
        beta=0.0,
        gamma=1.0,
        random_state=None,
    ):
        self.prior = prior
        self.hidden = hidden
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.beta = beta
        self.gamma = gamma
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to rows X (n, m) and two labels y (n,): the greater marks labelled positives, the lesser unlabeled rows.

        Returns self. Raises ValueError for other than two labels, NaN or infinite values, or a prior outside (0, 1).
        """
        X, labelled = self._validate_fit(X, y)
        _train(self, X, labelled, True, beta=self.beta, gamma=self.gamma)
        return self

    def decision_function(self, X):
        """Return the network's score for each row of X (n, m), shape (n,); positive means the greater label."""
        X = self._validate_predict(X)
        return network_score(Network(*self.network_), X)


class UPU(PriorInObjective, FeatureModel):
    """Unbiased PU learning (uPU): prior/n_p sum_p [l(f) - l(-f)] + 1/n_u sum_u l(-f) is minimised.

    The loss decides the model. ``"sigmoid"`` trains the network of `NNPU` without its correction, as published beside
    it. ``"squared"``, (1 - z)^2 / 4, and ``"double-hinge"``, max(-z, max(0, 1/2 - z/2)), are convex: f is linear in X
    or in RBF features, and lam/2 |g|^2 is added; the first is a linear system, the second is certified.

    Parameters
    ----------
    prior : float in (0, 1) or None
        Share of positives among the unlabeled rows; None estimates it (KM2).
    loss : {"sigmoid", "squared", "double-hinge"}, default "sigmoid"
    lam : float, default 0.1
        Ridge of the convex losses.
    kernel : {"linear", "rbf"}, default "linear"
        Of the convex losses; ``"rbf"`` is exp(-d^2 / (2 width^2)).
    width : float, default 1.0
        Width of the RBF kernel, in units of X.
    max_rank : int or None
        Cap on the rank of the kernel features; None is exact up to 4000 rows, then 2000.
    hidden, n_epochs, learning_rate, weight_decay, batch_size
        Of the network, as in `NNPU`.
    tol : float, default 1e-6
        Relative duality gap to reach (double hinge).
    max_iter : int, default 1000
        Newton steps (double hinge).
    random_state : int, RandomState or None
        Of the network, and of the estimate of the prior.

    Attributes
    ----------
    network_, negative_risk_, residual_ : sigmoid loss only, as in `NNPU`.
    coef_, intercept_ : convex losses only.
    prior_ : the prior used; objective_ : the regularised risk, for the sigmoid loss the risk.
    dual_gap_ : proven bound on objective_ minus the optimum; NaN for the sigmoid loss.
    n_iter_, converged_, classes_, n_features_in_ : as usual.

    References
    ----------
    du Plessis, Niu, Sugiyama (2014, 2015); Kiryo et al. (2017); Wang (2024), eq. (2.13).
    """

    _parameter_constraints = {  # noqa: RUF012
        **FeatureModel._parameter_constraints,
        **_NETWORK_CONSTRAINTS,
        "loss": [StrOptions({"sigmoid", "squared", "double-hinge"})],
        "lam": [POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [_COUNT],
    }

    def __init__(
        self,
        prior=None,
        loss="sigmoid",
        lam=0.1,
        kernel="linear",
        width=1.0,
        max_rank=None,
        hidden=100,
        n_epochs=100,
        learning_rate=1e-3,
        weight_decay=0.005,
        batch_size=30000,
        tol=1e-6,
        max_iter=1000,
        random_state=None,
    ):
        self.prior = prior
        self.loss = loss
        self.lam = lam
        self.kernel = kernel
        self.width = width
        self.max_rank = max_rank
        self.hidden = hidden
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to rows X (n, m) and two labels y (n,): the greater marks labelled positives, the lesser unlabeled rows.

        Returns self. Raises ValueError for other than two labels, NaN or infinite values, or a prior outside (0, 1).
        Warns (ConvergenceWarning) where the gap stays above `tol`.
        """
        X, labelled = self._validate_fit(X, y)
        if self.loss == "sigmoid":
            _train(self, X, labelled, False)
            return self
        self.prior_ = resolve_prior(self.prior, X, labelled, check_random_state(self.random_state))
        Z = self._rows(X)
        if self.loss == "squared":
            result = solve_squared_upu(Z, labelled, self.prior_, self.lam)
            self._keep(result.coef)
            self.objective_, self.dual_gap_ = result.objective, result.gap
            self.n_iter_, self.converged_ = result.n_iter, result.converged
        else:
            self._fit_double_hinge(Z[:, :-1], labelled)
        self._warn_unless_converged()
        return self

    def _fit_double_hinge(self, F, labelled) -> None:
        """Solve the problem over lam, whose ridge is 1/2 |g|^2."""
        Fu = np.ascontiguousarray(F[~labelled])
        result = solve_linear(
            Fu,
            double_hinge_losses(len(Fu), 1.0 / (self.lam * len(Fu))),
            self.prior_ / self.lam,
            self.prior_ / self.lam * F[labelled].mean(axis=0),
            tol=self.tol,
            max_iter=self.max_iter,
            trivial=min(self.prior_, 1.0 - self.prior_) / self.lam,
        )
        self._keep(np.append(result.coef, result.bias))
        self.objective_ = self.lam * result.objective
        self.dual_gap_ = self.lam * result.gap
        self.n_iter_, self.converged_ = max(result.n_iter, 1), bool(result.converged)

    def decision_function(self, X):
        """Return f(x) for each row of X (n, m), shape (n,); positive means the greater label."""
        if self.loss == "sigmoid":
            X = self._validate_predict(X)
            return network_score(Network(*self.network_), X)
        return super().decision_function(X)
