"""The declaration of a method: everything that is known of it outside its solver and its estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Parameter -> conditions, one of which must hold; a condition holds if each of its parameters has one of the values.
Conditions = Mapping[str, tuple[Mapping[str, tuple[Any, ...]], ...]]

KINDS = ("pu", "semi-supervised", "clustering", "density")
# The names of the colours of figures (`pucli.report.figures.style`), which can be told apart by the colour-blind.
COLOURS = ("blue", "orange", "green", "red", "purple", "sky", "wine", "grey")


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
    needs : parameter -> the values of others with which alone it has an effect (`pucli.methods.effects`).
    sparse : the parameters, as text, with which it computes on sparse rows; None if it never does.
    kernel_copies : how many matrices of n x n numbers a fit to n rows holds at once, as measured; 0 without such.
    on_features : whether its model with an RBF kernel is its linear model on features of that kernel, on which tuning
        with many rows then works (`pucli.tuning.stages`).
    features_path : the route on such features, if it is not `path`.
    cubic : whether a step on such features costs the cube of their number.
    colour : one of `COLOURS`, or "" for one that is derived from the name.
    when, when_not : a sentence each on when to take it, and when not.
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
    needs: Conditions = field(default_factory=dict)
    sparse: Mapping[str, str] | None = None
    kernel_copies: int = 0
    on_features: bool = False
    features_path: str = ""
    cubic: bool = False
    colour: str = ""
    when: str = ""
    when_not: str = ""
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
        if self.colour and self.colour not in COLOURS:
            raise ValueError(f"the method {self.name!r}: no colour {self.colour!r}; there are {', '.join(COLOURS)}.")
        if ":" not in self.estimator:
            raise ValueError(
                f"the method {self.name!r}: write its estimator as 'module:Class', got {self.estimator!r}."
            )
