"""Descriptions in words of parameter ranges, from the constraints that an estimator declares for scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions, make_constraint

_WORDS = {"boolean": "true or false", "random_state": "a seed, a whole number from 0 to 4294967295", "None": "null"}


def allowed_values(constraints: Sequence[Any]) -> str:
    """Return the values that one of the constraints allows.

    Examples
    --------
    >>> from numbers import Real
    >>> allowed_values([Interval(Real, 0, None, closed="neither"), StrOptions({"median"})])
    "a number above 0 or 'median'"
    """
    return " or ".join(_in_words(constraint) for constraint in constraints)


def _in_words(constraint: Any) -> str:
    if isinstance(constraint, Interval):
        return _interval(constraint)
    if isinstance(constraint, StrOptions):
        return " or ".join(map(repr, sorted(constraint.options)))
    if str(constraint) in _WORDS:
        return _WORDS[str(constraint)]
    if isinstance(constraint, type):
        names = {"Integral": "a whole number", "Real": "a number", "str": "a text", "int": "a whole number"}
        return names.get(constraint.__name__, f"a {constraint.__name__}")
    return str(make_constraint(constraint))


def _interval(interval: Interval) -> str:
    kind = "a whole number" if interval.type is Integral else "a number"
    bounds = []
    if interval.left is not None:
        bounds.append(f"{'of at least' if interval.closed in ('left', 'both') else 'above'} {interval.left:g}")
    if interval.right is not None:
        bounds.append(f"{'of at most' if interval.closed in ('right', 'both') else 'below'} {interval.right:g}")
    return " ".join([kind, " and ".join(bounds)]).strip()
