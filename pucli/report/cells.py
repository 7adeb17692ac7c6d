"""cells.csv: one row for each cell of the plan, whatever became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pucli.report.files import csv_text
from pucli.runner.cells import Cell
from pucli.runner.experiment import base_name, variant_name


def cells_csv(cells: Sequence[Cell], stored: Mapping[str, Mapping[str, Any]]) -> str:
    """Return cells.csv. Metrics are fractions; settings and parameters are JSON; `repeat` counts from 0."""
    metrics = _names(stored, "metrics")
    seconds = _names(stored, "seconds")
    certificate = _names(stored, "certificate")
    columns = [
        "key", "dataset", "setting", "repeat", "method", "variant", "status", "params", *metrics,
        *(f"seconds_{name}" for name in seconds), *certificate, "n_fits", "flags", "notes", "error",
    ]  # fmt: skip
    lines = []
    for cell in cells:
        row = stored.get(cell.key)
        head = [cell.key, cell.dataset, _text(dict(cell.setting)), cell.repeat, base_name(cell.method),
                variant_name(cell.method)]  # fmt: skip
        if row is None:
            lines.append([*head, "missing", *[None] * (len(columns) - len(head) - 1)])
            continue
        lines.append(
            [
                *head,
                row["status"],
                _text(row["params"]),
                *(row["metrics"].get(name) for name in metrics),
                *(row["seconds"].get(name) for name in seconds),
                *(row["certificate"].get(name) for name in certificate),
                row["n_fits"],
                "; ".join(row["flags"]),
                "; ".join(row["notes"]),
                row["error"],
            ]
        )
    return csv_text(columns, lines)


def _names(stored: Mapping[str, Mapping[str, Any]], part: str) -> list[str]:
    return list(dict.fromkeys(name for key in sorted(stored) for name in stored[key][part]))


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
