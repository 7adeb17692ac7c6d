"""Class-prior-based GLPUAL (Wang 2024, chapter 5): the class prior takes the place of the two row weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_random_state

from pucli.core.memory import check_fit
from pucli.estimators.base.class_prior import PRIOR, PRIOR_ESTIMATOR, resolve_prior
from pucli.estimators.base.data_defaults import Rule, median_distance, ridge_of_means
from pucli.estimators.base.parameters import FROM_ONE, POSITIVE, RIDGE, Constraints, Label, RandomState, one_of
from pucli.estimators.global_local.feature_model import FeatureModel
from pucli.estimators.global_local.forms import THESIS_ITERATIONS, THESIS_MU, check_form, without_objective
from pucli.solvers.cpb.admm import solve_cpb_admm, solve_cpb_thesis
from pucli.solvers.cpb.dc import solve_cpb
from pucli.solvers.cpb.problem import CPBProblem
from pucli.solvers.kernels.graph import mutual_knn, squared_distances
from pucli.solvers.kernels.low_rank import rbf_from_distances

DC_STEPS = 100
ADMM_ITERATIONS = 5000


class CPBGLPUAL(FeatureModel):
    """GLPUAL with an unbiased estimate of the PN risk in place of weighted losses (CPB-GLPUAL).

    Minimizes over f = g + beta_0, with pi the class prior,

        lam/2 |g|^2 + pi/n_p sum_p ([1 - f_i]_+ - |1 + f_i|) + 1/n_u sum_u |1 + f_i| + f'Rf

    with p the n_p labeled and u the n_u unlabeled rows and R the scaled Laplacian of the mutual K-NN graph (see
    `GLPUAL`). The objective is not convex: the result is a stationary point, the best of a few starts.

    Parameters
    ----------
    prior : float in (0, 1) or None, default=None
        Share of positives among the unlabeled rows; None estimates it by `prior_estimator`.
    lam : float or "scale", default="scale"
        Ridge; "scale" is 1 / n. Not used by ``form="thesis"``.
    sigma : float, default=1.0
        Scale of the similarity, in squared units of X. Not used by ``form="thesis"``.
    n_neighbors : int, default=5
        K of the graph.
    kernel : {"linear", "rbf"}, default="rbf"
        "rbf" is exp(-d^2 / (2 width^2)).
    width : float or "median", default="median"
        Width of the RBF kernel, in units of X; "median" is the median distance between two rows.
    form : {"rkhs", "thesis"}, default="rkhs"
        "rkhs" minimizes the objective above. "thesis" (RBF only) runs the printed kernel updates (5.33), (5.39)-(5.43)
        `max_iter` times; they minimize no fixed objective.
    solver : {"dc", "admm"}, default="dc"
        Difference-of-convex steps, or the printed ADMM (5.13)-(5.30).
    mu : float or None, default=None
        Penalty (mu_1 = mu_2); None is 1/n for the ADMM and, as in `GLPUAL`, 0.01 for the thesis form. Not used by
        the difference-of-convex steps.
    max_rank : int or None, default=None
        Largest rank of the kernel features; None is no limit up to 4000 rows, and 2000 above.
    tol : float, default=1e-6
        Relative residual to reach (dc), or largest violation of a constraint (admm).
    max_iter : int or None, default=None
        Convex problems per start (dc, None is 100), iterations (admm, 5000), or updates (thesis form, 150: there the
        count is part of the method, since f grows without bound while its direction settles).
    prior_estimator : {"auto", "bbe", "km2"}, default="auto"
        Estimator of a prior that is not given: that of `pucli.AutoPU`, best bins, or kernel mean embedding.
    random_state : int, RandomState or None, default=None
        Seed of the estimate of the prior.
    pos_label : label or None, default=None
        The label of y that marks labeled positives, as in `GLPUAL`.
    threshold : float or None, default=None
        As in `GLPUAL`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, r)
        Coefficients of the features (linear), of the low-rank kernel features (RBF), or of the kernel at `landmarks_`
        (thesis form).
    intercept_ : ndarray of shape (1,)
    prior_ : float
        The prior used.
    lam_, width_ : float
        The values used, computed from the data if the parameter is a word.
    objective_ : float
        Value of the objective above; NaN for the thesis form.
    dual_gap_ : float
        NaN: the problem is not convex.
    residual_ : float
        Bound on the decrease of the convex majorant from the result (dc), or the largest violation of a constraint
        (admm, thesis form).
    n_iter_ : int
    converged_ : bool
        Whether the residual is within the tolerance. A thesis-form fit counts as converged when it is finite.
    classes_, positive_share_, labeled_recall_
        As in `GLPUAL`.

    References
    ----------
    Wang (2024), eq. (5.8)-(5.43). Slips in print are corrected as derived: the thresholds of (5.23), (5.27), (5.39),
    (5.40), and the sign in (5.33).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import CPBGLPUAL
    >>> X, positive = make_blobs(120, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> y = positive.copy()
    >>> y[60:] = 0  # only positives among the first 60 rows are labeled
    >>> model = CPBGLPUAL(prior=1 / 3).fit(X, y)
    >>> bool((model.predict(X) == positive).mean() > 0.9)
    True
    """

    lam_: float

    _prior_in_objective = True
    _rules: ClassVar[Mapping[str, Rule]] = {"lam": ridge_of_means, "width": median_distance}
    _parameter_constraints: ClassVar[Constraints] = {
        **FeatureModel._parameter_constraints,
        "prior": PRIOR,
        "lam": RIDGE,
        "sigma": [POSITIVE],
        "n_neighbors": [FROM_ONE],
        "form": [one_of("rkhs", "thesis")],
        "solver": [one_of("dc", "admm")],
        "mu": [POSITIVE, None],
        "tol": [POSITIVE],
        "max_iter": [FROM_ONE, None],
        "prior_estimator": PRIOR_ESTIMATOR,
        "random_state": ["random_state"],
    }

    def __init__(  # noqa: PLR0913
        self,
        prior: float | None = None,
        lam: float | str = "scale",
        sigma: float = 1.0,
        n_neighbors: int = 5,
        kernel: str = "rbf",
        width: float | str = "median",
        form: str = "rkhs",
        solver: str = "dc",
        mu: float | None = None,
        max_rank: int | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        prior_estimator: str = "auto",
        random_state: RandomState = None,
        pos_label: Label | None = None,
        threshold: float | None = None,
    ) -> None:
        self.prior = prior
        self.lam = lam
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
        check_form(self.form, self.kernel)
        self._set_defaults(X, labeled)
        graph = mutual_knn(X, self.n_neighbors)
        random = check_random_state(self.random_state)
        self.prior_ = resolve_prior(self.prior, X, labeled, random, self.prior_estimator, groups)
        if self.form == "thesis":
            K = rbf_from_distances(squared_distances(X), self.width_)
            mu, n_iter = self.mu or THESIS_MU, self.max_iter or THESIS_ITERATIONS
            found = solve_cpb_thesis(K, labeled, self.prior_, mu, n_iter)
            self.landmarks_ = X
            self._coef, self._intercept = found.coef, float(found.intercept)
            self._keep_certificate(without_objective(found))
            return self._finish(X, labeled)
        self.graph_recall_ = graph.recall
        problem = CPBProblem(self._features(X), labeled, graph.edges(self.sigma), self.prior_, self.lam_)
        if self.solver == "dc":
            result = solve_cpb(problem, self.tol, self.max_iter or DC_STEPS)
        else:
            result = solve_cpb_admm(problem, self.mu, self.tol, self.max_iter or ADMM_ITERATIONS)
        self._keep_coef(result.coef)
        self._keep_certificate(result)
        return self._finish(X, labeled)

    def _check_memory(self, X: Any) -> None:
        n, m = X.shape
        if self.form == "thesis":
            check_fit(self, n, m, 24.0 * n * n, "leave form=thesis out, or use fewer rows")
