"""Remarks above a table of ceilings."""

from __future__ import annotations

from pucli.runner.experiment import Experiment


def remarks(experiment: Experiment) -> list[str]:
    """Return remarks on the meaning of the figures, and on why other tables may exceed them."""
    return [
        "No figure here is the result of a method: the test labels are read to find the best (f1_ceiling) and the "
        "median (f1_median) F1 of the points of the grid. The best is an upper bound for a choice among these points.",
        "A table may exceed it: where its parameters are refined after the grid (greedy), they leave the grid.",
    ]
