"""Classtering as an estimator: what it must find, its symmetries, its limits, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from pucli.estimators.semi_supervised.classtering import Classtering
from pucli.estimators.semi_supervised.constrained_kmeans import ConstrainedKMeans, pairwise_constraints
from pucli.solvers.classtering import updates as solver
from pucli.solvers.classtering.state import initial_hyper, rows
from tests.helpers import examples


def blobs(seed=0, n=120, centers=((0, 0), (6, 0), (0, 6)), spread=0.6):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % len(centers)
    return np.array(centers, dtype=float)[truth] + spread * rng.normal(size=(n, len(centers[0]))), truth


def hide(y, keep_per_class, seed=0):
    rng = np.random.default_rng(seed)
    hidden = np.full(len(y), -1)
    for label in np.unique(y):
        kept = rng.choice(np.flatnonzero(y == label), keep_per_class, replace=False)
        hidden[kept] = label
    return hidden


def quick(**params):
    return Classtering(**{"max_components": 6, "starts": (1,), "tol": 1e-4, "random_state": 0, **params})


@pytest.mark.parametrize("starts", [(1,), (6,)])
def test_the_bound_chooses_the_number_of_components(starts):
    X, truth = blobs()
    model = quick(starts=starts).fit(X)
    assert model.n_components_ == 3
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.n_births_ >= 2 if starts == (1,) else model.n_deaths_ >= 1
    np.testing.assert_array_equal(model.predict_cluster(X), model.labels_)


def test_one_gaussian_is_one_component():
    X = np.random.default_rng(1).normal(size=(150, 3)) @ np.diag([3.0, 1.0, 0.3])
    assert quick().fit(X).n_components_ == 1


@examples(10)
@given(st.integers(0, 10**6), st.integers(5, 40), st.integers(1, 3), st.booleans())
def test_the_bound_never_decreases(seed, n, d, thesis):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 4.0 * rng.integers(0, 2, size=(n, 1))
    y = rng.integers(-1, 2, n)
    form = "thesis" if thesis else "collapsed"
    model = quick(form=form, max_components=3, max_iter=30, tol=1e-3).fit(X, y)
    bound = model.lower_bound_
    assert np.diff(bound).min(initial=0.0) >= -1e-8 * np.abs(bound).max()
    assert n * model.residual_ == pytest.approx(bound[-1] - bound[-2], abs=1e-9)


def test_two_classes_of_several_clusters_from_few_labels():
    X, component = blobs(centers=((0, 0), (6, 6), (6, 0), (0, 6), (3, 3)), n=250)
    truth = np.array([0, 0, 1, 1, 1])[component]
    y = hide(truth, 12)
    model = quick(starts=(6,)).fit(X, y)
    assert np.mean(model.predict(X) == truth) > 0.98
    assert model.n_components_ == 5
    np.testing.assert_allclose(model.cluster_class_proba_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert normalized_mutual_info_score(truth, model.predict(X)) > 0.9


@pytest.mark.slow
def test_all_labels_given_are_the_supervised_posterior():
    """With all labels and separated classes q(s) is the class, and the rest is the model fitted class by class."""
    X, truth = blobs(n=90)
    model = Classtering(3, tol=1e-7, random_state=0).fit(X, truth)
    owner = model.labels_[[np.flatnonzero(truth == c)[0] for c in range(3)]]
    data = rows((X - X.mean(axis=0)) / model._scale, truth)
    held = np.eye(3)[truth]
    state = solver.start(data, initial_hyper(data, 3), held, 2)
    for _ in range(400):
        state = solver.sweep(data, state, held)
    means = state.q.mean[:, :, -1] * model._scale + X.mean(axis=0)
    np.testing.assert_allclose(model.means_[owner], means, atol=1e-3)
    np.testing.assert_allclose(model.cluster_class_proba_[owner], np.eye(3), atol=0.05)
    for c in range(3):
        np.testing.assert_allclose(model.means_[owner[c]], X[truth == c].mean(axis=0), atol=0.05)


def test_one_component_counts_the_labels():
    X, truth = blobs(n=60)
    y = np.where(np.arange(60) < 30, truth, -1)
    model = Classtering(1).fit(X, y)
    prior = 1.0 / 3.0  # of each class, before any label
    counts = np.bincount(y[y >= 0]) + prior
    np.testing.assert_allclose(model.cluster_class_proba_[0], counts / counts.sum())


@pytest.mark.slow
def test_names_of_classes_do_not_matter():
    X, truth = blobs()
    y = hide(truth, 3)
    renamed = np.array(["c", "a", "b", "-1"])[y]
    one, two = quick().fit(X, y), quick().fit(X, renamed)
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-9)
    np.testing.assert_array_equal(two.classes_, ["a", "b", "c"])
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X)[:, [2, 0, 1]], atol=1e-8)


@pytest.mark.slow
def test_order_of_rows_units_and_origin_do_not_matter():
    X, truth = blobs()
    y = hide(truth, 3)
    plain = quick().fit(X, y)
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = quick().fit(X[order], y[order])
    assert shuffled.objective_ == pytest.approx(plain.objective_, rel=1e-3)
    np.testing.assert_array_equal(shuffled.predict(X), plain.predict(X))
    moved = quick().fit(1000.0 * X + 7.0, y)
    assert moved.objective_ == pytest.approx(plain.objective_ - X.size * np.log(1000.0), rel=1e-6)
    np.testing.assert_allclose(moved.means_, 1000.0 * plain.means_ + 7.0, rtol=1e-4, atol=1.0)
    np.testing.assert_array_equal(moved.predict(1000.0 * X + 7.0), plain.predict(X))


def test_density_of_new_rows_integrates_to_at_most_one():
    """(2.5) bounds a normalized predictive density from below."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-3, 1, 40), rng.normal(2, 0.5, 60)])[:, None]
    grid = np.linspace(-40, 40, 40001)[:, None]
    mass = np.exp(quick().fit(X).score_samples(grid)).sum() * (grid[1, 0] - grid[0, 0])
    assert 0.7 < mass <= 1.0 + 1e-9


def test_irrelevant_factors_are_switched_off():
    rng = np.random.default_rng(0)
    X = np.outer(rng.normal(size=300), [3.0, 2.0, 1.0, 0.0]) + 0.3 * rng.normal(size=(300, 4))
    relevance = Classtering(1, n_factors=3, tol=1e-7, max_iter=3000).fit(X).relevance_[0]
    assert relevance[0] > 20.0 * relevance[1]
    assert (np.diff(relevance) <= 0.0).all()


def test_without_labels_every_class_is_unknown():
    X, truth = blobs()
    model = quick().fit(X, np.full(len(X), -1))
    assert (model.predict(X) == -1).all()
    assert adjusted_rand_score(truth, model.predict_cluster(X)) == 1.0


def test_a_class_that_is_never_labeled_is_a_component_of_its_own():
    X, truth = blobs()
    y = hide(truth, 5)
    y[truth == 2] = -1
    model = quick().fit(X, y)
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert adjusted_rand_score(truth, model.predict_cluster(X)) == 1.0


def test_components_without_labeled_rows_have_uncertain_classes():
    X, component = blobs(centers=((0, 0), (6, 0), (0, 6), (6, 6)))
    y = np.full(len(X), -1)
    y[[0, 4, 8, 1]] = [0, 0, 0, 1]
    sure = Classtering(4, random_state=0).fit(X, y).predict_proba(X).max(axis=1)
    assert sure[component < 2].min() > 0.9
    assert sure[component >= 2].max() < 0.8


def test_constant_features_and_coinciding_rows():
    X, truth = blobs()
    X = np.column_stack([X, np.full(len(X), 5.0)])
    model = quick().fit(np.vstack([X, X]))
    assert np.isfinite(model.objective_)
    assert adjusted_rand_score(np.tile(truth, 2), model.labels_) == 1.0
    same = quick().fit(np.ones((20, 2)))
    assert same.n_components_ == 1


def test_inputs_are_not_overwritten():
    X, truth = blobs()
    X.flags.writeable = False
    truth.flags.writeable = False
    quick(max_components=2).fit(X, truth).predict(X)


@pytest.mark.parametrize(
    ("params", "rows", "message"),
    [
        ({"n_factors": 2}, 2, "too few"),
        ({"n_factors": 0}, 20, "n_factors"),
        ({"n_components": 30}, 20, "n_components"),
        ({"form": "exact"}, 20, "form"),
        ({"tol": 0.0}, 20, "tol"),
    ],
)
def test_bad_parameters_are_named(params, rows, message):
    with pytest.raises(ValueError, match=message):
        Classtering(**params).fit(np.random.default_rng(0).normal(size=(rows, 3)))


def test_missing_values_are_an_error():
    X, _ = blobs()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        Classtering().fit(X)


def test_pairs_from_labels_are_right_and_balanced():
    y = np.array([0, 0, 0, 1, 1, -1, 2])
    must, cannot = pairwise_constraints(y, np.random.default_rng(0))
    assert len(must) == len(cannot) == 4
    assert (y[must[:, 0]] == y[must[:, 1]]).all()
    assert (y[cannot[:, 0]] != y[cannot[:, 1]]).all()
    assert (y[np.vstack([must, cannot])] >= 0).all()


@pytest.mark.slow
def test_constrained_k_means_follows_pairs_against_the_distances():
    """Four corners, two classes on the diagonals: distances alone split along a side."""
    X, corner = blobs(centers=((0, 0), (4, 4), (4, 0), (0, 4)), n=80)
    truth = np.array([0, 0, 1, 1])[corner]
    free = ConstrainedKMeans(2, random_state=0).fit(X)
    held = ConstrainedKMeans(2, weight=10.0, random_state=0).fit(X, truth)
    assert adjusted_rand_score(truth, held.labels_) == 1.0
    assert adjusted_rand_score(truth, free.labels_) < 0.5
    assert held.converged_


@pytest.mark.parametrize(
    "bad",
    [
        {"n_components": 2.5},
        {"n_components": "foo"},
        {"n_components": 0},
        {"max_components": -3},
        {"max_iter": 0},
        {"n_factors": 1.5},
        {"starts": 3},
        {"starts": ()},
        {"starts": (0,)},
        {"starts": "abc"},
        {"tol": "abc"},
        {"random_state": "abc"},
    ],
    ids=str,
)
def test_parameters_of_a_wrong_kind_are_named(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        Classtering(**bad).fit(np.random.default_rng(0).normal(size=(20, 3)))


@pytest.mark.parametrize("bad", [{"n_clusters": 1.5}, {"n_clusters": 0}, {"weight": "abc"}, {"max_iter": 0}], ids=str)
def test_constrained_k_means_names_a_bad_parameter(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        ConstrainedKMeans(**bad).fit(np.eye(4))


def test_principal_axes_are_those_of_the_weighted_covariance():
    rng = np.random.default_rng(0)
    for n, d in ((40, 5), (4, 7)):
        X, weight = rng.normal(size=(n, d)) * np.arange(1, d + 1), rng.uniform(0.1, 2.0, size=n)
        center = np.average(X, axis=0, weights=weight)
        values, vectors = np.linalg.eigh(np.cov(X.T, aweights=weight, ddof=0))
        axes, spread = solver.principal_axes(X, weight, center, 2)
        np.testing.assert_allclose(spread**2, values[::-1][:2], rtol=1e-10)
        np.testing.assert_allclose(np.abs(axes.T @ vectors[:, ::-1][:, :2]), np.eye(2), atol=1e-7)


@pytest.mark.parametrize("shape", [(1, 3), (4, 1)])
def test_one_component_or_one_class_does_not_determine_the_spread_between_them(shape):
    X, truth = blobs(n=30)
    data = rows(X, np.where(np.arange(30) < 15, truth, -1))
    hyper = initial_hyper(data, shape[1])
    q = solver.Globals(np.ones(shape[0]), np.full(shape, 9.0), *([np.empty(0)] * 4))
    state = solver.State(hyper, q, None)
    assert solver.update_class_prior(state) is state


@given(st.integers(1, 9), st.integers(1, 40), st.integers(1, 12), st.integers(0, 1000))
@examples(40)
def test_the_sum_over_factors_is_that_of_numpy_to_the_last_bit(k, n, S, seed):
    """Committed results have been made with NumPy's sum, so that another order would need another version."""
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=(n, S, k)) * 10.0 ** rng.integers(-6, 7, size=(n, S, k))
    before = parts.copy()
    assert (solver.sum_of_factors(parts) == parts.sum(axis=2)).all()
    assert (parts == before).all()
