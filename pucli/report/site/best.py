"""The best method on a data set: the best mean of each setting, and whether its lead exceeds the noise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pucli.metrics import get_metric
from pucli.report.model import Report
from pucli.report.tables.table import TableRow
from pucli.runner.experiment import Experiment

# A lead exceeds the noise if it is larger than this many standard errors of the difference.
BEYOND_NOISE = 2.0
# Number of methods that are named.
MOST_NAMED = 3
# first metrics that measure predictions
QUALITY = ("f1", "f_published", "error", "accuracy", "nmi", "log_likelihood")
# Tables of this protocol choose parameters on the test labels.
CEILING = "pu_ceiling"


class Lead(NamedTuple):
    """The best row of a setting, and the best one of another method if there is any."""

    best: TableRow
    next: TableRow | None

    @property
    def size(self) -> float:
        """Difference of the means; NaN without another method."""
        return math.nan if self.next is None else abs(self.best.obtained_mean - self.next.obtained_mean)

    @property
    def beyond_noise(self) -> bool:
        """Whether the means differ by more than `BEYOND_NOISE` standard errors of their difference."""
        variances = [row.obtained_sd**2 / max(row.repeats, 1) for row in self if row is not None]
        return self.size > BEYOND_NOISE * math.sqrt(sum(variances))

    @property
    def words(self) -> str:
        """The lead as text."""
        if self.next is None:
            return "no other method"
        return f"{self.size:.2f} to {self.next.column}, {'beyond' if self.beyond_noise else 'within'} noise"


@dataclass(frozen=True)
class Best:
    """The methods with the best means on a data set."""

    settings: int  # number of settings in which at least two methods are compared
    # numbers of settings in which each method has the best mean, and in which it leads by more than noise
    counts: Counter[str]
    clear: Counter[str]
    shared: bool  # whether some settings are those of two tables, of which one reuses the fits of the other

    @property
    def short(self) -> str:
        """Return the counts in a few words; "" without settings."""
        if not self.settings:
            return ""
        named = ", ".join(f"{method} {n}" for method, n in self.counts.most_common(MOST_NAMED))
        clear = self.clear.total()
        return f"{named} of {self.settings}; {f'{clear} beyond noise' if clear else 'all within noise'}"

    @property
    def sentence(self) -> str:
        """Name the best methods, or a tie, and tell whether the leads exceed the noise; "" without settings."""
        if not self.settings:
            return ""
        (first, most), *others = self.counts.most_common()
        among = "the one setting" if self.settings == 1 else f"{most} of {self.settings} settings"
        tied = [method for method, n in others if n == most]
        if tied:
            words = f"A tie: {', '.join([first, *tied[:-1]])} and {tied[-1]} each have the best mean in {among}."
        else:
            behind = ", ".join(f"{method} in {n}" for method, n in others[: MOST_NAMED - 1])
            words = f"{first} has the best mean in {among}{', ' + behind if behind else ''}."
        clear = self.clear.total()
        if clear == 0:
            words += " No lead over the next method exceeds two standard errors: all may be noise."
        else:
            who = ", ".join(f"{method} in {n}" for method, n in self.clear.most_common())
            words += f" The lead over the next method exceeds two standard errors in {clear} ({who})"
            words += "; the others may be noise." if clear < self.settings else "."
        return words + (" Fits that two tables share count once." if self.shared else "")


def lead(rows: Sequence[TableRow], methods: Sequence[str]) -> Lead | None:
    """Return the best of the rows of a metric and setting, and the best of another method.

    None without rows, or if no side of the metric is better.
    """
    if not rows or (better := get_metric(rows[0].metric).better) is None:
        return None
    pairs = zip(rows, methods, strict=True)
    ordered = sorted(pairs, key=lambda one: one[0].obtained_mean, reverse=better == "higher")
    best, own = ordered[0]
    return Lead(best, next((row for row, method in ordered if method != own), None))


def best_on(shown: Sequence[tuple[Experiment, Report]], dataset: str) -> Best:
    """Return how often each method has the best mean of the first metric of the tables.

    A table that reuses the fits of another one is compared together with it. Tables that choose parameters on the test
    labels, and settings with one method, do not count.
    """
    names = {experiment.name for experiment, _ in shown}
    rows: dict[tuple[str, str, str], list[tuple[TableRow, str]]] = {}
    tables: dict[tuple[str, str, str], set[str]] = {}
    for experiment, report in shown:
        metric = experiment.metrics[0]
        if experiment.protocol == CEILING or metric not in QUALITY:
            continue
        root = next((name for name in experiment.reuses if name in names), experiment.name)
        for row in report.rows:
            if row.dataset == dataset and row.metric == metric and not math.isnan(row.obtained_mean):
                place = (root, row.setting, metric)
                rows.setdefault(place, []).append((row, experiment.methods[row.column].method))
                tables.setdefault(place, set()).add(experiment.name)
    counts, clear, settings, shared = Counter[str](), Counter[str](), 0, False
    for place, own in rows.items():
        methods = [method for _, method in own]
        found = lead([row for row, _ in own], methods)
        if found is None or found.next is None:
            continue
        winner = next(method for row, method in own if row is found.best)
        settings += 1
        counts[winner] += 1
        clear[winner] += found.beyond_noise
        shared |= len(tables[place]) > 1
    return Best(settings, counts, +clear, shared)
