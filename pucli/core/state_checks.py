"""Checks of arrays of saved objects that relate one number to another, beyond shapes and ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


class StateError(ValueError):
    """An attribute is not as its class declares it."""


def check_svc(state: Mapping[str, Any], where: str) -> None:
    """Raise StateError unless the counts and numbers of the support vectors are those of the arrays."""
    support, counts, rows = state["support_"], state["_n_support"], state["shape_fit_"][0]
    if counts.sum() != len(support):
        raise StateError(f"{where}._n_support is not that of {len(support)} support vectors")
    if len(support) and support.max() >= rows:
        raise StateError(f"{where}.support_ has a row beyond the last")


def check_ascending(values: Any, start: Any, where: str) -> None:
    """Raise StateError unless the parts of an array that begin at `start` ascend.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Concatenated parts.
    start : ndarray of int
        Index of the first number of each part.
    where : str
        Name of the array, for the message.

    Raises
    ------
    StateError
        If a number is less than the one before it in the same part.
    """
    steps = np.diff(values) < 0
    borders = np.zeros(len(steps), dtype=bool)
    inner = start[(start > 0) & (start < len(values))]
    borders[inner - 1] = True
    if (steps & ~borders).any():
        raise StateError(f"{where} does not ascend")


def check_starts(start: Any, length: int, where: str) -> None:
    """Raise StateError unless `start` divides an array of `length` numbers into parts, which may be empty.

    Parameters
    ----------
    start : ndarray of int of shape (parts + 1,)
        Index of the first number of each part, then `length`.
    length : int
        Length of the array that is divided.
    where : str
        Name of `start`, for the message.

    Raises
    ------
    StateError
        If `start` does not begin at 0, descends, or does not end at `length`.
    """
    if len(start) < 1 or start[0] != 0 or start[-1] != length or (np.diff(start) < 0).any():
        raise StateError(f"{where} does not divide {length} numbers")
