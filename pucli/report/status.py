"""Status of an experiment: finished, failed and remaining cells, without running any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pucli.report.gathering import gather
from pucli.runner.cells import Cell
from pucli.runner.cost import Pace
from pucli.runner.experiment import Experiment
from pucli.runner.plan import describe
from pucli.runner.store import StoredRow, StoredRows


@dataclass(frozen=True)
class Failure:
    """A reason for which cells failed."""

    reason: str  # what the method or the protocol said
    cells: list[str]  # in words


@dataclass(frozen=True)
class Status:
    """Status of an experiment.

    Parameters
    ----------
    experiment, profile : str
        Names.
    folder : Path
        Its results folder.
    total, done, failed, left : int
        Cells: planned, with a result, failed, and neither.
    seconds : float
        That the done cells took, of one processor.
    seconds_left : float or None
        For the cells without a result, judged by those like them; None where a kind has not run yet.
    last : str
        When the last cell finished (UTC), "" where none has, or where only cells.csv.gz is there.
    rows : list of dict
        For each data set and column: cells, done, failed, left, seconds.
    failures : list of Failure
        Why cells failed, the most frequent reason first.
    flags : dict
        Done cells with a flag, e.g. "not converged", by flag.
    """

    experiment: str
    profile: str
    folder: Path
    total: int
    done: int
    failed: int
    left: int
    seconds: float
    seconds_left: float | None
    last: str
    rows: list[dict[str, Any]]
    failures: list[Failure]
    flags: dict[str, int]


def status(
    experiment: Experiment,
    *,
    profile: str | None = None,
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    results_dir: str | Path | None = None,
) -> Status:
    """Return the numbers of finished and remaining cells, and the failures with their reasons.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    profile : str, optional
        Default: the one of which most cells are known.
    methods, datasets : sequence of str, optional
        Only these.
    results_dir : path, optional
        Folder of all experiments. Default: results.

    Returns
    -------
    Status
        From the store and from cells.csv.gz.

    Raises
    ------
    UsageError
        Nothing of the experiment has been run there.
    """
    found = gather(experiment, profile=profile, methods=methods, datasets=datasets, results_dir=results_dir)
    cells = {cell.key: cell for cell in found.cells}
    table: dict[tuple[str, str], dict[str, Any]] = {}
    reasons: dict[str, list[str]] = {}
    flags: Counter[str] = Counter()
    pace, expected = Pace(_declared(found.rows, cells)), []
    for cell in cells.values():
        counts = {**dict.fromkeys(("cells", "done", "failed", "left"), 0), "seconds": 0.0}
        new = {"dataset": cell.dataset, "method": cell.method, **counts}
        line = table.setdefault((cell.dataset, cell.method), new)
        stored = found.rows.get(cell.key)
        kind = stored["status"] if stored is not None and stored["status"] in ("done", "failed") else "left"
        line["cells"] += 1
        line[kind] += 1
        if stored is not None:
            line["seconds"] += sum(stored["seconds"].values())
            flags.update(stored["flags"] if kind == "done" else [])
        if stored is not None and kind == "failed":
            reasons.setdefault(stored["error"] or "no reason is known", []).append(describe(cell))
        if kind != "done":
            expected.append(pace.seconds(cell))
    known = [value for value in expected if value is not None]
    times = [row["finished"] for row in found.rows.values() if row["finished"]]
    return Status(
        experiment=experiment.name,
        profile=found.scope.profile_name,
        folder=found.folder,
        total=len(cells),
        **{kind: sum(line[kind] for line in table.values()) for kind in ("done", "failed", "left", "seconds")},
        seconds_left=sum(known) if len(known) == len(expected) else None,
        last=max(times, default=""),
        rows=list(table.values()),
        failures=[Failure(reason, where) for reason, where in sorted(reasons.items(), key=lambda item: -len(item[1]))],
        flags=dict(flags.most_common()),
    )


def _declared(rows: StoredRows, cells: Mapping[str, Cell]) -> dict[str, StoredRow]:
    """Return the rows of some cells with what was declared for them, which cells.csv.gz does not hold."""
    return {key: {**row, "declared": dict(cells[key].declared)} for key, row in rows.items() if key in cells}
