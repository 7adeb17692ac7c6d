"""How a PU method does on rows that it was not trained on, without true labels.

Training rows flatter a flexible model: it may predict every labelled row positive and learn nothing. Cross-validation
on at most a few hundred rows shows that in little time, whatever the size of the table. Weights that were set for
all rows need all rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  a library that is loaded later escapes the limit on threads
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from pucli.arrays import AnyArray, Bools, Floats
from pucli.auto.ranking import CHANCE, chance_limit
from pucli.estimators.base.scales import half_ridge_of_means, ridge_of_means
from pucli.models import decision_values
from pucli.seeding import stream

FOLDS = 4
# The most rows of each kind.
MOST_LABELLED, MOST_UNLABELED = 300, 900
# With such parameters, up to this many rows are all used.
MOST_WEIGHTED = 5000
# Parameters whose numbers are for sums over all rows; on a sample they mean something else.
WEIGHTS = ("lam", "lam1", "lam2", "c_p", "c_u", "C", "gamma_a", "gamma_i")


@dataclass(frozen=True)
class HeldOut:
    """Results on held-out rows.

    Attributes
    ----------
    recall, share : float
        Share of the labelled and of the unlabeled rows that are predicted positive.
    pu_auc : float
        Probability that a labelled row has a higher score than an unlabeled one, the mean over the folds.
    labelled, unlabeled : int
        Number of rows of each kind.
    recall_sd, share_sd, pu_auc_sd : float
        Standard deviations of the first three over the folds.
    prior : float or None
        The class prior of the model, of which every fold makes use; None if the method has none.
    """

    recall: float
    share: float
    pu_auc: float
    labelled: int
    unlabeled: int
    recall_sd: float = 0.0
    share_sd: float = 0.0
    pu_auc_sd: float = 0.0
    prior: float | None = None

    @property
    def warning(self) -> str:
        """Why the model may be useless, or "" if nothing speaks for it."""
        by_chance = chance_limit(self.labelled, self.unlabeled)
        if self.pu_auc <= by_chance:
            return (
                f"the model may be useless: labelled rows that it was not trained on do not rank above unlabeled ones "
                f"(PU-AUC {self.pu_auc:.2f}; up to {by_chance:.2f} may be chance)"
            )
        spread = np.sqrt(self.share * (1.0 - self.share) / self.labelled)
        if self.recall - self.share <= CHANCE * spread:
            return (
                f"the cut may be useless: of rows that the model was not trained on, it predicts "
                f"{100 * self.recall:.0f} % of the labelled and {100 * self.share:.0f} % of the unlabeled ones positive"
            )
        return ""


def held_out(pipeline: Any, X: Floats, labelled: Bools, seed: int) -> HeldOut | None:
    """Cross-validate a fitted PU pipeline with the parameters it has.

    Where the model estimated its class prior, all folds take that estimate, and where its objective is an average over
    rows, the ridge that it chose by rule. With estimates and rules of each fold, the results would be those of other
    models.

    Parameters
    ----------
    pipeline : fitted pipeline
        Only its parameters and its class prior are used.
    X : ndarray of shape (n, m)
    labelled : ndarray of shape (n,)
    seed : int
        Of the rows and the folds.

    Returns
    -------
    HeldOut or None
        None if there are too few rows of a kind, the method cannot be fitted to a part of the rows, or weights were set
        for more than `MOST_WEIGHTED` rows, which no sample could do with.
    """
    rows = _drawn(labelled, seed)
    if len(rows) < len(labelled) and _sets_weights(pipeline[-1]):
        if len(labelled) > MOST_WEIGHTED:
            return None
        rows = np.arange(len(labelled))
    X, s = X[rows], labelled[rows]
    n_labelled = int(s.sum())
    if min(n_labelled, len(s) - n_labelled) < FOLDS:
        return None
    known = _prior(pipeline[-1])
    kept = _kept(pipeline[-1], known)
    found = []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, s):
        model = clone(pipeline)
        model[-1].set_params(**kept)
        try:
            with warnings.catch_warnings(), threadpool_limits(limits=1):
                warnings.simplefilter("ignore")
                values = decision_values(model.fit(X[train], s[train].astype(int)), X[test])
        except ValueError:
            return None
        if values is None:
            return None
        marked = s[test]
        found.append((np.mean(values[marked] > 0), np.mean(values[~marked] > 0), float(roc_auc_score(marked, values))))
    folds = np.array(found, dtype=float)
    recall, share, area = folds.mean(axis=0).tolist()
    recall_sd, share_sd, area_sd = folds.std(axis=0, ddof=1).tolist()
    return HeldOut(recall, share, area, n_labelled, len(s) - n_labelled, recall_sd, share_sd, area_sd, known)


def _prior(estimator: Any) -> float | None:
    """Return the class prior of a fitted estimator that takes one, None if it used none."""
    used = getattr(estimator, "prior_", None) if "prior" in estimator.get_params() else None
    return None if used is None else float(used)


def _kept(estimator: Any, prior: float | None) -> dict[str, float]:
    """Return the parameters of a fitted estimator that the folds take as numbers.

    The prior, and the ridge of an objective that is an average over rows: its rule divides by the number of rows, so
    that a fold would be smoother than the model and cut elsewhere.
    """
    kept = {} if prior is None else {"prior": prior}
    if getattr(estimator, "_rules", {}).get("lam") in (ridge_of_means, half_ridge_of_means):
        kept["lam"] = estimator.lam_
    return kept


def _sets_weights(estimator: Any) -> bool:
    """Return whether a weight differs from its default, which suits any number of rows."""
    given, default = estimator.get_params(), type(estimator)().get_params()
    return any(given[name] != default[name] for name in WEIGHTS if name in given)


def _drawn(labelled: Bools, seed: int) -> AnyArray:
    random = stream(seed, "held-out rows")
    parts = [
        random.permutation(np.flatnonzero(kind))[:most]
        for kind, most in ((labelled, MOST_LABELLED), (~labelled, MOST_UNLABELED))
    ]
    return np.sort(np.concatenate(parts))
