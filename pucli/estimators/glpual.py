"""GLPUAL and GLLC (Wang 2024, chapters 2.3.3 and 3): global and local learning from positive and unlabeled rows."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from pucli.estimators.base.pu import PUClassifier
from pucli.kernels.graph import mutual_knn, squared_distances, squared_distances_between
from pucli.kernels.intercept import with_intercept
from pucli.kernels.low_rank import rbf_features, rbf_from_distances, rbf_map
from pucli.solvers.glpual.admm import solve_glpual_admm
from pucli.solvers.glpual.dual import solve_glpual
from pucli.solvers.glpual.gllc import solve_gllc
from pucli.solvers.glpual.thesis import solve_thesis
from pucli.solvers.result import Solution

_POSITIVE = Interval(Real, 0, None, closed="neither")
THESIS_ITERATIONS = 150
THESIS_MU = 0.01


class _GlobalLocal(PUClassifier):
    """What GLPUAL and GLLC share: the similarity graph, the three forms of the model, prediction."""

    _squared: bool

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        "lam": [_POSITIVE],
        "c_p": [_POSITIVE],
        "c_u": [_POSITIVE],
        "sigma": [_POSITIVE],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({"linear", "rbf"})],
        "width": [_POSITIVE],
        "form": [StrOptions({"rkhs", "thesis"})],
        "max_rank": [Interval(Integral, 1, None, closed="left"), None],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to rows X (n, m) and two labels y (n,): the greater marks labelled positives, the lesser unlabeled rows.

        Returns self. Raises ValueError for other than two labels, NaN or infinite values, or fewer rows than
        ``n_neighbors + 1``. Warns (ConvergenceWarning) where the gap stays above `tol`.
        """
        X, labelled = self._validate_fit(X, y)
        if self.form == "thesis" and self.kernel == "linear":
            raise ValueError("form='thesis' is a kernel form: set kernel='rbf', or form='rkhs' for the linear model.")
        graph = mutual_knn(X, self.n_neighbors)
        edges = graph.edges(self.sigma)
        if self.form == "thesis":
            self._fit_thesis(X, labelled)
        elif self.kernel == "linear":
            result = self._solve(with_intercept(X), labelled, edges)
            self._keep(result)
            self.coef_, self.intercept_ = result.coef[:-1], float(result.coef[-1])
        else:
            features = rbf_map(X, self.width, self.max_rank)
            result = self._solve(with_intercept(features.L), labelled, edges)
            self._keep(result)
            self.landmarks_ = X[features.pivots]
            self.landmark_factor_ = features.factor
            self.kernel_residual_ = features.residual
            self.coef_, self.intercept_ = result.coef[:-1], float(result.coef[-1])
        self._warn_unless_converged()
        return self

    def _solve(self, Z, labelled, edges) -> Solution:
        raise NotImplementedError

    def _keep(self, result: Solution) -> None:
        self.objective_ = result.objective
        self.dual_gap_ = result.gap
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged

    def _fit_thesis(self, X, labelled) -> None:
        K = rbf_from_distances(squared_distances(X), self.width)
        mu = THESIS_MU if getattr(self, "mu", None) is None else self.mu
        n_iter = getattr(self, "max_iter", None) or THESIS_ITERATIONS
        result = solve_thesis(K, labelled, self.c_p, self.c_u, mu, n_iter, squared=self._squared)
        self.landmarks_ = np.vstack([X[labelled], X[~labelled]])
        self.coef_ = np.concatenate([result.coef, np.full(np.count_nonzero(~labelled), result.omega_u)])
        self.intercept_ = result.intercept
        self.objective_ = np.nan
        self.dual_gap_ = np.nan
        self.residual_ = result.residual
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged

    def decision_function(self, X):
        """Return f(x) for each row of X (n, m), shape (n,); positive means the greater label."""
        X = self._validate_predict(X)
        if self.form == "thesis":
            K = rbf_from_distances(squared_distances_between(X, self.landmarks_), self.width)
            return K @ self.coef_ + self.intercept_
        if self.kernel == "rbf":
            X = rbf_features(X, self.landmarks_, self.landmark_factor_, self.width)
        return X @ self.coef_ + self.intercept_


class GLPUAL(_GlobalLocal):
    """Global and local PU learning with asymmetric loss.

    Minimises over f(x) = g(x) + beta_0

        lam/2 |g|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf

    with p the labelled and u the unlabeled rows, |g| the norm of the linear coefficients or of the RKHS, and R the
    scaled Laplacian of the mutual K-NN graph, so that f'Rf = 1/(2n) sum_ij W_ij (f_i - f_j)^2 and
    W_ij = exp(-|x_i - x_j|^2 / sigma).

    Parameters
    ----------
    lam : float, default 1.0
        Ridge. Not used by ``form="thesis"``.
    c_p, c_u : float, default 1.0 and 0.1
        Weight of each labelled and of each unlabeled row (C_p and C_u in print).
    sigma : float, default 1.0
        Scale of the similarity, in squared units of X.
    n_neighbors : int, default 5
        K of the graph.
    kernel : {"linear", "rbf"}, default "linear"
        ``"rbf"`` is exp(-d^2 / (2 width^2)).
    width : float, default 1.0
        Width of the RBF kernel, in units of X.
    form : {"rkhs", "thesis"}, default "rkhs"
        ``"rkhs"`` is the exact minimiser, certified. ``"thesis"`` (RBF only) runs the printed kernel updates (3.17),
        (3.24)-(3.26) `max_iter` times; they minimise no fixed objective, and neither `lam` nor `sigma` enters.
    solver : {"dual", "admm"}, default "dual"
        Coordinate ascent on the box dual, or the printed ADMM (3.6)-(3.13).
    mu : float or None
        ADMM penalty (mu_1); None is 1.0 for ``solver="admm"`` and 0.01 for ``form="thesis"``.
    max_rank : int or None
        Cap on the rank of the kernel features (Nystrom); None is exact up to 4000 rows, then 2000.
    tol : float, default 1e-6
        Relative duality gap to reach.
    max_iter : int or None
        Sweeps (dual, default 1000), iterations (admm, 20000), or updates (thesis form, 150: there the count is
        part of the method).

    Attributes
    ----------
    coef_ : coefficients of the features (linear), of the low-rank kernel features (RBF), or of the kernel at
        `landmarks_` (thesis form).
    intercept_ : float.
    objective_ : value of the objective above; NaN for the thesis form.
    dual_gap_ : proven bound on objective_ minus the optimum; NaN for the thesis form.
    residual_ : thesis form only, max |1 - f - h| over labelled rows after the last update.
    n_iter_, converged_, classes_, n_features_in_ : as usual. A thesis-form fit counts as converged when it is finite.
    landmarks_, landmark_factor_, kernel_residual_ : the kernel features (`pucli.kernels.low_rank`).

    References
    ----------
    Wang (2024), eq. (3.2), (3.6)-(3.13), (3.17), (3.24)-(3.26).

    Examples
    --------
    >>> import numpy as np
    >>> from pucli.estimators import GLPUAL
    >>> X = np.r_[np.random.default_rng(0).normal(2, 1, (60, 2)), np.random.default_rng(1).normal(-2, 1, (40, 2))]
    >>> y = np.r_[np.ones(20), np.zeros(80)]
    >>> model = GLPUAL(lam=1.0, c_u=0.1).fit(X, y)
    >>> bool(model.dual_gap_ <= 1e-6 * model.objective_)
    True
    """

    _squared = False
    _parameter_constraints = {  # noqa: RUF012
        **_GlobalLocal._parameter_constraints,
        "solver": [StrOptions({"dual", "admm"})],
        "mu": [_POSITIVE, None],
        "tol": [_POSITIVE],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        lam=1.0,
        c_p=1.0,
        c_u=0.1,
        sigma=1.0,
        n_neighbors=5,
        kernel="linear",
        width=1.0,
        form="rkhs",
        solver="dual",
        mu=None,
        max_rank=None,
        tol=1e-6,
        max_iter=None,
    ):
        self.lam = lam
        self.c_p = c_p
        self.c_u = c_u
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.width = width
        self.form = form
        self.solver = solver
        self.mu = mu
        self.max_rank = max_rank
        self.tol = tol
        self.max_iter = max_iter

    def _solve(self, Z, labelled, edges) -> Solution:
        if self.solver == "admm":
            mu = 1.0 if self.mu is None else self.mu
            max_iter = self.max_iter or 20000
            return solve_glpual_admm(Z, labelled, edges, self.lam, self.c_p, self.c_u, mu, self.tol, max_iter)
        return solve_glpual(Z, labelled, edges, self.lam, self.c_p, self.c_u, self.tol, self.max_iter or 1000)


class GLLC(_GlobalLocal):
    """Global and local learning classifier: GLPUAL with the squared loss on the labelled rows too.

    Minimises lam/2 |g|^2 + c_p sum_p (1 - f_i)^2 + c_u sum_u (1 + f_i)^2 + f'Rf, in closed form.

    Parameters
    ----------
    lam, c_p, c_u, sigma, n_neighbors, kernel, width, form, max_rank
        As in `GLPUAL`. ``form="thesis"`` is the closed form that the printed kernel trick gives for this loss.

    Attributes
    ----------
    coef_, intercept_, objective_, n_iter_, converged_, landmarks_, landmark_factor_ : as in `GLPUAL`.
    dual_gap_ : half the squared gradient in the metric of the inverse Hessian, which for a quadratic objective is
        exactly objective_ minus the optimum, rounding included; NaN for the thesis form.

    References
    ----------
    Ke, Lv, Sun, Zhou, Jing (2018); Wang (2024), eq. (2.5).
    """

    _squared = True

    def __init__(
        self,
        lam=1.0,
        c_p=1.0,
        c_u=0.1,
        sigma=1.0,
        n_neighbors=5,
        kernel="linear",
        width=1.0,
        form="rkhs",
        max_rank=None,
    ):
        self.lam = lam
        self.c_p = c_p
        self.c_u = c_u
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.width = width
        self.form = form
        self.max_rank = max_rank

    def _solve(self, Z, labelled, edges) -> Solution:
        return solve_gllc(Z, labelled, edges, self.lam, self.c_p, self.c_u)
