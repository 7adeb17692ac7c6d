"""Python and NumPy values, and dataclasses of them, as strict JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

# A number that may be NaN, which is null in JSON.
if TYPE_CHECKING:
    OrNaN = float
else:
    OrNaN = float | None


def json_values(value: Any) -> Any:
    """Return `value` as strict JSON: NumPy values unpacked, NaN and infinity as null, other objects as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_values(getattr(value, field.name)) for field in fields(value)}
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
