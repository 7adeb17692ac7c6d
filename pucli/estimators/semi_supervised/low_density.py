"""Low density separation: the semi-supervised baseline of Sansone 2018, section 2.4.2."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import Floats
from pucli.core.lru_cache import KEPT
from pucli.core.saved_state import ABOVE_ZERO, Array, Parts, State
from pucli.estimators.base.input_rows import warn_of_sizes
from pucli.estimators.base.parameters import FROM_ONE, POSITIVE, Constraints, one_of
from pucli.estimators.base.semi_supervised import SemiSupervisedClassifier
from pucli.estimators.semi_supervised.one_against_rest import (
    certificate_of_machines,
    scores_of_machines,
    signs_of_machines,
)
from pucli.solvers.kernels.paths import PathMap, make_path_map, median_stretch, path_costs
from pucli.solvers.svm.transductive import solve_transductive


class LowDensitySeparation(SemiSupervisedClassifier):
    """Low density separation (LDS): a transductive SVM on a kernel of paths through dense regions.

    Rows that a path of short steps connects are close, whatever their distance (`pucli.solvers.kernels.paths`). On the
    principal components of the kernel, minimizes 1/2 |w|^2 + C sum_labeled [1 - y f(x)]_+^2 + C sum_unlabeled
    exp(-3 f(x)^2), with the mean of f over the unlabeled rows held at the mean of y; with more than two classes, one
    machine per class against the rest. The time grows with n^3, which allows some thousand rows.

    Parameters
    ----------
    rho : "nearest" or float, default="nearest"
        Stretch of long steps: a step of length d costs exp(rho d) - 1. It has the units of 1/X. "nearest" takes four
        over the median distance of a row from its nearest neighbor. The thesis chooses from {1, 2, 4, 8}.
    C : float, default=1.0
        Weight of the rows. The thesis chooses from {0.1, 1, 10, 100}.
    sigma : "median" or float, default="median"
        Width of the kernel exp(-distance^2 / (2 sigma^2)), in units of X; "median" takes the median distance along
        paths. The thesis chooses from {0.1, 1, 10}.
    tol : float, default=1e-6
        Stop when the gradient is below `tol` times that at w = 0 without unlabeled rows.
    max_iter : int, default=1000
        Largest number of iterations in each of the eleven stages, in which the weight of the unlabeled rows rises to C.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    rho_, sigma_ : float
        The values used.
    coef_ : ndarray of shape (n_machines, p)
        Weights of the principal components.
    intercept_ : ndarray of shape (n_machines,)
    objective_ : float
        Sum over the machines.
    dual_gap_ : float
        NaN: the problem is not convex.
    residual_ : float
        Largest gradient of a machine, in the units of `tol`.
    n_iter_ : int
        Largest number of iterations of a machine.
    converged_ : bool
        Whether every machine ended by `tol`.
    improvement_ : float
        NaN: there is no guarantee against the supervised fit.

    References
    ----------
    O. Chapelle, A. Zien, Semi-supervised classification by low density separation, AISTATS 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from pucli import LowDensitySeparation
    >>> X, y = make_moons(100, noise=0.05, random_state=0)
    >>> model = LowDensitySeparation().fit(X, np.where(np.arange(100) < 20, y, -1))
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _row_matrices = 8
    _instead = "use fewer rows, or LeastSquares, CPLS or MCPLLDA, whose memory is linear in the rows"
    _path_map: tuple[Any, ...]

    _parameter_constraints: ClassVar[Constraints] = {
        "rho": [one_of("nearest"), POSITIVE],
        "C": [POSITIVE],
        "sigma": [one_of("median"), POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [FROM_ONE],
    }

    saved_state: ClassVar[State] = {
        "rho_": ABOVE_ZERO,
        "sigma_": ABOVE_ZERO,
        "_path_map": Parts(
            Array("n", "m"),
            ABOVE_ZERO,
            ABOVE_ZERO,
            Array("n", "n", low=0.0, high=math.inf, finite=False),
            Array("n"),
            Array("n", "p"),
            Array("n", "p"),
        ),
        "coef_": Array("machines", "p"),
        "intercept_": Array("machines"),
    }

    def __init__(
        self,
        *,
        rho: str | float = "nearest",
        C: float = 1.0,
        sigma: str | float = "median",
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.rho = rho
        self.C = C
        self.sigma = sigma
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
        rho = median_stretch(X) if isinstance(self.rho, str) else float(self.rho)
        found_map = _map_of(X, rho, None if isinstance(self.sigma, str) else float(self.sigma))
        self.rho_, self.sigma_ = found_map.rho, found_map.sigma
        self._path_map = tuple(found_map)  # plain tuples of arrays can be stored without trust
        found = [
            solve_transductive(found_map.coordinates, signs, self.C, self.tol, self.max_iter)
            for signs in signs_of_machines(codes, len(self.classes_))
        ]
        self.coef_ = np.array([one.coef for one in found])
        self.intercept_ = np.array([one.offset for one in found])
        self.improvement_ = np.nan
        self._keep_certificate(certificate_of_machines(found))
        return self._finish(X, codes)

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return f for each row of X: with two classes (n,), positive for the second class; otherwise (n, K)."""
        rows = self._validate_predict(X)
        values: Floats = PathMap(*self._path_map).of(rows) @ self.coef_.T + self.intercept_
        return scores_of_machines(values)


def _map_of(X: Floats, rho: float, sigma: float | None) -> PathMap:
    """Return the map of rows X (n, m), one that was made before if there is one."""

    def made() -> PathMap:
        costs = KEPT.get(("path costs", rho), X, len(X) ** 2, lambda: path_costs(X, rho))
        return make_path_map(X.copy(), costs, rho, sigma)  # the caller may change X

    return KEPT.get(("path map", rho, sigma), X, 2 * len(X) ** 2, made)
