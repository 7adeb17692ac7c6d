"""``pucli auto``: the best classifier that labelled positives and unlabeled rows give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import completion
from pucli.cli import options as opt
from pucli.cli.block_training import Backend, auto_in_blocks
from pucli.cli.output import Output, number
from pucli.cli.threshold_options import CutOptions, unkept_recall, warn_of_unknown_prior
from pucli.core.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from pucli.data.rows.training_rows import TrainingRows
    from pucli.estimators.auto.random_labelling import RandomLabelling
    from pucli.models.fitting import Fitted

LABELLINGS = ("scar", "sar")
# A smaller estimate is shown as 0.
LEAST = 1e-6
# A smaller share of rows that differ is worth a note.
FEW_KINDS = 0.1
EXAMPLES = """
pucli auto --data customers.csv --label bought --positive yes
pucli auto --data customers.csv --label bought --positive yes --model bought.model --scored scored.csv
pucli auto --data customers.csv --label bought --positive yes --recall 0.9
pucli auto --data customers.csv --label bought --positive yes --labelling sar
"""


def command(  # noqa: C901, PLR0913, PLR0915
    out: Output,
    where: opt.Rows,
    cut: CutOptions,
    backend: Backend,
    labelling: Annotated[
        str,
        typer.Option(
            "--labelling",
            help="scar: labelled rows are a random sample of the positives. sar: clear positives were labelled first.",
            autocompletion=completion.words(*LABELLINGS),
        ),
    ] = "scar",
    model: Annotated[
        Path | None, typer.Option("--model", help="Save the model to this file, e.g. bought.model.", show_default=False)
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a web page about the model to this file.", show_default=False)
    ] = None,
    scored: Annotated[
        Path | None,
        typer.Option(
            "--scored",
            help="Write all rows to this .csv or .parquet file, the likeliest positives first.",
            show_default=False,
        ),
    ] = None,
    boosting: Annotated[
        bool, typer.Option("--boosting", help="With --backend dask: boosted trees by LightGBM as well.")
    ] = False,
    safe: opt.SpreadsheetSafe = False,
    n_jobs: opt.Jobs = 1,
) -> None:
    """Train and judge a classifier without choosing a method.

    Needs no class prior and no method: an ensemble is chosen on the given rows alone. The prior, the share of the
    positives that are found (recall) and the rest are estimated, with 90 % intervals, from rows held out in turn. They
    hold if the labelled rows are a random sample of all positives. With --scenario single-training-set the labels were
    given within one sample, and the prior is the share of positives among all rows; otherwise the unlabeled rows are a
    sample of their own, and the prior is the share among them, as `pucli prior` and --param prior mean it.

    --scored writes for each row, from models trained without it, what `pucli predict` writes for new rows: its number,
    the columns of --id, the label, the score and the probability, and what the probability would be with the prior at
    either end of its interval.

    --labelling sar is for labels that are not a random sample: it assumes that a positive's chance of being labelled
    grows with the square of its probability of being positive. The rows alone cannot confirm this. In benchmark
    `labelling` it found much more where labels depended on the features, and cost little where they were random.
    """
    from pucli.cli.compiling import tell_of_compiling
    from pucli.cli.text.columns import rows_to_learn_from, show_columns
    from pucli.data.encode.duplicates import shape
    from pucli.data.files.writers import check_writable_format
    from pucli.estimators.auto.random_labelling import labelling_of
    from pucli.models.auto.summary import Findings, scored_rows, summary
    from pucli.models.prediction import OWN_COLUMNS, check_ids

    if where.columns:
        show_columns(out, where.source)
        return
    chosen = cut.chosen or ("f1", None)
    opt.choice("labelling", labelling, LABELLINGS)
    opt.output_files({"--model": model, "--report": report, "--scored": scored}, *where.files, where.split)
    if safe and scored is None:
        raise UsageError("--spreadsheet-safe applies to --scored FILE; give both.")
    if scored is not None:
        check_writable_format(scored)
        check_ids(where.ids or (), (*OWN_COLUMNS, "labelled"))
    params = {"labelling": labelling, "goal": chosen[0], "wanted": chosen[1], "random_state": where.seed}
    if backend.in_blocks:
        if report is not None or scored is not None:
            raise UsageError("--report and --scored need all rows at once; with --backend dask use --predictions DIR.")
        found, about = auto_in_blocks(out, where, {**params, "scenario": where.scenario}, backend, boosting, model)
        names, title = about.pop("features"), str(where.file)
    elif boosting:
        raise UsageError("--boosting is for --backend dask; without it, auto trains boosted trees of its own.")
    else:
        rows = rows_to_learn_from(out, "pu", where.source)
        _check_top(cut.top, rows)
        tell_of_compiling(out)
        fitted = _fit(out, rows, {**params, "n_jobs": n_jobs}, where.seed, model)
        test = labelling_of(fitted.estimator, rows.X, rows.labelled, where.seed)
        found = Findings.of(fitted.estimator, rows.labelled, test, rows.leaks, rows.repeated)
        names, title = rows.feature_names, rows.title
        repeated = shape(rows.X, names).duplicate_rows
        about = {"data": rows.about, "notes": rows.notes, "duplicate_rows": repeated, "seconds": fitted.seconds}
        if model is not None:
            _doubted(fitted, test).save(model)
    if unkept := unkept_recall(cut, found.model):
        out.warn(unkept)
    results = {**summary(found, names), "seed": where.seed}
    if not backend.in_blocks:
        results["command"] = _again(where, labelling, chosen)
    if scored is not None:
        _write(scored, scored_rows(found, rows.labelled, rows.words, rows.marks), safe)
    if report is not None:
        from pucli.models.auto.page import write_report

        with out.progress("report", lines=True) as shown:
            write_report(report, found.model, rows.X, rows.labelled, names, results, title, rows.marks, shown)
    files = {"model": model, "report": report, "scored": scored}
    document = {**about, **results, **files}
    out.document(document)
    _print(out, title, document)
    if scored is not None or report is not None or model is not None:
        warn_of_unknown_prior(out, found.model)
    if model is None:
        out.remark("The model was not saved; add --model FILE to save it for `pucli predict`.")


def _check_top(top: int | None, rows: TrainingRows) -> None:
    """Raise UsageError if more rows are to be predicted positive than there are in the population."""
    single = rows.denominator == "all"
    most = len(rows.X) if single else len(rows.X) - rows.n_labelled
    if top is not None and top > most:
        raise UsageError(f"--top {top}: {rows.title} has only {most} {'' if single else 'unlabeled '}rows.")


def _again(where: opt.Rows, labelling: str, cut: tuple[str, float | None]) -> str:
    """Return the command that trains the same classifier again."""
    goal, wanted = cut
    words = [] if goal == "f1" else [f"--{goal}", str(wanted)]
    words += [] if labelling == "scar" else ["--labelling", labelling]
    return " ".join(["pucli auto", where.words, *words])


def _write(path: Path, lines: pd.DataFrame, safe: bool) -> None:
    from pucli.core.atomic_files import replacing
    from pucli.data.files.writers import open_writer

    with replacing(path) as partial, open_writer(partial, safe=safe) as writer:
        writer.write(lines)


def _files(paths: Sequence[str]) -> str | None:
    return f"{len(paths)} files in {Path(paths[0]).parent}" if paths else None


def _fit(out: Output, rows: TrainingRows, params: dict[str, Any], seed: int, model: Path | None) -> Fitted:
    """Fit, with the threshold for F1 until it is known that a wanted precision can be reached."""
    from pucli.models.fitting import fit

    scenario = "single-training-set" if rows.denominator == "all" else "case-control"
    at_first = {"goal": "f1", "wanted": None} if params["goal"] == "precision" else {}
    with out.progress("auto", lines=True) as show:

        def shown(name: str, done: int, total: int) -> None:
            show(done, total, text=name)

        fitted = fit("auto", {**params, **at_first, "scenario": scenario, "callback": shown}, rows, standardise=False)
    fitted.estimator.set_params(callback=None)
    return _at_precision(fitted, params["wanted"], seed, model) if at_first else fitted


def _doubted(fitted: Fitted, test: RandomLabelling) -> Fitted:
    """Return the model with the doubts about it."""
    unlikely = test.doubt if fitted.estimator.labelling == "scar" else ""
    return replace(fitted, doubt=fitted.rows.repeated or unlikely)


def _at_precision(fitted: Fitted, wanted: float, seed: int, model: Path | None) -> Fitted:
    """Move the threshold to a precision; if none reaches it, keep the model as it is and say so."""
    from sklearn.pipeline import Pipeline

    from pucli.estimators.auto.random_labelling import labelling_of

    rows = fitted.rows
    try:
        name, estimator = fitted.pipeline.steps[-1]
        moved = estimator.with_cut("precision", wanted)
    except UsageError as error:
        kept = "Add --model FILE to save the model; `pucli predict` can then move its threshold."
        if model is not None:
            _doubted(fitted, labelling_of(fitted.estimator, rows.X, rows.labelled, seed)).save(model)
            kept = f"The model is saved in {model}, with the threshold for F1; `pucli predict` can move it."
        raise UsageError(f"--precision {wanted:g}: {error} {kept}") from error
    moved._measure(rows.X, rows.labelled)
    return replace(fitted, pipeline=Pipeline([*fitted.pipeline.steps[:-1], (name, moved)]))


def _print(out: Output, title: str, document: dict[str, Any]) -> None:
    for note in (*document["notes"], *_few_kinds(document)):
        out.remark(f"note: {note}")
    out.text(f"auto on {title}")
    out.fields(
        [
            ("rows", f"{document['rows']}: {document['labelled']} labelled, {document['unlabeled']} unlabeled"),
            ("duplicate rows", document.get("duplicate_rows") or None),
            ("cut", document["cut"]["why"]),
            ("rows called positive", _called_positive(document)),
            ("random labelling", _labelling(document["random_labelling"], document["labelling"])),
            ("training time", f"{document['seconds']:.1f} s"),
            *((name, document[name]) for name in ("model", "report", "scored")),
            ("predictions", _files(document.get("predictions", ()))),
        ]
    )
    out.text()
    scar = document["labelling"] == "scar"
    rests = dict.fromkeys(
        document["estimates"],
        "if nearly all top rows are positive" if scar else "if clear positives were labelled first",
    )
    rests["share"] = ""
    if scar:
        rests["recall"] = "if labelled at random"
    unknown = "no: labelled rows are repeated" if document["repeated"] else "not determined"
    unknown = "no: a column leaks the label" if document["leaks"] else unknown
    estimates = [
        [name, *(_share(found[end]) for end in ("value", "low", "high")), rests[name] if found["known"] else unknown]
        for name, found in document["estimates"].items()
    ]
    out.table(["estimate", "value", "from", "to (90 %)", "holds"], estimates)
    out.remark(
        "The estimates hold only if the labelled rows are a random sample of the positives. Prior, precision, F1 and "
        "AUC also require that nearly all rows with the highest scores are positive. If even these are mixed, or the "
        "classes overlap, they are too high; if most rows are positive, the prior is too low. The data cannot reveal "
        "this. "
        + (
            f"With {document['labelled']} labelled rows, the prior may also be too low. "
            if document["few_labelled"]
            else ""
        )
        + "The prior is the share of "
        f"positives among {'the unlabeled' if document['scenario'] == 'case-control' else 'all'} rows. The share is "
        "that of training rows above the threshold, by models trained without them; it may be slightly larger for new "
        "rows."
        if scar
        else "The estimates hold only if the labelled rows were chosen by how clearly they are positive. Recall and "
        "AUC were mostly too high even then (benchmark `labelling`)."
    )
    out.text()
    headers = [
        f"{words} estimated" if document["estimates"][name]["known"] else f"{words}, not determined"
        for name, words in (("auc", "AUC"), ("f1", "F1"))
    ]
    board = [[line["name"], line["pu_auc"], line["auc"], line["f1"]] for line in document["leaderboard"]]
    out.table(["member", "PU-AUC", *headers], board)


def _share(value: float) -> str:
    return number(value, 3) if value >= LEAST else "0"


def _few_kinds(document: dict[str, Any]) -> list[str]:
    """Return a note if most rows are duplicates, since a threshold takes all equal rows or none."""
    kinds = document["rows"] - document.get("duplicate_rows", 0)
    if kinds > FEW_KINDS * document["rows"]:
        return []
    return [
        f"only {kinds} of the {document['rows']} rows are distinct; a threshold takes all equal rows or none, so "
        "counts and shares of predicted positives can be far from those requested"
    ]


def _labelling(test: dict[str, Any], labelling: str) -> str:
    """Return the verdict on random labelling, with the feature that contradicts it most."""
    verdict = str(test["verdict"])
    if test["random"] or labelling != "scar" or "p =" not in verdict:
        return verdict
    return f"{verdict}; labelled rows differ most in {test['differs_most']} ({test['difference']:+.1f} standard errors)"


def _called_positive(document: dict[str, Any]) -> str:
    """Describe how many of the unlabeled rows are predicted positive."""
    counted = f"{document['called_positive']} of {document['unlabeled']} unlabeled"
    if not document["estimates"]["precision"]["known"]:
        return f"{counted}; the number of true positives among them is unknown"
    if document["scenario"] == "case-control":
        return counted
    return f"{counted}, which are positive less often than the precision says: it counts the labelled rows, too"
