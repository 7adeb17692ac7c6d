"""``pucli predict``: apply a saved model to new rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pucli.cli.options import SpreadsheetSafe
from pucli.cli.output import Output, output_file
from pucli.cli.row_options import ModelFile, NewFiles, ReadingOptions, check_there
from pucli.cli.terminal import many, percent, span
from pucli.cli.threshold_options import (
    MovedThreshold,
    option_of,
    unkept_recall,
    unknown_prior,
    warn_of_findings,
    warn_of_unknown_prior,
)
from pucli.core.errors import UsageError
from pucli.data.reading import normal

if TYPE_CHECKING:
    from collections import Counter

    import pandas as pd

    from pucli.data.reading import Reading
    from pucli.data.rows.row_hashes import KnownRows
    from pucli.models.predicted import Predictions
    from pucli.models.prediction import Why
    from pucli.models.saved import SavedModel
    from pucli.models.shift import Shift

EXAMPLES = """
pucli predict new.csv --model bought.model
pucli predict new.csv --model bought.model --out scored.csv --id customer
pucli predict new.parquet --model bought.model --top 100 --why
pucli predict new.csv --model bought.model --recall 0.9
pucli predict next_year.csv --model bought.model --adapt
zcat huge.csv.gz | pucli predict - --model bought.model --out all.csv
"""
_NO_ID = (
    "the --id column with which the model was trained, which is copied to the output. --id COLUMN copies another one, "
    "--id '' none; the rows are numbered anyway."
)


class OutputOptions(NamedTuple):
    """Output options: the file, the columns to copy, the number of most likely rows, and the format."""

    destination: Path | None
    ids: list[str] | None
    top: int | None
    safe: bool


def command(  # noqa: PLR0913
    out: Output,
    model: ModelFile,
    data: NewFiles,
    reading: ReadingOptions,
    threshold: MovedThreshold,
    destination: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write to this .csv, .xlsx or .parquet file instead of stdout.")
    ] = None,
    ids: Annotated[
        list[str] | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Column to copy to the output; repeatable. Default: the identifiers of training; '' for none.",
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option("--top", metavar="N", help="Only the N rows with the highest scores.", min=1)
    ] = None,
    adapt: Annotated[
        bool, typer.Option("--adapt", help="Adapt probabilities and threshold to the class prior of the file.")
    ] = False,
    why: Annotated[
        bool, typer.Option("--why", help="Add why: columns that change the score most; and most_like: known positives.")
    ] = False,
    safe: SpreadsheetSafe = False,
) -> None:
    """Predict the label of every row of a file.

    Each row of the output has its number (from 1), the columns of --id, the predicted label, the score and the
    probability. A higher score means a more likely positive; rows with a score above 0 are flagged. The
    probability is that of the positive class or, for more than two classes, of the predicted one. probability_low and
    probability_high take the class prior at either end of its interval; the latter is never 0, since a few labeled
    rows cannot exclude a positive. Probabilities hold only if the labeled rows are a random sample of the positives,
    and the new rows come from the population of training.

    A density model gives the log-likelihood of each row; gaussian-mcpl also fills missing cells with their expected
    values. classtering adds the cluster.

    --why adds a text such as "visits = 8 (usually 3): +0.41 ± 0.05": the columns that raise the score most, then those
    that lower it, each with the change of the score against that of the usual value; and the three known positives
    whose score the columns change most alike.

    --for, --recall, --precision and --share move the threshold of a model of `pucli auto` without retraining. --share
    counts the rows of the file, which is read twice, or from stdin those of training.

    --adapt reads the file twice. It estimates the class prior as `pucli shift` does, adapts the probabilities, and sets
    the threshold to the largest expected F1.

    A terminal shows a table with three digits; a file or a pipe gets CSV with all digits.

    Options for reading (--sep, --missing ...) are those of training unless they are given here. CSV and Parquet files
    are read, scored and written in blocks, so they may be larger than memory.
    """
    _ = threshold.chosen  # a wrong option is answered before a file is read
    check_there(*data, model=model)
    from pucli.core.atomic_files import is_stdout

    if destination is not None and (destination == Path("-") or is_stdout(destination)):
        destination = None
    output_file("--out", destination, *data, model)
    from pucli.data.files.spool import is_stream
    from pucli.data.files.writers import check_writable_format
    from pucli.models.predicted import Predictions
    from pucli.models.prediction import Why, with_threshold_at_share
    from pucli.models.reasons import explainer_of_saved
    from pucli.models.saved import load_model

    if destination is not None:
        check_writable_format(destination)
    saved = threshold.moved(load_model(model))
    how = saved.reading.over(reading.reading(data))
    _warn_of_unknown_goal(out, threshold, saved.pipeline[-1])
    if threshold.share is not None and not any(is_stream(path) for path in data):
        saved = with_threshold_at_share(saved, data, threshold.share, how)
    elif threshold.share is not None:
        out.warn("stdin is read only once, so --share sets the threshold by the training rows, not by these rows.")
    given: dict[str, Any] = {"model": model, "data": data[0] if len(data) == 1 else data, "file": destination}
    if saved.metadata.get("kind") == "density":
        if ids or top is not None or why:
            raise UsageError("--id, --top and --why need a model that predicts labels; this one models a density.")
        found = _densities(saved, data, how)
        _, records = _write_blocks(out, [found], destination, safe)
        answer = Predictions(**given, rows=len(found), written=len(found), counts=None, shift=None, predictions=records)
        out.document(answer)
        if destination is not None:
            out.text(f"{many(len(found), 'row')} written to {destination}")
    else:
        wanted = bool(unkept_recall(threshold, saved.estimator))
        shift = _shift(out, saved, (data, how), threshold) if adapt else None
        reasons = Why(explainer_of_saved(saved), top, out.as_json) if why else None
        written = OutputOptions(destination, ids, top, safe)
        answer = _labels(out, saved, (data, how), written, reasons, given=given, all_wanted=wanted, shift=shift)
        out.document(answer)


def _shift(out: Output, saved: SavedModel, source: tuple[list[Path], Reading], threshold: MovedThreshold) -> Shift:
    """Return the answer of `pucli shift` for the file, and say it."""
    from pucli.data.files.spool import is_stream
    from pucli.models.shift import shift_of

    if any(is_stream(path) for path in source[0]):
        raise UsageError("--adapt reads the rows twice, and stdin can be read only once; write them to a file first.")
    if threshold.chosen is not None:
        raise UsageError(f"--adapt sets the threshold itself; leave out {option_of(threshold.chosen[0])} or --adapt.")
    found = shift_of(saved, *source)
    out.remark(f"adapted to a class prior of {percent(found.prior.value)}% ({span(found.prior.low, found.prior.high)})")
    if found.verdict == "more":
        out.warn("more than the class prior has changed (`pucli shift`): rely neither on probabilities nor threshold.")
    return found


def _labels(
    out: Output,
    saved: SavedModel,
    source: tuple[list[Path], Reading],
    to: OutputOptions,
    why: Why | None,
    *,
    given: dict[str, Any],
    all_wanted: bool,
    shift: Shift | None,
) -> Predictions:
    """Write the predictions of a model that predicts labels, and return the answer."""
    from collections import Counter

    from pucli.data.columns.drift import DriftCounter
    from pucli.data.rows.row_hashes import RowCounter
    from pucli.data.rows.tables import MissingColumn
    from pucli.models.predicted import Predictions
    from pucli.models.prediction import predicted_blocks, top_rows

    (data, how), (destination, ids, top, safe) = source, to
    words = saved.metadata.get("words", {})
    tally, counts, top_counts = DriftCounter(), Counter[str](), Counter[str]()
    trained = RowCounter(saved.metadata.get("data", {}))
    found = saved.metadata.get("found_ids", ()) if ids is None else ()
    carried = [*saved.metadata.get("id_columns", ()), *found] if ids is None else [normal(name) for name in ids if name]
    lacking = set(found)

    def counted() -> Iterator[pd.DataFrame]:
        try:
            with out.progress("predict", "rows", short=destination is not None) as bar:
                blocks = predicted_blocks(
                    saved, data, how=how, ids=carried, optional=found, tally=tally, trained=trained, why=why
                )
                for block in blocks if shift is None else shift.adapt(blocks, words):
                    counts.update(block["prediction"].tolist())
                    lacking.difference_update([name for name in lacking if block[name].notna().any()])
                    yield block
                    bar(counts.total())
        except MissingColumn as error:
            if ids is not None or error.column not in carried or error.column in saved.table_encoder.needed:
                raise
            raise UsageError(f"{error.path}: no column {error.column!r}, {_NO_ID}") from error

    blocks: Iterable[pd.DataFrame] = counted()
    if top is not None:
        blocks = [top_rows(blocks, top)]
        top_counts.update(blocks[0]["prediction"].tolist())
    written, records = _write_blocks(out, blocks, destination, safe)
    told = counts if top is None else top_counts
    for line in tally.lines():
        out.warn(line)
    if destination is not None:
        form = "" if destination.suffix.lower() in {".csv", ".xlsx", ".parquet"} else " as CSV"
        out.text(f"{many(written, 'row')} written to {destination}{form}")
    if saved.metadata.get("kind") == "pu":
        if not all_wanted:
            _warn_of_one_class(out, saved, counts)
        warn_of_findings(out, saved)
        _warn_of_training_rows(out, trained.found(), saved.metadata.get("denominator") == "all")
    _warn_of_probability(out, saved, adapted=shift is not None)
    if lacking and counts:
        names = " and ".join(map(repr, sorted(lacking)))
        out.remark(f"no cells in {names}, which identified the training rows; --id COLUMN copies another column")
    among = "" if top is None else f"; these are the {written:,} most likely of {many(counts.total(), 'row')}"
    positive = str(words.get("1", "1")) if saved.metadata.get("kind") == "pu" and top is None else None
    out.remark(_predicted(told, positive) + among)
    rows, sorted_counts = counts.total(), dict(sorted(told.items()))
    return Predictions(**given, rows=rows, written=written, counts=sorted_counts, shift=shift, predictions=records)


def _predicted(counts: Counter[str], positive: str | None) -> str:
    """Return how many rows have each prediction, or the positive one if it is given."""
    if positive is not None and counts:
        return f"{counts[positive]:,} of {many(counts.total(), 'row')} predicted {positive}"
    return (
        ", ".join(f"{many(counts[label], 'row')} predicted {label or 'otherwise'}" for label in sorted(counts))
        or "no rows"
    )


def _warn_of_unknown_goal(out: Output, threshold: MovedThreshold, model: Any) -> None:
    """Warn if the training rows cannot tell the precision or the recall that the user asked for."""
    if unkept := unkept_recall(threshold, model):
        out.warn(unkept)
    elif threshold.recall is not None and model.labeling_ == "sar":
        out.warn(
            "the recall at this threshold cannot be told, since the labels are not a random sample: in benchmark "
            "`labeling` it was mostly lower than requested."
        )
    if threshold.precision is None:
        return
    precision, prior = (model.estimates_[name] for name in ("precision", "prior"))
    if not (precision.known and prior.known):
        out.warn(
            f"the precision at this threshold is between {span(precision.low, precision.high, 'and')} by the training "
            "rows; check 30 rows to know."
        )


def _warn_of_probability(out: Output, saved: SavedModel, *, adapted: bool = False) -> None:
    """Warn if the probabilities of a PU model rest on an unknown class prior, or say why there are none."""
    from pucli.estimators.base.pu import has_own_probabilities
    from pucli.solvers.ensemble.estimates import Estimate

    warn_of_unknown_prior(out, saved.estimator)
    if curves := saved.metadata.get("probability"):
        prior = Estimate(curves["prior"], curves["prior_low"], curves["prior_high"])
        out.warn(unknown_prior(prior, curves.get("ranks", not saved.metadata.get("doubt"))))
    if getattr(saved.estimator, "labeling_", "scar") == "sar":
        out.remark(
            "probabilities assume that clear positives were labeled first (--labeling sar); no data can confirm it"
        )
    elif saved.metadata.get("kind") == "pu":
        what = "only the class prior has changed" if adapted else "these rows have the class prior of training"
        out.remark(f"probabilities hold if labels were random and {what}")
    if not curves and not has_own_probabilities(saved.estimator):
        out.remark("no probability is written, since training had no held-out scores of two classes")


def _warn_of_training_rows(out: Output, found: KnownRows | None, single_set: bool) -> None:
    """Warn if the model was trained on the rows: their scores are not held out, and some are known to be unlabeled."""
    if found is None:
        return
    why = "the scores are not held out"
    if single_set:
        why += ", and the unlabeled ones are positive less often than the probabilities of new rows say"
    out.warn(f"{found} that the model was trained on: {why}. `pucli auto --scored FILE` writes held-out scores.")


def _warn_of_one_class(out: Output, saved: SavedModel, counts: dict[str, int]) -> None:
    """Warn if almost no row or almost every row is flagged."""
    from pucli.estimators.base.pu import NEARLY_NONE

    tuned = "train with tuned parameters (`pucli tune`)"
    way_out = "move the threshold, e.g. with --share" if saved.method == "auto" else tuned
    found, total = counts.get(saved.metadata.get("words", {}).get("1", "1"), 0), sum(counts.values())
    if total < 1 / NEARLY_NONE:  # with few rows this is no surprise
        return
    if not NEARLY_NONE <= found / total <= 1 - NEARLY_NONE:
        amount = "nothing" if found < total / 2 else "everything"
        out.warn(
            f"nearly {amount} is flagged: {found:,} of {total:,} rows; use the score to rank the rows, or {way_out}."
        )


def _write_blocks(
    out: Output, blocks: Iterable[pd.DataFrame], destination: Path | None, safe: bool
) -> tuple[int, list[dict[str, Any]] | None]:
    """Print blocks of predictions or write them to a file; return the number of rows, and the rows of a document."""
    from pucli.cli.text.predictions import show_rows
    from pucli.data.files.writers import open_writer, without_formulas

    if destination is not None:
        from pucli.core.atomic_files import replacing

        written = 0
        with replacing(destination) as path, open_writer(path, safe=safe) as writer:
            for block in blocks:
                writer.write(block)
                written += len(block)
        return written, None
    records: list[dict[str, Any]] = []
    written, begun = 0, False
    for block in blocks:
        if out.on_screen:
            show_rows(out, block)
        elif out.as_json:
            filled = block.astype(object).where(block.notna(), None)
            records += [dict(zip(block.columns, row, strict=True)) for row in filled.itertuples(index=False)]
        else:
            block = without_formulas(block) if safe else block
            text = block.to_csv(index=False, header=not begun, lineterminator="\n")
            begun = True
            out.data(text.removesuffix("\n"))
        written += len(block)
    return written, records


def _densities(saved: SavedModel, data: list[Path], how: Reading) -> pd.DataFrame:
    """Return the output of a density model."""
    import pandas as pd

    from pucli.data import read_table
    from pucli.data.rows.tables import NoRows
    from pucli.models.fitting import takes_missing
    from pucli.models.scores import checked_scores, imputed, log_density

    fills = takes_missing(saved.method)
    names = saved.feature_names if fills else []
    try:
        X, _, _ = read_table(data, features=saved.feature_names, allow_missing=fills, how=how)
    except NoRows:
        return pd.DataFrame(columns=["row", "log_likelihood", *names])
    values = checked_scores(log_density(saved.pipeline, X), "log-likelihood")
    found = pd.DataFrame({"row": range(1, len(X) + 1), "log_likelihood": values})
    return found if not fills else pd.concat([found, pd.DataFrame(imputed(saved.pipeline, X), columns=names)], axis=1)
