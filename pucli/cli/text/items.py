"""Wrapped items of output: a name and a text beside it."""

from __future__ import annotations

from pucli.cli.terminal import wrapped

WIDTH, INDENT = 80, 14


def item(name: str, text: str) -> list[str]:
    """Return a name and a text beside it, wrapped to lines of `WIDTH` characters; a command can be copied."""
    return [f"{name if not k else '':<{INDENT}}{line}" for k, line in enumerate(wrapped(text, WIDTH - INDENT))]
