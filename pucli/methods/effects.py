"""Parameters that have no effect beside the other values given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pucli.methods import constructor_defaults, get_method


def without_effect(method: str, given: Collection[str], params: Mapping[str, Any]) -> list[str]:
    """Return the given parameters of a method that have no effect, with the reason.

    Examples
    --------
    >>> without_effect("glpual", ["width"], {"width": 9.0})
    ['width has no effect: glpual uses it only with kernel=rbf, and kernel is linear.']
    >>> without_effect("glpual", ["width"], {"width": 9.0, "kernel": "rbf"})
    []
    """
    entry = get_method(method)
    values = {**constructor_defaults(entry), **params}
    found = []
    for name in given:
        conditions = entry.needs.get(name, ())
        if conditions and not any(all(_meets(one, other, values) for other in one) for one in conditions):
            needed = " or ".join(_text(condition, values) for condition in conditions)
            others = dict.fromkeys(
                other for condition in conditions for other in condition if not _meets(condition, other, values)
            )
            present = ", ".join(
                f"{other} is {'not given' if values[other] is None else values[other]}" for other in others
            )
            found.append(f"{name} has no effect: {method} uses it only with {needed}, and {present}.")
    return found


def _meets(condition: Mapping[str, Sequence[Any]], other: str, values: Mapping[str, Any]) -> bool:
    """Return whether the parameter `other`, or one of its values in a grid, is one that the condition asks for."""
    if other not in values:  # a method of a family that lacks it
        return True
    value = values[other]
    return any(one in condition[other] for one in (value if isinstance(value, list) else [value]))


def _text(condition: Mapping[str, Sequence[Any]], values: Mapping[str, Any]) -> str:
    parts = []
    for other, allowed in condition.items():
        if other in values:
            parts.append(f"no {other}" if [*allowed] == [None] else f"{other}={' or '.join(map(str, allowed))}")
    return " and ".join(parts)
