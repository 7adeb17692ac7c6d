"""Cells, the units of work of an experiment; the key of a cell identifies everything that determines its result."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import pkgutil
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pucli.core.declared_files import add_catalogue
from pucli.core.errors import unknown
from pucli.core.plug_ins import PlugIn, add_module_folder, modules

# Increase it when the meaning of a stored result changes; every cell is then computed again.
RESULT_FORMAT = 1
PROTOCOLS = "pucli.protocols"
# the flag of a cell that predicts only one class for the rows that are scored
ONE_CLASS = "one class predicted"

Shared = TypeVar("Shared")


@dataclass(frozen=True)
class Cell:
    """A combination of data set, setting, repeat and method.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    setting : mapping
        Scenario parameters, e.g. ``{"label_frequency": 0.5}``.
    repeat : int
        Counted from 0.
    method : str
        The column of the experiment.
    declared : mapping
        Everything that determines the result, as JSON values; `key` is its hash.
    group : str
        Cells of a group use the same rows and run in sequence in one worker.
    n_fits : int, default=1
        Number of fits of the cell, without a refinement of unknown length.
    open_ended : bool, default=False
        Whether such a refinement follows the grid.
    """

    dataset: str
    setting: Mapping[str, Any]
    repeat: int
    method: str
    declared: Mapping[str, Any]
    group: str
    n_fits: int = 1
    open_ended: bool = False

    @cached_property
    def key(self) -> str:
        """Return the SHA-256 of `declared`."""
        return key_of(self.declared)

    @property
    def protocol(self) -> str:
        """Return the name of the protocol that planned the cell and runs it."""
        return str(self.declared["protocol"][0])


@dataclass
class CellResult:
    """Result of a cell, as returned by a protocol; all values are JSON values, and numbers may be NaN.

    Parameters
    ----------
    metrics : dict
        Measures on the test rows, as fractions.
    params : dict
        The chosen constructor parameters.
    trials : dict
        All trials of tuning, as a list per column.
    certificate : dict
        Those of objective, dual_gap, residual, n_iter and converged that the method has.
    seconds : dict
        tune, fit, predict.
    status : str, default="done"
        "done" or "failed".
    error : str, default=""
        Why the cell failed.
    notes : list of str
        Remarks on the result.
    flags : list of str
        Short words that the table counts, e.g. "not converged".
    n_fits : int, default=0
        Number of fits in tuning.
    details : dict
        Further values for the protocol, e.g. curves.
    predictions : array or None
        Predictions for the rows that are scored, of a protocol that predicts; not stored.
    """

    metrics: dict[str, float] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    trials: dict[str, list[Any]] = field(default_factory=dict)
    certificate: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    status: str = "done"
    error: str = ""
    notes: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    n_fits: int = 0
    details: dict[str, Any] = field(default_factory=dict)
    predictions: Any = None

    def flag_constant(self) -> None:
        """Add the flag `ONE_CLASS` if all predictions are equal, and drop the predictions."""
        if self.predictions is not None and len(set(self.predictions)) == 1:
            self.flags.append(ONE_CLASS)
        self.predictions = None


@dataclass
class Context:
    """Resources that the cells of a group share in their worker.

    Parameters
    ----------
    mirror : str or None, default=None
        Folder or address to try first for data files.
    offline : bool or None, default=None
        Whether downloads are forbidden.
    cache : dict
        Values shared by the cells of the group, see `shared`.
    catalogues, folders : tuple of str
        Catalogues and folders of modules given by the user, for worker processes.
    unfinished : str or None, default=None
        Folder in which a protocol may keep what it has of a long cell, to continue it after an interruption.
    """

    mirror: str | None = None
    offline: bool | None = None
    cache: dict[Any, Any] = field(default_factory=dict)
    catalogues: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    unfinished: str | None = None

    def fresh(self) -> Context:
        """Return a copy with an empty cache, for another group."""
        return replace(self, cache={})

    def enter(self) -> None:
        """Make the catalogues and modules available in this process."""
        for path in self.catalogues:
            add_catalogue(path)
        for folder in self.folders:
            add_module_folder(Path(folder))

    def shared(self, cell: Cell, prepare: Callable[[Cell, Context], Shared]) -> Shared:
        """Return what `prepare` makes of the first cell of a group for all of them: data, split, graphs.

        The values of earlier groups are dropped.
        """
        if cell.group not in self.cache:
            self.cache.clear()
            self.cache[cell.group] = prepare(cell, self)
        found: Shared = self.cache[cell.group]
        return found


def key_of(declared: Mapping[str, Any]) -> str:
    """Return the SHA-256 of `declared` in canonical form (sorted keys, shortest numbers)."""
    return hashlib.sha256(canonical_json({"result_format": RESULT_FORMAT, **declared}).encode()).hexdigest()


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys; 1.0 and 1 are the same number, as in YAML."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, int)):  # most are; the other questions take longer
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return int(value)
    return value


def protocol_names() -> dict[str, str]:
    """Return the names of all protocols, each with the package that provides it ("" for pucli)."""
    own = _own_protocols()
    offered = _offered_protocols(own)
    return dict.fromkeys(own, "") | {name: f"{offer.package} {offer.version}" for name, offer in offered.items()}


def protocol_module(name: str) -> types.ModuleType:
    """Return the module of a protocol, of pucli or of an installed package; the error suggests the nearest names."""
    own = _own_protocols()
    if name in own:
        return importlib.import_module(f"{PROTOCOLS}.{name}.protocol")
    offered = _offered_protocols(own)
    if name not in offered:
        raise unknown("protocol", name, [*own, *offered])
    module: types.ModuleType = offered[name].found
    return module


def protocol_steps(name: str) -> Any:
    """Return the steps of a protocol, which its module has as `PROTOCOL`."""
    return protocol_module(name).PROTOCOL


def _own_protocols() -> list[str]:
    # by name, because this layer must not import the one above
    package = importlib.import_module(PROTOCOLS)
    return [module.name for module in pkgutil.iter_modules(package.__path__) if module.ispkg]


def _offered_protocols(own: list[str]) -> dict[str, PlugIn]:
    return modules(PROTOCOLS, ("PROTOCOL",), frozenset(own))
