"""Plug-ins: what installed packages add, found by their entry points and loaded when it is first asked for.

=====================  ===============================================================================
Group                  An entry point is
=====================  ===============================================================================
``pucli.methods``      a `pucli.methods.Method`, or a list of them
``pucli.metrics``      a `pucli.metrics.Metric`, or a list of them
``pucli.protocols``    a module with ``cells`` and ``run_cell``; its name is that of the protocol
``pucli.catalogues``   a package; the ``datasets.yaml`` and the folder ``experiments`` in it are read
=====================  ===============================================================================

What cannot be used is warned of, once, and leaves the rest as it is.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.metadata
import inspect
import os
import re
import sys
import types
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pucli.errors import PlugInWarning, UsageError

Kind = TypeVar("Kind")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Offer:
    """What one entry point gives.

    Parameters
    ----------
    name : str
        Of the entry point.
    package, version : str
        Of the installed distribution.
    found : object
        What it points to.
    """

    name: str
    package: str
    version: str
    found: Any

    def refuse(self, why: str) -> None:
        """Warn that it is left out."""
        warn(f"the plug-in {self.package} {self.version}: {self.name}: {why}; it is left out.")


def warn(text: str) -> None:
    """Warn of a plug-in; not while the shell completes a word."""
    if "_PUCLI_COMPLETE" not in os.environ:
        warnings.warn(text, PlugInWarning, stacklevel=3)


@functools.cache
def offers(group: str) -> tuple[Offer, ...]:
    """Return what the installed packages offer to `group`, in the order of their names."""
    found = []
    for point in sorted(importlib.metadata.entry_points(group=group), key=lambda point: (point.name, point.value)):
        package = point.dist.name if point.dist is not None else point.value.partition(".")[0]
        version = point.dist.version if point.dist is not None else "of unknown version"
        offer = Offer(point.name, package, version, None)
        try:
            found.append(Offer(point.name, package, version, point.load()))
        except Exception as error:  # whatever the code of another package does when it is imported
            offer.refuse(f"{point.value} cannot be loaded ({_short(error)})")
    return tuple(found)


@functools.cache
def named(group: str, kind: type[Kind], taken: frozenset[str]) -> tuple[tuple[Offer, Kind], ...]:
    """Return the things of type `kind` that are offered to `group`, each with its offer.

    Parameters
    ----------
    group : str
        Name of the group.
    kind : type
        What each must be; it has a ``name``.
    taken : frozenset of str
        Names that are in use.

    Returns
    -------
    tuple of (Offer, kind)
        Without those whose name is in use, or no word.
    """
    found: dict[str, tuple[Offer, Kind]] = {}
    for offer in offers(group):
        given = offer.found if isinstance(offer.found, (list, tuple)) else [offer.found]
        for thing in given:
            name = getattr(thing, "name", None)
            if not isinstance(thing, kind):
                offer.refuse(f"it offers a {type(thing).__name__} where {group} takes a {kind.__name__}")
            elif not isinstance(name, str) or not _NAME.fullmatch(name):
                offer.refuse(f"the name {name!r} may have letters, digits, '-', '_' and '.' only")
            elif name in taken or name in found:
                offer.refuse(f"the name {name!r} is taken already")
            else:
                found[name] = (offer, thing)
    return tuple(found.values())


def modules(group: str, needs: Iterable[str], taken: Iterable[str]) -> dict[str, types.ModuleType]:
    """Return name -> module of those that are offered to `group` and have the functions `needs`."""
    return {offer.name: offer.found for offer in _modules(group, tuple(needs), frozenset(taken))}


@functools.cache
def _modules(group: str, needs: tuple[str, ...], taken: frozenset[str]) -> tuple[Offer, ...]:
    found: dict[str, Offer] = {}
    for offer in offers(group):
        missing = [name for name in needs if not callable(getattr(offer.found, name, None))]
        if not isinstance(offer.found, types.ModuleType):
            offer.refuse(f"it offers a {type(offer.found).__name__} where {group} takes a module")
        elif missing:
            offer.refuse(f"{offer.found.__name__} has no {' and no '.join(missing)}")
        elif offer.name in taken or offer.name in found:
            offer.refuse(f"the name {offer.name!r} is taken already")
        else:
            found[offer.name] = offer
    return tuple(found.values())


def forget() -> None:
    """Look again when next asked: after a package was installed in this process."""
    for function in (offers, named, _modules):
        function.cache_clear()


def load_class(where: str) -> type[Any]:
    """Return the class that ``"module:Class"`` names.

    Raises
    ------
    UsageError
        There is no such module or class, or importing it fails.
    """
    module, _, name = where.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except Exception as error:  # whatever the code of somebody else does when it is imported
        raise UsageError(
            f"{where} cannot be loaded ({_short(error)}); a module is looked for beside the experiment's file, on "
            "PYTHONPATH and among the installed packages."
        ) from error
    if not isinstance(found, type):
        raise UsageError(f"{where} is a {type(found).__name__}; name a class.")
    return found


def source_sha256(made: type[Any]) -> str:
    """Return the SHA-256 of the file that a class stands in, "" where it has none."""
    try:
        return hashlib.sha256(Path(inspect.getfile(made)).read_bytes()).hexdigest()
    except (OSError, TypeError):
        return ""


def add_module_folder(folder: Path) -> None:
    """Have modules beside a declared file found, after all others."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def check_not_hidden(module: str, folder: Path) -> None:
    """Raise UsageError where a module in `folder` is hidden by another of its name."""
    mine = folder / f"{module.replace('.', '/')}.py"
    if not mine.is_file():
        return
    found = importlib.import_module(module)
    file = getattr(found, "__file__", None)
    if file is None or not mine.samefile(file):
        raise UsageError(f"{mine} is hidden by another module {module!r} ({file or 'built in'}); give it another name.")


def _short(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
