"""Laplacian support vector machine: the semi-supervised baseline of Sansone 2018, section 2.4.2."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy.sparse.csgraph import laplacian
from sklearn.neighbors import kneighbors_graph
from sklearn.utils._param_validation import Interval, StrOptions

from pucli.estimators.base.semi_supervised import SemiSupervisedClassifier
from pucli.kernels.functions import Kernel
from pucli.solvers.svm.laplacian import solve_newton

_POSITIVE = Interval(Real, 0, None, closed="neither")
_FROM_ONE = Interval(Integral, 1, None, closed="left")


class LaplacianSVM(SemiSupervisedClassifier):
    """Support vector machine whose decision function is smooth on the graph of all rows, labelled or not.

    Minimises 1/l sum_labelled [1 - y f(x)]_+^2 + gamma_a |f|_K^2 + gamma_i / n^2 f' L f, with an offset; one machine
    per class against the rest when there are more than two. Time grows with n^3: for some thousand rows.

    Parameters
    ----------
    gamma_a : weight of the norm of f. The thesis chooses both weights from {0.005, 0.045, 0.5}.
    gamma_i : weight of the smoothness on the graph.
    kernel, width : "linear" or "rbf", exp(-|x - x'|^2 / (2 width^2)).
    n_neighbors : of the graph, symmetric, with weights one; L is its normalised Laplacian.
    tol : stop when the proven gap is below `tol` times the objective.
    max_iter : most Newton steps.

    Attributes
    ----------
    classes_ : labels. dual_coef_ : (n_machines, n) weights of the rows. intercept_ : (n_machines,).
    objective_, dual_gap_ : summed over the machines; the gap is a proven bound. n_iter_ : most steps of a machine.
    converged_ : every gap is within the tolerance. improvement_ : NaN, no guarantee against the supervised fit.

    References
    ----------
    M. Belkin, P. Niyogi, V. Sindhwani, Manifold regularization, JMLR 7, 2006. S. Melacci, M. Belkin, Laplacian support
    vector machines trained in the primal, JMLR 12, 2011.
    """

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        "gamma_a": [_POSITIVE],
        "gamma_i": [Interval(Real, 0, None, closed="left")],
        "kernel": [StrOptions({"linear", "rbf"})],
        "width": [_POSITIVE],
        "n_neighbors": [_FROM_ONE],
        "tol": [_POSITIVE],
        "max_iter": [_FROM_ONE],
    }

    def __init__(self, *, gamma_a=0.005, gamma_i=0.5, kernel="rbf", width=1.0, n_neighbors=6, tol=1e-8, max_iter=100):
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.kernel = kernel
        self.width = width
        self.n_neighbors = n_neighbors
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y):
        """Fit to X (n, d) and y (n,), -1 = unlabeled.

        Raises
        ------
        ValueError : fewer than two classes among the labels, a parameter out of its range.
        """
        self._validate_params()
        X, codes = self._validate_fit(X, y)
        K = self._kernel().matrix(X, X)
        n_machines = len(self.classes_) if len(self.classes_) > 2 else 1
        positives = range(n_machines) if n_machines > 1 else [1]
        found = []
        L = self._graph_laplacian(X)
        for positive in positives:
            signs = np.where(codes < 0, 0, np.where(codes == positive, 1, -1))
            found.append(solve_newton(K, L, signs, self.gamma_a, self.gamma_i, self.tol, self.max_iter))
        self._X = X
        self.dual_coef_ = np.array([one.alpha for one in found])
        self.intercept_ = np.array([one.b for one in found])
        self.objective_ = float(sum(one.objective for one in found))
        self.dual_gap_ = float(sum(one.gap for one in found))
        self.n_iter_ = max(one.n_iter for one in found)
        self.converged_ = all(one.converged for one in found)
        self.improvement_ = float("nan")
        self._warn_unless_converged()
        return self

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self.width)

    def _graph_laplacian(self, X: np.ndarray):
        graph = kneighbors_graph(X, min(self.n_neighbors, len(X) - 1))
        return laplacian(graph.maximum(graph.T), normed=True).tocsr()

    def decision_function(self, X):
        """Return f for each row of X: (n,) with two classes, positive for the second; else (n, K)."""
        X = self._validate_predict(X)
        values = self._kernel().matrix(X, self._X) @ self.dual_coef_.T + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X):
        """Return the class of each row of X (n, d), shape (n,)."""
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]
