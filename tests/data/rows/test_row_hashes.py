"""Rows that a model was trained on are known again."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from pucli.data.rows.row_hashes import (
    MOST_HASHES,
    RowCounter,
    known_rows,
    labeled_twins,
    repeated_labels,
    row_fingerprints,
    row_hashes,
)


def numbers(n, m=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, m)).round(2)


def test_sparse_and_dense_rows_have_the_same_hashes():
    X = numbers(200, 40) * (np.random.default_rng(1).random((200, 40)) < 0.2)
    marked = X[:, 0] > 0
    assert np.array_equal(row_hashes(X, marked), row_hashes(csr_array(X), marked))
    assert np.array_equal(row_hashes(X, marked), row_hashes(np.where(X == 0, -0.0, X), marked))


def test_labeled_rows_that_occur_again_without_a_label_are_told():
    X = np.random.default_rng(4).normal(size=(300, 3))
    labeled = np.arange(320) < 40
    twice = np.vstack([X, X[:20]])
    (told,) = labeled_twins(twice, labeled)
    assert told.startswith("20 of 40 labeled rows occur again without a label")
    assert labeled_twins(np.vstack([X, X[100:120]]), labeled) == []  # unlabeled twins
    few = np.random.default_rng(5).integers(0, 3, (320, 3)).astype(float)
    assert labeled_twins(few, labeled) == []  # by chance
    assert labeled_twins(csr_array(twice), labeled) == [told]


def test_cases_that_were_entered_several_times_are_told():
    rng = np.random.default_rng(6)
    X, positive = rng.normal(size=(400, 3)), np.arange(400) < 120
    labeled = positive & (rng.random(400) < 0.4)
    times = rng.integers(1, 5, 400)
    told = repeated_labels(np.repeat(X, times, axis=0), np.repeat(labeled, times))
    assert "labeled rows are equal to another labeled row" in told
    assert repeated_labels(X, labeled) == ""
    few = np.where(np.arange(400) % 10 == 0, 2, 1)
    assert repeated_labels(np.repeat(X, few, axis=0), np.repeat(labeled, few)) == ""
    # equal by chance: of them some are labeled and some are not
    coarse = np.where(positive[:, None], 1.0, rng.integers(0, 3, (400, 3)))
    assert repeated_labels(coarse, labeled) == ""


@pytest.mark.parametrize("values", [np.arange(2), np.arange(50), np.arange(-3, 4) / 10])
def test_different_rows_have_different_hashes(values):
    grid = np.stack(np.meshgrid(*[values] * (12 if len(values) == 2 else 3)), axis=-1).reshape(
        -1, 12 if len(values) == 2 else 3
    )
    hashes = row_hashes(grid.astype(float), np.zeros(len(grid), dtype=bool))
    expected = len(grid) ** 2 / 2 / 2**31
    assert len(grid) - len(np.unique(hashes)) <= expected + 5 * expected**0.5 + 1


@pytest.mark.parametrize("trained", [500, 3 * MOST_HASHES])
def test_known_rows_are_counted_or_estimated(trained):
    X, new = numbers(trained, 5), numbers(2000, 5, seed=1)
    marks = row_fingerprints(row_hashes(X, X[:, 0] > 1))
    some = np.concatenate([X[:400], new])
    found = known_rows(row_hashes(some, some[:, 0] > 1), marks)
    assert found is not None and found.same_labels and found.total == 2400
    assert found.exact == (trained < MOST_HASHES)
    assert found.known == 400 if found.exact else 250 < found.known < 550
    assert not known_rows(row_hashes(some, some[:, 1] > 1), marks).same_labels
    assert known_rows(row_hashes(new, new[:, 0] > 1), marks) is None


@pytest.mark.parametrize("trained", [500, 3 * MOST_HASHES])
@pytest.mark.slow
def test_blocks_of_rows_are_counted_as_one_table(trained):
    X, new = numbers(trained, 5), numbers(2000, 5, seed=1)
    marks = row_fingerprints(row_hashes(X, X[:, 0] > 1))
    hashes = row_hashes(np.concatenate([X[:400], new]), np.zeros(2400, dtype=bool))
    counter = RowCounter(marks)
    for start in range(0, 2400, 7):
        counter.add(hashes[start : start + 7])
    assert counter.found() == known_rows(hashes, marks) is not None


def test_rows_that_are_alike_by_chance_are_not_taken_for_training_rows():
    draw = np.random.default_rng(2)
    X, new = (draw.integers(0, 4, (1000, 4)).astype(float) for _ in range(2))
    unlabeled = np.zeros(1000, dtype=bool)
    assert np.isin(row_hashes(new, unlabeled), row_hashes(X, unlabeled)).mean() > 0.9
    assert known_rows(row_hashes(new, unlabeled), row_fingerprints(row_hashes(X, unlabeled))) is None


@pytest.mark.parametrize(
    "marks", [{}, {"row_hashes": 3}, {"row_hashes": "?", "repeated_rows": 0}, {"row_hashes": "AAA="}]
)
def test_marks_that_cannot_be_read_tell_nothing(marks):
    assert known_rows(row_hashes(numbers(10), np.zeros(10, dtype=bool)), marks) is None
