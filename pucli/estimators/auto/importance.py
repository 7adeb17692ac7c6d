"""Permutation importance of columns for the PU-AUC, and partial dependence. A column may have several features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from pucli.core.arrays import Floats, Ints
from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble.held_out import HeldOutScorer
from pucli.solvers.ensemble.refit import Refitted
from pucli.solvers.ensemble.ridge import pick_landmarks
from pucli.solvers.ensemble.rows import row_order, varying_columns

ROWS, PERMUTATIONS = 400, 3
# The most columns that are measured, and of tables with more features than this budget divided by it, the fewest.
MOST_COLUMNS, FEWEST_COLUMNS, BUDGET = 50, 12, 4000
AVERAGED = 100


class Importances(NamedTuple):
    """Importance of each column."""

    fall: Floats  # (k,), decrease of the PU-AUC of held-out rows, mean over the folds; NaN for columns not measured
    error: Floats  # (k,), its standard error over the folds
    order: Ints  # (k,), most important columns first; those not measured by how well a feature alone separates the rows


def importances(
    model: Any,
    X: np.ndarray,
    labeled: np.ndarray,
    rng: np.random.Generator,
    columns: Sequence[slice] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Importances:
    """Return the permutation importance of each column: the decrease of the PU-AUC when its cells are shuffled.

    The importance is measured on held-out rows, each scored by models that were trained without it: it shows what the
    ranking depends on, not what it would lose without the column. No column is measured if there are fewer than two
    folds with rows of both kinds, or if all members are of other packages.
    """
    order = row_order(model.varying(X), labeled)
    rows = order[pick_landmarks(labeled[order], ROWS, rng)]
    copies, s = X[rows], labeled[rows]
    places = [slice(j, j + 1) for j in range(X.shape[1])] if columns is None else columns
    each = np.array([abs(pu_auc(feature, s) - 0.5) for feature in copies.T])
    alone = np.array([each[place].max() for place in places])
    fall, error = np.full(len(places), np.nan), np.full(len(places), np.nan)
    best = np.argsort(-alone, kind="stable")
    scorer = _scorer(model, X, labeled, order, rng)
    folds = [] if scorer is None else _both_kinds(scorer.folds[0, rows], s)
    if scorer is None or len(folds) < 2:
        return Importances(fall, error, best)

    def ranking(*changed: Floats) -> Floats:
        """Return the mean PU-AUC of each fold over changed copies of the rows."""
        with threadpool_limits(1):
            score = scorer.score(np.concatenate(changed)[:, model._columns], np.tile(rows, len(changed)))
        each = score.reshape(len(changed), -1)
        return np.array([np.mean([pu_auc(one[out], s[out]) for one in each]) for out in folds])

    whole = ranking(copies)
    varying = set(varying_columns(copies).tolist())
    tried = [k for k in best if varying & set(range(places[k].start, places[k].stop))]
    tried = tried[: min(MOST_COLUMNS, max(FEWEST_COLUMNS, BUDGET // X.shape[1]))]
    for done, k in enumerate(tried, start=1):
        shuffled = [copies.copy() for _ in range(PERMUTATIONS)]
        for one in shuffled:
            one[:, places[k]] = copies[rng.permutation(len(copies))][:, places[k]]
        falls = whole - ranking(*shuffled)
        fall[k], error[k] = falls.mean(), falls.std(ddof=1) / np.sqrt(len(folds))
        if progress is not None:
            progress(done, len(tried))
    first = sorted(tried, key=lambda k: -fall[k])
    return Importances(fall, error, np.array([*first, *(k for k in best if k not in set(tried))]))


def _scorer(model: Any, X: Floats, labeled: np.ndarray, order: Ints, rng: np.random.Generator) -> HeldOutScorer | None:
    """Return the scorer of training rows X (n, m), drawn in this order; None if nothing can be held out."""
    if model._folds is None or model._columns is None:
        return None
    ensemble, targets = model.ensemble_, None
    if isinstance(ensemble, Refitted):
        ensemble = ensemble.ensemble
        targets = np.where(labeled, 1.0, 2.0 * model.calibration_.of(model.held_out_) - 1.0)
    columns = model._columns
    with threadpool_limits(1):
        scorer = HeldOutScorer(ensemble, lambda rows: X[rows][:, columns], labeled, model._folds, targets, order, rng)
    return scorer if scorer.models else None


def _both_kinds(fold: np.ndarray, labeled: np.ndarray) -> list[np.ndarray]:
    """Return the masks (n,) of the folds that have rows of both kinds."""
    masks = [fold == b for b in np.unique(fold)]
    return [out for out in masks if 0 < np.count_nonzero(labeled[out]) < np.count_nonzero(out)]


def dependence(model: Any, X: np.ndarray, place: slice, cells: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the partial dependence of the probability on one column: its mean, (k,), with each of `cells`."""
    rows = X[row_order(model.varying(X), np.zeros(len(X)))[rng.permutation(len(X))[:AVERAGED]]]
    changed = np.tile(rows, (len(cells), 1, 1))
    changed[:, :, place] = cells[:, None]
    means: Floats = model.predict_proba(changed.reshape(-1, X.shape[1]))[:, 1].reshape(len(cells), -1).mean(axis=1)
    return means
