"""Pair steps of USMO against a numerical minimizer and against the four cases of Table I written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from pucli.solvers.row_losses.pairs import pair_step, solve_block
from tests.helpers import examples

C2 = 0.7
shares = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0))


def dual_along(t, s_i, s_j, g_i, g_j, K):
    """The dual of two rows with everything else fixed, as a function of the step t."""
    step = np.array([t, -t])
    quadratic = np.array([g_i, g_j]) @ step + 0.5 * step @ K @ step
    return quadratic - min(s_i + t, C2 - s_i - t) - min(s_j - t, C2 - s_j + t)


def slope_at_zero(s_i, s_j, g_i, g_j):
    return g_i - g_j + (-1.0 if s_i < C2 / 2 else 1.0) - (-1.0 if s_j <= C2 / 2 else 1.0)


def table_one(s_i, s_j, g_i, g_j, K):
    """Solve the four subproblems of Table I for sigma_j, clip each, keep the lowest; case 1 divides by eta."""
    a = s_i + s_j
    e_i = g_i - K[0, 0] * s_i - K[0, 1] * s_j
    e_j = g_j - K[0, 1] * s_i - K[1, 1] * s_j
    eta = K[0, 0] + K[1, 1] - 2 * K[0, 1]
    best = None
    half = C2 / 2
    # shift of the numerator, then the range of sigma_j
    cases = [
        (0.0, max(half, a - C2), min(C2, a - half)),
        (2.0, max(0.0, a - C2), min(half, a - half)),
        (-2.0, max(half, a - half), min(C2, a)),
        (0.0, max(0.0, a - half), min(half, a)),
    ]
    for shift, low, high in cases:
        if low > high:
            continue
        sigma_j = np.clip((a * (K[0, 0] - K[0, 1]) + e_i - e_j + shift) / eta, low, high)
        value = dual_along(s_j - sigma_j, s_i, s_j, g_i, g_j, K)
        if best is None or value < best[0]:
            best = (value, sigma_j)
    return best


@examples(200)
@given(shares, shares, st.floats(-4, 4), st.floats(-4, 4), st.floats(0.05, 2.0), st.floats(-0.9, 0.9), st.booleans())
def test_pair_step_is_the_minimizer_on_the_segment(u_i, u_j, g_i, g_j, scale, correlation, duplicate):
    s_i, s_j = u_i * C2, u_j * C2
    correlation = 1.0 if duplicate else correlation
    K = scale * np.array([[1.0, correlation], [correlation, 1.0]])
    slope = slope_at_zero(s_i, s_j, g_i, g_j)
    end = min(C2 - s_i, s_j)
    if slope >= 0 or end <= 0:
        return
    eta = 0.0 if duplicate else K[0, 0] + K[1, 1] - 2 * K[0, 1]
    t = pair_step(slope, eta, s_i, s_j, C2 / 2, C2, 2.0, 0.0, C2 / 2, 2.0)
    assert 0 <= t <= end
    found = dual_along(t, s_i, s_j, g_i, g_j, K)
    grid = np.unique(np.concatenate([np.linspace(0, end, 41), np.clip([C2 / 2 - s_i, s_j - C2 / 2], 0, end)]))
    pieces = [
        minimize_scalar(dual_along, bounds=(low, high), args=(s_i, s_j, g_i, g_j, K), method="bounded").fun
        for low, high in zip(grid[:-1:10], grid[10::10], strict=False)
        if high > low
    ]
    lowest = min([dual_along(x, s_i, s_j, g_i, g_j, K) for x in grid] + pieces)
    assert found <= lowest + 1e-9
    if not duplicate:
        value, sigma_j = table_one(s_i, s_j, g_i, g_j, K)
        assert found == pytest.approx(value, abs=1e-10)
        assert s_j - t == pytest.approx(sigma_j, abs=1e-7)


@examples(30)
@given(st.integers(0, 10_000), st.integers(2, 12), st.booleans())
def test_a_block_keeps_the_sum_and_reports_its_increase_of_the_dual(seed, q, duplicates):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(q, 3))
    if duplicates:
        A[1:] = A[0]
    K = A @ A.T
    linear = rng.normal(size=q)
    sigma = C2 * rng.choice([0.0, 0.2, 0.5, 0.9, 1.0], size=q)
    ones = np.ones(q)

    def dual(s):
        return -0.5 * s @ K @ s - linear @ s + np.minimum(s, C2 - s).sum()

    before, total = dual(sigma), sigma.sum()
    new, G = sigma.copy(), K @ sigma + linear
    _, gained = solve_block(K, G, new, 0 * ones, C2 / 2 * ones, C2 * ones, -ones, ones, 1e-9, 10_000)
    assert new.sum() == pytest.approx(total, abs=1e-12)
    assert np.all((new >= 0) & (new <= C2))
    assert np.allclose(G, K @ new + linear, atol=1e-10)
    assert gained >= 0
    assert dual(new) - before == pytest.approx(gained, abs=1e-10)
    rising = G + np.where(new >= C2, np.inf, np.where(new < C2 / 2, -1.0, 1.0))
    falling = G + np.where(new <= 0, -np.inf, np.where(new <= C2 / 2, -1.0, 1.0))
    assert falling.max() - rising.min() <= 1e-8
