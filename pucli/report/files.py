"""Atomic writing of report files, and reading of the provenance."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pucli.core.atomic_files import replacing

PROVENANCE = "provenance.json"

# names of clip paths and marks, which matplotlib derives from the last bits of their positions
_MADE_NAME = re.compile(rb"\b[pmC][0-9a-f]{10}\b")


class _Way(BaseModel):
    cells: int
    processes: int = 0
    versions: dict[str, str] = {}
    source_sha256: str = ""
    experiment_sha256: str = ""


class _Provenance(BaseModel):
    """The parts of provenance.json that reports read; `report.provenance` writes them."""

    experiment: str
    title: str
    profile: str
    reductions: list[str]
    cells: dict[str, int]
    plan_sha256: str
    first_finished: str | None
    last_finished: str | None
    process_seconds: float
    fits: int
    data: list[dict[str, str]]
    methods: list[dict[str, Any]]
    figures: list[list[str]]
    texts: list[list[str]]
    made_with: list[_Way]


def write(path: Path, content: str | bytes) -> Path:
    """Replace `path` atomically, so that readers never see an incomplete file; an equal drawing is kept as it is."""
    new = content.encode() if isinstance(content, str) else content
    if path.suffix == ".svg" and path.is_file() and _named_in_order(path.read_bytes()) == _named_in_order(new):
        return path
    with replacing(path) as partial:
        partial.write_bytes(new)
    return path


def _named_in_order(svg: bytes) -> bytes:
    """Return an SVG file without the names that matplotlib made up."""
    seen: dict[bytes, bytes] = {}
    return _MADE_NAME.sub(lambda found: seen.setdefault(found[0], b"name%d" % len(seen)), svg)


def read_provenance(folder: Path) -> dict[str, Any]:
    """Return the content of provenance.json in a folder, or {} if it cannot be read or has another shape."""
    try:
        found = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
        _Provenance.model_validate(found, strict=True)
    except (OSError, ValueError, RecursionError):
        return {}
    content: dict[str, Any] = found
    return content


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return CSV; NaN and None are empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(map(_text, row))
    return out.getvalue()


def _text(value: Any) -> Any:
    if isinstance(value, float):
        # ten digits exceed the precision of any figure here, and drop the noise of the last bits
        return "" if math.isnan(value) else f"{value:.10g}"
    return "" if value is None else value
