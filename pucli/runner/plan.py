"""Planning of cells: the list of cells, their results folder and their division into parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pucli.core.errors import UsageError
from pucli.runner.cells import Cell, protocol_steps
from pucli.runner.experiment import Experiment
from pucli.runner.profiles import Scope, scope

DEFAULT_RESULTS = Path("results")


def plan(
    experiment: Experiment,
    profile: str = "full",
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
) -> list[Cell]:
    """Plan the cells of an experiment under a profile.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    profile : str, default="full"
        Name of one of its profiles.
    methods, datasets : sequence of str, optional
        Restrict the plan to these data sets, and to these columns or names before the slash.

    Returns
    -------
    list of Cell
        In the order of the table.
    """
    return planned_cells(experiment, scope(experiment, profile, methods, datasets))


def results_folder(experiment: Experiment, results_dir: str | Path | None = None) -> Path:
    """Return the folder of an experiment's results."""
    return Path(results_dir if results_dir is not None else DEFAULT_RESULTS) / experiment.name


def describe(cell: Cell) -> str:
    """Describe a cell: data set, setting, method, repeat (counted from 1)."""
    setting = ", ".join(f"{key} {value}" for key, value in cell.setting.items())
    return f"{cell.dataset}{f' ({setting})' if setting else ''} {cell.method}, repeat {cell.repeat + 1}"


def planned_cells(experiment: Experiment, planned: Scope) -> list[Cell]:
    """Return the cells planned by the protocol of the experiment."""
    cells: list[Cell] = protocol_steps(experiment.protocol).cells(experiment, planned)
    return cells


def part_of(cells: Sequence[Cell], shard: tuple[int, int]) -> list[Cell]:
    """Return one part of a plan; parts have similar sizes, and cells that share rows stay together.

    `shard` is the number of the part, from 1, and that of parts, whose union is the plan.
    """
    number, parts = shard
    if not 1 <= number <= parts:
        raise UsageError(f"shard {number}/{parts}: the first number must be between 1 and the second.")
    groups = {group: place for place, group in enumerate(dict.fromkeys(cell.group for cell in cells))}
    return [cell for cell in cells if groups[cell.group] % parts == number - 1]
