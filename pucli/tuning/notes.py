"""Notes on the point that tuning chose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pucli.core.arrays import Ints
from pucli.estimators.base.pu import extreme_share
from pucli.tuning.routes import Point


def degenerate(counts: Ints) -> list[str]:
    """Return a note if four counts, summed over the folds, show a degenerate model."""
    found, labeled, called, unlabeled = counts.tolist()
    if found + called in (0, labeled + unlabeled):
        return ["the chosen point predicts one class only on the validation rows"]
    recall, share = found / labeled, called / unlabeled
    shown = f"{100 * share:.3g} % of the unlabeled and {100 * recall:.3g} % of the labeled validation rows"
    extreme = extreme_share(share, recall)
    return [f"the chosen point predicts nearly {extreme} row positive: {shown}"] if extreme else []


def edge_notes(grid: Mapping[str, list[Any]], point: Point) -> list[str]:
    """Return a note for each number of a point that lies on the edge of its grid."""
    notes = []
    for name, values in grid.items():
        if len(values) > 2 and all(isinstance(v, int | float) for v in values):
            low, high = min(values), max(values)
            if point[name] in (low, high):
                side = "lower" if point[name] == low else "upper"
                notes.append(f"{name} = {point[name]:g} lies on the {side} edge of its grid ({low:g} to {high:g})")
    return notes
