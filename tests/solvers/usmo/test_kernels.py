"""Kernel functions and the store of kernel rows."""

import numpy as np
import pytest

from pucli.kernels.functions import KERNELS, Kernel, kernel_row, rbf
from pucli.solvers.rows.cache import RowStore

ALL = [Kernel("linear"), Kernel("rbf", width=1.7), Kernel("polynomial", degree=3, coef0=0.5)]


@pytest.mark.parametrize("kernel", ALL, ids=lambda k: k.name)
def test_matrix_diagonal_row_and_combination_agree_with_the_formula(kernel):
    rng = np.random.default_rng(0)
    X, Y, w = rng.normal(size=(7, 3)), rng.normal(size=(5, 3)), rng.normal(size=5)
    if kernel.name == "rbf":
        expected = np.exp(-((X[:, None] - Y[None]) ** 2).sum(-1) / (2 * 1.7**2))
    else:
        expected = X @ Y.T if kernel.name == "linear" else (X @ Y.T + 0.5) ** 3
    assert np.allclose(kernel.matrix(X, Y), expected, rtol=1e-12)
    assert np.allclose(kernel.diagonal(X), np.diagonal(kernel.matrix(X, X)))
    assert np.allclose(kernel.combination(X, Y, w), expected @ w)
    kind = KERNELS.index(kernel.name)
    row = kernel_row(X[2], Y, kind, kernel.width, kernel.degree, kernel.coef0)
    assert np.allclose(row, expected[2], rtol=1e-12)


def test_rbf_of_rows_far_from_the_origin_keeps_its_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    assert np.allclose(rbf(X + 1e6, X + 1e6, 1.0), rbf(X, X, 1.0), atol=1e-8)


@pytest.mark.parametrize(
    "kernel",
    [Kernel("sigmoid"), Kernel("rbf", width=0.0), Kernel("polynomial", degree=1.5), Kernel("polynomial", coef0=-1.0)],
)
def test_bad_kernels_are_named(kernel):
    with pytest.raises(ValueError, match=r"kernel|width"):
        kernel.check()


@pytest.mark.parametrize("kernel", ALL, ids=lambda k: k.name)
def test_store_returns_right_rows_while_evicting_and_swapping(kernel):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 4))
    store = RowStore(X, kernel, cache_bytes=8 * 40 * 9, block=6)
    order = np.arange(40)
    assert store.capacity == 9
    active = 40
    for turn in range(30):
        block = rng.choice(active, 6, replace=False)
        slots = store.fetch(block, active)
        assert len(np.unique(slots)) == 6
        expected = kernel.matrix(X[order[block]], X[order[:active]])
        assert np.allclose(store.store[slots, :active], expected, rtol=1e-10, atol=1e-12)
        if turn % 10 == 9:
            active -= 5
            first, second = np.arange(5), active + np.arange(5)
            order[np.r_[first, second]] = order[np.r_[second, first]]
            store.swap(first, second)
    weights = rng.normal(size=40) * (rng.random(40) < 0.5)
    expected = kernel.matrix(X[order[active:]], X[order]) @ weights
    assert np.allclose(store.product(weights, slice(active, 40)), expected)
