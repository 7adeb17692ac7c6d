"""The first fit of the automatic classifier: members fitted to labeled and unlabeled rows, and held-out scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pucli.core.seeding import stream
from pucli.solvers.ensemble.boosting.categories import find_categories
from pucli.solvers.ensemble.copies import copied_rows, groups_of_copies
from pucli.solvers.ensemble.ensemble import Ensemble, chosen_weights, fit_members, weights_by_evidence
from pucli.solvers.ensemble.members import Member, make_views, members_for
from pucli.solvers.ensemble.rows import canonical_order, feature_signs, varying_columns
from pucli.solvers.ensemble.screening import is_wide
from pucli.solvers.folds import number_of_folds, stratified_folds

# Number of divisions of the rows into folds.
REPEATS = 8


class FirstFit(NamedTuple):
    """Members fitted with all unlabeled rows as negatives, on rows in the canonical order."""

    order: np.ndarray  # (n,), indices of the given rows in the canonical order, which all other attributes follow
    columns: np.ndarray  # (m,), indices of the given columns that vary, in the canonical order
    X: np.ndarray  # (n, m), rows
    labeled: np.ndarray  # (n,), True for labeled positives
    population: np.ndarray  # (n,), rows that are a sample of the population
    folds: np.ndarray  # (repeats, n), fold of each row in each division
    ensemble: Ensemble  # fitted members
    scores: np.ndarray  # (members, n), standardized held-out scores
    copies: int = 0  # number of labeled rows that have copies, which were kept in one fold
    weights: np.ndarray | None = None  # (members,), weights of the members in the ensemble; None if all have the same
    negative: np.ndarray | None = None  # (n,), rows that are known to be negative

    @property
    def held_out(self) -> np.ndarray:
        """The held-out score of each row by the ensemble, shape (n,)."""
        mean: np.ndarray = self.scores.mean(axis=0) if self.weights is None else self.weights @ self.scores
        return mean

    @property
    def grouped(self) -> np.ndarray | None:
        """The scores of the population by the members that are trees, shape (trees, population), or None."""
        trees = [member.view == "bins" for member in self.ensemble.members]
        return self.scores[trees][:, self.population] if any(trees) else None


def first_fit(  # noqa: PLR0913
    X: np.ndarray,
    labeled: np.ndarray,
    scenario: str,
    members: Sequence[Member],
    seed: int,
    n_jobs: int | None = None,
    callback: Callable[[str, int, int], None] | None = None,
    groups: np.ndarray | None = None,
    negative: np.ndarray | None = None,
) -> FirstFit:
    """Return the first fit of members: models, and held-out scores of the rows. Constant columns are left out."""
    varying = varying_columns(X)
    X = X if len(varying) == X.shape[1] else X[:, varying]
    signs = feature_signs(X, labeled)
    kind = labeled + (0 if negative is None else 2 * negative) + (0 if groups is None else 4 * groups)
    order, columns = canonical_order(X, kind, signs)
    categories = find_categories(X, signs, columns)
    X, labeled, signs = X[np.ix_(order, columns)], labeled[order], signs[columns]
    copies = 0
    if groups is not None:
        groups = groups[order]
    else:
        groups = groups_of_copies(X, labeled)
        copies = 0 if groups is None else copied_rows(groups, labeled)
        if groups is not None and number_of_folds(labeled, groups) < 2:
            groups = None
    n_folds = number_of_folds(labeled, groups)
    rng = stream(seed, "folds")
    folds = np.stack([stratified_folds(labeled, n_folds, rng, groups) for _ in range(REPEATS)])
    population = ~labeled if scenario == "case-control" else np.ones(len(X), bool)
    if negative is not None:
        negative = negative[order]
        population &= ~negative if scenario == "case-control" else True
    views = make_views(X, signs)
    used = members_for(members, *X.shape)
    ensemble, scores = fit_members(used, views, X, labeled, population, folds, seed, n_jobs, callback, categories)
    weights = chosen_weights(scores, labeled)
    if weights is None and is_wide(*X.shape):
        weights = weights_by_evidence(scores, labeled)
    return FirstFit(order, varying[columns], X, labeled, population, folds, ensemble, scores, copies, weights, negative)
