"""The labellings of the quality tasks: a scenario and the mechanism by which positives come to be labelled."""

from __future__ import annotations

import numpy as np

from pucli.data.splits.labelling import LABELLINGS as MECHANISMS
from pucli.data.splits.labelling import labelling_tilt
from pucli.data.splits.scenarios import SCENARIOS, Split, make_split

# Name in the table -> scenario and mechanism.
LABELLINGS = {
    **{scenario: (scenario, "scar") for scenario in SCENARIOS},
    **{
        f"{mechanism}{', case-control' * (scenario == 'case-control')}": (scenario, mechanism)
        for scenario in reversed(SCENARIOS)
        for mechanism in MECHANISMS[1:]
    },
}


def labelled_split(labelling: str, X: np.ndarray, y: np.ndarray, frequency: float, rng: np.random.Generator) -> Split:
    """Return a split of rows X (n, m) and labels y (n,) with `frequency` of the positives for training labelled."""
    scenario, mechanism = LABELLINGS[labelling]
    return make_split(scenario, y, frequency, rng=rng, tilt=labelling_tilt(mechanism, X, y, rng))


def told(labelling: str) -> str:
    """Return the scenario, which is all that a method is told about a labelling."""
    return LABELLINGS[labelling][0]
