"""``pucli tune``: choose hyper-parameters from labelled and unlabeled rows alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import options as opt
from pucli.cli.output import Output, number
from pucli.errors import UsageError

if TYPE_CHECKING:
    from pucli.cli.training_rows import TrainingRows
    from pucli.tuning import TuneResult

EXAMPLES = """
pucli tune --method glpual --dataset wifi
pucli tune --method glpual --dataset wifi --param kernel=rbf --grid width=0.5,1,2,4 --grid lam=decades
pucli tune --method gllc --data customers.csv --label bought --positive yes --cv 5 --trials trials.csv
"""


def command(
    out: Output,
    method: opt.MethodName,
    dataset: opt.DatasetName = None,
    data: opt.DataFile = None,
    label: opt.LabelColumn = None,
    positive: opt.PositiveValue = None,
    param: opt.Parameters = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            "-g",
            metavar="K=V1,V2,...",
            help="Values to try, or the name of a series; repeat for more. Replaces the method's own grid.",
            show_default=False,
        ),
    ] = None,
    folds: opt.Folds = 4,
    cv_repeats: Annotated[int, typer.Option("--cv-repeats", help="Cross-validations with fresh folds.", min=1)] = 1,
    score: opt.Score = "puf",
    greedy: Annotated[
        float | None,
        typer.Option(
            "--greedy",
            metavar="STEP",
            help="Refine the choice: each parameter in turn up and down by this share, e.g. 0.1.",
            show_default=False,
        ),
    ] = None,
    scenario: opt.Scenario = "case-control",
    label_frequency: opt.LabelFrequency = 0.5,
    seed: opt.Seed = 0,
    split: opt.SplitFile = None,
    repeat: opt.Repeat = 0,
    standardise: opt.Standardise = True,
    n_jobs: opt.Jobs = 1,
    trials: Annotated[
        Path | None,
        typer.Option("--trials", help="Write every point that was tried to this CSV file.", show_default=False),
    ] = None,
    mirror: opt.Mirror = None,
    offline: opt.Offline = False,
) -> None:
    """Choose parameters without true labels.

    Cross-validates on a score of labelled positives and unlabeled rows. The default, PUF, is recall on labelled rows
    squared over the share of rows predicted positive.
    """
    from pucli.cli.training_rows import DataOptions, training_rows

    opt.keep_inputs("--trials", trials, data, split)
    from pucli.methods import get_method

    entry = get_method(method)
    if entry.kind != "pu":
        raise UsageError(f"{method} does not learn from labelled positives; the scores of `pucli tune` are for those.")
    params = {**entry.params, **opt.method_parameters(method, param)}
    chosen_grid = opt.method_grid(method, grid)
    if chosen_grid is None:
        chosen_grid = {key: values for key, values in entry.grid.items() if key not in params}
    both = sorted(set(chosen_grid) & set(params))
    if both:
        raise UsageError(f"{', '.join(both)}: given by --param and by --grid; keep one.")
    if not chosen_grid:
        raise UsageError("there is nothing to choose: give --grid K=V1,V2 for at least one parameter.")
    if greedy is not None and not 0 < greedy < 1:
        raise UsageError(f"--greedy must be above 0 and below 1, not {greedy}; 0.1 is usual.")
    where = DataOptions(dataset, data, label, positive, scenario, label_frequency, seed, split, repeat, mirror, offline)
    rows = training_rows(entry, where)
    result = choose(
        out,
        method,
        rows,
        params,
        chosen_grid,
        folds=folds,
        cv_repeats=cv_repeats,
        rule=score,
        greedy_step=greedy,
        seed=seed,
        standardise=standardise,
        n_jobs=n_jobs,
    )
    _report(out, method, rows, result, chosen_grid, score, trials)
    if trials is not None:  # after the choice is told, which must not be lost with a full disk
        _write_trials(trials, result)


def choose(
    out: Output,
    method: str,
    rows: TrainingRows,
    params: Mapping[str, Any],
    grid: Mapping[str, Any],
    *,
    seed: int,
    standardise: bool,
    **settings: Any,
) -> TuneResult:
    """Return the tuned choice, with progress on stderr; features are scaled by the training rows, as in ``train``."""
    from pucli.tuning import tune

    X = rows.X
    if standardise:
        from sklearn.preprocessing import StandardScaler

        X = StandardScaler().fit_transform(X)
    out.if_interrupted = "Nothing was chosen; a smaller --grid or fewer --cv folds are faster."
    try:
        with out.progress("tuning") as bar:
            return tune(
                method,
                X,
                rows.y,
                params=params,
                grid=grid,
                denominator=rows.denominator,
                seed=seed,
                progress=bar,
                **settings,
            )
    except ValueError as error:
        raise UsageError(f"{method} cannot be tuned on {rows.title}: {error}") from error


def _write_trials(path: Path, result: TuneResult) -> None:
    """Write one line per point: stage, parameters, score, counts."""
    from pucli.data.atomic import replacing

    flat = [{"stage": trial["stage"], **trial.pop("params"), **trial} for trial in result.trials]
    with replacing(path) as partial, partial.open("w", newline="", encoding="utf-8") as stream:
        Output.write_csv(stream, list(flat[0]), [list(row.values()) for row in flat])


def _report(
    out: Output,
    method: str,
    rows: TrainingRows,
    result: TuneResult,
    grid: Mapping[str, Any],
    rule: str,
    trials: Path | None,
) -> None:
    chosen = {key: value for key, value in result.params.items() if key in grid}
    best = max(result.trials, key=lambda trial: trial["params"] == chosen)
    out.document(
        {
            "method": method,
            "data": rows.about,
            "params": result.params,
            "chosen": chosen,
            "rule": rule,
            "score": result.score,
            "score_se": result.score_se,
            "points": len(result.trials),
            "fits": result.n_fits,
            "seconds": result.seconds,
            "notes": result.notes,
            "trials": trials,
        }
    )
    for note in result.notes:
        out.warn(note)
    share = (best["positive_labelled"] + best["positive_unlabeled"]) / (best["n_labelled"] + best["n_unlabeled"])
    out.text(f"{method} on {rows.title}")
    out.fields(
        [
            *((key, value) for key, value in chosen.items()),
            (rule, f"{number(result.score)} (standard error {number(result.score_se, 2)})"),
            ("recall on labelled rows", f"{best['positive_labelled']} of {best['n_labelled']}"),
            ("predicted positive", f"{100 * share:.1f} % of the validation rows"),
            ("tried", f"{len(result.trials)} points, {result.n_fits} fits, {result.seconds:.2f} s"),
            ("trials", trials),
        ]
    )
    words = " ".join(f"--param {key}={value}" for key, value in result.params.items())
    out.remark(f"To train with this choice: pucli train --method {method} {_data_words(rows)} {words}")


def _data_words(rows: TrainingRows) -> str:
    """Return the data options that give the same rows again."""
    if "file" in rows.about:
        positive = f" --positive {rows.about['positive']}" if rows.about.get("positive") else ""
        return f"--data {rows.about['file']} --label {rows.about['label']}{positive}"
    return f"--dataset {rows.about['dataset']}"
