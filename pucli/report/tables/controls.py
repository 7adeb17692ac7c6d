"""Controls of agreement: how often the same fits agree with a print that is not theirs.

A count of agreements says nothing until one knows how often a wrong print agrees. For each table and printed method our
figures are judged against the print of the method itself, and against that of each other method, of the other settings,
and of the other data sets. All columns of a method, and those of the experiments that run the table under another
protocol, are looks at its figures: a figure agrees if any look reproduces it, with as many looks for every print. A
plain SVC, which was not printed, has one look at the print of the method, and then so has the method.

The own print is told from another one by permutation over data sets (over settings where there is one data set): of
another method or setting, the two prints are swapped within data sets (all sign patterns); of other data sets, the
prints are permuted over them. The p of a method is the largest of these, adjusted by Holm over all methods and tables
that could reach the level at all (Tarone 1990). Tables that print the same methods for the same data sets are taken
together. Two methods with equal figures everywhere are no controls of each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pucli.core.json_values import OrNaN
from pucli.report.files import csv_text
from pucli.report.tables.published import (
    PublishedFigure,
    chosen_in_view,
    figures_of_metrics,
    read_published,
    setting_key,
)
from pucli.report.tables.samples import Samples, SettingKey, sample
from pucli.report.tables.verdict import REPRODUCED, MeanAndSd, judge
from pucli.runner.cells import ONE_CLASS
from pucli.runner.experiment import base_name, variant_name

FILE = "controls.csv"
# A method whose adjusted p is below it agrees with its own print more often than with any other.
LEVEL = 0.05
PERMUTATIONS = 9_999
OTHER_METHOD, OTHER_SETTING, OTHER_DATASET, PLAIN = "other method", "other setting", "other data set", "plain SVC"
PLAIN_METHOD = "svc-naive"
_KINDS = {OTHER_SETTING: "another setting", OTHER_DATASET: "another data set", PLAIN: "a plain SVC"}


class Place(NamedTuple):
    """A printed figure: the number of its table, its data set and setting, and the printed method."""

    table: int
    dataset: str
    setting: SettingKey
    method: str


class TableSamples(NamedTuple):
    """The samples of a table, and those of the experiments that run it under another protocol."""

    samples: Samples
    others: Sequence[Samples] = ()


@dataclass(frozen=True)
class Control:
    """Agreements of the fits of a method with one print, and with the own print at the same places.

    Parameters
    ----------
    tables, metric, method : str
        Names of the experiments, with blanks between them, the metric, and the printed method.
    column : str
        The one column of the method that must agree; "" for any of them, or of those under another protocol.
    looks : int
        Number of columns of which one must agree.
    kind, print : str
        Kind of the other print, and the method whose print it is, "" for the method itself.
    figures : int
        Places that have both prints.
    own, other : float
        Agreements there with the own and with the other print; the mean over several settings or data sets.
    p, least : float
        Of the permutations, and the smallest that they allow.
    adjusted : float
        The largest p of all other prints of the method, adjusted by Holm.
    """

    tables: str
    metric: str
    method: str
    column: str
    looks: int
    kind: str
    print: str
    figures: int
    own: float
    other: float
    p: OrNaN
    least: OrNaN
    adjusted: OrNaN = math.nan

    @property
    def family(self) -> tuple[str, str, str]:
        """Return what one p-value stands for: a metric and a method of some tables."""
        return self.tables, self.metric, self.method

    @property
    def whose(self) -> str:
        """Describe the other print, e.g. "the print of gllc"."""
        return f"the print of {self.print}" if self.print else f"that of {_KINDS[self.kind]}"


Looks = Sequence[tuple[Samples, str]]


def kind_of(method: str) -> tuple[str, str]:
    """Return a printed method without the value of its parameter, and that value: "usmo-0.01" is ("usmo", "0.01")."""
    name, _, value = method.rpartition("-")
    return (name, value) if name and value.replace(".", "", 1).isdigit() else (method, "")


def controls_of(tables: Iterable[TableSamples]) -> list[Control]:
    """Return the controls of each printed method of some tables that was run, not yet adjusted."""
    together: dict[tuple[object, ...], list[tuple[TableSamples, dict[Place, PublishedFigure]]]] = {}
    for table in tables:
        experiment = table.samples.experiment
        for metric in figures_of_metrics(experiment):
            prints = _prints(table.samples, metric)
            document = experiment.source.document if experiment.source else experiment.name
            alike = (document, metric, *(frozenset(place[i] for place in prints) for i in (1, 3)))
            together.setdefault(alike, []).append((table, prints))
    found = []
    for (_, kept, *_), group in together.items():
        prints = {place._replace(table=i): f for i, (_, own) in enumerate(group) for place, f in own.items()}
        found += _Agreements(str(kept), [table for table, _ in group], prints).controls()
    return found


def adjust(controls: Sequence[Control]) -> list[Control]:
    """Return the controls with the p-value of each method, adjusted by Holm over methods and tables.

    The controls of all looks count, and not that of a plain SVC, which is no print.
    """
    prints = of_all_looks(controls)
    able = [family for family, own in prints.items() if max(one.least for one in own) < LEVEL]
    largest = [max(one.p for one in prints[family]) for family in able]
    adjusted = dict(zip(able, holm(largest), strict=True))
    return [replace(one, adjusted=adjusted.get(one.family, 1.0)) for one in controls]


def of_all_looks(controls: Iterable[Control]) -> dict[tuple[str, str, str], list[Control]]:
    """Return the controls by other prints with all looks, by table, metric and method."""
    found: dict[tuple[str, str, str], list[Control]] = {}
    for one in controls:
        if not one.column:
            found.setdefault(one.family, []).append(one)
    return found


def as_often(controls: Iterable[Control]) -> dict[str, str]:
    """Return the methods that do not agree with their own print more often than with every other, each with counts."""
    found = {}
    for own in of_all_looks(controls).values():
        worst = max(own, key=lambda one: (one.p, one.other))
        if worst.adjusted >= LEVEL:
            found[worst.method] = (
                f"over the table, {worst.method} agrees with its own print in {worst.own:.3g} of {worst.figures}"
                f" figures, with {worst.whose} in {worst.other:.3g} (p = {worst.p:.2f})"
            )
    return found


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's method.

    Examples
    --------
    >>> holm([0.01, 0.5, 0.02])
    [0.03, 0.5, 0.04]
    """
    adjusted, largest = [0.0] * len(p), 0.0
    for rank, number in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[number]))
        adjusted[number] = largest
    return adjusted


def controls_text(controls: Sequence[Control]) -> str:
    """Return the text of controls.csv."""
    return csv_text([field.name for field in fields(Control)], map(astuple, controls))


def read_controls(results: Path) -> list[Control]:
    """Return the controls in the folder of all experiments; [] without any."""
    import pandas as pd

    path = results / FILE
    lines = pd.read_csv(path, keep_default_na=False) if path.is_file() else pd.DataFrame()
    return [Control(*line) for line in lines.itertuples(index=False)]


def _prints(samples: Samples, metric: str) -> dict[Place, PublishedFigure]:
    """Return the printed figures of a metric; not those of other methods or data chosen in view, and no words."""
    in_view = chosen_in_view(samples.experiment)
    return {
        Place(0, f.dataset, setting_key(dict(f.setting), samples.keys), f.method): f
        for f in read_published(samples.experiment, samples.parameters)
        if f.metric == metric and not math.isnan(f.mean) and not f.other and f.dataset not in in_view
    }


class _Look(NamedTuple):
    """The figures of a column by data set and setting, each with the number of repeats that predict one class."""

    column: str
    own: bool  # of the table itself, not of another protocol
    figures: dict[tuple[str, SettingKey], tuple[MeanAndSd, int]]


def _looks(samples: Samples, metric: str, *, own: bool) -> Iterable[_Look]:
    for column in samples.columns:
        figures = {}
        for group in samples.cells:
            if group[2] == column and (values := list(samples.values(group, metric).values())):
                constant = sum(ONE_CLASS in row["flags"] for row in samples.rows(group, "done"))
                figures[group[:2]] = (sample(values), constant)
        yield _Look(column, own, figures)


class _Agreements:
    """Agreements of all columns of some tables with all of their prints."""

    def __init__(self, metric: str, tables: Sequence[TableSamples], prints: Mapping[Place, PublishedFigure]) -> None:
        self.metric, self.tables, self.prints = metric, tables, prints
        self._columns: dict[tuple[int, str], list[_Look]] = {}
        for number, (samples, others) in enumerate(tables):
            primary = {samples.experiment.primary_column(base_name(column)) for column in samples.columns}
            found = [look for one in (samples, *others) for look in _looks(one, metric, own=one is samples)]
            for look in sorted(found, key=lambda look: (not look.own, look.column not in primary)):
                self._columns.setdefault((number, base_name(look.column)), []).append(look)
        self.kinds: dict[str, list[Place]] = {}
        for place in prints:
            if not math.isnan(self._mean(place)):
                self.kinds.setdefault(kind_of(place.method)[0], []).append(place)

    def controls(self) -> list[Control]:
        """Return the controls of each method, those of all its looks first."""
        found = []
        for kind, places in self.kinds.items():
            found += self._of_kind(kind, places, slice(None))
            for number, look in enumerate(self._looks(places[0])):
                if look.own:
                    name = "/".join(filter(None, (kind, variant_name(look.column))))
                    found += self._of_kind(kind, places, slice(number, number + 1), name)
        return found

    def _of_kind(self, kind: str, places: Sequence[Place], looks: slice, column: str = "") -> list[Control]:
        names = " ".join(dict.fromkeys(self.tables[place.table].samples.experiment.name for place in places))
        several = len({place.dataset for place in places}) > 1
        own = {place: self._share(place, [place], looks) for place in places}
        about = (names, self.metric, kind, column, max(len(self._looks(place)[looks]) for place in places))

        def swapped(sort: str, name: str, others: Mapping[Place, float]) -> list[Control]:
            both = [place for place in places if not math.isnan(others[place])]
            if not both:
                return []
            gains: dict[object, float] = {}
            for place in both:
                unit = place.dataset if several else (place.table, place.setting)
                gains[unit] = gains.get(unit, 0.0) + own[place] - others[place]
            mine, theirs = (sum(of[place] for place in both) for of in (own, others))
            p, least = _sign_flips(list(gains.values()))
            return [Control(*about, sort, name, len(both), mine, theirs, p, least)]

        found: list[Control] = []
        for rival in self.kinds:
            if rival != kind and not self._equal(places, rival):
                shares = {p: self._share(p, [p._replace(method=_named(rival, p.method))], looks) for p in places}
                found += swapped(OTHER_METHOD, rival, shares)
        at = {p: [q for q in places if q.dataset == p.dataset and q != p] for p in places}
        found += swapped(OTHER_SETTING, "", {p: self._share(p, at[p], looks) for p in places})
        if several:
            found += [self._other_datasets(about, places, looks)]
        plain = {p: self._columns.get((p.table, PLAIN_METHOD), [])[:1] for p in places}
        if column and all(plain.values()):
            found += swapped(PLAIN, "", {p: float(self._any(plain[p], p, p)) for p in places})
        return found

    def _other_datasets(self, about: tuple[str, str, str, str, int], places: Sequence[Place], looks: slice) -> Control:
        """Return the control by the prints of other data sets, each with all its settings."""
        datasets = list(dict.fromkeys(place.dataset for place in places))
        agree = np.zeros((len(datasets), len(datasets)))
        for place in places:
            shares = [self._share(place, [place._replace(dataset=other)], looks) for other in datasets]
            agree[datasets.index(place.dataset)] += np.nan_to_num(shares)
        own = float(np.trace(agree))
        orders = np.random.default_rng(0).permuted(np.tile(np.arange(len(datasets)), (PERMUTATIONS, 1)), axis=1)
        totals = agree[np.arange(len(datasets)), orders].sum(axis=1)
        p, least = (
            float(1 + (totals >= total - 1e-9).sum()) / (1 + PERMUTATIONS) for total in (own, max(own, totals.max()))
        )
        wrong = float((agree.sum() - own) / (len(datasets) - 1))
        return Control(*about, OTHER_DATASET, "", len(places), own, wrong, p, least)

    def _looks(self, place: Place) -> list[_Look]:
        """Return the columns of the method at a place, that which represents it first."""
        return self._columns.get((place.table, place.method), [])

    def _share(self, place: Place, others: Iterable[Place], looks: slice) -> float:
        """Return the share of other prints with which the looks at a place agree; NaN if none of them is there."""
        found = [self._any(self._looks(place)[looks], place, other) for other in others if other in self.prints]
        return sum(found) / len(found) if found else math.nan

    def _any(self, looks: Iterable[_Look], place: Place, other: Place) -> bool:
        """Return whether any of the looks at a place reproduces the print of another one."""
        figure, at = self.prints[other], (place.dataset, place.setting)
        there = MeanAndSd(figure.mean, figure.sd, figure.repeats)
        random = self.tables[place.table].samples.experiment.random
        seen = [look.figures[at] for look in looks if at in look.figures]
        return any(
            judge(here, there, self.metric, rounding=figure.rounding, one_class=constant, random=random).verdict
            == REPRODUCED
            for here, constant in seen
        )

    def _mean(self, place: Place) -> float:
        """Return the mean of the column that represents the method at a place; NaN without one."""
        at = place.dataset, place.setting
        return next((look.figures[at][0].mean for look in self._looks(place)[:1] if at in look.figures), math.nan)

    def _equal(self, places: Sequence[Place], rival: str) -> bool:
        """Return whether a method has the figures of a rival, to a unit of the last digit, wherever both have one."""
        pairs = [
            (self._mean(p), self._mean(p._replace(method=_named(rival, p.method))), self.prints[p]) for p in places
        ]
        both = [abs(x - y) <= 2 * figure.rounding for x, y, figure in pairs if x is not None and y is not None]
        return bool(both) and all(both)


def _named(kind: str, like: str) -> str:
    """Return the printed method of a kind that has the parameter of another method."""
    return f"{kind}-{kind_of(like)[1]}".removesuffix("-")


def _sign_flips(gains: Sequence[float]) -> tuple[float, float]:
    """Return the share of sign patterns of the gains whose sum is at least theirs, and the smallest share possible."""
    sums = {0.0: 1}
    for gain in gains:
        step: dict[float, int] = {}
        for total, number in sums.items():
            for way in (round(total + gain, 9), round(total - gain, 9)):
                step[way] = step.get(way, 0) + number
        sums = step
    patterns = 2 ** len(gains)
    share = sum(number for total, number in sums.items() if total >= sum(gains) - 1e-6) / patterns
    return share, sums[max(sums)] / patterns
