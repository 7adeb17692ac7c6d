"""Copies of labeled rows are found, stay in one fold, and are told of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from pucli import AutoPU
from pucli.models import validation as held_out
from pucli.solvers.ensemble.copies import copied_rows, groups_of_copies
from pucli.solvers.folds import stratified_folds

SHIFT = np.r_[np.full(5, 0.55), np.zeros(5)]


def table(copies: int, jitter: float = 0.0, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    positive = rng.random(600) < 0.3
    labeled = np.repeat(rng.normal(size=(60, 10)) + SHIFT, copies, axis=0)
    labeled = labeled + jitter * rng.normal(size=labeled.shape)
    X = np.vstack([labeled, rng.normal(size=(600, 10)) + positive[:, None] * SHIFT])
    return X, np.arange(len(X)) < len(labeled), positive


@pytest.mark.parametrize("jitter", [0.0, 0.01, 0.1])
def test_copies_are_grouped(jitter: float) -> None:
    X, s, _ = table(5, jitter)
    group = groups_of_copies(X, s)
    assert group is not None and copied_rows(group, s) == 300
    assert len(np.unique(group[s])) == 60 and len(np.unique(group)) == 660
    fold = stratified_folds(s, 5, np.random.default_rng(0), group)
    for one in np.unique(group):
        assert len(np.unique(fold[group == one])) == 1
    assert np.bincount(fold[s]).tolist() == [60] * 5 and np.ptp(np.bincount(fold[~s])) <= 1


def test_copies_among_unlabeled_rows_stay_with_the_labeled_one() -> None:
    X, s, _ = table(1)
    group = groups_of_copies(np.vstack([X, X[:60]]), np.append(s, np.zeros(60, dtype=bool)))
    assert group is not None and np.array_equal(group[:60], group[660:])


@pytest.mark.parametrize("m", [1, 2, 3, 10])
def test_rows_that_are_close_by_chance_are_no_copies(m: int) -> None:
    rng = np.random.default_rng(m)
    positive = rng.random(600) < 0.1
    X = np.vstack([rng.normal(size=(200, m)) + 3.0, rng.normal(size=(600, m)) + 3.0 * positive[:, None]])
    assert groups_of_copies(X, np.arange(800) < 200) is None
    assert groups_of_copies(np.round(X), np.arange(800) < 200) is None


@pytest.mark.slow  # two fits of the automatic classifier
def test_the_estimates_of_auto_are_not_those_of_copies() -> None:
    X, s, positive = table(5)
    with pytest.warns(UserWarning, match=r"300 of 300 labeled rows are copies.*pass groups to fit"):
        model = AutoPU().fit(X, s)
    true = roc_auc_score(positive, model.score_rows(X[300:]))
    assert model.estimates_["auc"].value < true + 0.1
    by_groups = AutoPU().fit(X, s, groups=np.append(np.repeat(np.arange(60), 5), np.arange(60, 660)))
    assert by_groups.estimates_["auc"].value < true + 0.1


def test_groups_are_checked() -> None:
    X, s, _ = table(1)
    with pytest.raises(ValueError, match="at least 2 groups"):
        AutoPU().fit(X, s, groups=np.where(s, 0, np.arange(len(s))))
    with pytest.raises(ValueError, match="give one group for each of the 660 rows"):
        AutoPU().fit(X, s, groups=[1, 2])


def test_held_out_rows_of_other_methods_have_no_copies_in_training() -> None:
    X, s, _ = table(5)
    for train, test in held_out._folds(X, s, 0):
        assert not set(map(bytes, X[test][s[test]])) & set(map(bytes, X[train]))
