"""How labels that are not given at random change the automatic classifier, and what its model of them (SAR) gains.

The tasks and columns are those of benchmark `quality`. A positive's chance of being labelled depends on features, or
on how clearly it is positive; "single-training-set" is random labelling, for what the model costs if it is not needed.
"auto, labelling sar" is `AutoPU(labelling="sar")`, "SAR-EM" that of Bekker et al. (2019). "worst to SVC" compares the
tasks' mean F1 with that of the naive SVC. The exponent of the model was chosen on the design half of the tasks, so that
the look-once half is the default here, with a quarter of the positives labelled; --full takes all. "SVC, true prior" is
told what nobody knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import quality
from benchmarks.common.quality_labelling import LABELLINGS
from benchmarks.common.quality_methods import BASELINES, OF_LABELLING
from benchmarks.common.timing import Progress

BIASED = tuple(name for name in LABELLINGS if name.startswith("sar"))
FULL = {"repeats": 5, "half": "all", "frequencies": (0.25, 0.5)}


def run(
    progress: Progress | None = None,
    *,
    repeats: int = 1,
    half: str = "look-once",
    frequencies: Sequence[float] = (0.25,),
    labellings: Sequence[str] = ("single-training-set", *BIASED),
    folder: Path | None = None,
) -> dict[str, Any]:
    """Return the table of benchmark `labelling`; the files are those of benchmark `quality`."""
    methods = [*OF_LABELLING, *BASELINES]
    return quality.run(
        progress,
        half=half,
        repeats=repeats,
        labellings=labellings,
        frequencies=frequencies,
        methods=methods,
        folder=folder,
    )
