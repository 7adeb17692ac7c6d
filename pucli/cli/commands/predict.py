"""``pucli predict``: apply a saved model to new rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli.options import output_file
from pucli.cli.output import Output

if TYPE_CHECKING:
    from pucli.persistence import SavedModel

EXAMPLES = """
pucli predict --model bought.model --data new.csv
pucli predict --model bought.model --data new.csv --out scored.csv
"""


def command(
    out: Output,
    model: Annotated[Path, typer.Option("--model", help="Model written by `pucli train --model`.")],
    data: Annotated[Path, typer.Option("--data", help="File with the model's feature columns; others are ignored.")],
    destination: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file to write instead of printing.", show_default=False)
    ] = None,
) -> None:
    """Predict the label of every row of a file.

    Prints one line for each row: its number from 1, the predicted label, and the score. The greater the score, the
    more likely the row is positive; above 0 it is predicted positive. A model of more than two classes gives the
    probability of the predicted class instead, if the method has it, and classtering the cluster as well. A model of
    a density gives the log-likelihood of each row; gaussian-mcpl, which is made for missing cells, also the row with
    each missing cell at its expected value.
    """
    from pucli.persistence import load_model

    output_file("--out", destination, data, model)
    saved = load_model(model)
    density = saved.metadata.get("kind") == "density"
    columns, rows = _densities(saved, data) if density else _labels(saved, data)
    out.document({"model": model, "data": data, "rows": len(rows), "file": destination})
    if not density:
        labels = [row[1] for row in rows]
        counts = {label: labels.count(label) for label in sorted(set(labels))}
        out.document({"counts": counts})
    _write(out, columns, rows, destination)
    if not density:
        out.remark(", ".join(f"{count} rows predicted {label}" for label, count in counts.items()))


def _labels(saved: SavedModel, data: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the columns and lines of a model that predicts labels."""
    from pucli.data import read_table
    from pucli.models import clusters, decision_values, predicted_words

    X, _, _ = read_table(data, features=saved.feature_names)
    columns: dict[str, list[Any]] = {"prediction": predicted_words(saved, X)}
    scores, groups = decision_values(saved.pipeline, X), clusters(saved.pipeline, X)
    if scores is not None:
        columns["score"] = scores.tolist()
    elif hasattr(saved.pipeline, "predict_proba"):
        columns["probability"] = saved.pipeline.predict_proba(X).max(axis=1).tolist()
    if groups is not None:
        columns["cluster"] = groups.tolist()
    return ["row", *columns], list(zip(range(1, len(X) + 1), *columns.values(), strict=True))


def _densities(saved: SavedModel, data: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the columns and lines of a model of a density."""
    from pucli.data import read_table
    from pucli.models import imputed, log_density, takes_missing

    fills = takes_missing(saved.method)
    X, _, _ = read_table(data, features=saved.feature_names, allow_missing=fills)
    cells = imputed(saved.pipeline, X).tolist() if fills else [[]] * len(X)
    values = log_density(saved.pipeline, X).tolist()
    rows = [(number, value, *row) for number, (value, row) in enumerate(zip(values, cells, strict=True), start=1)]
    return ["row", "log_likelihood", *(saved.feature_names if fills else [])], rows


def _write(out: Output, columns: list[str], rows: Sequence[Sequence[Any]], destination: Path | None) -> None:
    """Print the rows, or write them to the file `destination`."""
    if destination is None:
        out.document({"predictions": [dict(zip(columns, row, strict=True)) for row in rows]})
        out.csv(columns, rows)
    else:
        from pucli.data.atomic import replacing

        with replacing(destination) as path, path.open("w", newline="", encoding="utf-8") as stream:
            Output.write_csv(stream, columns, rows)
        out.text(f"{len(rows)} rows written to {destination}")
