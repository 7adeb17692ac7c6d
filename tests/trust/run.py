"""Check what pucli promises: scikit-learn's checks, hostile files, proofs, kills, faults, and the same bits.

    python -m tests.trust.run                            # every part
    python -m tests.trust.run --full                     # many more cases of each kind
    python -m tests.trust.run --part numbers:glpual      # a part, or some lines of it; other rows stay

Every line gives the number of cases that were tried and that held; the JSON file names each case that failed.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.result_files import read_results, results_file, write_results
from benchmarks.common.timing import Progress, silent
from pucli.cli.output import Output

COLUMNS = ("what", "tried", "held", "note")
# Modules of this folder, each with lines(full) -> Line objects; one that grows comes again.
PARTS: tuple[str, ...] = ("estimator_checks", "hostile", "killed", "faults", "same_bits", "numbers")
# Parts of which some lines can be run alone, by words in their names.
WITH_WORDS: tuple[str, ...] = ("killed", "numbers")


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line `words` (default: those of the process) and return the exit code: 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust.run", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="many more cases of each kind, which take hours")
    parser.add_argument("--part", action="append", type=_part, help=f"one of {', '.join(PARTS)}; repeatable")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="folder of bench/trust.json.gz and trust.md"
    )
    given = parser.parse_args(words)
    folder, name = given.results / "bench", "trust-full" if given.full else "trust"
    folder.mkdir(parents=True, exist_ok=True)

    def present() -> Any:
        return read_results(folder, name) if given.part and results_file(folder, name).exists() else None

    with Output(as_json=False, quiet=False).progress("trust", "cases") as progress:
        for found in stages(progress, given.full, given.part or PARTS, present):
            page = write_results(folder, name, found)
    print(page.read_text(encoding="utf-8"), end="")
    return int(any(row.get("failed") for row in found["rows"]))


def _part(given: str) -> str:
    part, _, words = given.partition(":")
    if part not in PARTS or (words and part not in WITH_WORDS):
        raise argparse.ArgumentTypeError(f"there is no part {given!r}; parts: {', '.join(PARTS)}")
    return given


def stages(
    progress: Progress = silent,
    full: bool = False,
    parts: Sequence[str] = PARTS,
    earlier: Callable[[], Mapping[str, Any] | None] = lambda: None,
) -> Iterator[dict[str, Any]]:
    """Yield the table after each line that ended; `earlier` returns the present table, whose other parts are kept.

    The last row says which parts have not ended. Parts may run side by side. A part "numbers:WORDS" is the lines
    with these words in their names.
    """
    rows: dict[str, dict[str, Any]] = {}
    ended: list[str] = []
    for step, given in enumerate(parts):
        part, _, words = given.partition(":")
        module = importlib.import_module(f"tests.trust.{part}")
        for line in module.lines(full, words) if words else module.lines(full):
            rows[line.name] = {**line.row(), "part": part}
            yield _table(rows, ended, parts, earlier() or {})
        ended.append(given)
        progress(step + 1, len(parts))
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


if __name__ == "__main__":
    sys.exit(main())
