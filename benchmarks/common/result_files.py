"""The result files of a benchmark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pucli.cli.output import number
from pucli.core.atomic_files import replacing
from pucli.core.json_values import json_values

COLUMNS = ("what", "seconds", "ratio", "target", "note")


def write_results(folder: Path, name: str, found: Mapping[str, Any]) -> Path:
    """Write the results of a benchmark as JSON and its rows as a Markdown table; return the path of the table.

    `found["columns"]` are the keys of the rows (default `COLUMNS`; what is the name of the row); `found["about"]`, if
    there is one, explains the columns above the table.
    """
    columns = found.get("columns", COLUMNS)
    keys = ["name" if column == "what" else column for column in columns]
    rows = [["" if row.get(key) is None else number(row[key]) for key in keys] for row in found["rows"]]
    is_number = [column not in ("what", "method", "note") for column in columns]
    lines = [
        f"# {found['title']}",
        "",
        *([found["about"], ""] if "about" in found else []),
        f"| {' | '.join(columns)} |",
        f"| {' | '.join('---:' if right else '---' for right in is_number)} |",
    ]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    files = [folder / f"{name}.json", folder / f"{name}.md"]
    texts = [json.dumps(json_values(found), indent=2, ensure_ascii=False), "\n".join(lines)]
    for file, text in zip(files, texts, strict=True):
        with replacing(file) as path:
            path.write_text(text + "\n", encoding="utf-8")
    return files[1]
