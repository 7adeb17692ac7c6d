"""The stored rows of a plan, indexed by data set, setting and column."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pucli.metrics import get_metric
from pucli.report.tables.published import setting_key
from pucli.report.tables.verdict import MeanAndSd
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.plan import plan
from pucli.runner.store import StoredRow, StoredRows

SettingKey: TypeAlias = tuple[tuple[str, float | str], ...]
# data set, setting and column
Group: TypeAlias = tuple[str, SettingKey, str]


@dataclass(frozen=True)
class Samples:
    """The stored rows of a plan, indexed by (data set, setting, column)."""

    experiment: Experiment
    parameters: list[str]  # all scenario parameters
    keys: list[str]  # those with several values in the whole experiment, which make up a setting of the table
    cells: dict[Group, list[Cell]]  # map from each group to its cells, one per repeat
    stored: StoredRows  # map from the key of a cell to its stored row
    # map from each group to the keys of its cells in the whole experiment
    whole: Mapping[Group, Sequence[str]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        experiment: Experiment,
        cells: Sequence[Cell],
        stored: StoredRows,
        whole: Sequence[Cell] | None = None,
    ) -> Samples:
        """Group the cells of a plan by data set, setting and column."""
        values: dict[str, set[str]] = {}
        whole = plan(experiment) if whole is None else whole
        for cell in whole:
            for key, value in cell.setting.items():
                values.setdefault(key, set()).add(str(value))
        keys = [key for key, seen in values.items() if len(seen) > 1]
        planned: dict[Group, list[str]] = {}
        for cell in whole:
            planned.setdefault(_group(cell, keys), []).append(cell.key)
        grouped: dict[Group, list[Cell]] = {}
        for cell in cells:
            grouped.setdefault(_group(cell, keys), []).append(cell)
        return cls(experiment, list(values), keys, grouped, stored, planned)

    def values(self, group: Group, metric: str) -> dict[int, float]:
        """Return the values of the finished cells of a group by repeat, in the unit of the table."""
        scale = get_metric(metric).scale
        found = {}
        for cell in self.cells.get(group, []):
            row = self.stored.get(cell.key)
            value = row["metrics"].get(metric) if row is not None and row["status"] == "done" else None
            if value is not None:
                found[cell.repeat] = value * scale
        return found

    def lacks(self, group: Group, metric: str) -> bool:
        """Return whether the method does not support the metric: all cells are finished and none has it."""
        rows = [self.stored.get(cell.key) for cell in self.cells[group]]
        return all(row is not None and row["status"] == "done" and row["metrics"].get(metric) is None for row in rows)

    @property
    def datasets(self) -> list[str]:
        """Return the data sets in the order of the plan."""
        return list(dict.fromkeys(dataset for dataset, _, _ in self.cells))

    @property
    def settings(self) -> list[SettingKey]:
        """Return the settings in the order of the plan."""
        return list(dict.fromkeys(setting for _, setting, _ in self.cells))

    @property
    def columns(self) -> list[str]:
        """Return the columns in the order of the plan."""
        return list(dict.fromkeys(column for _, _, column in self.cells))

    def rows(self, group: Group, status: str) -> list[StoredRow]:
        """Return the stored rows of a group with the status "done" or "failed"."""
        rows = [self.stored[cell.key] for cell in self.cells[group] if cell.key in self.stored]
        return [row for row in rows if row["status"] == status]

    def is_reduced(self, group: Group) -> bool:
        """Return whether the cells differ from those of the whole experiment (grids, iterations or repeats)."""
        return {cell.key for cell in self.cells.get(group, [])} != set(self.whole.get(group, []))

    def has_fewer_repeats(self, group: Group) -> bool:
        """Return whether a group has fewer cells than in the whole experiment."""
        return len(self.cells.get(group, [])) < len(self.whole.get(group, []))


def _group(cell: Cell, keys: list[str]) -> Group:
    return cell.dataset, setting_key(cell.setting, keys), cell.method


def sample(values: Sequence[float]) -> MeanAndSd:
    """Return the mean and the sample standard deviation."""
    if not values:
        return MeanAndSd(math.nan, math.nan, 0)
    return MeanAndSd(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else math.nan, len(values))


def setting_text(setting: SettingKey) -> str:
    """Return a setting as text, e.g. "label_frequency=0.5"."""
    return ", ".join(f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in setting)
