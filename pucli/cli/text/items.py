"""Wrapped items of output: a name and a text beside it."""

from __future__ import annotations

import textwrap
from typing import Any

WIDTH, INDENT = 80, 14
WHOLE_WORDS: dict[str, Any] = {"width": WIDTH, "break_long_words": False, "break_on_hyphens": False}


def item(name: str, text: str) -> list[str]:
    """Return a name and a text beside it, wrapped to lines of `WIDTH` characters."""
    lines = textwrap.wrap(text, **{**WHOLE_WORDS, "width": WIDTH - INDENT}) or [""]
    return [f"{name if not k else '':<{INDENT}}{line}" for k, line in enumerate(lines)]
