"""Unbiased and non-negative PU learning: a network, or a model that is linear in its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.validation import check_random_state

from pucli.core.arrays import Bools, Floats
from pucli.estimators.base.certificate import ROUNDING
from pucli.estimators.base.class_prior import resolve_prior
from pucli.estimators.base.data_defaults import Rule, median_distance, ridge_of_means
from pucli.estimators.base.parameters import (
    FROM_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    RIDGE,
    SHARE,
    Constraints,
    Label,
    RandomState,
    one_of,
)
from pucli.estimators.base.pu import PUClassifier
from pucli.estimators.global_local.feature_model import FeatureModel
from pucli.estimators.unbiased.network import (
    NETWORK_PARAMETERS,
    NETWORK_STATE,
    fit_network,
    score_by_network,
    warn_unless_learned,
)
from pucli.solvers.row_losses.linear import solve_linear
from pucli.solvers.row_losses.losses import Scale
from pucli.solvers.upu.network import Risk
from pucli.solvers.upu.squared import solve_squared_upu
from pucli.solvers.usmo.problem import double_hinge_losses


class NNPU(PUClassifier):
    """Non-negative PU learning (nnPU): a network m - hidden - ReLU - 1 with the sigmoid loss, trained by Adam.

    Minimizes the risk R_p + max(R_n, 0) with R_p = prior/n_p sum_p l(f_i) and
    R_n = 1/n_u sum_u l(-f_i) - prior/n_p sum_p l(-f_i). A step descends on R_p + R_n. If R_n is below -beta, the step
    descends on -gamma R_n alone, because R_n estimates a risk that cannot be negative. The setting is the recommended
    one of the paper.

    Parameters
    ----------
    prior : float in (0, 1) or None, default=None
        Share of positives among the unlabeled rows; None estimates it by `prior_estimator`.
    hidden : int, default=100
        Units of the hidden layer.
    n_epochs : int or None, default=None
        Passes over the rows, after which training stops; the number is part of the method, and features should then be
        standardized. None means as many as give 500 steps, on features standardized inside; if the network has not
        learned by then, as happens at small priors, it starts again from one trained at a balanced prior.
    learning_rate : float, default=1e-3
        Learning rate of Adam.
    weight_decay : float, default=0.005
        L2 penalty, added to the gradient of every parameter.
    batch_size : int, default=1000
        Rows per step; all rows if there are fewer. Published: 30000, with 100 epochs.
    beta : float, default=0.0
        R_n is corrected if it is below -beta.
    gamma : float in [0, 1], default=1.0
        Size of the step that raises the negative risk.
    prior_estimator : {"auto", "bbe", "km2"}, default="auto"
        Estimator of a prior that is not given: that of `pucli.AutoPU`, best bins, or kernel mean embedding.
    random_state : int, RandomState or None, default=None
        Seed of the initial weights, the order of rows, and the estimate of the prior.
    pos_label : label or None, default=None
        The label of y that marks labeled positives, as in `GLPUAL`.
    threshold : float or None, default=None
        As in `GLPUAL`.

    Attributes
    ----------
    network_ : tuple
        The parameters (W, b, v, c) of f(x) = v'max(W'x + b, 0) + c.
    prior_ : float
        The prior used.
    objective_ : float
        R_p + max(R_n, 0) on the training rows.
    negative_risk_ : float
        R_n on the training rows.
    residual_ : float
        Largest entry of the final gradient, weight decay included.
    dual_gap_ : float
        NaN: the problem is not convex.
    n_epochs_ : int
        Number of epochs of a training.
    n_iter_ : int
        Number of epochs of all.
    converged_ : bool
        Whether the network has learned: its risk is below that of any constant, and labeled rows rank above unlabeled
        ones. With a given number of epochs, whether the result is finite.
    classes_, positive_share_, labeled_recall_
        As in `GLPUAL`.

    References
    ----------
    Kiryo, Niu, du Plessis, Sugiyama (2017), algorithm 1; Wang (2024), eq. (2.14).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import NNPU
    >>> X, positive = make_blobs(120, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> y = positive.copy()
    >>> y[60:] = 0  # only positives among the first 60 rows are labeled
    >>> model = NNPU(prior=1 / 3, n_epochs=500, random_state=0).fit(X, y)
    >>> bool((model.predict(X) == positive).mean() > 0.9)
    True
    """

    _prior_in_objective = True
    _parameter_constraints: ClassVar[Constraints] = {
        **NETWORK_PARAMETERS,
        "beta": [NOT_NEGATIVE],
        "gamma": [SHARE],
    }
    saved_state = NETWORK_STATE

    def __init__(  # noqa: PLR0913
        self,
        prior: float | None = None,
        hidden: int = 100,
        n_epochs: int | None = None,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.005,
        batch_size: int = 1000,
        beta: float = 0.0,
        gamma: float = 1.0,
        prior_estimator: str = "auto",
        random_state: RandomState = None,
        pos_label: Label | None = None,
        threshold: float | None = None,
    ) -> None:
        self.prior = prior
        self.hidden = hidden
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.beta = beta
        self.gamma = gamma
        self.prior_estimator = prior_estimator
        self.random_state = random_state
        self.pos_label = pos_label
        self.threshold = threshold

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows, labeled and unlabeled.
        y : array-like of shape (n,)
            Two labels: `pos_label` marks labeled positives, the other label unlabeled rows.
        groups : array-like of shape (n,), optional
            Group of each row, such as the person of a visit: the folds that estimate the class prior do not divide one.

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
        random = check_random_state(self.random_state)
        self.prior_ = resolve_prior(self.prior, X, labeled, random, self.prior_estimator, groups)
        risk = Risk(self.prior_, non_negative=True, beta=self.beta, gamma=self.gamma)
        fit_network(self, X, labeled, risk, random)
        return self._finish(X, labeled)

    def _warn_unless_converged(self) -> None:
        warn_unless_learned(self)

    def _score(self, X: Floats) -> Floats:
        return score_by_network(self, X)


class UPU(FeatureModel):
    """Unbiased PU learning (uPU): minimizes prior/n_p sum_p [l(f_i) - l(-f_i)] + 1/n_u sum_u l(-f_i).

    The loss determines the model. "sigmoid" trains the network of `NNPU` without its correction, as in the same paper.
    "squared", l(z) = (1 - z)^2 / 4, and "double-hinge", l(z) = max(-z, max(0, 1/2 - z/2)), are convex: f is linear in X
    or in RBF features, and lam/2 |g|^2 is added. The squared loss leads to a linear system; the double hinge is
    certified by its dual.

    Parameters
    ----------
    prior : float in (0, 1) or None, default=None
        Share of positives among the unlabeled rows; None estimates it by `prior_estimator`.
    loss : {"sigmoid", "squared", "double-hinge"}, default="sigmoid"
        Sparse rows stay sparse with the double hinge and the linear kernel, and are made dense otherwise.
    lam : float or "scale", default="scale"
        Ridge of the convex losses; "scale" is 1 / n.
    kernel : {"linear", "rbf"}, default="linear"
        Kernel of the convex losses; "rbf" is exp(-d^2 / (2 width^2)).
    width : float or "median", default="median"
        Width of the RBF kernel, in units of X; "median" is the median distance between two rows.
    max_rank : int or None, default=None
        Largest rank of the kernel features; None is no limit up to 4000 rows, and 2000 above.
    hidden : int, default=100
        Units of the network's hidden layer (sigmoid loss only, as the next four).
    n_epochs : int or None, default=None
    learning_rate : float, default=1e-3
    weight_decay : float, default=0.005
    batch_size : int, default=1000
        As in `NNPU`.
    tol : float, default=1e-6
        Relative duality gap to reach (double hinge only).
    max_iter : int, default=1000
        Newton steps (double hinge only).
    prior_estimator : {"auto", "bbe", "km2"}, default="auto"
        Estimator of a prior that is not given: that of `pucli.AutoPU`, best bins, or kernel mean embedding.
    random_state : int, RandomState or None, default=None
        Seed of the network and of the estimate of the prior.
    pos_label : label or None, default=None
        The label of y that marks labeled positives, as in `GLPUAL`.
    threshold : float or None, default=None
        As in `GLPUAL`.

    Attributes
    ----------
    network_, negative_risk_ : tuple, float
        Sigmoid loss only, as in `NNPU`.
    coef_, intercept_ : ndarray of shape (1, r), of shape (1,)
        Convex losses only.
    prior_ : float
        The prior used.
    lam_, width_ : float
        The values used, computed from the data if the parameter is a word.
    objective_ : float
        The regularized risk; for the sigmoid loss the risk.
    dual_gap_ : float
        Proven bound on `objective_` minus the optimum; NaN for the sigmoid loss.
    residual_ : float
        Sigmoid loss only, as in `NNPU`; otherwise NaN.
    n_iter_, converged_, classes_, positive_share_, labeled_recall_
        As in `GLPUAL`.

    References
    ----------
    du Plessis, Niu, Sugiyama (2014, 2015); Kiryo et al. (2017); Wang (2024), eq. (2.13).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import UPU
    >>> X, positive = make_blobs(120, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> y = positive.copy()
    >>> y[60:] = 0  # only positives among the first 60 rows are labeled
    >>> model = UPU(prior=1 / 3, loss="double-hinge").fit(X, y)
    >>> bool(model.dual_gap_ < 1e-6)
    True
    >>> bool((model.predict(X) == positive).mean() > 0.9)
    True
    """

    lam_: float

    _prior_in_objective = True
    _rules: ClassVar[Mapping[str, Rule]] = {"lam": ridge_of_means, "width": median_distance}
    _parameter_constraints: ClassVar[Constraints] = {
        **FeatureModel._parameter_constraints,
        **NETWORK_PARAMETERS,
        "loss": [one_of("sigmoid", "squared", "double-hinge")],
        "lam": RIDGE,
        "tol": [POSITIVE],
        "max_iter": [FROM_ONE],
    }
    saved_state = NETWORK_STATE

    def __init__(  # noqa: PLR0913
        self,
        prior: float | None = None,
        loss: str = "sigmoid",
        lam: float | str = "scale",
        kernel: str = "linear",
        width: float | str = "median",
        max_rank: int | None = None,
        hidden: int = 100,
        n_epochs: int | None = None,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.005,
        batch_size: int = 1000,
        tol: float = 1e-6,
        max_iter: int = 1000,
        prior_estimator: str = "auto",
        random_state: RandomState = None,
        pos_label: Label | None = None,
        threshold: float | None = None,
    ) -> None:
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
        self.prior_estimator = prior_estimator
        self.random_state = random_state
        self.pos_label = pos_label
        self.threshold = threshold

    @property
    def _sparse_format(self) -> str | bool:
        return "csr" if self.loss == "double-hinge" and self.kernel == "linear" else False

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows, labeled and unlabeled.
        y : array-like of shape (n,)
            Two labels: `pos_label` marks labeled positives, the other label unlabeled rows.
        groups : array-like of shape (n,), optional
            Group of each row, such as the person of a visit: the folds that estimate the class prior do not divide one.

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
        self._set_defaults(X, labeled)
        random = check_random_state(self.random_state)
        self.prior_ = resolve_prior(self.prior, X, labeled, random, self.prior_estimator, groups)
        if self.loss == "sigmoid":
            fit_network(self, X, labeled, Risk(self.prior_, non_negative=False), random)
        elif self.loss == "squared":
            result = solve_squared_upu(self._features(X), labeled, self.prior_, self.lam_)
            self._keep_coef(result.coef)
            self._keep_certificate(result)
        else:
            self._fit_double_hinge(X if issparse(X) else self._features(X)[:, :-1], labeled)
        return self._finish(X, labeled)

    def _fit_double_hinge(self, F: Floats, labeled: Bools) -> None:
        """Solve the problem divided by lam, whose ridge is 1/2 |g|^2."""
        Fu = F[~labeled]
        n = Fu.shape[0]
        result = solve_linear(
            Fu if issparse(Fu) else np.ascontiguousarray(Fu),
            double_hinge_losses(n, 1.0 / (self.lam_ * n)),
            self.prior_ / self.lam_,
            self.prior_ / self.lam_ * F[labeled].mean(axis=0),
            tol=self.tol,
            max_iter=self.max_iter,
            scale=Scale(min(self.prior_, 1.0 - self.prior_) / self.lam_),
        )
        self._keep_coef(np.append(result.coef, result.intercept))
        self._keep_certificate(result, scale=self.lam_)
        self._allow_for_rounding(F, labeled, result.coef, float(result.intercept))

    def _allow_for_rounding(self, F: Floats, labeled: Bools, w: Floats, b: float) -> None:
        """Add the cost of rounding in the scores to the gap: measured at a dense solution, otherwise a bound.

        The bound is that of a sum of m products and an intercept (Higham 2002, section 3.1).
        """
        slopes = np.where(labeled, self.prior_ / np.count_nonzero(labeled), 1.0 / np.count_nonzero(~labeled))
        least = 1e-3 * min(self.prior_, 1.0 - self.prior_)  # as in `relative_scale`
        sizes = abs(F) @ np.abs(w) + abs(b)
        cost = 0.5 * np.finfo(float).eps * (F.shape[1] + 2) * float(slopes @ sizes)
        known = self.converged_ and not issparse(F)
        if known and cost > ROUNDING * max(abs(self.objective_), least):
            f: Any = F.astype(np.longdouble) @ w + b
            losses = np.where(labeled, -f, np.maximum(np.maximum(0.5 * (1.0 + f), f), 0.0))
            cost = float(slopes @ losses + 0.5 * self.lam_ * (w @ w)) - self.objective_
        self._add_cost(cost, self.tol, known=known, least=least)

    def _warn_unless_converged(self) -> None:
        if self.loss == "sigmoid":
            warn_unless_learned(self)
        else:
            super()._warn_unless_converged()

    def _score(self, X: Floats) -> Floats:
        return score_by_network(self, X) if self.loss == "sigmoid" else super()._score(X)
