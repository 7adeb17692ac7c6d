"""How often the 90% intervals of `auto` hold the truth, and how wide they are, on generated tables.

Six kinds of tables with five columns: needles (one unlabeled row in a hundred of 2,000 is positive), overlapping and
separable classes (a fifth to a half of 600), each with 30 and 400 labeled rows. A third of the positives lie elsewhere.
"odds" is how many times as readily positives above the median of the first column were labeled: 1 is random. "width" is
the mean one; "of CP" is it over that of Clopper and Pearson's interval with as many labeled rows, for these rows with
n_l n_h / (n_l + n_h) of n_l labeled and n_h hidden positives. The gains curve holds if its band does at every number of
rows, and "contradictions" counts tables where figures contradict each other. "probabilities" is the share of ten groups
of rows whose true share of positives lies in the interval shown. "least" is the p-value of a coverage of .87 or more.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import beta, binom

from benchmarks.common.result_files import explained, grouped
from benchmarks.common.timing import Progress, silent
from pucli.core.seeding import stream
from pucli.estimators.auto.auto_pu import AutoPU
from pucli.solvers.ensemble.estimates import Estimate
from pucli.solvers.ensemble.joint import JointEstimate

# Priors, unlabeled rows, and distance of the classes in standard deviations.
KINDS = {
    "needles": ((0.01,), 2000, 3.0),
    "overlap": ((0.2, 0.3, 0.5), 600, 1.5),
    "separable": ((0.2, 0.3, 0.5), 600, 4.5),
}
LABELED, COLUMNS_OF_ROWS, NEW_POSITIVES, NEW_NEGATIVES = (30, 400), 5, 3000, 12_000
LEAST = 0.87
COLUMNS = ("kind", "labeled", "odds", "figure", "holds", "width", "of CP", "least", "draws")
FULL = {"draws": 1000, "odds": (1.0, 2.0, 5.0)}


def run(
    progress: Progress = silent,
    *,
    kinds: Sequence[str] = tuple(KINDS),
    labeled: Sequence[int] = LABELED,
    odds: Sequence[float] = (1.0,),
    draws: int = 40,
) -> dict[str, Any]:
    """Return the table of benchmark `coverage`."""
    cells: list[dict[str, Any]] = []
    for number in range(draws):
        for kind in kinds:
            for count in labeled:
                for ratio in odds:
                    of = {"kind": kind, "labeled": count, "odds": ratio, "draw": number}
                    cells += [{**of, **cell} for cell in measured(draw(kind, count, number, ratio), number)]
        progress(number + 1, draws)
    return {
        "title": f"Coverage and width of intervals, {draws} draws of each kind",
        "about": explained(__doc__),
        "rows": table(cells),
        "cells": cells,
    }


def positives(rng: np.random.Generator, count: int, distance: float) -> np.ndarray:
    """Return features of positives before a column is bent; a third of them lie elsewhere."""
    X = rng.normal(size=(count, COLUMNS_OF_ROWS))
    elsewhere = rng.random(count) < 1 / 3
    X[~elsewhere, 0] += distance
    X[elsewhere, 1] += 1.15 * distance
    return X


def features(X: np.ndarray) -> np.ndarray:
    """Return rows with a column bent, which is not normal."""
    X = X.copy()
    X[:, 3] = np.exp(0.5 * X[:, 3]) + 0.3 * X[:, 0]
    return X


def draw(kind: str, labeled: int, number: int, odds: float = 1.0) -> dict[str, Any]:
    """Return a table with its truth: rows, which are labeled, classes of the others, and new rows of both kinds."""
    priors, n, distance = KINDS[kind]
    rng = stream(11, "coverage", kind, labeled, number, odds)
    prior = float(rng.choice(priors))
    y = rng.random(n) < prior
    first = positives(rng, labeled * (1 if odds == 1.0 else 40), distance)
    if odds != 1.0:
        weight = np.where(first[:, 0] > np.median(first[:, 0]), odds, 1.0)
        first = first[rng.choice(len(first), labeled, replace=False, p=weight / weight.sum())]
    rows = rng.normal(size=(n, COLUMNS_OF_ROWS))
    rows[y] = positives(rng, int(y.sum()), distance)
    return {
        "X": features(np.vstack([first, rows])),
        "labeled": np.arange(labeled + n) < labeled,
        "y": y,
        "prior": prior,
        "new": (
            features(positives(rng, NEW_POSITIVES, distance)),
            features(rng.normal(size=(NEW_NEGATIVES, COLUMNS_OF_ROWS))),
        ),
    }


def measured(of: Mapping[str, Any], seed: int) -> list[dict[str, Any]]:
    """Return whether the interval of each figure holds the truth, and its width."""
    s, y = of["labeled"], of["y"]
    with warnings.catch_warnings(action="ignore"):
        model = AutoPU(random_state=seed).fit(of["X"], s)
    scores, t, joint = model.held_out_[~s], model.threshold_, model.joint
    flagged, m, hidden = scores > t, s.sum(), y.sum()
    recall, false = (float(np.mean(model.score_rows(rows) > t)) for rows in of["new"])
    share = of["prior"] * recall + (1.0 - of["prior"]) * false
    truth = {"prior": y.mean(), "new_recall": recall, "new_share": share}
    if share > 0.0:
        truth["new_lift"] = recall / share
    if hidden:
        truth["recall"] = flagged[y].mean()
    if hidden and flagged.any():
        truth |= {"lift": truth["recall"] / flagged.mean(), "precision": y[flagged].mean()}
    cells = []
    for name, true in truth.items():
        if (one := model.estimates_.get(name)) is not None:
            cell = {"figure": name, "holds": one.low - 1e-9 <= true <= one.high + 1e-9, "width": one.high - one.low}
            rows = {"new_recall": m, "recall": m * hidden / (m + hidden)}.get(name)
            cells.append(cell | ({"of CP": cell["width"] / _clopper_pearson(true, rows)} if rows else {}))
    cells.append({"figure": "bound of the prior", "holds": joint.bound >= truth["prior"] - 1e-9})
    cells.append({"figure": "no contradictions", "holds": not contradictions(joint, t)})
    p, low, high = model.probability_of(scores), *model.probability_range(model.probability_of(scores))
    groups = np.array_split(np.argsort(p, kind="stable"), 10)
    inside = [low[g].mean() - 1e-9 <= y[g].mean() <= high[g].mean() + 1e-9 for g in groups]
    cells.append({"figure": "probabilities", "holds": np.mean(inside)})
    if hidden:
        curve = joint.gains(np.arange(1, len(y)) / len(y))
        found = np.cumsum(y[np.argsort(-scores, kind="stable")])[:-1] / hidden
        holds = np.all((curve.low <= found + 1e-9) & (found <= curve.high + 1e-9))
        cells.append({"figure": "gains curve", "holds": holds, "width": np.mean(curve.high - curve.low)})
    return cells


def contradictions(joint: JointEstimate, threshold: float) -> list[str]:
    """Return which figures of a joint estimate contradict each other, at every number of rows and at a threshold.

    An end of an interval contradicts another interval that has no value that is possible with it.
    """
    n, prior = len(joint.population), joint.prior
    curve = joint.gains(np.arange(1, n + 1) / n)
    flagged, rest, slack = curve.shares, 1.0 - curve.shares, 1e-9
    found = {
        "gains curve and prior": np.any(curve.value * prior.value > flagged + slack),
        "lower end of the gains curve and upper end of the prior": np.any(curve.low * prior.high > flagged + slack),
        "upper end of the gains curve and lower end of the prior": np.any(curve.high * prior.low > flagged + slack),
        "rest of the gains curve and prior": np.any((1.0 - curve.value) * prior.value > rest + slack),
        "rest of the gains curve and upper ends": np.any((1.0 - curve.high) * prior.high > rest + slack),
        "rest of the gains curve and lower ends": np.any((1.0 - curve.low) * prior.low > rest + slack),
        "falling": any(np.any(np.diff(one) < -1e-12) for one in (curve.low, curve.value, curve.high)),
        "order of the gains curve": np.any(curve.low > curve.value) or np.any(curve.value > curve.high),
    }
    named = _of_estimates(joint.at(threshold))
    for k in np.unique(np.geomspace(1, n, 12).astype(int)):
        one = joint.first(int(k))
        named |= _of_estimates({"recall": one.recall, "precision": one.precision, "lift": one.lift, "prior": prior})
        found[f"positives among the first {k}"] = one.positives.high > k + slack
        found[f"two recalls of the first {k} rows"] = abs(one.recall.value - curve.value[k - 1]) > slack
    return [name for name, wrong in found.items() if wrong] + sorted(named)


def _of_estimates(of: Mapping[str, Estimate]) -> set[str]:
    """Return which of the estimates for flagged rows contradict each other."""
    prior, precision, found = of["prior"], of["precision"], set()
    for name in ("lift", "new_lift"):
        if name in of and max(of[name].value * prior.value, of[name].high * prior.low) > 1.0 + 1e-9:
            found.add(f"{name} and prior")
    if "lift" in of and abs(of["lift"].value * prior.value - precision.value) > 1e-9:
        found.add("precision, lift and prior")
    if not 0.0 <= precision.low <= precision.high <= 1.0:
        found.add("precision")
    return found | {f"value of {name}" for name, one in of.items() if not one.low <= one.value <= one.high}


def _clopper_pearson(share: float, rows: float) -> float:
    above = share * rows
    low = beta.ppf(0.05, above, rows - above + 1.0) if above > 0.0 else 0.0
    return float((beta.ppf(0.95, above + 1.0, rows - above) if above < rows else 1.0) - low)


def table(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each kind, number of labeled rows, odds and figure."""
    lines = []
    for of, part in grouped(cells, COLUMNS[:4]):
        count, holds = len(part), part["holds"].astype(float).mean()
        means = {name: part[name].mean() for name in ("width", "of CP") if name in part}
        least = binom.cdf(round(holds * count), count, LEAST)
        lines.append({**of, "holds": holds, **means, "least": least, "draws": count})
    return lines
