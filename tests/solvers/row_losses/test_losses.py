"""The best intercept: the middle of the interval of minimizers."""

import numpy as np
import pytest

from pucli.solvers.row_losses.losses import RowLosses, loss_values, optimal_intercept


@pytest.mark.parametrize(("upper", "expected"), [(3.0, 2.5), (2.0, 2.5)])  # jumps that differ, and equal ones
def test_the_best_intercept_is_the_middle_of_all_that_are_best(upper, expected):
    one = [np.array([value]) for value in (0.0, 1.0, upper, 0.0, 5.0)]
    losses, g = RowLosses(*one), np.zeros(1)
    found = optimal_intercept(losses, 1.0, g)
    assert found == expected
    least = loss_values(losses, g + found).sum() - found
    for b in np.linspace(-3.0, 8.0, 56):
        value = loss_values(losses, g + b).sum() - b
        assert value >= least - 1e-12
        assert (value > least + 1e-12) == (b < -1e-9 or b > 5.0 + 1e-9)
