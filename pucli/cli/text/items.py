"""Wrapped items of output: a name and a text beside it."""

from __future__ import annotations

from typing import Any

from pucli.cli.terminal import wrapped

WIDTH, INDENT = 80, 14
WHOLE_WORDS: dict[str, Any] = {"width": WIDTH, "break_long_words": False, "break_on_hyphens": False}


def item(name: str, text: str) -> list[str]:
    """Return a name and a text beside it, wrapped to lines of `WIDTH` characters; a command can be copied."""
    return [f"{name if not k else '':<{INDENT}}{line}" for k, line in enumerate(wrapped(text, WIDTH - INDENT))]
