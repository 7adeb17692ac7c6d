"""AUC of labelled against unlabeled rows.

Under random labelling it is an increasing function of the true AUC, AUC_PU = prior / 2 + (1 - prior) AUC (Menon et al.
2015; Jain, White, Radivojac 2017). Models can therefore be compared by it without knowing the prior.
"""

from __future__ import annotations

import numpy as np

from pucli.metrics.ranking import QUANTILE, auc, noise_limit

__all__ = ["auc", "chance_limit", "pu_auc", "true_auc"]

# Quantile times how much wider cross-validated results spread on pure noise than they would if the folds were
# independent (measured: 1.26 to 1.45).
CHANCE = QUANTILE * 1.3


def pu_auc(scores: np.ndarray, labelled: np.ndarray) -> float:
    """Return the share of pairs of a labelled and an unlabeled row in which the labelled row has the larger score.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Scores. Ties count half.
    labelled : ndarray of bool of shape (n,)
        True for labelled positives.
    """
    return auc(scores[labelled], scores[~labelled])


def chance_limit(labelled: int, unlabeled: int) -> float:
    """Return the PU-AUC that held-out scores of pure noise exceed in about one of twenty cases."""
    return noise_limit(labelled, unlabeled, quantile=CHANCE)


def true_auc(pu: float | np.ndarray, prior: float | np.ndarray) -> float | np.ndarray:
    """Return the AUC of positives against negatives for a PU-AUC and a prior, within [0, 1]."""
    return np.clip((pu - 0.5 * prior) / np.maximum(1.0 - prior, 1e-12), 0.0, 1.0)
