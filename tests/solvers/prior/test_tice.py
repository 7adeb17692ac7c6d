"""TIcE against its definition: pieces, folds, bounds, and the order in which the tree is grown."""

import numpy as np
import pytest

from pucli.solvers.prior import tice as module
from pucli.solvers.prior.tice import _best_feature, _tree_bound, lower_bound, tice, unlabeled_prior


def test_with_one_feature_it_is_the_best_bound_of_the_four_pieces():
    """Each fold grows the only split, the other rows bound the label frequency, and the second run has the first c."""
    rng = np.random.default_rng(0)
    x = rng.choice([2.0, 3.0, 3.9, 4.0, 5.0, 6.0], size=600)
    labeled = rng.random(600) < np.where(x >= 5.0, 0.9, 0.1)
    fold = np.random.default_rng(7).permutation(600) % 5
    delta, c = 1.0 / (1.0 + 0.004 * 480), 0.5
    for _ in range(2):
        found = []
        for k in range(5):
            parts = [(fold != k) & (low <= x) & (x < low + 1.0) for low in (2.0, 3.0, 4.0)]
            parts.append((fold != k) & (x >= 5.0))
            errors = [np.sqrt(c * (1.0 - c) * (1.0 - delta) / (delta * part.sum())) for part in parts]
            found.append(max(labeled[part].mean() - error for part, error in zip(parts, errors, strict=True)))
        c = np.mean(found)
    assert tice(x[:, None], labeled, np.random.default_rng(7)) == pytest.approx(c, rel=1e-12)


def test_without_a_better_part_it_is_the_share_of_labeled_rows():
    labeled = np.arange(500) % 5 == 0
    found = tice(np.arange(500.0)[:, None], labeled, np.random.default_rng(0))
    fold = np.random.default_rng(0).permutation(500) % 5
    assert found == pytest.approx(np.mean([labeled[fold != k].mean() for k in range(5)]))


def test_the_tree_grows_on_its_own_rows():
    """The rows that grow it split by the second feature, which says nothing about those of the bound."""
    grow = np.arange(240) < 40
    labeled = np.arange(240) % 2 == 0
    other = np.arange(240) // 2 % 2
    pieces = np.column_stack([np.where(grow, other, labeled), np.where(grow, labeled, other)])
    assert _tree_bound(pieces, labeled, grow, 0.5) == 0.5
    assert _tree_bound(np.column_stack([other, labeled]), labeled, grow, 0.5) > 0.8


def test_the_part_with_the_best_bound_is_split_first(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_TREE", 2)
    # (first piece, second piece, rows, labeled): the first feature splits 30 % from 60 %, then the second 0 from 100 %
    kinds = [(0, 0, 50, 30), (0, 1, 50, 0), (3, 1, 60, 60), (3, 0, 40, 0)]
    pieces = np.concatenate([np.tile((a, b), (n, 1)) for a, b, n, _ in kinds])
    labeled = np.concatenate([np.arange(n) < count for _, _, n, count in kinds])
    grow = np.repeat([True, False], 200)
    assert _tree_bound(np.tile(pieces, (2, 1)), np.tile(labeled, 2), grow, 0.5) > 0.9


def test_small_pieces_do_not_choose_the_feature_and_constant_ones_cannot():
    pieces = np.zeros((30, 3), dtype=int)
    pieces[0, 0], pieces[:15, 1] = 3, 2
    labeled = np.arange(30) < 10
    assert _best_feature(pieces, labeled, np.arange(30), np.arange(3)) == 1
    assert _best_feature(pieces, labeled, np.arange(30), np.array([2])) is None


def test_of_many_features_some_are_drawn(monkeypatch):
    monkeypatch.setattr(module, "MOST_FEATURES", 1)
    labeled = np.arange(400) < 200
    X = np.column_stack([np.zeros(400), labeled])
    found = [tice(X, labeled, np.random.default_rng(seed)) for seed in range(8)]
    assert min(found) == pytest.approx(0.5, abs=0.05) and max(found) > 0.8


def test_the_bound_is_chebyshevs_and_the_prior_follows_from_the_label_frequency():
    assert lower_bound(90, 45, 0.2, 0.1) == pytest.approx(0.5 - np.sqrt(0.2 * 0.8 * 0.9 / (0.1 * 90)))
    assert unlabeled_prior(0.25, 100, 600) == 0.5
    assert unlabeled_prior(0.0, 100, 600) == 1.0
