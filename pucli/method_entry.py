"""What the list of methods says of one method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

KINDS = ("pu", "semi-supervised", "clustering", "density")


@dataclass(frozen=True)
class Method:
    """One method.

    Parameters
    ----------
    name : command-line name.
    estimator : ``"module:Class"``, imported when first needed.
    kind : "pu" (y marks labelled positives), "semi-supervised" (-1 marks unlabeled rows), "clustering" (answers
        clusters; labels, if any, say which rows belong together) or "density" (learns from no labels).
    source : document and equations.
    params : constructor parameters that this entry fixes.
    grid : default tuning grid, parameter -> values or the name of a series (see `pucli.tuning.grids`).
    regularisation : parameter -> -1 where larger values regularise more, +1 where smaller ones do, in the order in
        which points are compared; ties of a tuning score go to the more regularised point.
    ridge : the parameter that "the strongest ridge" of a tuning rule means.
    refine : parameters that the refinement after a grid may move.
    path : ``"module:Class"``, the route that shares work between the points of a grid (`pucli.tuning.paths`), or "".
    prior : where the method takes a class prior, what it does without one, in words; "" if it takes none.
    extra : the optional dependency it needs ("deep"), "" if none.
    version : raise it when the results of the method change; it is part of every cell's key.
    former_defaults : constructor parameter -> what it means when a cell's key leaves it out, see
        `pucli.former_defaults`.
    package, package_version : the installed package that offers it, "" for our own; set when it is found. Of a
        ``module:Class`` the module, and the hash of its file.
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
    version: int = 1
    former_defaults: Mapping[str, Any] = field(default_factory=dict)
    package: str = ""
    package_version: str = ""

    @property
    def origin(self) -> str:
        """Package and version, or the hash of the file, of a method that is not ours; "" for one that is."""
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
