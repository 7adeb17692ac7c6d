"""Rows of a damaged store that can still be read, and whose checksum says that they are as they were written."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

from pucli.runner.store_files import text_of
from pucli.runner.stored_rows import checksum

_FIRST = [f"{one:02x}" for one in range(256)]  # characters of a key, which is a SHA-256


def salvaged(path: Path, columns: str) -> list[tuple[dict[str, Any], str]]:
    """Return the intact rows of a damaged store, each with its provenance.

    A damaged page ends a scan. Each 256th of the keys is therefore read from both ends. `columns` are the names of
    those of a row, with commas between them.
    """
    found: dict[str, tuple[dict[str, Any], str]] = {}
    made_by: dict[int, str] = {}
    names = columns.split(", ")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "store"
        for ending in ("", "-wal"):
            if (source := path.with_name(path.name + ending)).exists():
                shutil.copyfile(source, copy.with_name(copy.name + ending))
        with contextlib.closing(sqlite3.connect(copy)) as db:
            db.text_factory = text_of
            for order in ("", "DESC"):
                with contextlib.suppress(sqlite3.DatabaseError):
                    made_by.update(row for row in db.execute(f"SELECT id, content FROM provenance ORDER BY id {order}"))
            query = f"SELECT {columns}, checksum FROM cells WHERE key >= ? AND key < ? ORDER BY key"
            for first, order in product(_FIRST, ("", "DESC")):
                with contextlib.suppress(sqlite3.DatabaseError, TypeError):
                    for values in db.execute(f"{query} {order}", (first, first + "g")):
                        *of_row, kept = values
                        row = dict(zip(names, of_row, strict=True))
                        content = made_by.get(row["provenance"], "")
                        if kept and kept == checksum(row, content):
                            found[row["key"]] = row, content
    return list(found.values())
