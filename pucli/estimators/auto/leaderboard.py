"""The leaderboard of a fitted `AutoPU`: the ensemble, its members and a naive SVC, by PU-AUC."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from pucli.core.errors import DegenerateModelWarning, warn_user
from pucli.metrics.ranking import pu_auc, true_auc
from pucli.solvers.ensemble.estimates import f1_of
from pucli.solvers.ensemble.first_fit import FirstFit
from pucli.solvers.ensemble.hidden_share import hidden_share
from pucli.solvers.ensemble.ridge import CHOOSING_ROWS, pick_landmarks
from pucli.solvers.ensemble.sar import auc_and_recall
from pucli.solvers.ensemble.threshold import recall_above

BASELINE = "SVC, unlabeled as negative"


class _Fitted(Protocol):
    """Attributes of an `AutoPU` that the leaderboard reads: its parameters, class prior, threshold and estimates."""

    scenario: str
    labeling_: str
    prior_: float
    chosen_threshold_: Any
    calibration_: Any
    estimates_: dict[str, Any]
    _curve: Any


def leaderboard(model: _Fitted, first: FirstFit, naive: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the lines by descending PU-AUC: members at the ensemble's share, the SVC at its own threshold."""
    labeled, population = first.labeled, first.population
    share = model.chosen_threshold_.share
    members = first.ensemble.members
    held_out = {"ensemble": first.held_out}
    held_out |= {member.name: row for member, row in zip(members, first.scores, strict=True)}
    parameters = {member.name: member.parameters for member in members}
    if first.weights is not None:
        for member, weight in zip(members, first.weights, strict=True):
            parameters[member.name] = {**member.parameters, "weight": float(weight)}
    found = []
    hidden = hidden_share(model.prior_, labeled, model.scenario)
    ranked = labeled | population  # known negatives, which are easy to rank, are no part of a case-control population
    chance = model.calibration_.of(held_out["ensemble"])
    for name, row in held_out.items():
        threshold = float(np.quantile(row[population], 1.0 - share))
        ranking, recall = (
            pu_auc(row[ranked], labeled[ranked]),
            recall_above(row[labeled], share, threshold, model._curve),
        )
        auc = float(true_auc(ranking, hidden))
        if model.labeling_ == "sar":
            auc, recall = auc_and_recall(row[population], chance[population], row[population] > threshold)
        f1 = f1_of(recall, share, model.prior_)
        if name == "ensemble":
            auc, f1 = (model.estimates_[estimate].value for estimate in ("auc", "f1"))
        found.append(_line(name, ranking, auc, f1, parameters.get(name, {})))
    ranking, share, auc = naive["pu_auc"], naive["share"], float(true_auc(naive["pu_auc"], hidden))
    recall = recall_above(naive["scores"][labeled[naive["rows"]]], share, 0.0, model._curve)
    if model.labeling_ == "sar":
        seen = population[naive["rows"]]
        s = naive["scores"][seen]
        auc, recall = auc_and_recall(s, chance[naive["rows"]][seen], s > 0)
    found.append(_line(BASELINE, ranking, auc, f1_of(recall, share, model.prior_), {}))
    return sorted(found, key=lambda line: -line["pu_auc"])


def _line(name: str, ranking: float, auc: float, f1: float, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "pu_auc": ranking, "auc": auc, "f1": f1, "parameters": parameters}


def naive_svc(
    X: np.ndarray, labeled: np.ndarray, fold: np.ndarray, population: np.ndarray, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the PU-AUC and the share predicted positive of a class-balanced SVC, from held-out scores."""
    from sklearn.svm import SVC

    rows = pick_landmarks(labeled, CHOOSING_ROWS, rng)
    X, s, fold = X[rows], labeled[rows], fold[rows]
    scores = np.empty(len(rows))
    for b in np.unique(fold):
        kept = fold != b
        scores[~kept] = SVC(class_weight="balanced").fit(X[kept], s[kept]).decision_function(X[~kept])
    ranked = s | population[rows]
    return {
        "pu_auc": pu_auc(scores[ranked], s[ranked]),
        "share": float(np.mean(scores[population[rows]] > 0)),
        "scores": scores,
        "rows": rows,
    }


def warn_of_chance(ranking: float, limit: float) -> None:
    """Warn if the PU-AUC on held-out rows is at most the largest value that may be chance."""
    if ranking <= limit:
        warn_user(
            "AutoPU may be useless on these rows: labeled rows that it was not trained on hardly rank above "
            f"unlabeled ones (PU-AUC {ranking:.2f}; up to {limit:.2f} may be chance).",
            DegenerateModelWarning,
        )
