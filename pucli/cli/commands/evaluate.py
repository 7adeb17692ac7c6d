"""``pucli evaluate``: score a saved model on labeled rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pucli.cli import completion
from pucli.cli import options as opt
from pucli.cli.output import Output
from pucli.cli.row_options import OWN_TABLE, ModelFile, UsualReading, check_there
from pucli.cli.terminal import many
from pucli.cli.threshold_options import warn_of_findings
from pucli.core.errors import UsageError
from pucli.core.json_values import OrNaN

if TYPE_CHECKING:
    from pucli.data.reading import Reading
    from pucli.data.rows.scored_rows import ScoredRows
    from pucli.models.saved import SavedModel

# Inputs of metrics that need true labels of two classes, and of those that need labeled positives and unlabeled rows.
TRUE_LABEL_INPUTS = ("truth", "predictions", "positive", "decision", "probability")
PU_INPUTS = ("counts", "denominator", "labeled", "decision", "prior")
# What positive rows alone tell.
WITHOUT_NEGATIVES = ("recall", "predicted_positive")

EXAMPLES = """
pucli evaluate checked.csv --model bought.model --label bought --positive yes
pucli evaluate customers.csv --model bought.model --label bought --positive yes --labels pu
pucli evaluate checked.csv --model bought.model --metric precision@100 --metric lift@5%
pucli evaluate --model wifi.model
"""


@dataclass(frozen=True)
class Evaluation:
    """Scores of a model, and the labels that each of them needs."""

    model: Path
    method: str
    data: str
    labels: str  # "true" or "pu"
    rows: int
    positive_rows: int | None
    scores: dict[str, OrNaN]
    needs: dict[str, str]


def command(  # noqa: PLR0913
    out: Output,
    model: ModelFile,
    reading: UsualReading,
    data: opt.DataFiles = None,
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="COLUMN",
            help="Label column of --data; by default that of the model.",
            callback=opt.normal_name,
        ),
    ] = None,
    positive: Annotated[
        list[str] | None,
        typer.Option(
            "--positive", metavar="VALUE", help="Label of positives, or a rule; repeatable. Default: that of the model."
        ),
    ] = None,
    labels: Annotated[
        str,
        typer.Option(
            "--labels",
            help="What the label column holds: true (classes; rows that are not --positive are negative) "
            "or pu (labeled positives only; others are unlabeled).",
            autocompletion=completion.completer("true", "pu"),
        ),
    ] = "true",
    dataset: opt.DatasetName = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Also this metric, e.g. precision@100, recall@5%, lift@2%, bedroc@80; repeatable.",
        ),
    ] = None,
) -> None:
    """Score a model and show which scores need true labels.

    A score that compares predictions with true classes, such as F1, needs the true label of every row. A score of
    labeled positives and unlabeled rows, such as PUF, does not (--labels pu). The output names what each score needs;
    `pucli list metrics` describes them all. A model of a declared data set is scored on the rows that were
    held out in training.
    """
    opt.choice("kind of labels", labels, ("true", "pu"))
    _check_metrics(metrics or (), labels)
    check_there(*(data or ()), model=model)
    from pucli.data.files.tables import title_of
    from pucli.data.rows.training_rows import check_one_source
    from pucli.models.saved import load_model

    saved = load_model(model)
    if saved.metadata.get("kind") == "density":
        raise UsageError(
            f"{model} models a density and predicts no labels; `pucli predict` writes the log-likelihood of each row."
        )
    if labels == "pu" and saved.metadata.get("kind") != "pu":
        raise UsageError(
            f"--labels pu applies only to methods that learn from labeled positives; {saved.method} does not."
        )
    if dataset is None and not data and (dataset := saved.metadata.get("data", {}).get("dataset")):
        out.remark(f"No rows were given: these are the held-out rows of {dataset}. For your own: {OWN_TABLE}")
    check_one_source(dataset is not None, bool(data), "--data FILE --label COLUMN or --dataset NAME")
    how = reading.reading(data or ())
    if data:
        rows = _own_file(saved, data, label, positive, labels, saved.reading.over(how))
        if rows.left_out:
            total = len(rows.y) + rows.left_out
            out.remark(f"{rows.left_out:,} of {total:,} rows have no label ({rows.why}) and are not scored.")
    elif how.words:
        raise UsageError(f"{how.words} needs --data; a declared data set has its own reader.")
    elif labels == "pu":
        raise UsageError("--labels pu needs --data; the held-out rows of a declared data set have true labels.")
    else:
        rows = _held_out(saved, dataset)
    for line in rows.warnings:
        out.warn(line)
    if labels == "pu":
        warn_of_findings(out, saved)
    scores, needs = _scores(saved, rows, labels, metrics or ())
    answer = Evaluation(
        model=model,
        method=saved.method,
        data=title_of(data) if data else str(dataset),
        labels=labels,
        rows=len(rows.y),
        positive_rows=int((rows.y == 1).sum()) if saved.metadata.get("kind") == "pu" else None,
        scores=scores,
        needs=needs,
    )
    out.document(answer)
    _print(out, answer)


def _check_metrics(names: Sequence[str], labels: str) -> None:
    """Raise UsageError for an unknown metric, or one that needs other inputs than these labels give."""
    from pucli.metrics import get_metric

    inputs = {*TRUE_LABEL_INPUTS, "clusters", "counts", "denominator"} if labels == "true" else set(PU_INPUTS)
    for name in names:
        metric = get_metric(name)
        if metric.function is None or not inputs.issuperset(metric.needs):
            other = "pu" if labels == "true" else "true"
            raise UsageError(f"--metric {name} cannot be computed with --labels {labels}; see --labels {other}.")


def more_help() -> str:
    """Return the names of the scores, by the labels they need, from the registry of metrics."""
    from pucli.metrics import computable
    from pucli.models.scores import COUNTS

    true = ", ".join(name for name in computable(TRUE_LABEL_INPUTS) if name not in COUNTS)
    return f"Scores that need true labels: {true}. Others: {', '.join(computable(PU_INPUTS))}."


def _own_file(
    saved: SavedModel, files: list[Path], label: str | None, positive: list[str] | None, labels: str, how: Reading
) -> ScoredRows:
    from pucli.data.rows.scored_rows import scored_rows

    column = label or saved.metadata.get("label_column")
    if not column:
        raise UsageError(f"--data {files[0]} also needs --label COLUMN.")
    encoder, unlabeled = saved.table_encoder, labels == "pu"
    return scored_rows(files, column, encoder, saved.metadata, positive=positive, empty_is_unlabeled=unlabeled, how=how)


def _held_out(saved: SavedModel, dataset: str | None) -> ScoredRows:
    from pucli.data.rows.scored_rows import ScoredRows
    from pucli.data.rows.training_rows import RowSource, training_split

    about = saved.metadata.get("data", {})
    source = RowSource(dataset=dataset, repeat=about.get("repeat", 0))
    rows = training_split(saved.metadata.get("kind", ""), about, source)
    assert rows.X_test is not None and rows.y_test is not None
    return ScoredRows(rows.X_test, rows.y_test)


def _scores(
    saved: SavedModel, rows: ScoredRows, labels: str, also: Sequence[str]
) -> tuple[dict[str, OrNaN], dict[str, str]]:
    """Return the scores and the labels that each of them needs."""
    from pucli.models.prediction import probabilities
    from pucli.models.scores import COUNTS, decision_values, labeled_scores, true_label_scores, whole_counts

    pu = saved.metadata.get("kind") == "pu"
    found = {}
    if labels == "true":
        probability = probabilities(saved, rows.X, decision_values(saved.pipeline, rows.X))
        found = true_label_scores(saved.pipeline, rows.X, rows.y, probability, also)
    if pu:
        # With true labels, every row also counts as unlabeled: the denominator is the number of all rows.
        denominator = "all" if labels == "true" else saved.metadata.get("denominator", "unlabeled")
        ranked = labels == "pu"
        found |= labeled_scores(saved.pipeline, rows.X, rows.y == 1, denominator, ranked=ranked, also=also)
        if labels == "true":
            del found["recall_labeled"]  # the same as recall
    needs = {name: _needs(name) for name in found}
    if pu and labels == "true" and (rows.y == 1).all():
        lost = [name for name in found if name not in (*WITHOUT_NEGATIVES, *COUNTS)]
        found |= dict.fromkeys(lost, math.nan)
        needs |= dict.fromkeys(lost, "true labels of both classes")
    return whole_counts(found), needs


def _needs(name: str) -> str:
    """Return the labels that a metric needs."""
    from pucli.metrics import get_metric

    if name == "predicted_positive":
        return "no labels"
    return "true labels" if "truth" in get_metric(name).needs else "labeled positives and unlabeled rows"


def _print(out: Output, answer: Evaluation) -> None:
    from pucli.models.scores import COUNTS

    scores, needs = answer.scores, answer.needs
    counts = [scores[name] for name in COUNTS if name in scores]
    unknown = [name for name, value in scores.items() if isinstance(value, float) and math.isnan(value)]
    shown = [name for name in scores if name not in COUNTS and name not in unknown]
    out.table(["score", "value", "needs"], [[name, scores[name], needs[name]] for name in shown])
    if len(counts) == 4:
        tp, fn, fp, tn = counts
        out.text()
        out.table(
            ["confusion matrix", "predicted positive", "predicted negative"],
            [["positive", tp, fn], ["negative", fp, tn]],
        )
    if unknown:
        why = f"from these {many(answer.rows, 'row')}"
        if answer.rows == answer.positive_rows:
            why = "without negative rows"
        out.text(f"cannot be computed {why}: {', '.join(unknown)}")
    if answer.labels == "pu":
        from pucli.metrics import computable

        true = [name for name in computable(TRUE_LABEL_INPUTS) if name not in {*COUNTS, *scores}]
        out.remark(f"not known without true labels (--labels true): {', '.join(true)}, confusion matrix")
