"""Rows of the table: aggregated repeats with published figures, verdicts, causes and notes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pucli.core.json_values import OrNaN
from pucli.metrics import get_metric
from pucli.report.tables.causes import automatic_cause
from pucli.report.tables.controls import kind_of
from pucli.report.tables.published import PublishedFigure, chosen_in_view, read_published, setting_key
from pucli.report.tables.samples import Group, Samples, SettingKey, sample, setting_text
from pucli.report.tables.verdict import (
    AS_OFTEN,
    BY_VARIANT,
    COMPARED,
    DEGENERATE,
    NOT_JUDGED,
    NOT_RUN,
    REPRODUCED,
    Judgment,
    MeanAndSd,
    beside,
    judge,
    plain,
)
from pucli.runner.cells import ONE_CLASS, Cell
from pucli.runner.experiment import Experiment, KnownNote, base_name, variant_name
from pucli.runner.store import StoredRows

CellPosition = tuple[str, SettingKey, str, str]
# headings of the lines of a table
LINES = {"dataset": "Data set", "setting": "Setting"}


@dataclass(kw_only=True)
class TableRow:
    """A published or obtained figure, in the unit of the metric; missing numbers are NaN.

    Parameters
    ----------
    dataset, setting : str
        The data set, and the setting as text.
    method, variant : str
        The parts of `column` before and after the slash.
    metric : str
        Name of a registered metric.
    obtained_mean, obtained_sd : float
        Mean and sample standard deviation over repeats.
    puf_mean, puf_sd : float
        PUF of the same predictions, beside an F1.
    repeats, expected_repeats, failed, flagged : int
        Numbers of cells with a value, of planned cells, of failed cells and of cells with a flag.
    published_mean, published_sd : float
        As printed.
    difference_in_sd, difference_in_errors : float
        Obtained minus published mean, in published standard deviations, and in standard errors of this difference.
    difference_low, difference_high : float
        Confidence interval of the obtained minus the published mean, see `pucli.report.tables.verdict`.
    verdict, cause, note : str
        The cause is that of a disagreement, see `pucli.report.tables.causes`.
    primary : bool
        Whether this variant represents its method.
    column : str
        The name of the method in the experiment.
    """

    dataset: str
    setting: str
    method: str
    variant: str
    metric: str
    obtained_mean: OrNaN = math.nan
    obtained_sd: OrNaN = math.nan
    puf_mean: OrNaN = math.nan
    puf_sd: OrNaN = math.nan
    repeats: int = 0
    expected_repeats: int = 0
    failed: int = 0
    flagged: int = 0
    published_mean: OrNaN = math.nan
    published_sd: OrNaN = math.nan
    difference_in_sd: OrNaN = math.nan
    difference_in_errors: OrNaN = math.nan
    difference_low: OrNaN = math.nan
    difference_high: OrNaN = math.nan
    verdict: str = ""
    cause: str = ""
    note: str = ""
    primary: bool = True
    column: str
    setting_key: SettingKey = ()


class OtherRow(NamedTuple):
    """A row of an experiment that runs the same table under another protocol, and the name of that protocol."""

    variant: str
    experiment: str
    row: TableRow


def table_rows(
    samples: Samples, others: Sequence[OtherRow] = (), as_often: Mapping[str, str] | None = None
) -> list[TableRow]:
    """Return the obtained rows in the order of the plan, then the published rows without a method in the experiment.

    `as_often` has the published methods whose variants agree as often with another print, each with its counts.
    """
    experiment = samples.experiment
    published = {
        (f.dataset, setting_key(dict(f.setting), samples.keys), f.method, f.metric): f
        for f in read_published(experiment, samples.parameters)
    }
    rows: list[TableRow] = []
    used: set[CellPosition] = set()
    for metric in experiment.metrics:
        for group, cells in samples.cells.items():
            dataset, setting, column = group
            place = (dataset, setting, base_name(column), metric)
            figure = published.get(place)
            used.add(place)
            if figure is not None or not samples.lacks(group, metric):
                rows.append(_row(samples, group, metric, len(cells), figure))
    in_view = chosen_in_view(experiment)  # without a control, which `by a variant` needs
    alone = _by_variants([row for row in rows if row.dataset not in in_view], others, as_often or {})
    rows += _published_only(published, used, samples)
    _order(rows, samples)
    for row in rows:
        _explain(row, samples, alone.get(id(row), row.verdict))
    return rows


def blocks(rows: Sequence[TableRow]) -> Iterator[tuple[str, str, str, list[TableRow]]]:
    """Yield the tables as in print: unit, setting or the only data set, the attribute that names a line, and rows."""
    for metric in dict.fromkeys(row.metric for row in rows):
        unit, of_metric = get_metric(metric).heading, [row for row in rows if row.metric == metric]
        if len({row.dataset for row in of_metric}) == 1:
            yield unit, of_metric[0].dataset, "setting", of_metric
            continue
        for setting in dict.fromkeys(row.setting for row in of_metric):
            yield unit, setting, "dataset", [row for row in of_metric if row.setting == setting]


def count_flags(cells: Sequence[Cell], rows: StoredRows) -> dict[str, int]:
    """Return the number of finished cells with each flag."""
    keys = {cell.key for cell in cells}
    # ties are sorted by name, so that the order of the cells does not matter
    counts = Counter(flag for key in keys if key in rows for flag in rows[key]["flags"])
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _row(samples: Samples, group: Group, metric: str, expected: int, figure: PublishedFigure | None) -> TableRow:
    dataset, setting, column = group
    experiment = samples.experiment
    obtained = sample(list(samples.values(group, metric).values()))
    puf = sample(list(samples.values(group, "puf").values()) if metric == "f1" else [])
    failed, flags = len(samples.rows(group, "failed")), [row["flags"] for row in samples.rows(group, "done")]
    judged = Judgment("")
    if obtained.n + failed == 0:
        judged = Judgment(NOT_RUN)
    elif figure is not None and not math.isnan(figure.mean):
        there = MeanAndSd(figure.mean, figure.sd, figure.repeats)
        judged = judge(
            obtained,
            there,
            metric,
            rounding=figure.rounding,
            one_class=sum(ONE_CLASS in own for own in flags),
            random=experiment.random,
        )
        judged = beside(judged) if figure.other else judged
    elif figure is not None:
        judged = Judgment("", remark=f"published: {figure.text}")
    base = base_name(column)
    return TableRow(
        dataset=dataset,
        setting=setting_text(setting),
        method=base,
        variant=variant_name(column),
        metric=metric,
        obtained_mean=obtained.mean,
        obtained_sd=obtained.sd,
        puf_mean=puf.mean,
        puf_sd=puf.sd,
        repeats=obtained.n,
        expected_repeats=expected,
        failed=failed,
        flagged=sum(map(bool, flags)),
        published_mean=figure.mean if figure else math.nan,
        published_sd=figure.sd if figure else math.nan,
        difference_in_sd=judged.difference_in_sd,
        difference_in_errors=judged.difference_in_errors,
        difference_low=judged.low,
        difference_high=judged.high,
        verdict=judged.verdict,
        note=_joined(judged.remark, f"{failed} failed" if failed else ""),
        primary=experiment.primary_column(base) == column,
        column=column,
        setting_key=setting,
    )


def _by_variants(rows: list[TableRow], others: Sequence[OtherRow], as_often: Mapping[str, str]) -> dict[int, str]:
    """Set the verdict of primary rows if only another variant agrees; degenerate ones only get a note that names it.

    Return the former verdicts of the rows whose method agrees as often with another print, by their identity.
    """
    alone = {}
    for row in rows:
        if not row.primary or plain(row.verdict) in ("", REPRODUCED, NOT_JUDGED, COMPARED, NOT_RUN):
            continue
        agreeing = [other.variant or other.method for other in rows if _agrees(other, row)]
        elsewhere = [other for other in others if _agrees(other.row, row)]
        names = list(dict.fromkeys([*agreeing, *(other.variant for other in elsewhere)]))
        found = "; ".join(
            f"{other.row.column} of {other.experiment} has {other.row.obtained_mean:.1f}" for other in elsewhere
        )
        if names and row.verdict == DEGENERATE:
            row.note = _joined(row.note, f"{', '.join(names)} agrees", found)
        elif names:
            row.note = _joined(f"alone: {row.verdict}", row.note, found)
            counts = as_often.get(kind_of(row.method)[0], "")
            if counts:
                alone[id(row)] = row.verdict
                row.note = _joined(row.note, counts)
            row.verdict = f"{AS_OFTEN if counts else BY_VARIANT}: {', '.join(names)}"
    return alone


def _agrees(other: TableRow, row: TableRow) -> bool:
    """Return whether a row reproduces the published figure of another row."""
    place = (row.dataset, row.setting_key, row.method, row.metric)
    return other.verdict == REPRODUCED and (other.dataset, other.setting_key, other.method, other.metric) == place


def _published_only(
    published: Mapping[CellPosition, PublishedFigure], used: set[CellPosition], samples: Samples
) -> list[TableRow]:
    """Return rows for published methods missing in the experiment, for planned data sets and settings."""
    here = {(dataset, setting) for dataset, setting, _ in samples.cells}
    declared = {base_name(column) for column in samples.experiment.methods}
    rows = []
    for place, figure in published.items():
        dataset, setting, method, metric = place
        planned = (dataset, setting) in here and metric in samples.experiment.metrics
        if place in used or method in declared or not planned:
            continue
        rows.append(
            TableRow(
                dataset=dataset,
                setting=setting_text(setting),
                method=method,
                variant="",
                metric=metric,
                published_mean=figure.mean,
                published_sd=figure.sd,
                verdict=NOT_RUN,
                note=f"published: {figure.text}" if figure.text else "",
                column=method,
                setting_key=setting,
            )
        )
    return rows


def _order(rows: list[TableRow], samples: Samples) -> None:
    """Sort by setting, data set and method, so that rows to compare are adjacent."""
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


def _explain(row: TableRow, samples: Samples, verdict: str) -> None:
    """Add the declared notes that apply to the row, and the cause of a disagreement with this verdict."""
    group = (row.dataset, row.setting_key, row.column)
    row.cause = automatic_cause(
        verdict,
        reduced=samples.is_reduced(group),
        fewer_repeats=samples.has_fewer_repeats(group),
        protocols=samples.experiment.variants,
    )
    declared = ""
    for note in _fitting(row, samples.experiment):
        row.note = _joined(row.note, note.text)
        declared = declared or note.cause or ""
    if row.cause and declared:
        row.cause = declared


def _fitting(row: TableRow, experiment: Experiment) -> list[KnownNote]:
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
    """Return whether a note names the method of the row, but not a column, and so applies to all variants."""
    return method == row.method and method not in experiment.methods


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
