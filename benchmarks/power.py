"""Power of the test of random labels: how often it rejects them at its level of .01 if they are biased.

The tables are the overlapping and the separable ones of benchmark `coverage`. Some positives were labeled 2, 4 or 8
times as readily as others: those above the median of one column that does not tell the classes apart ("column"), those
of the hidden class that lies elsewhere ("class"), or those above the median of the likelihood ratio ("score"). The test
gets the true share of positives. "random" is how often it rejects random labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks.common.result_files import explained, grouped
from benchmarks.common.timing import Progress, silent
from benchmarks.coverage import KINDS, features, positives
from pucli.core.seeding import stream
from pucli.estimators.auto.random_labeling import random_labeling

BIASES, ODDS, LABELED = ("column", "class", "score"), (2.0, 4.0, 8.0), (30, 100, 400)
COLUMNS = ("kind", "labeled", "bias", "odds", "rejected", "draws")
FULL = {"draws": 200}


def run(
    progress: Progress = silent,
    *,
    kinds: Sequence[str] = ("overlap", "separable"),
    labeled: Sequence[int] = LABELED,
    draws: int = 20,
) -> dict[str, Any]:
    """Return the table of benchmark `power`."""
    biased = [("random", 1.0), *product(BIASES, ODDS)]
    cells = []
    for number in range(draws):
        for kind, count, (bias, odds) in product(kinds, labeled, biased):
            rng = stream(13, "power", kind, count, bias, odds, number)
            X, prior = draw(kind, count, bias, odds, rng)
            found = random_labeling(X, np.arange(len(X)) < count, prior, rng)
            cells.append({"kind": kind, "labeled": count, "bias": bias, "odds": odds, "p_value": found.p_value})
        progress(number + 1, draws)
    return {
        "title": f"Power of the test of random labels, {draws} draws of each kind",
        "about": explained(__doc__),
        "rows": table(cells),
        "cells": cells,
    }


def draw(kind: str, labeled: int, bias: str, odds: float, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Return rows, the labeled ones first, and the share of positives among the others."""
    priors, n, distance = KINDS[kind]
    y = rng.random(n) < rng.choice(priors)
    drawn = positives(rng, 40 * labeled, distance)
    by = {
        "column": drawn[:, 2],
        "class": (drawn[:, 1] > drawn[:, 0]).astype(float),
        "score": np.logaddexp(distance * drawn[:, 0], 1.15 * distance * drawn[:, 1]),
    }.get(bias, np.zeros(len(drawn)))
    weight = np.where(by > np.median(by), odds, 1.0)
    rows = rng.normal(size=(n, drawn.shape[1]))
    rows[y] = positives(rng, int(y.sum()), distance)
    chosen = rng.choice(len(drawn), labeled, replace=False, p=weight / weight.sum())
    return features(np.vstack([drawn[chosen], rows])), float(y.mean())


def table(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return how often random labels are rejected, for each kind of table and of bias."""
    return [
        {**of, "rejected": (part["p_value"] <= 0.01).mean(), "draws": len(part)}
        for of, part in grouped(cells, COLUMNS[:4])
    ]
