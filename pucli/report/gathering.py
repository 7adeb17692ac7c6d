"""Known results of an experiment: its plan with the finished cells of its store and of cells.csv.gz."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pucli.core.errors import UsageError
from pucli.report.cells_csv import FILE, UNCOMPRESSED, read_cells_csv
from pucli.report.files import read_provenance
from pucli.report.tables.samples import Samples
from pucli.report.tables.table import OtherRow, table_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.loading import load_experiment
from pucli.runner.plan import planned_cells, results_folder
from pucli.runner.profiles import Scope, scope
from pucli.runner.store import StoredRow, read_rows
from pucli.runner.store_files import STORE


class Gathered(NamedTuple):
    """Known results of an experiment: the plan, the stored cells, and whether some come from cells.csv.gz."""

    scope: Scope
    cells: list[Cell]
    rows: dict[str, StoredRow]
    folder: Path
    from_csv: bool


def gather(
    experiment: Experiment,
    *,
    profile: str | None = None,
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    results_dir: str | Path | None = None,
) -> Gathered:
    """Return the known results of an experiment, from its store and cells.csv.gz.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    profile : str, optional
        Name of a profile; by default the largest one with results.
    methods, datasets : sequence of str, optional
        Selection of cells, see `pucli.runner.plan`.
    results_dir : path, optional
        Folder of all experiments, by default results.
    """
    folder = results_folder(experiment, results_dir)
    stored = read_rows(folder)
    known: dict[str, StoredRow] = {**read_cells_csv(folder), **stored}
    if profile is None and not stored:
        profile = read_provenance(folder).get("profile") if known else None
    planned = scope(experiment, profile or largest_profile(experiment, known, folder), methods, datasets)
    cells = planned_cells(experiment, planned)
    rows = {cell.key: known[cell.key] for cell in cells if cell.key in known}
    return Gathered(planned, cells, rows, folder, any(key not in stored for key in rows))


def largest_profile(experiment: Experiment, known: Mapping[str, Any], folder: Path) -> str:
    """Return the profile with the most known cells.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    known : mapping
        Map from the key of each known cell.
    folder : Path
        Its results folder; ties go to the profile of the report there.

    Returns
    -------
    str

    Raises
    ------
    UsageError
        No cell has been run.
    """
    there = read_provenance(folder).get("profile")
    counts = {
        name: sum(cell.key in known for cell in planned_cells(experiment, scope(experiment, name)))
        for name in experiment.profiles
    } if known else {}  # fmt: skip
    best = max(counts, key=lambda name: (counts[name], name == there), default="")
    if not best or not counts[best]:
        raise UsageError(
            f"no cell of {experiment.name} has been run in {folder}; "
            f"`pucli reproduce {experiment.name} --profile quick` runs a small part of it."
        )
    return best


def rows_of_variants(experiment: Experiment, results: Path) -> list[OtherRow]:
    """Return the rows of the experiments with results that run the same table under another protocol."""
    found = []
    for variant, names in experiment.variants.items():
        for name in names:
            if not has_results(results / name):
                continue
            other = load_experiment(name, check_methods=False)
            known = gather(other, results_dir=results)
            rows = table_rows(Samples.of(other, known.cells, known.rows))
            found += [OtherRow(variant, name, row) for row in rows]
    return found


def has_results(folder: Path) -> bool:
    """Return whether a folder has finished cells of an experiment."""
    return any((folder / file).is_file() for file in (FILE, UNCOMPRESSED, STORE))
