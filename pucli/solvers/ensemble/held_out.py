"""Scores of changed copies of training rows by the models of an ensemble that were trained without these rows.

Each tree leaves out one fold of one division of the rows, in turn (`pucli.solvers.ensemble.forests`), so that those
without a row are among the trees of the ensemble. The other members are fitted again without each fold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.solvers.ensemble.boosting.categories import CategoryTrees
from pucli.solvers.ensemble.ensemble import Ensemble, FittedMember
from pucli.solvers.ensemble.forests import TreeSum
from pucli.solvers.ensemble.least_squares.linear import Linear, fit_linear
from pucli.solvers.ensemble.members import MEMBERS, SOFT_RIDGE, Model
from pucli.solvers.ensemble.ridge import CHOOSING_ROWS, KernelRidge, fit_targets, pick_landmarks
from pucli.solvers.ensemble.rows import balanced_weights
from pucli.solvers.ensemble.screening import centroid_weights


@dataclass
class FoldModel:
    """A model that was trained without one fold of one division."""

    division: int
    fold: int
    weight: int  # number of models in it
    model: Model


class HeldOutScorer:
    """Scores by the models that were trained without a row; members of other packages are left out.

    Parameters
    ----------
    ensemble : Ensemble
        Fitted ensemble.
    rows_of : callable
        Returns the training rows with the given numbers, as the ensemble takes them.
    labeled : ndarray of bool of shape (n,)
        True for labeled positives.
    folds : ndarray of int8 of shape (divisions, n)
        Fold of each row in each division.
    targets : ndarray of shape (n,), optional
        Soft labels from -1 to 1 that the ensemble was refitted with.
    order : ndarray of int of shape (n,)
        Order of the rows in which some are drawn, if there are more than `CHOOSING_ROWS` to fit a ridge to again.
    rng : numpy.random.Generator
        Draws these rows.
    """

    def __init__(
        self,
        ensemble: Ensemble,
        rows_of: Callable[[Ints], Floats],
        labeled: Bools,
        folds: AnyArray,
        targets: Floats | None,
        order: Ints,
        rng: np.random.Generator,
    ) -> None:
        names = {member.name for member in MEMBERS}
        members = [member for member in ensemble.members if member.name in names]
        self.ensemble = Ensemble(ensemble.views, members)
        self.folds = folds

        def fitted_again(member: FittedMember) -> list[FoldModel]:
            def of_view(rows: Ints) -> Floats:
                return ensemble.views.one(member.view, rows_of(rows))

            return _fitted_again(member, of_view, labeled, folds[0], targets, order, rng)

        self.models = [
            _of_trees(member, folds) if isinstance(member.model, (TreeSum, CategoryTrees)) else fitted_again(member)
            for member in members
        ]

    def score(self, X: Floats, rows: Ints) -> Floats:
        """Return the scores (k,) of rows X (k, m), changed copies of the training rows numbered `rows` (k,)."""
        views, folds = self.ensemble.views.of(X), self.folds[:, rows]
        total = np.zeros(len(X))
        for member, models in zip(self.ensemble.members, self.models, strict=True):
            score, count = np.zeros(len(X)), np.zeros(len(X))
            for one in models:
                out = np.flatnonzero(folds[one.division] == one.fold)
                if len(out):
                    score[out] += one.model.score(views[member.view][out])
                    count[out] += one.weight
            total += member.standardized(score / count)
        return total / len(self.models)


def _of_trees(member: FittedMember, folds: AnyArray) -> list[FoldModel]:
    """Return the trees of a member without each fold; trees of one model, `rounds` of them, leave out the same."""
    model, size = member.model, int(member.parameters.get("rounds", 1))
    forest, divisions, n_folds = model.forest, len(folds), int(folds.max()) + 1
    models = np.arange((len(forest.start) - 1) // size)
    division, fold = (models // n_folds) % divisions, models % n_folds
    found = []
    for d, b in np.unique(np.column_stack([division, fold]), axis=0).tolist():
        chosen = np.flatnonzero((division == d) & (fold == b))
        part, nodes = forest.only((chosen[:, None] * size + np.arange(size)).ravel())
        sub = replace(model, forest=part, scale=model.scale * len(models))
        if isinstance(sub, CategoryTrees):
            sub = replace(sub, levels=model.levels[nodes])
        found.append(FoldModel(d, b, len(chosen), sub))
    return found


def _fitted_again(
    member: FittedMember,
    rows_of: Callable[[Ints], Floats],
    labeled: Bools,
    fold: AnyArray,
    targets: Floats | None,
    order: Ints,
    rng: np.random.Generator,
) -> list[FoldModel]:
    """Return a member that is not of trees, fitted without each fold, with the parameters that were chosen."""
    ridge = member.parameters.get("ridge", 1.0) * (1.0 if targets is None else SOFT_RIDGE)
    y, weights = np.where(labeled, 1.0, -1.0) if targets is None else targets, balanced_weights(labeled)
    found = []
    for b in range(int(fold.max()) + 1):
        kept = order[fold[order] != b]
        of_kept, of_rows = weights[kept], ridge
        if len(order) > CHOOSING_ROWS:
            kept = kept[pick_landmarks(labeled[kept], CHOOSING_ROWS, rng)]
            of_kept, of_rows = balanced_weights(labeled[kept]), ridge * len(kept) / CHOOSING_ROWS
        model: KernelRidge | Linear = member.model
        if columns := member.parameters.get("columns"):
            model = Linear(centroid_weights(rows_of(kept), labeled[kept], (columns,))[:, 0], 0.0)
        elif isinstance(model, Linear):
            model = fit_linear(rows_of(kept), labeled[kept], fold[kept], rng)[0]
        else:
            model = fit_targets(model, rows_of(kept), y[kept], of_kept, of_rows)
        found.append(FoldModel(0, b, 1, model))
    return found
