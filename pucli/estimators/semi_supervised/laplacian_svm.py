"""Laplacian support vector machine: the semi-supervised baseline of Sansone 2018, section 2.4.2."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import laplacian
from sklearn.neighbors import kneighbors_graph

from pucli.core.arrays import Floats
from pucli.core.lru_cache import KEPT
from pucli.core.saved_state import Array, State
from pucli.estimators.base.input_rows import warn_of_sizes
from pucli.estimators.base.parameters import FROM_ONE, NOT_NEGATIVE, POSITIVE, Constraints, one_of
from pucli.estimators.base.semi_supervised import SemiSupervisedClassifier
from pucli.estimators.semi_supervised.one_against_rest import (
    certificate_of_machines,
    scores_of_machines,
    signs_of_machines,
)
from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.svm.laplacian import GraphKernel, graph_kernel, solve_laplacian_svms


class LaplacianSVM(SemiSupervisedClassifier):
    """Support vector machine whose decision function is smooth on the graph of all rows, labeled or not.

    Minimizes 1/l sum_labeled [1 - y f(x)]_+^2 + gamma_a |f|_K^2 + gamma_i / n^2 f' L f, with an offset; with more than
    two classes, one machine per class against the rest. A matrix of the rows is factorized, in time n^3, which allows
    some thousand rows; the next fit on the same rows can use it with other labels, or with weights of the same ratio.

    Parameters
    ----------
    gamma_a : float, default=0.005
        Weight of the norm of f. The thesis chooses both weights from {0.005, 0.045, 0.5}.
    gamma_i : float, default=0.5
        Weight of the smoothness on the graph.
    kernel : {"linear", "rbf"}, default="rbf"
    width : float, default=1.0
        Width of exp(-|x - x'|^2 / (2 width^2)), in units of X.
    n_neighbors : int, default=6
        Number of neighbors in the graph, which is symmetric with unit weights; L is its normalized Laplacian.
    tol : float, default=1e-8
        Stop when the proven gap is below `tol` times the objective.
    max_iter : int, default=100
        Largest number of Newton steps.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    dual_coef_ : ndarray of shape (n_machines, n)
        Weights of the rows.
    intercept_ : ndarray of shape (n_machines,)
    objective_, dual_gap_ : float
        Sums over the machines; the gap is a proven bound on `objective_` minus the optimum.
    n_iter_ : int
        Largest number of steps of a machine.
    converged_ : bool
        Whether every gap is within the tolerance.
    improvement_ : float
        NaN: there is no guarantee against the supervised fit.

    References
    ----------
    M. Belkin, P. Niyogi, V. Sindhwani, Manifold regularization, JMLR 7, 2006. S. Melacci, M. Belkin, Laplacian support
    vector machines trained in the primal, JMLR 12, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from pucli import LaplacianSVM
    >>> X, y = make_moons(100, noise=0.05, random_state=0)
    >>> model = LaplacianSVM(width=0.3).fit(X, np.where(np.arange(100) < 20, y, -1))
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _row_matrices = 5
    _instead = "use fewer rows, or LeastSquares, CPLS or MCPLLDA, whose memory is linear in the rows"

    _parameter_constraints: ClassVar[Constraints] = {
        "gamma_a": [POSITIVE],
        "gamma_i": [NOT_NEGATIVE],
        "kernel": [one_of("linear", "rbf")],
        "width": [POSITIVE],
        "n_neighbors": [FROM_ONE],
        "tol": [POSITIVE],
        "max_iter": [FROM_ONE],
    }

    saved_state: ClassVar[State] = {
        "_X": Array("n", "m"),
        "dual_coef_": Array("machines", "n"),
        "intercept_": Array("machines"),
    }

    def __init__(
        self,
        *,
        gamma_a: float = 0.005,
        gamma_i: float = 0.5,
        kernel: str = "rbf",
        width: float = 1.0,
        n_neighbors: int = 6,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.kernel = kernel
        self.width = width
        self.n_neighbors = n_neighbors
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows, labeled and unlabeled.
        y : array-like of shape (n,)
            Labels, -1 for unlabeled rows.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of its range, X has NaN or infinite values, the labeled rows have fewer than two
            classes (or more than two, for a binary method), or the model cannot be fitted to the rows.

        Warns
        -----
        ConvergenceWarning
            If the tolerance is not reached.
        """
        X, codes = self._check_rows(X, y)
        warn_of_sizes(self, X)
        machines = signs_of_machines(codes, len(self.classes_))
        found = solve_laplacian_svms(self._graph(X), machines, self.gamma_a, self.tol, self.max_iter)
        self._X = X.copy()  # the user may change the rows
        self.dual_coef_ = np.array([one.coef for one in found])
        self.intercept_ = np.array([one.offset for one in found])
        self.improvement_ = np.nan
        self._keep_certificate(certificate_of_machines(found))
        return self._finish(X, codes)

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self.width)

    def _graph(self, X: Floats) -> GraphKernel:
        """Return the factors for rows X (n, d), those of the fit before if they are the same."""
        ratio = self.gamma_i / self.gamma_a

        def factors() -> GraphKernel:
            near = kneighbors_graph(X, min(self.n_neighbors, len(X) - 1))
            return graph_kernel(
                self._kernel().matrix(X, X), laplacian(near.maximum(near.T), normed=True).tocsr(), ratio
            )

        return KEPT.get((self.kernel, self.width, self.n_neighbors, ratio), X, 2 * len(X) ** 2, factors)

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return f for each row of X: with two classes (n,), positive for the second class; otherwise (n, K)."""
        rows = self._validate_predict(X)
        values: Floats = self._kernel().matrix(rows, self._X) @ self.dual_coef_.T + self.intercept_
        return scores_of_machines(values)
