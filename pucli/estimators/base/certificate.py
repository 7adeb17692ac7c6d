"""The certificate of a solution: attributes that every estimator has."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from pucli.core.arrays import Floats
from pucli.core.errors import warn_user
from pucli.core.memory import check_fit
from pucli.core.saved_state import STATEMENT, Flag, State, Whole
from pucli.estimators.base.input_rows import explained_errors

# Rounding that costs more than this share of the objective is added to the gap.
ROUNDING = 1e-11
# Relative rounding of a score.
OF_SCORES = 4.0 * np.finfo(float).eps


def row_of(attribute: str, text: str) -> property:
    """Return a property that shows a fitted vector (m,) or number as scikit-learn does, of shape (1, m) or (1,)."""

    def shown(self: Any) -> Floats:
        if attribute not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute '{attribute[1:]}_'")
        return np.array([vars(self)[attribute]])

    return property(shown, doc=text)


COEF = row_of("_coef", "The coefficients, of shape (1, number of coefficients).")
INTERCEPT = row_of("_intercept", "The intercept, of shape (1,).")


def log_of(probabilities: Floats) -> Floats:
    """Return the logarithm of probabilities, minus infinity for zero."""
    with np.errstate(divide="ignore"):
        found: Floats = np.log(probabilities)
    return found


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method `fit` so that a fit which fails leaves the estimator as it was, unfitted or fitted before."""

    @functools.wraps(fit)
    def fitted(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return fitted


class Certified:
    """Base of all estimators: the certificate, and a `fit` that fails as a whole and with a way out.

    Attributes
    ----------
    objective_ : float
        Value of the documented objective at the solution; NaN if nothing is minimized.
    dual_gap_ : float
        Proven bound on `objective_` minus the optimum; NaN for problems that are not convex.
    residual_ : float
        Size of the violation of stationarity; NaN for convex problems.
    n_iter_ : int
        Number of iterations, at least 1.
    converged_ : bool
        Whether the tolerance was reached; otherwise `fit` warns (ConvergenceWarning).
    """

    # Matrices of n x n and of m x m numbers that a fit to n rows of m features makes, and what to take in its place.
    _row_matrices = 0
    _column_matrices = 0
    _instead = "use fewer rows or columns"

    objective_: float
    dual_gap_: float
    residual_: float
    n_iter_: int
    converged_: bool

    saved_state: ClassVar[State] = {
        "objective_": STATEMENT,
        "dual_gap_": STATEMENT,
        "residual_": STATEMENT,
        "n_iter_": Whole(),
        "converged_": Flag(),
    }

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "fit" in vars(cls):
            cls.fit = all_or_nothing(explained_errors(cls.fit))  # type: ignore[attr-defined]

    @property
    def _sparse_format(self) -> str | bool:
        """The format in which the method computes with sparse rows, or False if it makes them dense."""
        return False

    def __sklearn_tags__(self) -> Any:
        """Declare to scikit-learn that sparse rows are accepted; see `pucli.estimators.base.input_rows`."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    @available_if(lambda self: hasattr(self, "predict_proba"))
    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return the logarithm of `predict_proba` for each row of X (n, m), shape (n, number of classes)."""
        return log_of(self.predict_proba(X))  # type: ignore[attr-defined]

    def _check_memory(self, X: Any) -> None:
        """Raise ValueError before a fit to rows X (n, m) takes more memory than there is."""
        n, m = X.shape
        needed = 8.0 * (self._row_matrices * n * n + self._column_matrices * m * m)
        if needed > 0.0:
            check_fit(self, n, m, needed, self._instead)

    def _keep_certificate(self, result: Any, *, scale: float = 1.0) -> None:
        """Set the attributes from a solver's result; `scale` turns its objective into the documented one."""
        self.objective_ = scale * float(result.objective)
        self.dual_gap_ = scale * float(getattr(result, "gap", np.nan))
        self.residual_ = float(getattr(result, "residual", np.nan))
        self.n_iter_ = max(int(result.n_iter), 1)
        self.converged_ = bool(result.converged)

    def _add_cost(self, cost: float, tol: float, known: bool = True, least: float = 0.0) -> None:
        """Add the cost of rounding, unless negligible, to the gap, and to the objective if the cost is `known`.

        The gap is relative to the modulus of the objective, or to `least` where that is larger.
        """
        if cost > ROUNDING * max(abs(self.objective_), least):
            self.objective_ += cost if known else 0.0
            self.dual_gap_ += cost
            size = max(abs(self.objective_), least)
            self.converged_ = bool(self.converged_ and self.dual_gap_ <= tol * size)

    def _advice(self) -> str:
        """Return advice for a fit that did not converge."""
        in_steps = "raise max_iter, loosen tol, or " if hasattr(self, "max_iter") else ""
        return f"{in_steps}scale the features"

    def _warn_unless_converged(self) -> None:
        if not self.converged_:
            steps = "1 iteration" if self.n_iter_ == 1 else f"{self.n_iter_} iterations"
            warn_user(
                f"{type(self).__name__} stopped after {steps} above the tolerance; {self._advice()}.",
                ConvergenceWarning,
            )
