"""The entry of a method: its declaration outside its solver and its estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Parameter -> conditions, one of which must hold; a condition holds if each of its parameters has one of the values.
Conditions = Mapping[str, Sequence[Mapping[str, Sequence[Any]]]]

KINDS = ("pu", "semi-supervised", "clustering", "density")
# The names of the colors of figures (`pucli.report.figures.style`), which color-blind readers can distinguish.
COLORS = ("blue", "orange", "green", "red", "purple", "sky", "wine", "gray")


@dataclass(frozen=True)
class Method:
    """A method of pucli or of an installed package.

    Parameters
    ----------
    name : str
        Name on the command line.
    estimator : str
        ``"module:Class"``, imported when first needed.
    kind : {"pu", "semi-supervised", "clustering", "density"}
        "pu": y marks labeled positives. "semi-supervised": -1 marks unlabeled rows. "clustering": the method predicts
        clusters, and optional labels mark rows of the same cluster. "density": it needs no labels.
    source : str
        Document and equations.
    params : mapping, optional
        Constructor parameters that this entry fixes.
    grid : mapping, optional
        Default tuning grid: parameter -> values or the name of a series (see `pucli.tuning.grids`).
    regularization : mapping of {str: int}, optional
        Parameter -> -1 if larger values regularize more, +1 if smaller values do, in order of comparison; ties of a
        tuning score go to the more regularized point.
    ridge : str, default="lam"
        Parameter meant by "the strongest ridge" of a tuning rule.
    refine : sequence of str, optional
        Parameters that the refinement after a grid may move.
    path : str, default=""
        ``"module:Class"``, the route that shares work between the points of a grid (`pucli.tuning.paths`).
    prior : str, default=""
        Behavior without a given class prior; "" for methods that use none.
    extra : str, default=""
        Optional dependency that the method needs, such as "deep".
    tried : str, default=""
        Largest number of rows with a committed run, and where, for methods that benchmark `scale` does not train.
    version : int, default=1
        Increased when the results of the method change; part of the key of every cell.
    needs : mapping, optional
        Parameter -> the values of other parameters without which it has no effect (`pucli.methods.effects`).
    sparse : mapping or None, default=None
        Parameters, as text, with which the method computes on sparse rows; None if it never does.
    kernel_copies : int, default=0
        Measured number of n x n matrices that a fit to n rows holds at once.
    on_features : bool, default=False
        Whether the model with an RBF kernel is the linear model on features of that kernel; tuning with many rows then
        uses these features (`pucli.tuning.stages`).
    features_path : str, default=""
        Route on such features, if it is not `path`.
    cubic : bool, default=False
        Whether a step on such features costs the cube of their number.
    color : str, default=""
        One of `COLORS`; by default derived from the name.
    without_negatives : str, default="the method cannot learn from known negatives"
        Why the method cannot learn from known negatives; "" if its `fit` takes them.
    when, when_not : str, default=""
        A sentence each on when to use the method, and when not to.
    package, package_version : str, default=""
        Installed package that provides the method, "" for methods of pucli; for a ``module:Class``, the module and the
        hash of its file.
    """

    name: str
    estimator: str
    kind: str
    source: str
    params: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Any] = field(default_factory=dict)
    regularization: Mapping[str, int] = field(default_factory=dict)
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
    color: str = ""
    without_negatives: str = "the method cannot learn from known negatives"
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
        if self.color and self.color not in COLORS:
            raise ValueError(f"the method {self.name!r}: no color {self.color!r}; there are {', '.join(COLORS)}.")
        if ":" not in self.estimator:
            raise ValueError(
                f"the method {self.name!r}: write its estimator as 'module:Class', got {self.estimator!r}."
            )
