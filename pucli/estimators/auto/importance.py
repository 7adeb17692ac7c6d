"""Permutation importance of columns for the PU-AUC, and partial dependence. A column may have several features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble.ridge import pick_landmarks
from pucli.solvers.ensemble.rows import row_order

if TYPE_CHECKING:
    from pucli.estimators.auto.auto_pu import AutoPU

ROWS, PERMUTATIONS, MOST_COLUMNS = 400, 3, 50
AVERAGED = 100


def importances(
    model: AutoPU,
    X: np.ndarray,
    labelled: np.ndarray,
    rng: np.random.Generator,
    columns: Sequence[slice] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> np.ndarray:
    """Return the permutation importance of each column: the decrease of the PU-AUC when its cells are shuffled.

    The importance is measured on training rows: it shows what the model uses, not what it would lose without the
    column.

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
    columns : sequence of k slices, optional
        Features of each column, which are shuffled together; by default each feature is a column.
    progress : callable, optional
        Called after each column with the numbers of finished and of all columns to try.

    Returns
    -------
    ndarray of shape (k,)
        NaN for columns not tried: only the `MOST_COLUMNS` columns are tried of which a feature alone separates labelled
        and unlabeled rows best.
    """
    order = row_order(X, labelled)
    rows = order[pick_landmarks(labelled[order], ROWS, rng)]
    X, s = X[rows], labelled[rows]
    whole = pu_auc(model.score_rows(X), s)
    places = [slice(j, j + 1) for j in range(X.shape[1])] if columns is None else columns
    each = np.array([abs(pu_auc(feature, s) - 0.5) for feature in X.T])
    alone = np.array([each[place].max() for place in places])
    found = np.full(len(places), np.nan)
    tried = np.argsort(-alone, kind="stable")[:MOST_COLUMNS]
    for done, k in enumerate(tried, start=1):
        falls = []
        for _ in range(PERMUTATIONS):
            shuffled = X.copy()
            shuffled[:, places[k]] = X[rng.permutation(len(X))][:, places[k]]
            falls.append(whole - pu_auc(model.score_rows(shuffled), s))
        found[k] = np.mean(falls)
        if progress is not None:
            progress(done, len(tried))
    return found


def dependence(model: AutoPU, X: np.ndarray, place: slice, cells: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the partial dependence of the probability on one column: its mean, (k,), with each of `cells`.

    Parameters
    ----------
    model : AutoPU
        Fitted model.
    X : ndarray of shape (n, m)
        Rows; the mean is over a random `AVERAGED` of them.
    place : slice
        Features of the column.
    cells : ndarray of shape (k, features of the column)
        Features of k cells.
    rng : numpy.random.Generator
        Draws the rows.
    """
    rows = X[row_order(X, np.zeros(len(X)))[rng.permutation(len(X))[:AVERAGED]]]
    means = []
    for features in cells:
        changed = rows.copy()
        changed[:, place] = features
        means.append(float(model.predict_proba(changed)[:, 1].mean()))
    return np.array(means)
