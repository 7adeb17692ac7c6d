"""The rows of fit, ranked by their held-out scores: what `AutoPU.ranking_` and `pucli auto --scored` say of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pucli.core.arrays import Bools, Floats, Ints


def training_probabilities(model: Any, labeled: Bools) -> tuple[Floats, Floats, Floats]:
    """Return the probability of each training row with the prior, and with each end of its interval, (n,) each.

    In a single training set, labeled positives are missing from the unlabeled rows. With a share c of the positives
    labeled, an unlabeled row is positive with probability p (1 - c) / (1 - c p) (Elkan and Noto 2008); p is that of a
    new row like it.
    """
    p = model.probability_of(model.held_out_)
    columns = [p, *model.probability_range(p)]
    share = model.prior_estimate_.labeled
    if model.labeling_ == "scar" and share > 0.0:
        for k, prior in enumerate((model.prior_, *model.prior_interval_)):
            c, q = min(1.0, share / max(prior, 1e-12)), columns[k]
            columns[k] = np.where(labeled, q, q * (1.0 - c) / np.maximum(1.0 - c * q, 1e-12))
    p, low, high = columns
    return p, np.minimum(low, p), np.maximum(high, p)


def held_out_columns(model: Any, labeled: Bools) -> dict[str, Floats]:
    """Return the held-out score minus the threshold, and the probability with its range, of each training row."""
    p, low, high = training_probabilities(model, labeled)
    scores = model.held_out_ - model.threshold_
    return {"score": scores, "probability": p, "probability_low": low, "probability_high": high}


def ranked(scores: Floats, known: Ints) -> Ints:
    """Return the order of rows that are labeled (1), unlabeled (0) or known negatives (-1).

    Unlabeled rows come first, then the labeled ones, each kind by descending score.
    """
    order: Ints = np.lexsort((np.arange(len(scores)), -scores, known < 0, known != 0))
    return order
