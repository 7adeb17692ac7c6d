"""Permutation importance of the features for the PU-AUC, and partial dependence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pucli.solvers.ensemble.ranking import pu_auc
from pucli.solvers.ensemble.ridge import pick_landmarks

if TYPE_CHECKING:
    from pucli.estimators.auto.auto_pu import AutoPU

ROWS, PERMUTATIONS, MOST_FEATURES = 400, 3, 50
GRID, AVERAGED = 12, 100


class Dependence(NamedTuple):
    """Mean probability of a positive as a function of one feature. feature : its number."""

    feature: int
    values: np.ndarray
    probabilities: np.ndarray


def importances(
    model: AutoPU,
    X: np.ndarray,
    labelled: np.ndarray,
    rng: np.random.Generator,
    progress: Callable[[int, int], object] | None = None,
) -> np.ndarray:
    """Return the decrease of the PU-AUC when each feature is shuffled, shape (m,); NaN for features that are not tried.

    Of more than `MOST_FEATURES` features, those that alone separate labelled and unlabeled rows best are tried. The
    importance is measured on training rows: it shows what the model uses, not what it would lose without the feature.
    progress : called with the number of features that are done and that of all.
    """
    rows = pick_landmarks(labelled, ROWS, rng)
    X, s = X[rows], labelled[rows]
    whole = pu_auc(model.score_rows(X), s)
    alone = np.array([abs(pu_auc(column, s) - 0.5) for column in X.T])
    found = np.full(X.shape[1], np.nan)
    tried = np.argsort(-alone, kind="stable")[:MOST_FEATURES]
    for done, j in enumerate(tried, start=1):
        falls = []
        for _ in range(PERMUTATIONS):
            shuffled = X.copy()
            shuffled[:, j] = rng.permutation(X[:, j])
            falls.append(whole - pu_auc(model.score_rows(shuffled), s))
        found[j] = np.mean(falls)
        if progress is not None:
            progress(done, len(tried))
    return found


def dependence(model: AutoPU, X: np.ndarray, feature: int, rng: np.random.Generator) -> Dependence:
    """Return the partial dependence on a feature, over `AVERAGED` rows of X (n, m)."""
    rows = X[np.sort(rng.permutation(len(X))[:AVERAGED])]
    values = np.unique(np.quantile(X[:, feature], np.linspace(0.02, 0.98, GRID)))
    means = []
    for value in values:
        changed = rows.copy()
        changed[:, feature] = value
        means.append(float(model.predict_proba(changed)[:, 1].mean()))
    return Dependence(feature, values, np.array(means))
