"""``pucli tune``: choose parameters without true labels."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import options as opt
from pucli.cli.assignments import method_grid, method_parameters
from pucli.cli.output import Output, Stopped, output_file
from pucli.cli.row_options import RowOptions
from pucli.cli.terminal import duration, many, number, percent
from pucli.cli.tuning import choose, far_prior_warning, how_chosen
from pucli.core.errors import UsageError
from pucli.core.json_values import OrNaN

if TYPE_CHECKING:
    from pucli.data.rows.training_rows import TrainingRows
    from pucli.methods import Method
    from pucli.tuning import TuneResult

# Share of the unlabeled rows above which a choice is doubted.
MOST_CALLED = 0.9
# Criterion of the GLPUAL thesis, which chooses by one cross-validation.
OF_THE_THESIS = "puf"
NAMES = {"pu-auc": "PU-AUC", "f1": "F1", "puf": "PUF"}
EXAMPLES = """
pucli tune --method glpual
pucli tune wifi --method glpual
pucli tune wifi --method glpual --param kernel=rbf --grid width=0.5,1,2,4 --grid lam=decades
pucli tune customers.csv --method gllc --label bought --positive yes --cv 5 --trials trials.csv
"""


@dataclass(frozen=True)
class Tuned:
    """Chosen parameters, and the score by which they were chosen, without true labels."""

    method: str
    data: dict[str, Any]
    params: dict[str, Any]
    chosen: dict[str, Any]
    rule: str
    rule_of_thesis: str  # the rule of the GLPUAL thesis
    score: OrNaN
    score_se: OrNaN
    f1: OrNaN
    points: int
    fits: int
    seconds: float
    notes: list[str]
    interrupted: str | None
    trials: Path | None


def command(  # noqa: PLR0913
    out: Output,
    method: opt.MethodName,
    where: RowOptions,
    param: opt.Parameters = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            "-g",
            metavar="K=V1,V2,...",
            help="Values to try, or the name of a series; repeatable. Replaces the default grid.",
        ),
    ] = None,
    folds: opt.Folds = 4,
    cv_repeats: Annotated[
        int | None,
        typer.Option(
            "--cv-repeats",
            help="Number of cross-validations, each with new folds.",
            min=1,
            show_default="2, or 1 above 20,000 rows",
        ),
    ] = None,
    score: opt.Score = None,
    standardize: opt.Standardize = True,
    n_jobs: opt.Jobs = 1,
    trials: Annotated[Path | None, typer.Option("--trials", help="Write every point tried to this CSV file.")] = None,
) -> None:
    """Choose parameters without true labels.

    `pucli tune` compares parameters by cross-validation, with a score that needs only labeled positives and unlabeled
    rows. The default score is PU-AUC: the share of pairs of a labeled and an unlabeled held-out row in which the
    labeled one scores higher. Then `tune` moves the threshold to the largest F1, estimated from
    the recall on labeled rows, the share of flagged rows, and an estimated class prior.

    --score f1 compares parameters by this F1 and moves no threshold. --score puf --cv-repeats 1 is the rule of the
    GLPUAL thesis: PUF is the squared recall divided by the share of flagged rows. Benchmark `tuning` compares all
    three.
    """
    from pucli.cli.compiling import announce_compiling
    from pucli.cli.text.columns import rows_to_learn_from
    from pucli.methods import get_method
    from pucli.methods.effects import without_effect
    from pucli.models.fitting import prior_warning, seeded
    from pucli.tuning import TuningInterrupted
    from pucli.tuning.scorers import RULES

    output_file("--trials", trials, *where.files)
    entry = get_method(method)
    if entry.kind != "pu":
        raise UsageError(
            f"{method} does not learn from labeled positives, which the scores of `pucli tune` need; train it with "
            f"`pucli train --method {method}`, and give parameters with --param."
        )
    if score is not None:
        opt.choice("score", score, RULES)
    fixed, wanted = method_parameters(method, param), method_grid(method, grid)
    where = where.or_example(out)
    params = {**entry.params, **fixed}
    chosen_grid = _grid(entry, params, wanted)
    for line in without_effect(method, [*fixed, *(wanted or ())], {**params, **chosen_grid}):
        out.warn(line)
    why = "`pucli tune` compares by labeled and unlabeled rows alone"
    rows = rows_to_learn_from(out, "pu", where.source, without_negatives=why)
    out.warn(prior_warning(method, {**params, **chosen_grid}))
    out.warn(far_prior_warning(fixed, rows, where.seed))
    announce_compiling(out)
    how = {"folds": folds, "cv_repeats": cv_repeats, "rule": score, "n_jobs": n_jobs}
    interrupted = False
    try:
        result = choose(
            out,
            method,
            rows,
            seeded(method, params, where.seed),
            chosen_grid,
            seed=where.seed,
            standardize=standardize,
            **how,
        )
    except TuningInterrupted as stop:
        if stop.so_far is None:
            raise
        result, interrupted = stop.so_far, True
    found = [key for key in ("prior", "threshold") if key not in params and result.params.get(key) is not None]
    chosen = {key: value for key, value in result.params.items() if key in [*chosen_grid, *found]}
    _report(out, method, rows, result, chosen, trials)
    out.remark(how_chosen(result))
    words = " ".join(f"--param {key}={value}" for key, value in {**params, **chosen}.items())
    raw = "" if standardize else " --raw"
    out.remark(f"To train with this choice: pucli train --method {method} {where.words}{raw} {words}")
    if trials is not None:  # last, so that a full disk does not cost the choice
        _write_trials(trials, result)
    if interrupted:
        raise Stopped(
            f"interrupted: {result.done or 'the refinement was not finished'}. The printed choice is the best so far."
        )


def _error(standard_error: float) -> str:
    if math.isnan(standard_error):
        return "one fold, so no standard error"
    return f"standard error {number(standard_error, 2)}"


def _grid(entry: Method, params: dict[str, Any], given: dict[str, Any] | None) -> dict[str, Any]:
    """Return the given grid, or the default grid of the method without the fixed parameters."""
    if given is None:
        given = {key: values for key, values in entry.grid.items() if key not in params}
    both = sorted(set(given) & set(params))
    if both:
        raise UsageError(f"{', '.join(both)}: given by both --param and --grid; keep one.")
    if not given:
        why = "" if entry.grid else f": {entry.name} has no grid of its own"
        way_out = "`pucli auto` chooses everything" if entry.name == "auto" else "give --grid K=V1,V2 for a parameter"
        raise UsageError(f"nothing to choose{why}; {way_out}.")
    return given


def _write_trials(path: Path, result: TuneResult) -> None:
    """Write one line per point: stage, parameters, score, counts."""
    from pucli.core.atomic_files import replacing

    flat = [{"stage": trial["stage"], **trial.pop("params"), **trial} for trial in result.trials]
    with replacing(path) as partial, partial.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([flat[0], *(row.values() for row in flat)])


def _report(
    out: Output, method: str, rows: TrainingRows, result: TuneResult, chosen: dict[str, Any], trials: Path | None
) -> None:
    best = max(result.trials, key=lambda trial: trial["params"].items() <= chosen.items())
    out.document(
        Tuned(
            method=method,
            data=rows.about,
            params=result.params,
            chosen=chosen,
            rule=result.rule,
            rule_of_thesis=OF_THE_THESIS,
            score=result.score,
            score_se=result.score_se,
            f1=result.f1,
            points=len(result.trials),
            fits=result.n_fits,
            seconds=result.seconds,
            notes=result.notes,
            interrupted=result.done or None,
            trials=trials,
        )
    )
    share = (best["positive_labeled"] + best["positive_unlabeled"]) / (best["n_labeled"] + best["n_unlabeled"])
    out.fields(
        [
            *((_named(key), number(value) if isinstance(value, float) else value) for key, value in chosen.items()),
            (
                NAMES.get(result.rule, result.rule),
                f"{number(result.f1 if result.rule == 'f1' else result.score)} ({_error(result.score_se)})",
            ),
            ("criterion", _criterion(result.rule)),
            ("F1 at the threshold", f"{number(result.f1, 3)} (estimated)" if result.rule == "pu-auc" else None),
            ("recall on labeled rows", f"{percent(best['positive_labeled'] / best['n_labeled'])}%, held out"),
            ("flagged", f"{percent(share)}% of the held-out rows"),
            ("method", f"{method} on {rows.title}"),
            ("tried", f"{many(len(result.trials), 'point')}, {many(result.n_fits, 'fit')}; {duration(result.seconds)}"),
            ("trials", trials),
        ]
    )
    _warn_if_useless(out, best, rows.n_labeled, result)


def _criterion(rule: str) -> str:
    if rule == OF_THE_THESIS:
        return f"{NAMES[rule]}, as in the GLPUAL thesis, which has one cross-validation (--cv-repeats 1)"
    other = f"{NAMES[OF_THE_THESIS]} (--score {OF_THE_THESIS} --cv-repeats 1)"
    return f"{NAMES.get(rule, rule)} on held-out rows; that of the GLPUAL thesis is {other}"


def _named(parameter: str) -> str:
    return {"prior": "class prior (prior)"}.get(parameter, parameter)


def _warn_if_useless(out: Output, best: dict[str, Any], n_labeled: int, result: TuneResult) -> None:
    """Warn if the best point predicts nearly every row positive, or labeled rows no more often than unlabeled ones."""
    from pucli.metrics.ranking import CHANCE, chance_limit

    called, recall = best["positive_unlabeled"] / best["n_unlabeled"], best["positive_labeled"] / best["n_labeled"]
    n = min(n_labeled, best["n_labeled"])  # repeated folds hold the same rows
    if called > MOST_CALLED:
        out.warn(f"{100 * called:.1f}% of the unlabeled rows are flagged: the choice may be useless.")
    by_chance = chance_limit(n, n * best["n_unlabeled"] // best["n_labeled"])
    if result.rule == "pu-auc" and result.score <= by_chance:
        out.warn(
            f"the choice may be useless: held-out labeled rows hardly rank above unlabeled ones; a PU-AUC of up to "
            f"{number(by_chance, 2)} may be chance."
        )
    elif recall - called <= CHANCE * math.sqrt(called * (1.0 - called) / n):
        out.warn(
            f"the choice may be useless: of held-out rows, it flags {100 * recall:.0f}% of the labeled and "
            f"{100 * called:.0f}% of the unlabeled ones, which may be chance."
        )
