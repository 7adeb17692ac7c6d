"""AUC of labelled against unlabeled rows.

Under random labelling it is an increasing function of the true AUC, AUC_PU = prior / 2 + (1 - prior) AUC (Menon et al.
2015; Jain, White, Radivojac 2017). Models can therefore be compared by it without knowing the prior.
"""

from __future__ import annotations

import numpy as np

from pucli.solvers.prior.best_bin import auc

__all__ = ["auc", "pu_auc", "true_auc"]


def pu_auc(scores: np.ndarray, labelled: np.ndarray) -> float:
    """Return the share of pairs of a labelled and an unlabeled row in which the labelled one has the larger score.

    scores : (n,). labelled : (n,) bool. Ties count half.
    """
    return auc(scores[labelled], scores[~labelled])


def true_auc(pu: float | np.ndarray, prior: float | np.ndarray) -> float | np.ndarray:
    """Return the AUC of positives against negatives for a PU-AUC and a prior, within [0, 1]."""
    return np.clip((pu - 0.5 * prior) / np.maximum(1.0 - prior, 1e-12), 0.0, 1.0)
