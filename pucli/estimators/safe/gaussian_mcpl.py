"""Gaussian density estimation from rows with missing entries (NaN), compared with the complete rows alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pucli.core.arrays import Bools, Floats, Ints
from pucli.core.errors import warn_user
from pucli.core.saved_state import STATEMENT, Array, Each, Flag, Plain, State, TextValue, Whole
from pucli.estimators.base.certificate import ROUNDING, Certified
from pucli.estimators.base.input_rows import dense_rows, validated
from pucli.estimators.base.parameters import NOT_NEGATIVE, Constraints, RandomState, one_of
from pucli.solvers.result import Certificate
from pucli.solvers.safe.gaussian import (
    Gaussian,
    Pattern,
    clashing_rows,
    conditional,
    fit_by_blocks,
    guaranteed_improvement,
    log_density,
    monotone_cover,
    monotone_pattern,
    relative_rounding,
    sample_moments,
)
from pucli.solvers.safe.minimax import MinimaxSolution, solve_minimax, unknowns

NEARLY_SINGULAR = 1e-2  # relative rounding of the likelihood above which a fit counts as not converged
_SINGULAR = 1e-10  # smallest eigenvalue of the complete-case covariance, in standardized features
MOST_UNKNOWNS = 500  # of the minimax problem that blocks="safe" solves, in under a second


class _Candidate(NamedTuple):
    """An estimate, the blocks that it uses, and the gain that it guarantees."""

    used_blocks: str
    model: Gaussian
    improvement: float


class GaussianMCPL(Certified, DensityMixin, BaseEstimator):
    """Mean and covariance of a Gaussian from rows with missing entries in a monotone pattern.

    The pattern is recognized in any order of rows and columns: it is monotone if the sets of missing columns of any two
    rows are nested. In other patterns entries are left out, with a warning: each row keeps the columns before its first
    missing one, in the order from the most to the least often observed column. Rows without any observed entry are left
    out.

    Parameters
    ----------
    blocks : {"safe", "minimax", "all", "one"}, default="safe"
        How several incomplete blocks of columns are used. "all": the maximum likelihood estimate, in which every block
        is regressed on the blocks before it with all rows that have both, (B.6)-(B.8). "one": all incomplete columns
        form one block, (6.7)-(6.9); their entries in incomplete rows are not used, and the estimate is never worse than
        that of the complete rows alone (Corollary 6.5). "minimax": the MCPL estimate (6.19), which guarantees the
        largest gain over the complete rows alone (`pucli.solvers.safe.minimax` has the equations); one of the others
        where that guarantees as much. "safe": "minimax", or, where (6.19) has more than 500 unknowns, "all" or "one",
        whichever has the larger `improvement_`. With one incomplete block and no ridge, all are the MCPL estimate
        (Theorem 6.2).
    ridge : float, default=0.0
        Variance added to every feature, in squared units of the features; every likelihood is then averaged over noise
        of that variance.

    Attributes
    ----------
    mean_ : ndarray of shape (D,)
    covariance_ : ndarray of shape (D, D)
    complete_mean_, complete_covariance_ : ndarray
        From the complete rows alone.
    pattern_ : {"complete", "one block", "monotone"}
    blocks_ : list of ndarray
        Column indices per block, the most often observed first.
    order_ : ndarray of shape (D,)
        The columns in the order that shows the pattern.
    n_complete_ : int
        Number of complete rows.
    improvement_ : float
        In nats. The log-likelihood of the completed rows is at least this much above that of the complete-case
        estimate, whatever the missing entries are. It is > 0 (Theorem 6.3), except for blocks="all", for which it may
        be negative or -inf (no bound). A bound on rounding is subtracted; where rounding hides the gain, the estimate
        of the complete rows is returned instead, with 0, except for blocks="all". The bound on rounding is for missing
        entries that fit the estimate as well as the observed ones; for others, the computed gain changes by about 1e-16
        times the condition number of the correlations for each unit of squared Mahalanobis distance.
    used_blocks_ : {"minimax", "all", "one", "none"}
        The estimate that was chosen, "none" for that of the complete rows.
    objective_ : float
        Log-likelihood of the observed entries at the estimate, maximal for "all".
    dual_gap_ : float
        With several blocks, or one and a ridge: no estimate guarantees more than `improvement_` plus this gap; NaN if
        (6.19) was not solved. With one block and no ridge: 0, as the estimate is the saddle point in closed form, which
        maximizes `objective_`. If the covariance is nearly singular or means are far from zero, it is the possible cost
        of rounding; for the estimate of the complete rows, it is the missed likelihood. `gap_` is the same.
    n_iter_, converged_
        The Newton steps of the minimax estimate, 1 for the others, and whether rounding leaves at least two digits of
        `objective_`, and the gap is at most a hundredth of it and of `improvement_`.
    supervised_only_ : bool
        Whether no entry is missing; the estimate is then that of the complete rows.

    References
    ----------
    Bertazzi 2018, chapter 6 and appendix B; Anderson 1957.

    Examples
    --------
    >>> import numpy as np
    >>> from pucli import GaussianMCPL
    >>> X = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 200)
    >>> X[50:, 1] = np.nan
    >>> model = GaussianMCPL().fit(X)
    >>> bool(model.improvement_ > 0)
    True
    >>> bool(abs(model.covariance_[0, 1] - 0.8) < 0.2)
    True
    """

    n_features_in_: int

    _column_matrices = 6
    _instead = "use fewer columns"

    _parameter_constraints: ClassVar[Constraints] = {
        "blocks": [one_of("safe", "minimax", "all", "one")],
        "ridge": [NOT_NEGATIVE],
    }

    saved_state: ClassVar[State] = {
        "n_complete_": Whole(),
        "blocks_": Each(Plain()),
        "order_": Array("m", dtype="i8", low=0),
        "pattern_": TextValue(),
        "complete_mean_": Array("m"),
        "complete_covariance_": Array("m", "m"),
        "used_blocks_": TextValue("minimax", "all", "one", "none"),
        "mean_": Array("m"),
        "covariance_": Array("m", "m"),
        "supervised_only_": Flag(),
        "improvement_": STATEMENT,
        "gap_": STATEMENT,
    }

    def __init__(self, blocks: str = "safe", ridge: float = 0.0) -> None:
        self.blocks = blocks
        self.ridge = ridge

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Fit the mean and the covariance.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows; NaN marks a missing entry.
        y : ignored
            Not used; for the convention of scikit-learn.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If there is no complete row, or the covariance of the complete rows is singular (set `ridge`).

        Warns
        -----
        UserWarning
            If the pattern is not monotone; the message has two rows that are not nested, and the number of entries left
            out.
        """
        self._validate_params()
        rows = dense_rows(self, validated(self, X, least_rows=2, ensure_all_finite="allow-nan"))
        self._check_memory(rows)
        rows = self._monotone(rows)
        rows = rows[~np.isnan(rows).all(axis=1)]
        pattern = monotone_pattern(np.isnan(rows))
        self.n_complete_ = len(pattern.rows[-1]) if not np.isnan(rows).all(axis=0).any() else 0
        if self.n_complete_ == 0:
            raise ValueError("no row is complete: the estimate and its guarantee need rows without missing entries")
        self.blocks_ = pattern.blocks
        self.order_ = np.concatenate(pattern.blocks)
        self.pattern_ = {1: "complete", 2: "one block"}.get(len(pattern.blocks), "monotone")
        self.supervised_only_ = len(pattern.blocks) == 1

        self._check_complete(rows[pattern.rows[-1]])
        complete = sample_moments(rows[pattern.rows[-1]], self.ridge)
        self.complete_mean_, self.complete_covariance_ = complete
        best = self._closed_forms(rows, pattern, complete)
        solution = self._minimax(rows, pattern, complete)
        if solution is not None and solution.objective - solution.rounding > best.improvement:
            best = _Candidate("minimax", solution.model, solution.objective - solution.rounding)
        self.used_blocks_, (self.mean_, self.covariance_), self.improvement_ = best
        values, missed = self._log_density(rows), 0.0
        if self.supervised_only_:
            self.improvement_ = 0.0
        elif self.improvement_ <= 0.0 and self.blocks != "all":
            self.mean_, self.covariance_ = complete
            self.improvement_, self.used_blocks_ = 0.0, "none"
            found = float(np.sum(values))
            values = self._log_density(rows)
            missed = max(found - float(np.sum(values)), 0.0)
        size = float(np.abs(values).sum()) + rows.size
        gap = relative_rounding(Gaussian(self.mean_, self.covariance_)) * size
        converged = gap <= NEARLY_SINGULAR * size
        gap = missed + (gap if gap > ROUNDING * size else 0.0)
        if solution is not None:
            gap = max(solution.objective + solution.gap + solution.rounding - self.improvement_, 0.0)
            converged = converged and gap <= NEARLY_SINGULAR * (size + self.improvement_)
        elif not self._known_in_closed_form(pattern):
            gap = np.nan
        steps = solution.n_iter if self.used_blocks_ == "minimax" and solution is not None else 1
        certificate = Certificate(objective=float(np.sum(values)), gap=gap, n_iter=steps, converged=converged)
        self._keep_certificate(certificate)
        self.gap_ = self.dual_gap_
        self._warn_unless_converged()
        return self

    def _closed_forms(self, rows: Floats, pattern: Pattern, complete: Gaussian) -> _Candidate:
        """Return the estimate of those in closed form that `blocks` allows with the largest guaranteed gain."""
        found = []
        for used_blocks in (self.blocks,) if self.blocks in ("all", "one") else ("one", "all"):
            model = self._estimate(rows, pattern if used_blocks == "all" else _one_block(pattern))
            bound = guaranteed_improvement(
                rows, pattern, model, complete, by_blocks=used_blocks == "all", ridge=self.ridge
            )
            found.append(_Candidate(used_blocks, model, bound))
        return max(found, key=lambda candidate: candidate.improvement)

    def _known_in_closed_form(self, pattern: Pattern) -> bool:
        return len(pattern.blocks) == 1 or (len(pattern.blocks) == 2 and self.ridge == 0.0)

    def _minimax(self, rows: Floats, pattern: Pattern, complete: Gaussian) -> MinimaxSolution | None:
        """Return the solution of (6.19), None if it is not asked for, too large, or known in closed form."""
        if self._known_in_closed_form(pattern) or self.blocks in ("all", "one"):
            return None
        if self.blocks == "safe" and unknowns(pattern, self.ridge) > MOST_UNKNOWNS:
            return None
        return solve_minimax(rows, pattern, complete, self.ridge)

    def _monotone(self, X: Floats) -> Floats:
        """Return X without the entries that a monotone pattern has no place for; warn if there are any."""
        missing = np.isnan(X)
        clash = clashing_rows(missing)
        if clash is None:
            return X
        i, j = clash
        covered = monotone_cover(missing)
        warn_user(
            f"the pattern of missing entries is not monotone: row {i} lacks columns {_names(self, missing[i])} and "
            f"row {j} lacks columns {_names(self, missing[j])}, neither contains the other. "
            f"{np.count_nonzero(covered & ~missing)} of {np.count_nonzero(~missing)} entries are left out for one.",
            UserWarning,
        )
        return np.where(covered, np.nan, X)

    def _estimate(self, X: Floats, pattern: Pattern) -> Gaussian:
        """Return the estimate by blocks, computed in standardized features."""
        center, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        scale[scale == 0.0] = 1.0
        try:
            inside = fit_by_blocks((X - center) / scale, pattern, self.ridge / scale**2)
        except np.linalg.LinAlgError:
            raise ValueError(
                "the regression of the incomplete columns on the others has no unique solution: set ridge > 0 (a "
                "variance added to every feature), or drop constant or repeated features."
            ) from None
        return Gaussian(center + scale * inside.mean, inside.covariance * np.outer(scale, scale))

    def _check_complete(self, complete: Floats) -> None:
        """Raise ValueError if the covariance of the complete rows is singular."""
        scale = complete.std(axis=0)
        scale[scale == 0.0] = 1.0
        covariance = sample_moments(complete / scale, self.ridge / scale**2).covariance
        if not np.linalg.eigvalsh(covariance)[0] > _SINGULAR:
            raise ValueError(
                f"the covariance of the {len(complete)} complete rows of {complete.shape[1]} features is singular: set "
                "ridge > 0 (a variance added to every feature), drop constant or repeated features, or add complete "
                "rows."
            )

    def _log_density(self, X: Floats) -> Floats:
        result = np.empty(len(X))
        for observed, rows in _by_pattern(X):
            result[rows] = log_density(X[rows], Gaussian(self.mean_, self.covariance_), observed, self.ridge)
        return result

    def _validate(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return dense_rows(self, validated(self, X, reset=False, ensure_all_finite="allow-nan"))

    def score_samples(self, X: ArrayLike) -> Floats:
        """Return the log density of the observed entries of each row of X (n, D), in nats, shape (n,)."""
        return self._log_density(self._validate(X))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return the mean over rows of `score_samples`; y is ignored."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Floats:
        """Return `n_samples` draws from the fitted Gaussian, (n_samples, D)."""
        check_is_fitted(self)
        draws = check_random_state(random_state).standard_normal((n_samples, len(self.mean_)))
        rows: Floats = self.mean_ + draws @ np.linalg.cholesky(self.covariance_).T
        return rows

    def impute(self, X: ArrayLike) -> Floats:
        """Return X (n, D) with each missing entry replaced by its mean given the row's observed entries, (6.3).

        X may have any pattern of missing entries.
        """
        filled = self._validate(X).copy()
        model = Gaussian(self.mean_, self.covariance_)
        for observed, rows in _by_pattern(filled):
            hidden = np.setdiff1d(np.arange(filled.shape[1]), observed)
            if len(hidden):
                offset, regression, _ = conditional(model, observed, hidden)
                filled[np.ix_(rows, hidden)] = offset + filled[np.ix_(rows, observed)] @ regression.T
        return filled

    @property
    def guarantee_(self) -> str:
        """The guarantee against the complete-case estimate, whatever the missing entries are, as a sentence."""
        check_is_fitted(self)
        if self.supervised_only_:
            return "no missing entries: this is the complete-case estimate"
        if self.improvement_ > 0.0:
            return (
                f"at least {self.improvement_:.6g} nats of the log-likelihood of all rows better than the complete "
                "rows alone, whatever the missing entries are"
            )
        return "no guarantee against the complete rows alone; blocks='safe' has one"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _one_block(pattern: Pattern) -> Pattern:
    """Return the pattern with all incomplete columns as one block."""
    if len(pattern.blocks) <= 2:
        return pattern
    return Pattern([pattern.blocks[0], np.concatenate(pattern.blocks[1:])], [pattern.rows[0], pattern.rows[-1]])


def _names(estimator: GaussianMCPL, columns: Bools) -> list[Any]:
    """Return the names of the columns of a mask, or their positions if X had no names."""
    names = getattr(estimator, "feature_names_in_", np.arange(len(columns)))
    found: list[Any] = np.asarray(names)[columns].tolist()
    return found


def _by_pattern(X: Floats) -> Iterator[tuple[Ints, Ints]]:
    """Yield (observed columns, rows) for each pattern of missing entries."""
    patterns, which = np.unique(np.isnan(X), axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        yield np.flatnonzero(~pattern), np.flatnonzero(which.ravel() == k)
