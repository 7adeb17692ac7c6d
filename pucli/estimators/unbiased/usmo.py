"""USMO: the exact PU classifier with the double hinge loss and a class prior."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from pucli.core.arrays import Bools, Floats
from pucli.core.saved_state import STATEMENT, State, Unsaved
from pucli.estimators.base.class_prior import resolve_prior
from pucli.estimators.base.parameters import Constraints, Label, RandomState, one_of
from pucli.estimators.unbiased.kernel_pu import KernelPU
from pucli.solvers.result import Certificate
from pucli.solvers.row_losses.linear import LinearSolution, keeps_w, solve_linear
from pucli.solvers.row_losses.losses import (
    Scale,
    dual_value,
    gap_at,
    intercept_and_gap,
    loss_values,
    relative_scale,
)
from pucli.solvers.usmo.blocks import KernelProblem, KernelSolution, solve_kernel
from pucli.solvers.usmo.problem import DoubleHingeProblem, double_hinge_problem
from pucli.solvers.usmo.start import averaged_intercept, one_class_start, subsample_start, uniform_start

# With the linear kernel, the certificate is computed from the rows if rounding of the kernel matrix costs more than
# this share of the objective.
ROUNDING = 1e-10
SOLVERS = ("usmo", "qp", "svr")
STARTS = ("subsample", "one-class", "uniform")


class USMO(KernelPU):
    """PU classifier with double hinge loss, exact at memory linear in the number of rows.

    With p labeled and n unlabeled rows, f = g + b, g in the space H of the kernel, c1 = prior / (2 lam p) and
    c2 = 1 / (2 lam n), it minimizes

        -c1 sum_p f_i + c2 sum_u max(0, 1/2 + f_i/2, f_i) + 1/2 |g|_H^2

    which is the unbiased PU risk with the loss max(-z, max(0, 1/2 - z/2)) and the ridge lam |g|^2, divided by 2 lam.

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
    solver : {"usmo", "qp", "svr"}, default="usmo"
        "usmo" takes steps on pairs, or Newton steps on w (linear kernel, up to 3000 features and at least twice as many
        unlabeled rows). "qp" (Clarabel, extra `bench`) and "svr" (scikit-learn's SVR on stacked rows) solve the same
        problem with quadratic memory, for comparison. Sparse rows stay sparse with "usmo" and the linear kernel, and
        are made dense otherwise.
    cache_size : float, default=200
        Size of the cache of kernel rows in MB; it only affects speed.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=100000
        Largest number of blocks of pairs (kernels) or of Newton steps (linear kernel). 0 keeps the starting point, with
        the intercept of the paper's (16), also for the linear kernel: the column Init of its tables.
    init : {"subsample", "one-class", "uniform"}, default="subsample"
        Starting point with kernels: the solution on an eighth of the rows, the one-class heuristic of the paper, or
        all variables equal. It only affects speed.
    prior_estimator : {"auto", "bbe", "km2"}, default="auto"
        Estimator of a prior that is not given: that of `pucli.AutoPU`, best bins, or kernel mean embedding.
    random_state : int, RandomState or None, default=None
        Seed of the subsample and of the estimate of the prior.
    pos_label : label or None, default=None
        The label of y that marks labeled positives, as in `GLPUAL`.
    threshold : float or None, default=None
        As in `GLPUAL`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, m)
        Linear kernel only.
    support_vectors_ : ndarray of shape (s, m)
        Rows with a weight; not with the linear kernel.
    dual_coef_ : ndarray of shape (s,)
        Weights of the support vectors.
    intercept_ : ndarray of shape (1,)
    prior_, lam_, width_ : float
        The values used.
    objective_ : float
        Value of the objective above.
    dual_gap_ : float
        Proven bound on `objective_` minus the optimum, rounding of the kernel included.
    violation_ : float
        The largest violation of the tau-optimality conditions by any pair (13); NaN with the linear path, which has
        no pairs, and with the peers.
    n_iter_ : int
    converged_ : bool
    trace_ : ndarray of shape (iterations, 3)
        Elapsed seconds, value of the dual and gap; empty with the peers.
    classes_, positive_share_, labeled_recall_
        As in `GLPUAL`.

    Raises
    ------
    ValueError
        In `fit`, for a prior outside (0, 1), and for "qp" and "svr" on more rows than fit into memory.

    References
    ----------
    E. Sansone, F. G. B. De Natale, Z.-H. Zhou (2019). Efficient training for positive unlabeled learning. IEEE TPAMI.
    M. C. du Plessis, G. Niu, M. Sugiyama (2015). Convex formulation for learning from positive and unlabeled data.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from pucli import USMO
    >>> X, positive = make_moons(200, noise=0.1, random_state=0)
    >>> y = positive.copy()
    >>> y[100:] = 0  # only positives among the first 100 rows are labeled
    >>> model = USMO(prior=1 / 3, lam=0.001, width=0.5, random_state=0).fit(X, y)
    >>> bool(model.dual_gap_ <= 1e-5 * abs(model.objective_))
    True
    >>> bool((model.predict(X) == positive).mean() > 0.9)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **KernelPU._parameter_constraints,
        "solver": [one_of(*SOLVERS)],
        "init": [one_of(*STARTS)],
    }

    saved_state: ClassVar[State] = {
        "violation_": STATEMENT,
        "trace_": Unsaved(),  # it has the time of each iteration
    }

    def __init__(  # noqa: PLR0913
        self,
        prior: float | None = None,
        lam: float | str = "scale",
        kernel: str = "rbf",
        width: float | str = "median",
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "usmo",
        cache_size: float = 200,
        tol: float = 1e-6,
        max_iter: int = 100_000,
        init: str = "subsample",
        prior_estimator: str = "auto",
        random_state: RandomState = None,
        pos_label: Label | None = None,
        threshold: float | None = None,
    ) -> None:
        self.prior = prior
        self.lam = lam
        self.kernel = kernel
        self.width = width
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.init = init
        self.prior_estimator = prior_estimator
        self.random_state = random_state
        self.pos_label = pos_label
        self.threshold = threshold

    @property
    def _sparse_format(self) -> str | bool:
        plain = self.kernel == "linear" and self.solver == "usmo" and self.max_iter > 0
        return "csr" if plain else False

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
        by_w = self.solver == "usmo" and self.max_iter > 0 and self.kernel == "linear"
        by_w &= issparse(X) or keeps_w(int(np.count_nonzero(~labeled)), X.shape[1])
        center = None if by_w else self._center(X)
        rows = X if center is None else X - center
        problem = double_hinge_problem(rows, labeled, kernel, self.prior_, self.lam_)
        if self.solver != "usmo":
            self._fit_peer(problem, rows, labeled, center)
        elif self.max_iter == 0:
            self._fit_start(problem, rows, labeled, center)
        elif by_w:
            solution = self._solve_linear(problem)
            self._coef, self._intercept = solution.coef, solution.intercept
            self.violation_ = np.nan
            self.trace_ = solution.trace
            self._keep_certificate(solution)
        else:
            pairs = self._solve_pairs(problem)
            if self.kernel == "polynomial":
                pairs = self._scored_anew(problem, rows[~labeled], pairs)
            rounding = self._keep_dual(rows, labeled, problem, pairs.dual, pairs.intercept, center)
            self.violation_ = pairs.violation
            self.trace_ = pairs.trace
            self._keep_certificate(pairs)
            if self.kernel == "linear":
                moved = np.abs((rows[~labeled] @ self._coef + pairs.intercept) - pairs.scores)
                cost = rounding + float((problem.losses.upper - problem.losses.lower) @ moved)
                if cost > ROUNDING * abs(self.objective_):
                    rounding = self._certify_coef(rows, labeled, problem, pairs, center)
            self._add_rounding(rounding, problem.trivial)
        return self._finish(X, labeled)

    def _warn_unless_converged(self) -> None:
        if self.max_iter > 0:  # with 0 the starting point is returned on purpose
            super()._warn_unless_converged()

    def _solve_linear(self, problem: DoubleHingeProblem) -> LinearSolution:
        """Solve with centered features, so that a common offset costs no digits; overwrites `problem.X_u`, a copy."""
        X_u, losses = problem.X_u, problem.losses
        center = np.zeros(X_u.shape[1]) if issparse(X_u) else X_u.mean(axis=0)
        if not issparse(X_u):
            X_u -= center
        solution = solve_linear(
            X_u,
            losses,
            problem.total,
            problem.c1 * (problem.X_p.sum(axis=0) if issparse(X_u) else (problem.X_p - center).sum(axis=0)),
            tol=self.tol,
            max_iter=self.max_iter,
            scale=Scale(problem.trivial),
        )
        at_center = solution.intercept
        intercept = at_center - float(center @ solution.coef)
        # cost of rounding a large intercept
        shift = float(np.longdouble(intercept) - at_center + center.astype(np.longdouble) @ solution.coef)
        f = X_u @ solution.coef + at_center
        rise = loss_values(losses, f + shift) - loss_values(losses, f) - solution.dual * shift
        cost = max(float(rise.sum()), 0.0)
        objective, gap = solution.objective + cost, solution.gap + cost
        converged = gap <= self.tol * relative_scale(objective, gap, problem.trivial)
        return replace(solution, intercept=intercept, objective=objective, gap=gap, converged=converged)

    def _start(self, problem: DoubleHingeProblem) -> Floats:
        if self.init == "subsample":
            random = check_random_state(self.random_state)
            rng = np.random.default_rng(random.randint(np.iinfo(np.int32).max))
            return subsample_start(problem, rng, cache_bytes=1e6 * self.cache_size)
        if self.init == "one-class":
            return one_class_start(problem, self.prior_)
        return uniform_start(problem.losses, problem.total)

    def _solve_pairs(self, problem: DoubleHingeProblem) -> KernelSolution:
        """Solve on pairs; reuses the memory of `problem.X_u`, which is a copy."""
        return solve_kernel(
            KernelProblem.of(problem),
            self._start(problem),
            tol=self.tol,
            max_iter=self.max_iter,
            cache_bytes=1e6 * self.cache_size,
            overwrite_X=True,
        )

    def _scored_anew(self, problem: DoubleHingeProblem, X_u: Floats, pairs: KernelSolution) -> KernelSolution:
        """Return a solution with scores in which pair steps, on kernel values of very different size, left no error."""
        G = problem.kernel.combination(X_u, X_u, pairs.dual) - problem.a_X
        intercept, gap = intercept_and_gap(problem.losses, problem.total, pairs.dual, G)
        objective = dual_value(problem.losses, pairs.dual, G, problem.a_X, problem.a_norm) + gap
        converged = pairs.converged and gap <= self.tol * relative_scale(objective, gap, problem.trivial)
        return replace(
            pairs, scores=intercept - G, intercept=intercept, objective=objective, gap=gap, converged=bool(converged)
        )

    def _fit_peer(self, problem: DoubleHingeProblem, X: Floats, labeled: Bools, center: Floats | None) -> None:
        if self.solver == "qp":
            from pucli.solvers.usmo.qp import solve_qp

            sigma = solve_qp(problem, tol=min(0.1 * self.tol, 1e-8))
        else:
            from pucli.solvers.usmo.svr import solve_svr

            sigma, _ = solve_svr(problem, tol=1e-4, cache_size=self.cache_size)
        # The peers stop by their own tolerances; a relative gap of 1e-4 separates a solution from a failure.
        self._certify_dual(problem, X, labeled, sigma, max(self.tol, 1e-4), center)

    def _fit_start(self, problem: DoubleHingeProblem, X: Floats, labeled: Bools, center: Floats | None) -> None:
        sigma = self._start(problem)
        self._certify_dual(problem, X, labeled, sigma, self.tol, center)
        self._intercept = averaged_intercept(problem, sigma)
        if center is not None:
            self._intercept -= float(center @ self._coef)

    def _certify_dual(
        self,
        problem: DoubleHingeProblem,
        X: Floats,
        labeled: Bools,
        sigma: Floats,
        tol: float,
        center: Floats | None,
    ) -> None:
        """Keep the model of any feasible sigma, with its best intercept and its gap."""
        support = np.flatnonzero(sigma)
        G = problem.kernel.combination(problem.X_u, problem.X_u[support], sigma[support]) - problem.a_X
        intercept, gap = intercept_and_gap(problem.losses, problem.total, sigma, G)
        dual = dual_value(problem.losses, sigma, G, problem.a_X, problem.a_norm)
        rounding = self._keep_dual(X, labeled, problem, sigma, intercept, center)
        self.violation_ = np.nan
        converged = gap <= tol * relative_scale(dual + gap, gap, problem.trivial)
        self._keep_certificate(Certificate(objective=dual + gap, gap=gap, n_iter=1, converged=converged))
        self.trace_ = np.empty((0, 3))
        self._add_rounding(rounding, problem.trivial)

    def _keep_dual(
        self,
        X: Floats,
        labeled: Bools,
        problem: DoubleHingeProblem,
        sigma: Floats,
        intercept: float,
        center: Floats | None,
    ) -> float:
        """Keep the model of dual variables; return the possible cost of rounding the kernel and the intercept."""
        weights = np.full(len(X), problem.c1)
        weights[~labeled] = -sigma
        shift = self._keep(X, weights, intercept, center)
        rounding = problem.kernel.rounding(X, weights)
        if self.kernel == "polynomial":
            rounding += problem.kernel.rounding_of_scores(X, weights, np.where(labeled, problem.c1, problem.c2))
        return rounding + abs(shift) * 0.5 * max(self.prior_, 1.0 - self.prior_) / self.lam_

    def _certify_coef(
        self, X: Floats, labeled: Bools, problem: DoubleHingeProblem, pairs: KernelSolution, center: Floats | None
    ) -> float:
        """Set objective and gap of the coefficients from scores of the rows; return the cost of rounding them."""
        w, losses = self._coef, problem.losses
        P, U = X[labeled], X[~labeled]
        fixed = problem.c1 * float(np.linalg.norm(P, axis=1).sum())
        gap = gap_at(losses, U, pairs.dual, w, pairs.intercept, fixed)
        terms = -problem.c1 * (P @ w + pairs.intercept), loss_values(losses, U @ w + pairs.intercept)
        self.objective_ = float(terms[0].sum() + terms[1].sum()) + 0.5 * float(w @ w)
        self.dual_gap_ = gap
        self.converged_ = bool(gap <= self.tol * relative_scale(self.objective_, gap, problem.trivial))
        moved = 0.0 if center is None else float(np.finfo(float).eps) * abs(self._intercept)
        sizes = problem.c1 * (np.abs(P) @ np.abs(w) + abs(pairs.intercept)).sum()
        # pair steps on large kernel values lose digits of the sum of the dual variables, on which the bound rests
        missed = abs(float(pairs.dual.sum()) - problem.total) * (abs(pairs.intercept) + 1.0)
        return (
            missed + 4.0 * float(np.finfo(float).eps * sizes) + moved * max(self.prior_, 1.0 - self.prior_) / self.lam_
        )

    def _add_rounding(self, rounding: float, trivial: float) -> None:
        """Add the possible effect of rounding to the gap; it must be within the tolerance too."""
        self.converged_ &= bool(rounding <= self.tol * relative_scale(self.objective_, self.dual_gap_, trivial))
        self.dual_gap_ += float(rounding)
