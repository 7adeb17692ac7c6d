"""The result files of a benchmark."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pucli.core.atomic_files import replacing
from pucli.core.json_values import json_values

COLUMNS = ("what", "seconds", "ratio", "target", "note")


def write_results(folder: Path, name: str, found: Mapping[str, Any]) -> Path:
    """Write the results of a benchmark as compressed JSON and its rows as a Markdown table; return the table's path.

    Equal results give equal bytes.

    `found["columns"]` are the keys of the rows (default `COLUMNS`; what is the name of the row); `found["about"]`, if
    there is one, explains the columns above the table.
    """
    columns = found.get("columns", COLUMNS)
    keys = ["name" if column == "what" else column for column in columns]
    rows = [[_cell(row.get(key)) for key in keys] for row in found["rows"]]
    is_number = [column not in ("what", "method", "note") for column in columns]
    lines = [
        f"# {found['title']}",
        "",
        *([found["about"], ""] if "about" in found else []),
        f"| {' | '.join(columns)} |",
        f"| {' | '.join('---:' if right else '---' for right in is_number)} |",
    ]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    page = folder / f"{name}.md"
    text = json.dumps(json_values(found), indent=2, ensure_ascii=False) + "\n"
    contents = {
        results_file(folder, name): gzip.compress(text.encode(), 9, mtime=0),
        page: ("\n".join(lines) + "\n").encode(),
    }
    for file, content in contents.items():
        with replacing(file) as path:
            path.write_bytes(content)
    return page


def explained(text: str | None) -> str:
    """Return what the text of a benchmark says below its first line, on one line."""
    return " ".join((text or "").split("\n\n", 1)[1].split())


def grouped(
    cells: Sequence[Mapping[str, Any]] | pd.DataFrame, keys: Sequence[str]
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield the values of the keys and the cells that have them, in the order of the first cells."""
    for values, part in pd.DataFrame(cells).groupby(list(keys), sort=False):
        yield dict(zip(keys, values, strict=True)), part


def results_file(folder: Path, name: str) -> Path:
    """Return the path of the figures of a benchmark in the folder of all benchmarks."""
    return folder / f"{name}.json.gz"


def read_results(folder: Path, name: str) -> dict[str, Any]:
    """Return the figures of a benchmark, as `write_results` wrote them."""
    found: dict[str, Any] = json.loads(gzip.decompress(results_file(folder, name).read_bytes()))
    return found


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "" if value is None else "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
