"""Python and NumPy values as strict JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def json_values(value: Any) -> Any:
    """Return `value` as strict JSON: NumPy values unpacked, NaN and infinity as null, other objects as text."""
    if isinstance(value, Mapping):
        return {str(key): json_values(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(json_values, value), key=repr)  # the order of a set differs from process to process
    if isinstance(value, (list, tuple)):
        return [json_values(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return json_values(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)
