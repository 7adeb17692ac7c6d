"""``pucli auto``: train an ensemble on labelled positives and unlabeled rows, and estimate its quality."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import completion
from pucli.cli import options as opt
from pucli.cli.block_training import Backend, auto_in_blocks
from pucli.cli.output import Output, output_files
from pucli.cli.row_options import FileRows
from pucli.cli.threshold_options import CutOptions, unkept_recall, warn_of_unknown_prior
from pucli.core.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from pucli.data.rows.training_rows import TrainingRows
    from pucli.estimators.auto.auto_pu import AutoPU
    from pucli.estimators.auto.random_labelling import RandomLabelling
    from pucli.models.auto.summary import Findings
    from pucli.models.fitting import Fitted

LABELLINGS = ("scar", "sar")
EXAMPLES = """
pucli auto customers.csv --label bought --positive yes
pucli auto customers.csv --label bought --positive yes --model bought.model --scored scored.csv
pucli auto customers.csv --label bought --positive yes --recall 0.9
"""


def command(  # noqa: PLR0913, PLR0915
    out: Output,
    where: FileRows,
    cut: CutOptions,
    backend: Backend,
    labelling: Annotated[
        str,
        typer.Option(
            "--labelling",
            help="scar: labels are random; auto warns and takes sar if a small table contradicts this. sar: clear "
            "positives were labelled first.",
            autocompletion=completion.words(*LABELLINGS),
        ),
    ] = "scar",
    negatives_are: Annotated[
        str,
        typer.Option(
            "--negatives-are",
            help="With --negative: biased (only train) or random (also give the class prior).",
            autocompletion=completion.words("biased", "random"),
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
        Path | None, typer.Option("--scored", help="Write all rows to a .csv or .parquet file, likeliest first.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print all estimates, their limits and the members.")
    ] = False,
    boosting: Annotated[
        bool, typer.Option("--boosting", help="With --backend dask: add boosted trees (LightGBM).")
    ] = False,
    safe: opt.SpreadsheetSafe = False,
    n_jobs: opt.Jobs = 1,
) -> None:
    """Rank the unlabeled rows, and estimate how good the ranking is.

    `pucli auto` trains an ensemble and estimates its quality on held-out rows, with 90 % intervals. The estimates hold
    if the labelled rows are a random sample of the positives. The class prior is the share of positives among the
    unlabeled rows or, with --scenario single-training-set, among all rows.

    --scored writes the columns of `pucli predict`, by models trained without the row. For up to 100 of the likeliest
    unlabeled rows, the column why names the three columns that raise the score most.

    --labelling sar assumes that the chance of being labelled grows with the square of the probability of being
    positive. The data cannot confirm this.
    """
    from pucli.cli.text.auto import print_short
    from pucli.cli.text.auto_in_full import print_whole
    from pucli.cli.text.columns import rows_to_learn_from, show_columns
    from pucli.data.rows.training_rows import with_found_ids
    from pucli.methods import get_method
    from pucli.models.auto.summary import reasons_of_likeliest, scored_rows, summary

    where.check_given("For a declared data set, `pucli train --method auto --dataset NAME`.")
    if where.columns:
        show_columns(out, where.source)
        return
    chosen = cut.chosen or ("f1", None)
    opt.choice("labelling", labelling, LABELLINGS)
    output_files({"--model": model, "--report": report, "--scored": scored}, *where.files)
    _check_scored(scored, where, safe)
    _check_labels(where, backend.in_blocks, labelling, negatives_are, expected)
    params = {"labelling": labelling, "goal": chosen[0], "wanted": chosen[1], "random_state": where.seed}
    params |= {} if negatives_are == "biased" else {"negatives": negatives_are}
    if not verbose and not out.as_json:
        out.hold()
    out.together()
    likeliest, why, positive = None, None, ""
    found_ids: tuple[str, ...] = ()
    if backend.in_blocks:
        if report is not None or scored is not None:
            raise UsageError("--report and --scored need all rows at once; with --backend dask use --predictions DIR.")
        found, about = auto_in_blocks(out, where, {**params, "scenario": where.scenario}, backend, boosting, model)
        names, title = about.pop("features"), str(where.file)
    elif boosting:
        raise UsageError("--boosting is for --backend dask; without it, auto trains boosted trees of its own.")
    else:
        rows = rows_to_learn_from(out, "pu", where.source, without_negatives=get_method("auto").without_negatives)
        rows = with_found_ids(rows, where.files)
        _check_top(cut.top, rows)
        names, title, found_ids = rows.feature_names, rows.title, rows.found_ids
        found, about = _auto_on_rows(out, rows, {**params, "n_jobs": n_jobs}, where.seed, model, expected)
    out.warn(unkept_recall(cut, found.model))
    results = {**summary(found, names), "seed": where.seed, "expected": expected}
    if not backend.in_blocks:
        results["command"] = _again(where, labelling, chosen, negatives_are, expected)
        if scored is not None or report is not None:
            why = reasons_of_likeliest(found.model, rows)
        likeliest = scored_rows(found, rows.labelled, rows.words, rows.marks, rows.negative, why)
        positive = f"{rows.label_column} = {rows.words['1']}"
    if scored is not None and likeliest is not None:
        _write(scored, likeliest, safe)
    files = {"model": model, "report": report, "scored": scored}
    if report is not None and why is not None:
        from pucli.models.auto.page import write_report

        with out.progress("report", "parts") as shown:
            write_report(report, found, rows, {**results, **files}, why, shown)
    document = {**about, **results, **files}
    out.document(document)
    if scored is not None or report is not None or model is not None:
        warn_of_unknown_prior(out, found.model)
    told = title.rpartition(", label column ")[0] or title
    print_short(out, told, found, document, likeliest, positive, found_ids=found_ids, verbose=verbose)
    if verbose:
        print_whole(out, document)


def _auto_on_rows(
    out: Output, rows: TrainingRows, params: dict[str, Any], seed: int, model: Path | None, expected: int | None
) -> tuple[Findings, dict[str, Any]]:
    """Train on rows that fit into memory and save the model; return what `auto_in_blocks` does."""
    from pucli.cli.compiling import tell_of_compiling
    from pucli.cli.text.auto import why_only_train
    from pucli.data.encode.duplicates import shape
    from pucli.models.auto.summary import Findings

    known = 0 if rows.negative is None else int(rows.negative.sum())
    out.warn(why_only_train(params.get("negatives", ""), known, params["labelling"]))
    tell_of_compiling(out)
    prior = None if expected is None else _prior(expected, rows)
    fitted = _fit(out, rows, params, seed, model, prior)
    test = _labelling(fitted, seed)
    found = Findings.of(fitted.estimator, rows.labelled, test, rows.leaks, rows.repeated, rows.negative)
    repeated = shape(rows.X, rows.feature_names).duplicate_rows
    about = {"data": rows.about, "notes": rows.notes, "duplicate_rows": repeated, "seconds": fitted.seconds}
    if model is not None:
        _doubted(fitted, test).save(model)
    return found, about


def _check_scored(scored: Path | None, where: FileRows, safe: bool) -> None:
    """Raise UsageError for options that go with --scored, and for a file or identifiers that it cannot have."""
    from pucli.data.files.writers import check_writable_format
    from pucli.data.rows.found_ids import OWN_COLUMNS
    from pucli.models.prediction import check_ids

    if safe and scored is None:
        raise UsageError("--spreadsheet-safe applies to --scored FILE; give both.")
    if scored is not None:
        check_writable_format(scored)
        check_ids(where.ids or (), (*OWN_COLUMNS, "labelled", "why"))


def _labelling(fitted: Fitted, seed: int) -> RandomLabelling:
    """Test whether the labelled rows are a random sample of the positives, without known negatives."""
    from pucli.estimators.auto.random_labelling import labelling_of

    rows = fitted.rows
    kept = rows.labelled | True if rows.negative is None else ~rows.negative
    groups = None if rows.groups is None else rows.groups[kept]
    return labelling_of(fitted.estimator, rows.X[kept], rows.labelled[kept], seed, groups)


def _check_top(top: int | None, rows: TrainingRows) -> None:
    """Raise UsageError if more rows are to be predicted positive than there are in the population."""
    from pucli.models.auto.summary import unlabeled_of

    single = rows.denominator == "all"
    most = len(rows.X) if single else int(unlabeled_of(rows).sum())
    if top is not None and top > most:
        raise UsageError(f"--top {top}: {rows.title} has only {most:,} {'' if single else 'unlabeled '}rows.")


def _check_labels(where: FileRows, in_blocks: bool, labelling: str, negatives_are: str, expected: int | None) -> None:
    """Raise UsageError for --negatives-are without known negatives, and for options that --expected excludes."""
    opt.choice("value of --negatives-are", negatives_are, ("biased", "random"))
    if negatives_are == "random" and where.negative is None:
        raise UsageError("--negatives-are random is for known negatives; name their class with --negative VALUE.")
    if expected is None:
        return
    if in_blocks:
        raise UsageError("--expected needs all rows at once; leave it or --backend dask out.")
    if labelling != "scar":
        raise UsageError("--expected needs labels at random; leave it or --labelling sar out.")
    if negatives_are == "random":
        raise UsageError("--expected and --negatives-are random both give the class prior; keep one.")


def _prior(expected: int, rows: TrainingRows) -> float:
    """Return the class prior with `expected` positives among the unlabeled rows."""
    from pucli.models.auto.summary import unlabeled_of

    unlabeled = int(unlabeled_of(rows).sum())
    if expected >= unlabeled:
        raise UsageError(f"--expected {expected}: must be below the {unlabeled:,} unlabeled rows of {rows.title}.")
    single = rows.denominator == "all"
    return (expected + rows.n_labelled) / len(rows.X) if single else expected / unlabeled


def _again(
    where: FileRows, labelling: str, cut: tuple[str, float | None], negatives_are: str, expected: int | None
) -> str:
    """Return the command that trains the same classifier again."""
    goal, wanted = cut
    words = [] if goal == "f1" else [f"--{goal}", str(wanted)]
    words += [] if labelling == "scar" else ["--labelling", labelling]
    words += [] if negatives_are == "biased" else ["--negatives-are", negatives_are]
    words += [] if expected is None else ["--expected", str(expected)]
    return " ".join(["pucli auto", where.words, *words])


def _write(path: Path, lines: pd.DataFrame, safe: bool) -> None:
    from pucli.core.atomic_files import replacing
    from pucli.data.files.writers import open_writer

    with replacing(path) as partial, open_writer(partial, safe=safe) as writer:
        writer.write(lines)


def _fit(
    out: Output, rows: TrainingRows, params: dict[str, Any], seed: int, model: Path | None, prior: float | None
) -> Fitted:
    """Fit, with the threshold for F1 until it is known that a wanted precision can be reached."""
    from pucli.models.fitting import fit

    scenario = "single-training-set" if rows.denominator == "all" else "case-control"
    at_first = {"goal": "f1", "wanted": None} if params["goal"] == "precision" else {}
    with out.progress("auto", "members") as show:

        def shown(name: str, done: int, total: int) -> None:
            show(done, total, text=name)

        fitted = fit("auto", {**params, **at_first, "scenario": scenario, "callback": shown}, rows, standardise=False)
    fitted.estimator.set_params(callback=None)
    if prior is not None:
        fitted = _with(fitted, fitted.estimator.with_prior(prior))
    return _at_precision(fitted, params["wanted"], seed, model) if at_first else fitted


def _with(fitted: Fitted, moved: AutoPU) -> Fitted:
    """Return the fitted model with another class prior or threshold."""
    from sklearn.pipeline import Pipeline

    moved._measure(fitted.rows.X, fitted.rows.labelled)
    steps = fitted.pipeline.steps
    return replace(fitted, pipeline=Pipeline([*steps[:-1], (steps[-1][0], moved)]))


def _doubted(fitted: Fitted, test: RandomLabelling) -> Fitted:
    """Return the model with the doubts about it."""
    unlikely = test.doubt if fitted.estimator.labelling_ == "scar" else ""
    return replace(fitted, doubt=fitted.rows.repeated or unlikely)


def _at_precision(fitted: Fitted, wanted: float, seed: int, model: Path | None) -> Fitted:
    """Move the threshold to a precision; if none reaches it, keep the model as it is and say so."""
    try:
        moved = fitted.estimator.with_threshold("precision", wanted)
    except UsageError as error:
        kept = "Add --model FILE to save the model; `pucli predict` can then move its threshold."
        if model is not None:
            _doubted(fitted, _labelling(fitted, seed)).save(model)
            kept = f"The model is saved in {model}, with the threshold for F1; `pucli predict` can move it."
        raise UsageError(f"--precision {wanted:g}: {error} {kept}") from error
    return _with(fitted, moved)
