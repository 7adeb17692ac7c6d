"""Test whether the labelled rows are a random sample of the positives (random labelling).

If they are, labelled rows and positives have the same density, and the mean of every feature over the labelled rows
equals its mean over the unlabeled rows weighted by their probability of being positive. The statistic is the largest
difference of the two means, in standard errors. Its distribution under random labelling is simulated: positives are
drawn with their probabilities, as many of them labelled at random as in the data, and the statistic is computed again
(the idea of Teisseyre et al. 2024, arXiv 2404.00145). If labelling depends on a feature that separates the classes, no
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
from pucli.solvers.ensemble.hidden_share import hidden_share, isotonic_ratio
from pucli.solvers.ensemble.ridge import LANDMARKS, kernel_matrix, pick_landmarks
from pucli.solvers.ensemble.rows import canonical_order, feature_signs, make_gaussian_ranks, row_order, varying_columns
from pucli.solvers.folds import number_of_folds, stratified_folds

if TYPE_CHECKING:
    from pucli.estimators.auto.auto_pu import AutoPU

REPLICATES = 199
LEVEL = 0.01
# With a smaller one there may be bias.
CLEAR = 0.1
# With fewer labelled or unlabeled rows there is no test.
FEWEST = 5
RIDGE = 1.0
HOW_CHOSEN = "how were these rows chosen?"
SAR_PARAMETER = 'labelling="sar"'


@dataclass
class RandomLabelling:
    """Result of the test."""

    p_value: float  # p-value of random labelling
    feature: int  # column of the feature with the largest difference
    difference: float  # this difference of means, in standard errors

    @property
    def random(self) -> bool:
        """Whether the test does not reject random labelling; biased labelling may still go unnoticed."""
        return not self.p_value <= LEVEL

    @property
    def doubt(self) -> str:
        """Warning for those who apply the model, or "" if there is none."""
        return "" if self.random else f"random labelling is {self.verdict}"

    @property
    def verdict(self) -> str:
        """The result in words."""
        if np.isnan(self.p_value):
            few = f"fewer than {FEWEST} groups have a labelled row, or have none"
            return f"bias cannot be tested for, as {few}: {HOW_CHOSEN}"
        if self.random:
            found = "no bias" if self.p_value >= CLEAR else "a weak sign of bias"
            but = "but" if self.p_value >= CLEAR else "and"
            return f"the test found {found} (p = {self.p_value:.2g}), {but} it misses most kinds: {HOW_CHOSEN}"
        return (
            f"unlikely (p = {self.p_value:.3g}, the limit is {LEVEL:g}): all estimates but the share may be wrong; if "
            f"clear positives were labelled first, train again with {by_interface(SAR_PARAMETER, '--labelling sar')}"
        )


def random_labelling(X: np.ndarray, labelled: np.ndarray, prior: float, rng: np.random.Generator) -> RandomLabelling:
    """Test whether labelled rows are a random sample of the positives."""
    order = row_order(X, labelled)
    chosen = order[pick_landmarks(labelled[order], LANDMARKS, rng)]
    X, s = X[chosen], labelled[chosen]
    rows, columns = canonical_order(X, s, feature_signs(X, s))
    X, s = X[np.ix_(rows, columns)], s[rows]
    X = make_gaussian_ranks(X).of(X)
    smoother = _held_out_smoother(X, stratified_folds(s, number_of_folds(s), rng))
    chance = _probabilities(smoother @ s.astype(float), s, prior)
    observed = _differences(X, s, chance)
    largest = float(np.abs(observed).max())
    count = int(s.sum())
    above = 0
    for _ in range(REPLICATES):
        positive = np.flatnonzero(s | (rng.random(len(s)) < chance))
        again = np.zeros(len(s), bool)
        again[rng.choice(positive, count, replace=False)] = True
        p = _probabilities(smoother @ again.astype(float), again, prior)
        above += float(np.abs(_differences(X, again, p)).max()) >= largest
    worst = int(np.argmax(np.abs(observed)))
    return RandomLabelling((1 + above) / (1 + REPLICATES), int(columns[worst]), float(observed[worst]))


def labelling_of(
    model: AutoPU, X: np.ndarray, labelled: np.ndarray, seed: int, groups: np.ndarray | None = None
) -> RandomLabelling:
    """Test the labelling of the training rows of a fitted model, with its estimate of the class prior."""
    columns = varying_columns(X)
    X = X[:, columns]
    if groups is not None:
        order = row_order(X, labelled)
        rows = order[one_of_each(groups[order], labelled[order])]
        X, labelled = X[rows], labelled[rows]
        if min(labelled.sum(), (~labelled).sum()) < FEWEST:
            return RandomLabelling(float("nan"), 0, float("nan"))
    share = hidden_share(model.prior_, labelled, model.scenario)
    with threadpool_limits(1):
        test = random_labelling(X, labelled, share, stream(seed, "random labelling"))
    return replace(test, feature=int(columns[test.feature]))


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


def _probabilities(scores: np.ndarray, labelled: np.ndarray, prior: float) -> np.ndarray:
    """Return the probability (n,) of a positive; zero for labelled rows."""
    found = np.zeros(len(scores))
    ratio = isotonic_ratio(scores[labelled], scores[~labelled], scores[~labelled])
    found[~labelled] = np.minimum(1.0, prior * ratio)
    return found


def _differences(X: np.ndarray, labelled: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return the differences (m,) of the features' means, in standard errors."""
    total = max(chance.sum(), 1e-12)
    weighted = (chance @ X) / total
    mean = X[labelled].mean(axis=0)
    size = 1.0 / labelled.sum() + (chance**2).sum() / total**2
    deviation = np.sqrt(np.maximum(X[labelled].var(axis=0), 0.05) * size)
    result: np.ndarray = (mean - weighted) / deviation
    return result
