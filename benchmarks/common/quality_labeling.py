"""The labelings of the quality tasks: a scenario and the mechanism by which positives come to be labeled."""

from __future__ import annotations

import numpy as np

from pucli.data.splits.labeling import LABELINGS as MECHANISMS
from pucli.data.splits.labeling import labeling_tilt
from pucli.data.splits.scenarios import SCENARIOS, Split, make_split

# Name in the table -> scenario and mechanism.
LABELINGS = {
    **{scenario: (scenario, "scar") for scenario in SCENARIOS},
    **{
        f"{mechanism}{', case-control' * (scenario == 'case-control')}": (scenario, mechanism)
        for scenario in reversed(SCENARIOS)
        for mechanism in MECHANISMS[1:]
    },
}


def labeled_split(labeling: str, X: np.ndarray, y: np.ndarray, frequency: float, rng: np.random.Generator) -> Split:
    """Return a split of rows X (n, m) and labels y (n,) with `frequency` of the positives for training labeled."""
    scenario, mechanism = LABELINGS[labeling]
    return make_split(scenario, y, frequency, rng=rng, tilt=labeling_tilt(mechanism, X, y, rng))


def scenario_of(labeling: str) -> str:
    """Return the scenario, which is all that a method is told about a labeling."""
    return LABELINGS[labeling][0]
