"""Kernel functions against their formulas."""

import numpy as np
import pytest

from pucli.solvers.kernels.functions import Kernel, rbf

ALL = [Kernel("linear"), Kernel("rbf", width=1.7), Kernel("polynomial", degree=3, coef0=0.5)]


@pytest.mark.parametrize("kernel", ALL, ids=lambda k: k.name)
def test_matrix_diagonal_and_combination_agree_with_the_formula(kernel):
    rng = np.random.default_rng(0)
    X, Y, w = rng.normal(size=(7, 3)), rng.normal(size=(5, 3)), rng.normal(size=5)
    if kernel.name == "rbf":
        expected = np.exp(-((X[:, None] - Y[None]) ** 2).sum(-1) / (2 * 1.7**2))
    else:
        expected = X @ Y.T if kernel.name == "linear" else (X @ Y.T + 0.5) ** 3
    assert np.allclose(kernel.matrix(X, Y), expected, rtol=1e-12)
    assert np.allclose(kernel.diagonal(X), np.diagonal(kernel.matrix(X, X)))
    assert np.allclose(kernel.combination(X, Y, w), expected @ w)


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
