"""Errors that a user can resolve. Each message names the file, column, row or key, and the remedy."""

from __future__ import annotations

import difflib
import errno
import math
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class PucliError(Exception):
    """Base class of errors; the command line prints only the message and exits with `exit_code`."""

    exit_code = 1


class UsageError(PucliError):
    """Wrong name, option, data file or declared file (exit code 2)."""

    exit_code = 2


class CatalogueError(UsageError):
    """A catalogue of data sets is missing or wrong, whichever file asked for it."""


class RunError(PucliError):
    """Something failed while running (exit code 1)."""


# Least similarity, from 0 to 1, of a name and a slip of it. Two names may also share the start of a word: its least
# length, and its least part of the shorter name.
NEAR, PART, START = 0.62, 3, 0.8
# So many choices are named in full beside the nearest one.
FEW = 6
FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def unwritable(path: object, error: OSError, option: str = "") -> PucliError:
    """Return the error for a file or folder that cannot be written: RunError if the disk is full, else UsageError."""
    named = f"{option} {path}".strip()
    reason = os.strerror(error.errno) if error.errno else str(error)
    if error.errno in FULL_DISK:
        return RunError(f"cannot write {named}: {reason}. Free some space, or use another place.")
    return UsageError(f"cannot write {named}: {reason}. Use a place that can be written.")


def nearest(name: str, choices: Iterable[str], most: int = 3) -> list[str]:
    """Return at most `most` choices that `name` may be a slip of, the likeliest first."""
    folded: dict[str, str] = {}
    for choice in choices:
        folded.setdefault(choice.lower(), choice)
    wanted = name.lower()
    near = difflib.get_close_matches(wanted, list(folded), n=most, cutoff=NEAR)
    near += [choice for choice in folded if choice not in near and _related(*sorted((wanted, choice), key=len))]
    return [folded[choice] for choice in near[:most]]


def _related(short: str, long: str) -> bool:
    """Return whether nearly all of `short` begins a word of `long`, as "auc" in "pu-auc"."""
    start = short[: math.ceil(START * len(short))]
    return len(start) >= PART and re.search(rf"(?<![^\W_]){re.escape(start)}", long) is not None


def did_you_mean(name: str, choices: Iterable[str], most: int = 3) -> str:
    """Return a question with the nearest choices, such as "did you mean 'a' or 'b'?"; "" if none is near."""
    near = nearest(name, choices, most)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""


def unknown(kind: str, name: str, choices: Iterable[str], *, of: str = "", listing: str = "") -> UsageError:
    """Return the error for an unknown name, with the nearest valid names."""
    choices = sorted(choices)
    near = did_you_mean(name, choices)
    hint = f"; {near}" if near else "."
    if listing:
        hint += f" `{listing}` shows all of them."
    elif not near or len(choices) <= FEW:
        hint += f" Known: {', '.join(choices)}."
    return UsageError(f"unknown {kind} {name!r}{f' of {of}' if of else ''}{hint}")


def missing_file(path: Path) -> UsageError:
    """Return the error for a file that does not exist, with the nearest names of its folder."""
    if not path.parent.is_dir():
        return UsageError(f"no file {path}: the folder {path.parent} does not exist")
    near = did_you_mean(path.name, sorted(entry.name for entry in path.parent.iterdir() if entry.is_file()))
    return UsageError(f"no file {path}" + (f"; {near}" if near else ""))


def check_model_file(path: Path) -> None:
    """Raise UsageError if there is no such model file."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give a model file.")
    if not path.is_file():
        raise UsageError(f"{path}: no such model file; `pucli auto` and `pucli train` write one to --model FILE.")


def shell_word(value: object) -> str:
    r"""Return a value as one word of a shell command to paste: bytes that are no text as in $'caf\351.csv'."""
    text = str(value)
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_pasted, text)) + "'"


def _pasted(sign: str) -> str:
    """Return a character as it stands within the quotes $'...' of a shell."""
    if sign.isprintable():
        return f"\\{sign}" if sign in "\\'" else sign
    errors = "surrogateescape" if "\udc80" <= sign <= "\udcff" else "surrogatepass"
    return "".join(f"\\{byte:03o}" for byte in sign.encode("utf-8", errors))


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as `warnings.warn`, and name the line outside pucli from which it was called."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("pucli."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


_naming_options = False


@contextmanager
def naming_options(wanted: bool = True) -> Iterator[None]:
    """Let messages name options, as within a command, or parameters, as in Python."""
    global _naming_options  # not a context variable: warnings come from threads
    before, _naming_options = _naming_options, wanted
    try:
        yield
    finally:
        _naming_options = before


def by_interface(python: str, command: str) -> str:
    """Return the words of a message for Python or, within a command, those for its options."""
    return command if _naming_options else python


class DegenerateModelWarning(UserWarning):
    """A fitted model predicts nearly no row or nearly every row positive."""


class EstimatedPriorWarning(UserWarning):
    """A method that needs the class prior was not given one and used an estimate."""


class TrainingRowsWarning(UserWarning):
    """Rows of fit are predicted by models that saw them."""


class PlugInWarning(UserWarning):
    """A plug-in of an installed package cannot be used."""
