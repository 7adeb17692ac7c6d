"""The baseline that the ensemble is compared with: an SVC that treats unlabeled rows as negative."""

from __future__ import annotations

from typing import Any

import numpy as np

from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble.ridge import CHOOSING_ROWS, pick_landmarks

NAME = "SVC, unlabeled as negative"


def naive_svc(
    X: np.ndarray, labelled: np.ndarray, fold: np.ndarray, population: np.ndarray, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the PU-AUC and the share predicted positive of a class-balanced SVC, from held-out scores.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Standardised rows; at most `CHOOSING_ROWS` of them are used.
    labelled : ndarray of bool of shape (n,)
        True for labelled positives.
    fold : ndarray of int of shape (n,)
        Fold that holds out each row.
    population : ndarray of bool of shape (n,)
        Rows that are a sample of the population; the share refers to them.
    rng : numpy.random.Generator
        Draws the rows that are used.

    Returns
    -------
    dict
        "pu_auc" and "share"; "rows", the indices of the rows that are used; and "scores", their held-out scores.
    """
    from sklearn.svm import SVC

    rows = pick_landmarks(labelled, CHOOSING_ROWS, rng)
    X, s, fold = X[rows], labelled[rows], fold[rows]
    scores = np.empty(len(rows))
    for b in np.unique(fold):
        kept = fold != b
        scores[~kept] = SVC(class_weight="balanced").fit(X[kept], s[kept]).decision_function(X[~kept])
    ranked = s | population[rows]
    return {
        "pu_auc": pu_auc(scores[ranked], s[ranked]),
        "share": float(np.mean(scores[population[rows]] > 0)),
        "scores": scores,
        "rows": rows,
    }
