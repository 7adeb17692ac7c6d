"""JSON lines, one object a line, and JSON arrays of objects, as tables."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pucli.core.errors import UsageError
from pucli.data.files.table_size import check_filled

if TYPE_CHECKING:
    import pandas as pd

JSON = (".jsonl", ".ndjson", ".json")


def json_blocks(path: Path, text: IO[bytes], rows: int | None = None) -> Iterator[tuple[pd.DataFrame, list[int]]]:
    """Read objects as rows; a key that an object lacks is an empty cell.

    Parameters
    ----------
    path : Path
        Name for messages.
    text : binary stream
        UTF-8.
    rows : int, optional
        Number of rows of a block; by default one block.

    Yields
    ------
    frame : pandas.DataFrame
        Integers are exact, texts stay texts.
    lines : list of int
        The line of each row, or the number of the object in an array.

    Raises
    ------
    UsageError
        A line is no object, or a value is an object or a list; the message names the line.
    """
    objects = _objects(path, text)
    names: dict[str, None] = {}
    while True:
        block = list(islice(objects, rows))
        if not block:
            return
        for line, one in block:
            names.update(dict.fromkeys(one))
            for name, value in one.items():
                if isinstance(value, dict | list):
                    raise UsageError(
                        f"{path}: line {line}: {name!r} is {'an object' if isinstance(value, dict) else 'a list'}, not "
                        "one value; write its parts as columns of their own"
                    )
        way_out = "write all rows with the same keys"
        check_filled(path, len(block), len(names), sum(len(one) for _, one in block), way_out)
        yield _frame(list(names), [one for _, one in block]), [line for line, _ in block]


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
    first = next((line for line in stream if line.strip()), "")
    start = 1
    if first.lstrip().startswith("["):
        content = _parsed(path, 1, first + stream.read())
        for number, one in enumerate(content, start=1):
            yield number, _checked(path, number, one)
        return
    for number, line in enumerate(_with(first, stream), start=start):
        if line.strip():
            yield number, _checked(path, number, _parsed(path, number, line))
    stream.detach()


def _with(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _checked(path: Path, number: int, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f'{path}: line {number} is not an object such as {{"age": 31}}; write one object a line')
    return value


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
