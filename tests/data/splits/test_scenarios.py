"""Positive-unlabeled splits: counts, disjointness, independence of the repeats, and files of splits."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pucli.core.errors import UsageError
from pucli.data import (
    SCENARIOS,
    case_control,
    load_splits,
    make_split,
    repeated_splits,
    save_splits,
    single_training_set,
)
from pucli.data.splits import scenarios
from pucli.data.splits.held_out import hidden_classes
from pucli.data.splits.labeling import SLOPE, chances, labeling_tilt
from tests.helpers import examples

SIZES = st.integers(60, 300)
SHARES = st.floats(0.2, 0.9)


def labels(n_positive: int, n_negative: int) -> np.ndarray:
    return np.random.default_rng(0).permutation(np.repeat([1, -1], [n_positive, n_negative]))


def check_partition(split, y):
    """Every row is in exactly one part, and only positives are labeled."""
    assert np.array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(len(y)))
    assert split.s.dtype == np.int8
    assert set(np.unique(split.s)) == {0, 1}
    assert (y[split.train[split.s == 1]] == 1).all()


@examples(60)
@given(SIZES, SIZES, SHARES, SHARES, st.integers(0, 2**32))
@pytest.mark.slow
def test_case_control_counts(n_positive, n_negative, frequency, share, seed):
    y = labels(n_positive, n_negative)
    split = case_control(y, frequency, unlabeled_train=share, rng=np.random.default_rng(seed))
    check_partition(split, y)
    n_labeled = int(split.s.sum())
    n_unlabeled = n_positive + n_negative - n_labeled
    gamma = share * frequency / (1 - (1 - share) * frequency)
    assert abs(n_labeled - gamma * n_positive) <= 0.5 + 1e-6
    assert abs(int((split.s == 0).sum()) - share * n_unlabeled) <= 0.5 + 1e-6
    # the definition: of the positives of the training set, unlabeled ones in expectation, the share `frequency`
    assert n_labeled / (n_labeled + share * (n_positive - n_labeled)) == pytest.approx(
        frequency, abs=1.0 / (share * n_positive)
    )


def test_a_half_that_rounding_made_smaller_is_rounded_up():
    assert 0.29 * 50 < 14.5  # as a float
    y, held = labels(50, 50), np.zeros(100, dtype=bool)
    held[np.flatnonzero(y == -1)[:10]] = True
    for split in (case_control, single_training_set):
        assert split(y, 0.29, rng=np.random.default_rng(0), held=held).s.sum() == 15


@pytest.mark.parametrize(("frequency", "gamma"), [(0.5, 7 / 17), (0.25, 7 / 37)])
def test_case_control_labels_the_share_of_the_thesis(frequency, gamma):
    split = case_control(labels(17 * 37, 900), frequency, rng=np.random.default_rng(1))
    assert split.s.sum() == round(gamma * 17 * 37)
    assert len(split.test) == round(0.3 * (17 * 37 + 900 - split.s.sum()))


@examples(60)
@given(SIZES, SIZES, SHARES, SHARES, st.integers(0, 2**32))
def test_single_training_set_counts(n_positive, n_negative, frequency, share, seed):
    y = labels(n_positive, n_negative)
    try:
        split = single_training_set(y, frequency, train=share, rng=np.random.default_rng(seed))
    except UsageError as error:  # a small training part may hold no positive to label
        assert "no labeled row" in str(error)
        return
    check_partition(split, y)
    assert abs(len(split.train) - share * len(y)) <= 0.5 + 1e-6
    assert abs(split.s.sum() - frequency * (y[split.train] == 1).sum()) <= 0.5 + 1e-6


@examples(60)
@given(SIZES, SIZES, SHARES, SHARES, st.integers(0, 2**32))
def test_labels_before_the_training_rows_are_drawn(n_positive, n_negative, frequency, share, seed):
    y = labels(n_positive, n_negative)
    rng = np.random.default_rng(seed)
    split = single_training_set(y, frequency, train=share, labeled="all", rng=rng)
    check_partition(split, y)
    n_labeled, n_train = round(frequency * n_positive), len(split.train)
    assert abs(n_train - share * len(y)) <= 0.5 + 1e-6
    # of as many labeled rows as the frequency says, a random part of that size is in the training set
    spread = np.sqrt(n_labeled * share * (1 - share))
    assert abs(int(split.s.sum()) - n_labeled * share) <= 6 * spread + 1
    # training and test rows alike have the share of positives of all rows
    for rows in (split.train, split.test):
        error = np.sqrt(n_positive * n_negative / len(y) ** 2 / len(rows))
        assert abs(np.mean(y[rows] == 1) - n_positive / len(y)) <= 6 * error


def test_labels_of_all_positives_vary_in_number_and_keep_the_share_of_the_test_rows():
    y, frequency = labels(300, 700), 0.25
    made = repeated_splits(
        "single-training-set", y, frequency, repeats=400, seed=1, name="toy", labeled="all", train=0.7
    )
    counts = np.array([split.s.sum() for split in made])
    assert counts.mean() == pytest.approx(0.7 * 75, abs=5 * counts.std() / 20) and counts.std() > 1
    shares = np.array([np.mean(y[split.test] == 1) for split in made])
    assert shares.mean() == pytest.approx(0.3, abs=5 * shares.std() / 20)
    # the stated split of the thesis takes test rows from the unlabeled ones, which have fewer positives
    stated = repeated_splits("case-control", y, frequency, repeats=20, seed=1, name="toy")
    assert np.mean([np.mean(y[split.test] == 1) for split in stated]) < 0.27
    with pytest.raises(UsageError, match="did you mean 'all'"):
        single_training_set(y, frequency, labeled="al", rng=np.random.default_rng(0))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_labeling_is_at_random_among_positives(scenario):
    """Each positive is labeled equally often: five standard errors over 2000 splits."""
    y = labels(20, 30)
    counts, trained = np.zeros(50), np.zeros(50)
    rng = np.random.default_rng(7)
    for _ in range(2000):
        split = make_split(scenario, y, 0.5, rng=rng)
        counts[split.train[split.s == 1]] += 1
        trained[split.train] += 1
    for seen in (counts[y == 1], trained[y == -1]):
        mean = seen.mean()
        assert np.abs(seen - mean).max() < 5 * np.sqrt(mean * (1 - mean / 2000))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_training_order_is_independent_of_the_label(scenario):
    split = make_split(scenario, labels(300, 300), 0.5, rng=np.random.default_rng(3))
    place = np.arange(len(split.s))
    gap = place[split.s == 1].mean() - place[split.s == 0].mean()
    n = len(split.s)
    labeled = split.s.sum()
    assert abs(gap) < 5 * n / np.sqrt(12) * np.sqrt(1 / labeled + 1 / (n - labeled))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_repeats_are_independent_of_their_number(scenario):
    y = labels(40, 60)
    few = repeated_splits(scenario, y, 0.5, repeats=2, seed=5, name="toy")
    many = repeated_splits(scenario, y, 0.5, repeats=6, seed=5, name="toy")
    for one, other in zip(few, many, strict=False):
        assert np.array_equal(one.train, other.train)
        assert np.array_equal(one.s, other.s)
        assert np.array_equal(one.test, other.test)
    assert len({tuple(np.sort(split.test)) for split in many}) == 6
    for changed in ({"seed": 6, "name": "toy"}, {"seed": 5, "name": "other"}):
        assert not np.array_equal(repeated_splits(scenario, y, 0.5, repeats=1, **changed)[0].train, many[0].train)


@pytest.mark.parametrize("values", [(0, 1), (False, True), ("negative", "positive"), (-1.0, 1.0)])
def test_the_greater_label_is_positive(values):
    y = labels(30, 50)
    other = np.where(y == 1, values[1], values[0])
    for scenario in SCENARIOS:
        first, second = (make_split(scenario, kind, 0.5, rng=np.random.default_rng(2)) for kind in (y, other))
        assert np.array_equal(first.train, second.train)
        assert np.array_equal(first.s, second.s)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(
    ("y", "frequency", "message"),
    [
        (labels(20, 20), 0.001, "no labeled row: label frequency 0.001 of"),
        (labels(20, 20), 0.0, "label_frequency must be above 0"),
        (labels(20, 20), -0.5, "label_frequency must be above 0"),
        (labels(20, 20), 1.5, "label_frequency must be above 0"),
        (labels(20, 20), float("nan"), "label_frequency must be above 0"),
        (np.ones(20), 0.5, "needs two classes, found: 1.0"),
        (np.arange(20), 0.5, r"needs two classes, found: 0, 1, 2, 3, 4, \.\.\."),
        (np.array([]), 0.5, "needs two classes, found: none"),
        (np.array([1, -1]), 0.9, "no (row in the test set|unlabeled row|labeled row)"),
    ],
)
def test_errors_for_data_that_cannot_be_split(scenario, y, frequency, message):
    with pytest.raises(UsageError, match=message):
        make_split(scenario, y, frequency, rng=np.random.default_rng(0))


def test_unknown_scenario_and_number_of_repeats():
    with pytest.raises(UsageError, match="did you mean 'case-control'"):
        make_split("case-contrl", labels(9, 9), 0.5, rng=np.random.default_rng(0))
    with pytest.raises(UsageError, match="repeats must be at least 1"):
        repeated_splits("case-control", labels(9, 9), 0.5, repeats=0, seed=1)


def saved(tmp_path):
    y = labels(30, 50)
    splits = repeated_splits("case-control", y, 0.5, repeats=3, seed=1, name="toy")
    path = tmp_path / "folder" / "splits.json"
    save_splits(path, splits, dataset="toy", content_sha256="ab" * 32, rows=80, scenario="case-control", seed=1)
    return path, splits


def test_splits_come_back_from_their_file(tmp_path):
    path, splits = saved(tmp_path)
    back = load_splits(path, content_sha256="ab" * 32, rows=80)
    assert (back.dataset, back.rows, back.settings) == ("toy", 80, {"scenario": "case-control", "seed": 1})
    assert len(back.splits) == 3
    for one, other in zip(splits, back.splits, strict=True):
        assert np.array_equal(one.train, other.train)
        assert np.array_equal(one.test, other.test)
        assert np.array_equal(one.s, other.s)
        assert one.s.dtype == other.s.dtype
    assert [file.name for file in path.parent.iterdir()] == ["splits.json"]


def test_splits_of_other_data_are_refused(tmp_path):
    path, _ = saved(tmp_path)
    with pytest.raises(UsageError, match="holds splits of 'toy' with 80 rows, not of the given data"):
        load_splits(path, content_sha256="cd" * 32)
    with pytest.raises(UsageError, match="not of the given data"):
        load_splits(path, rows=81)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c | {"format": "other"}, "is not a splits file"),
        (lambda c: c | {"version": 9}, "version 9, but this pucli reads version 1"),
        (lambda c: {k: v for k, v in c.items() if k != "splits"}, r"damaged splits file \('splits'\)"),
        (lambda c: c | {"rows": 10}, r"a row number is outside 0\.\.9"),
        (lambda c: c | {"splits": [{"train": [0, 1], "test": [1], "labeled": [0]}]}, "a row is in a split twice"),
        (lambda c: c | {"splits": [{"train": [0], "test": [1], "labeled": [0, 2]}]}, "not in the training set"),
        (lambda c: c | {"splits": [{"train": ["a"], "test": [1], "labeled": []}]}, "damaged splits file"),
        (lambda c: [c], "is not a splits file"),
    ],
)
def test_damaged_splits_files(change, message, tmp_path):
    path, _ = saved(tmp_path)
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(UsageError, match=message):
        load_splits(path)


def test_truncated_missing_and_unwritable_splits_files(tmp_path):
    path, splits = saved(tmp_path)
    path.write_text(path.read_text()[:100])
    with pytest.raises(UsageError, match="not a splits file, or damaged"):
        load_splits(path)
    with pytest.raises(UsageError, match="cannot read the splits file"):
        load_splits(tmp_path / "none.json")
    with pytest.raises(UsageError, match=r"cannot write .*below-a-file.json"):
        save_splits(path / "below-a-file.json", splits, dataset="toy", content_sha256="", rows=80)


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
@pytest.mark.parametrize("labeling", ["sar-feature", "sar-score"])
def test_a_biased_labeling_keeps_the_counts_and_labels_tilted_positives(scenario: str, labeling: str) -> None:
    y = labels(300, 200)
    X = np.random.default_rng(1).normal(size=(500, 3)) + (y == 1)[:, None]
    plain, biased = (make_split(scenario, y, 0.3, rng=np.random.default_rng(2), tilt=tilt) for tilt in (None, X[:, 0]))
    check_partition(biased, y)
    assert biased.s.sum() == plain.s.sum()
    tilt = labeling_tilt(labeling, X, y, np.random.default_rng(3))
    split = make_split(scenario, y, 0.3, rng=np.random.default_rng(4), tilt=tilt)
    assert tilt[split.train[split.s == 1]].mean() > tilt[y == 1].mean() + 1.0
    assert tilt[y == 1].std() == pytest.approx(SLOPE)


@pytest.mark.slow
def test_chances_of_the_first_draw_are_in_proportion_to_the_tilt() -> None:
    y, tilt = np.array([1, 1, 1, 0, 0, 0]), np.log(np.array([1.0, 2.0, 5.0, 9.0, 9.0, 9.0]))
    count = np.zeros(6)
    for seed in range(4000):
        split = make_split("case-control", y, 0.35, rng=np.random.default_rng(seed), tilt=tilt)
        count[split.train[split.s == 1]] += 1
    assert count.sum() == 4000
    assert np.abs(count / 4000 - np.array([1, 2, 5, 0, 0, 0]) / 8).max() < 0.03


def test_an_unknown_labeling_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="sar-score"):
        labeling_tilt("sar-scores", np.zeros((2, 1)), np.array([0, 1]), np.random.default_rng(0))


def test_each_repeat_draws_its_own_biased_labeling_which_comes_again(monkeypatch) -> None:
    tilts = []

    def noted(*given):
        tilts.append(labeling_tilt(*given))
        return tilts[-1]

    monkeypatch.setattr(scenarios, "labeling_tilt", noted)
    y = labels(40, 60)
    X = np.random.default_rng(0).normal(size=(100, 2))
    made = repeated_splits("case-control", y, 0.5, repeats=2, seed=3, labeling="sar-feature", X=X)
    again = repeated_splits("case-control", y, 0.5, repeats=1, seed=3, labeling="sar-feature", X=X)
    assert np.array_equal(made[0].train, again[0].train)
    assert np.array_equal(tilts[0], tilts[2]) and not np.array_equal(tilts[0], tilts[1])


def test_doubtful_positives_have_the_greater_chance_of_lbe_b() -> None:
    weights = np.array([2.0, 1.5]) ** 10
    np.testing.assert_allclose(chances("sar-lbe-b", np.array([0.5, 1.0])), weights / weights.sum())


def test_labeled_rows_among_the_held_ones_are_left_out() -> None:
    y = labels(60, 40)
    held = np.random.default_rng(1).random(100) < 0.3
    split = case_control(y, 0.5, rng=np.random.default_rng(0), held=held)
    left_out = 30 - int(split.s.sum())  # of the 30 labeled rows
    assert left_out > 0 and len(split.train) == np.sum(~held)
    assert held[split.test].all() and len(split.test) == held.sum() - left_out


def test_classes_are_hidden_and_never_exchanged() -> None:
    classes = np.random.default_rng(0).integers(0, 3, 200)
    train, test, y = hidden_classes(classes, 0.4, seed=1, repeat=2, unlabeled=-1)
    assert sorted([*train, *test]) == list(range(200)) and len(train) == 140
    known = y != -1
    assert known.sum() == 56 and np.array_equal(y[known], classes[train][known])
    shares = np.bincount(classes) / 200
    assert np.abs(np.bincount(y[known]) - 56 * shares).max() < 1.5
