"""A refit of the members with soft labels: the target of an unlabeled row is its probability of being positive.

The first fit treats every unlabeled row as negative, even one that is almost certainly positive. The refit replaces the
target -1 by 2 p - 1, where p is the probability given by models trained without the row. With the squared loss, this is
the same as using the row twice with weights p and 1 - p (cf. Elkan and Noto 2008, section 3). With few labeled rows
the refit ranks better. With many it ranks worse, as the members become alike: all fit the mean of all. It is left out
then.

Its own held-out scores are biased, because a labeled row has raised the probabilities of its neighbors. Prior,
threshold and estimates therefore stay those of the first fit, and the quantiles of the unlabeled rows map the scores of
the refit to the scale of the first fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pucli.core.saved_state import Array, Nested, State
from pucli.core.seeding import stream
from pucli.solvers.ensemble.ensemble import Ensemble, FittedMember, last_first, standardized_member
from pucli.solvers.ensemble.first_fit import FirstFit
from pucli.solvers.ensemble.members import Member, MemberRows

QUANTILES = 2000
# With more than so many rows and labeled rows there is no refit. With up to 700 rows (the design half of benchmark
# `quality`) the AUC rose by .004 with up to 30 labeled rows and by .001 with more than 60; with 2,000 to 8,000 rows, a
# quarter of the positives labeled, it fell on 17 of 22 tables, by .003 on average; with 60 labeled of 6,000 it rose.
MOST_ROWS, MOST_LABELED = 800, 100


@dataclass
class QuantileMap:
    """A non-decreasing map of scores, linear between knots, with slope one beyond them."""

    # (k,), ascending knots and their images
    source: np.ndarray
    target: np.ndarray
    saved_state: ClassVar[State] = {
        "source": Array("knots"),
        "target": Array("knots"),
    }

    def of(self, scores: np.ndarray) -> np.ndarray:
        """Return the mapped scores."""
        inside = np.interp(scores, self.source, self.target)
        result: np.ndarray = (
            inside + np.minimum(scores - self.source[0], 0.0) + np.maximum(scores - self.source[-1], 0.0)
        )
        return result


def quantile_map(source: np.ndarray, target: np.ndarray) -> QuantileMap:
    """Return the map that gives the sample `source` the distribution of the sample `target`, both (n,)."""
    levels = np.linspace(0.0, 1.0, min(len(source), QUANTILES))
    knots, first = np.unique(np.quantile(source, levels), return_index=True)
    return QuantileMap(knots, np.quantile(target, levels)[first])


@dataclass
class Refitted:
    """The refitted ensemble and the map to the scale of the first fit."""

    ensemble: Ensemble
    scale: QuantileMap
    saved_state: ClassVar[State] = {
        "ensemble": Nested("Ensemble"),
        "scale": Nested("QuantileMap"),
    }

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the scores of the rows of X (n, m), shape (n,)."""
        return self.scale.of(self.ensemble.score(X))


def refit(
    members: Sequence[Member], first: FirstFit, probabilities: np.ndarray, seed: int, n_jobs: int | None
) -> Refitted | None:
    """Refit the members that have a `refit` with soft labels; the others stay as they are.

    Returns None if no member has one, or if there are more than `MOST_ROWS` rows and `MOST_LABELED` labeled ones.
    """
    X, labeled, ensemble = first.X, first.labeled, first.ensemble
    many = len(X) > MOST_ROWS and np.count_nonzero(labeled) > MOST_LABELED
    if many or all(member.refit is None for member in members):
        return None
    views = ensemble.views.of(X)
    targets = np.where(labeled, 1.0, 2.0 * probabilities - 1.0)

    def one(member: Member, fitted: FittedMember, scores: np.ndarray) -> tuple[FittedMember, np.ndarray]:
        if member.refit is None:
            return fitted, scores
        rows = MemberRows(views[member.view], labeled, first.folds)
        model, scores = member.refit(rows, targets, fitted.model, fitted.parameters, stream(seed, "refit", member.name))
        return standardized_member(member, model, fitted.parameters, scores, labeled, ~labeled)

    results = last_first(one, list(zip(members, ensemble.members, first.scores, strict=True)), n_jobs)
    again = first._replace(scores=np.stack([scores for _, scores in results]))
    refitted = Ensemble(ensemble.views, [fitted for fitted, _ in results]).weighted(first.weights)
    return Refitted(refitted, quantile_map(again.held_out[~labeled], first.held_out[~labeled]))
