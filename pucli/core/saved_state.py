"""Declarations of the type, shape and range of every fitted attribute, checked when model files are read or written.

A class declares its attributes in ``saved_state``, in addition to those of its bases. `check_state` compares an object
with the declaration before any computation: compiled code reads outside an array whose shape is wrong, and does not
stop where a tree leads back to itself. A class checks conditions beyond shapes and ranges in a method ``_check_saved``.

A word in a shape is a size: "m" is the number of features and "K" that of classes in all parts of a model; any other
word has one value per object.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np

from pucli.core.state_checks import StateError as StateError
from pucli.core.state_checks import check_ascending as check_ascending
from pucli.core.state_checks import check_parameters, check_svc, parameters_of
from pucli.core.state_checks import check_starts as check_starts

# Numbers of a model are at most so large: products with features are numbers, too.
LARGEST = 1e200
SHARED = ("m", "K")
Sizes: TypeAlias = dict[str, int]
State: TypeAlias = Mapping[str, Any]


class Kind:
    """What a value may be. `items` are words, sizes, names of classes or other kinds, if it is made of several."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        """Raise StateError for another value."""
        self._check(value, where, sizes)

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        """Accept every value."""


@dataclass(frozen=True)
class Scalar(Kind):
    """A number from `low` to `high`; None or one that is not finite only if that is allowed."""

    low: float = -LARGEST
    high: float = LARGEST
    finite: bool = True
    none: bool = False

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if value is None and self.none:
            return
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise StateError(f"{where} is not a number")
        if not math.isfinite(value):
            if self.finite:
                raise StateError(f"{where} is not finite")
        elif not self.low <= value <= self.high:
            raise StateError(f"{where} is out of range")


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number from `low` to `high`, which is a size of the object if `size` names one."""

    low: int = 0
    high: int = 2**63 - 1
    size: str = ""

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
            raise StateError(f"{where} is not a whole number")
        if not self.low <= value <= self.high:
            raise StateError(f"{where} is out of range")
        if self.size:
            _match((int(value),), (self.size,), where, sizes)


@dataclass(frozen=True)
class Flag(Kind):
    """True or False; `value` if only that is allowed."""

    value: bool | None = None

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, (bool, np.bool_)) or (self.value is not None and bool(value) != self.value):
            raise StateError(f"{where} is not {'True or False' if self.value is None else self.value}")


class TextValue(Kind):
    """A text; one of `words` if there are any."""

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, str) or (self.items and value not in self.items):
            raise StateError(f"{where} is not {' or '.join(self.items) or 'text'}")


class Array(Kind):
    """An array with this shape and dtype and numbers from `low` to `high`.

    Parameters
    ----------
    *shape : int or str
        A number, or the name of a size.
    dtype : str, default="f8"
        One or several, separated by blanks.
    low, high : float
        Least and largest value.
    finite : bool, default=True
        Whether NaN and infinities are refused.
    """

    def __init__(
        self, *shape: int | str, dtype: str = "f8", low: float = -LARGEST, high: float = LARGEST, finite: bool = True
    ) -> None:
        self.shape, self.low, self.high, self.finite = shape, low, high, finite
        self.dtypes = tuple(np.dtype(name) for name in dtype.split())

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype not in self.dtypes:
            raise StateError(f"{where} is not an array of {self.dtypes[0]}")
        _match(value.shape, self.shape, where, sizes)
        if value.dtype.kind == "b" or not value.size:
            return
        known = value[np.isfinite(value)] if value.dtype.kind == "f" else value
        if self.finite and known.size != value.size:
            raise StateError(f"{where} has numbers that are not finite")
        if known.size and not (self.low <= known.min() and known.max() <= self.high):
            raise StateError(f"{where} has numbers out of range")


class Labels(Kind):
    """An array of distinct labels: numbers, booleans or words."""

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufUO":
            raise StateError(f"{where} is not an array of labels")
        _match(value.shape, self.items, where, sizes)
        labels = value.tolist()
        if any(not isinstance(label, (bool, int, float, str)) or label != label for label in labels):
            raise StateError(f"{where} has values that are no labels")
        if len(set(labels)) != len(labels):
            raise StateError(f"{where} has a label twice")


class Names(Kind):
    """An array or list of texts."""

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, (np.ndarray, list)) or not all(isinstance(item, str) for item in value):
            raise StateError(f"{where} is not a list of texts")
        _match((len(value),), self.items, where, sizes)


class Parts(Kind):
    """A tuple or list with these parts."""

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, (tuple, list)) or len(value) != len(self.items):
            raise StateError(f"{where} has not {len(self.items)} parts")
        for number, (part, item) in enumerate(zip(self.items, value, strict=True)):
            part.check(item, f"{where}[{number}]", sizes)


class Either(Kind):
    """What one of several declarations allows."""

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        errors = []
        for item in self.items:
            try:
                item.check(value, where, sizes)
            except StateError as error:
                errors.append(error)
        if len(errors) == len(self.items):
            raise errors[-1]


@dataclass(frozen=True)
class Each(Kind):
    """A list or tuple of any length, or a dict with texts as keys, whose values are all of one kind."""

    item: Any
    at_least: int = 0

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, (list, tuple, dict)) or len(value) < self.at_least:
            raise StateError(f"{where} is not a list of {self.at_least} parts or more")
        pairs: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in pairs:
            if isinstance(value, dict) and not isinstance(key, str):
                raise StateError(f"{where} has a key that is no text")
            self.item.check(item, f"{where}[{key!r}]", sizes)


class Entries(Kind):
    """A dict with these entries."""

    def __init__(self, **entries: Any) -> None:
        self.entries = entries

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, dict) or set(value) != set(self.entries):
            raise StateError(f"{where} has not the entries {', '.join(self.entries)}")
        for key, entry in self.entries.items():
            entry.check(value[key], f"{where}[{key!r}]", sizes)


@dataclass(frozen=True)
class Layers(Kind):
    """A network as (weights, offsets, hidden activation, output activation), its layers one behind the other."""

    inputs: str
    outputs: str

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        parts = Each(Plain(), 1), Each(Plain(), 1), TextValue("relu", "elu"), TextValue("linear", "tanh", "sigmoid")
        Parts(*parts).check(value, where, sizes)
        weights, offsets = value[:2]
        if len(weights) != len(offsets):
            raise StateError(f"{where} has not one offset for each layer")
        names = [self.inputs, *(f"{where} {k}" for k in range(1, len(weights))), self.outputs]
        for k, (weight, offset) in enumerate(zip(weights, offsets, strict=True)):
            Array(names[k + 1], names[k]).check(weight, f"{where} weights {k}", sizes)
            Array(names[k + 1]).check(offset, f"{where} offsets {k}", sizes)


class Nested(Kind):
    """An object of one of these classes, by name, which has a declaration of its own.

    With `features`, it has that number of features, a size of the object that holds it, instead of "m".
    """

    def __init__(self, *items: str, features: str = "m") -> None:
        super().__init__(*items)
        self.features = features

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if self.features != "m":
            inner = {"m": sizes[self.features]} if self.features in sizes else {}
            Nested(*self.items).check(value, where, inner)
            _match((inner.get("m", -1),), (self.features,), where, sizes)
            return
        if self.items and type(value).__name__ not in self.items:
            raise StateError(f"{where} is not a {' or '.join(self.items)}")
        if type(value).__module__ == "builtins":
            raise StateError(f"{where} is not an object of a model")
        check_state(value, where, sizes)


class Plain(Kind):
    """Any value of numbers, texts, lists, dicts and arrays, on which no computation depends."""

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if value is None or isinstance(value, (bool, int, float, str, np.ndarray, np.generic)):
            return
        if not isinstance(value, (list, tuple, dict)):
            raise StateError(f"{where} is an object")
        for item in value.values() if isinstance(value, dict) else value:
            self.check(item, where, sizes)


class Unsaved(Kind):
    """An attribute that model files leave out; any value."""


@dataclass(frozen=True)
class Optional(Kind):
    """None, or something else."""

    item: Any

    def _check(self, value: Any, where: str, sizes: Sizes) -> None:
        if value is not None:
            self.item.check(value, where, sizes)


# Statements about a solution, which nothing depends on, may be NaN or infinite.
STATEMENT = Scalar(-math.inf, math.inf, finite=False)
# Shares, with a margin for rounding; the second may be unknown.
PORTION = Scalar(-1e-9, 1.0 + 1e-9)
ANY_PORTION = Scalar(-1e-9, 1.0 + 1e-9, finite=False)
AT_LEAST_ZERO = Scalar(0.0)
ABOVE_ZERO = Scalar(1.0 / LARGEST)
# Attributes that scikit-learn sets on every estimator.
COMMON = {
    "n_features_in_": Whole(1, size="m"),
    "feature_names_in_": Names("m"),
    "_sklearn_version": TextValue(),
    "_sklearn_output_config": Plain(),
}
# The classes of scikit-learn that a model file may hold.
_OF_SKLEARN: Mapping[str, State] = {
    "sklearn.preprocessing._data.StandardScaler": {
        "mean_": Array("m"),
        "var_": Array("m", low=0.0),
        "scale_": Array("m", low=1.0 / LARGEST),
        "n_samples_seen_": Plain(),
    },
    "sklearn.svm._classes.SVC": {
        "kernel": TextValue("linear", "rbf"),
        "_sparse": Flag(False),
        "_effective_probability": Flag(False),
        "class_weight_": Array(2, low=0.0),
        "classes_": Labels(2),
        "_gamma": Scalar(0.0),
        "nu": Plain(),
        "epsilon": Plain(),
        "support_": Array("s", dtype="i4", low=0),
        "support_vectors_": Array("s", "m"),
        "_n_support": Array(2, dtype="i4", low=0),
        "dual_coef_": Array(1, "s"),
        "_dual_coef_": Array(1, "s"),
        "intercept_": Array(1),
        "_intercept_": Array(1),
        "_probA": Array(0),
        "_probB": Array(0),
        "fit_status_": Whole(0, 1),
        "_num_iter": Array(1, dtype="i4", low=0),
        "n_iter_": Array(1, dtype="i4", low=0),
        "shape_fit_": Parts(Whole(1), Whole(1, size="m")),
    },
    "sklearn.mixture._gaussian_mixture.GaussianMixture": {
        "covariance_type": TextValue("full", "tied", "diag", "spherical"),
        "converged_": Flag(),
        "weights_": Array("S", low=0.0, high=1.0 + 1e-9),
        "means_": Array("S", "m"),
        "covariances_": Plain(),
        "precisions_": Plain(),
        "precisions_cholesky_": Plain(),
        "lower_bound_": STATEMENT,
        "lower_bounds_": Each(STATEMENT),
        "n_iter_": Whole(),
    },
}


def declared_state(kind: type) -> dict[str, Any] | None:
    """Return the declarations of a class and its bases, or None if there are none."""
    own = _OF_SKLEARN.get(f"{kind.__module__}.{kind.__qualname__}")
    if own is not None:
        return {**COMMON, **own}
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        found |= vars(base).get("saved_state", {})
    return {**COMMON, **found} if found else None


def check_state(value: Any, where: str, sizes: Sizes | None = None) -> None:
    """Raise StateError unless the attributes of an object are as its class declares them.

    A class of another package may have attributes of plain values that are not declared.
    """
    kind = type(value)
    declared = declared_state(kind)
    if declared is None and kind.__module__.split(".")[0] in ("pucli", "sklearn"):
        raise StateError(f"{where} is a {kind.__name__}, which declares no `saved_state`")
    here = {name: size for name, size in (sizes or {}).items() if name in SHARED}
    state, parameters = vars(value), parameters_of(kind)
    first = [name for name in ("n_features_in_", "classes_") if name in state]
    for name in [*first, *(name for name in state if name not in first)]:
        field = (declared or {}).get(name)
        if field is None and name not in parameters and kind.__module__.startswith("pucli."):
            raise StateError(f"{where}.{name} is not declared in `saved_state` of {kind.__name__}")
        (field or Plain()).check(state[name], f"{where}.{name}", here)
    check_parameters(value, where)
    if is_dataclass(value) and (missing := [item.name for item in fields(value) if item.name not in state]):
        raise StateError(f"{where} has no {missing[0]}")
    if hasattr(value, "_check_saved"):
        value._check_saved(where, here)
    elif kind.__name__ == "SVC":
        check_svc(state, where)
    if sizes is not None:
        sizes.update({name: size for name, size in here.items() if name in SHARED})


def _match(found: tuple[int, ...], shape: tuple[int | str, ...], where: str, sizes: Sizes) -> None:
    """Raise StateError unless a shape is as declared; sizes not known before are recorded."""
    wanted = tuple(sizes.setdefault(size, length) if isinstance(size, str) else size
                   for size, length in zip(shape, found, strict=False))  # fmt: skip
    if len(found) != len(shape) or found != wanted:
        raise StateError(f"{where} has the shape {found} instead of {tuple(sizes.get(str(s), s) for s in shape)}")
