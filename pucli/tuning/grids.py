"""Grids: named series, expansion, and the order of points by regularization, which breaks ties."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from pucli.core.errors import UsageError, unknown

SERIES: dict[str, list[float]] = {
    # Wang 2024, section 3.6.4: 10^-4 ... 10^4.
    "decades": [float(f"1e{k}") for k in range(-4, 5)],
    # Wang 2024, section 3.4.3: {1, ..., 5} x {0.1, 1, 10, 100}, and {0.01, 0.02, ..., 0.5}.
    "fives": sorted({round(a * b, 10) for a in (1, 2, 3, 4, 5) for b in (0.1, 1.0, 10.0, 100.0)}),
    "hundredths": [round(0.01 * k, 2) for k in range(1, 51)],
}


def resolve(grid: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the grid with named series replaced by their values; each parameter needs at least one value."""
    resolved = {}
    for key, values in grid.items():
        if isinstance(values, str):
            if values not in SERIES:
                raise unknown("grid series", values, SERIES)
            values = SERIES[values]
        elif not isinstance(values, Sequence):
            values = [values]
        if not values:
            raise UsageError(f"grid of {key!r} is empty: give at least one value.")
        resolved[key] = list(values)
    return resolved


def expand(grid: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all points of a grid in the order of its keys, the last of which varies fastest."""
    resolved = resolve(grid)
    return [dict(zip(resolved, values, strict=True)) for values in itertools.product(*resolved.values())]


def regularization_key(point: Mapping[str, Any], order: Mapping[str, int]) -> tuple[Any, ...]:
    """Return a sort key that puts the more regularized point first, in the `order` of `Method.regularization`.

    All other parameters follow by name, smaller values first. The order of values in the grid does not matter.
    """
    known = [order[k] * float(point[k]) for k in order if isinstance(point.get(k), int | float)]
    others = sorted((k, str(v)) for k, v in point.items() if k not in order)
    return (*known, *others)
