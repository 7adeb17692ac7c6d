"""``pucli predict``: apply a saved model to new rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from pucli.cli.options import keep_inputs
from pucli.cli.output import Output

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

    Prints one line a row: its number from 1, the predicted label, and the score (greater means more positive; where
    it is above 0, the positive label is predicted), or of more than two classes the probability of the predicted one,
    if the method has it; classtering answers the cluster as well. A model of a density gives the log-likelihood of
    every row, and one that was made for missing cells (gaussian-mcpl) the row too, each missing cell at its expected
    value.
    """
    from pucli.cli.scores import decision_values, words_of
    from pucli.data import read_table
    from pucli.persistence import load_model

    keep_inputs("--out", destination, data, model)
    saved = load_model(model)
    if saved.metadata.get("kind") == "density":
        from pucli.cli.density import imputed, log_density, takes_missing

        fills = takes_missing(saved.pipeline[-1])
        X, _, _ = read_table(data, features=saved.feature_names, allow_missing=fills)
        cells = imputed(saved.pipeline, X).tolist() if fills else [[]] * len(X)
        said = log_density(saved.pipeline, X).tolist()
        found = [(number, value, *row) for number, (value, row) in enumerate(zip(said, cells, strict=True), start=1)]
        out.document({"model": model, "data": data, "rows": len(found), "file": destination})
        _write(out, ["row", "log_likelihood", *(saved.feature_names if fills else [])], found, destination)
        return
    X, _, _ = read_table(data, features=saved.feature_names)
    labels = words_of(saved, saved.pipeline.predict(X))
    scores = decision_values(saved.pipeline, X)
    columns, values = ["row", "prediction"], []
    if scores is not None:
        columns, values = [*columns, "score"], [scores.tolist()]
    elif hasattr(saved.pipeline, "predict_proba"):
        columns, values = [*columns, "probability"], [saved.pipeline.predict_proba(X).max(axis=1).tolist()]
    if hasattr(saved.pipeline[-1], "predict_cluster"):
        clusters = saved.pipeline[-1].predict_cluster(
            saved.pipeline[:-1].transform(X) if len(saved.pipeline) > 1 else X
        )
        columns, values = [*columns, "cluster"], [*values, clusters.tolist()]
    rows = list(zip(range(1, len(X) + 1), labels, *values, strict=True))
    counts = {label: labels.count(label) for label in sorted(set(labels))}
    out.document({"model": model, "data": data, "rows": len(rows), "counts": counts, "file": destination})
    _write(out, columns, rows, destination)
    out.remark(", ".join(f"{count} rows predicted {label}" for label, count in counts.items()))


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
