"""GLPUAL and GLLC (Wang 2024, chapters 2.3.3 and 3): global and local learning from positive and unlabeled rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from numpy.typing import ArrayLike

from pucli.estimators.base.data_defaults import (
    Rule,
    balanced,
    balanced_hinge_and_square,
    median_distance,
    ridge_of_sums,
)
from pucli.estimators.base.parameters import FROM_ONE, POSITIVE, RIDGE, WEIGHT, Constraints, Label, one_of
from pucli.estimators.global_local.feature_model import LANDMARKS, FeatureModel
from pucli.estimators.global_local.forms import (
    THESIS_ITERATIONS,
    THESIS_MU,
    check_form,
    keep_thesis,
    thesis_kernel,
)
from pucli.solvers.glpual.admm import solve_glpual_admm
from pucli.solvers.glpual.dual import solve_glpual
from pucli.solvers.glpual.gllc import solve_gllc
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.glpual.thesis import solve_thesis
from pucli.solvers.kernels.graph import mutual_knn

ADMM_MU = 1.0
ADMM_ITERATIONS = 20_000
SWEEPS = 1000


class GLPUAL(FeatureModel):
    """Global and local PU learning with asymmetric loss.

    Minimizes over f(x) = g(x) + beta_0

        lam/2 |g|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf

    with p the labeled and u the unlabeled rows, |g| the norm of the linear coefficients or of the RKHS, and R the
    scaled Laplacian of the mutual K-NN graph, so that f'Rf = 1/(2n) sum_ij W_ij (f_i - f_j)^2 and
    W_ij = exp(-|x_i - x_j|^2 / sigma).

    Parameters
    ----------
    lam : float or "scale", default="scale"
        Ridge; "scale" is 2 c_p n_p / n. Not used by ``form="thesis"``.
    c_p : float, default=1.0
        Weight of each labeled row (C_p in print).
    c_u : float or "balanced", default="balanced"
        Weight of each unlabeled row (C_u in print); "balanced" is c_p n_p / (2 n_u), at which zero is the best
        constant f.
    sigma : float, default=1.0
        Scale of the similarity, in squared units of X. Not used by ``form="thesis"``.
    n_neighbors : int, default=5
        K of the graph.
    kernel : {"linear", "rbf"}, default="linear"
        "rbf" is exp(-d^2 / (2 width^2)).
    width : float or "median", default="median"
        Width of the RBF kernel, in units of X; "median" is the median distance between two rows.
    form : {"rkhs", "thesis"}, default="rkhs"
        "rkhs" is the exact minimizer, certified. "thesis" (RBF only) runs the printed kernel updates (3.17),
        (3.24)-(3.26) `max_iter` times; they minimize no fixed objective.
    solver : {"dual", "admm"}, default="dual"
        Coordinate ascent on the box dual, or the printed ADMM (3.6)-(3.13).
    mu : float or None, default=None
        ADMM penalty (mu_1); None is 1.0 for ``solver="admm"`` and 0.01 for ``form="thesis"``. Not used by the dual
        solver.
    max_rank : int or None, default=None
        Largest rank of the kernel features (Nystrom). None is no limit up to 4000 rows, 2000 up to 10,000 rows, and 500
        above.
    tol : float, default=1e-6
        Relative duality gap to reach. Not used by ``form="thesis"``.
    max_iter : int or None, default=None
        Sweeps (dual, None is 1000), iterations (admm, 20000), or updates (thesis form, 150: there the count is part
        of the method).
    pos_label : label or None, default=None
        The label of y that marks labeled positives. None takes the greater of two numbers and, of two words, the
        positive one ("yes" of "no" and "yes") if it is also the last in sorted order; other words need it.
    threshold : float or None, default=None
        Threshold above which a row is predicted positive; it is subtracted from `decision_function`. None means zero.

    Attributes
    ----------
    coef_ : ndarray of shape (1, r)
        Coefficients of the features (linear), of the low-rank kernel features (RBF), or of the kernel at `landmarks_`
        (thesis form).
    intercept_ : ndarray of shape (1,)
    objective_ : float
        Value of the objective above; NaN for the thesis form.
    dual_gap_ : float
        Proven bound on `objective_` minus the optimum; NaN for the thesis form.
    residual_ : float
        Thesis form: max |1 - f - h| over labeled rows after the last update; otherwise NaN.
    n_iter_ : int
    converged_ : bool
        Whether the gap is within the tolerance. A thesis-form fit counts as converged when it is finite.
    classes_ : ndarray of shape (2,)
        The label of unlabeled rows and the label of labeled positives, in this order.
    lam_, c_u_, width_ : float
        The values used, computed from the data if the parameter is a word.
    positive_share_, labeled_recall_ : float
        Shares of the unlabeled and of the labeled training rows that the model calls positive.
    landmarks_, landmark_factor_, kernel_residual_ : ndarray, ndarray, float
        The kernel features (`pucli.solvers.kernels.low_rank`).
    graph_recall_ : float
        Share of the true neighbors that the graph knows, measured on a sample; 1 up to 100,000 rows.

    References
    ----------
    Wang (2024), eq. (3.2), (3.6)-(3.13), (3.17), (3.24)-(3.26).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import GLPUAL
    >>> X, positive = make_blobs(120, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> y = positive.copy()
    >>> y[60:] = 0  # only positives among the first 60 rows are labeled
    >>> model = GLPUAL().fit(X, y)
    >>> bool(model.dual_gap_ <= 1e-6 * model.objective_)
    True
    >>> bool((model.predict(X) == positive).mean() > 0.95)
    True
    """

    lam_: float
    c_u_: float

    _rules: ClassVar[Mapping[str, Rule]] = {
        "lam": ridge_of_sums,
        "c_u": balanced_hinge_and_square,
        "width": median_distance,
    }
    _parameter_constraints: ClassVar[Constraints] = {
        **FeatureModel._parameter_constraints,
        "lam": RIDGE,
        "c_p": [POSITIVE],
        "c_u": WEIGHT,
        "sigma": [POSITIVE],
        "n_neighbors": [FROM_ONE],
        "form": [one_of("rkhs", "thesis")],
        "solver": [one_of("dual", "admm")],
        "mu": [POSITIVE, None],
        "tol": [POSITIVE],
        "max_iter": [FROM_ONE, None],
    }

    def __init__(  # noqa: PLR0913
        self,
        lam: float | str = "scale",
        c_p: float = 1.0,
        c_u: float | str = "balanced",
        sigma: float = 1.0,
        n_neighbors: int = 5,
        kernel: str = "linear",
        width: float | str = "median",
        form: str = "rkhs",
        solver: str = "dual",
        mu: float | None = None,
        max_rank: int | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        pos_label: Label | None = None,
        threshold: float | None = None,
    ) -> None:
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
        check_form(self.form, self.kernel)
        self._set_defaults(X, labeled)
        if self.form == "thesis":
            K = thesis_kernel(X, self.width_, self.n_neighbors)
            mu, n_iter = self.mu or THESIS_MU, self.max_iter or THESIS_ITERATIONS
            keep_thesis(self, X, labeled, solve_thesis(K, labeled, self.c_p, self.c_u_, mu, n_iter, squared=False))
            return self._finish(X, labeled)
        features = self._features(X, LANDMARKS if self.solver == "dual" else None)
        graph = mutual_knn(X, self.n_neighbors)
        self.graph_recall_ = graph.recall
        problem = GlobalLocalProblem(features, labeled, graph.edges(self.sigma), self.lam_, self.c_p, self.c_u_)
        if self.solver == "dual":
            result = solve_glpual(problem, self.tol, self.max_iter or SWEEPS)
        else:
            result = solve_glpual_admm(problem, self.mu or ADMM_MU, self.tol, self.max_iter or ADMM_ITERATIONS)
        self._keep_coef(result.coef)
        self._keep_certificate(result)
        return self._finish(X, labeled)


class GLLC(FeatureModel):
    """Global and local learning classifier: GLPUAL with the squared loss on the labeled rows too.

    Minimizes lam/2 |g|^2 + c_p sum_p (1 - f_i)^2 + c_u sum_u (1 + f_i)^2 + f'Rf, in closed form.

    Parameters
    ----------
    lam : float or "scale", default="scale"
        Ridge; "scale" is 2 c_p n_p / n. Not used by ``form="thesis"``.
    c_p : float, default=1.0
        Weight of each labeled row.
    c_u : float or "balanced", default="balanced"
        Weight of each unlabeled row; "balanced" is c_p n_p / n_u, at which zero is the best constant f.
    sigma : float, default=1.0
        Scale of the similarity, in squared units of X. Not used by ``form="thesis"``.
    n_neighbors : int, default=5
        K of the graph.
    kernel : {"linear", "rbf"}, default="linear"
        "rbf" is exp(-d^2 / (2 width^2)).
    width : float or "median", default="median"
        Width of the RBF kernel, in units of X; "median" is the median distance between two rows.
    form : {"rkhs", "thesis"}, default="rkhs"
        "thesis" (RBF only) is the closed form that the printed kernel trick gives for this loss.
    max_rank : int or None, default=None
        Largest rank of the kernel features (Nystrom). None is no limit up to 4000 rows, 2000 up to 10,000 rows, and 500
        above.
    pos_label : label or None, default=None
        The label of y that marks labeled positives, as in `GLPUAL`.
    threshold : float or None, default=None
        As in `GLPUAL`.

    Attributes
    ----------
    lam_, c_u_, width_, coef_, intercept_, objective_, residual_, n_iter_, converged_, classes_, landmarks_
        As in `GLPUAL`.
    dual_gap_ : float
        Half the squared gradient in the metric of the inverse Hessian, which for a quadratic objective is exactly
        `objective_` minus the optimum, rounding included; NaN for the thesis form.

    References
    ----------
    Ke, Lv, Sun, Zhou, Jing (2018); Wang (2024), eq. (2.5).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from pucli import GLLC
    >>> X, positive = make_moons(200, noise=0.1, random_state=0)
    >>> y = positive.copy()
    >>> y[100:] = 0  # only positives among the first 100 rows are labeled
    >>> model = GLLC(kernel="rbf", width=0.5).fit(X, y)
    >>> bool((model.predict(X) == positive).mean() > 0.9)
    True
    """

    lam_: float
    c_u_: float

    _rules: ClassVar[Mapping[str, Rule]] = {"lam": ridge_of_sums, "c_u": balanced, "width": median_distance}
    _parameter_constraints: ClassVar[Constraints] = {
        **FeatureModel._parameter_constraints,
        "lam": RIDGE,
        "c_p": [POSITIVE],
        "c_u": WEIGHT,
        "sigma": [POSITIVE],
        "n_neighbors": [FROM_ONE],
        "form": [one_of("rkhs", "thesis")],
    }

    def __init__(  # noqa: PLR0913
        self,
        lam: float | str = "scale",
        c_p: float = 1.0,
        c_u: float | str = "balanced",
        sigma: float = 1.0,
        n_neighbors: int = 5,
        kernel: str = "linear",
        width: float | str = "median",
        form: str = "rkhs",
        max_rank: int | None = None,
        pos_label: Label | None = None,
        threshold: float | None = None,
    ) -> None:
        self.lam = lam
        self.c_p = c_p
        self.c_u = c_u
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.width = width
        self.form = form
        self.max_rank = max_rank
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
        check_form(self.form, self.kernel)
        self._set_defaults(X, labeled)
        if self.form == "thesis":
            K = thesis_kernel(X, self.width_, self.n_neighbors)
            found = solve_thesis(K, labeled, self.c_p, self.c_u_, THESIS_MU, THESIS_ITERATIONS, squared=True)
            keep_thesis(self, X, labeled, found)
            return self._finish(X, labeled)
        features = self._features(X, LANDMARKS)
        graph = mutual_knn(X, self.n_neighbors)
        self.graph_recall_ = graph.recall
        problem = GlobalLocalProblem(features, labeled, graph.edges(self.sigma), self.lam_, self.c_p, self.c_u_)
        result = solve_gllc(problem)
        self._keep_coef(result.coef)
        self._keep_certificate(result)
        return self._finish(X, labeled)
