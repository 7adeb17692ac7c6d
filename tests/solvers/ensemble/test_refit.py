"""The refit with soft labels and the map to the scale of the first fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pucli.core.seeding import stream
from pucli.metrics.ranking import auc
from pucli.solvers.ensemble.ensemble import Ensemble, fit_members
from pucli.solvers.ensemble.first_fit import FirstFit
from pucli.solvers.ensemble.members import MEMBERS, Member, MemberRows, make_views
from pucli.solvers.ensemble.refit import MOST_LABELED, MOST_ROWS, quantile_map, refit
from pucli.solvers.folds import stratified_folds
from tests.solvers.ensemble.helpers import two_clouds


def fitted(members: list[Member], X: np.ndarray, s: np.ndarray, folds: np.ndarray) -> FirstFit:
    """Return the first fit of members, with given folds."""
    ensemble, scores = fit_members(members, make_views(X), X, s, ~s, folds, 0, 1)
    return FirstFit(np.arange(len(X)), np.arange(X.shape[1]), X, s, ~s, folds, ensemble, scores)


def test_the_quantile_map_matches_the_distribution_and_keeps_the_order() -> None:
    rng = np.random.default_rng(0)
    source, target = rng.normal(5.0, 3.0, 800), rng.exponential(1.0, 800)
    found = quantile_map(source, target)
    np.testing.assert_allclose(np.sort(found.of(source)), np.sort(target), atol=1e-9)
    new = np.sort(np.concatenate([source, [-99.0, 99.0]]))
    assert np.all(np.diff(found.of(new)) >= 0)
    assert found.of(np.array([99.0]))[0] > target.max()


@pytest.mark.slow
def test_a_refit_with_true_probabilities_ranks_nearly_as_well_as_with_true_labels() -> None:
    X, s, truth = two_clouds(400, labeled=15, apart=1.5, features=12)
    folds = np.stack([stratified_folds(s, 5, np.random.default_rng(k)) for k in range(2)])
    first = fitted(list(MEMBERS), X, s, folds)
    again = refit(MEMBERS, first, truth.astype(float), 0, 1)
    new, _, classes = two_clouds(2000, labeled=2, apart=1.5, features=12, seed=9)
    before, after = first.ensemble.score(new), again.score(new)
    assert auc(after[classes], after[~classes]) > auc(before[classes], before[~classes]) + 0.02


def test_a_member_that_cannot_be_refitted_stays_as_it_is() -> None:
    X, s, _ = two_clouds(60, labeled=20)
    folds = stratified_folds(s, 5, np.random.default_rng(0))[None]
    members = [MEMBERS[0], Member("fixed", MEMBERS[1].view, MEMBERS[1].fit)]
    first = fitted(members, X, s, folds)
    again = refit(members, first, np.zeros(len(X)), 0, 1)
    assert again is not None
    assert again.ensemble.members[1] is first.ensemble.members[1]
    assert again.ensemble.members[0] is not first.ensemble.members[0]


def test_refitted_members_keep_the_weights_that_the_threshold_rests_on() -> None:
    """If the refit changes nothing, neither does the scale of the first fit."""
    X, s, _ = two_clouds(60, labeled=20)
    folds = stratified_folds(s, 5, np.random.default_rng(0))[None]

    def same(member: Member) -> Member:
        held_out = member.fit(MemberRows(make_views(X).one(member.view, X), s, folds), stream(0, "auto", member.name))[
            1
        ]
        return replace(member, refit=lambda rows, targets, model, parameters, rng: (model, held_out))

    members = [same(member) for member in MEMBERS[:2]]
    weights = np.array([0.9, 0.1])
    first = fitted(members, X, s, folds)._replace(weights=weights)
    again = refit(members, first, np.zeros(len(X)), 0, 1)
    parts = np.stack([Ensemble(first.ensemble.views, [member]).score(X) for member in first.ensemble.members])
    np.testing.assert_allclose(again.score(X), weights @ parts, atol=1e-12)


def test_without_refittable_members_the_first_fit_is_kept() -> None:
    X, s, _ = two_clouds(60, labeled=20)
    folds = stratified_folds(s, 5, np.random.default_rng(0))[None]
    members = [Member(member.name, member.view, member.fit) for member in MEMBERS[:1]]
    first = fitted(members, X, s, folds)
    assert refit(members, first, np.zeros(len(X)), 0, 1) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "labeled", "refitted"),
    [
        (MOST_ROWS, MOST_LABELED + 1, True),
        (MOST_ROWS + 1, MOST_LABELED, True),
        (MOST_ROWS + 1, MOST_LABELED + 1, False),
    ],
)
def test_with_many_rows_and_many_labeled_ones_there_is_no_refit(rows: int, labeled: int, refitted: bool) -> None:
    X, s, _ = two_clouds(rows - labeled, labeled=labeled)
    folds = stratified_folds(s, 5, np.random.default_rng(0))[None]
    members = [replace(MEMBERS[0], refit=lambda rows, targets, model, parameters, rng: (model, np.zeros(len(rows.X))))]
    first = fitted(members, X, s, folds)
    again = refit(members, first, np.zeros(len(X)), 0, 1)
    assert (again is not None) == refitted
