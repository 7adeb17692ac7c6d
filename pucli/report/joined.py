"""New methods on the splits of an experiment, beside its committed runs, which are not run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pucli.core.errors import UsageError
from pucli.data.splits.scenarios import TRAIN
from pucli.models.compare.chance import Ranked, all_positive
from pucli.models.compare.run import ComparisonScores, SplitScores, check, collected
from pucli.report.gathering import gather, results_near
from pucli.report.tables.samples import Samples, setting_text
from pucli.report.tables.table import table_rows
from pucli.runner.experiment import MethodEntry, base_name
from pucli.runner.loading import load_experiment
from pucli.runner.plan import DEFAULT_RESULTS, plan, results_folder
from pucli.runner.run import Event, run
from pucli.runner.store import StoredRow, read_rows

# Folder of the results with the runs of new methods, which no table has.
COMPARED = DEFAULT_RESULTS / "compared"


def joined(
    declared: str,
    methods: Sequence[str],
    *,
    datasets: Sequence[str] = (),
    metric: str = "",
    repeats: int = 10,
    label_frequency: float = 0.5,
    n_jobs: int = 1,
    on_event: Callable[[Event], None] | None = None,
) -> tuple[ComparisonScores, list[str]]:
    """Return the scores of new methods and of the columns of a table, and how they were made.

    Parameters
    ----------
    declared : str
        Name or file of an experiment of the protocol pu with committed runs, in results or shipped with pucli.
    methods : sequence of str
        Methods to run, tuned as the experiment declares, from their default grids; and columns of the table, by default
        all, whose committed runs are taken.
    datasets : sequence of str
        Data sets, by default all.
    metric : str
        By default the first of the table.
    repeats : int, default=10
        Largest number of repeats.
    label_frequency : float, default=0.5
        One of the experiment; if it has only one, that one.
    n_jobs : int, default=1
        Worker processes.
    on_event : callable, optional
        Called for each run that is stored.

    Raises
    ------
    UsageError
        The experiment has another protocol, no such label frequency or no runs, or the metric cannot be had.
    """
    experiment = load_experiment(declared)
    columns = experiment.methods
    new = [name for name in methods if name not in {*columns, *map(base_name, columns)}]
    metric = metric or experiment.metrics[0]
    check(new, metric)
    if experiment.protocol != "pu":
        raise UsageError(
            f"--experiment {declared}: its protocol is {experiment.protocol}, and `compare` joins runs of the protocol "
            "pu, e.g. of table-3.3."
        )
    results = results_near(experiment, DEFAULT_RESULTS)
    of_table = [name for name in methods if name not in new]
    found = gather(experiment, methods=of_table, datasets=datasets, results_dir=results)
    planned, rows = found.scope, found.rows
    names = [*new, *planned.methods]
    if not any(metric in row["metrics"] for row in rows.values()):
        raise UsageError(f"--metric {metric}: no run of {experiment.name} has it; use {', '.join(experiment.metrics)}.")
    if len(names) < 2:
        raise UsageError(f"name a method that {experiment.name} lacks, or two of {', '.join(columns)}.")
    frequencies = planned.label_frequencies
    frequency = label_frequency if label_frequency in frequencies else frequencies[0]
    if label_frequency not in (frequency, 0.5):
        raise UsageError(
            f"--label-frequency {label_frequency:g}: {experiment.name} has {' and '.join(map(str, frequencies))}."
        )
    narrowed = {"label_frequencies": [frequency], "repeats": min(repeats, planned.repeats)}
    profile, chosen = planned.profile_name, planned.profile.model_copy(update=narrowed)
    entries = columns | {name: MethodEntry(method=name) for name in new}
    experiment = experiment.model_copy(update={"methods": entries, "profiles": {profile: chosen}})
    if new:
        run(
            experiment,
            profile=profile,
            methods=new,
            datasets=planned.datasets,
            n_jobs=n_jobs,
            results_dir=COMPARED,
            on_event=on_event,
        )
        rows = {**rows, **read_rows(results_folder(experiment, COMPARED))}
    samples = Samples.of(experiment, plan(experiment, profile, names, planned.datasets), rows, found.cells)
    scores = replace(_scores(samples, names, metric), own=new)
    return scores, [
        f"{scores.values.shape[2]} splits of each data set, those of {experiment.name} (profile {profile}, label "
        f"frequency {frequency:g})",
        f"committed runs of {', '.join(planned.methods)}",
        "other methods are tuned as declared there, from their default grids",
        "in brackets: the published mean, if there is one",
    ]


def _scores(samples: Samples, names: Sequence[str], metric: str) -> ComparisonScores:
    places = dict.fromkeys((dataset, setting) for dataset, setting, _ in samples.cells)
    alone = len(places) == len(samples.datasets)
    tasks = {place: place[0] if alone else f"{place[0]}, {setting_text(place[1])}" for place in places}
    splits = [
        _split((number, repeat), tasks[place], metric, {cell.method: samples.stored.get(cell.key) for cell in cells})
        for number, place in enumerate(places)
        for repeat, cells in enumerate(zip(*(samples.cells[(*place, name)] for name in names), strict=True))
    ]
    split = samples.experiment.split
    train = split.unlabeled_train or split.train or TRAIN
    # too large for a case-control split, whose labeled rows are training rows, too; p is then too large
    found = collected(splits, names, dict.fromkeys(tasks.values(), (1 - train) / train), metric)
    rows = [row for row in table_rows(samples) if row.metric == metric]
    printed = {(tasks[row.dataset, row.setting_key], row.column): row.published_mean for row in rows}
    return replace(found, printed=printed)


def _split(place: tuple[int, int], task: str, metric: str, rows: Mapping[str, StoredRow | None]) -> SplitScores:
    """Return the results of all methods on one split, NaN where a run failed or is missing."""
    done = {name: row["metrics"] if row and row["status"] == "done" else {} for name, row in rows.items()}
    counts = next(filter(None, done.values()), {})  # every method has the same test rows
    truth = np.repeat([1, 0, 1, 0], [int(counts.get(name) or 0) for name in ("tp", "fp", "fn", "tn")])
    positive, rival = int(truth.sum()), all_positive(metric, truth, known=True)
    values, areas = (np.array([one.get(name) for one in done.values()], float).tolist() for name in (metric, "auc"))
    ranked = [Ranked(area, positive, len(truth) - positive) for area in areas]
    remarks = [f"{name} has no result on {task}" for name, metrics in done.items() if not metrics]
    return SplitScores(*place, values, ranked, rival, remarks)
