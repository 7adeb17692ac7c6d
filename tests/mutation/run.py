"""Put small faults into the package, one by one, and see whether the tests notice.

    python -m tests.mutation.run named                  # the faults of named.yaml
    python -m tests.mutation.run drawn --n 80 --seed 1  # drawn from all that `operators` can make

Each fault is put into a copy of the checkout and judged by the quick tests of its folder and of its place in
tests/places.yaml, with the slow ones of both for those that live (`--slow`). `--write` keeps the outcome in
results/mutations.csv and mutations.md.
"""

from __future__ import annotations

import argparse
import ast
import csv
import dataclasses
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from pucli.report.formats.markdown import grid
from tests.helpers import ROOT, SHARED, places_of
from tests.mutation.operators import Mutant, mutants_of

HERE = Path(__file__).parent
TABLE = ROOT / "results" / "mutations.csv"
COLUMNS = ("set", "file", "line", "kind", "before", "after", "outcome", "by", "remark")
INTRODUCTION = """# Faults that the tests notice

One small fault at a time is put into the package, and the tests of its room are run. The named ones once went
unnoticed; the others are drawn by chance over kinds of change (`tests/mutation/operators.py`): 45 % in the
solvers, 20 % each in tuning and protocols, 15 % in metrics. `mutations.csv` has every fault with the test that
failed. The table was begun at one state of the code; faults that lived were judged again after tests had been
added. Made by `python -m tests.mutation.run named --write`, `... drawn --n 80 --seed 1 --timeout 120 --write`,
`... drawn --timeout 120 --lives --write`, and `... page`."""
# what is drawn from: room -> share of the mutants; drawings and pages are left out
SHARES = {"pucli/solvers": 0.45, "pucli/tuning": 0.2, "pucli/metrics": 0.15, "pucli/protocols": 0.2}
LEFT_OUT = ("report.py", "tsne_maps.py", "decision_fields.py", "options.py", "registry.py", "__init__.py")


def drawn(n: int, seed: int) -> list[Mutant]:
    """Return `n` mutants: a room by its share, a file by its size, a place in it by chance, a kind of change."""
    rng = random.Random(seed)
    chosen: list[Mutant] = []
    for room, share in SHARES.items():
        files = [path for path in sorted((ROOT / room).rglob("*.py")) if path.name not in LEFT_OUT]
        of_room = [mutant for path in files for mutant in mutants_of(ROOT, path.relative_to(ROOT).as_posix())]
        kinds: dict[str, list[Mutant]] = {}
        for mutant in of_room:
            kinds.setdefault(mutant.kind, []).append(mutant)
        places: set[tuple[str, int]] = set()
        while len(places) < round(n * share):
            mutant = rng.choice(kinds[rng.choice(sorted(kinds))])
            if (mutant.file, mutant.line) not in places:
                places.add((mutant.file, mutant.line))
                chosen.append(mutant)
    return chosen


def named() -> list[Mutant]:
    """Return the faults of named.yaml; each text must stand once in its file."""
    found = []
    for entry in yaml.safe_load((HERE / "named.yaml").read_text(encoding="utf-8")):
        source = (ROOT / entry["file"]).read_bytes()
        before = entry["before"].encode()
        if source.count(before) != 1:
            raise SystemExit(f"{entry['file']} has {source.count(before)} times: {entry['before']}")
        start = source.index(before)
        line = source[:start].count(b"\n") + 1
        found.append(
            Mutant(entry["file"], line, entry["name"], start, start + len(before), entry["before"], entry["after"])
        )
    return found


class Copy:
    """A copy of the checkout, with compiled code, in which one file at a time is changed."""

    def __init__(self, folder: Path, left_out: list[str]) -> None:
        self.left_out = left_out
        self.root = folder / "checkout"
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split("\n")
        for name in [name for name in listed if name and not name.startswith("results/") and (ROOT / name).is_file()]:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.root / name)
        (self.root / "results").symlink_to(ROOT / "results")
        if SHARED.is_dir():
            (folder / "shared").symlink_to(SHARED.resolve())
        self.compiled = {path.relative_to(ROOT): path for path in (ROOT / "pucli").rglob("*.nb?")}
        self.users = _users(self.root)
        for place in self.compiled:
            self._restore(place)

    def _restore(self, place: Path) -> None:
        (self.root / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / place, self.root / place)

    def judge(self, mutant: Mutant, tests: list[str], slow: bool, timeout: float) -> tuple[str, str]:
        """Return (caught, timeout or lives; the test that failed)."""
        file = self.root / mutant.file
        source, stamp = file.read_bytes(), file.stat()
        file.write_bytes(mutant.applied(source))
        try:
            # compiled functions of other files hold a copy of what they call
            stems = {path.stem for path in self.users[mutant.file]} | {file.stem}
            dropped = [place for place in self.compiled if place.name.partition(".")[0] in stems]
            for place in dropped:
                (self.root / place).unlink(missing_ok=True)
            outcome = self.run(tests, slow, timeout)
        finally:
            file.write_bytes(source)
            os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        for place in dropped:
            self._restore(place)
        return outcome

    def run(self, tests: list[str], slow: bool, timeout: float) -> tuple[str, str]:
        """Run tests in the copy."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "-W", "ignore"]
        left_out = ["tests/test_committed_cells.py::test_a_cell_run_again_has_the_committed_figures", *self.left_out]
        kept = [*tests, *(word for test in left_out for word in ("--deselect", test))]
        command += ["--tb=line", *([] if slow else ["-m", "not slow"]), *kept]
        process = subprocess.Popen(
            command, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        try:
            out, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "timeout", ""
        if process.returncode in (0, pytest.ExitCode.NO_TESTS_COLLECTED):  # all of them may be slow
            return "lives", ""
        failed = [
            line.split(" - ")[0].split(maxsplit=1)[1]
            for line in out.splitlines()
            if line.startswith(("FAILED", "ERROR"))
        ]
        return "caught", failed[0] if failed else out.strip().splitlines()[-1]


def _users(root: Path) -> dict[str, set[Path]]:
    """Return for each file of the package the files that import it, directly or through others."""
    files = {
        path.relative_to(root).with_suffix("").as_posix().replace("/", "."): path
        for path in (root / "pucli").rglob("*.py")
    }
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    imports: dict[str, set[str]] = {}
    for name, path in files.items():
        wanted: set[str] = set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module:
                wanted |= {node.module, *(f"{node.module}.{item.name}" for item in node.names)}
        imports[name] = wanted & set(files)
    users: dict[str, set[Path]] = {}
    for name, path in files.items():
        reached, new = set(), {name}
        while new:
            reached |= new
            new = {user for user, wanted in imports.items() if wanted & reached} - reached
        users[path.relative_to(root).as_posix()] = {files[item] for item in reached - {name}}
    return users


def judges_of(file: str) -> list[str]:
    """Return the tests that judge a file: those of its folder, and its own that stand elsewhere."""
    folders = [folder.as_posix().replace("pucli", "tests", 1) for folder in Path(file).parents]
    room = next(folder for folder in folders if (ROOT / folder).is_dir())
    return [room, *(test for test in places_of(file) if not test.startswith(f"{room}/"))]


def main() -> None:
    """Judge the mutants and print the outcome."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=["named", "drawn", "page"])
    parser.add_argument("--n", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--slow", action="store_true", help="judge those that live by the slow tests as well")
    parser.add_argument("--only", default="", help="files whose name has this text")
    parser.add_argument("--lives", action="store_true", help="those that live in the table, and no others")
    parser.add_argument("--deselect", action="append", default=[], help="a test that fails without any fault")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.which == "page":
        (TABLE.with_suffix(".md")).write_text(page(_table()), encoding="utf-8")
        return
    mutants = named() if options.which == "named" else drawn(options.n, options.seed)
    if options.lives:
        mutants = [_found(row) for row in _table() if row["set"] == options.which and row["outcome"] == "lives"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder), options.deselect)
        for mutant in mutants:
            if options.only not in mutant.file:
                continue
            started = time.monotonic()
            tests = judges_of(mutant.file)
            outcome, by = copy.judge(mutant, tests, False, options.timeout)
            if outcome == "lives" and options.slow:
                outcome, by = copy.judge(mutant, tests, True, 5 * options.timeout)
            row = [options.which, mutant.file, mutant.line, mutant.kind, mutant.before, mutant.after, outcome, by, ""]
            rows.append(row)
            print(f"{time.monotonic() - started:5.1f} s ", *row[1:], sep=" | ", flush=True)
    print(f"{sum(row[6] != 'lives' for row in rows)} of {len(rows)} noticed")
    if options.write:
        _write(rows, options.which, whole=not (options.lives or options.only))


def _table() -> list[dict[str, str]]:
    """Return the rows of the table."""
    if not TABLE.is_file():
        return []
    with TABLE.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def page(rows: list[dict[str, str]]) -> str:
    """Return results/mutations.md: how many faults the tests notice, and which they do not."""
    counts = []
    for which, room in [("named", ""), *(("drawn", room) for room in SHARES), ("drawn", "")]:
        own = [row for row in rows if row["set"] == which and row["file"].startswith(room)]
        noticed = [sum(row["outcome"] == outcome for row in own) for outcome in ("caught", "timeout")]
        name = f"drawn, {room}" if room else which if which == "named" else "drawn, all"
        counts.append([name, *map(str, (len(own), *noticed, len(own) - sum(noticed)))])
    lives = [
        [f"`{row['file']}`:{row['line']}", row["kind"], f"`{row['before']}`", f"`{row['after']}`", row["remark"]]
        for row in rows
        if row["outcome"] == "lives"
    ]
    return "\n\n".join(
        [
            INTRODUCTION,
            grid(["Faults", "all", "a test fails", "no end in two minutes", "live"], counts, "lrrrr"),
            "Those that live:",
            grid(["Place", "Kind", "Before", "After", "Why"], lives, "lllll") + "\n",
        ]
    )


def _found(row: Mapping[str, str]) -> Mutant:
    """Return the change of a row of the table where it is today: the same text, nearest to its line."""
    same = [
        m
        for m in mutants_of(ROOT, row["file"])
        if (m.kind, m.before, m.after) == (row["kind"], row["before"], row["after"])
    ]
    if not same:
        raise SystemExit(f"{row['file']} no longer has: {row['before']}")
    nearest = min(same, key=lambda m: abs(m.line - int(row["line"])))
    return dataclasses.replace(nearest, line=int(row["line"]))


def _change(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["file"], str(row["line"]), row["before"], row["after"]


def _write(rows: list[list[object]], which: str, whole: bool) -> None:
    """Put the rows into the table, in place of those of their set (`whole`), or of the same changes."""
    new = {_change(row): row for row in (dict(zip(COLUMNS, map(str, row), strict=True)) for row in rows)}
    kept = {_change(row): row for row in _table()}
    for change, row in new.items():
        row["remark"] = kept[change]["remark"] if change in kept and row["outcome"] == "lives" else ""
    old = {change: row for change, row in kept.items() if not (whole and row["set"] == which)}
    with TABLE.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted({**old, **new}.values(), key=lambda row: row["set"] != "named"))


if __name__ == "__main__":
    main()
