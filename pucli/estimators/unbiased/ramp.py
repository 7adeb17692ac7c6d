"""PU classification with the ramp loss: not convex, fitted by the concave-convex procedure."""

from __future__ import annotations

import warnings
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from pucli.core.arrays import Bools, Floats
from pucli.core.saved_state import Array, State
from pucli.estimators.base.class_prior import resolve_prior
from pucli.estimators.base.parameters import FROM_ONE, Constraints, Label, RandomState, one_of
from pucli.estimators.unbiased.kernel_pu import KernelPU
from pucli.estimators.unbiased.usmo import USMO
from pucli.solvers.result import Certificate
from pucli.solvers.row_losses.losses import relative_scale
from pucli.solvers.usmo.ramp import RampProblem, solve_ramp

STARTS = ("zero", "double-hinge", "random")
SPREAD = 2.0  # standard deviation of random scores: about a third are cut off by either ramp


class RampPU(KernelPU):
    """PU classifier with the ramp loss, by the concave-convex procedure.

    With f = g + b, R(z) = 1/2 max(0, min(2, 1 - z)), c1 = prior / (2 lam p) and c2 = 1 / (2 lam n), it finds a
    stationary point of

        2 c1 sum_p R(f_i) + c2 sum_u R(-f_i) + 1/2 |g|_H^2

    starting at f = 0 or as `init` says, on which the result depends. Every step solves a convex problem, and the
    objective never increases.

    Parameters
    ----------
    prior : float in (0, 1) or None, default=None
        Share of positives among the unlabeled rows; None estimates it by `prior_estimator`.
    lam : float or "scale", default="scale"
        Weight of the ridge on g; the intercept is not regularized. "scale" is 1 / (2 N), N the number of rows.
    kernel : {"rbf", "linear", "polynomial"}, default="rbf"
    width : float or "median", default="median"
        Length scale of exp(-d^2 / (2 width^2)), in the units of the features; "median" is the median distance between
        two rows.
    degree : int, default=3
        Degree of the polynomial kernel (x.y + coef0)^degree.
    coef0 : float, default=1.0
        Constant term of the polynomial kernel.
    cache_size : float, default=200
        Size of the cache of kernel rows in MB; it only affects speed.
    tol : float, default=1e-4
        Stop when the convex majorant at f cannot decrease by more than this, relative to the objective.
    max_iter : int, default=100
        Largest number of convex problems.
    prior_estimator : {"auto", "bbe", "km2"}, default="auto"
        Estimator of a prior that is not given: that of `pucli.AutoPU`, best bins, or kernel mean embedding.
    random_state : int, RandomState or None, default=None
        Seed of the estimate of the prior, and of a random start.
    pos_label : label or None, default=None
        The label of y that marks labeled positives, as in `GLPUAL`.
    threshold : float or None, default=None
        As in `GLPUAL`.
    init : {"zero", "double-hinge", "random"}, default="zero"
        Start of the procedure: f = 0, the minimum of the convex double hinge loss with the same `lam` (`USMO`), or
        independent normal scores with standard deviation 2.

    Attributes
    ----------
    coef_, support_vectors_, dual_coef_, intercept_, prior_, lam_, width_
        The model, as in `USMO`.
    objective_ : float
        Value of the objective above.
    dual_gap_ : float
        NaN: the problem is not convex.
    residual_ : float
        Bound on the decrease of the convex majorant from the solution; zero exactly at stationary points.
    objectives_ : ndarray
        The objective at f = 0, if it starts there, and after each step that is kept.
    n_iter_, converged_, classes_, positive_share_, labeled_recall_
        As in `USMO`.

    References
    ----------
    M. C. du Plessis, G. Niu, M. Sugiyama (2014). Analysis of learning from positive and unlabeled data. NIPS.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from pucli import RampPU
    >>> X, positive = make_moons(200, noise=0.1, random_state=0)
    >>> y = positive.copy()
    >>> y[100:] = 0  # only positives among the first 100 rows are labeled
    >>> model = RampPU(prior=1 / 3, lam=0.001, width=0.5).fit(X, y)
    >>> bool((model.predict(X) == positive).mean() > 0.9)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **KernelPU._parameter_constraints,
        "max_iter": [FROM_ONE],
        "init": [one_of(*STARTS)],
    }

    saved_state: ClassVar[State] = {
        "objectives_": Array("rounds", finite=False),
    }

    def __init__(  # noqa: PLR0913
        self,
        prior: float | None = None,
        lam: float | str = "scale",
        kernel: str = "rbf",
        width: float | str = "median",
        degree: int = 3,
        coef0: float = 1.0,
        cache_size: float = 200,
        tol: float = 1e-4,
        max_iter: int = 100,
        prior_estimator: str = "auto",
        random_state: RandomState = None,
        pos_label: Label | None = None,
        threshold: float | None = None,
        init: str = "zero",
    ) -> None:
        self.prior = prior
        self.lam = lam
        self.kernel = kernel
        self.width = width
        self.degree = degree
        self.coef0 = coef0
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.prior_estimator = prior_estimator
        self.random_state = random_state
        self.pos_label = pos_label
        self.threshold = threshold
        self.init = init

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
        kernel = self._kernel(X)
        center = self._center(X)
        rows = X if center is None else X - center
        solution = solve_ramp(
            RampProblem(rows, labeled, kernel, self.prior_, self.lam_),
            tol=self.tol,
            max_iter=self.max_iter,
            cache_bytes=1e6 * self.cache_size,
            start=self._start(rows, labeled, random),
        )
        shift = self._keep(rows, solution.weights, solution.intercept, center, solution.coef)
        self.objectives_ = solution.objectives
        # the residual includes the rounding of the kernel, and the shift of f by rounding of a large intercept
        rounding = abs(shift) * (0.5 * self.prior_ + 0.25) / self.lam_
        if solution.coef is None:
            rounding += kernel.rounding(rows, solution.weights)
        if self.kernel == "polynomial":
            share = np.where(labeled, self.prior_ / labeled.sum(), 0.5 / (~labeled).sum()) / (2.0 * self.lam_)
            rounding += kernel.rounding_of_scores(rows, solution.weights, share)
        scale = relative_scale(solution.objective, 0.0, min(2.0 * self.prior_, 1.0) / (2.0 * self.lam_))
        self._keep_certificate(
            Certificate(
                objective=solution.objective,
                residual=solution.residual + rounding,
                n_iter=solution.n_iter,
                converged=bool(solution.converged and rounding <= self.tol * scale),
            )
        )
        return self._finish(X, labeled)

    def _start(self, X: Floats, labeled: Bools, random: np.random.RandomState) -> Floats | None:
        """Return the scores (n,) at which the procedure starts, None for zero; X : (n, m) as it is fitted."""
        if self.init == "zero":
            return None
        if self.init == "random":
            scores: Floats = SPREAD * random.normal(size=len(X))
            return scores
        convex = USMO(
            prior=self.prior_,
            lam=self.lam_,
            kernel=self.kernel,
            width=self.width_ if self.kernel == "rbf" else 1.0,
            degree=self.degree,
            coef0=self.coef0,
            cache_size=self.cache_size,
            random_state=random,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of another method, which need not be good
            start: Floats = convex.fit(X, labeled.astype(int)).decision_function(X)
        return start
