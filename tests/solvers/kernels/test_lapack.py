"""Linear systems in compiled functions."""

import numpy as np
import pytest
import scipy.linalg

from pucli.solvers.kernels.lapack import solved


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_the_solution_is_that_of_lapack_to_the_last_bit(n):
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    A_before, b_before = A.copy(), b.copy()
    np.testing.assert_array_equal(solved(A, b), scipy.linalg.lapack.dgesv(A, b)[2])
    np.testing.assert_array_equal(A, A_before)
    np.testing.assert_array_equal(b, b_before)


def test_no_equations_have_an_empty_solution():
    assert solved(np.empty((0, 0)), np.empty(0)).shape == (0,)


@pytest.mark.parametrize(
    ("A", "b"), [(np.zeros((2, 2)), np.ones(2)), (np.full((2, 2), np.nan), np.ones(2)), (np.eye(2), [np.inf, 1.0])]
)
def test_singular_and_infinite_systems_raise(A, b):
    with pytest.raises(np.linalg.LinAlgError):
        solved(A, np.array(b))
