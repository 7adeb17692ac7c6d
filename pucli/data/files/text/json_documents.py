"""JSON documents that hold a table as one object or array: the forms of pandas' `to_json` and of lists by column."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from pucli.core.errors import UsageError
from pucli.data.files.table_size import checked_names

Row: TypeAlias = dict[str, Any]
# Name of the column of an index that does not merely count the rows.
INDEX = "index"
DEEPEST = 20  # objects within objects
RECORDS = 'write its rows as a list of objects, in pandas to_json(orient="records")'


def flat(path: Path, line: int, one: Row, tables: dict[str, int]) -> Row:
    """Return an object without parts: of an inner object columns such as "profile.age".

    A list of numbers becomes columns such as "weights.0", another one a text of its values, "a, b".

    `tables` gets the columns whose lists hold objects or lists, which are left out, with the first line of each.
    """
    if not holds_parts(one):
        return one
    found: Row = {}
    waiting = list(reversed(one.items()))
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, list) and value and all(type(part) in (int, float) for part in value):
            value = dict(enumerate(value))
        if isinstance(value, dict):
            if name.count(".") >= DEEPEST:
                raise UsageError(f"{path}: line {line} is nested too deeply; write its parts as columns of their own")
            waiting += [(f"{name}.{part}", inner) for part, inner in reversed(value.items())]
            continue
        if name in found:
            raise UsageError(f"{path}: line {line}: two parts are both called {name!r}; rename one of them")
        if isinstance(value, list):
            if _has_parts(value):
                tables.setdefault(name, line)
            value = ", ".join("" if part is None else str(part) for part in value) or None
        found[name] = value
    return found


def holds_parts(value: Row) -> bool:
    """Return whether an object has lists or objects as values, as no row of a table has."""
    return any(isinstance(part, dict | list) for part in value.values())


def rows_of_document(path: Path, document: Row) -> list[Row]:
    """Return the rows of a table that is one object."""
    if isinstance(document.get("schema"), dict) and "fields" in document["schema"]:
        return _of_table(path, document)
    if {"columns", "data"} <= set(document) <= {"columns", "data", "index"}:
        return _of_split(path, document)
    parts = list(document.values())
    if all(isinstance(part, dict) for part in parts) and not any(map(holds_parts, parts)):
        return _of_objects(path, document)
    if all(isinstance(part, list) for part in parts) and not any(map(_has_parts, parts)):
        return _of_lists(path, document)
    raise _nested(path, document)


def refuse_lists(path: Path, content: Any) -> None:
    """Raise UsageError for a list of lists, which has no names of columns."""
    if isinstance(content, list) and content and isinstance(content[0], list):
        raise UsageError(f'{path} has rows without names of columns (pandas\' orient "values"); {RECORDS}')


def _of_table(path: Path, document: Row) -> list[Row]:
    rows = document.get("data")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UsageError(f'{path} has a schema, but no rows in "data" (pandas\' orient "table"); {RECORDS}')
    if document["schema"].get("primaryKey") == [INDEX] and [row.get(INDEX) for row in rows] == list(range(len(rows))):
        return [{name: value for name, value in row.items() if name != INDEX} for row in rows]
    return rows


def _of_split(path: Path, document: Row) -> list[Row]:
    names, rows, index = document["columns"], document["data"], document.get("index")
    form = f'{path} looks like pandas\' orient "split"'
    if not isinstance(names, list) or _has_parts(names) or not isinstance(rows, list):
        raise UsageError(f'{form}, but "columns" is no list of names; {RECORDS}')
    names = checked_names(path, list(map(str, names)))
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, list) or len(row) != len(names):
            has = f"{len(row)} values" if isinstance(row, list) else "no list of values"
            raise UsageError(f"{form}: row {number} has {has} for {len(names)} columns; {RECORDS}")
    found = [dict(zip(names, row, strict=True)) for row in rows]
    if index is None or index == list(range(len(rows))):
        return found
    if not isinstance(index, list) or len(index) != len(rows) or _has_parts(index) or INDEX in names:
        raise UsageError(f'{form}, but "index" is not one value for each row; {RECORDS}')
    return [{INDEX: label, **row} for label, row in zip(index, found, strict=True)]


def _of_objects(path: Path, document: Row) -> list[Row]:
    """Return the rows of an object of objects, of which one side counts the rows from 0."""
    inner: dict[str, None] = {name: None for part in document.values() for name in part}
    by_row, by_column = _counts(document), _counts(inner)
    if by_row == by_column:
        raise UsageError(
            f'{path} is an object of objects, of rows or of columns (pandas\' orient "index" or "columns"), and no '
            f"keys 0, 1, 2 ... tell which; {RECORDS}"
        )
    if by_row:
        return list(document.values())
    return [{name: part.get(row) for name, part in document.items()} for row in inner]


def _of_lists(path: Path, document: Row) -> list[Row]:
    (first, values), *others = document.items()
    for name, part in others:
        if len(part) != len(values):
            raise UsageError(
                f"{path} is an object of lists, and {name!r} has {len(part)} values where {first!r} has {len(values)}; "
                "give each column one value for each row"
            )
    return [dict(zip(document, row, strict=True)) for row in zip(*document.values(), strict=True)]


def _nested(path: Path, document: Row) -> UsageError:
    """Return the error for an object that holds its rows somewhere inside."""
    way = _way_to_rows(document)
    if way is None:
        return UsageError(f"{path} is one JSON object and no table; {RECORDS}")
    inside = " of ".join(f'"{name}"' for name in reversed(way))
    query = "".join(f".{name}" if name.isidentifier() else f'["{name}"]' for name in way)
    rows: Any = document
    for name in way:
        rows = rows[name]
    flat = " and write the parts of each as columns of their own" if any(map(holds_parts, rows)) else ""
    return UsageError(
        f"{path} is one JSON object that holds its rows in {inside}; save that list alone{flat} "
        f"(`jq '{query if query.startswith('.') else '.' + query}' {path.name} > rows.json`)"
    )


def _way_to_rows(document: Row, depth: int = 3) -> list[str] | None:
    """Return the keys that lead to the first list of objects, None if there is none."""
    for name, part in document.items():
        if isinstance(part, list) and part and all(isinstance(row, dict) for row in part):
            return [name]
        if isinstance(part, dict) and depth and (rest := _way_to_rows(part, depth - 1)):
            return [name, *rest]
    return None


def _counts(keys: Row) -> bool:
    return list(keys) == list(map(str, range(len(keys))))


def _has_parts(values: list[Any]) -> bool:
    return any(isinstance(value, dict | list) for value in values)
