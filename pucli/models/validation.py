"""Cross-validation of a PU method without true labels.

A flexible model may predict every labeled training row positive and learn nothing. Cross-validation on at most some
thousand rows shows this quickly, whatever the size of the table. Weights that were set for all rows need all rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg  # noqa: F401  a library that is loaded later escapes the limit on threads
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params
from threadpoolctl import threadpool_limits

from pucli.core.arrays import Bools, Floats, Ints
from pucli.core.json_values import OrNaN
from pucli.core.seeding import sample_of_each_kind, stream
from pucli.estimators.base.data_defaults import half_ridge_of_means, ridge_of_means
from pucli.metrics.ranking import CHANCE, chance_limit
from pucli.models.scores import decision_values
from pucli.solvers.ensemble.copies import groups_of_copies
from pucli.solvers.folds import number_of_folds, stratified_folds

FOLDS = 4
# Tables with more rows are sampled, with at most this many rows of each kind.
MOST_ROWS = 5000
MOST_LABELED, MOST_UNLABELED = 1000, 4000
SAMPLE = "held-out rows"  # name of its random numbers
# Parameters that weigh sums over all rows, and would mean something else on a sample.
WEIGHTS = ("lam", "lam1", "lam2", "c_p", "c_u", "C", "gamma_a", "gamma_i")


@dataclass(frozen=True)
class HeldOutResults:
    """Results on held-out rows."""

    # share of the labeled and of the unlabeled rows that are predicted positive
    recall: OrNaN
    share: OrNaN
    pu_auc: OrNaN  # probability that a labeled row has a higher score than an unlabeled one, the mean over the folds
    # number of rows of each kind
    labeled: int
    unlabeled: int
    # standard deviations of the first three over the folds
    recall_sd: OrNaN = 0.0
    share_sd: OrNaN = 0.0
    pu_auc_sd: OrNaN = 0.0
    prior: float | None = None  # class prior of the model, which every fold uses; None if the method has none

    @property
    def ranks(self) -> bool:
        """Whether labeled rows rank above unlabeled rows by more than chance."""
        return self.pu_auc > chance_limit(self.labeled, self.unlabeled)

    @property
    def warning(self) -> str:
        """Reason why the model may be useless, or "" if there is none."""
        if not self.ranks:
            by_chance = chance_limit(self.labeled, self.unlabeled)
            return (
                f"the model may be useless: labeled rows that it was not trained on hardly rank above unlabeled "
                f"ones (PU-AUC {self.pu_auc:.2f}; up to {by_chance:.2f} may be chance)"
            )
        spread = np.sqrt(self.share * (1.0 - self.share) / self.labeled)
        if self.recall - self.share <= CHANCE * spread:
            return (
                f"the threshold may be useless: of rows that the model was not trained on, it predicts "
                f"{100 * self.recall:.0f} % of the labeled and {100 * self.share:.0f} % of the unlabeled ones positive"
            )
        return ""


class HeldOutScores(NamedTuple):
    """Scores of rows by models that were trained without them."""

    rows: Ints  # (k,), numbers of the rows
    labeled: Bools  # (k,)
    fold: Ints  # (k,), the fold in which a row was held out
    scores: Floats  # (k,)
    prior: float | None  # class prior of the model, which every fold uses; None if the method has none
    grouped: bool = False  # whether the folds keep given groups together


def held_out(pipeline: Any, X: Floats, labeled: Bools, seed: int, groups: Ints | None = None) -> HeldOutResults | None:
    """Cross-validate a fitted PU pipeline with the parameters it has."""
    found = held_out_scores(pipeline, X, labeled, seed, groups)
    return None if found is None else judged(found)


def held_out_scores(
    pipeline: Any,
    X: Floats,
    labeled: Bools,
    seed: int,
    groups: Ints | None = None,
    negative: Bools | None = None,
    table: Any = None,
    params: Mapping[str, Any] | None = None,
) -> HeldOutScores | None:
    """Score rows by cross-validation of a fitted PU pipeline with the parameters it has.

    All folds use the class prior that the model estimated and, if its objective is an average over rows, the ridge that
    it chose by rule. Separate estimates and ridges for each fold would measure other models.
    """
    rows = _usable(pipeline[-1], labeled, seed)
    if rows is None:
        return None
    whole, X, s = X, X[rows], labeled[rows]
    given = None if groups is None else np.unique(groups[rows], return_inverse=True)[1]
    if number_of_folds(s, given) < FOLDS:
        return None
    known = _prior(pipeline[-1])
    kept = _kept(pipeline[-1], known)
    fold, scores = np.empty(len(s), dtype=np.int64), np.empty(len(s))
    known_no = np.zeros(len(s), dtype=bool) if negative is None else negative[rows]
    labels = s.astype(int) - known_no
    taken = X if table is None else _safe_indexing(table, rows)
    for k, (train, test) in enumerate(_folds(X, s, seed, given)):
        part = _check_method_params(whole, params or {}, indices=rows[train])
        values = _scores(pipeline, kept, _safe_indexing(taken, train), labels[train], _safe_indexing(taken, test), part)
        if values is None:
            return None
        fold[test], scores[test] = k, values
    shown = ~known_no
    return HeldOutScores(rows[shown], s[shown], fold[shown], scores[shown], known, given is not None)


def _folds(X: Floats, labeled: Bools, seed: int, groups: Ints | None = None) -> list[tuple[Ints, Ints]]:
    """Return training and test rows of each fold; groups, or copies of labeled rows, stay in one fold."""
    if groups is None and not issparse(X):
        groups = groups_of_copies(X, labeled)
    if groups is None or number_of_folds(labeled, groups) < FOLDS:
        return list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(labeled, labeled))
    fold = stratified_folds(labeled, FOLDS, stream(seed, "folds of groups"), groups)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(FOLDS)]


def held_out_classes(
    pipeline: Any, X: Floats, y: Ints, labeled: Bools, seed: int, groups: Ints | None = None
) -> tuple[Floats, Bools] | None:
    """Score labeled rows of two classes by cross-validation of a fitted semi-supervised pipeline."""
    rows = _usable(pipeline[-1], labeled, seed)
    if rows is None:
        return None
    X, y, known = X[rows], y[rows], np.flatnonzero(labeled[rows])
    classes, counts = np.unique(y[known], return_counts=True)
    if len(classes) != 2 or counts.min() < FOLDS:
        return None
    scores = np.empty(len(known))
    if groups is None:
        parts = [test for _, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(known, y[known])]
        together = np.arange(len(rows))
    else:
        together = np.unique(groups[rows], return_inverse=True)[1]
        of_known = np.unique(together[known], return_inverse=True)[1]
        if number_of_folds(y[known] == classes[-1], of_known) < FOLDS:
            return None
        fold = stratified_folds(y[known] == classes[-1], FOLDS, stream(seed, "folds of groups"), of_known)
        parts = [np.flatnonzero(fold == k) for k in range(FOLDS)]
    for test in parts:
        train = np.flatnonzero(~np.isin(together, together[known[test]]))
        values = _scores(pipeline, {}, X[train], y[train], X[known[test]])
        if values is None:
            return None
        scores[test] = values
    return scores, y[known] == classes[-1]


def _usable(estimator: Any, labeled: Bools, seed: int) -> Ints | None:
    """Return the numbers of the rows to cross-validate on, None if weights were set for too many of them."""
    if len(labeled) <= MOST_ROWS:
        return np.arange(len(labeled))
    if _sets_weights(estimator):
        return None
    return sample_of_each_kind(labeled, stream(seed, SAMPLE), MOST_LABELED, MOST_UNLABELED)


def _scores(
    pipeline: Any, kept: dict[str, float], X: Any, y: Ints, test: Any, params: Mapping[str, Any] = MappingProxyType({})
) -> Floats | None:
    """Return the scores of rows `test` by a model of rows X with labels y, None if it cannot be fitted or has none."""
    model = clone(pipeline)
    model[-1].set_params(**kept)
    try:
        with warnings.catch_warnings(action="ignore"), threadpool_limits(limits=1):
            return decision_values(model.fit(X, y, **params), test)
    except ValueError:
        return None


def judged(found: HeldOutScores) -> HeldOutResults:
    """Return recall, share and PU-AUC of held-out scores: means over the folds and their standard deviations."""
    results = []
    for k in range(FOLDS):
        scores, marked = found.scores[found.fold == k], found.labeled[found.fold == k]
        area = float(roc_auc_score(marked, scores))
        results.append((np.mean(scores[marked] > 0), np.mean(scores[~marked] > 0), area))
    folds = np.array(results, dtype=float)
    n_labeled = int(found.labeled.sum())
    recall, share, area = folds.mean(axis=0).tolist()
    recall_sd, share_sd, area_sd = folds.std(axis=0, ddof=1).tolist()
    n_unlabeled = len(found.labeled) - n_labeled
    return HeldOutResults(recall, share, area, n_labeled, n_unlabeled, recall_sd, share_sd, area_sd, found.prior)


def _prior(estimator: Any) -> float | None:
    """Return the class prior of a fitted estimator that takes one, None if it used none."""
    used = getattr(estimator, "prior_", None) if "prior" in estimator.get_params() else None
    return None if used is None else float(used)


def _kept(estimator: Any, prior: float | None) -> dict[str, float]:
    """Return the parameters of a fitted estimator that all folds share.

    The prior, and the ridge of an objective that is an average over rows: its rule divides by the number of rows, so
    that a fold would be smoother than the model and cut elsewhere.
    """
    kept = {} if prior is None else {"prior": prior}
    if getattr(estimator, "_rules", {}).get("lam") in (ridge_of_means, half_ridge_of_means):
        kept["lam"] = estimator.lam_
    return kept


def _sets_weights(estimator: Any) -> bool:
    """Return whether a weight differs from its default, which suits any number of rows."""
    given = {name: value for name, value in estimator.get_params().items() if name in WEIGHTS}
    default = type(estimator)().get_params() if given else {}
    return any(value != default[name] for name, value in given.items())
