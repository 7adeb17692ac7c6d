"""Exact PU classifiers with a class prior: USMO (double hinge, convex) and RampPU (ramp loss, not convex)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from pucli.estimators.base.pu import PUClassifier
from pucli.kernels.functions import Kernel
from pucli.solvers.result import Certificate
from pucli.solvers.rows.linear import LinearSolution, keeps_w, solve_linear
from pucli.solvers.rows.losses import (
    bias_and_gap,
    dual_value,
    loss_values,
    relative_scale,
)
from pucli.solvers.usmo.blocks import KernelSolution, solve_kernel
from pucli.solvers.usmo.problem import DoubleHingeProblem, double_hinge_problem
from pucli.solvers.usmo.ramp import solve_ramp
from pucli.solvers.usmo.start import averaged_bias, one_class_start, subsample_start, uniform_start

SOLVERS = ("usmo", "qp", "svr")
# Terms of the objective above this may overflow on the way.
LARGEST = 1e200
STARTS = ("subsample", "one-class", "uniform")


def _positive(value: object) -> bool:
    """Tell whether a parameter is a positive finite number."""
    return isinstance(value, Real) and 0.0 < float(value) < np.inf


class _KernelPU(PUClassifier):
    """What USMO and RampPU share: the class prior, the kernel, and f = sum of kernels + bias."""

    _least_iterations = 1

    def _check_parameters(self) -> Kernel:
        if not (isinstance(self.prior, Real) and 0.0 < float(self.prior) < 1.0):
            raise ValueError(
                f"prior must be strictly between 0 and 1, got {self.prior!r}: it is the share of positives among the "
                "unlabeled rows. Outside, the dual has no solution: its n variables, each at most c2 = 1/(2 lam n), "
                "must sum to c1 p = prior/(2 lam). Give a proportion (0.3 for 30 %), or estimate it."
            )
        if not _positive(self.lam):
            raise ValueError(f"lam must be positive and finite, got {self.lam!r}.")
        if not _positive(self.tol):
            raise ValueError(f"tol must be positive and finite, got {self.tol!r}.")
        if not isinstance(self.max_iter, Integral) or self.max_iter < self._least_iterations:
            raise ValueError(f"max_iter must be an integer >= {self._least_iterations}, got {self.max_iter!r}.")
        if not _positive(self.cache_size):
            raise ValueError(f"cache_size, in MB, must be positive and finite, got {self.cache_size!r}.")
        return Kernel(self.kernel, self.width, self.degree, self.coef0).check()

    def _check_size(self, X: np.ndarray, kernel: Kernel) -> None:
        """Raise ValueError where kernel values, times dual variables of size 1 / 2 lam, nearly overflow."""
        with np.errstate(over="ignore"):
            if kernel.name == "rbf":
                largest = float(Kernel("linear").diagonal(X).max()) / kernel.width / kernel.width
            else:
                largest = float(kernel.diagonal(X).max())
            dual = max(1.0, 0.5 / float(self.lam))
            largest *= dual * dual
        if not largest < LARGEST:
            raise ValueError(
                f"the numbers of this fit overflow ({largest:.3g}): scale the features (each to unit variance, say), "
                "or choose a lower degree, a greater width or a greater lam."
            )

    def _warn_unless_converged(self) -> None:
        """Warn as all PU classifiers do; where it ended by itself, do not tell to raise max_iter."""
        if self.converged_ or self.n_iter_ >= self.max_iter:
            super()._warn_unless_converged()
            return
        warnings.warn(
            f"{type(self).__name__} stopped after {self.n_iter_} iterations above the tolerance; more would not help: "
            "rounding, or features of very different size. Scale the features (each to unit variance, say), "
            "or loosen tol.",
            ConvergenceWarning,
            stacklevel=3,
        )

    def _keep(self, X: np.ndarray, weights: np.ndarray, bias: float) -> None:
        """Keep f = sum_i weights_i k(x_i, .) + bias: as coefficients if linear, else as its rows of weight."""
        self.intercept_ = float(bias)
        if self.kernel == "linear":
            self.coef_ = weights @ X
            return
        support = np.flatnonzero(weights)
        self.support_vectors_, self.dual_coef_ = X[support], weights[support]

    def decision_function(self, X):
        """Return f(x) for each row of X (n, m), shape (n,); positive means the greater label."""
        X = self._validate_predict(X)
        if self.kernel == "linear":
            return X @ self.coef_ + self.intercept_
        kernel = Kernel(self.kernel, self.width, self.degree, self.coef0)
        return kernel.combination(X, self.support_vectors_, self.dual_coef_) + self.intercept_


class USMO(_KernelPU):
    """PU classifier with double hinge loss, exact at memory linear in the number of rows.

    With p labelled and n unlabeled rows, f = g + b, g in the space H of the kernel, c1 = prior / (2 lam p) and
    c2 = 1 / (2 lam n), it minimises

        -c1 sum_p f_i + c2 sum_u max(0, 1/2 + f_i/2, f_i) + 1/2 |g|_H^2

    which is the unbiased PU risk with the loss max(-z, max(0, 1/2 - z/2)) and the ridge lam |g|^2, over 2 lam.

    Parameters
    ----------
    prior : float, default=0.5
        Share of positives among the unlabeled rows, strictly between 0 and 1.
    lam : float, default=0.01
        Weight of the ridge on g; the bias is not regularised.
    kernel : {"rbf", "linear", "polynomial"}, default="rbf"
    width : float, default=1.0
        Length scale of exp(-d^2 / (2 width^2)), in the units of the features.
    degree, coef0 : int, float, default=3, 1.0
        Of the polynomial kernel (x.y + coef0)^degree.
    solver : {"usmo", "qp", "svr"}, default="usmo"
        "usmo" solves pairs, or keeps w (linear kernel, up to 3000 features and at least twice as many unlabeled rows).
        "qp" (Clarabel, extra `bench`) and "svr" (scikit-learn's SVR on stacked rows) solve the same problem at
        quadratic memory, for comparison.
    cache_size : float, default=200
        Size of the store of kernel rows in MB; it changes speed only.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=100000
        Largest number of blocks of pairs (kernels) or of Newton steps (linear kernel). 0 keeps the starting point, with
        the bias of the paper's (16), also for the linear kernel: the column Init of its tables.
    init : {"subsample", "one-class", "uniform"}, default="subsample"
        Starting point with kernels: the solution on an eighth of the rows, the one-class heuristic of the paper, or
        all variables equal. It changes speed only.
    random_state : int, RandomState or None, default=None
        Chooses the rows of the subsample.

    Attributes
    ----------
    coef_ : ndarray (m,), linear kernel; otherwise support_vectors_ (s, m) and dual_coef_ (s,).
    intercept_ : float
    objective_ : float
        Value of the objective above.
    dual_gap_ : float
        Proven bound on `objective_` minus the optimum, rounding of the kernel included.
    violation_ : float
        The largest violation of the tau-optimality conditions by any pair (13); NaN with the linear path, which has
        no pairs, and with the peers.
    n_iter_ : int
    converged_ : bool
    trace_ : ndarray (iterations, 3)
        Elapsed seconds, value of the dual and gap; empty with the peers.

    Raises
    ------
    ValueError
        For a prior outside (0, 1), and for "qp" and "svr" on more rows than they can hold.

    References
    ----------
    E. Sansone, F. G. B. De Natale, Z.-H. Zhou (2019). Efficient training for positive unlabeled learning. IEEE TPAMI.
    M. C. du Plessis, G. Niu, M. Sugiyama (2015). Convex formulation for learning from positive and unlabeled data.
    """

    _least_iterations = 0

    def __init__(
        self,
        prior=0.5,
        lam=0.01,
        kernel="rbf",
        width=1.0,
        degree=3,
        coef0=1.0,
        solver="usmo",
        cache_size=200,
        tol=1e-6,
        max_iter=100_000,
        init="subsample",
        random_state=None,
    ):
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
        self.random_state = random_state

    def fit(self, X, y):
        """Fit to rows X (N, m) and labels y (N,), the greater of its two values for labelled positives.

        Returns self.
        """
        X, labelled = self._validate_fit(X, y)
        kernel = self._check_parameters()
        self._check_size(X, kernel)
        for name, value, choices in (("solver", self.solver, SOLVERS), ("init", self.init, STARTS)):
            if value not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")
        problem = double_hinge_problem(X, labelled, kernel, float(self.prior), float(self.lam))
        if self.solver != "usmo":
            self._fit_peer(problem, X, labelled)
        elif self.max_iter == 0:
            self._fit_start(problem, X, labelled)
        elif kernel.name == "linear" and keeps_w(*problem.X_u.shape):
            solution = self._solve_linear(problem)
            self.coef_, self.intercept_ = solution.coef, solution.bias
            self.violation_ = np.nan
            self._record(solution)
        else:
            pairs = self._solve_pairs(problem)
            rounding = self._keep_dual(X, labelled, problem, pairs.dual, pairs.bias)
            self.violation_ = pairs.violation
            self._record(pairs)
            self._add_rounding(rounding, problem.trivial)
        if self.max_iter > 0:
            self._warn_unless_converged()
        return self

    def _solve_linear(self, problem: DoubleHingeProblem) -> LinearSolution:
        """Solve with features centred first, so that a common offset costs no digits; uses up `problem.X_u`, a copy."""
        X_u, losses = problem.X_u, problem.losses
        centre = X_u.mean(axis=0)
        X_u -= centre
        solution = solve_linear(
            X_u,
            losses,
            problem.total,
            problem.c1 * (problem.X_p - centre).sum(axis=0),
            tol=self.tol,
            max_iter=self.max_iter,
            trivial=problem.trivial,
        )
        bias = solution.bias
        intercept = bias - float(centre @ solution.coef)
        # what the rounding of a large intercept costs
        shift = float(np.longdouble(intercept) - bias + centre.astype(np.longdouble) @ solution.coef)
        f = X_u @ solution.coef + bias
        rise = loss_values(losses, f + shift) - loss_values(losses, f) - solution.dual * shift
        cost = max(float(rise.sum()), 0.0)
        objective, gap = solution.objective + cost, solution.gap + cost
        converged = gap <= self.tol * relative_scale(objective, gap, problem.trivial)
        return replace(solution, bias=intercept, objective=objective, gap=gap, converged=converged)

    def _start(self, problem: DoubleHingeProblem) -> np.ndarray:
        if self.init == "subsample":
            random = check_random_state(self.random_state)
            rng = np.random.default_rng(random.randint(np.iinfo(np.int32).max))
            return subsample_start(problem, rng, cache_bytes=1e6 * self.cache_size)
        if self.init == "one-class":
            return one_class_start(problem, float(self.prior))
        return uniform_start(problem.losses, problem.total)

    def _solve_pairs(self, problem: DoubleHingeProblem) -> KernelSolution:
        """Solve, using up the memory of `problem.X_u`, which is a copy."""
        return solve_kernel(
            problem.X_u,
            problem.kernel,
            problem.losses,
            problem.total,
            problem.a_X,
            problem.a_norm,
            self._start(problem),
            tol=self.tol,
            max_iter=self.max_iter,
            cache_bytes=1e6 * self.cache_size,
            trivial=problem.trivial,
            overwrite_X=True,
        )

    def _fit_peer(self, problem: DoubleHingeProblem, X: np.ndarray, labelled: np.ndarray) -> None:
        if self.solver == "qp":
            from pucli.solvers.usmo.qp import solve_qp

            sigma = solve_qp(problem, tol=min(0.1 * self.tol, 1e-8))
        else:
            from pucli.solvers.usmo.svr import solve_svr

            sigma, _ = solve_svr(problem, tol=1e-4, cache_size=self.cache_size)
        # The peers stop by their own tolerances; a relative gap of 1e-4 tells a solution from a failure.
        self._certify_dual(problem, X, labelled, sigma, max(self.tol, 1e-4))

    def _fit_start(self, problem: DoubleHingeProblem, X: np.ndarray, labelled: np.ndarray) -> None:
        sigma = self._start(problem)
        self._certify_dual(problem, X, labelled, sigma, self.tol)
        self.intercept_ = averaged_bias(problem, sigma)

    def _certify_dual(
        self, problem: DoubleHingeProblem, X: np.ndarray, labelled: np.ndarray, sigma: np.ndarray, tol: float
    ) -> None:
        """Keep the model of a feasible sigma from elsewhere, with its best bias and its gap."""
        support = np.flatnonzero(sigma)
        G = problem.kernel.combination(problem.X_u, problem.X_u[support], sigma[support]) - problem.a_X
        bias, gap = bias_and_gap(problem.losses, problem.total, sigma, G)
        dual = dual_value(problem.losses, sigma, G, problem.a_X, problem.a_norm)
        rounding = self._keep_dual(X, labelled, problem, sigma, bias)
        self.violation_ = np.nan
        converged = gap <= tol * relative_scale(dual + gap, gap, problem.trivial)
        self._set_certificate(Certificate(objective=dual + gap, gap=gap, n_iter=1, converged=converged))
        self.trace_ = np.empty((0, 3))
        self._add_rounding(rounding, problem.trivial)

    def _keep_dual(
        self, X: np.ndarray, labelled: np.ndarray, problem: DoubleHingeProblem, sigma: np.ndarray, bias: float
    ) -> float:
        """Keep the model of dual variables; return what rounding of the kernel may cost its objective."""
        weights = np.full(len(X), problem.c1)
        weights[~labelled] = -sigma
        self._keep(X, weights, bias)
        return problem.kernel.rounding(X, weights)

    def _add_rounding(self, rounding: float, trivial: float) -> None:
        """Add to the gap what rounding may hide; it must be within the tolerance too."""
        self.converged_ &= bool(rounding <= self.tol * relative_scale(self.objective_, self.dual_gap_, trivial))
        self.dual_gap_ += rounding

    def _record(self, solution: KernelSolution | LinearSolution) -> None:
        self._set_certificate(solution)
        self.trace_ = solution.trace

    def _set_certificate(self, certificate: Certificate) -> None:
        self.objective_, self.dual_gap_ = float(certificate.objective), float(certificate.gap)
        self.n_iter_ = max(int(certificate.n_iter), 1)
        self.converged_ = bool(certificate.converged)


class RampPU(_KernelPU):
    """PU classifier with the ramp loss, by the concave-convex procedure.

    With f = g + b, R(z) = 1/2 max(0, min(2, 1 - z)), c1 = prior / (2 lam p) and c2 = 1 / (2 lam n), it looks for a
    stationary point of

        2 c1 sum_p R(f_i) + c2 sum_u R(-f_i) + 1/2 |g|_H^2

    starting at f = 0. Every step solves a convex problem; the objective never rises.

    Parameters
    ----------
    prior, lam, kernel, width, degree, coef0, cache_size : as of `USMO`.
    tol : float, default=1e-4
        Stop where the convex majorant at f cannot fall by more than this, relative to the objective.
    max_iter : int, default=100
        Largest number of convex problems.

    Attributes
    ----------
    coef_ or support_vectors_ and dual_coef_, intercept_ : the model.
    objective_ : float
    dual_gap_ : NaN, the problem is not convex.
    residual_ : float
        How much lower the convex majorant at the solution may still reach; zero exactly at a stationary point.
    n_iter_ : int
    converged_ : bool
    objectives_ : ndarray (steps + 1,)
        The objective after each step.

    References
    ----------
    M. C. du Plessis, G. Niu, M. Sugiyama (2014). Analysis of learning from positive and unlabeled data. NIPS.
    """

    def __init__(
        self,
        prior=0.5,
        lam=0.01,
        kernel="rbf",
        width=1.0,
        degree=3,
        coef0=1.0,
        cache_size=200,
        tol=1e-4,
        max_iter=100,
    ):
        self.prior = prior
        self.lam = lam
        self.kernel = kernel
        self.width = width
        self.degree = degree
        self.coef0 = coef0
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y):
        """Fit to rows X (N, m) and labels y (N,), the greater of its two values for labelled positives.

        Returns self.
        """
        X, labelled = self._validate_fit(X, y)
        kernel = self._check_parameters()
        self._check_size(X, kernel)
        solution = solve_ramp(
            X,
            labelled,
            kernel,
            float(self.prior),
            float(self.lam),
            tol=self.tol,
            max_iter=self.max_iter,
            cache_bytes=1e6 * self.cache_size,
        )
        self._keep(X, solution.weights, solution.bias)
        self.objective_, self.dual_gap_ = solution.objective, np.nan
        self.residual_ = solution.residual
        self.n_iter_ = solution.n_iter
        # what rounding of the kernel may hide counts as well
        rounding = kernel.rounding(X, solution.weights)
        scale = relative_scale(solution.objective, 0.0, min(2.0 * self.prior, 1.0) / (2.0 * self.lam))
        self.residual_ += rounding
        self.converged_ = bool(solution.converged and rounding <= self.tol * scale)
        self.objectives_ = solution.objectives
        self._warn_unless_converged()
        return self
