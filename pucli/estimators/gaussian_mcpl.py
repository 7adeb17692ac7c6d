"""Gaussian density estimation from rows with missing entries (NaN), with a bound against the complete rows alone."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from pucli.solvers.safe.gaussian import (
    Gaussian,
    Pattern,
    clashing_rows,
    conditional,
    fit_by_blocks,
    guaranteed_improvement,
    log_density,
    monotone_pattern,
    sample_moments,
)

_SINGULAR = 1e-10  # smallest eigenvalue of the complete-case covariance, in standardised features


class GaussianMCPL(DensityMixin, BaseEstimator):
    """Mean and covariance of a Gaussian from rows with NaN in one block or in a monotone pattern.

    The pattern is recognised, whatever the order of rows and columns: it is monotone when the sets of missing columns
    of any two rows are nested. Rows without any observed entry carry no information and are left out.

    Parameters
    ----------
    blocks : "safe", "all" or "one", default "safe"
        How several incomplete blocks of columns are used. "all": the maximum likelihood estimate, every block
        regressed on the blocks before it with all the rows that have both, (B.6)-(B.8). "one": all incomplete columns
        as one block, (6.7)-(6.9), which leaves out the entries observed in them by incomplete rows and is never worse
        than the complete rows alone (Corollary 6.5). "safe": of these two the one whose `improvement_` is larger.
        With one incomplete block all are the MCPL estimate (Theorem 6.2).
    ridge : float, default 0.0
        Variance added to every feature, in squared units of the features; every likelihood is then averaged over a
        disturbance of that variance.

    Attributes
    ----------
    mean_ : (D,); covariance_ : (D, D); complete_mean_, complete_covariance_ : from the complete rows alone.
    pattern_ : "complete", "one block" or "monotone"; blocks_ : list of column indices per block, the most often
        observed first; order_ : (D,), the columns in the order that shows the pattern; n_complete_ : int.
    improvement_ : float, in nats
        The log-likelihood of the completed rows is at least this much above that of the complete-case estimate,
        whatever the hidden entries are: > 0 unless blocks = "all" (Theorem 6.3), where it may be -inf: no bound. A
        bound on rounding is subtracted, and a gain within it is 0; it covers hidden entries that fit the estimate as
        observed ones do. Far from it, the computed gain changes by about 1e-16 times the condition number of the
        correlations for each unit of squared Mahalanobis distance.
    used_blocks_ : "all" or "one", which of the two estimates this is.
    objective_ : float, log-likelihood of the observed entries at the estimate, maximal for "all".
    gap_ = dual_gap_ : 0, in closed form, where the estimate is the saddle point (one block); NaN otherwise.
    n_iter_ = 1, converged_ = True; supervised_only_ : whether no entry was missing (then = complete-case).

    References
    ----------
    Bertazzi 2018, chapter 6 and appendix B; Anderson 1957.
    """

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        "blocks": [StrOptions({"safe", "all", "one"})],
        "ridge": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, blocks="safe", ridge=0.0):
        self.blocks = blocks
        self.ridge = ridge

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Fit to X (n, D), NaN where an entry is missing; y is ignored.

        Raises ValueError for a pattern that is not monotone (naming two rows that clash), no complete row, or a
        singular covariance of the complete rows (set `ridge`).
        """
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2)
        missing = np.isnan(X)
        clash = clashing_rows(missing)
        if clash is not None:
            i, j = clash
            raise ValueError(
                f"the pattern of missing entries is not monotone: row {i} lacks columns {_names(self, missing[i])} and "
                f"row {j} lacks columns {_names(self, missing[j])}, neither contains the other. Drop one of the two "
                "kinds of rows, or impute one of the columns first."
            )
        X = X[~missing.all(axis=1)]
        pattern = monotone_pattern(np.isnan(X))
        self.n_complete_ = len(pattern.rows[-1]) if not np.isnan(X).all(axis=0).any() else 0
        if self.n_complete_ == 0:
            raise ValueError("no row is complete: the estimate and its guarantee rest on rows without missing entries")
        self.blocks_ = pattern.blocks
        self.order_ = np.concatenate(pattern.blocks)
        self.pattern_ = {1: "complete", 2: "one block"}.get(len(pattern.blocks), "monotone")
        self.supervised_only_ = len(pattern.blocks) == 1

        self._check_complete(X[pattern.rows[-1]])
        complete = sample_moments(X[pattern.rows[-1]], self.ridge)
        self.complete_mean_, self.complete_covariance_ = complete
        self.improvement_ = -np.inf
        for used_blocks in ("one", "all") if self.blocks == "safe" else (self.blocks,):
            model = self._estimate(X, pattern if used_blocks == "all" else _one_block(pattern))
            bound = guaranteed_improvement(
                X, pattern, model, complete, by_blocks=used_blocks == "all", ridge=self.ridge
            )
            if bound > self.improvement_ or used_blocks == self.blocks:
                self.mean_, self.covariance_ = model
                self.improvement_, self.used_blocks_ = bound, used_blocks
        self.objective_ = float(np.sum(self._log_density(X)))
        self.gap_ = self.dual_gap_ = 0.0 if len(pattern.blocks) <= 2 else np.nan
        self.n_iter_, self.converged_ = 1, True
        return self

    def _estimate(self, X, pattern: Pattern) -> Gaussian:
        """Return the estimate by blocks, computed in standardised features."""
        centre, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        scale[scale == 0.0] = 1.0
        inside = fit_by_blocks((X - centre) / scale, pattern, self.ridge / scale**2)
        return Gaussian(centre + scale * inside.mean, inside.covariance * np.outer(scale, scale))

    def _check_complete(self, complete) -> None:
        """Raise where the covariance of the complete rows is singular."""
        scale = complete.std(axis=0)
        scale[scale == 0.0] = 1.0
        covariance = sample_moments(complete / scale, self.ridge / scale**2).covariance
        if not np.linalg.eigvalsh(covariance)[0] > _SINGULAR:
            raise ValueError(
                f"the covariance of the {len(complete)} complete rows of {complete.shape[1]} features is singular: set "
                "ridge > 0 (a variance added to every feature), drop constant or repeated features, or add complete "
                "rows."
            )

    def _log_density(self, X) -> np.ndarray:
        result = np.empty(len(X))
        for observed, rows in _by_pattern(X):
            result[rows] = log_density(X[rows], Gaussian(self.mean_, self.covariance_), observed, self.ridge)
        return result

    def _validate(self, X) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)

    def score_samples(self, X):
        """Return the log density of the observed entries of each row of X (n, D), in nats, shape (n,)."""
        return self._log_density(self._validate(X))

    def score(self, X, y=None):
        """Return the mean over rows of `score_samples`; y is ignored."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples=1, random_state=None):
        """Return `n_samples` draws from the fitted Gaussian, (n_samples, D)."""
        check_is_fitted(self)
        draws = check_random_state(random_state).standard_normal((n_samples, len(self.mean_)))
        return self.mean_ + draws @ np.linalg.cholesky(self.covariance_).T

    def impute(self, X):
        """Return X (n, D) with each missing entry replaced by its mean given the row's observed entries, (6.3).

        The pattern of X may be any.
        """
        X = self._validate(X).copy()
        model = Gaussian(self.mean_, self.covariance_)
        for observed, rows in _by_pattern(X):
            hidden = np.setdiff1d(np.arange(X.shape[1]), observed)
            if len(hidden):
                offset, regression, _ = conditional(model, observed, hidden)
                X[np.ix_(rows, hidden)] = offset + X[np.ix_(rows, observed)] @ regression.T
        return X

    @property
    def guarantee_(self) -> str:
        """One sentence on what the fit proves against the complete-case estimate, whatever the hidden entries are."""
        check_is_fitted(self)
        if self.supervised_only_:
            return "no missing entries: this is the complete-case estimate"
        if self.improvement_ > 0.0:
            return (
                f"at least {self.improvement_:.6g} nats of the log-likelihood of all rows better than the complete "
                "rows alone, whatever the missing entries are"
            )
        return "no guarantee against the complete rows alone; blocks='safe' has one"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _one_block(pattern: Pattern) -> Pattern:
    """Return the pattern with all incomplete columns as one block."""
    if len(pattern.blocks) <= 2:
        return pattern
    return Pattern([pattern.blocks[0], np.concatenate(pattern.blocks[1:])], [pattern.rows[0], pattern.rows[-1]])


def _names(estimator, columns) -> list:
    """Return the names of the columns of a mask, or their positions where X had no names."""
    names = getattr(estimator, "feature_names_in_", np.arange(len(columns)))
    return np.asarray(names)[columns].tolist()


def _by_pattern(X):
    """Yield (observed columns, rows) for each pattern of missing entries."""
    patterns, which = np.unique(np.isnan(X), axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        yield np.flatnonzero(~pattern), np.flatnonzero(which.ravel() == k)
