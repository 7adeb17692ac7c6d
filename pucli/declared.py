"""Where the declared files are: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def declared_path(relative: str) -> Path:
    """Return the path of a shipped declared file or folder, e.g. ``datasets.yaml`` or ``experiments``."""
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / "datasets.yaml").is_file():
        return checkout / relative
    return _PACKAGE / "_declared" / relative
