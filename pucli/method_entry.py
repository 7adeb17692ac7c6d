"""An entry in the list of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

KINDS = ("pu", "semi-supervised", "clustering", "density")


@dataclass(frozen=True)
class Method:
    """A method of pucli or of an installed package.

    Parameters
    ----------
    name : command-line name.
    estimator : ``"module:Class"``, imported when first needed.
    kind : "pu" (y marks labelled positives), "semi-supervised" (-1 marks unlabeled rows), "clustering" (predicts
        clusters; optional labels mark rows of the same cluster) or "density" (needs no labels).
    source : document and equations.
    params : constructor parameters that this entry fixes.
    grid : default tuning grid, parameter -> values or the name of a series (see `pucli.tuning.grids`).
    regularisation : parameter -> -1 if larger values regularise more, +1 if smaller values do, in order of comparison;
        ties of a tuning score go to the more regularised point.
    ridge : the parameter meant by "the strongest ridge" of a tuning rule.
    refine : parameters that the refinement after a grid may move.
    path : ``"module:Class"``, the route that shares work between the points of a grid (`pucli.tuning.paths`), or "".
    prior : description of what a method that uses a class prior does without one; "" if it uses none.
    extra : the optional dependency it needs ("deep"), or "".
    tried : the most rows with a committed run, and where, for methods that benchmark `scale` does not train; or "".
    version : increased when the results of the method change; part of the key of every cell.
    former_defaults : constructor parameter -> its value if the key of a cell omits it, see `pucli.former_defaults`.
    package, package_version : the installed package that provides it, "" for methods of pucli; for a ``module:Class``,
        the module and the hash of its file.
    """

    name: str
    estimator: str
    kind: str
    source: str
    params: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Any] = field(default_factory=dict)
    regularisation: Mapping[str, int] = field(default_factory=dict)
    ridge: str = "lam"
    refine: Sequence[str] = ()
    path: str = ""
    prior: str = ""
    extra: str = ""
    tried: str = ""
    version: int = 1
    former_defaults: Mapping[str, Any] = field(default_factory=dict)
    package: str = ""
    package_version: str = ""

    @property
    def origin(self) -> str:
        """Return package and version, or the hash of the file; "" for a method of pucli."""
        if ":" in self.name:
            return f"sha256 {self.package_version[:16]}"
        return f"{self.package} {self.package_version}" if self.package else ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"the method {self.name!r} is of the kind {self.kind!r}; there are {', '.join(KINDS)}.")
        if ":" not in self.estimator:
            raise ValueError(
                f"the method {self.name!r}: write its estimator as 'module:Class', got {self.estimator!r}."
            )
