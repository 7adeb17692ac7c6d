"""Published figures, read from the files that an experiment declares."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pucli.core.declared_files import declared_path
from pucli.core.errors import UsageError, unknown
from pucli.metrics import get_metric
from pucli.runner.experiment import Experiment, PublishedFigures, base_name

IN_VIEW = "chosen with the print in view"


@dataclass(frozen=True)
class PublishedFigure:
    """A published mean, in the unit of the table (per cent for fractions); `sd` is NaN if not given.

    `rounding` is half a unit of the last printed digit; `text` is the printed text if it is not a number; `other` is
    whether the figure is that of another method.
    """

    dataset: str
    setting: tuple[tuple[str, float | str], ...]
    method: str
    metric: str
    mean: float
    sd: float
    repeats: int
    rounding: float
    text: str = ""
    other: bool = False


def read_published(experiment: Experiment, parameters: Sequence[str]) -> list[PublishedFigure]:
    """Return all published figures of an experiment whose cells have the scenario `parameters`.

    `method` is the part of the column name before the slash if the experiment has the method, otherwise the published
    name; `setting` holds the parameters that are columns of the file.
    """
    return [figure for source in experiment.published for figure in _read(experiment, source, parameters)]


def figures_of_metrics(experiment: Experiment) -> dict[str, str]:
    """Return the metrics that were published, each with the file of its figures.

    Figures may be compared with several metrics, of which the first is the published one.
    """
    found: dict[tuple[str, str], str] = {}
    for source in experiment.published:
        columns, _ = _table(experiment, source)
        found.setdefault((source.file, _mean_column(source, columns)), source.metric)
    return {metric: file for (file, _), metric in found.items()}


def chosen_in_view(experiment: Experiment) -> set[str]:
    """Return the data sets that were chosen with the printed figures in view: their figures count in no sum."""
    from pucli.data import dataset_entry

    return {name for name in experiment.dataset_names if dataset_entry(name).selection == IN_VIEW}


def setting_key(setting: dict[str, Any] | Any, keys: list[str]) -> tuple[tuple[str, float | str], ...]:
    """Return the values of the scenario parameters `keys` in a form that can be compared and sorted."""
    return tuple((key, _number(setting[key])) for key in keys if key in setting)


def _table(experiment: Experiment, source: PublishedFigures) -> tuple[list[str], list[dict[str, str]]]:
    try:
        with _find(experiment, source.file).open(encoding="utf-8", newline="") as handle:
            reader = csv.DictReader(handle)
            return list(reader.fieldnames or []), list(reader)
    except OSError as error:
        raise UsageError(f"{experiment.name}: published.file: cannot read {source.file}: {error.strerror}.") from None


def _mean_column(source: PublishedFigures, columns: list[str]) -> str:
    return _column(source.mean, [f"{source.metric}_mean", "mean"], columns, source.file)


def _read(experiment: Experiment, source: PublishedFigures, parameters: Sequence[str]) -> list[PublishedFigure]:
    columns, rows = _table(experiment, source)
    mean = _mean_column(source, columns)
    sd = _column(source.sd, [f"{source.metric}_sd", "sd"], columns, source.file, needed=bool(source.sd))
    method = _column(source.method, [], columns, source.file)
    parameters = [key for key in parameters if key in columns]
    # numbers lose trailing zeros, so the printed precision is the longest fraction in the column
    digits = max((len(row[mean].strip().partition(".")[2]) for row in rows), default=0)
    datasets = _dataset_names(experiment)
    labels = _method_names(experiment)
    if source.dataset not in columns and len(experiment.dataset_names) > 1:
        raise UsageError(f"{source.file}: published.dataset: {unknown('column', source.dataset, columns)}")
    figures = []
    for number, row in enumerate(rows, start=2):
        name = row.get(source.dataset) or experiment.dataset_names[0]
        name = source.rename.get(name, name)
        printed = source.rename.get(row[method], row[method])
        label = labels.get(printed.lower(), printed)
        scale = 1.0 if source.percent else get_metric(source.metric).scale
        text = row[mean].strip()
        value = _number(text)
        spread = _number(row[sd].strip()) if sd and row[sd].strip() else math.nan
        if isinstance(spread, str):
            raise UsageError(f"{source.file}: line {number}, column {sd}: {spread!r} is not a number.")
        figures.append(
            PublishedFigure(
                dataset=datasets.get(name.lower(), name),
                setting=setting_key(row, parameters),
                method=label,
                metric=source.metric,
                # a word in place of a number ("failure") is kept
                mean=math.nan if isinstance(value, str) else value * scale,
                sd=spread * scale,
                repeats=source.repeats or experiment.split.repeats,
                rounding=0.5 * 10**-digits * scale,
                text=text if isinstance(value, str) else "",
                other=label in source.others,
            )
        )
    return figures


def _find(experiment: Experiment, file: str) -> Path:
    candidates = [declared_path("experiments") / "published" / file]
    if experiment.path is not None:
        candidates = [experiment.path.parent / "published" / file, experiment.path.parent / file, *candidates]
    for path in candidates:
        if path.is_file():
            return path
    raise UsageError(f"{experiment.name}: published.file: no file {file!r} under experiments/published.")


def _column(declared: str, usual: list[str], columns: list[str], file: str, *, needed: bool = True) -> str:
    for name in [declared] if declared else usual:
        if name in columns:
            return name
    if needed:
        raise UsageError(f"{file}: {unknown('column', declared or usual[0], columns)}")
    return ""


def _dataset_names(experiment: Experiment) -> dict[str, str]:
    """Return a map from lower-case names, and names printed in publications, to names in the catalogue."""
    from pucli.data import dataset_entry

    names = {}
    for name in experiment.dataset_names:
        printed = dataset_entry(name).name
        names.update({text.lower(): name for text in (name, printed) if text})
    return names


def _method_names(experiment: Experiment) -> dict[str, str]:
    return {base_name(column).lower(): base_name(column) for column in experiment.methods}


def _number(value: Any) -> float | str:
    if isinstance(value, bool):
        return str(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)
