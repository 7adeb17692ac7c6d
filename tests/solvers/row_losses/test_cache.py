"""The store of kernel rows."""

import numpy as np
import pytest

from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.row_losses.cache import RowStore

ALL = [Kernel("linear"), Kernel("rbf", width=1.7), Kernel("polynomial", degree=3, coef0=0.5)]


@pytest.mark.parametrize("kernel", ALL, ids=lambda k: k.name)
def test_the_cache_returns_correct_rows_while_evicting_and_swapping(kernel):
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
