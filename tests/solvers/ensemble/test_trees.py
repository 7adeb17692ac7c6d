"""Trees: the best split, forests, boosting, held-out scores."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble.boosting.grow import SORTED_ROWS, Growth, grow
from pucli.solvers.ensemble.forests import BoostingKind, ForestKind, fit_boosting, fit_forest
from pucli.solvers.ensemble.trees import join, make_bins
from pucli.solvers.folds import stratified_folds
from tests.solvers.ensemble.helpers import two_clouds


@pytest.mark.parametrize("n", [SORTED_ROWS - 8, SORTED_ROWS + 60])
def test_the_first_split_has_the_largest_gain(n: int) -> None:
    rng = np.random.default_rng(n)
    X, y, w = rng.normal(size=(n, 3)).round(1), rng.choice([-1.0, 1.0], n), rng.random(n) + 0.1
    bins = make_bins(X).of(X)
    feature, cut, _, _ = grow(bins.T, np.arange(n), w * y, w, Growth(1, 4, 0.5, 3, False), np.uint64(1))

    def gain(j: int, b: int) -> float:
        left = bins[:, j] <= b
        if left.sum() < 4 or (~left).sum() < 4:
            return -1.0
        return sum((w * y)[part].sum() ** 2 / (w[part].sum() + 0.5) for part in (left, ~left))

    best = max(gain(j, b) for j in range(3) for b in range(int(bins[:, j].max())))
    assert gain(int(feature[0]), int(cut[0])) == pytest.approx(best)


def test_a_fully_grown_tree_fits_distinct_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), rng.choice([-1.0, 1.0], 100)
    bins = make_bins(X).of(X)
    tree = join([grow(bins.T, np.arange(100), y, np.ones(100), Growth(60, 1, 0.0, 2, False), np.uint64(3))])
    np.testing.assert_allclose(tree.sum(bins), y)


def test_random_trees_are_determined_by_the_seed() -> None:
    X, s, _ = two_clouds()
    bins, y = make_bins(X).of(X), np.where(s, 1.0, -1.0)
    trees = [
        join([grow(bins.T, np.arange(len(X)), y, np.ones(len(X)), Growth(60, 5, 0.0, 2, True), np.uint64(seed))]).sum(
            bins
        )
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(trees[0], trees[1])
    assert np.any(trees[0] != trees[2])


@pytest.mark.parametrize("kind", [ForestKind(trees=80), BoostingKind(rounds=30)])
def test_held_out_scores_do_not_depend_on_the_labels_of_their_rows(kind: ForestKind | BoostingKind) -> None:
    X, s, _ = two_clouds(120, labeled=40)
    bins = make_bins(X).of(X)
    fold = stratified_folds(s, 5, np.random.default_rng(0))
    fit = fit_forest if isinstance(kind, ForestKind) else fit_boosting
    _, before = fit(bins, s, fold[None], kind, np.random.default_rng(1))
    rows = [np.flatnonzero((fold == 0) & (s == side))[0] for side in (True, False)]
    swapped = s.copy()
    swapped[rows] = ~s[rows]  # within fold 0: the other folds keep their rows and their order
    _, after = fit(bins, swapped, fold[None], kind, np.random.default_rng(1))
    alone = fold == 0
    if isinstance(kind, BoostingKind):
        np.testing.assert_array_equal(before[alone], after[alone])
    else:
        np.testing.assert_allclose(before[alone], after[alone], atol=0.4)


def test_forests_and_boosting_rank_two_clouds() -> None:
    X, s, truth = two_clouds(400, labeled=100, apart=3.0)
    bins = make_bins(X).of(X)
    folds = np.stack([stratified_folds(s, 5, np.random.default_rng(k)) for k in range(2)])
    for fit, kind in (
        (fit_forest, ForestKind()),
        (fit_forest, ForestKind(random=False, bootstrap=True)),
        (fit_boosting, BoostingKind()),
    ):
        model, held_out = fit(bins, s, folds, kind, np.random.default_rng(0))
        assert pu_auc(held_out[~s], truth[~s]) > 0.93
        assert pu_auc(model.score(bins)[~s], truth[~s]) > 0.93


def test_bins_keep_the_order_of_values_and_separate_distinct_values() -> None:
    X = np.column_stack([np.repeat([3.0, 1.0, 2.0], 5), np.zeros(15)])
    bins = make_bins(X).of(X)
    assert list(np.unique(bins[:, 0])) == [0, 1, 2]
    assert np.array_equal(np.argsort(bins[:, 0], kind="stable"), np.argsort(X[:, 0], kind="stable"))
    assert not bins[:, 1].any()
