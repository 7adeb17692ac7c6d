"""``pucli evaluate``: the scores of a saved model on rows with labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import options as opt
from pucli.cli.output import Output
from pucli.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

    from pucli.persistence import SavedModel

EXAMPLES = """
pucli evaluate --model bought.model --data checked.csv --label bought --positive yes
pucli evaluate --model bought.model --data customers.csv --label bought --positive yes --labels pu
pucli evaluate --model wifi.model --dataset wifi
"""

NEEDS_TRUE, NEEDS_PU = "true labels", "labelled positives and unlabeled rows"


def command(
    out: Output,
    model: Annotated[Path, typer.Option("--model", help="Model written by `pucli train --model`.")],
    data: opt.DataFile = None,
    label: Annotated[
        str | None,
        typer.Option("--label", help="Label column of --data; default the model's.", show_default=False),
    ] = None,
    positive: opt.PositiveValue = None,
    labels: Annotated[
        str,
        typer.Option(
            "--labels",
            help="What the label column says: true (the class of each row) or pu (labelled positives only).",
        ),
    ] = "true",
    dataset: opt.DatasetName = None,
    split: opt.SplitFile = None,
    repeat: Annotated[
        int | None,
        typer.Option("--repeat", help="Which repeat of --split; default the model's.", show_default=False),
    ] = None,
    mirror: opt.Mirror = None,
    offline: opt.Offline = False,
) -> None:
    """Score a model and say which scores need true labels.

    F1, precision, recall, accuracy, AUC and the confusion matrix need the true label of every row. Recall on labelled
    positives and PUF (that recall squared over the share of rows predicted positive) do not. With --dataset the rows
    are those that were held out when the model was trained.
    """
    from pucli.persistence import load_model

    opt.choice("kind of labels", labels, ("true", "pu"))
    saved = load_model(model)
    if saved.metadata.get("kind") == "density":
        raise UsageError(
            f"{model} models a density and predicts no labels; `pucli predict` gives the log-likelihood of each row."
        )
    if (dataset is None) == (data is None):
        raise UsageError("say which rows: either --data FILE --label COLUMN or --dataset NAME.")
    if dataset is not None:
        if labels == "pu":
            raise UsageError("--labels pu belongs to --data; held-out rows of a declared data set have true labels.")
        X, y = _held_out(saved, dataset, split, repeat, mirror, offline)
    else:
        X, y = _own_file(out, saved, data, label, positive, labels)
    document = _scores(saved, X, y, labels)
    out.document({"model": model, "method": saved.method, "data": str(data or dataset), "labels": labels, **document})
    _print(out, document)


def _own_file(
    out: Output, saved: SavedModel, path: Path | None, label: str | None, positive: str | None, labels: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the model's features and 1 for positives, 0 for the rest (or the classes, as the model numbers them).

    Rows without a class are left out: there is nothing to hold a prediction against.
    """
    import numpy as np

    from pucli.cli.training_rows import UNLABELED, labelled_positives, partly_labelled

    column = label or saved.metadata.get("label_column")
    if not column:
        raise UsageError(f"--data {path} needs --label COLUMN, the column with the labels.")
    if saved.metadata.get("kind") == "pu":
        words = saved.metadata.get("words", {})
        if positive is None and saved.metadata.get("label_column"):
            positive = words.get("1")
        X, y, _, _ = labelled_positives(path, column, positive, saved.feature_names)
        known = np.ones(len(y), dtype=bool) if labels == "pu" else ~_empty(path, column, saved.feature_names)
        return _labelled(out, path, column, X, y, known, "empty")
    X, y, _, words = partly_labelled(path, column, saved.feature_names)
    X, y = _labelled(out, path, column, X, y, y != UNLABELED, f"empty or {UNLABELED}")
    numbers = {word: int(number) for number, word in saved.metadata.get("words", {}).items()}
    seen = {words.get(str(value), str(value)) for value in y.tolist()}
    if not seen & set(numbers):
        raise UsageError(
            f"{path}: the classes of label column {column!r} ({', '.join(sorted(seen)[:5])}) are none of the model's "
            f"({', '.join(sorted(numbers)[:5])}); give the column that has them with --label."
        )
    return X, _renumbered(y, words, numbers)


def _labelled(
    out: Output, path: Path | None, column: str, X: np.ndarray, y: np.ndarray, known: np.ndarray, why: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows whose class is known, and say how many are left out."""
    if not known.any():
        raise UsageError(f"{path}: label column {column!r} has no class in any row; scores need the classes.")
    if not known.all():
        out.remark(f"{(~known).sum()} of {len(y)} rows have no label ({why}) and are not scored.")
    return X[known], y[known]


def _empty(path: Path | None, column: str, features: list[str]) -> np.ndarray:
    """Return which label cells (n,) of a file are empty."""
    from pucli.data import read_table

    mark = -987654321
    _, classes, _ = read_table(str(path), label=column, features=features, multiclass=True, unlabeled=mark)
    return classes.astype(str) == str(mark)


def _renumbered(y: np.ndarray, words: dict[str, str], numbers: dict[str, int]) -> np.ndarray:
    """Return the classes y as the model numbers them; a class that it never saw gets a number of its own."""
    import numpy as np

    unseen = max(numbers.values(), default=0) + 1
    return np.array([numbers.get(words.get(str(value), str(value)), unseen) for value in y.tolist()])


def _held_out(
    saved: SavedModel, dataset: str, split: Path | None, repeat: int | None, mirror: str | None, offline: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the test rows of the split that the model was trained on, with their true labels."""
    from pucli.cli.training_rows import DataOptions, training_rows
    from pucli.data import dataset_key
    from pucli.methods import get_method

    about = saved.metadata.get("data", {})
    if about.get("dataset") != dataset_key(dataset):
        trained = about.get("dataset") or about.get("file")
        raise UsageError(
            f"the model was trained on {trained}, so none of the rows of {dataset} are its held-out rows; "
            "give rows of your own with --data FILE --label COLUMN."
        )
    known = {key: about[key] for key in ("scenario", "label_frequency", "seed", "repeat") if key in about}
    if repeat is not None:
        known["repeat"] = repeat
    file = split or (Path(about["split_file"]) if "split_file" in about else None)
    where = DataOptions(dataset=dataset, split=file, mirror=mirror, offline=offline, **known)
    rows = training_rows(get_method(saved.method), where)
    if about.get("content_sha256") != rows.about["content_sha256"]:
        raise UsageError(f"{dataset} has changed since the model was trained; train it again.")
    assert rows.X_test is not None and rows.y_test is not None
    return rows.X_test, rows.y_test


def _scores(saved: SavedModel, X: np.ndarray, y: np.ndarray, labels: str) -> dict[str, Any]:
    """Return the scores, and for each of them what it needs."""
    from pucli.cli.scores import labelled_scores, true_label_scores

    pu = saved.metadata.get("kind") == "pu"
    if labels == "pu" and not pu:
        raise UsageError(f"--labels pu is for methods that learn from labelled positives; {saved.method} does not.")
    found: dict[str, Any] = true_label_scores(saved.pipeline, X, y) if labels == "true" else {}
    needs = dict.fromkeys(found, NEEDS_TRUE)
    if pu:
        # With true labels every row is "unlabeled" as well as known: the denominator is all rows.
        denominator = "all" if labels == "true" else saved.metadata.get("denominator", "unlabeled")
        unsure = labelled_scores(saved.pipeline, X, y, denominator)
        if labels == "true":
            del unsure["recall_labelled"]  # the same as recall
        found.update(unsure)
        needs.update(dict.fromkeys(unsure, NEEDS_PU))
        needs["predicted_positive"] = "no labels"
    return {"rows": len(y), "positive_rows": int((y == 1).sum()) if pu else None, "scores": found, "needs": needs}


def _print(out: Output, document: dict[str, Any]) -> None:
    scores, needs = document["scores"], document["needs"]
    counts = [scores[name] for name in ("tp", "fn", "fp", "tn") if name in scores]
    shown = [name for name in scores if name not in {"tp", "fn", "fp", "tn"}]
    out.table(["score", "value", "needs"], [[name, scores[name], needs[name]] for name in shown])
    if len(counts) == 4:
        tp, fn, fp, tn = counts
        out.text()
        out.table(
            ["confusion matrix", "predicted positive", "predicted negative"],
            [["positive", tp, fn], ["negative", fp, tn]],
        )
    if "f1" not in scores and "puf" in scores:
        out.remark("F1, precision, accuracy, AUC and the confusion matrix need true labels; see --labels true.")
