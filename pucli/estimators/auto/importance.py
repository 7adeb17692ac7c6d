"""Permutation importance of the features for the PU-AUC, and partial dependence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble.ridge import pick_landmarks

if TYPE_CHECKING:
    from pucli.estimators.auto.auto_pu import AutoPU

ROWS, PERMUTATIONS, MOST_FEATURES = 400, 3, 50
GRID, AVERAGED = 12, 100


class Dependence(NamedTuple):
    """Mean probability of a positive as a function of one feature.

    Attributes
    ----------
    feature : int
        Column of the feature.
    values : ndarray of shape (k,)
        Ascending values of the feature.
    probabilities : ndarray of shape (k,)
        Mean probability at each value.
    """

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
    """Return the permutation importance of each feature: the decrease of the PU-AUC when its values are shuffled.

    The importance is measured on training rows: it shows what the model uses, not what it would lose without the
    feature.

    Parameters
    ----------
    model : AutoPU
        Fitted model.
    X : ndarray of shape (n, m)
        Training rows, of which at most `ROWS` are used.
    labelled : ndarray of bool of shape (n,)
        True for labelled positives.
    rng : numpy.random.Generator
        Draws the rows and shuffles.
    progress : callable, optional
        Called after each feature with the numbers of finished and of all features to try.

    Returns
    -------
    ndarray of shape (m,)
        NaN for features not tried: only the `MOST_FEATURES` features are tried that alone separate labelled and
        unlabeled rows best.
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
    """Return the partial dependence of the probability on one feature.

    Parameters
    ----------
    model : AutoPU
        Fitted model.
    X : ndarray of shape (n, m)
        Rows; the mean is over a random `AVERAGED` of them.
    feature : int
        Column of the feature.
    rng : numpy.random.Generator
        Draws the rows.
    """
    rows = X[np.sort(rng.permutation(len(X))[:AVERAGED])]
    values = np.unique(np.quantile(X[:, feature], np.linspace(0.02, 0.98, GRID)))
    means = []
    for value in values:
        changed = rows.copy()
        changed[:, feature] = value
        means.append(float(model.predict_proba(changed)[:, 1].mean()))
    return Dependence(feature, values, np.array(means))
