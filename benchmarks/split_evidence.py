"""Which split Wang's printed figures follow, by their arithmetic.

A mean and a deviation of F1 near 100 % over ten repeats have few solutions in whole numbers: some repeats are perfect,
and each of the others has a number of true positives and of errors. So the positives of its test rows are known within
the errors, and their number has a chance under each split: test rows from the unlabeled rows (the thesis, 3.6.2), or
30 % of all rows (the author's scripts). Every printed figure with at most `MOST` solutions enters, whichever split it
speaks for.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import hypergeom

from benchmarks.common.timing import Progress, silent
from pucli.core.declared_files import declared_path
from pucli.data import dataset_entry

REPEATS, DIGIT, MOST = 10, 0.005, 3
# Below it a figure has more solutions than are looked for.
LEAST_MEAN = 98.0
STEPS = 1_000_000
LABELED = {0.5: 7 / 17, 0.25: 7 / 37}
TABLES = {
    "3.3": ("GLPUAL", "GLLC", "uPU", "nnPU"),
    "4.4": ("EKF-GLPUAL", "GLPUAL", "uPU", "nnPU"),
    "5.3": ("CPB-GLPUAL",),
}

# (true positives, errors) of each repeat that is not perfect
Solution = tuple[tuple[int, int], ...]


def run(progress: Progress = silent, *, ddof: int = 1) -> dict[str, Any]:
    """Return the table of benchmark `split_evidence`; `ddof` is that of the printed deviation."""
    rows, products = [], {"stated": 1.0, "author": 1.0}
    for done, (table, methods) in enumerate(TABLES.items()):
        for dataset, frequency, method, mean, sd in _printed(table, methods):
            counts = dataset_entry(dataset.lower()).published
            positives, negatives = counts.positive, counts.negative
            test = round(0.3 * (positives + negatives))
            found = solutions(mean, sd, test, ddof=ddof)
            if not found:
                continue
            chance = {
                "stated": _chance(found, *_stated(positives, negatives, frequency)),
                "author": _chance(found, positives + negatives, positives, test),
            }
            products = {name: value * chance[name] for name, value in products.items()}
            words = "; or ".join(", ".join(f"TP {tp}, errors {errors}" for tp, errors in one) for one in found)
            rows.append(
                {
                    "figure": f"{table} {dataset} {frequency:g} {method}", "printed": f"{mean:.2f} +- {sd:.2f}",
                    "repeats that are not perfect": words, "stated split": float(f"{chance['stated']:.2g}"),
                    "author's split": float(f"{chance['author']:.2g}"),
                }
            )  # fmt: skip
        progress(done + 1, len(TABLES))
    product = {"stated split": products["stated"], "author's split": products["author"]}
    rows.append({"figure": "product", **{name: float(f"{value:.2g}") for name, value in product.items()}})
    return {
        "title": "Chance of the test positives that a printed F1 implies, under two splits",
        "about": shares(),
        "columns": ["figure", "printed", "repeats that are not perfect", "stated split", "author's split"],
        "rows": rows,
    }


def shares() -> str:
    """Return how many printed shares of table 4.5 are whole numbers of irrelevant columns over ten repeats."""
    fit, apart = 0, []
    path = declared_path("experiments") / "published" / "table-4.5.csv"
    with path.open(encoding="utf-8", newline="") as handle:
        lines = list(csv.DictReader(handle))
    for line in lines:
        columns = 2 * dataset_entry(line["dataset"].lower()).published.features
        dropped = float(line["zeroed_irrelevant_pct_mean"]) * columns * REPEATS / 100
        if abs(dropped - round(dropped)) <= DIGIT * columns * REPEATS / 100 + 1e-9:
            fit += 1
        else:
            apart.append(f"{line['dataset']} {float(line['label_frequency']):g}")
    return (
        f"Of the {len(lines)} printed shares of dropped features (table 4.5) {fit} are whole numbers of two irrelevant "
        f"columns a feature over ten repeats; the others are {', '.join(apart)}. Only figures with one to {MOST} "
        "solutions enter below."
    )


def solutions(mean: float, sd: float, test: int, *, ddof: int = 1) -> list[Solution]:
    """Return the ways in which ten repeats on `test` rows have a printed mean and deviation; [] for more than `MOST`.

    A search of more than `STEPS` steps counts as more than that many.
    """
    low, high = ((100 - mean + sign * DIGIT) * REPEATS for sign in (-1, 1))
    if sd == 0 or mean < LEAST_MEAN:
        return []
    # a repeat with TP true positives and e errors lacks 100 e / (2 TP + e) points
    pairs = ((tp, errors) for tp in range(1, test) for errors in range(1, test - tp + 1))
    ways = sorted((100 * e / (2 * tp + e), (tp, e)) for tp, e in pairs if 100 * e / (2 * tp + e) <= high)
    squares = [(REPEATS - ddof) * max(sd + sign * DIGIT, 0.0) ** 2 for sign in (-1, 1)]
    found: list[Solution] = []
    steps = 0

    def extend(chosen: tuple[int, ...], total: float, square: float) -> None:
        nonlocal steps
        if low <= total <= high and squares[0] <= square - total**2 / REPEATS <= squares[1]:
            found.append(tuple(ways[i][1] for i in chosen))
        for i in range(chosen[-1] if chosen else len(ways) - 1, -1, -1):
            lack, left = ways[i][0], REPEATS - len(chosen)
            steps += 1
            # what is left must come from repeats that lack no more than this one
            too_small = total + lack * left < low or square + (high - total) * lack < squares[0] + low**2 / REPEATS
            if too_small or left == 0 or len(found) > MOST or steps > STEPS:
                break
            if total + lack <= high and square + lack**2 <= squares[1] + high**2 / REPEATS:
                extend((*chosen, i), total + lack, square + lack**2)

    extend((), 0.0, 0.0)
    return found if len(found) <= MOST and steps <= STEPS else []


def _stated(positives: int, negatives: int, frequency: float) -> tuple[int, int, int]:
    """Return the unlabeled rows of the stated split, the positives among them, and the test rows."""
    left = positives - math.floor(LABELED[frequency] * positives)
    return left + negatives, left, round(0.3 * (left + negatives))


def _chance(found: list[Solution], rows: int, positives: int, test: int) -> float:
    """Return the chance that the repeats of any of the solutions have positives that fit it."""
    law = hypergeom(rows, positives, test)
    return float(sum(np.prod([law.pmf(np.arange(tp, tp + e + 1)).sum() for tp, e in one]) for one in found))


def _printed(table: str, methods: tuple[str, ...]) -> Iterator[tuple[str, float, str, float, float]]:
    """Yield the figures of a table with a mean and a deviation."""
    path = declared_path("experiments") / "published" / f"table-{table}.csv"
    with path.open(encoding="utf-8", newline="") as handle:
        for line in csv.DictReader(handle):
            if line["method"] in methods and line["f1_sd"]:
                frequency, mean, sd = (float(line[key]) for key in ("label_frequency", "f1_mean", "f1_sd"))
                yield line["dataset"], frequency, line["method"], mean, sd
