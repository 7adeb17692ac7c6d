"""Statistical tests of differences between methods, over repeats in each row of the table and over data sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pucli.core.arrays import Floats
from pucli.core.json_values import OrNaN
from pucli.metrics import MethodRanking, PairedTest, adjust_p_values, get_metric, wilcoxon_paired
from pucli.report.tables.samples import Samples, SettingKey, setting_text

# two methods differ if p is below this
LEVEL = 0.05


@dataclass(frozen=True)
class Comparison(PairedTest):
    """Wilcoxon signed-rank test of a - b over the repeats of both methods; wins are repeats in which a is better.

    `p_adjusted` is adjusted for the number of rows in which the pair is tested (Benjamini-Hochberg).
    """

    dataset: str
    setting: str
    a: str
    b: str
    metric: str
    p_adjusted: OrNaN

    @property
    def gain(self) -> float:
        """The mean difference, positive where a is better; of a metric without a better side, where a is larger."""
        return get_metric(self.metric).gain(self.mean_difference)


@dataclass(frozen=True)
class Pair:
    """The tests between two methods."""

    a: str
    b: str
    rows: list[Comparison]

    @property
    def words(self) -> str:
        """Numbers of rows in which the first method is better, worse, and significantly different."""
        ahead = sum(row.gain > 0 for row in self.rows)
        behind = sum(row.gain < 0 for row in self.rows)
        sided = get_metric(self.rows[0].metric).better is not None
        first, second = ("ahead", "behind") if sided else ("larger", "smaller")
        count = f"{first} in {ahead}, {second} in {behind} of {len(self.rows)} row{'s' * (len(self.rows) > 1)}"
        repeats = max(row.n for row in self.rows)
        if smallest_p(repeats) >= LEVEL:
            return f"{count}; {repeats} repeat{'s' * (repeats > 1)} cannot show a difference at the 5 % level"
        significant = sum(row.p_adjusted < LEVEL for row in self.rows)
        return f"{count}; {significant} differ at the 5 % level after adjustment"


def smallest_p(n: int) -> float:
    """Return the smallest two-sided p that the signed-rank test of n pairs can have."""
    return min(1.0, 2.0 ** (1 - n))


def by_pair(comparisons: Sequence[Comparison]) -> list[Pair]:
    """Return the tests by pair of methods."""
    names = dict.fromkeys((c.a, c.b) for c in comparisons)
    return [Pair(a, b, [c for c in comparisons if (c.a, c.b) == (a, b)]) for a, b in names]


def compare_pairs(samples: Samples) -> list[Comparison]:
    """Test each declared pair, or all pairs, in each data set and setting, for the first metric of the table."""
    metric = samples.experiment.metrics[0]
    found = []
    for a, b in pairs(samples):
        tests = []
        for setting, dataset in itertools.product(samples.settings, samples.datasets):
            of_a = samples.values((dataset, setting, a), metric)
            of_b = samples.values((dataset, setting, b), metric)
            both = sorted(of_a.keys() & of_b.keys())
            if both:
                test = wilcoxon_paired([of_a[r] for r in both], [of_b[r] for r in both])
                if get_metric(metric).better == "lower":
                    test = replace(test, wins=test.losses, losses=test.wins)
                tests.append((dataset, setting_text(setting), test))
        adjusted = adjust_p_values([test.p for _, _, test in tests])
        found += [
            Comparison(**vars(test), dataset=dataset, setting=setting, a=a, b=b, metric=metric, p_adjusted=float(p))
            for (dataset, setting, test), p in zip(tests, adjusted, strict=True)
        ]
    return found


def pairs(samples: Samples) -> list[tuple[str, str]]:
    """Return the pairs of columns to compare that are in the plan."""
    columns = samples.columns
    declared = samples.experiment.comparisons
    if declared is None:
        return list(itertools.combinations(columns, 2))
    return [(a, b) for a, b in declared if a in columns and b in columns]


def rank_methods(samples: Samples) -> list[MethodRanking]:
    """Rank the methods over data sets for each setting, or over settings if there is only one data set.

    Only blocks in which every method has a mean are used. A ranking needs two such blocks, two methods and a metric
    with a better side.
    """
    metric = samples.experiment.metrics[0]
    columns = samples.columns
    if len(columns) < 2 or get_metric(metric).better is None:
        return []
    if len(samples.datasets) > 1:
        layouts = [("data sets", setting, [(d, setting) for d in samples.datasets]) for setting in samples.settings]
    else:
        layouts = [("settings", (), [(samples.datasets[0], s) for s in samples.settings])]
    found = []
    for blocks, setting, places in layouts:
        matrix = np.array([[_mean(samples, d, s, column, metric) for column in columns] for d, s in places])
        complete = matrix[np.isfinite(matrix).all(axis=1)]
        if len(complete) >= 2:
            found.append(_rank(complete, columns, blocks, setting, metric))
    return found


def _rank(matrix: Floats, columns: list[str], blocks: str, setting: SettingKey, metric: str) -> MethodRanking:
    ranking = MethodRanking.of(matrix, columns, metric, blocks=blocks, setting=setting_text(setting))
    if len(columns) > 2:
        return ranking
    paired = wilcoxon_paired(matrix[:, 0], matrix[:, 1])
    return replace(ranking, statistic=paired.statistic, p=paired.p, test="Wilcoxon")


def _mean(samples: Samples, dataset: str, setting: SettingKey, column: str, metric: str) -> float:
    values = list(samples.values((dataset, setting, column), metric).values())
    return float(np.mean(values)) if values else math.nan
