"""Sensitivity of estimates to the class prior, and to positives labeled more readily than others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pucli.cli.terminal import many, number, percent, span

if TYPE_CHECKING:
    from pucli.solvers.ensemble.estimates import IfPrior, OddsEffects


def if_prior(ends: Sequence[IfPrior]) -> str:
    """Return what changes with the class prior at either end of its interval, in one sentence; "" if it is unknown."""
    said = [f"if it is {percent(end.prior)}%: {_called_at(end)}" for end in ends]
    return "; ".join(said) + "; the order of the rows stays" if said else ""


def _called_at(end: IfPrior) -> str:
    """Return how many rows are flagged with a class prior, and how well."""
    if not end.called:
        return "no row flagged"
    of = f"recall {percent(end.recall)}%, precision {percent(end.precision)}%"
    return f"{many(end.called, 'row')} flagged, {of}"


def if_odds(found: OddsEffects | None) -> str:
    """Return what changes if labeling depended on the rows, and where conclusions tip, in one sentence."""
    if found is None:
        return ""
    recall, lift, precision = found.recall, found.lift, found.precision
    said = [f"recall {span(recall.low, recall.high)}"]
    if lift:
        said.append(f"lift {number(lift.low, 2)} to {number(lift.high, 2)}")
    said.append(f"precision {span(precision.low, precision.high)} at the same class prior")
    number_ahead = f"{found.ahead:,}" if found.ahead else "none"
    stay = "stays" if found.ahead == 1 else "stay"
    ahead = f"{number_ahead} of the {many(found.called, 'flagged row')} {stay} ahead of all others"
    if found.called == 1:
        ahead = f"the flagged row {'stays' if found.ahead else 'does not stay'} ahead of all others"
    tips = f"Recall may be below half {_from(found.recall_half)}, lift below 1 {_from(found.lift_one)}"
    return (
        f"so that the odds of being labeled differ up to {found.odds_ratio:g}-fold between positives: "
        f"{', '.join(said)}; {ahead}. {tips}"
    )


def _from(tipping: float | None) -> str:
    """Return from which odds ratio on a conclusion no longer holds, in words."""
    if tipping is None:
        return "at no factor"
    return f"from {number(tipping, 2)}-fold on" if tipping > 1.0 else "even with random labels"
