"""Elastic GLPUAL (Wang 2024, chapter 4): PU classifiers that give irrelevant features a coefficient of zero."""

from __future__ import annotations

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from pucli.estimators.base.pu import PUClassifier
from pucli.kernels.graph import mutual_knn
from pucli.kernels.intercept import with_intercept
from pucli.kernels.quadratic_surface import (
    check_memory,
    surface_features,
    surface_matrix,
    surface_ridge,
    surface_score,
)
from pucli.solvers.elastic.admm import solve_elastic_admm
from pucli.solvers.elastic.dual import solve_elastic
from pucli.solvers.surface.admm import solve_surface_admm
from pucli.solvers.surface.problem import surface_problem
from pucli.solvers.surface.working_set import solve_surface

_POSITIVE = Interval(Real, 0, None, closed="neither")
_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


class ElasticGLPUAL(PUClassifier):
    """Linear GLPUAL with an elastic-net penalty (E-GLPUAL).

    Minimises over f(x) = x'beta + beta_0

        lam1/2 |beta|_1 + lam2/2 |beta|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf

    with p the labelled and u the unlabeled rows and R the scaled Laplacian of the mutual K-NN graph (see `GLPUAL`).
    Features that are equal get equal coefficients, and similar ones similar coefficients (Theorem 2).

    Parameters
    ----------
    lam1 : float, default 1.0
        L1 penalty; from ``pucli.solvers.elastic.dual.lam1_max`` on, all coefficients are zero.
    lam2 : float, default 1.0
        Ridge.
    c_p, c_u : float, default 1.0 and 0.1
        Weight of each labelled and of each unlabeled row.
    sigma : float, default 1.0
        Scale of the similarity, in squared units of X.
    n_neighbors : int, default 5
        K of the graph.
    solver : {"dual", "admm"}, default "dual"
        Coordinate ascent on the box dual, or the printed five-block ADMM.
    mu : float, default 1.0
        Penalty of the ADMM.
    tol : float, default 1e-6
        Relative duality gap to reach.
    max_iter : int or None
        Sweeps (dual, default 2000) or iterations (admm, 50000).

    Attributes
    ----------
    coef_ : (n_features,) coefficients, zeros exact; intercept_ : float.
    objective_ : value of the objective above; dual_gap_ : proven bound on objective_ minus the optimum.
    n_iter_, converged_, classes_, n_features_in_ : as usual.

    References
    ----------
    Wang (2024), eq. (4.1)-(4.21).
    """

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        "lam1": [_NOT_NEGATIVE],
        "lam2": [_POSITIVE],
        "c_p": [_POSITIVE],
        "c_u": [_POSITIVE],
        "sigma": [_POSITIVE],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "solver": [StrOptions({"dual", "admm"})],
        "mu": [_POSITIVE],
        "tol": [_POSITIVE],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        lam1=1.0,
        lam2=1.0,
        c_p=1.0,
        c_u=0.1,
        sigma=1.0,
        n_neighbors=5,
        solver="dual",
        mu=1.0,
        tol=1e-6,
        max_iter=None,
    ):
        self.lam1 = lam1
        self.lam2 = lam2
        self.c_p = c_p
        self.c_u = c_u
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.mu = mu
        self.tol = tol
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to rows X (n, m) and two labels y (n,): the greater marks labelled positives, the lesser unlabeled rows.

        Returns self. Raises ValueError for other than two labels, NaN or infinite values, or fewer rows than
        ``n_neighbors + 1``. Warns (ConvergenceWarning) where the gap stays above `tol`.
        """
        X, labelled = self._validate_fit(X, y)
        graph = mutual_knn(X, self.n_neighbors)
        edges = graph.edges(self.sigma)
        arguments = (with_intercept(X), labelled, edges, self.lam1, self.lam2, self.c_p, self.c_u)
        if self.solver == "admm":
            result = solve_elastic_admm(*arguments, self.mu, self.tol, self.max_iter or 50000)
        else:
            result = solve_elastic(*arguments, self.tol, self.max_iter or 2000)
        self.coef_, self.intercept_ = result.w[:-1], float(result.w[-1])
        self.objective_ = result.objective
        self.dual_gap_ = result.gap
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self._warn_unless_converged()
        return self

    def decision_function(self, X):
        """Return f(x) for each row of X (n, m), shape (n,); positive means the greater label."""
        X = self._validate_predict(X)
        return X @ self.coef_ + self.intercept_


class EKFGLPUAL(PUClassifier):
    """GLPUAL on a quadratic surface, with a group lasso that drops whole features (EKF-GLPUAL).

    Minimises over f(x) = x'Ax/2 + x'beta + beta_0, A symmetric,

        lam1/2 sum_j |(a_j1, ..., a_jm, beta_j)| + lam2/2 sum_i |A x_i + beta|^2
        + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf

    with p the labelled and u the unlabeled rows and R the scaled Laplacian of the mutual K-NN graph (see `GLPUAL`). A
    feature whose group is zero plays no part in f; a_jk is in the groups of j and of k. Scale the features to similar
    size: the penalty compares coefficients, and squares of very different features leave too few digits to prove that
    the minimum is reached (it mostly is; a ConvergenceWarning then has the gap).

    Parameters
    ----------
    lam1 : float, default 1.0
        Group penalty, positive; from ``pucli.solvers.surface.problem.surface_lam1_max`` on, f is constant.
    lam2 : float, default 1e-3
        Weight of the squared gradients of f at the rows.
    c_p, c_u : float, default 1.0 and 0.1
        Weight of each labelled and of each unlabeled row.
    sigma : float, default 1.0
        Scale of the similarity, in squared units of X.
    n_neighbors : int, default 5
        K of the graph.
    solver : {"working-set", "admm"}, default "working-set"
        Alternating directions and Newton steps on a growing set of features, or the printed five-block ADMM.
    mu : float, default 1.0
        Penalty of the printed ADMM.
    tol : float, default 1e-6
        Relative duality gap to reach.
    max_iter : int or None
        Newton steps on one working set (default 500), or iterations (admm, 20000).

    Attributes
    ----------
    quadratic_ : (n_features, n_features) A; coef_ : (n_features,) beta; intercept_ : float.
    selected_ : (n_features,) bool, features whose group is not zero (zeros are exact).
    objective_ : value of the objective above; dual_gap_ : proven bound on objective_ minus the optimum.
    n_iter_, converged_, classes_, n_features_in_ : as usual.

    Raises
    ------
    ValueError : more features than memory allows: A has about m^2 / 2 coefficients, a fit takes some m^4 numbers.

    References
    ----------
    Wang (2024), eq. (4.22)-(4.43).
    """

    _parameter_constraints = {  # noqa: RUF012
        **ElasticGLPUAL._parameter_constraints,
        "lam1": [_POSITIVE],
        "solver": [StrOptions({"working-set", "admm"})],
    }

    def __init__(
        self,
        lam1=1.0,
        lam2=1e-3,
        c_p=1.0,
        c_u=0.1,
        sigma=1.0,
        n_neighbors=5,
        solver="working-set",
        mu=1.0,
        tol=1e-6,
        max_iter=None,
    ):
        self.lam1 = lam1
        self.lam2 = lam2
        self.c_p = c_p
        self.c_u = c_u
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.mu = mu
        self.tol = tol
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to rows X (n, m) and two labels y (n,): the greater marks labelled positives, the lesser unlabeled rows.

        Returns self. Raises ValueError for other than two labels, NaN or infinite values, fewer rows than
        ``n_neighbors + 1``, or too many features. Warns (ConvergenceWarning) where the gap stays above `tol`.
        """
        X, labelled = self._validate_fit(X, y)
        check_memory(*X.shape)
        graph = mutual_knn(X, self.n_neighbors)
        edges = graph.edges(self.sigma)
        Z, G = with_intercept(surface_features(X)), surface_ridge(X)
        if self.solver == "admm":
            result = solve_surface_admm(
                Z, G, labelled, edges, self.lam1, self.lam2, self.c_p, self.c_u, self.mu, self.tol,
                self.max_iter or 20000,
            )  # fmt: skip
        else:
            problem = surface_problem(Z, G, labelled, edges, self.lam2, self.c_p, self.c_u)
            result = solve_surface(problem, self.lam1, self.tol, self.max_iter or 500)
        self.quadratic_, self.coef_ = surface_matrix(result.w[:-1], X.shape[1])
        self.intercept_ = float(result.w[-1])
        self.selected_ = np.any(self.quadratic_ != 0.0, axis=1) | (self.coef_ != 0.0)
        self.objective_ = result.objective
        self.dual_gap_ = result.gap
        self.n_iter_ = max(result.n_iter, 1)
        self.converged_ = result.converged
        self._warn_unless_converged()
        return self

    def _warn_unless_converged(self) -> None:
        if not self.converged_:
            warnings.warn(
                f"EKFGLPUAL stopped after {self.n_iter_} iterations with the objective proven to a relative "
                f"{self.dual_gap_ / self.objective_:.1g}, not to tol={self.tol:g}: scale the features to similar size, "
                "loosen tol, or raise max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def decision_function(self, X):
        """Return f(x) for each row of X (n, m), shape (n,); positive means the greater label."""
        X = self._validate_predict(X)
        return surface_score(X, self.quadratic_, self.coef_, self.intercept_)
