"""The similarity graph against brute force, and the low-rank kernel features against the kernel itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pucli.solvers.kernels import graph as graph_module
from pucli.solvers.kernels.graph import (
    edge_weights,
    graph_from_distances,
    laplacian_product,
    mutual_knn,
    squared_distances,
)
from pucli.solvers.kernels.low_rank import RESIDUAL, _pivoted_cholesky_rbf, rbf_features, rbf_from_distances, rbf_map
from tests.helpers import examples


def brute_force_edges(X, k):
    """Mutual K-NN by definition (2.6): sort all other rows by distance, then by row number."""
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    near = [set(sorted((j for j in range(len(X)) if j != i), key=lambda j: (D[i, j], j))[:k]) for i in range(len(X))]
    return {(i, j) for i in range(len(X)) for j in near[i] if i < j and i in near[j]}


@given(seed=st.integers(0, 10_000), n=st.integers(7, 40), m=st.integers(1, 4), k=st.integers(1, 6), grid=st.booleans())
@examples(30)
def test_mutual_knn_is_the_definition_even_with_ties(seed, n, m, k, grid):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, m)).astype(float) if grid else rng.normal(size=(n, m))
    graph = mutual_knn(X, k)
    assert set(zip(graph.i.tolist(), graph.j.tolist(), strict=True)) == brute_force_edges(X, k)
    np.testing.assert_allclose(graph.squared_distance, ((X[graph.i] - X[graph.j]) ** 2).sum(axis=1))


@given(seed=st.integers(0, 10_000), sigma=st.floats(0.01, 100))
@examples(20)
def test_similarity_term_is_the_laplacian_form(seed, sigma):
    rng = np.random.default_rng(seed)
    X, f = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    graph = mutual_knn(X, 5)
    weight = edge_weights(graph, sigma)
    W = np.zeros((30, 30))
    W[graph.i, graph.j] = W[graph.j, graph.i] = np.exp(-graph.squared_distance / sigma)
    R = (np.diag(W.sum(axis=0)) - W) / 30
    np.testing.assert_allclose(laplacian_product(graph.i, graph.j, weight, f), R @ f, atol=1e-12)
    np.testing.assert_allclose(R @ np.ones(30), 0, atol=1e-12)


def test_large_data_search_agrees_with_brute_force(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 4))
    expected = mutual_knn(X, 5)
    monkeypatch.setattr(graph_module, "BRUTE_FORCE_ROWS", 10)
    found = mutual_knn(X, 5)
    pairs = {(int(i), int(j)) for i, j in zip(found.i, found.j, strict=True)}
    assert pairs == {(int(i), int(j)) for i, j in zip(expected.i, expected.j, strict=True)}


def test_graph_of_a_subset_is_the_graph_of_its_rows():
    X = np.random.default_rng(1).normal(size=(60, 3))
    rows = np.arange(0, 60, 2)
    from_distances = graph_from_distances(squared_distances(X), rows, 5)
    direct = mutual_knn(X[rows], 5)
    np.testing.assert_array_equal(from_distances.i, direct.i)
    np.testing.assert_array_equal(from_distances.squared_distance, direct.squared_distance)


def test_too_few_rows_for_the_graph_says_so():
    with pytest.raises(ValueError, match=r"n_neighbors=5 needs at least 6 training rows.*there are 5 rows"):
        mutual_knn(np.zeros((5, 2)), 5)


@given(seed=st.integers(0, 10_000), width=st.floats(0.1, 10), duplicate=st.booleans())
@examples(20)
def test_kernel_features_reproduce_the_kernel(seed, width, duplicate):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    if duplicate:
        X[20:] = X[:20]
    new = rng.normal(size=(7, 3))
    features = rbf_map(X, width)
    K = rbf_from_distances(squared_distances(X), width)
    assert np.trace(K - features.L @ features.L.T) <= RESIDUAL * 40 + 1e-12
    assert features.L.shape[1] <= (20 if duplicate else 40)
    cross = np.exp(-((new[:, None] - X[None]) ** 2).sum(axis=2) / (2 * width**2))
    phi = rbf_features(new, X[features.pivots], features.factor, width)
    np.testing.assert_allclose(phi @ features.L.T, cross, atol=1e-4)


def test_features_made_column_by_column_equal_the_dense_ones():
    X = np.random.default_rng(3).normal(size=(120, 2))
    dense = rbf_map(X, 1.5)
    L, pivots, residual = _pivoted_cholesky_rbf(X, 0.5 / 1.5**2, 120, RESIDUAL)
    K = rbf_from_distances(squared_distances(X), 1.5)
    np.testing.assert_allclose(L.T @ L, K, atol=1e-8)
    assert residual <= RESIDUAL
    assert abs(len(pivots) - len(dense.pivots)) <= 2
    capped, _, left = _pivoted_cholesky_rbf(X, 0.5 / 1.5**2, 5, RESIDUAL)
    assert capped.shape[0] == 5
    assert np.isclose(left, np.max(1 - (capped**2).sum(axis=0)), atol=1e-9)
