"""Probabilities of a positive by the scores of training rows; `pucli.CalibratedPU` takes held-out scores instead."""

from __future__ import annotations

from typing import Any

import numpy as np

from pucli.core.arrays import Floats
from pucli.core.lru_cache import KEPT
from pucli.core.seeding import stream

# Least distance of two knots, as a share of the largest score.
NEAREST = 1e-6


def has_own_probabilities(model: Any) -> bool:
    """Return whether a model, or the last step of a pipeline, has probabilities that are part of its method."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return hasattr(last, "predict_proba") and not getattr(type(last), "_by_training_scores", False)


def probability_of_scores(scores: Floats, positive: Floats, population: Floats, prior: float | None) -> Floats:
    """Return the probability of a positive at each score, by the calibration of `pucli.solvers.ensemble.calibration`.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Scores.
    positive, population : ndarray of shape (p,) and (u,)
        Sorted scores of labelled and of unlabeled training rows.
    prior : float or None
        Share of positives among the unlabeled rows; None estimates it from the scores.
    """
    from pucli.solvers.ensemble.calibration import Calibration, make_calibration
    from pucli.solvers.ensemble.hidden_share import estimate_prior

    def curve() -> Calibration:
        share = estimate_prior(positive, population, stream(0, "prior")).value if prior is None else prior
        found = make_calibration(positive, population, share, stream(0, "calibration"))
        least = found.least(positive, population, share)
        # Knots nearer to each other would let the rounding of a score show.
        step = NEAREST * max(float(np.abs(both).max()), 1e-300)
        knots, places = np.unique(np.round(found.scores / step) * step, return_index=True)
        return Calibration(knots, np.clip(found.probabilities[places], least, 1.0))

    both = np.concatenate([positive, population])
    made = KEPT.get(("probability", len(positive), prior), both, 400, curve)
    return made.of(scores)
