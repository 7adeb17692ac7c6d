"""Ranges of constructor parameters, in the form that scikit-learn validates, and the types of labels in `y`."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

Constraints: TypeAlias = Mapping[str, list[Any]]
Label: TypeAlias = bool | int | float | str
RandomState: TypeAlias = int | np.random.RandomState | None


class NumberIn(Interval):
    """A number in an interval; True and False are not numbers."""

    def is_satisfied_by(self, val: object) -> bool:
        """Return whether `val` is such a number."""
        return (
            isinstance(val, int | float | np.number)
            and not isinstance(val, bool)
            and bool(super().is_satisfied_by(val))
        )


POSITIVE = NumberIn(Real, 0, None, closed="neither")
NOT_NEGATIVE = NumberIn(Real, 0, None, closed="left")
PROPORTION = NumberIn(Real, 0, 1, closed="neither")
THRESHOLD = [NumberIn(Real, None, None, closed="neither"), None]
SHARE = NumberIn(Real, 0, 1, closed="both")
FROM_ZERO = NumberIn(Integral, 0, None, closed="left")
FROM_ONE = NumberIn(Integral, 1, None, closed="left")
FROM_TWO = NumberIn(Integral, 2, None, closed="left")


def number_given(value: object) -> float | None:
    """Return the value of a parameter that is a number of any type, None if it is a word or not given."""
    return float(value) if isinstance(value, int | float | np.number) else None


def one_of(*names: str) -> StrOptions:
    """Return the constraint of a parameter that must be one of these words."""
    return StrOptions(set(names))


# A number, or the word for one that is computed from the rows (`pucli.estimators.base.data_defaults`).
RIDGE = [POSITIVE, one_of("scale")]
WEIGHT = [POSITIVE, one_of("balanced")]
WIDTH = [POSITIVE, one_of("median")]
