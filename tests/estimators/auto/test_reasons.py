"""Changes of scores by column: those of scored copies, their spread, and the known positives that are alike."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from pucli import AutoPU
from pucli.estimators.auto.reasons import changes, effects, most_alike, usual_values
from pucli.solvers.ensemble.members import MEMBERS, Member
from pucli.solvers.ensemble.refit import Refitted
from tests.solvers.ensemble.helpers import two_clouds


def with_levels(n: int, labeled: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of four numbers and a category of three levels, and which are labeled."""
    X, s, _ = two_clouds(n, labeled=labeled)
    level = np.random.default_rng(1).integers(0, 3, len(X))
    return np.hstack([X, np.eye(3)[level]]), s


@pytest.mark.slow  # tables of up to 800 rows have other members, and are refitted; larger ones have category trees
@pytest.mark.parametrize(("n", "labeled"), [(200, 40), (900, 120)])
def test_changes_are_those_of_scored_copies(n: int, labeled: int) -> None:
    X, s = with_levels(n, labeled)
    model = AutoPU().fit(X, s)
    assert isinstance(model.ensemble_, Refitted) == (n == 200)
    columns = [*(slice(j, j + 1) for j in range(4)), slice(4, 7)]
    usual = usual_values(X, ~s)
    usual[4:] = 1.0, 0.0, 0.0
    rows = X[:: len(X) // 20]
    found = effects(model, rows, usual, columns)
    for k, place in enumerate(columns):
        copies = rows.copy()
        copies[:, place] = usual[place]
        np.testing.assert_allclose(found.change[:, k], model.score_rows(rows) - model.score_rows(copies), atol=1e-9)
    np.testing.assert_allclose(changes(model.score_rows, rows, usual, np.array([0, 1, 2, 3, 4, 4, 4])), found.change)
    assert (found.spread >= 0.0).all() and found.spread.max() > 0.0
    same = (rows[:, columns[4]] == usual[columns[4]]).all(axis=1)
    assert same.any() and (found.change[same, 4] == 0.0).all() and (found.spread[same, 4] == 0.0).all()
    loaded = effects(copy.copy(model), rows, usual, columns)
    loaded_model = copy.copy(model)
    loaded_model._folds = None  # as in a model file
    np.testing.assert_array_equal(effects(loaded_model, rows, usual, columns).spread, loaded.spread)


@pytest.mark.slow
def test_the_column_that_separates_the_classes_changes_the_score_most() -> None:
    X, s, truth = two_clouds(300, labeled=60, apart=3.0)
    found = effects(AutoPU().fit(X, s), X, usual_values(X, ~s))
    assert (np.abs(found.change[truth]).argmax(axis=1) == 0).mean() > 0.9 and (found.change[truth, 0] > 0).mean() > 0.9
    assert np.median(found.spread[truth, 0]) < 0.3 * np.median(found.change[truth, 0])


def test_without_trees_there_is_no_spread() -> None:
    X, s, _ = two_clouds(80, labeled=20)
    own = Member("own", "raw", MEMBERS[0].fit)
    found = effects(AutoPU(members=[own]).fit(X, s), X[:3], usual_values(X, ~s))
    assert np.isnan(found.spread).all() and np.isfinite(found.change).all()


def test_known_positives_are_alike_by_what_their_columns_change_and_none_is_like_itself() -> None:
    known = np.array([[1.0, 0.0], [0.9, 0.0], [0.0, 1.0], [0.5, 0.5], [-1.0, 0.0]])
    assert most_alike(np.array([[1.0, 0.05], [0.0, 0.9]]), known).tolist() == [[0, 1, 3], [2, 3, 1]]
    assert most_alike(known[:2], known, np.array([0, 1])).tolist() == [[1, 3, 2], [0, 3, 2]]
    assert most_alike(known[:1], known[:1]).tolist() == [[0]]
    assert most_alike(known[:1], known[:1], np.array([0])).tolist() == [[]]
