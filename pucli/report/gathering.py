"""Known results of an experiment: its plan with the finished cells of its store and of cells.csv.gz."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pucli.core.declared_files import declared_path
from pucli.core.errors import UsageError
from pucli.report.cells_csv import FILE, read_cells_csv
from pucli.report.files import read_provenance
from pucli.report.tables.controls import FILE as CONTROLS
from pucli.report.tables.samples import Samples
from pucli.report.tables.table import OtherRow, table_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.loading import load_experiment
from pucli.runner.plan import planned_cells, results_folder
from pucli.runner.profiles import Scope, scope
from pucli.runner.store import StoredRow, StoredRows, read_rows
from pucli.runner.store_files import STORE


@dataclass(frozen=True)
class Gathered:
    """The plan of an experiment and its known results.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    scope : Scope
        The data sets, settings and columns of the plan.
    cells : sequence of Cell
        The planned cells.
    rows : mapping from str to StoredRow
        Stored rows by the key of their cell, see `pucli.runner.read_rows`; cells without a row count as missing.
    folder : Path
        Results folder of the experiment.
    from_csv : bool
        Whether some rows come from cells.csv.gz.
    """

    experiment: Experiment
    scope: Scope
    cells: Sequence[Cell]
    rows: StoredRows
    folder: Path
    from_csv: bool = False

    @cached_property
    def samples(self) -> Samples:
        """The rows by data set, setting and column."""
        whole = self.scope.profile_name == "full" and not self.scope.reductions and not self.scope.narrowed
        return Samples.of(self.experiment, self.cells, self.rows, self.cells if whole else None)


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
    planned = scope(experiment, profile or _largest_profile(experiment, known, folder), methods, datasets)
    cells = planned_cells(experiment, planned)
    rows = {cell.key: known[cell.key] for cell in cells if cell.key in known}
    return Gathered(experiment, planned, cells, rows, folder, any(key not in stored for key in rows))


def _largest_profile(experiment: Experiment, known: Mapping[str, Any], folder: Path) -> str:
    """Return the profile with the most known cells; ties go to that of the report in the folder."""
    there = read_provenance(folder).get("profile")
    counts = {
        name: sum(cell.key in known for cell in planned_cells(experiment, scope(experiment, name)))
        for name in experiment.profiles
    } if known else {}  # fmt: skip
    best = max(counts, key=lambda name: (counts[name], name == there), default="")
    if not best or not counts[best]:
        raise UsageError(
            f"no run of {experiment.name} is finished in {folder}; "
            f"`pucli reproduce {experiment.name} --profile quick` runs a small part of it. A checkout of the "
            "repository has the committed runs, an installed package has none; `report` and `reproduce` read results "
            "that lie elsewhere with --results DIR."
        )
    return best


def samples_of_variants(experiment: Experiment, results: Path) -> dict[tuple[str, str], Samples]:
    """Return the samples of the experiments with results that run the same table, by the variant and their name."""
    found = {}
    for variant, names in experiment.variants.items():
        for name in names:
            if not has_results(results / name):
                continue
            other = load_experiment(name, check_methods=False)
            found[variant, name] = gather(other, results_dir=results).samples
    return found


def rows_of_variants(variants: Mapping[tuple[str, str], Samples]) -> list[OtherRow]:
    """Return the rows of the experiments that run the same table under another protocol."""
    return [OtherRow(*place, row) for place, samples in variants.items() for row in table_rows(samples)]


def results_near(experiment: Experiment, results: Path) -> Path:
    """Return `results` if it has finished cells of an experiment, else the results shipped with pucli if these have."""
    places = [results, declared_path("results")]
    return next((place for place in places if has_results(results_folder(experiment, place))), results)


def lacking(experiment: Experiment, results: Path) -> list[str]:
    """Return what a folder lacks to give a table the verdicts that it has among all results."""
    named = [name for names in experiment.variants.values() for name in names if not has_results(results / name)]
    return named if (results / CONTROLS).is_file() else [*named, CONTROLS]


def has_results(folder: Path) -> bool:
    """Return whether a folder has finished cells of an experiment."""
    return any((folder / file).is_file() for file in (FILE, STORE))
