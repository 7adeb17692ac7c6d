"""Errors a user can act on. Each message names the file, column, row or key, and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class PucliError(Exception):
    """Base class; the command line prints the message alone and exits with `exit_code`."""

    exit_code = 1


class UsageError(PucliError):
    """Wrong name, option, data file or declared file (exit code 2)."""

    exit_code = 2


class RunError(PucliError):
    """Something failed while running (exit code 1)."""


def unknown(kind: str, name: str, choices: Iterable[str], *, listing: str = "") -> UsageError:
    """Return the error for an unknown `name`, with the nearest right ones.

    `kind` is the noun ("data set"), `listing` the command that shows all choices.
    """
    choices = sorted(choices)
    folded = {c.lower(): c for c in choices}
    near = [folded[c] for c in difflib.get_close_matches(name.lower(), list(folded), n=3, cutoff=0.5)]
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    if listing:
        hint += f" `{listing}` shows all of them."
    elif not near:
        hint += f" Known: {', '.join(choices)}."
    return UsageError(f"unknown {kind} {name!r}{hint}")
