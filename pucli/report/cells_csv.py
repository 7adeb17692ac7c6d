"""Writing and reading of cells.csv.gz, which has one row for each planned cell and replaces a missing store.

The file has everything that a table needs, but neither the trials of tuning nor the details behind some figures. Its
columns, in this order: the identity of the cell; status; chosen parameters; metrics; seconds_*; the certificate; number
of fits, flags, notes, error. A metric with the name of another column has the prefix `metric_`. Where cells were made
in several ways, the last column, `made_with`, has the number of the entry of provenance.json, from 1; files of before
this column lack it.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import math
import statistics
import zlib
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Literal

from pucli.core.errors import UsageError
from pucli.report.files import PROVENANCE, csv_text, read_provenance, write
from pucli.runner.cells import Cell
from pucli.runner.experiment import base_name, column_name, variant_name
from pucli.runner.store import StoredRow, StoredRows
from pucli.runner.stored_rows import check_row

FILE = "cells.csv.gz"
HEAD = ("key", "dataset", "setting", "repeat", "method", "variant", "status", "params")
TAIL = ("n_fits", "flags", "notes", "error")
SECONDS = "seconds_"
METRIC = "metric_"
WAY = "made_with"
MISSING = "missing"
REMEDY = "Take the file from the repository, or remove it and run the experiment."
# separator of flags, and of notes, within their column
SEPARATOR = "; "


def cells_csv(cells: Sequence[Cell], stored: StoredRows, ways: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return the text of cells.csv.gz, with all digits. Settings and parameters are JSON; repeats count from 0."""
    metrics = _names(stored, "metrics")
    seconds = _names(stored, "seconds")
    certificate = _names(stored, "certificate")
    taken = {*HEAD, *TAIL, *certificate}
    columns = [
        *HEAD, *(METRIC + name if name in taken else name for name in metrics), *(SECONDS + name for name in seconds),
        *certificate, *TAIL, *([WAY] if len(ways) > 1 else []),
    ]  # fmt: skip
    numbers = {way_text(way): number for number, way in enumerate(ways, start=1)}
    lines = []
    for cell in cells:
        row = stored.get(cell.key)
        head = [cell.key, cell.dataset, _text(dict(cell.setting)), cell.repeat, base_name(cell.method),
                variant_name(cell.method)]  # fmt: skip
        if row is None:
            lines.append([*head, MISSING, *[None] * (len(columns) - len(head) - 1)])
            continue
        parts = (row["metrics"], metrics), (row["seconds"], seconds), (row["certificate"], certificate)
        values = [part.get(name) for part, names in parts for name in names]
        tail = [row["n_fits"], SEPARATOR.join(row["flags"]), SEPARATOR.join(row["notes"]), row["error"]]
        if len(ways) > 1:
            tail.append(numbers.get(way_text(row["provenance"])))
        lines.append([*head, row["status"], _text(row["params"]), *map(_exact, values), *tail])
    return csv_text(columns, lines)


def write_cells_csv(folder: Path, text: str) -> Path:
    """Write cells.csv.gz, the same bytes for the same text and zlib, in place of the file in `folder`; return its path.

    A file that holds this text already is left as it is, whichever zlib compressed it.
    """
    path = folder / FILE
    if not path.is_file() or _uncompressed(path) != text.encode():
        write(path, gzip.compress(text.encode(), 9, mtime=0))
    return path


def _uncompressed(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error):  # damaged: written anew
        return b""


def read_cells_csv(folder: Path) -> dict[str, StoredRow]:
    """Return key -> row of cells.csv.gz in the results folder of an experiment; {} if there is no such file.

    The rows lack trials, details and time, and their provenance where the file does not tell it.
    """
    path = folder / FILE
    try:
        with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as handle:  # spreadsheets write a byte order mark
            csv.field_size_limit(2**31 - 1)  # a C long has 32 bits under Windows
            reader = csv.reader(handle)
            columns = next(reader, [])
            parts = _parts(columns, path)
            place, status = columns.index("key"), columns.index("status")
            ways = read_provenance(folder).get("made_with", [])
            found: dict[str, StoredRow] = {}
            lines: dict[str, int] = {}
            end = reader.line_num
            for line in reader:
                number, end = end + 1, reader.line_num  # a note may have line ends
                if not line:  # a blank line
                    continue
                if len(line) != len(columns):
                    raise UsageError(
                        f"{path}: line {number} has {len(line)} values for {len(columns)} columns; the file is cut "
                        f"short, or was edited. {REMEDY}"
                    )
                first = lines.setdefault(line[place], number)
                if first != number:
                    raise UsageError(f"{path}: line {number} has the cell of line {first} again. {REMEDY}")
                if line[status] != MISSING:
                    found[line[place]] = _row(columns, parts, line, path, number, ways)
            return found
    except FileNotFoundError:
        return {}
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        if isinstance(error, OSError) and error.strerror:  # the file may be whole
            raise UsageError(f"{path}: cannot be read ({error.strerror}); check its permissions.") from None
        raise UsageError(f"{path}: cannot be read ({error}). {REMEDY}") from None


def seconds_of_fits(results: Path, wanted: Set[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Return the median seconds of a fit in the tables of all experiments, for each wanted data set and method.

    Tables without any of them are not read.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for folder in sorted(path.parent for path in results.glob(f"*/{PROVENANCE}")):
        made = read_provenance(folder)
        methods = {one.get("label"): one.get("method") for one in made.get("methods", [])}
        if not wanted & {(one.get("name"), method) for one in made.get("data", []) for method in methods.values()}:
            continue
        with contextlib.suppress(UsageError):  # told when that table is made
            for row in read_cells_csv(folder).values():
                pair = row["dataset"], methods.get(row["method"], "")
                if row["status"] == "done" and pair in wanted:
                    found.setdefault(pair, []).append(sum(row["seconds"].values()) / max(row["n_fits"], 1))
    return {pair: statistics.median(seconds) for pair, seconds in found.items()}


def _parts(columns: list[str], path: Path) -> dict[str, slice]:
    """Return the positions of the columns with metrics, seconds and the certificate."""
    for name in (*HEAD, *TAIL):
        if columns.count(name) != 1:
            what = "missing" if name not in columns else "duplicated"
            raise UsageError(f"{path}: the column {name!r} is {what}. {REMEDY}")
    first, last = columns.index("params") + 1, columns.index("n_fits")
    if first == last:  # no cell was finished: all failed or are missing
        return dict.fromkeys(("metrics", "seconds", "certificate"), slice(first, last))
    timed = [i for i in range(first, last) if columns[i].startswith(SECONDS)]
    if not timed:
        raise UsageError(f"{path}: there is no column {SECONDS}* between the metrics and the certificate. {REMEDY}")
    return {
        "metrics": slice(first, timed[0]),
        "seconds": slice(timed[0], timed[-1] + 1),
        "certificate": slice(timed[-1] + 1, last),
    }


def way_text(way: Mapping[str, Any]) -> str:
    """Return an entry of `made_with`, or the provenance of a cell, as a text that is equal for the same way."""
    return json.dumps({name: value for name, value in way.items() if name != "cells"}, sort_keys=True)


def _made(plain: Mapping[str, str], ways: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the provenance of a row: that of its number, or the only one; {} if the file has none."""
    number = int(plain.get(WAY) or 0) if len(ways) != 1 or WAY in plain else 1
    return json.loads(way_text(ways[number - 1])) if 1 <= number <= len(ways) else {}


def _row(
    columns: list[str],
    parts: dict[str, slice],
    line: list[str],
    path: Path,
    number: int,
    ways: Sequence[Mapping[str, Any]],
) -> StoredRow:
    plain = dict(zip(columns, line, strict=True))
    try:
        row = StoredRow(
            key=plain["key"],
            dataset=plain["dataset"],
            setting=json.loads(plain["setting"]),
            repeat=int(plain["repeat"]),
            method=column_name(plain["method"], plain["variant"]),
            declared={},
            status=plain["status"],
            params=json.loads(plain["params"]),
            metrics=dict(_values(columns, line, parts["metrics"], METRIC)),
            certificate=dict(_values(columns, line, parts["certificate"], "")),
            seconds=dict(_values(columns, line, parts["seconds"], SECONDS)),
            n_fits=int(plain["n_fits"]),
            error=plain["error"],
            notes=_listed(plain["notes"]),
            flags=_listed(plain["flags"]),
            details={},
            provenance=_made(plain, ways),
            finished="",
        )
        check_row(row)
        return row
    except ValueError as error:
        raise UsageError(f"{path}: line {number}: {error}. {REMEDY}") from None


def _values(columns: list[str], line: list[str], places: slice, prefix: str) -> Iterator[tuple[str, float]]:
    """Yield the name and number of each filled column; True and False stay boolean."""
    for name, text in zip(columns[places], line[places], strict=True):
        if text:
            yield name.removeprefix(prefix), text == "True" if text in ("True", "False") else float(text)


def _listed(text: str) -> list[str]:
    return text.split(SEPARATOR) if text else []


def _exact(value: Any) -> Any:
    """Return a number as the shortest text that is read back exactly, integers without a decimal point."""
    if isinstance(value, float) and math.isfinite(value):
        return repr(value).removesuffix(".0")
    return value


def _names(stored: StoredRows, part: Literal["metrics", "seconds", "certificate"]) -> list[str]:
    return list(dict.fromkeys(name for key in sorted(stored) for name in stored[key][part]))


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
