"""Paths through dense regions: their costs, the kernel components, rows that come later."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import floyd_warshall

from pucli.solvers.kernels import paths
from pucli.solvers.kernels.paths import DELTA, _path_kernel, least_costs, make_path_map, median_stretch, path_costs
from tests.helpers import examples


def some_rows(seed=0, n=30, m=2):
    return np.random.default_rng(seed).normal(size=(n, m))


def by_floyd_warshall(X, rho):
    distance = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    return floyd_warshall(np.expm1(rho * distance))


@pytest.mark.parametrize("rho", [0.01, 1.0, 8.0, 40.0])
@pytest.mark.slow
def test_costs_are_those_of_floyd_and_warshall(rho):
    X = some_rows()
    assert path_costs(X, rho) == pytest.approx(by_floyd_warshall(X, rho), rel=1e-12)


@pytest.mark.slow
def test_distances_go_from_euclidean_to_the_longest_step():
    X = some_rows(1)
    euclidean = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert np.log1p(path_costs(X, 1e-6)) / 1e-6 == pytest.approx(euclidean, rel=1e-5, abs=1e-9)
    longest = euclidean.copy()
    for k in range(len(X)):  # the least over paths of their longest step
        longest = np.minimum(longest, np.maximum(longest[:, k, None], longest[k]))
    assert np.log1p(path_costs(X, 100.0)) / 100.0 == pytest.approx(longest, abs=np.log(len(X)) / 100.0)


def test_a_node_that_cannot_be_reached_costs_infinity():
    steps = np.array([[0.0, 1.0, np.inf], [1.0, 0.0, np.inf], [np.inf, np.inf, 0.0]])
    assert least_costs(steps).tolist() == steps.tolist()
    with pytest.raises(ValueError, match="rho=50: some rows are more than 14 from"):
        path_costs(np.array([[0.0], [1.0], [30.0]]), 50.0)


def test_coordinates_are_the_leading_principal_components():
    X = some_rows(2)
    costs = path_costs(X, 2.0)
    found = make_path_map(X, costs, 2.0, 0.7)
    H = np.eye(len(X)) - 1.0 / len(X)
    K = H @ _path_kernel(costs, 2.0, 0.7) @ H
    values = np.linalg.eigvalsh(K)[::-1]
    p = found.coordinates.shape[1]
    assert (found.coordinates**2).sum(axis=0) == pytest.approx(values[:p])
    kept = np.maximum(values, 0.0)
    assert kept[:p].sum() >= (1.0 - DELTA) * kept.sum()
    assert kept[p - 1] <= DELTA * kept[0]
    short = kept[: p - 1]
    assert short.sum() < (1.0 - DELTA) * kept.sum() or short[-1] > DELTA * kept[0]
    assert np.linalg.norm(K - found.coordinates @ found.coordinates.T, 2) == pytest.approx(np.abs(values[p:]).max())


def test_rows_seen_again_have_their_coordinates_and_new_ones_those_of_a_graph_with_them():
    X, new = some_rows(3), some_rows(4, n=3)
    found = make_path_map(X, path_costs(X, 3.0), 3.0, None)
    assert found.of(X) == pytest.approx(found.coordinates, abs=1e-9)
    for row in new:  # alone, as a node that others may not pass
        steps = np.expm1(3.0 * np.sqrt(((X - row) ** 2).sum(axis=1)))
        k = _path_kernel((steps[:, None] + by_floyd_warshall(X, 3.0)).min(axis=0), 3.0, found.sigma)
        K = _path_kernel(by_floyd_warshall(X, 3.0), 3.0, found.sigma)
        centered = k - K.mean(axis=0) - k.mean() + K.mean()
        assert found.of(row[None])[0] == pytest.approx(centered @ found.projection, abs=1e-9)


def test_the_stretch_suits_the_rows_in_any_unit():
    X = np.vstack([some_rows(5), some_rows(5)[:4]])  # equal rows count as one place
    assert median_stretch(1000.0 * X) == pytest.approx(median_stretch(X) / 1000.0)
    assert median_stretch(np.ones((4, 2))) == 1.0


@given(st.integers(0, 10**6), st.integers(2, 40), st.sampled_from([0.01, 1.0, 30.0, 400.0]))
@examples(60)
def test_needless_steps_change_no_least_cost(seed, n, rho):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    X[rng.integers(0, n, n // 4)] = X[0]  # rows at one place
    steps = paths._steps(X, X, rho)
    needed = paths.needed_steps(steps)
    all_steps, some = paths.least_costs(steps), paths._sparse_costs(steps, needed)
    finite = np.isfinite(all_steps)
    assert (np.isfinite(some) == finite).all()
    assert some[finite] == pytest.approx(all_steps[finite], rel=1e-12)
