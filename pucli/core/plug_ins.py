"""Plug-ins of installed packages, found by their entry points and loaded on first use.

=====================  ===============================================================================
Group                  An entry point is
=====================  ===============================================================================
``pucli.methods``      a `pucli.methods.Method`, or a list of them
``pucli.metrics``      a `pucli.metrics.Metric`, or a list of them
``pucli.protocols``    a module with ``PROTOCOL``, its steps; the name is that of the protocol
``pucli.members``      a `pucli.solvers.ensemble.members.Member` of the automatic classifier, or a list of them
``pucli.readers``      a `pucli.data.files.table.Reader`, or a list of them
``pucli.catalogues``   a package; the ``datasets.yaml`` and the folder ``experiments`` in it are read
=====================  ===============================================================================

A plug-in that cannot be used causes one warning and does not affect the others.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pucli.core.errors import PlugInWarning, UsageError

Kind = TypeVar("Kind")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class PlugIn:
    """A loaded entry point."""

    name: str  # of the entry point
    package: str  # the installed distribution
    version: str
    found: Any  # the loaded object

    def refuse(self, why: str) -> None:
        """Warn that the plug-in is ignored."""
        warn(f"the plug-in {self.package} {self.version}: {self.name}: {why}; it is left out.")


def warn(text: str) -> None:
    """Warn about a plug-in, except during shell completion."""
    if "_PUCLI_COMPLETE" not in os.environ:
        warnings.warn(text, PlugInWarning, stacklevel=3)


@functools.cache
def plug_ins(group: str) -> tuple[PlugIn, ...]:
    """Return the entry points of installed packages in `group`, sorted by name."""
    found = []
    for point in sorted(importlib.metadata.entry_points(group=group), key=lambda point: (point.name, point.value)):
        package = point.dist.name if point.dist is not None else point.value.partition(".")[0]
        version = point.dist.version if point.dist is not None else "of unknown version"
        offer = PlugIn(point.name, package, version, None)
        try:
            found.append(PlugIn(point.name, package, version, point.load()))
        except Exception as error:  # importing another package may raise any error
            offer.refuse(f"{point.value} cannot be loaded ({_short(error)})")
    return tuple(found)


@functools.cache
def named(group: str, kind: type[Kind], taken: frozenset[str]) -> tuple[tuple[PlugIn, Kind], ...]:
    """Return the objects of type `kind` offered in `group` under free, valid names, each with its offer."""
    found: dict[str, tuple[PlugIn, Kind]] = {}
    for offer in plug_ins(group):
        given = offer.found if isinstance(offer.found, (list, tuple)) else [offer.found]
        for thing in given:
            name = getattr(thing, "name", None)
            if not isinstance(thing, kind):
                offer.refuse(f"it offers a {type(thing).__name__} where {group} takes a {kind.__name__}")
            elif not isinstance(name, str) or not _NAME.fullmatch(name):
                offer.refuse(f"the name {name!r} may only have letters, digits, '-', '_' and '.'")
            elif name in taken or name in found:
                offer.refuse(f"the name {name!r} is already in use")
            else:
                found[name] = (offer, thing)
    return tuple(found.values())


@functools.cache
def modules(group: str, needs: tuple[str, ...] = (), taken: frozenset[str] = frozenset()) -> dict[str, PlugIn]:
    """Return the offers of modules in `group` that have the attributes `needs`, by name."""
    found: dict[str, PlugIn] = {}
    for offer in plug_ins(group):
        missing = [name for name in needs if not hasattr(offer.found, name)]
        if not isinstance(offer.found, types.ModuleType):
            offer.refuse(f"it offers a {type(offer.found).__name__} where {group} takes a module")
        elif missing:
            offer.refuse(f"{offer.found.__name__} has no {' and no '.join(missing)}")
        elif offer.name in taken or offer.name in found:
            offer.refuse(f"the name {offer.name!r} is already in use")
        else:
            found[offer.name] = offer
    return found


def own_entries(file: Path) -> dict[str, Any]:
    """Return the entries that a YAML file of this package declares."""
    import yaml

    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader  # libyaml is ten times faster
    found: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), loader)
    return found


def forget() -> None:
    """Clear the cache, after a package was installed in this process."""
    for function in (plug_ins, named, modules):
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
    except Exception as error:  # importing foreign code may raise any error
        raise UsageError(
            f"{where} cannot be loaded ({_short(error)}); modules are searched beside the experiment file, on "
            "PYTHONPATH and among the installed packages."
        ) from error
    if not isinstance(found, type):
        raise UsageError(f"{where} is a {type(found).__name__}; give a class.")
    return found


def source_sha256(made: type[Any]) -> str:
    """Return the SHA-256 of the file that defines a class, or "" if there is none."""
    try:
        return hashlib.sha256(Path(inspect.getfile(made)).read_bytes()).hexdigest()
    except (OSError, TypeError):
        return ""


def add_module_folder(folder: Path) -> None:
    """Make modules beside a declared file importable, with the lowest priority."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def check_not_hidden(module: str, folder: Path) -> None:
    """Raise UsageError if a module in `folder` is hidden by another module of the same name."""
    mine = folder / f"{module.replace('.', '/')}.py"
    if not mine.is_file():
        return
    found = importlib.import_module(module)
    file = getattr(found, "__file__", None)
    if file is None or not mine.samefile(file):
        raise UsageError(f"{mine} is hidden by another module {module!r} ({file or 'built in'}); give it another name.")


def _short(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
