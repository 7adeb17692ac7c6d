"""Bags of boosted trees: the split, the leaves, held-out scores, model files, and where they are used."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.core.saved_state import StateError, check_state
from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble.boosting import bags
from pucli.solvers.ensemble.boosting.bags import MOST_TRIED, BagKind, Boosted, fit_bags
from pucli.solvers.ensemble.boosting.best_first import CATEGORY_RIDGE, feature_columns, grow_best_first
from pucli.solvers.ensemble.boosting.categories import MOST_LEVELS, find_categories
from pucli.solvers.ensemble.boosting.grow import MOST_ROWS, Growth, grow
from pucli.solvers.ensemble.members import MEDIUM, MEMBERS, SMALL, members_for
from pucli.solvers.ensemble.trees import join, make_bins
from pucli.solvers.folds import stratified_folds
from tests.solvers.ensemble.helpers import two_clouds

KIND = BagKind(leaves=6, bags=2, rounds=12)


def one_tree(
    bins: np.ndarray, gradient: np.ndarray, weight: np.ndarray, leaves: int, least: int, ridge: float, coded=None
):
    columns = feature_columns(bins, np.zeros(bins.shape[1], bool) if coded is None else coded)
    workspace = np.empty((leaves, int(columns.sizes.sum())), np.int64)
    derivatives, features = np.column_stack([gradient, weight]), np.arange(bins.shape[1])
    return grow_best_first(columns, derivatives, features, workspace, least, ridge)


@pytest.mark.slow
def test_splits_have_the_largest_gains_and_leaves_the_values_of_their_rows() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 2)).round(1), rng.random(300) < 0.1])
    gradient, weight, least, ridge = rng.normal(size=300) + (X[:, 0] > 0.5) + 2 * X[:, 2], rng.random(300) + 0.1, 9, 0.7
    bins = make_bins(X).of(X)
    tree, _, values, _ = one_tree(bins, gradient, weight, 7, least, ridge)
    part = [np.arange(300)]
    while len(part) < 7:
        found = []
        for k, rows in enumerate(part):
            whole = gradient[rows].sum() ** 2 / (weight[rows].sum() + ridge)
            for j in range(3):
                for b in range(int(bins[:, j].max())):
                    left = bins[rows, j] <= b
                    if min(left.sum(), (~left).sum()) >= least:
                        gain = sum(
                            gradient[r].sum() ** 2 / (weight[r].sum() + ridge) for r in (rows[left], rows[~left])
                        )
                        found.append((gain - whole, k, rows[left], rows[~left]))
        _, k, left, right = max(found, key=lambda split: split[0])
        part[k : k + 1] = [left, right]
    for rows in part:
        np.testing.assert_allclose(values[rows], gradient[rows].sum() / (weight[rows].sum() + ridge))
    np.testing.assert_array_equal(join([tree]).sum(bins), values)


@pytest.mark.slow
def test_trees_end_where_no_split_is_possible() -> None:
    bins = np.zeros((50, 2), np.uint8)
    tree, _, values, _ = one_tree(bins, np.ones(50), np.ones(50), 8, 5, 0.0)
    assert len(tree[0]) == 1
    np.testing.assert_allclose(values, 1.0)


def test_a_tree_does_not_depend_on_the_order_of_the_rows() -> None:
    rng = np.random.default_rng(2)
    bins, gradient, weight = rng.integers(0, 40, (500, 5)).astype(np.uint8), rng.normal(size=500), rng.random(500)
    order = rng.permutation(500)
    tree, _, values, gains = one_tree(bins, gradient, weight, 20, 5, 1.0)
    other, _, mixed, same = one_tree(bins[order], gradient[order], weight[order], 20, 5, 1.0)
    for k in range(3):
        np.testing.assert_array_equal(tree[k], other[k])
    np.testing.assert_allclose(values[order], mixed)
    np.testing.assert_allclose(gains, same)
    assert set(tree[0][tree[0] >= 0]) == set(np.flatnonzero(gains))


def test_more_rows_than_a_word_can_count_are_refused() -> None:
    bins = np.zeros((MOST_ROWS + 1, 1), np.uint8)
    ones = np.ones(len(bins))
    with pytest.raises(ValueError, match="at most 32767"):
        one_tree(bins, ones, ones, 2, 1, 1.0)
    with pytest.raises(ValueError, match="at most 32767"):
        grow(bins.T, np.arange(len(bins)), ones, ones, Growth(1, 1, 1.0, 1, False), np.uint64(1))


def test_few_rows_have_fewer_bins_and_cuts_between_the_bins_that_they_came_with() -> None:
    rng = np.random.default_rng(4)
    bins = np.column_stack([rng.permutation(250), rng.integers(0, 9, 250)]).astype(np.uint8)
    columns = feature_columns(bins, np.zeros(2, bool))
    assert columns.sizes.tolist() == [63, 9]
    tree, _, values, _ = one_tree(bins, np.where(bins[:, 0] < 101, 1.0, -1.0), np.ones(250), 2, 1, 0.0)
    assert tree[1][0] == 99  # four bins each: 100 lies with 101 to 103
    np.testing.assert_array_equal(join([tree]).sum(bins), values)


def test_of_many_features_few_are_tried_and_soon_those_that_matter() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 300))
    s = X[:, [7, 250]].sum(axis=1) + 0.3 * rng.normal(size=900) > 1.0
    model = Boosted(make_bins(X).of(X), s, np.zeros(300, bool), BagKind(), rng)
    tried = [set(tree[0][tree[0] >= 0]) for tree, _ in model.grow(60)]
    assert max(map(len, tried)) <= MOST_TRIED
    assert sum({7, 250} <= features for features in tried[30:]) > 15  # by chance alone one in 90


@pytest.mark.slow
def test_held_out_scores_do_not_depend_on_the_labels_of_their_rows() -> None:
    X, s, _ = two_clouds(120, labeled=40)
    bins, fold = make_bins(X).of(X), stratified_folds(s, 5, np.random.default_rng(0))
    _, before, _ = fit_bags(bins, s, fold[None], KIND, np.random.default_rng(1))
    rows = [np.flatnonzero((fold == 0) & (s == side))[0] for side in (True, False)]
    swapped = s.copy()
    swapped[rows] = ~s[rows]  # within fold 0: the other folds keep their rows and their order
    _, after, _ = fit_bags(bins, swapped, fold[None], KIND, np.random.default_rng(1))
    # the first bag leaves out fold 0 first, so the draws before it are the same
    np.testing.assert_array_equal(before[fold == 0], after[fold == 0])


@pytest.mark.slow
def test_labeled_and_hidden_positives_have_the_same_held_out_scores() -> None:
    differences = []
    for seed in range(6):
        X, s, truth = two_clouds(500, labeled=170, apart=1.5, seed=seed)
        folds = np.stack([stratified_folds(s, 5, np.random.default_rng(k)) for k in range(2)])
        _, held_out, _ = fit_bags(make_bins(X).of(X), s, folds, BagKind(rounds=20), np.random.default_rng(seed))
        differences.append((held_out[s].mean() - held_out[truth & ~s].mean()) / held_out.std())
    assert abs(np.mean(differences)) < 0.12  # the standard error is .04


def test_bags_learn_an_interaction_and_are_determined_by_the_seed() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    truth = (X[:, 0] > 0) == (X[:, 1] > 0)
    s = truth & (rng.random(1200) < 0.4)
    bins = make_bins(X).of(X)
    folds = np.stack([stratified_folds(s, 5, np.random.default_rng(k)) for k in range(2)])
    (model, held_out, _), (again, _, _) = (
        fit_bags(bins, s, folds, BagKind(rounds=30), np.random.default_rng(3)) for _ in "ab"
    )
    assert pu_auc(held_out[~s], truth[~s]) > 0.9
    np.testing.assert_array_equal(model.score(bins), again.score(bins))


def test_growing_in_stages_gives_the_same_trees() -> None:
    X, s, _ = two_clouds(200, labeled=60)
    whole, parts = (
        Boosted(make_bins(X).of(X), s, np.zeros(X.shape[1], bool), KIND, np.random.default_rng(0)) for _ in "ab"
    )
    whole.grow(7)
    first, second = parts.grow(4), parts.grow(3)
    for a, b in zip(whole.trees, [*first, *second], strict=True):
        for one, other in zip([*a[0], a[1]], [*b[0], b[1]], strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_bags_end_where_held_out_rows_are_ranked_best() -> None:
    rng = np.random.default_rng(0)
    s = rng.random(600) < 0.3
    X = np.column_stack([s, rng.normal(size=600)])
    kind = BagKind(bags=1, features=1.0, rounds=300)
    folds = stratified_folds(s, 5, rng)[None]
    _, _, rounds = fit_bags(make_bins(X).of(X), s, folds, kind, rng)
    assert rounds == kind.stage  # the first feature is the label: the order is complete from the first tree on
    _, _, rounds = fit_bags(make_bins(X).of(X), s, folds, BagKind(bags=1, features=1.0, rounds=20), rng)
    assert rounds == 15
    X = np.column_stack([rng.normal(size=(600, 6))])
    s = X.sum(axis=1) > 1.0
    _, _, rounds = fit_bags(make_bins(X).of(X), s, folds, kind, rng)
    assert kind.stage < rounds <= kind.rounds


def test_few_watched_rows_end_a_model_and_all_rows_have_held_out_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    X, s, _ = two_clouds(300, labeled=90)
    bins, folds = make_bins(X).of(X), stratified_folds(s, 5, np.random.default_rng(0))[None]
    monkeypatch.setattr(bags, "WATCHED_ROWS", 40)
    kind = BagKind(bags=2, rounds=40, stage=10)
    model, held_out, rounds = fit_bags(bins, s, folds, kind, np.random.default_rng(1))
    assert rounds in (10, 20, 30, 40) and len(model.forest.start) - 1 == 2 * 5 * rounds
    assert (held_out != 0.0).all() and pu_auc(held_out, s) > 0.6


def test_a_damaged_forest_is_refused_before_it_is_walked() -> None:
    X, s, _ = two_clouds(200, labeled=60)
    bins = make_bins(X).of(X)
    model, _, _ = fit_bags(bins, s, np.tile(np.arange(len(s)) % 5, (1, 1)), KIND, np.random.default_rng(0))
    check_state(model, "model", {"m": X.shape[1]})
    model.forest.child[0] = 0
    with pytest.raises(StateError, match="child"):
        check_state(model, "model", {"m": X.shape[1]})


def test_members_are_chosen_by_the_number_of_rows() -> None:
    names = {n: [member.name for member in members_for(MEMBERS, n, 9)] for n in (SMALL, SMALL + 1, MEDIUM, MEDIUM + 1)}
    assert "boosted-trees" in names[SMALL] and "boosted-large-trees" not in names[SMALL]
    assert names[SMALL + 1] == names[MEDIUM] != names[MEDIUM + 1]
    assert "boosted-large-trees" in names[MEDIUM] and "boosted-trees" not in names[MEDIUM]
    assert "extra-trees" in names[MEDIUM] and "extra-trees" not in names[MEDIUM + 1]
    late = [member for member in MEMBERS if member.above]
    assert members_for(late, 10, 9) == tuple(late)


def table_of_a_category(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows with a number, a category of eight levels one-hot and a flag, which are positive, and the levels."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 8, 1500)
    X = np.column_stack([rng.normal(size=1500), np.eye(8)[level], rng.random(1500) < 0.5])
    return X, np.isin(level, [1, 3, 6]) & (X[:, 0] > 0.0), level


def test_a_run_of_features_of_which_a_row_has_one_is_a_category() -> None:
    X, _, level = table_of_a_category(0)
    signs = np.where(np.arange(10) % 2, 1.0, -1.0)
    found = find_categories(X, signs)
    np.testing.assert_array_equal(found.category, [-1, *[0] * 8, -1])
    columns = found.of(make_bins(X * signs).of(X * signs))
    np.testing.assert_array_equal(columns[:, 2], level + 1)
    np.testing.assert_array_equal(found.coded, [False, False, True])
    assert find_categories(X[:, [0, 9]], signs[:2]) is None
    assert find_categories(X[:, 2:9], signs[2:9]) is None  # other features may lack a level by chance, too
    order = np.array([9, 3, 1, 2, 0, 4, 5, 6, 7, 8])
    turned = find_categories(X, signs, order)
    np.testing.assert_array_equal(turned.category, found.category[order])
    np.testing.assert_array_equal(turned.present, found.present[order])
    constant = np.insert(X, 4, 0.0, axis=1)
    np.testing.assert_array_equal(find_categories(constant, np.ones(11)).category, np.insert(found.category, 4, -1))
    many = np.eye(MOST_LEVELS + 9)[np.arange(900) % (MOST_LEVELS + 9)]
    np.testing.assert_array_equal(np.bincount(find_categories(many, np.ones(many.shape[1])).category), [MOST_LEVELS, 9])


def test_a_split_on_a_category_is_the_best_of_all_divisions_of_its_levels() -> None:
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 7, (400, 1)).astype(np.uint8)
    gradient, weight = rng.normal(size=400) + np.sin(9.0 * bins[:, 0]), np.full(400, 1.0)
    tree, levels, values, _ = one_tree(bins, gradient, weight, 2, 1, 0.5, np.array([True]))
    best, chosen = -1.0, set()
    for bits in range(1, 2**7 - 1):
        left = (bits >> bins[:, 0].astype(int)) & 1 == 1
        gain = sum(gradient[r].sum() ** 2 / (weight[r].sum() + 0.5 + CATEGORY_RIDGE) for r in (left, ~left))
        if gain > best * (1.0 + 1e-9):
            best, chosen = gain, {bits, 2**7 - 1 - bits}
    assert levels[0] in chosen and not levels[1:].any()
    left = (levels[0] >> bins[:, 0].astype(int)) & 1 == 1
    np.testing.assert_allclose(values[left], gradient[left].sum() / (weight[left].sum() + 0.5))
    forest = join([tree])
    np.testing.assert_array_equal(forest.sum(bins, levels=levels), values)


def test_bags_learn_a_rule_of_a_category_and_are_refused_when_damaged() -> None:
    X, truth, _ = table_of_a_category(1)
    s = truth & (np.random.default_rng(2).random(1500) < 0.4)
    bins, categories = make_bins(X).of(X), find_categories(X, np.ones(10))
    folds = np.stack([stratified_folds(s, 5, np.random.default_rng(k)) for k in range(2)])
    model, held_out, _ = fit_bags(bins, s, folds, BagKind(rounds=45), np.random.default_rng(3), categories)
    assert pu_auc(held_out[~s], truth[~s]) > 0.98
    assert (model.levels > 0).any()
    check_state(model, "model", {"m": 10})
    divided = model.forest.feature.copy()
    model.forest.feature[model.levels > 0] = 0
    with pytest.raises(StateError, match="no category"):
        check_state(model, "model", {"m": 10})
    model.forest.feature[:] = divided
    model.levels = model.levels[:-1]
    with pytest.raises(StateError, match="levels"):
        check_state(model, "model", {"m": 10})
    model.categories.category[1:9] = 2
    with pytest.raises(StateError, match="category"):
        check_state(model, "model", {"m": 10})


def test_the_number_of_rounds_is_that_of_the_least_loss_on_rows_left_out() -> None:
    X, s, _ = two_clouds(400, labeled=120, apart=0.3)
    folds = np.stack([stratified_folds(s, 5, np.random.default_rng(k)) for k in range(2)])
    kind = BagKind(bags=2, stage=5, rounds=60)
    model, _, rounds = fit_bags(make_bins(X).of(X), s, folds, kind, np.random.default_rng(0))
    assert rounds < 60 and len(model.forest.start) - 1 == 2 * 5 * rounds
