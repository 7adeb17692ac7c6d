"""Cells: the smallest pieces of an experiment, each with a key that says all its result depends on."""

from __future__ import annotations

import hashlib
import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

# Raise it when the meaning of a stored result changes: then every cell is computed anew.
RESULT_FORMAT = 1

Shared = TypeVar("Shared")


@dataclass(frozen=True)
class Cell:
    """One data set, setting, repeat and method.

    Parameters
    ----------
    dataset : its name.
    setting : scenario parameters, e.g. ``{"label_frequency": 0.5}``.
    repeat : number from 0.
    method : label of the method in the experiment.
    settings : everything that determines the result, as JSON values; `key` is its hash.
    group : cells of one group see the same rows, and run in one worker one after the other.
    n_fits : fits that tuning will take, without a refinement whose length is not known in advance.
    open_ended : whether such a refinement follows.
    """

    dataset: str
    setting: Mapping[str, Any]
    repeat: int
    method: str
    settings: Mapping[str, Any]
    group: str
    n_fits: int = 1
    open_ended: bool = False
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", settings_key(self.settings))

    @property
    def protocol(self) -> str:
        """Name of the protocol that planned the cell and runs it."""
        return str(self.settings["protocol"][0])


@dataclass
class CellResult:
    """What a protocol returns for a cell; every value is a JSON value, numbers may be NaN.

    Parameters
    ----------
    metrics : on the test rows, as fractions.
    params : the chosen constructor parameters.
    trials : every trial of the tuning, by column: name -> list.
    certificate : objective, dual_gap, residual, n_iter, converged, as far as the method has them.
    seconds : tune, fit, predict.
    status : "done" or "failed"; a failed cell has its reason in `error`.
    notes : what a reader should know, in words.
    flags : short words that the table counts, e.g. "not converged".
    n_fits : fits of the tuning.
    details : further values that a protocol wants kept (JSON), e.g. curves.
    """

    metrics: dict[str, float] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    trials: dict[str, list] = field(default_factory=dict)
    certificate: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    status: str = "done"
    error: str = ""
    notes: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    n_fits: int = 0
    details: dict[str, Any] = field(default_factory=dict)


@dataclass
class Context:
    """What the cells of a group share in their worker.

    Parameters
    ----------
    mirror, offline : where data files may come from.
    cache : lives as long as the group; a protocol keeps here what its cells share (data, split, graphs, kernels).
    """

    mirror: str | None = None
    offline: bool | None = None
    cache: dict[Any, Any] = field(default_factory=dict)

    def shared(self, cell: Cell, prepare: Callable[[Cell, Context], Shared]) -> Shared:
        """Return what the cells of `cell.group` share; `prepare` makes it for the first, and other groups' is dropped.

        Parameters
        ----------
        cell : Cell
            Any cell of the group.
        prepare : callable
            Takes the cell and this context.

        Returns
        -------
        Shared
            What `prepare` returned.
        """
        if cell.group not in self.cache:
            self.cache.clear()
            self.cache[cell.group] = prepare(cell, self)
        found: Shared = self.cache[cell.group]
        return found


def settings_key(settings: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the settings written in one canonical way (sorted keys, shortest numbers)."""
    return hashlib.sha256(canonical_json({"result_format": RESULT_FORMAT, **settings}).encode()).hexdigest()


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys; 1.0 and 1 are the same number, as they are in YAML."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return int(value)
    return value


def json_values(value: Any) -> Any:
    """Return `value` as strict JSON: NaN and infinity become null, NumPy values become numbers and lists."""
    if isinstance(value, Mapping):
        return {str(key): json_values(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_values(item) for item in value]
    if hasattr(value, "tolist"):
        return json_values(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def protocol_module(name: str) -> types.ModuleType:
    """Return the module `pucli.protocols.<name>.protocol`; the error suggests the nearest names."""
    import importlib
    import pkgutil

    from pucli.errors import unknown

    # by name: the layer above, which this one does not import
    package = importlib.import_module("pucli.protocols")
    names = [module.name for module in pkgutil.iter_modules(package.__path__) if module.ispkg]
    if name not in names:
        raise unknown("protocol", name, names)
    return importlib.import_module(f"{package.__name__}.{name}.protocol")
