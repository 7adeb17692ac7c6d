"""Errors a user can act on. Each message names the file, column, row or key, and the way out."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable


class PucliError(Exception):
    """Base class; the command line prints the message alone and exits with `exit_code`."""

    exit_code = 1


class UsageError(PucliError):
    """Wrong name, option, data file or declared file (exit code 2)."""

    exit_code = 2


class RunError(PucliError):
    """Something failed while running (exit code 1)."""


FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def unwritable(path: object, error: OSError, option: str = "") -> PucliError:
    """Return the error for a file or folder that cannot be written.

    Parameters
    ----------
    path : object
        The place, as the user named it.
    error : OSError
        What the file system reported.
    option : str
        The option that names the place, if there is one.

    Returns
    -------
    PucliError
        RunError where the disk is full, else UsageError.
    """
    named = f"{option} {path}".strip()
    reason = error.strerror or str(error)
    if error.errno in FULL_DISK:
        return RunError(f"cannot write {named}: {reason}. Free some space, or give another place.")
    return UsageError(f"cannot write {named}: {reason}. Give a place that can be written.")


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


class DegenerateModelWarning(UserWarning):
    """A fitted model predicts nearly no row or nearly every row positive."""


class EstimatedPriorWarning(UserWarning):
    """A method that needs the class prior was given none, and took an estimate."""


class PlugInWarning(UserWarning):
    """An installed package offers something that cannot be used."""
