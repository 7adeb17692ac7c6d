"""Messages for errors of pydantic: the path of the key, the problem and the nearest valid key."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from pucli.core.errors import did_you_mean

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

# Maximum number of errors of one message.
MOST_LINES = 5
# Maximum length of a value in a message.
LONGEST = 60


def explain(
    error: ValidationError, model: type[BaseModel], content: Any, *, start: str, prefix: Sequence[str] = ()
) -> str:
    """Return one line for each place in a declaration that is wrong, at most `MOST_LINES`."""
    found: dict[tuple[Any, ...], Any] = {}
    for item in error.errors():
        found.setdefault(tuple(_location(item, content)), item)
    # where a branch of a union has an error further in, those of the other branches are noise
    outer = {place[:end] for place in found for end in range(len(place))}
    items = {place: item for place, item in found.items() if place not in outer or item["type"] == "value_error"}
    first = islice(items.items(), MOST_LINES)  # the nearest key takes time for each
    lines = [f"{start}: {_line(item, place, model, prefix)}" for place, item in first]
    return "\n".join(lines + (["..."] if len(items) > MOST_LINES else []))


def _line(item: Any, place: tuple[Any, ...], model: type[BaseModel], prefix: Sequence[str]) -> str:
    path = ".".join(map(str, (*prefix, *place)))
    where = f"{path}: " if path else ""
    if item["type"] == "extra_forbidden":
        known = _fields_at(model, place[:-1])
        hint = did_you_mean(str(place[-1]), known, 1) or f"the keys here are {', '.join(known)}."
        return f"{where}unknown key; {hint}"
    if item["type"] == "missing":
        return f"{where}this key is required."
    if item["type"] in ("value_error", "assertion_error"):
        return f"{where}{str(item['ctx']['error']).removesuffix('.')}."
    message, given = item["msg"], repr(item["input"])
    shown = given if len(given) <= LONGEST else f"{given[: LONGEST - 3]}..."
    return f"{where}{message[0].lower()}{message[1:]}; found {shown}."


def _location(item: Any, content: Any) -> Iterator[Any]:
    """Yield the keys of the place of an error in the content, without the names of branches of unions."""
    loc = item["loc"]
    for number, part in enumerate(loc):
        last = number == len(loc) - 1 and item["type"] in ("extra_forbidden", "missing")
        try:
            inner = content[part]
        except (KeyError, IndexError, TypeError):
            if last:
                yield part
        else:
            content = inner
            yield part


def _fields_at(model: type[BaseModel], place: Sequence[Any]) -> list[str]:
    """Return the keys allowed at a place of a declaration."""
    branches: list[Any] = [model]
    for part in place:
        inner: list[Any] = []
        for branch in branches:
            if _is_model(branch):
                inner += [branch.model_fields[part].annotation] if part in branch.model_fields else []
            else:  # an entry of a list or of a mapping
                inner += typing.get_args(branch)[-1:]
        branches = [branch for annotation in inner for branch in _branches(annotation)]
    return list(dict.fromkeys(name for branch in branches if _is_model(branch) for name in branch.model_fields))


def _branches(annotation: Any) -> list[Any]:
    """Return the types of a union, or the annotation alone."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _branches(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return [branch for part in typing.get_args(annotation) for branch in _branches(part)]
    return [annotation]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and hasattr(annotation, "model_fields")
