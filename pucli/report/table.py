"""The table's rows: repeats aggregated, published figures beside them, verdicts, causes and notes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pucli.report.causes import automatic_cause
from pucli.report.published import PublishedFigure, read_published, setting_key
from pucli.report.samples import Group, Samples, SettingKey, sample, setting_text
from pucli.report.verdict import BY_VARIANT, NOT_RUN, REPRODUCED, Judgement, Sample, judge
from pucli.runner.cells import Cell, json_values
from pucli.runner.experiment import Experiment, KnownNote, base_name, variant_name
from pucli.runner.store import StoredRows

Place = tuple[str, SettingKey, str, str]


@dataclass
class TableRow:
    """One published or obtained figure, in the metric's unit; numbers are NaN where there is none.

    Parameters
    ----------
    dataset, setting : str
        Where; the setting in words.
    method, variant : str
        What stands before and after the slash of `column`, the method's name in the experiment.
    metric : str
        Name of a registered metric.
    obtained_mean, obtained_sd : float
        Over repeats; the standard deviation is that of a sample.
    repeats, expected_repeats, failed, flagged : int
        Cells with a value, in the plan, that failed, and with a flag.
    published_mean, published_sd : float
        As printed.
    difference_in_sd : float
        Obtained less published mean in published standard deviations.
    difference_low, difference_high : float
        Interval of obtained less published mean, see `pucli.report.verdict`.
    verdict, cause, note : str
        The cause is that of a disagreement, see `pucli.report.causes`.
    primary : bool
        Whether this variant stands for its method.
    column : str
        The method's name in the experiment.
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
    difference_low: float
    difference_high: float
    verdict: str
    cause: str
    note: str
    primary: bool
    column: str
    setting_key: SettingKey = ()

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        values = asdict(self)
        del values["setting_key"]
        found: dict[str, Any] = json_values(values)
        return found


def table_rows(samples: Samples) -> list[TableRow]:
    """Return all rows: obtained ones in the order of the plan, then published ones that no method here stands for."""
    experiment = samples.experiment
    published = _by_place(read_published(experiment, samples.parameters), samples.keys)
    rows: list[TableRow] = []
    used: set[Place] = set()
    for metric in experiment.metrics:
        for (dataset, setting, column), cells in samples.cells.items():
            place = (dataset, setting, base_name(column), metric)
            figure = published.get(place)
            used.add(place)
            if figure is None and samples.lacks(dataset, setting, column, metric):
                continue
            rows.append(_row(samples, (dataset, setting, column), metric, len(cells), figure))
    _by_variants(rows)
    rows += _published_only(published, used, samples)
    _order(rows, samples)
    for row in rows:
        _explain(row, samples)
    return rows


def count_flags(cells: Sequence[Cell], rows: StoredRows) -> dict[str, int]:
    """Return how many finished cells carry each flag."""
    keys = {cell.key for cell in cells}
    # equally frequent flags by name: whatever the order in which cells finished
    counts = Counter(flag for key in keys if key in rows for flag in rows[key]["flags"])
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _row(samples: Samples, group: Group, metric: str, expected: int, figure: PublishedFigure | None) -> TableRow:
    dataset, setting, column = group
    experiment = samples.experiment
    obtained = sample(list(samples.values(dataset, setting, column, metric).values()))
    status = samples.status(group)
    judged = Judgement("")
    if obtained.n + status.failed == 0:
        judged = Judgement(NOT_RUN)
    elif figure is not None and not math.isnan(figure.mean):
        there = Sample(figure.mean, figure.sd, figure.repeats)
        judged = judge(obtained, there, metric, rounding=figure.rounding, one_class=status.one_class)
    elif figure is not None:
        judged = Judgement("", remark=f"published: {figure.text}")
    base = base_name(column)
    return TableRow(
        dataset=dataset,
        setting=setting_text(setting),
        method=base,
        variant=variant_name(column),
        metric=metric,
        obtained_mean=obtained.mean,
        obtained_sd=obtained.sd,
        repeats=obtained.n,
        expected_repeats=expected,
        failed=status.failed,
        flagged=status.flagged,
        published_mean=figure.mean if figure else math.nan,
        published_sd=figure.sd if figure else math.nan,
        difference_in_sd=judged.difference_in_sd,
        difference_low=judged.low,
        difference_high=judged.high,
        verdict=judged.verdict,
        cause="",
        note=_joined(judged.remark, f"{status.failed} failed" if status.failed else ""),
        primary=experiment.primary_column(base) == column,
        column=column,
        setting_key=setting,
    )


def _by_variants(rows: list[TableRow]) -> None:
    """Mark primary variants that do not agree where another one does: "reproduced by a variant: which"."""
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


def _published_only(published: Mapping[Place, PublishedFigure], used: set[Place], samples: Samples) -> list[TableRow]:
    """Rows for published methods that the experiment does not have, where its data set and setting are in the plan."""
    here = {(dataset, setting) for dataset, setting, _ in samples.cells}
    declared = {base_name(column) for column in samples.experiment.methods}
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
                difference_low=math.nan,
                difference_high=math.nan,
                verdict=NOT_RUN,
                cause="",
                note=f"published: {figure.text}" if figure.text else "",
                primary=True,
                column=method,
                setting_key=setting,
            )
        )
    return rows


def _by_place(figures: Sequence[PublishedFigure], keys: list[str]) -> dict[Place, PublishedFigure]:
    return {(f.dataset, setting_key(dict(f.setting), keys), f.method, f.metric): f for f in figures}


def _order(rows: list[TableRow], samples: Samples) -> None:
    """Sort by setting, data set, method: the rows that a reader compares stand together."""
    settings, datasets = samples.settings, samples.datasets
    columns = {column: number for number, column in enumerate(samples.columns)}
    metrics = samples.experiment.metrics
    rows.sort(
        key=lambda row: (
            metrics.index(row.metric),
            settings.index(row.setting_key),
            datasets.index(row.dataset),
            columns.get(row.column, len(columns)),
            row.column,
        )
    )


def _explain(row: TableRow, samples: Samples) -> None:
    """Add the declared notes that fit the row, and the cause of a disagreement."""
    group = (row.dataset, row.setting_key, row.column)
    row.cause = automatic_cause(
        row.verdict,
        reduced=samples.is_reduced(group),
        fewer_repeats=samples.has_fewer_repeats(group),
        guessed=samples.is_guessed(row.dataset),
    )
    declared = ""
    for note in _fitting(row, samples.experiment):
        row.note = _joined(row.note, note.text)
        declared = declared or note.cause or ""
    if row.cause and declared:
        row.cause = declared


def _fitting(row: TableRow, experiment: Experiment) -> list[KnownNote]:
    """Return the declared notes for a row."""
    where = dict(row.setting_key)
    found = []
    for note in experiment.notes:
        wanted = setting_key(note.setting, list(note.setting))
        if (
            (note.dataset is None or note.dataset == row.dataset)
            and (note.method is None or note.method == row.column or _stands_for_all(note.method, row, experiment))
            and (note.metric is None or note.metric == row.metric)
            and all(where.get(key) == value for key, value in wanted)
            and (not note.verdicts or any(row.verdict.startswith(verdict) for verdict in note.verdicts))
        ):
            found.append(note)
    return found


def _stands_for_all(method: str, row: TableRow, experiment: Experiment) -> bool:
    """Whether the method of a note is the row's, and no column of its own: then it stands for all variants."""
    return method == row.method and method not in experiment.methods


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
