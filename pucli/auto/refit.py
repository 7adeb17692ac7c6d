"""One refit with soft labels: the members again, with each unlabeled row as positive as it is probable to be.

An unlabeled row that is surely a positive pulls the first fit the wrong way. The refit takes its target from the
probability p that models which did not see the row gave it, 2 p - 1 instead of -1 (squared loss: the same as the row
twice, with weights p and 1 - p, cf. Elkan and Noto 2008, section 3). It ranks better. Its own held-out scores are not
used to judge it: a labelled row has raised the probabilities of its neighbours. Prior, cut and estimates stay those of
the first fit, and its scores are brought to the scale of the first by the quantiles of the unlabeled rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pucli.auto.ensemble import Ensemble, FittedMember, standardised_member
from pucli.auto.members import Member, TrainingRows
from pucli.seeding import stream

QUANTILES = 2000


@dataclass
class QuantileMap:
    """A non-decreasing map from scores to scores, linear between knots, of slope one beyond. source, target : (k,)."""

    source: np.ndarray
    target: np.ndarray

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
    """The refitted ensemble and the map to the scale of the first one."""

    ensemble: Ensemble
    scale: QuantileMap

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the scores of the rows of X (n, m), shape (n,)."""
        return self.scale.of(self.ensemble.score(X))


def refit(
    members: Sequence[Member],
    ensemble: Ensemble,
    X: np.ndarray,
    labelled: np.ndarray,
    folds: np.ndarray,
    held_out: np.ndarray,
    probabilities: np.ndarray,
    seed: int,
    n_jobs: int | None,
) -> Refitted | None:
    """Return the members that can be refitted, on soft labels; None if none can.

    Parameters
    ----------
    members, ensemble : the members and their first fit.
    X, labelled, folds : training rows (n, m), who is labelled (n,), divisions (repeats, n).
    held_out, probabilities : (n,) of the first fit, for each row by models that did not see it.
    seed, n_jobs : of the random streams, and of the threads.
    """
    from joblib import Parallel, delayed

    views = ensemble.views.of(X)
    targets = np.where(labelled, 1.0, 2.0 * probabilities - 1.0)

    def one(member: Member, first: FittedMember) -> tuple[FittedMember, np.ndarray]:
        assert member.refit is not None
        rows = TrainingRows(views[member.view], labelled, folds)
        model, scores = member.refit(rows, targets, first.model, first.parameters, stream(seed, "refit", member.name))
        return standardised_member(member, model, first.parameters, scores, labelled, ~labelled)

    pairs = [(m, first) for m, first in zip(members, ensemble.members, strict=True) if m.refit is not None]
    if not pairs:
        return None
    results = Parallel(n_jobs=n_jobs, backend="threading")(delayed(one)(*pair) for pair in pairs)
    scores = np.mean([scores for _, scores in results], axis=0)
    again = Ensemble(ensemble.views, [fitted for fitted, _ in results])
    return Refitted(again, quantile_map(scores[~labelled], held_out[~labelled]))
