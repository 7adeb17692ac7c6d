"""Test whether the labeled rows are a random sample of the positives (random labeling).

If they are, labeled rows and positives have the same density, and the mean of every feature over the labeled rows
equals its mean over the unlabeled rows weighted by their probability of being positive. The statistic is the largest
difference of the two means, in standard errors. Its distribution under random labeling is simulated: positives are
drawn with their probabilities, as many of them labeled at random as in the data, and the statistic is computed again
(the idea of Teisseyre et al. 2024, arXiv 2404.00145). If labeling depends on a feature that separates the classes, no
test on these rows can detect it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from threadpoolctl import threadpool_limits

from pucli.core.errors import by_interface
from pucli.core.seeding import stream
from pucli.data.splits.groups import one_of_each
from pucli.estimators.auto.chance import p_text
from pucli.solvers.ensemble.hidden_share import hidden_share, isotonic_ratio
from pucli.solvers.ensemble.ridge import LANDMARKS, kernel_matrix, pick_landmarks
from pucli.solvers.ensemble.rows import canonical_order, feature_signs, make_gaussian_ranks, row_order, varying_columns
from pucli.solvers.folds import number_of_folds, stratified_folds

if TYPE_CHECKING:
    from pucli.estimators.auto.auto_pu import AutoPU

REPLICATES = 199
LEVEL = 0.01
# Features that differ are named up to this p-value, corrected for their number: with random labels, at most one name in
# twenty tables (docs/limits.md). The limit is below .05, since the class prior is only estimated.
NAMED_LEVEL = 0.015
# With a smaller one there may be bias.
CLEAR = 0.1
# With fewer labeled or unlabeled rows there is no test.
FEWEST = 5
RIDGE = 1.0
HOW_CHOSEN = "how were these rows chosen?"
SAR_PARAMETER = 'labeling="sar"'


@dataclass(frozen=True)
class DifferingFeature:
    """A feature whose mean over labeled rows differs from that over unlabeled rows that are ranked like them."""

    feature: int  # its column
    difference: float  # labeled less unlabeled, in standard errors
    p_value: float  # corrected for the number of features: that of the largest of all differences


@dataclass
class RandomLabeling:
    """Result of the test."""

    p_value: float  # p-value of random labeling
    feature: int  # column of the feature with the largest difference
    difference: float  # this difference of means, in standard errors
    differing: tuple[DifferingFeature, ...] = ()  # those with a p-value up to `NAMED_LEVEL`, the largest first

    def of_columns(self, columns: np.ndarray) -> RandomLabeling:
        """Return the result with features numbered as in the table, of which `columns` (m,) were tested."""
        differing = tuple(replace(one, feature=int(columns[one.feature])) for one in self.differing)
        return replace(self, feature=int(columns[self.feature]), differing=differing)

    @property
    def random(self) -> bool:
        """Whether the test does not reject random labeling; biased labeling may still go unnoticed."""
        return not self.p_value <= LEVEL

    @property
    def doubt(self) -> str:
        """Warning for those who apply the model, or "" if there is none."""
        return "" if self.random else f"random labeling is {self.verdict}"

    @property
    def verdict(self) -> str:
        """The result in words."""
        if np.isnan(self.p_value):
            few = f"fewer than {FEWEST} groups have a labeled row, or have none"
            return f"bias cannot be tested for, as {few}: {HOW_CHOSEN}"
        if self.random:
            found = "no bias" if self.p_value >= CLEAR else "a weak sign of bias"
            but = "but" if self.p_value >= CLEAR else "and"
            return f"the test found {found} ({p_text(self.p_value)}), {but} it misses most kinds: {HOW_CHOSEN}"
        return (
            f"unlikely ({p_text(self.p_value)}, the limit is {LEVEL:g}): all estimates but the share may be wrong; if "
            f"clear positives were labeled first, train again with {by_interface(SAR_PARAMETER, '--labeling sar')}"
        )


def random_labeling(X: np.ndarray, labeled: np.ndarray, prior: float, rng: np.random.Generator) -> RandomLabeling:
    """Test whether labeled rows are a random sample of the positives."""
    order = row_order(X, labeled)
    chosen = order[pick_landmarks(labeled[order], LANDMARKS, rng)]
    X, s = X[chosen], labeled[chosen]
    rows, columns = canonical_order(X, s, feature_signs(X, s))
    X, s = X[np.ix_(rows, columns)], s[rows]
    X = make_gaussian_ranks(X).of(X)
    smoother = _held_out_smoother(X, stratified_folds(s, number_of_folds(s), rng))
    chance = _probabilities(smoother @ s.astype(float), s, prior)
    observed = _differences(X, s, chance)
    count = int(s.sum())
    largest = np.empty(REPLICATES)
    for k in range(REPLICATES):
        positive = np.flatnonzero(s | (rng.random(len(s)) < chance))
        again = np.zeros(len(s), bool)
        again[rng.choice(positive, count, replace=False)] = True
        p = _probabilities(smoother @ again.astype(float), again, prior)
        largest[k] = np.abs(_differences(X, again, p)).max()
    order = np.argsort(-np.abs(observed), kind="stable")
    p_values = (1 + (largest >= np.abs(observed[order])[:, None]).sum(axis=1)) / (1 + REPLICATES)
    found = [
        DifferingFeature(int(columns[j]), float(observed[j]), float(p_value))
        for j, p_value in zip(order, p_values, strict=True)
    ]
    worst = found[0]
    differing = tuple(one for one in found if one.p_value <= NAMED_LEVEL)
    return RandomLabeling(worst.p_value, worst.feature, worst.difference, differing)


def labeling_of(
    model: AutoPU, X: np.ndarray, labeled: np.ndarray, seed: int, groups: np.ndarray | None = None
) -> RandomLabeling:
    """Test the labeling of the training rows of a fitted model, with its estimate of the class prior."""
    columns = np.arange(X.shape[1]) if model._columns is None else np.sort(model._columns)  # without copies
    columns = columns[varying_columns(X[:, columns])]
    X = X[:, columns]
    if groups is not None:
        order = row_order(X, labeled)
        rows = order[one_of_each(groups[order], labeled[order])]
        X, labeled = X[rows], labeled[rows]
        if min(labeled.sum(), (~labeled).sum()) < FEWEST:
            return RandomLabeling(float("nan"), 0, float("nan"))
    share = hidden_share(model.prior_, labeled, model.scenario)
    with threadpool_limits(1):
        test = random_labeling(X, labeled, share, stream(seed, "random labelling"))
    return test.of_columns(columns)


def _held_out_smoother(X: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Return the matrix (n, n) that turns targets into held-out scores of a kernel ridge regression."""
    n = len(X)
    width = float(np.sqrt(X.shape[1]))
    values, axes = eigh(kernel_matrix("gaussian", width, X, X) + 1.0, check_finite=False)
    hat = (axes * (np.maximum(values, 0.0) / (np.maximum(values, 0.0) + RIDGE))) @ axes.T
    smoother = np.eye(n)
    for b in np.unique(fold):
        out = np.flatnonzero(fold == b)
        left = np.eye(len(out)) - hat[np.ix_(out, out)]
        residual = -hat[out]
        residual[np.arange(len(out)), out] += 1.0
        smoother[out] -= cho_solve(cho_factor(left, check_finite=False), residual)
    return smoother


def _probabilities(scores: np.ndarray, labeled: np.ndarray, prior: float) -> np.ndarray:
    """Return the probability (n,) of a positive; zero for labeled rows."""
    found = np.zeros(len(scores))
    ratio = isotonic_ratio(scores[labeled], scores[~labeled], scores[~labeled])
    found[~labeled] = np.minimum(1.0, prior * ratio)
    return found


def _differences(X: np.ndarray, labeled: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return the differences (m,) of the features' means, in standard errors."""
    total = max(chance.sum(), 1e-12)
    weighted = (chance @ X) / total
    mean = X[labeled].mean(axis=0)
    size = 1.0 / labeled.sum() + (chance**2).sum() / total**2
    deviation = np.sqrt(np.maximum(X[labeled].var(axis=0), 0.05) * size)
    result: np.ndarray = (mean - weighted) / deviation
    return result
