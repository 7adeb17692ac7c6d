"""Elastic GLPUAL (Wang 2024, chapter 4): PU classifiers that give irrelevant features a coefficient of zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import Bools, Floats
from pucli.core.saved_state import Array, Scalar, State
from pucli.estimators.base.certificate import COEF, INTERCEPT
from pucli.estimators.base.data_defaults import (
    Rule,
    balanced_hinge_and_square,
    l1_of_features,
    l1_of_groups,
    ridge_of_gradients,
    ridge_of_sums,
)
from pucli.estimators.base.parameters import (
    FROM_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    RIDGE,
    THRESHOLD,
    WEIGHT,
    Constraints,
    Label,
    one_of,
)
from pucli.estimators.base.pu import PUClassifier
from pucli.solvers.elastic.admm import solve_elastic_admm
from pucli.solvers.elastic.dual import solve_elastic
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.graph import Edges, mutual_knn
from pucli.solvers.kernels.intercept import at_offset, with_intercept
from pucli.solvers.kernels.quadratic_surface import (
    check_memory,
    surface_features,
    surface_matrix,
    surface_ridge,
    surface_score,
)
from pucli.solvers.result import Solution
from pucli.solvers.surface.admm import solve_surface_admm
from pucli.solvers.surface.author import full_laplacian, solve_surface_author
from pucli.solvers.surface.problem import surface_problem
from pucli.solvers.surface.working_set import solve_surface

# Largest number of iterations where none is given.
SWEEPS = 2000
ADMM_ITERATIONS = 50_000
NEWTON_STEPS = 500
SURFACE_ADMM_ITERATIONS = 20_000
AUTHOR_UPDATES = 300


class ElasticGLPUAL(PUClassifier):
    """Linear GLPUAL with an elastic-net penalty (E-GLPUAL).

    Minimizes over f(x) = x'beta + beta_0

        lam1/2 |beta|_1 + lam2/2 |beta|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf

    with p the labeled and u the unlabeled rows and R the scaled Laplacian of the mutual K-NN graph (see `GLPUAL`).
    Features that are equal get equal coefficients, and similar ones similar coefficients (Theorem 2).

    Parameters
    ----------
    lam1 : float or "scale", default="scale"
        L1 penalty; "scale" is a twentieth of the smallest one at which all coefficients are zero.
    lam2 : float or "scale", default="scale"
        Ridge; "scale" is 2 c_p n_p / n.
    c_p : float, default=1.0
        Weight of each labeled row.
    c_u : float or "balanced", default="balanced"
        Weight of each unlabeled row; "balanced" is c_p n_p / (2 n_u), at which zero is the best constant f.
    sigma : float, default=1.0
        Scale of the similarity, in squared units of X.
    n_neighbors : int, default=5
        K of the graph.
    solver : {"dual", "admm"}, default="dual"
        Coordinate ascent on the box dual, or the printed five-block ADMM.
    mu : float, default=1.0
        Penalty of the ADMM; not used by the dual solver.
    tol : float, default=1e-6
        Relative duality gap to reach.
    max_iter : int or None, default=None
        Sweeps (dual, None is 2000) or iterations (admm, 50000).
    pos_label : label or None, default=None
        The label of y that marks labeled positives, as in `GLPUAL`.
    threshold : float or None, default=None
        As in `GLPUAL`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, m)
        Coefficients; zeros are exact.
    intercept_ : ndarray of shape (1,)
    objective_ : float
        Value of the objective above.
    dual_gap_ : float
        Proven bound on `objective_` minus the optimum.
    lam1_, lam2_, c_u_ : float
        The values used, computed from the data if the parameter is a word.
    n_iter_, converged_, classes_, positive_share_, labeled_recall_
        As in `GLPUAL`.

    References
    ----------
    Wang (2024), eq. (4.1)-(4.21).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import ElasticGLPUAL
    >>> X, positive = make_blobs(120, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> noise = np.random.default_rng(0).normal(size=(120, 3))
    >>> y = positive.copy()
    >>> y[60:] = 0  # only positives among the first 60 rows are labeled
    >>> model = ElasticGLPUAL(lam1=30.0).fit(np.hstack([X, noise]), y)
    >>> (model.coef_[0] != 0).tolist()
    [True, True, False, False, False]
    """

    _coef: Floats
    _intercept: float
    lam1_: float
    lam2_: float
    c_u_: float

    _compared: ClassVar[str] = "coefficients in its penalty"
    _column_matrices = 6
    _instead = "use fewer columns, or GLPUAL or BLSSVM, whose memory is linear in the columns"

    _rules: ClassVar[Mapping[str, Rule]] = {
        "lam1": l1_of_features,
        "lam2": ridge_of_sums,
        "c_u": balanced_hinge_and_square,
    }
    _parameter_constraints: ClassVar[Constraints] = {
        "lam1": [NOT_NEGATIVE, one_of("scale")],
        "lam2": RIDGE,
        "c_p": [POSITIVE],
        "c_u": WEIGHT,
        "sigma": [POSITIVE],
        "n_neighbors": [FROM_ONE],
        "solver": [one_of("dual", "admm")],
        "mu": [POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [FROM_ONE, None],
        "threshold": THRESHOLD,
    }

    coef_, intercept_ = COEF, INTERCEPT
    saved_state: ClassVar[State] = {
        "_coef": Array("m"),
        "_intercept": Scalar(),
    }

    def __init__(  # noqa: PLR0913
        self,
        lam1: float | str = "scale",
        lam2: float | str = "scale",
        c_p: float = 1.0,
        c_u: float | str = "balanced",
        sigma: float = 1.0,
        n_neighbors: int = 5,
        solver: str = "dual",
        mu: float = 1.0,
        tol: float = 1e-6,
        max_iter: int | None = None,
        pos_label: Label | None = None,
        threshold: float | None = None,
    ) -> None:
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
        self.pos_label = pos_label
        self.threshold = threshold

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows, labeled and unlabeled.
        y : array-like of shape (n,)
            Two labels: `pos_label` marks labeled positives, the other label unlabeled rows.

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
        graph = mutual_knn(X, self.n_neighbors)
        self.graph_recall_ = graph.recall
        edges = graph.edges(self.sigma)
        problem = GlobalLocalProblem(with_intercept(X), labeled, edges, self.lam2_, self.c_p, self.c_u_)
        if self.solver == "dual":
            result = solve_elastic(problem, self.lam1_, self.tol, self.max_iter or SWEEPS)
        else:
            result = solve_elastic_admm(problem, self.lam1_, self.mu, self.tol, self.max_iter or ADMM_ITERATIONS)
        self._coef, self._intercept = result.coef[:-1], float(result.coef[-1])
        self._keep_certificate(result)
        near, center = problem.near_origin()
        w = at_offset(result.coef, center)
        value = near.objective(w)
        self._add_cost(value + 0.5 * self.lam1_ * float(np.abs(w[:-1]).sum()) - self.objective_, self.tol)
        return self._finish(X, labeled)

    def _score(self, X: Floats) -> Floats:
        return X @ self._coef + self._intercept


class EKFGLPUAL(PUClassifier):
    """GLPUAL on a quadratic surface, with a group lasso that drops whole features (EKF-GLPUAL).

    Minimizes over f(x) = x'Ax/2 + x'beta + beta_0, A symmetric,

        lam1/2 sum_j |(a_j1, ..., a_jm, beta_j)| + lam2/2 sum_i |A x_i + beta|^2
        + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf

    with p the labeled and u the unlabeled rows and R the scaled Laplacian of the mutual K-NN graph (see `GLPUAL`). A
    feature whose group is zero plays no part in f; a_jk is in the groups of j and of k. Scale the features to similar
    size: the penalty compares coefficients, and squares of very different features leave too few digits to prove that
    the minimum is reached. It mostly is; the ConvergenceWarning then has the gap.

    Parameters
    ----------
    lam1 : float or "scale", default="scale"
        Group penalty, positive; "scale" is a twentieth of the smallest one at which f is constant.
    lam2 : float or "scale", default="scale"
        Weight of the squared gradients of f at the rows; "scale" is 2 c_p n_p / n^2.
    c_p : float, default=1.0
        Weight of each labeled row.
    c_u : float or "balanced", default="balanced"
        Weight of each unlabeled row; "balanced" is c_p n_p / (2 n_u), at which zero is the best constant f.
    sigma : float, default=1.0
        Scale of the similarity, in squared units of X.
    n_neighbors : int, default=5
        K of the graph.
    solver : {"working-set", "admm", "author"}, default="working-set"
        Alternating directions and Newton steps on a growing set of features, or the printed five-block ADMM. "author"
        runs the updates of the author's public scripts `max_iter` times; they minimize no stated objective, and join
        all pairs of rows, not the nearest (`pucli.solvers.surface.author`).
    mu : float, default=1.0
        Penalty of the two ADMMs; not used by the working set.
    tol : float, default=1e-6
        Relative duality gap to reach; not used by "author".
    max_iter : int or None, default=None
        Newton steps on one working set (None is 500), or iterations (admm, 20000; author, 300).
    pos_label : label or None, default=None
        The label of y that marks labeled positives, as in `GLPUAL`.
    threshold : float or None, default=None
        As in `GLPUAL`.

    Attributes
    ----------
    quadratic_ : ndarray of shape (m, m)
        The matrix A.
    coef_ : ndarray of shape (1, m)
        The vector beta.
    intercept_ : ndarray of shape (1,)
    selected_ : ndarray of bool, shape (m,)
        Features whose group is not zero; zeros are exact.
    objective_ : float
        Value of the objective above.
    dual_gap_ : float
        Proven bound on `objective_` minus the optimum. Both are NaN with the solver "author".
    lam1_, lam2_, c_u_ : float
        The values used, computed from the data if the parameter is a word.
    n_iter_, converged_, classes_, positive_share_, labeled_recall_
        As in `GLPUAL`.

    Raises
    ------
    ValueError
        In `fit`, for more features than memory allows: A has about m^2 / 2 coefficients, a fit takes some m^4 numbers.

    References
    ----------
    Wang (2024), eq. (4.22)-(4.43).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_circles
    >>> from pucli import EKFGLPUAL
    >>> X, positive = make_circles(200, noise=0.1, factor=0.3, random_state=0)
    >>> X = np.hstack([X, np.random.default_rng(0).normal(size=(200, 1))])
    >>> y = positive.copy()
    >>> y[100:] = 0  # only positives among the first 100 rows are labeled
    >>> model = EKFGLPUAL(lam1=10.0, c_u=0.3).fit(X, y)
    >>> model.selected_.tolist()
    [True, True, False]
    """

    _coef: Floats
    _intercept: float
    lam1_: float
    lam2_: float
    c_u_: float

    _compared: ClassVar[str] = "coefficients in its penalty"

    _rules: ClassVar[Mapping[str, Rule]] = {
        "lam1": l1_of_groups,
        "lam2": ridge_of_gradients,
        "c_u": balanced_hinge_and_square,
    }
    _parameter_constraints: ClassVar[Constraints] = {
        **ElasticGLPUAL._parameter_constraints,
        "lam1": RIDGE,
        "solver": [one_of("working-set", "admm", "author")],
    }

    coef_, intercept_ = COEF, INTERCEPT
    saved_state: ClassVar[State] = {
        "_coef": Array("m"),
        "_intercept": Scalar(),
        "quadratic_": Array("m", "m"),
        "selected_": Array("m", dtype="?"),
    }

    def __init__(  # noqa: PLR0913
        self,
        lam1: float | str = "scale",
        lam2: float | str = "scale",
        c_p: float = 1.0,
        c_u: float | str = "balanced",
        sigma: float = 1.0,
        n_neighbors: int = 5,
        solver: str = "working-set",
        mu: float = 1.0,
        tol: float = 1e-6,
        max_iter: int | None = None,
        pos_label: Label | None = None,
        threshold: float | None = None,
    ) -> None:
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
        self.pos_label = pos_label
        self.threshold = threshold

    def _check_memory(self, X: Any) -> None:
        check_memory(*X.shape)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows, labeled and unlabeled.
        y : array-like of shape (n,)
            Two labels: `pos_label` marks labeled positives, the other label unlabeled rows.

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
        graph = mutual_knn(X, self.n_neighbors)
        self.graph_recall_ = graph.recall
        edges = graph.edges(self.sigma)
        Z, G = with_intercept(surface_features(X)), surface_ridge(X)
        rows = GlobalLocalProblem(Z, labeled, edges, self.lam2_, self.c_p, self.c_u_)
        result: Solution
        if self.solver == "author":
            R = full_laplacian(X, self.sigma)
            result = solve_surface_author(rows, G, R, self.lam1_, self.mu, self.max_iter or AUTHOR_UPDATES)
        elif self.solver == "admm":
            steps = self.max_iter or SURFACE_ADMM_ITERATIONS
            result = solve_surface_admm(rows, G, self.lam1_, self.mu, self.tol, steps)
        else:
            result = solve_surface(surface_problem(rows, G), self.lam1_, self.tol, self.max_iter or NEWTON_STEPS)
        self.quadratic_, self._coef = surface_matrix(result.coef[:-1], X.shape[1])
        self._intercept = float(result.coef[-1])
        self.selected_ = np.any(self.quadratic_ != 0.0, axis=1) | (self._coef != 0.0)
        self._keep_certificate(result)
        if self.solver != "author":
            self._add_cost(self._objective_at(X, labeled, edges) - self.objective_, self.tol)
        return self._finish(X, labeled)

    def _objective_at(self, X: Floats, labeled: Bools, edges: Edges) -> float:
        """Return the objective by scores of the rows, which keeps digits that sums of fourth powers lose."""
        f, (i, j, weight) = self._score(X), edges
        losses = self.c_p * np.maximum(1.0 - f[labeled], 0.0).sum() + self.c_u_ * ((1.0 + f[~labeled]) ** 2).sum()
        groups = np.sqrt((self.quadratic_**2).sum(axis=1) + self._coef**2).sum()
        slopes = ((X @ self.quadratic_ + self._coef) ** 2).sum()
        graph = (weight * (f[i] - f[j]) ** 2).sum()
        return float(losses + graph + 0.5 * self.lam1_ * groups + 0.5 * self.lam2_ * slopes)

    def _advice(self) -> str:
        return (
            f"the objective is proven to a relative {self.dual_gap_ / self.objective_:.1g}, not to tol={self.tol:g}: "
            "scale the features to similar size, loosen tol, or raise max_iter"
        )

    def _score(self, X: Floats) -> Floats:
        score: Floats = surface_score(X, self.quadratic_, self._coef, self._intercept)
        return score
