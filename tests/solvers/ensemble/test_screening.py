"""Wide tables: screening of columns without a look at held-out rows, and shrunken centroids."""

from __future__ import annotations

import numpy as np
import pytest

from pucli import AutoPU
from pucli.estimators.auto.importance import importances
from pucli.metrics.ranking import auc, pu_auc
from pucli.solvers.ensemble.members import MEMBERS, members_for
from pucli.solvers.ensemble.screening import WIDE_COLUMNS, Screening, fit_centroids, is_wide
from pucli.solvers.folds import stratified_folds
from tests.solvers.ensemble.helpers import two_clouds

FAST = tuple(one for one in MEMBERS if one.name in ("shrunken-centroids", "random-forest"))


def test_tables_with_as_many_rows_as_columns_or_with_few_columns_are_not_wide() -> None:
    assert is_wide(200, WIDE_COLUMNS + 1) and is_wide(2000, 2001)
    assert not is_wide(200, WIDE_COLUMNS) and not is_wide(2000, 2000)
    names = [{one.name for one in members_for(MEMBERS, 200, m)} for m in (WIDE_COLUMNS, WIDE_COLUMNS + 1)]
    assert names[1] - names[0] == {"shrunken-centroids"}
    assert names[0] - names[1] == {"ridge-laplace", "ridge-gaussian-ranks"}


def test_screening_looks_at_its_own_rows_alone() -> None:
    X, s, _ = two_clouds(200, labeled=40, features=50)
    rows = np.arange(len(X)) % 3 > 0
    changed, other = X.copy(), s.copy()
    other[~rows] = ~other[~rows]
    chosen = Screening(X, s, s.astype(float), 5).by(rows)
    assert chosen.tolist() == Screening(changed, other, other.astype(float), 5).by(rows).tolist()
    assert 0 in chosen and len(chosen) == 5 and (np.diff(chosen) > 0).all()


@pytest.mark.slow  # fits forests on a wide table
def test_held_out_scores_of_columns_without_information_are_no_better_than_chance() -> None:
    # screened with all rows, the best of 2,000 columns would separate them nearly perfectly
    random = np.random.default_rng(1)
    X, s = random.normal(size=(120, 2000)), np.arange(120) < 40
    model = AutoPU(members=FAST).fit(X, s)
    assert abs(pu_auc(model.held_out_, s) - 0.5) < 0.2
    assert pu_auc(model.score_rows(X), s) > 0.95


@pytest.mark.slow  # fits forests on a wide table
def test_a_wide_table_is_answered_the_same_in_any_order_of_its_columns() -> None:
    X, s, truth = two_clouds(120, labeled=40, features=WIDE_COLUMNS + 200)
    order = np.random.default_rng(0).permutation(X.shape[1])
    one, other = AutoPU(members=FAST).fit(X, s), AutoPU(members=FAST).fit(X[:, order], s)
    np.testing.assert_allclose(other.held_out_, one.held_out_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(other.score_rows(X[:, order]), one.score_rows(X), rtol=0, atol=1e-8)
    hidden = one.held_out_[~s]
    assert auc(hidden[truth[~s]], hidden[~truth[~s]]) > 0.85  # one column of 1,200 has all the information
    found = importances(one, X, s, np.random.default_rng(0))
    assert found.order[0] == 0 and found.fall[0] > 0.05


def test_centroids_leave_out_the_rows_that_they_score() -> None:
    X, s, _ = two_clouds(100, labeled=30, features=40)
    folds = stratified_folds(s, 5, np.random.default_rng(0))[None]
    before = fit_centroids(X, s, folds)[1]
    row = int(np.flatnonzero(~s)[0])
    moved = X.copy()
    moved[row] *= 2.0
    np.testing.assert_allclose(fit_centroids(moved, s, folds)[1][row], 2.0 * before[row], atol=1e-8)
