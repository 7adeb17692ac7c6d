"""Checks of what pucli promises: scikit-learn's checks, hostile files, proofs, kills, faults, and the same bits.

Every line gives the number of cases that were tried and that held; the JSON file names each case that failed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pucli.bench._timing import Progress, reporter

COLUMNS = ("what", "tried", "held", "note")
FULL = {"full": True}
# Modules of this package, each with lines(full) -> Line objects; one that grows comes again.
PARTS: tuple[str, ...] = ("estimator_checks", "hostile", "killed", "faults", "same_bits", "numbers")
# Parts of which some lines can be run alone, by words in their names.
WITH_WORDS: tuple[str, ...] = ("killed", "numbers")


def run(progress: Progress | None = None, full: bool = False, parts: Sequence[str] = PARTS) -> dict[str, Any]:
    """Return the table of `pucli bench trust`; `full` tries many more cases of each kind, `parts` some kinds only."""
    [*_, last] = stages(progress, full, parts)
    return last


def stages(
    progress: Progress | None = None,
    full: bool = False,
    parts: Sequence[str] = PARTS,
    earlier: Callable[[], Mapping[str, Any] | None] = lambda: None,
) -> Iterator[dict[str, Any]]:
    """Yield the table after each line that ended; `earlier` returns the present table, whose other parts are kept.

    The last row says which parts have not ended. Parts may run side by side. A part "numbers:WORDS" is the lines
    with these words in their names.
    """
    report = reporter(progress)
    rows: dict[str, dict[str, Any]] = {}
    ended: list[str] = []
    for step, given in enumerate(parts):
        part, _, words = given.partition(":")
        module = importlib.import_module(f"pucli.bench.trust.{part}")
        for line in module.lines(full, words) if words else module.lines(full):
            rows[line.name] = {**line.row(), "part": part}
            yield _table(rows, ended, parts, earlier() or {})
        ended.append(given)
        report(step + 1, len(parts))
    yield _table(rows, ended, parts, earlier() or {})


def _table(
    rows: Mapping[str, dict[str, Any]], ended: Sequence[str], parts: Sequence[str], earlier: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the table of some rows and of other parts of an earlier table, in the order of the parts."""
    others = {part for part in PARTS if part not in parts}
    kept = [row for row in earlier.get("rows", []) if row.get("part") in others and row["name"] not in rows]
    place = {part: number for number, part in enumerate(PARTS)}
    found = sorted([*kept, *rows.values()], key=lambda row: place.get(row["part"], len(PARTS)))
    left = [part for part in PARTS if part not in ended and (part in parts or part in earlier.get("open", PARTS))]
    tried, held = (sum(row[key] for row in found) for key in ("tried", "held"))
    note = f"cut short: {', '.join(left)} did not run to the end" if left else ""
    return {
        "title": "Promises, with the number of cases that were tried and that held",
        "columns": COLUMNS,
        "rows": [*found, {"name": "all", "tried": tried, "held": held, "note": note}],
        "open": left,
    }
