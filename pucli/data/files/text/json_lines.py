"""JSON lines, one object a line, JSON arrays of objects, and documents that hold a table, as tables."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pucli.core.errors import UsageError
from pucli.data.files.table_size import check_filled
from pucli.data.files.text.json_documents import flat, holds_parts, refuse_lists, rows_of_document
from pucli.data.files.text.records import note

if TYPE_CHECKING:
    import pandas as pd

JSON = (".jsonl", ".ndjson", ".json")
_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")
OBJECT = ' such as {"age": 31}; write one object a line'


def read_objects(path: Path, text: IO[bytes]) -> tuple[pd.DataFrame, list[int]]:
    """Read objects as rows, with the line of each, or its number in an array.

    A key that an object lacks is an empty cell. Integers are exact, texts stay texts. The parts of an object are
    columns of their own (`flat`). `path` is the name for messages, and `text` is UTF-8.
    """
    tables: dict[str, int] = {}
    objects = [(line, flat(path, line, one, tables)) for line, one in _objects(path, text)]
    names: dict[str, None] = {}
    for _, one in objects:
        names.update(dict.fromkeys(one))
    for name, line in tables.items():
        names.pop(name, None)
        note(f"{path}: {name!r} is left out, as it holds lists of objects or of lists (first in line {line})")
    if objects:
        way_out = "write all rows with the same keys"
        check_filled(path, len(objects), len(names), sum(len(one) for _, one in objects), way_out)
    return _frame(list(names), [one for _, one in objects]), [line for line, _ in objects]


def _frame(names: list[str], block: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    columns = {}
    for name in names:
        values = [one.get(name) for one in block]
        exact = {type(value) for value in values} >= {int, type(None)}  # pandas would make them floats
        column = pd.Series(values, dtype=object)
        columns[name] = column if exact else column.infer_objects()
    return pd.DataFrame(columns)


def _objects(path: Path, text: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object); a repeated key is an error."""
    stream = io.TextIOWrapper(text, encoding="utf-8-sig")
    try:
        yield from _numbered(path, stream)
    finally:
        stream.detach()


def _numbered(path: Path, stream: io.TextIOWrapper) -> Iterator[tuple[int, dict[str, Any]]]:
    lines = _up_to_filled(stream)
    first = lines[-1] if lines else ""
    if first.lstrip().startswith("[") or _is_truncated(first):
        rest = stream.read()
        if rest.strip() and _is_whole(first):
            raise UsageError(f"{path}: line {len(lines)} is a list, not an object{OBJECT}")
        content = _parsed(path, len(lines), first + rest)
        refuse_lists(path, content)
        rows = content if isinstance(content, list) else _rows(path, content)
        halves = _may_hold_halves(first) or _may_hold_halves(rest)
        for number, one in enumerate(rows, start=1):
            yield number, _checked(path, number, one, halves=halves)
        return
    more = _up_to_filled(stream)
    if first.strip() and not "".join(more).strip():
        halves = _may_hold_halves(first)
        rows = _rows(path, _checked(path, len(lines), _parsed(path, len(lines), first), halves=halves))
        for number, one in enumerate(rows, start=1):
            yield number, _checked(path, number, one, halves=halves)
        return
    for number, line in enumerate(chain(lines, more, stream), start=1):
        if line.strip():
            yield number, _checked(path, number, _parsed(path, number, line), halves=_may_hold_halves(line))


def _up_to_filled(stream: Iterator[str]) -> list[str]:
    """Return the next lines up to one that is not blank."""
    lines = []
    for line in stream:
        lines.append(line)
        if line.strip():
            break
    return lines


def _rows(path: Path, one: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a file that is one object: itself, or those of the table that it holds."""
    return rows_of_document(path, one) if holds_parts(one) else [one]


def _is_truncated(line: str) -> bool:
    """Return whether a line is the beginning of an object that goes on in the next lines."""
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        return line.lstrip().startswith("{") and error.pos >= len(line.rstrip())
    except (RecursionError, ValueError):
        return False
    return False


def _is_whole(line: str) -> bool:
    try:
        json.loads(line)
    except (RecursionError, ValueError):
        return False
    return True


def _checked(path: Path, number: int, value: Any, *, halves: bool) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{path}: line {number} is not an object{OBJECT}")
    for name, cell in value.items() if halves else ():
        if found := _HALF.search(f"{name}{cell}"):
            raise UsageError(
                f"{path}: line {number}: {name!r} holds half of a character, {ascii(found[0])[1:-1]}; remove it"
            )
    return value


def _may_hold_halves(text: str) -> bool:
    """Return whether JSON has an escape from which half of a character may come."""
    return _ESCAPE.search(text) is not None


def _parsed(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line, object_pairs_hook=lambda pairs: _object(path, number, pairs))
    except RecursionError as error:
        raise UsageError(f"{path}: line {number} is nested too deeply") from error
    except ValueError as error:
        what = getattr(error, "msg", "a number is too long")
        place = f"line {number + getattr(error, 'lineno', 1) - 1}"
        raise UsageError(
            f"{path}: {place} is not JSON ({what}); correct it, or name the file .csv if it is CSV"
        ) from error


def _object(path: Path, number: int, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise UsageError(f"{path}: line {number} has the key {twice!r} twice; rename one of them")
    return found
