"""The result files of a benchmark."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pucli.core.atomic_files import replacing


def write_results(
    folder: Path, name: str, found: Mapping[str, Any], columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> list[Path]:
    """Write the results of a benchmark as JSON and its `rows` as a Markdown table; return the two paths.

    `found["about"]`, if there is one, explains the columns above the table.
    """
    numbers = [column not in ("what", "method", "note") for column in columns]
    lines = [
        f"# {found['title']}",
        "",
        *([found["about"], ""] if "about" in found else []),
        f"| {' | '.join(columns)} |",
        f"| {' | '.join('---:' if number else '---' for number in numbers)} |",
    ]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    files = [folder / f"{name}.json", folder / f"{name}.md"]
    texts = [json.dumps(found, indent=2, ensure_ascii=False), "\n".join(lines)]
    for file, text in zip(files, texts, strict=True):
        with replacing(file) as path:
            path.write_text(text + "\n", encoding="utf-8")
    return files
