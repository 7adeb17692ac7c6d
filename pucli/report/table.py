"""The table's rows: repeats aggregated, published figures beside them, verdicts and notes."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pucli.metrics import get_metric
from pucli.report.published import PublishedFigure, read_published, setting_key
from pucli.report.verdict import BY_VARIANT, NOT_RUN, REPRODUCED, Sample, judge
from pucli.runner.cells import Cell, json_values
from pucli.runner.experiment import Experiment, base_name, variant_name

SettingKey = tuple[tuple[str, float | str], ...]


@dataclass
class TableRow:
    """One published or obtained figure; numbers are NaN where there is none.

    Fractions (F1 and so on) are in per cent. `method` is the part of the label before the slash, `variant` the rest.
    """

    dataset: str
    setting: str
    method: str
    variant: str
    metric: str
    obtained_mean: float
    obtained_sd: float
    repeats: int
    expected_repeats: int
    failed: int
    flagged: int
    published_mean: float
    published_sd: float
    difference_in_sd: float
    verdict: str
    note: str
    primary: bool
    label: str
    setting_key: SettingKey = ()

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        values = asdict(self)
        del values["setting_key"]
        return json_values(values)


@dataclass(frozen=True)
class Samples:
    """The stored rows of a plan, found by (data set, setting, label).

    `parameters` are all scenario parameters, `keys` those that take several values in the whole experiment: they
    make a setting of the table.
    """

    experiment: Experiment
    parameters: list[str]
    keys: list[str]
    cells: dict[tuple[str, SettingKey, str], list[Cell]]
    stored: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, experiment: Experiment, cells: Sequence[Cell], stored: Mapping[str, Mapping[str, Any]]) -> Samples:
        """Group the cells of a plan."""
        from pucli.runner.run import plan

        values: dict[str, set[str]] = {}
        for cell in plan(experiment):
            for key, value in cell.setting.items():
                values.setdefault(key, set()).add(str(value))
        keys = [key for key, seen in values.items() if len(seen) > 1]
        grouped: dict[tuple[str, SettingKey, str], list[Cell]] = {}
        for cell in cells:
            grouped.setdefault((cell.dataset, setting_key(cell.setting, keys), cell.method), []).append(cell)
        return cls(experiment, list(values), keys, grouped, stored)

    def values(self, dataset: str, setting: SettingKey, label: str, metric: str) -> dict[int, float]:
        """Return repeat -> value in the table's unit, of the cells that are done and have one."""
        scale = get_metric(metric).scale
        found = {}
        for cell in self.cells.get((dataset, setting, label), []):
            row = self.stored.get(cell.key)
            value = row["metrics"].get(metric) if row is not None and row["status"] == "done" else None
            if value is not None:
                found[cell.repeat] = value * scale
        return found

    def lacks(self, dataset: str, setting: SettingKey, label: str, metric: str) -> bool:
        """Whether all cells are done and none has the metric: the method has no such thing."""
        rows = [self.stored.get(cell.key) for cell in self.cells.get((dataset, setting, label), [])]
        return all(row is not None and row["status"] == "done" and row["metrics"].get(metric) is None for row in rows)

    @property
    def datasets(self) -> list[str]:
        """Data sets in the order of the plan."""
        return list(dict.fromkeys(dataset for dataset, _, _ in self.cells))

    @property
    def settings(self) -> list[SettingKey]:
        """Settings in the order of the plan."""
        return list(dict.fromkeys(setting for _, setting, _ in self.cells))

    @property
    def labels(self) -> list[str]:
        """Method labels in the order of the plan."""
        return list(dict.fromkeys(label for _, _, label in self.cells))

    def status(self, group: tuple[str, SettingKey, str]) -> tuple[int, int]:
        """Return how many cells failed, and how many of those done are flagged."""
        failed = flagged = 0
        for cell in self.cells[group]:
            row = self.stored.get(cell.key)
            if row is not None:
                failed += row["status"] == "failed"
                flagged += row["status"] == "done" and bool(row["flags"])
        return failed, flagged


def sample(values: Sequence[float]) -> Sample:
    """Return mean and sample standard deviation."""
    if not values:
        return Sample(math.nan, math.nan, 0)
    return Sample(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else math.nan, len(values))


def table_rows(samples: Samples) -> list[TableRow]:
    """Return all rows: obtained ones in the order of the plan, then published ones that no method here stands for."""
    experiment = samples.experiment
    published = _by_place(read_published(experiment, samples.parameters), samples.keys)
    rows, used = [], set()
    for metric in experiment.metrics:
        for (dataset, setting, label), cells in samples.cells.items():
            place = (dataset, setting, base_name(label), metric)
            figure = published.get(place)
            used.add(place)
            if figure is None and samples.lacks(dataset, setting, label, metric):
                continue
            rows.append(_row(samples, (dataset, setting, label), metric, len(cells), figure))
    _by_variants(rows)
    rows += _published_only(published, used, samples)
    _order(rows, samples)
    for row in rows:
        _attach_notes(row, experiment)
    return rows


def setting_text(setting: SettingKey) -> str:
    """Return a setting in words, e.g. "label_frequency=0.5"."""
    return ", ".join(f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in setting)


def count_flags(cells: Sequence[Cell], stored: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return how many finished cells carry each flag."""
    keys = {cell.key for cell in cells}
    return dict(Counter(flag for key in keys if key in stored for flag in stored[key]["flags"]).most_common())


def _row(
    samples: Samples,
    group: tuple[str, SettingKey, str],
    metric: str,
    expected: int,
    figure: PublishedFigure | None,
) -> TableRow:
    dataset, setting, label = group
    experiment = samples.experiment
    obtained = sample(list(samples.values(dataset, setting, label, metric).values()))
    failed, flagged = samples.status(group)
    verdict, in_sd, note = "", math.nan, ""
    started = obtained.n + failed > 0
    if not started:
        verdict = NOT_RUN
    elif figure is not None and not math.isnan(figure.mean):
        there = Sample(figure.mean, figure.sd, figure.repeats)
        verdict, in_sd, note = judge(obtained, there, metric, rounding=figure.rounding)
    elif figure is not None:
        note = f"published: {figure.text}"
    if failed:
        note = _joined(note, f"{failed} failed")
    base = base_name(label)
    return TableRow(
        dataset=dataset,
        setting=setting_text(setting),
        method=base,
        variant=variant_name(label),
        metric=metric,
        obtained_mean=obtained.mean,
        obtained_sd=obtained.sd,
        repeats=obtained.n,
        expected_repeats=expected,
        failed=failed,
        flagged=flagged,
        published_mean=figure.mean if figure else math.nan,
        published_sd=figure.sd if figure else math.nan,
        difference_in_sd=in_sd,
        verdict=verdict,
        note=note,
        primary=experiment.primary_label(base) == label,
        label=label,
        setting_key=setting,
    )


def _by_variants(rows: list[TableRow]) -> None:
    """A primary variant that does not agree, where another one does, is "reproduced by a variant: which"."""
    for row in rows:
        if row.primary and row.verdict not in ("", REPRODUCED, NOT_RUN):
            agreeing = [
                other.variant or other.method
                for other in rows
                if other.verdict == REPRODUCED
                and (other.dataset, other.setting_key, other.method, other.metric)
                == (row.dataset, row.setting_key, row.method, row.metric)
            ]
            if agreeing:
                row.note = _joined(f"alone: {row.verdict}", row.note)
                row.verdict = f"{BY_VARIANT}: {', '.join(agreeing)}"


def _published_only(published: Mapping[tuple, PublishedFigure], used: set, samples: Samples) -> list[TableRow]:
    """Rows for published methods that the experiment does not have, where its data set and setting are in the plan."""
    here = {(dataset, setting) for dataset, setting, _ in samples.cells}
    declared = {base_name(label) for label in samples.experiment.methods}
    rows = []
    for place, figure in published.items():
        dataset, setting, method, metric = place
        if place in used or (dataset, setting) not in here or method in declared:
            continue
        if metric not in samples.experiment.metrics:
            continue
        rows.append(
            TableRow(
                dataset=dataset,
                setting=setting_text(setting),
                method=method,
                variant="",
                metric=metric,
                obtained_mean=math.nan,
                obtained_sd=math.nan,
                repeats=0,
                expected_repeats=0,
                failed=0,
                flagged=0,
                published_mean=figure.mean,
                published_sd=figure.sd,
                difference_in_sd=math.nan,
                verdict=NOT_RUN,
                note=f"published: {figure.text}" if figure.text else "",
                primary=True,
                label=method,
                setting_key=setting,
            )
        )
    return rows


def _by_place(figures: Sequence[PublishedFigure], keys: list[str]) -> dict[tuple, PublishedFigure]:
    return {(f.dataset, setting_key(dict(f.setting), keys), f.method, f.metric): f for f in figures}


def _order(rows: list[TableRow], samples: Samples) -> None:
    """Sort by setting, data set, method: the rows that a reader compares stand together."""
    settings, datasets = samples.settings, samples.datasets
    labels = {label: number for number, label in enumerate(samples.labels)}
    metrics = samples.experiment.metrics
    rows.sort(
        key=lambda row: (
            metrics.index(row.metric),
            settings.index(row.setting_key),
            datasets.index(row.dataset),
            labels.get(row.label, len(labels)),
            row.label,
        )
    )


def _attach_notes(row: TableRow, experiment: Experiment) -> None:
    where = dict(row.setting_key)
    for note in experiment.notes:
        wanted = setting_key(note.setting, list(note.setting))
        if (
            (note.dataset is None or note.dataset == row.dataset)
            and (note.method is None or note.method in (row.label, row.method))
            and all(where.get(key) == value for key, value in wanted)
            and (not note.verdicts or any(row.verdict.startswith(verdict) for verdict in note.verdicts))
        ):
            row.note = _joined(row.note, note.text)


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
