"""Options of the form ``K=V``: parameters and grids of a method, and kinds of columns."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

from pucli.core.errors import UsageError, unknown
from pucli.data.reading import normal


def scalar(text: str) -> Any:
    """Return `text` as a YAML scalar: a number, true, false, null or text. Here, ``1e-3`` is a number."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    import yaml

    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, AttributeError):
        return text
    return value if isinstance(value, (bool, type(None))) else text


def assignments(option: str, items: Iterable[str]) -> dict[str, str]:
    """Return the ``K=V`` items of an option as a dict of strings."""
    result: dict[str, str] = {}
    for item in items:
        key, sign, value = item.partition("=")
        if not sign or not key.strip():
            raise UsageError(f"{option} {item}: write it as NAME=VALUE, e.g. {option} lam=0.1.")
        if key.strip() in result:
            raise UsageError(f"{option} {key.strip()} is given twice; keep one.")
        result[key.strip()] = value.strip()
    return result


def column_kinds(items: Sequence[str] | None) -> dict[str, str]:
    """Return the ``COLUMN=KIND`` items of --as; a column name may contain an equals sign."""
    found: dict[str, str] = {}
    for item in items or ():
        name, sign, kind = item.rpartition("=")
        if not sign or not name:
            raise UsageError(f"--as {item}: write it as COLUMN=KIND, e.g. --as zip=category.")
        found[normal(name)] = kind.strip()
    if found:
        from pucli.data.columns.kinds import check_kind

        for name, kind in found.items():
            check_kind(name, kind)
    return found


def method_parameters(method: str, items: Sequence[str] | None) -> dict[str, Any]:
    """Return the parsed ``--param`` items after checking that `method` has these parameters, and such values."""
    from pucli.methods import check_value

    given = assignments("--param", items or ())
    check_names(method, given)
    found = {key: _value(method, key, value) for key, value in given.items()}
    for key, value in found.items():
        try:
            check_value(method, key, value)
        except UsageError as error:
            raise UsageError(f"--param {key}={given[key]}: {error}") from None
    return found


def method_grid(method: str, items: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the parsed ``--grid K=v1,v2`` items, or None without any. A single word may name a series."""
    given = assignments("--grid", items or ())
    if not given:
        return None
    check_names(method, given)
    grid: dict[str, Any] = {}
    for key, text in given.items():
        values = [_value(method, key, v.strip()) for v in text.split(",") if v.strip()]
        if not values:
            raise UsageError(f"--grid {key}= has no value; write it as --grid {key}=0.1,1,10.")
        grid[key] = _checked_grid(method, key, text, values)
    return grid


def _checked_grid(method: str, key: str, text: str, values: list[Any]) -> list[Any] | str:
    """Return the values of a grid, or the name of its series, after checking that the parameter may have them."""
    from pucli.methods import check_value
    from pucli.tuning.grids import SERIES

    try:
        for value in SERIES.get(text, values):
            check_value(method, key, value)
    except UsageError as error:
        series = f"; the series of numbers are {', '.join(SERIES)}" if values == [text] and text not in SERIES else ""
        raise UsageError(f"--grid {key}={text}: {error}{series}") from None
    return text if text in SERIES else values


def _value(method: str, name: str, text: str) -> Any:
    """Return the value in `text` with the type of the default: of a float ``1`` is one, of a tuple ``64`` is one."""
    from pucli.models.fitting import estimator_of

    default = inspect.signature(estimator_of(method)).parameters[name].default
    if isinstance(default, tuple):
        return tuple(scalar(part.strip()) for part in text.strip("()[]").split(",") if part.strip())
    value = scalar(text)
    return float(value) if isinstance(default, float) and type(value) is int else value


def check_names(method: str, names: Iterable[str]) -> None:
    """Raise UsageError, with the nearest names, for a name that is not a parameter of `method`."""
    from pucli.models.fitting import estimator_of

    known = estimator_of(method)._get_param_names()
    for name in names:
        if name not in known:
            raise unknown("parameter", name, known, of=method)
