"""The documents that commands print with --json: their types, and the JSON schemas made from them."""

from __future__ import annotations

# Versions of documents that lost a key, or gave one another type or meaning; all others have version 1. A further key
# leaves the version as it is.
VERSIONS: dict[str, int] = {}


def version_of(command: str) -> str:
    """Return name and version of the schema of a command's document, such as "auto/1"."""
    return f"{command}/{VERSIONS.get(command, 1)}"
