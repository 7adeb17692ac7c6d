"""The Laplacian SVM against Clarabel, its certificate, and what the graph is for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from pucli.core.lru_cache import KEPT
from pucli.estimators.semi_supervised.laplacian_svm import LaplacianSVM
from pucli.solvers.svm.laplacian import best_offset, graph_kernel, solve_laplacian_svms
from tests.helpers import examples
from tests.oracles import clarabel


def graph_problem(seed, n=14):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    W = rng.uniform(size=(n, n)) < 0.3
    W = np.triu(W, 1).astype(float)
    W += W.T
    y = np.zeros(n, dtype=int)
    y[:6] = [1, -1, 1, -1, rng.choice([-1, 1]), rng.choice([-1, 1])]
    return K, np.diag(W.sum(axis=1)) - W, y


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_clarabel(seed):
    cp = pytest.importorskip("cvxpy", reason="cvxpy is not installed")
    K, L, y = graph_problem(seed)
    n, gamma_a, gamma_i = len(y), 0.02, 3.0
    root = np.linalg.cholesky(K + 1e-12 * np.eye(n))
    beta, b = cp.Variable(n), cp.Variable()  # f = root beta, |f|_K = |beta|
    values, vectors = np.linalg.eigh(L)
    edges = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    f = root @ beta
    labeled = y != 0
    loss = cp.sum_squares(cp.pos(1 - cp.multiply(y[labeled], f[labeled] + b))) / labeled.sum()
    objective = loss + gamma_a * cp.sum_squares(beta) + gamma_i / n**2 * cp.sum_squares(edges @ f)
    best = clarabel(objective, accuracy=None)
    found = solve_laplacian_svms(graph_kernel(K, L, gamma_i / gamma_a), [y], gamma_a, 1e-12, 100)[0]
    assert found.objective == pytest.approx(best, rel=1e-6)
    assert found.converged


@pytest.mark.parametrize("max_iter", [0, 1, 2])
def test_the_gap_bounds_the_distance_to_the_minimum(max_iter):
    K, L, y = graph_problem(9)
    best = solve_laplacian_svms(graph_kernel(K, L, 100.0), [y], 0.01, 1e-13, 200)[0].objective
    early = solve_laplacian_svms(graph_kernel(K, L, 100.0), [y], 0.01, 1e-13, max_iter)[0]
    assert early.objective - best <= early.gap * (1 + 1e-9) + 1e-12


@examples(30)
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_offset_is_the_minimum(seed, n):
    rng = np.random.default_rng(seed)
    y, g = rng.choice([-1, 1], n), rng.normal(size=n)

    def loss(b):
        return np.sum(np.maximum(1 - y * (g + b), 0) ** 2)

    found = optimize.minimize_scalar(loss, bounds=(-20, 20), method="bounded", options={"xatol": 1e-10}).fun
    assert loss(best_offset(y, g)) <= found + 1e-9


def test_the_machines_of_several_classes_are_those_of_each_alone():
    K, L, y = graph_problem(3)
    graph = graph_kernel(K, L, 10.0)
    together = solve_laplacian_svms(graph, [y, -y], 0.1, 1e-12, 100)
    for signs, one in zip([y, -y], together, strict=True):
        alone = solve_laplacian_svms(graph, [signs], 0.1, 1e-12, 100)[0]
        assert (one.coef == alone.coef).all()
        assert one.offset == alone.offset
    assert together[0].offset == pytest.approx(-together[1].offset, abs=1e-9)


def test_what_is_kept_of_the_rows_changes_no_fit():
    """Fits in any order, with other rows, weights and labels in between, are those of a fresh start."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.where(np.arange(40) < 10, np.arange(40) % 2, -1)
    moved = np.where(np.arange(40) % 4 == 0, (X[:, 0] > 0).astype(int), -1)
    wanted = [
        (X, y, {}), (X, moved, {}), (X, y, {"gamma_a": 0.05, "gamma_i": 5.0}), (X, y, {"width": 0.3}),
        (X + 1.0, y, {}), (X[:30], y[:30], {}), (X, y, {"n_neighbors": 3}), (X, y, {"kernel": "linear"}),
    ]  # fmt: skip

    def fits(order, forget):
        found = {}
        for i in order:
            if forget:
                KEPT.clear()
            rows, labels, params = wanted[i]
            found[i] = LaplacianSVM(**params).fit(rows, labels).dual_coef_
        return found

    fresh, kept = fits(range(8), True), fits([0, 1, 2, 0, 3, 4, 5, 6, 7, 3, 0, 2, 1], False)
    assert all((fresh[i] == kept[i]).all() for i in fresh)


def test_two_moons_follow_the_graph():
    from sklearn.datasets import make_moons

    X, truth = make_moons(200, noise=0.05, random_state=0)
    y = np.full(200, -1)
    y[[np.flatnonzero(truth == c)[0] for c in (0, 1)]] = [0, 1]
    smooth = LaplacianSVM(gamma_a=1e-4, gamma_i=100.0, width=0.3).fit(X, y)
    plain = LaplacianSVM(gamma_a=1e-4, gamma_i=0.0, width=0.3).fit(X, y)
    assert np.mean(smooth.predict(X) == truth) > 0.98 > np.mean(plain.predict(X) == truth)


def test_three_classes_and_names_of_labels():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 20, axis=0) + rng.normal(size=(60, 2))
    names = np.repeat(["a", "b", "c"], 20)
    y = np.where(np.arange(60) % 20 < 2, names, "-1")
    model = LaplacianSVM(width=2.0).fit(X, y)
    assert model.decision_function(X).shape == (60, 3)
    assert np.mean(model.predict(X) == names) > 0.95


@pytest.mark.parametrize("bad", [{"gamma_a": 0.0}, {"gamma_i": -1.0}, {"kernel": "cubic"}, {"width": 0.0}])
def test_bad_parameters_are_named(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        LaplacianSVM(**bad).fit(np.eye(4), [0, 1, 0, -1])


@pytest.mark.parametrize(
    "bad",
    [{"max_iter": -1}, {"gamma_a": "abc"}, {"gamma_i": None}, {"n_neighbors": 2.5}, {"tol": "abc"}, {"width": np.inf}],
    ids=str,
)
def test_parameters_of_a_wrong_kind_are_named(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        LaplacianSVM(**bad).fit(np.eye(4), [0, 1, 0, -1])


@pytest.mark.parametrize(
    ("scale", "params"), [(1.0, {"gamma_a": 1e-310, "gamma_i": 0.0}), (1e154, {"kernel": "linear"})], ids=str
)
def test_rows_and_weights_beyond_numbers_are_refused(scale, params):
    X, y = scale * np.random.default_rng(0).normal(size=(20, 2)), np.where(np.arange(20) < 6, np.arange(20) % 2, -1)
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match=r"square overflows|overflows with these weights; scale the rows"),
    ):
        LaplacianSVM(**params).fit(X, y)


def test_it_counts_all_steps():
    K, L, _ = graph_problem(3, n=60)
    y = np.where(np.arange(60) < 40, np.random.default_rng(3).choice([-1, 1], 60), 0)
    graph = graph_kernel(K, L, 1.0)
    steps = [solve_laplacian_svms(graph, [y], 0.001, 1e-300, most)[0].n_iter for most in (1, 2, 30)]
    assert steps == [1, 2, 4]
