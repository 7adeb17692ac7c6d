"""Gaussian with missing entries: against EM, against a grid of hidden values, the guarantee, and patterns."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from pucli.estimators.safe.gaussian_mcpl import GaussianMCPL
from pucli.solvers.safe.gaussian import clashing_rows, monotone_cover
from tests.helpers import examples

seeds = st.integers(0, 10**6)


def monotone_data(seed, n_blocks):
    """Complete X, and X with a monotone pattern of `n_blocks` blocks, rows and columns in random order."""
    rng = np.random.default_rng(seed)
    D = int(rng.integers(n_blocks, 6))
    n = 12 * n_blocks + int(rng.integers(0, 30))
    X = rng.normal(size=(n, D)) @ rng.normal(size=(D, D)) + 10 * rng.normal(size=D)
    cuts = np.sort(rng.choice(np.arange(1, D), n_blocks - 1, replace=False))
    partial = X.copy()
    starts = np.sort(rng.choice(np.arange(D + 2, n), n_blocks - 1, replace=False))
    for start, cut in zip(starts, cuts[::-1], strict=True):
        partial[start:, cut:] = np.nan
    rows, columns = rng.permutation(n), rng.permutation(D)
    return X[rows][:, columns], partial[rows][:, columns]


def total_log_density(X, mean, covariance):
    return multivariate_normal(mean, covariance, allow_singular=False).logpdf(X).sum()


def observed_log_likelihood(X, mean, covariance):
    seen = ~np.isnan(X)
    return sum(
        total_log_density(x[s], mean[s], covariance[np.ix_(s, s)]) for x, s in zip(X, seen, strict=True) if s.any()
    )


def expectation_maximization(X, n_iter=3000):
    """Little & Rubin's EM for a Gaussian with any pattern."""
    mean, covariance = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    for _ in range(n_iter):
        filled, extra = X.copy(), np.zeros_like(covariance)
        for i, hidden in enumerate(np.isnan(X)):
            if hidden.any():
                B = np.linalg.solve(covariance[np.ix_(~hidden, ~hidden)], covariance[np.ix_(~hidden, hidden)]).T
                filled[i, hidden] = mean[hidden] + B @ (X[i, ~hidden] - mean[~hidden])
                extra[np.ix_(hidden, hidden)] += (
                    covariance[np.ix_(hidden, hidden)] - B @ covariance[np.ix_(~hidden, hidden)]
                )
        new_mean = filled.mean(axis=0)
        new = (filled - new_mean).T @ (filled - new_mean) / len(X) + extra / len(X)
        change = max(np.abs(new - covariance).max(), np.abs(new_mean - mean).max())
        mean, covariance = new_mean, new
        if change < 1e-11 * np.abs(covariance).max():
            break
    return mean, covariance


@pytest.mark.slow
@pytest.mark.parametrize("n_blocks", [2, 3, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_maximum_likelihood_is_the_limit_of_em(seed, n_blocks):
    """(6.7)-(6.9) and (B.6)-(B.8)."""
    _, partial = monotone_data(seed, n_blocks)
    fit = GaussianMCPL(blocks="all").fit(partial)
    mean, covariance = expectation_maximization(partial)
    np.testing.assert_allclose(fit.mean_, mean, rtol=1e-5, atol=1e-5 * np.abs(mean).max())
    np.testing.assert_allclose(fit.covariance_, covariance, atol=1e-4 * np.abs(covariance).max())
    assert fit.objective_ == pytest.approx(observed_log_likelihood(partial, fit.mean_, fit.covariance_), rel=1e-9)
    assert fit.objective_ >= observed_log_likelihood(partial, mean, covariance) - 1e-6
    assert fit.pattern_ == ("one block" if n_blocks == 2 else "monotone")


def conditional(mean, covariance, given_, rest):
    """Return the slopes, the mean at zero and the covariance of columns `rest`, given the others."""
    slopes = np.linalg.solve(covariance[np.ix_(given_, given_)], covariance[np.ix_(given_, rest)]).T
    return (
        slopes,
        mean[rest] - slopes @ mean[given_],
        covariance[np.ix_(rest, rest)] - slopes @ covariance[np.ix_(given_, rest)],
    )


@given(seeds)
@examples(10)
def test_maximum_likelihood_of_two_blocks_keeps_the_last_conditional_of_the_complete_rows_alone(seed):
    """Propositions B.1 and B.2: that of z given x and y is the same, that of y and z given x is another."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4))
    X[15:, 3], X[25:, 2] = np.nan, np.nan
    fit = GaussianMCPL(blocks="all").fit(X)
    ours, complete = (fit.mean_, fit.covariance_), (fit.complete_mean_, fit.complete_covariance_)
    for one, other in zip(conditional(*ours, [0, 1, 2], [3]), conditional(*complete, [0, 1, 2], [3]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)
    for one, other in zip(conditional(*ours, [0, 1], [2, 3]), conditional(*complete, [0, 1], [2, 3]), strict=True):
        assert np.abs(one - other).max() > 1e-4


@given(seeds, st.integers(2, 4), st.sampled_from(["safe", "one", "all"]))
@example(66307, 2, "safe")  # log-likelihoods of 1e8
@examples(40)
def test_better_than_the_complete_rows_for_any_missing_entries(seed, n_blocks, blocks):
    """Theorem 6.3 and Corollary 6.5, with hidden values near, far and as they were."""
    X, partial = monotone_data(seed, n_blocks)
    fit = GaussianMCPL(blocks=blocks).fit(partial)
    if blocks != "all":
        assert fit.improvement_ > 0
    hidden = np.isnan(partial)
    rng = np.random.default_rng(seed)
    gains, sizes = [], []
    for completed in (
        X,
        fit.impute(partial),
        *(np.where(hidden, s * rng.normal(size=X.shape), X) for s in (1, 30, 1e3)),
    ):
        ours = total_log_density(completed, fit.mean_, fit.covariance_)
        gains.append(ours - total_log_density(completed, fit.complete_mean_, fit.complete_covariance_))
        sizes.append(abs(ours))
        slack = 1e-7 * (1.0 + abs(ours))
        assert gains[-1] >= fit.improvement_ - slack
    if n_blocks == 2 or blocks == "one":  # what is hidden does not matter at all
        rounding = 1e-10 * max(sizes[:3])  # a gain is a difference of log-likelihoods
        np.testing.assert_allclose(gains[:3], fit.improvement_, rtol=1e-5, atol=1e-5 + rounding)


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_the_bound_of_maximum_likelihood_is_the_worst_case(ridge):
    """For several blocks the bound is the minimum over hidden values, found here by a general minimizer."""
    found = 0
    for seed in range(20):
        _, partial = monotone_data(seed, 3)
        fit = GaussianMCPL(blocks="all", ridge=ridge).fit(partial)
        if not np.isfinite(fit.improvement_):
            continue
        found += 1
        hidden = np.isnan(partial)
        ours = np.linalg.inv(fit.covariance_), fit.mean_, np.linalg.slogdet(fit.covariance_)[1]
        reference = np.linalg.inv(fit.complete_covariance_), fit.complete_mean_
        constant = np.linalg.slogdet(fit.complete_covariance_)[1]

        def gain(values, partial=partial, hidden=hidden, ours=ours, reference=reference, constant=constant):
            completed = partial.copy()
            completed[hidden] = values
            first, second = completed - ours[1], completed - reference[1]
            squares = np.einsum("ij,jk,ik->", first, ours[0], first) - np.einsum(
                "ij,jk,ik->", second, reference[0], second
            )
            jitter = ridge * len(partial) * (np.trace(ours[0]) - np.trace(reference[0]))
            gradient = -first @ ours[0] + second @ reference[0]
            return -0.5 * (squares + jitter + len(partial) * (ours[2] - constant)), gradient[hidden]

        worst = minimize(
            gain, fit.impute(partial)[hidden], jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-15}
        )
        assert worst.fun == pytest.approx(fit.improvement_, abs=1e-2)
    assert found >= 3


@pytest.mark.slow
def test_the_estimate_with_the_largest_bound_is_chosen():
    for seed in range(12):
        _, partial = monotone_data(seed, 3)
        safe, *fits = (GaussianMCPL(blocks=b).fit(partial) for b in ("safe", "one", "all", "minimax"))
        assert safe.improvement_ == max(fit.improvement_ for fit in fits)
        [chosen] = (fit for fit in fits if fit.improvement_ == safe.improvement_ and fit.used_blocks_ == fit.blocks)
        assert chosen.blocks == safe.used_blocks_
        np.testing.assert_array_equal(safe.covariance_, chosen.covariance_)


@given(st.integers(0, 10**6))
@examples(60)
def test_clashing_rows_are_found_if_and_only_if_there_are_any(seed):
    rng = np.random.default_rng(seed)
    missing = rng.random((int(rng.integers(2, 6)), int(rng.integers(1, 4)))) < 0.4
    pairs = [(a, b) for i, a in enumerate(missing) for b in missing[:i]]
    some = any(np.any(a & ~b) and np.any(b & ~a) for a, b in pairs)
    found = clashing_rows(missing)
    assert (found is not None) == some
    if found is not None:
        a, b = missing[found[0]], missing[found[1]]
        assert np.any(a & ~b) and np.any(b & ~a)


def test_order_of_rows_and_columns_does_not_matter():
    _, partial = monotone_data(3, 3)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(partial)), rng.permutation(partial.shape[1])
    first, second = GaussianMCPL().fit(partial), GaussianMCPL().fit(partial[rows][:, columns])
    np.testing.assert_allclose(first.mean_[columns], second.mean_, rtol=1e-9)
    np.testing.assert_allclose(first.covariance_[np.ix_(columns, columns)], second.covariance_, rtol=1e-7, atol=1e-9)
    counts = np.isnan(partial)[:, first.order_].sum(axis=0)
    assert np.all(np.diff(counts) >= 0)


def exact_log_likelihood(X, mean, covariance):
    """Up to the constant, with inverse and determinant in rational arithmetic."""
    D, total = len(mean), Fraction(0)
    rows = [[Fraction(v) for v in row] for row in covariance.tolist()]
    centered = [[Fraction(a) - Fraction(b) for a, b in zip(x, mean.tolist(), strict=True)] for x in X.tolist()]
    determinant = Fraction(1)
    for k in range(D):
        determinant *= rows[k][k]
        total += sum(x[k] * x[k] for x in centered) / rows[k][k]
        for i in range(k + 1, D):
            share = rows[i][k] / rows[k][k]
            rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
            for x in centered:
                x[i] -= share * x[k]
    return -0.5 * float(total) - 0.5 * len(X) * math.log(determinant)


@pytest.mark.parametrize("noise", [1.0, 1e-2, 1e-3])
def test_improvement_is_a_bound_in_exact_arithmetic(noise):
    for seed in range(6):
        _, partial = monotone_data(seed, 2)
        rng = np.random.default_rng(seed)
        copy = partial.sum(axis=1) + noise * rng.normal(size=len(partial))  # correlations of condition up to 1e7
        partial = 10.0 ** rng.uniform(-3, 3) * np.column_stack([partial, copy])
        fit = GaussianMCPL().fit(partial)
        hidden = np.isnan(partial)
        where = hidden.any(axis=0)
        precision = np.linalg.inv(fit.covariance_)[np.ix_(where, where)]  # of the hidden entries given the others
        draws = np.zeros(partial.shape)
        draws[:, where] = rng.multivariate_normal(np.zeros(where.sum()), np.linalg.inv(precision), len(partial))
        for deviations in (0.0, 1.0):
            completed = np.where(hidden, fit.impute(partial) + deviations * draws, partial)
            gain = exact_log_likelihood(completed, fit.mean_, fit.covariance_) - exact_log_likelihood(
                completed, fit.complete_mean_, fit.complete_covariance_
            )
            assert gain >= fit.improvement_
            assert gain == pytest.approx(fit.improvement_, abs=1e-3)


def test_impute_score_and_sample():
    X, partial = monotone_data(5, 2)
    fit = pickle.loads(pickle.dumps(GaussianMCPL().fit(partial)))
    filled = fit.impute(partial)
    hidden = np.isnan(partial)
    np.testing.assert_array_equal(filled[~hidden], partial[~hidden])
    row = int(np.flatnonzero(hidden.any(axis=1))[0])
    rest, h = ~hidden[row], hidden[row]
    B = fit.covariance_[np.ix_(h, rest)] @ np.linalg.inv(fit.covariance_[np.ix_(rest, rest)])
    np.testing.assert_allclose(filled[row, h], fit.mean_[h] + B @ (partial[row, rest] - fit.mean_[rest]), rtol=1e-7)
    assert fit.score(partial) == pytest.approx(observed_log_likelihood(partial, fit.mean_, fit.covariance_) / len(X))
    any_pattern = np.where(np.random.default_rng(0).random(X.shape) < 0.5, np.nan, X)
    assert np.isfinite(fit.impute(any_pattern)).all()
    draws = fit.sample(200_000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0), fit.mean_, atol=0.02 * np.sqrt(np.diag(fit.covariance_)).max())
    np.testing.assert_allclose(np.cov(draws.T), fit.covariance_, atol=0.03 * np.abs(fit.covariance_).max())
    np.testing.assert_array_equal(fit.sample(3, random_state=1), fit.sample(3, random_state=1))


@pytest.mark.filterwarnings("ignore:the pattern")
@pytest.mark.parametrize("seed", range(5))
def test_a_pattern_that_is_not_monotone_loses_entries_and_keeps_the_bound(seed):
    rng = np.random.default_rng(seed)
    full = rng.multivariate_normal(np.zeros(3), 0.6 + 0.4 * np.eye(3), 60)
    X = np.where(rng.random(full.shape) < 0.2, np.nan, full)
    covered = monotone_cover(np.isnan(X))
    assert np.all(covered >= np.isnan(X)) and clashing_rows(covered) is None
    np.testing.assert_array_equal(covered.any(axis=1), np.isnan(X).any(axis=1))  # complete rows stay complete
    model, less = GaussianMCPL().fit(X), GaussianMCPL().fit(np.where(covered, np.nan, X))
    np.testing.assert_array_equal(model.covariance_, less.covariance_)
    used = full[~covered.all(axis=1)]
    ours, theirs = (
        multivariate_normal(mean, covariance).logpdf(used).sum()
        for mean, covariance in (
            (model.mean_, model.covariance_),
            (model.complete_mean_, model.complete_covariance_),
        )
    )
    assert ours - theirs >= model.improvement_ - 1e-9


def test_complete_data():
    X, _ = monotone_data(1, 2)
    fit = GaussianMCPL().fit(X)
    np.testing.assert_allclose(fit.covariance_, np.cov(X.T, bias=True), rtol=1e-9)
    assert fit.pattern_ == "complete" and fit.supervised_only_ and fit.improvement_ == pytest.approx(0, abs=1e-8)
    assert "no missing entries" in fit.guarantee_


def test_bad_input():
    X = np.random.default_rng(0).normal(size=(20, 3))
    clash = X.copy()
    clash[4, 0] = clash[11, 2] = np.nan
    with pytest.warns(UserWarning, match=r"row 4 lacks columns \[0\] and row 11 lacks columns \[2\]"):
        GaussianMCPL().fit(clash)
    incomplete = X.copy()
    incomplete[:, 1] = np.nan
    with pytest.raises(ValueError, match="no row is complete"):
        GaussianMCPL().fit(incomplete)
    few = X.copy()
    few[3:, 2] = np.nan
    with pytest.raises(ValueError, match="3 complete rows of 3 features is singular"):
        GaussianMCPL().fit(few)
    assert GaussianMCPL(ridge=0.1).fit(few).improvement_ > 0
    empty_row = X.copy()
    empty_row[10:, 2] = empty_row[19] = np.nan
    np.testing.assert_allclose(GaussianMCPL().fit(empty_row).mean_, GaussianMCPL().fit(empty_row[:19]).mean_)
