"""Class-prior-based GLPUAL (Wang 2024, chapter 5): the class prior takes the place of the two row weights."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_random_state

from pucli.estimators.base.feature_model import POSITIVE, FeatureModel
from pucli.estimators.prior import PRIOR_CONSTRAINT, PriorInObjective, resolve_prior
from pucli.kernels.graph import mutual_knn, squared_distances, squared_distances_between
from pucli.kernels.low_rank import rbf_from_distances
from pucli.solvers.cpb.admm import solve_cpb_admm, solve_cpb_thesis
from pucli.solvers.cpb.dc import solve_cpb

# At mu = 1 the printed kernel updates grow without bound, but the direction of f settles within a few of them; at
# smaller mu they settle near f = -1, where nothing is positive.
THESIS_ITERATIONS = 150
THESIS_MU = 0.01


class CPBGLPUAL(PriorInObjective, FeatureModel):
    """GLPUAL with an unbiased estimate of the PN risk in place of weighted losses (CPB-GLPUAL).

    Minimises over f = g + beta_0, with pi the class prior,

        lam/2 |g|^2 + pi/n_p sum_p ([1 - f_i]_+ - |1 + f_i|) + 1/n_u sum_u |1 + f_i| + f'Rf

    with p the n_p labelled and u the n_u unlabeled rows and R the scaled Laplacian of the mutual K-NN graph (see
    `GLPUAL`). The objective is not convex: the result is a stationary point, the best of a few starts.

    Parameters
    ----------
    prior : float in (0, 1) or None
        Share of positives among the unlabeled rows; None estimates it (KM2).
    lam : float, default 0.1
        Ridge. Not used by ``form="thesis"``.
    sigma : float, default 1.0
        Scale of the similarity, in squared units of X.
    n_neighbors : int, default 5
        K of the graph.
    kernel : {"linear", "rbf"}, default "linear"
        ``"rbf"`` is exp(-d^2 / (2 width^2)).
    width : float, default 1.0
        Width of the RBF kernel, in units of X.
    form : {"rkhs", "thesis"}, default "rkhs"
        ``"rkhs"`` minimises the objective above. ``"thesis"`` (RBF only) runs the printed kernel updates (5.33),
        (5.39)-(5.43) `max_iter` times; they minimise no fixed objective, and neither `lam` nor `sigma` enters.
    solver : {"dc", "admm"}, default "dc"
        Difference-of-convex steps, or the printed ADMM (5.13)-(5.30).
    mu : float or None
        Penalty (mu_1 = mu_2); None is 1/n for the ADMM and, as in `GLPUAL`, 0.01 for the thesis form.
    max_rank : int or None
        Cap on the rank of the kernel features; None is exact up to 4000 rows, then 2000.
    tol : float, default 1e-6
        Relative residual to reach (dc), or largest violation of a constraint (admm).
    max_iter : int or None
        Convex problems a start (dc, default 100), iterations (admm, 5000), or updates (thesis form, 150: there the
        count is part of the method, since f grows without bound while its direction settles).
    random_state : int, RandomState or None
        Of the estimate of the prior.

    Attributes
    ----------
    coef_ : coefficients of the features (linear), of the low-rank kernel features (RBF), or of the kernel at
        `landmarks_` (thesis form); intercept_ : float; prior_ : the prior used.
    objective_ : value of the objective above; NaN for the thesis form. dual_gap_ : NaN, there is no bound.
    residual_ : how much lower the convex majorant at the result may still reach (dc), or the largest violation of a
        constraint (admm, thesis form).
    n_iter_, converged_, classes_, n_features_in_ : as usual. A thesis-form fit counts as converged when it is finite.

    References
    ----------
    Wang (2024), eq. (5.8)-(5.43). Slips in print are corrected as derived: the thresholds of (5.23), (5.27), (5.39),
    (5.40), and (5.33).
    """

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        **FeatureModel._parameter_constraints,
        "prior": PRIOR_CONSTRAINT,
        "lam": [POSITIVE],
        "sigma": [POSITIVE],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "form": [StrOptions({"rkhs", "thesis"})],
        "solver": [StrOptions({"dc", "admm"})],
        "mu": [POSITIVE, None],
        "tol": [POSITIVE],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        prior=None,
        lam=0.1,
        sigma=1.0,
        n_neighbors=5,
        kernel="linear",
        width=1.0,
        form="rkhs",
        solver="dc",
        mu=None,
        max_rank=None,
        tol=1e-6,
        max_iter=None,
        random_state=None,
    ):
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
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to rows X (n, m) and two labels y (n,): the greater marks labelled positives, the lesser unlabeled rows.

        Returns self. Raises ValueError for other than two labels, NaN or infinite values, a prior outside (0, 1), or
        fewer rows than ``n_neighbors + 1``. Warns (ConvergenceWarning) where the residual stays above `tol`.
        """
        X, labelled = self._validate_fit(X, y)
        if self.form == "thesis" and self.kernel == "linear":
            raise ValueError("form='thesis' is a kernel form: set kernel='rbf', or form='rkhs' for the linear model.")
        graph = mutual_knn(X, self.n_neighbors)
        self.prior_ = resolve_prior(self.prior, X, labelled, check_random_state(self.random_state))
        self.dual_gap_ = np.nan
        if self.form == "thesis":
            self._fit_thesis(X, labelled)
        else:
            edges = graph.edges(self.sigma)
            Z = self._rows(X)
            if self.solver == "admm":
                result = solve_cpb_admm(
                    Z, labelled, edges, self.prior_, self.lam, self.mu, self.tol, self.max_iter or 5000
                )
            else:
                result = solve_cpb(Z, labelled, edges, self.prior_, self.lam, self.tol, self.max_iter or 100)
            self._keep(result.w)
            self.objective_, self.residual_ = result.objective, result.residual
            self.n_iter_, self.converged_ = result.n_iter, result.converged
        self._warn_unless_converged()
        return self

    def _fit_thesis(self, X, labelled) -> None:
        K = rbf_from_distances(squared_distances(X), self.width)
        mu = THESIS_MU if self.mu is None else self.mu
        result = solve_cpb_thesis(K, labelled, self.prior_, mu, self.max_iter or THESIS_ITERATIONS)
        self.landmarks_ = X
        self.coef_, self.intercept_ = result.omega, result.intercept
        self.objective_, self.residual_ = np.nan, result.residual
        self.n_iter_, self.converged_ = result.n_iter, result.converged

    def decision_function(self, X):
        """Return f(x) for each row of X (n, m), shape (n,); positive means the greater label."""
        if self.form == "thesis":
            X = self._validate_predict(X)
            K = rbf_from_distances(squared_distances_between(X, self.landmarks_), self.width)
            return K @ self.coef_ + self.intercept_
        return super().decision_function(X)
