"""The minimax problem (6.19): against cvxpy and a numerical minimizer, its guarantee, bounds and invariance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from pucli.estimators.safe.gaussian_mcpl import GaussianMCPL
from pucli.solvers.safe.gaussian import fit_by_blocks, monotone_pattern, sample_moments
from pucli.solvers.safe.minimax import solve_minimax, unknowns
from tests.helpers import examples
from tests.oracles import clarabel
from tests.solvers.safe.patterns import gain, rows_with_gaps

seeds = st.integers(0, 10**6)
CLOSED = ("one", "all")


def ordered(partial):
    """Columns in the order of the pattern, complete rows."""
    order = np.argsort(np.isnan(partial).sum(axis=0), kind="stable")
    return partial[:, order], partial[~np.isnan(partial).any(axis=1)][:, order]


def largest_guaranteed_gain(partial, ridge):
    """(6.19) in the natural parameters of the whole Gaussian, with a term for each row, by cvxpy."""
    cp = pytest.importorskip("cvxpy", reason="cvxpy is not installed")
    Y, complete = ordered(partial)
    n, D = Y.shape
    center, noise = complete.mean(axis=0), ridge * np.eye(D)
    old = np.linalg.inv(np.cov(complete.T, bias=True) + noise)
    P, eta = cp.Variable((D, D), symmetric=True), cp.Variable(D)
    gains = n / 2 * (cp.log_det(P) - np.linalg.slogdet(old)[1] - cp.matrix_frac(eta, P) + cp.trace(noise @ (old - P)))
    for row in Y - center:
        k = int((~np.isnan(row)).sum())
        gains += cp.sum(cp.multiply((old - P)[:k, :k], np.outer(row[:k], row[:k]))) / 2 + eta[:k] @ row[:k]
        if k < D:
            gains -= cp.matrix_frac((old - P)[k:, :k] @ row[:k] + eta[k:], (old - P)[k:, k:]) / 2
    return -clarabel(-gains, accuracy=None)


def worst_gain(fit, partial, ridge=0.0, reference=None):
    """The least gain over hidden entries that L-BFGS finds, over the complete rows alone or another fit."""
    hidden = np.isnan(partial)
    other = (
        (fit.complete_mean_, fit.complete_covariance_)
        if reference is None
        else (reference.mean_, reference.covariance_)
    )
    (a, S), (b, R) = (fit.mean_, fit.covariance_), other
    P, Q = np.linalg.inv(S), np.linalg.inv(R)
    constant = len(partial) * (np.linalg.slogdet(R)[1] - np.linalg.slogdet(S)[1] + ridge * (np.trace(Q) - np.trace(P)))
    root = np.linalg.cholesky(fit.complete_covariance_)  # units in which the problem is well scaled
    scale = np.broadcast_to(np.diag(root), partial.shape)[hidden]
    start = fit.impute(partial)

    def found(values):
        full = start.copy()
        full[hidden] += scale * values
        first, second = full - a, full - b
        squares = np.sum((second @ Q) * second) - np.sum((first @ P) * first)
        return 0.5 * (squares + constant), (second @ Q - first @ P)[hidden] * scale

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-9}
    return minimize(found, np.zeros(hidden.sum()), jac=True, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_no_estimate_guarantees_more(seed, ridge):
    """Also with noise, where the last block is part of the problem."""
    _, partial = rows_with_gaps(seed, n_blocks=3 + seed % 2, D=4, complete=8, incomplete=10)
    fit = GaussianMCPL(blocks="minimax", ridge=ridge).fit(partial)
    best = largest_guaranteed_gain(partial, ridge)
    assert fit.improvement_ == pytest.approx(best, rel=1e-5, abs=2e-5)
    assert fit.improvement_ + fit.dual_gap_ >= best - 1e-5 * (1 + best)
    assert fit.dual_gap_ <= 1e-5


@pytest.mark.slow
def test_one_block_and_noise_may_have_a_better_estimate_than_the_closed_form():
    """Two equal columns: entries without noise cannot follow the regression on a column with noise."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    partial = np.column_stack([x, x])
    partial[8:] *= 0.05
    partial[8:, 1] = np.nan
    fit, one = (GaussianMCPL(blocks=blocks, ridge=0.5).fit(partial) for blocks in ("safe", "one"))
    assert fit.used_blocks_ == "minimax" and fit.improvement_ > one.improvement_ + 0.01
    assert fit.improvement_ == pytest.approx(largest_guaranteed_gain(partial, 0.5), rel=1e-4)
    assert worst_gain(fit, partial, 0.5) == pytest.approx(fit.improvement_, abs=1e-4)


@given(seeds, st.sampled_from([0.0, 0.0, 0.1]))
@examples(20)
@pytest.mark.slow
def test_the_gain_is_guaranteed_and_at_least_that_of_the_closed_forms(seed, ridge):
    X, partial = rows_with_gaps(seed)
    fit = GaussianMCPL(ridge=ridge).fit(partial)
    closed = [GaussianMCPL(blocks=blocks, ridge=ridge).fit(partial).improvement_ for blocks in CLOSED]
    assert fit.improvement_ >= max(closed) and fit.improvement_ > 0
    assert 0 <= fit.gap_ == fit.dual_gap_ <= 1e-3 * fit.improvement_ and fit.converged_
    if ridge > 0.0:
        return
    rng, hidden = np.random.default_rng(seed), np.isnan(partial)
    for completed in (X, fit.impute(partial), *(np.where(hidden, s * rng.normal(size=X.shape), X) for s in (1, 30))):
        found, rounding = gain(fit, completed)
        assert found >= fit.improvement_ - rounding
        # the gain of maximum likelihood on completed rows bounds what any estimate guarantees
        best = np.linalg.slogdet(fit.complete_covariance_)[1] - np.linalg.slogdet(np.cov(completed.T, bias=True))[1]
        centered = completed - fit.complete_mean_
        squares = np.sum(centered @ np.linalg.inv(fit.complete_covariance_) * centered)
        assert fit.improvement_ <= 0.5 * (len(X) * (best - X.shape[1]) + squares) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_guaranteed_gain_is_the_worst_case(seed):
    _, partial = rows_with_gaps(seed, n_blocks=3 + seed % 3, D=6)
    fit = GaussianMCPL(blocks="minimax").fit(partial)
    found = worst_gain(fit, partial)
    assert found >= fit.improvement_ - 1e-6
    if fit.used_blocks_ == "minimax":
        assert found == pytest.approx(fit.improvement_, rel=2e-2, abs=2e-2)


def test_one_block_is_the_closed_form():
    """Theorem 6.2."""
    _, partial = rows_with_gaps(4, n_blocks=2, D=5)
    pattern = monotone_pattern(np.isnan(partial))
    found = solve_minimax(partial, pattern, sample_moments(partial[pattern.rows[-1]]))
    closed = fit_by_blocks(partial, pattern)
    np.testing.assert_allclose(found.model.mean, closed.mean, rtol=1e-9)
    np.testing.assert_allclose(found.model.covariance, closed.covariance, rtol=1e-9)
    fits = [GaussianMCPL(blocks=blocks).fit(partial) for blocks in ("minimax", "safe", "one")]
    assert found.gap == 0 and found.objective == pytest.approx(fits[2].improvement_)
    for fit in fits[:2]:
        np.testing.assert_array_equal(fit.covariance_, fits[2].covariance_)
        assert fit.dual_gap_ == 0 and fit.improvement_ == pytest.approx(fits[2].improvement_, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_affine_maps_that_keep_the_pattern_and_the_order_of_rows_do_not_matter(seed):
    _, partial = rows_with_gaps(seed, n_blocks=4, D=7)
    pattern = monotone_pattern(np.isnan(partial))
    rng = np.random.default_rng(seed)
    D, A = partial.shape[1], np.zeros((partial.shape[1],) * 2)
    for k, block in enumerate(pattern.blocks):  # a block moves with itself and the ones before it
        for before in pattern.blocks[: k + 1]:
            A[np.ix_(block, before)] = rng.normal(size=(len(block), len(before)))
    shift, rows = rng.normal(size=D), rng.permutation(len(partial))
    moved = np.full_like(partial, np.nan)
    for size in np.unique(np.isnan(partial).sum(axis=1)):
        where = np.isnan(partial).sum(axis=1) == size
        have = ~np.isnan(partial[where][0])
        moved[np.ix_(where, have)] = partial[where][:, have] @ A[np.ix_(have, have)].T + shift[have]
    first, second = GaussianMCPL().fit(partial), GaussianMCPL().fit(moved[rows])
    assert first.used_blocks_ == second.used_blocks_ == "minimax"
    assert first.improvement_ == pytest.approx(second.improvement_, abs=1e-5)
    scale = np.sqrt(np.diag(second.covariance_))
    np.testing.assert_allclose((A @ first.mean_ + shift - second.mean_) / scale, 0, atol=1e-3)
    np.testing.assert_allclose(
        (A @ first.covariance_ @ A.T - second.covariance_) / np.outer(scale, scale), 0, atol=1e-3
    )


def test_large_tables_are_solved_on_request_only(monkeypatch):
    _, partial = rows_with_gaps(2, n_blocks=4, D=7)
    pattern = monotone_pattern(np.isnan(partial))
    first, *middle, last = (len(block) for block in pattern.blocks)
    p, q = sum(middle), first + 1
    assert unknowns(pattern) == p * q + p * (p + 1) // 2
    assert unknowns(pattern, 0.1) == (p + last) * q + (p + last) * (p + last + 1) // 2
    monkeypatch.setattr("pucli.estimators.safe.gaussian_mcpl.MOST_UNKNOWNS", 5)
    safe, asked = GaussianMCPL().fit(partial), GaussianMCPL(blocks="minimax").fit(partial)
    assert safe.used_blocks_ in CLOSED and np.isnan(safe.dual_gap_)
    assert asked.used_blocks_ == "minimax" and asked.improvement_ > safe.improvement_
