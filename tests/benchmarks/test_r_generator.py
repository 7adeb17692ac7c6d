"""R's random numbers are those that R prints."""

import numpy as np
import pytest

from benchmarks.common.r_generator import RGenerator

# set.seed(seed); runif(3), rnorm(3) and sample(1:10), in R 3.6 and later
UNIFORM = {42: [0.9148060, 0.9370754, 0.2861395], 123: [0.2875775, 0.7883051, 0.4089769]}
NORMAL = {42: [1.37095845, -0.56469817, 0.36312841], 123: [-0.56047565, -0.23017749, 1.55870831]}
SAMPLE = {42: [1, 5, 10, 8, 2, 4, 6, 9, 7, 3], 123: [3, 10, 2, 8, 6, 9, 1, 7, 5, 4]}


@pytest.mark.parametrize("seed", [42, 123])
def test_the_first_numbers_are_those_of_r(seed):
    assert RGenerator(seed).uniform(3) == pytest.approx(UNIFORM[seed], abs=5e-8)
    assert RGenerator(seed).normal(3) == pytest.approx(NORMAL[seed], abs=5e-9)
    assert (RGenerator(seed).order(10) + 1).tolist() == SAMPLE[seed]


def test_an_order_has_each_row_once_and_draws_go_on():
    generator = RGenerator(1)
    orders = [generator.order(70_000), generator.order(70_000)]  # more than 16 bits
    assert all(sorted(order) == list(range(70_000)) for order in orders)
    assert not np.array_equal(*orders)
