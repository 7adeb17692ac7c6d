"""Scale and rank of each method, by the benchmarks and the rankings: results/standing.csv."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from pucli.core.declared_files import declared_path
from pucli.metrics import MethodRanking
from pucli.report.files import csv_text
from pucli.runner.experiment import Experiment

FILE = "standing.csv"


@dataclass(frozen=True)
class Standing:
    """Measurements and rank of a method."""

    method: str  # its name in the list of methods
    # most rows with a measured training, the processor seconds that it took, and the benchmark; 0 and "" without
    rows: int = 0
    seconds: float = 0.0
    measured: str = ""
    rankings: int = 0  # in which it stands
    first: int = 0  # in which no other method has a better column than its best one
    # mean over the rankings of the share of other methods' columns that are better than its best column: 0 is always
    # first, 1 always last; 0 without any
    place: float = 0.0


def leaders(ranked: Sequence[tuple[Experiment, Sequence[MethodRanking]]]) -> list[Standing]:
    """Return the methods of all rankings, the best mean place first.

    Rankings of different experiments have different peers, so a place is a hint, not a measurement. Rankings of the
    columns of one method alone do not count.
    """
    places: dict[str, list[float]] = {}
    for experiment, rankings in ranked:
        for ranking in rankings:
            ranks: dict[str, list[float]] = {}
            for column, rank in zip(ranking.columns, ranking.ranks, strict=True):
                ranks.setdefault(experiment.methods[column].method, []).append(rank)
            for method, own in ranks.items():
                others = [rank for other, found in ranks.items() if other != method for rank in found]
                if others:
                    better = sum(rank < min(own) for rank in others)
                    places.setdefault(method, []).append(better / len(others))
    found = [
        Standing(method, rankings=len(values), first=values.count(0.0), place=sum(values) / len(values))
        for method, values in places.items()
    ]
    return sorted(found, key=lambda leader: leader.place)


def standings(found: Sequence[Standing], results: Path) -> str:
    """Return the text of standing.csv: one line per method with a ranking or a measurement."""
    measured = _measured(results / "bench" / "scale.json.gz")
    ranked = {leader.method: leader for leader in found}
    lines = []
    for name in sorted({*ranked, *measured}):
        rows, seconds = measured.get(name, (0, 0.0))
        own = ranked.get(name, Standing(name))
        where, place = "bench scale" if rows else "", round(own.place, 2)
        lines.append(astuple(replace(own, rows=rows, seconds=round(seconds, 1), measured=where, place=place)))
    return csv_text([field.name for field in fields(Standing)], lines)


def read_standings() -> dict[str, Standing]:
    """Return the measurements of each method in the shipped standing.csv; {} without such a file."""
    path = declared_path(f"results/{FILE}")
    if not path.is_file():
        return {}
    lines = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
    return {
        line["method"]: Standing(
            line["method"], int(line["rows"]), float(line["seconds"]), line["measured"], int(line["rankings"]),
            int(line["first"]), float(line["place"]),
        )
        for line in lines
    }  # fmt: skip


def _measured(path: Path) -> dict[str, tuple[int, float]]:
    """Return the largest number of rows with a measured training of each method, and its seconds."""
    if not path.is_file():
        return {}
    found: dict[str, tuple[int, float]] = {}
    for row in json.loads(gzip.decompress(path.read_bytes()))["rows"]:
        command, _, rest = row["name"].partition(" ")
        sizes = [(int(float(name)), value) for name, value in row.items() if name[:1].isdigit() and value is not None]
        if command in ("train", "auto") and sizes:
            method = rest.partition(",")[0] or command
            found[method] = max(found.get(method, (0, 0.0)), max(sizes), key=lambda size: (size[0], -size[1]))
    return found
