"""The results of a fitted `AutoPU` as plain values, for the command and the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.auto.estimates import FROM_PRIOR

if TYPE_CHECKING:
    from pucli.auto.cut import Cut
    from pucli.auto.estimates import Estimate
    from pucli.auto.estimator import AutoPU
    from pucli.auto.scar import RandomLabelling


MODELLED = "not assumed: the clearer a positive, the more readily it was labelled (--labelling sar)"


class Findings(NamedTuple):
    """A fitted model, the numbers of its training rows, and the test of random labelling (`pucli.auto.scar`).

    called_positive : number of unlabeled rows whose held-out score is above the cut.
    """

    model: AutoPU
    labelled: int
    unlabeled: int
    called_positive: int
    test: RandomLabelling

    @classmethod
    def of(cls, model: AutoPU, labelled: np.ndarray, test: RandomLabelling) -> Findings:
        """Return the findings of a model whose training rows are at hand; labelled : (n,) bool."""
        called = (model.held_out_ > model.cut_) & ~labelled
        return cls(model, int(labelled.sum()), int((~labelled).sum()), int(called.sum()), test)


def summary(found: Findings, names: Sequence[str]) -> dict[str, Any]:
    """Return the cut, the estimates, the leaderboard and the test of random labelling; names : of the features."""
    model, test = found.model, found.test
    sound = test.random or model.labelling == "sar"
    return {
        "rows": found.labelled + found.unlabeled,
        "labelled": found.labelled,
        "unlabeled": found.unlabeled,
        "scenario": model.scenario,
        "labelling": model.labelling,
        "called_positive": found.called_positive,
        "cut": {**asdict(model.chosen_cut_), "why": why(model.chosen_cut_)},
        "estimates": {
            name: {**asdict(estimate), "known": name == "share" or (sound and _known(name, model.estimates_))}
            for name, estimate in model.estimates_.items()
        },
        "leaderboard": model.leaderboard_,
        "random_labelling": {
            "p_value": test.p_value,
            "differs_most": names[test.feature],
            "difference": test.difference,
            "verdict": test.verdict if model.labelling == "scar" else MODELLED,
        },
    }


def _known(name: str, estimates: dict[str, Estimate]) -> bool:
    """Return whether an estimate is narrow enough to be of use, and so is what it rests on."""
    any_called = estimates["share"].value > 0.0
    return any_called and estimates[name].known and (estimates["prior"].known or name not in FROM_PRIOR)


def why(cut: Cut) -> str:
    """Return the goal of the cut in words."""
    share = f"{100 * cut.share:.1f} % of the rows are above"
    match cut.goal:
        case "f1":
            return f"for the largest F1: {share}"
        case "recall":
            return f"to find {100 * (cut.wanted or 0):g} % of the positives, with 90 % confidence: {share}"
        case "precision":
            return f"so that {100 * (cut.wanted or 0):g} % of the rows predicted positive are positive: {share}"
        case "share":
            return f"at the wanted share: {share}"
        case _:
            return f"the {cut.wanted:g} likeliest rows"


def scored_rows(model: AutoPU, labelled: np.ndarray) -> list[dict[str, Any]]:
    """Return the held-out prediction of each training row, unlabeled rows first, each kind by descending score."""
    scores = model.held_out_
    probabilities = model.calibration_.of(scores)
    order = np.lexsort((np.arange(len(scores)), -scores, labelled))
    return [
        {
            "row": int(i) + 1,
            "labelled": int(labelled[i]),
            "prediction": int(scores[i] > model.cut_),
            "probability": float(probabilities[i]),
            "score": float(scores[i] - model.cut_),
        }
        for i in order
    ]
