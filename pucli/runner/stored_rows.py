"""Checks of the rows of a store, which anyone may have written: checksum, types and ranges."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pucli.metrics.registry import METRICS

ROUNDED = 1e-9
MOST_SECONDS = 1e9  # of one cell: thirty years
# Results of one cell that differ by less are the same.
SAME = 1e-6
# Metrics that differ from run to run.
MEASURED = frozenset({"seconds", "peak_mb", "exponent", "iterations_per_second"})
_TEXTS = ("key", "dataset", "method", "status", "error", "finished")
_DICTS = ("setting", "declared", "params", "metrics", "certificate", "seconds", "details")


class DamagedRowError(ValueError):
    """A row of a store is not as it was written."""


def checksum(values: Mapping[str, Any], provenance: str) -> str:
    """Return the SHA-256 of a row with its column names, and of the provenance that it names."""
    plain = {
        name: hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value
        for name, value in values.items()
        if name not in ("checksum", "provenance")
    }
    return hashlib.sha256(json.dumps([plain, provenance], sort_keys=True).encode()).hexdigest()


def check_row(row: Mapping[str, Any]) -> None:  # noqa: C901
    """Raise DamagedRowError unless a row has the types of `StoredRow`, finite metrics and those in their range."""
    for name in _TEXTS:
        if not isinstance(row[name], str):
            raise DamagedRowError(f"{name} is not text")
    for name in _DICTS:
        if not isinstance(row[name], dict):
            raise DamagedRowError(f"{name} is not a mapping")
    for name in ("repeat", "n_fits"):
        if isinstance(row[name], bool) or not isinstance(row[name], int) or row[name] < 0:
            raise DamagedRowError(f"{name} is not a whole number")
    for name in ("notes", "flags"):
        if not isinstance(row[name], list) or not all(isinstance(text, str) for text in row[name]):
            raise DamagedRowError(f"{name} is not a list of texts")
    if row["status"] not in ("done", "failed"):
        raise DamagedRowError(f"the status is {row['status']!r:.40}")
    made_by = row.get("provenance", {})
    if not isinstance(made_by, dict) or not isinstance(made_by.get("versions", {}), dict):
        raise DamagedRowError("its provenance is not as pucli writes it")
    for name, value in row["metrics"].items():
        _check_number(name, value)
        low, high = limits(name)
        if value is not None and not low - ROUNDED <= value <= high + ROUNDED:
            raise DamagedRowError(f"{name} is {value:g}, which is out of its range")
    for name, value in row["seconds"].items():
        _check_number(name, value)
        if value is not None and not 0.0 <= value <= MOST_SECONDS:
            raise DamagedRowError(f"the seconds of {name} are {value:g}")
    for name, value in row["certificate"].items():
        if not isinstance(value, (bool, int, float, str, type(None))):
            raise DamagedRowError(f"{name} of the certificate is not a number")


def _check_number(name: str, value: Any) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if value is not None and not number:
        raise DamagedRowError(f"{name} is not a number")


def limits(metric: str) -> tuple[float, float]:
    """Return the least and the largest value of a metric: fractions lie between 0 and 1, per cent up to 100."""
    found = METRICS.get(metric)
    if found is None or found.unit != "%":
        return -math.inf, math.inf
    return 0.0, 100.0 / found.scale


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> Sequence[str]:
    """Return the names of the metrics, but those of time and memory, that differ between two results of one cell.

    Two kinds of processors may differ in the last bits, which does not count.
    """
    names = {*one["metrics"], *other["metrics"]} - MEASURED
    found = []
    for name in names:
        a, b = one["metrics"].get(name), other["metrics"].get(name)
        if a != b and (a is None or b is None or not math.isclose(a, b, rel_tol=SAME, abs_tol=SAME)):
            found.append(name)
    return sorted(found)
