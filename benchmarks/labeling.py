"""How labels that are not given at random change the automatic classifier, and what its model of them (SAR) gains.

The tasks and columns are those of benchmark `quality`. A positive's chance of being labeled depends on features, or
on how clearly it is positive ("sar-feature", "sar-score"), or is that of the mechanisms S2 to S4 of PU-Bench
("sar-lbe-a", "sar-lbe-b", "sar-pusb"; S1 is random labeling): "case-control" and "single-training-set" have random
labels. "auto, labeling sar" is `AutoPU(labeling="sar")`, "SAR-EM" that of Bekker et al. (2019); "pulearn bagging"
runs if it is installed. "worst to SVC" compares the tasks' mean F1 with that of the naive SVC's. The exponent of the
model, when it is taken though nobody asked for it, and the odds ratio of its interval were chosen on the design half of
the tasks, so that the look-once half is the default here. "SVC, true prior" is told what nobody knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import quality
from benchmarks.common.quality_labeling import LABELINGS
from benchmarks.common.quality_methods import BASELINES, OF_LABELING, installed
from benchmarks.common.timing import Progress, silent

BIASED = tuple(name for name in LABELINGS if name.startswith("sar"))
# What has the larger F1 if labels are biased.
RIVAL = "pulearn bagging"
FULL = {"repeats": 5, "half": "all"}


def run(
    progress: Progress = silent,
    *,
    repeats: int = 1,
    half: str = "look-once",
    frequencies: Sequence[float] = (0.25, 0.5),
    labelings: Sequence[str] = ("single-training-set", "case-control", *BIASED),
    methods: Sequence[str] = (),
    folder: Path | None = None,
) -> dict[str, Any]:
    """Return the table of benchmark `labeling`; the files are those of benchmark `quality`."""
    every = [*OF_LABELING, *BASELINES, *(name for name in installed() if name == RIVAL)]
    return quality.run(
        progress,
        half=half,
        repeats=repeats,
        labelings=labelings,
        frequencies=frequencies,
        methods=list(methods) or every,
        folder=folder,
    )
