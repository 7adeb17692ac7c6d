"""``pucli auto``: train an ensemble on labeled positives and unlabeled rows, and estimate its quality."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import completion
from pucli.cli import options as opt
from pucli.cli.block_training import Backend, auto_in_blocks
from pucli.cli.output import Output, output_files
from pucli.cli.row_options import FileRows
from pucli.cli.threshold_options import ThresholdOptions, unkept_recall, warn_of_unknown_prior
from pucli.core.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from pucli.models.auto import Options, Ranking

LABELINGS = ("scar", "sar")
EXAMPLES = """
pucli auto customers.csv --label bought --positive yes
pucli auto customers.csv --label bought --positive yes --model bought.model --scored scored.csv
pucli auto customers.csv --label bought --positive yes --recall 0.9
"""


def command(  # noqa: PLR0913
    out: Output,
    where: FileRows,
    threshold: ThresholdOptions,
    backend: Backend,
    labeling: Annotated[
        str,
        typer.Option(
            "--labeling",
            help="scar: labels are random; auto warns and takes sar if a small table contradicts this. sar: clear "
            "positives were labeled first.",
            autocompletion=completion.completer(*LABELINGS),
        ),
    ] = "scar",
    negatives_are: Annotated[
        str,
        typer.Option(
            "--negatives-are",
            help="With --negative: biased (only train) or random (also give the class prior).",
            autocompletion=completion.completer("biased", "random"),
        ),
    ] = "biased",
    expected: Annotated[
        int | None,
        typer.Option("--expected", metavar="N", help="Number of positives among the unlabeled rows, if known.", min=1),
    ] = None,
    model: opt.ModelOut = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a web page about the model to this file.")
    ] = None,
    scored: Annotated[
        Path | None,
        typer.Option("--scored", help="Write all rows to a .csv, .xlsx or .parquet file, top rows first."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print all estimates, their limits and the models.")
    ] = False,
    boosting: Annotated[
        bool, typer.Option("--boosting", help="With --backend dask: add boosted trees (LightGBM).")
    ] = False,
    safe: opt.SpreadsheetSafe = False,
    n_jobs: opt.Jobs = 1,
    columns: opt.Columns = False,
) -> None:
    """Rank the unlabeled rows, and estimate how good the ranking is.

    `pucli auto` trains an ensemble and estimates its quality on held-out rows, with 90% intervals. The estimates hold
    if the labeled rows are a random sample of the positives. The class prior is the share of positives among the
    unlabeled rows or, with --scenario single-training-set, among all rows.

    --scored writes the columns of `pucli predict`, by models trained without the row. For up to 500 top unlabeled rows
    and 500 labeled ones, why names the columns that raise and lower the score most, and most_like known positives.

    --labeling sar assumes that the chance of being labeled grows with the square of the probability of being
    positive. The data cannot confirm this. Where clear positives were labeled first, F1 was .79 instead of .53
    (benchmark pusb); where labels were random, it was up to .05 lower (benchmark labeling). The order hardly changes.
    """
    opt.choice("labeling", labeling, LABELINGS)
    goal, wanted = threshold.chosen or ("f1", None)
    where.check_given("For a declared data set, `pucli train --method auto --dataset NAME`.")
    if columns:
        from pucli.cli.text.columns import show_columns

        show_columns(out, where.source)
        return
    output_files({"--model": model, "--report": report, "--scored": scored}, *where.files)
    _check_labels(where, backend.in_blocks, labeling, negatives_are, expected)
    from pucli.cli.text.auto import print_short
    from pucli.cli.text.auto_in_full import print_whole
    from pucli.models.auto import Options
    from pucli.models.auto.coordinates import remark_on_coordinates
    from pucli.models.auto.summary import AutoAnswer, summary

    _check_scored(scored, where, safe)
    options = Options(labeling, goal, wanted, negatives_are, expected, where.seed, n_jobs)
    if not verbose and not out.as_json:
        out.hold()
    out.together()
    given: dict[str, Any] = {
        "seed": where.seed,
        "expected": expected,
        "model": model,
        "report": report,
        "scored": scored,
    }
    ranking = None
    if backend.in_blocks:
        if report is not None or scored is not None:
            raise UsageError("--report and --scored need all rows at once; with --backend dask use --predictions DIR.")
        params = {**options.params, "scenario": where.scenario}
        found, names, of_blocks = auto_in_blocks(out, where, params, backend, boosting, model)
        out.warn(unkept_recall(threshold, found.model))
        answer = AutoAnswer(
            **vars(summary(found, names)), **given, **of_blocks, duplicate_rows=None, command=None, shown=[]
        )
    elif boosting:
        raise UsageError("--boosting is for --backend dask; without it, auto trains boosted trees of its own.")
    else:
        ranking = _ranking(out, where, options, model)
        found, rows = ranking.findings, ranking.rows
        out.warn(unkept_recall(threshold, found.model))
        answer = AutoAnswer(
            **vars(ranking.summary),
            **given,
            data=rows.about,
            notes=[*rows.notes, *filter(None, [remark_on_coordinates(rows)])],
            seconds=ranking.fitted.seconds,
            duplicate_rows=ranking.duplicate_rows,
            command=_again(where, options),
            blocks=None,
            predictions=[],
            shown=ranking.shown if out.as_json or report is not None else [],
        )
        if scored is not None:
            _write(scored, ranking.explained, safe)
        if report is not None:
            from pucli.models.auto.page import write_report

            with out.progress("report", "parts") as shown:
                write_report(report, ranking, answer, shown)
    out.document(answer)
    if scored is not None or report is not None or model is not None:
        warn_of_unknown_prior(out, found.model)
    print_short(out, str(where.file), found, answer, ranking, verbose=verbose)
    if verbose:
        print_whole(out, answer)


def _ranking(out: Output, where: FileRows, options: Options, model: Path | None) -> Ranking:
    """Rank the rows of the files, and save the model."""
    from pucli.cli.compiling import announce_compiling
    from pucli.cli.text.columns import rows_to_learn_from
    from pucli.data.rows.training_rows import with_found_ids
    from pucli.methods import get_method
    from pucli.models.auto import rank
    from pucli.models.auto.duration import announcement, size_of_files

    def announce(n: int, m: int) -> bool:
        """Say how long a table of n rows and m columns takes, if that is long."""
        text = announcement(min(n, where.rows or n), m)
        if text:
            out.remark(text, now=True)
        return bool(text)

    from pucli.models.auto.ranking import PrecisionOutOfReach

    announced = not (where.drop or where.only) and announce(*size_of_files(where.files))
    rows = rows_to_learn_from(out, "pu", where.source, without_negatives=get_method("auto").without_negatives)
    if not announced:  # such as a file that is not read by lines
        announce(*rows.X.shape)
    rows = with_found_ids(rows, where.files)
    announce_compiling(out)
    try:
        with out.progress("auto", "models") as show:
            ranking = rank(rows, options, lambda name, done, total: show(done, total, text=name))
    except PrecisionOutOfReach as error:
        kept = "Add --model FILE to save the model; `pucli predict` can then move its threshold."
        if model is not None:
            error.fitted.save(model)
            kept = f"The model is saved in {model}, with the threshold for F1; `pucli predict` can move it."
        raise UsageError(f"--precision {options.wanted:g}: {error} {kept}") from error
    if model is not None:
        ranking.fitted.save(model)
    return ranking


def _check_scored(scored: Path | None, where: FileRows, safe: bool) -> None:
    """Raise UsageError for options that go with --scored, and for a file or identifiers that it cannot have."""
    from pucli.data.files.writers import check_writable_format
    from pucli.data.rows.user_file import OWN_COLUMNS
    from pucli.models.prediction import check_ids
    from pucli.models.reasons import WHY

    if safe and scored is None:
        raise UsageError("--spreadsheet-safe applies to --scored FILE; give both.")
    if scored is not None:
        check_writable_format(scored)
        check_ids(where.ids or (), (*OWN_COLUMNS, "labeled", *WHY))


def _check_labels(where: FileRows, in_blocks: bool, labeling: str, negatives_are: str, expected: int | None) -> None:
    """Raise UsageError for --negatives-are without known negatives, and for options that --expected excludes."""
    opt.choice("value of --negatives-are", negatives_are, ("biased", "random"))
    if negatives_are == "random" and where.negative is None:
        raise UsageError("--negatives-are random is for known negatives; name their class with --negative VALUE.")
    if expected is None:
        return
    if in_blocks:
        raise UsageError("--expected needs all rows at once; leave it or --backend dask out.")
    if labeling != "scar":
        raise UsageError("--expected needs labels at random; leave it or --labeling sar out.")
    if negatives_are == "random":
        raise UsageError("--expected and --negatives-are random both give the class prior; keep one.")


def _again(where: FileRows, options: Options) -> str:
    """Return the command that trains the same classifier again."""
    words = [] if options.goal == "f1" else [f"--{options.goal}", str(options.wanted)]
    words += [] if options.labeling == "scar" else ["--labeling", options.labeling]
    words += [] if options.negatives == "biased" else ["--negatives-are", options.negatives]
    words += [] if options.expected is None else ["--expected", str(options.expected)]
    return " ".join(["pucli auto", where.words, *words])


def _write(path: Path, lines: pd.DataFrame, safe: bool) -> None:
    from pucli.core.atomic_files import replacing
    from pucli.data.files.writers import open_writer

    with replacing(path) as partial, open_writer(partial, safe=safe) as writer:
        writer.write(lines)
