import sys
import types

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from pucli.solvers.kernels import neighbors
from pucli.solvers.kernels.graph import graph_of_part, mutual_knn


def test_recall_is_that_of_the_true_neighbors():
    X = np.random.default_rng(0).normal(size=(300, 5))
    true = NearestNeighbors(n_neighbors=4).fit(X).kneighbors(return_distance=False)
    assert neighbors.measured_recall(X, true) == 1.0
    assert neighbors.measured_recall(X + 1e6, true) == 1.0
    wrong = true.copy()
    wrong[:, 3] = (np.arange(300) + 150) % 300
    assert neighbors.measured_recall(X, wrong) == pytest.approx(0.75, abs=0.01)


def test_ties_do_not_lower_the_recall():
    X = np.repeat(np.arange(40.0), 4)[:, None] * np.ones(2)
    rows = (np.arange(160) // 4 * 4)[:, None] + np.array([[0, 1, 2]])
    own = rows == np.arange(160)[:, None]
    rows[own] = (np.arange(160) // 4 * 4 + 3)[own.any(axis=1)]
    assert neighbors.measured_recall(X, rows) == 1.0


def test_a_row_is_not_among_its_neighbors_whatever_the_blocks(monkeypatch):
    rng = np.random.default_rng(3)
    found = np.array([rng.choice(50, 6, replace=False) for _ in range(50)], dtype=np.int32)  # some with the row itself
    expected = [[b for b in near if b != a][:4] for a, near in enumerate(found.tolist())]
    monkeypatch.setattr(neighbors, "_BLOCK", 7)
    np.testing.assert_array_equal(neighbors._others(found, 4), expected)


@pytest.mark.slow
@pytest.mark.nightly  # pynndescent compiles for a minute
def test_a_descent_finds_nearly_all_neighbors_and_the_same_objective(monkeypatch):
    pytest.importorskip("pynndescent", reason="the extra [scale] is not installed")
    from pucli.estimators import GLLC

    rng = np.random.default_rng(1)
    X = rng.normal(size=(6000, 8))
    y = (X[:, 0] + X[:, 1] > 1.0) & (rng.random(6000) < 0.5)
    exact, model = mutual_knn(X), GLLC(sigma=5.0).fit(X, y)
    monkeypatch.setattr(neighbors, "EXACT_ROWS", 5500)
    found = mutual_knn(X)
    assert found.recall >= 0.95
    pairs, true = (
        {*zip(found.i.tolist(), found.j.tolist(), strict=True)},
        {*zip(exact.i.tolist(), exact.j.tolist(), strict=True)},
    )
    assert len(pairs & true) >= 0.95 * len(true)
    monkeypatch.setattr("pucli.estimators.global_local.glpual.mutual_knn", lambda X, k: found)  # one descent is enough
    near = GLLC(sigma=5.0).fit(X, y)
    assert near.graph_recall_ == found.recall and model.graph_recall_ == 1.0
    assert near.objective_ == pytest.approx(model.objective_, rel=1e-3)


def test_without_the_extra_the_search_is_exact_with_a_warning(monkeypatch):
    monkeypatch.setattr(neighbors, "EXACT_ROWS", 100)
    monkeypatch.setattr(neighbors.importlib.util, "find_spec", lambda name: None)
    X = np.random.default_rng(2).normal(size=(200, 8))
    with pytest.warns(UserWarning, match=r"pucli\[scale\]"):
        found = neighbors.nearest(X, 3)
    assert found.recall == 1.0 and neighbors.measured_recall(X, found.rows) == 1.0


@pytest.mark.slow
def test_the_graph_of_a_part_is_that_of_its_rows():
    X = np.random.default_rng(3).normal(size=(200, 3))
    part = np.flatnonzero(np.random.default_rng(4).random(200) < 0.75)
    found = graph_of_part(X, neighbors.nearest(X, 40).rows, part, 5)
    true = mutual_knn(X[part], 5)
    np.testing.assert_array_equal(found.i, true.i)
    np.testing.assert_array_equal(found.j, true.j)
    np.testing.assert_allclose(found.squared_distance, true.squared_distance)


def test_neighbors_are_kept_for_the_next_fit_to_the_same_rows(monkeypatch, tmp_path):
    """Stands in for the descent by the exact search: what is tested is what is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / name))
    searched = []

    class Descent:
        def __init__(self, X, n_neighbors, delta, random_state):
            searched.append(n_neighbors)
            found = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors(X, return_distance=False)
            self.neighbor_graph = found, None

    monkeypatch.setitem(sys.modules, "pynndescent", types.SimpleNamespace(NNDescent=Descent))
    monkeypatch.setattr(neighbors.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(neighbors, "EXACT_ROWS", 100)
    X = np.random.default_rng(5).normal(size=(200, 8))
    true = NearestNeighbors(n_neighbors=15).fit(X).kneighbors(return_distance=False)
    for k in (5, 15):
        found = neighbors.nearest(X, k)
        assert found.recall == 1.0
        np.testing.assert_array_equal(found.rows, true[:, :k])
    assert searched == [24]
    neighbors.nearest(X + 1e-3, 5)
    assert len(searched) == 2
    for k in range(5):
        neighbors.nearest(X + k, 5)
    assert len(list((tmp_path / "pucli" / "neighbors").iterdir())) == neighbors.KEPT_FILES
    (tmp_path / "pucli" / "neighbors" / neighbors._file_of(X).name).write_bytes(b"broken")
    assert neighbors.nearest(X, 5).recall == 1.0
