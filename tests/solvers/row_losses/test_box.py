"""Newton's step within a box."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pucli.solvers.row_losses.box import box_newton
from tests.helpers import examples


@given(
    seed=st.integers(0, 1000),
    k=st.integers(1, 12),
    rank=st.integers(1, 12),
    lower=st.sampled_from([-1.0, 0.0]),
    scale=st.sampled_from([1e-300, 1.0]),
)
@examples(80)
def test_a_newton_move_stays_in_the_box_and_never_lowers_the_dual(seed, k, rank, lower, scale):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(k, rank))
    M, g, x = B @ B.T, rng.normal(size=k), rng.uniform(lower, 1, k)
    start = x.copy()
    move = box_newton(M, g, x, np.full(k, lower), np.ones(k), np.arange(k), scale)
    assert np.all(x >= lower) and np.all(x <= 1.0)
    np.testing.assert_allclose(x, start + move, atol=1e-15)
    assert g @ move - 0.5 * move @ M @ move >= -1e-12
