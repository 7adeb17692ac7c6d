"""Safe reading of YAML: plain values of limited depth and size, with errors that name the line and column."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import yaml
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from pucli.core.errors import UsageError

# Maximum number of values in a file, with aliases expanded, and of collections within one another.
MOST_VALUES = 1_000_000
DEEPEST = 100
# Numbers as in YAML 1.2. YAML 1.1 takes 1e-4 for text, 010 for 8 and 1:30 for 90, which no reader does; what only looks
# like a number is text.
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\d+\.\d*|\.\d+)([eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS = {  # yes, no, null and the like; a date is text
    first: [(tag, pattern) for tag, pattern in found if tag.rpartition(":")[2] in ("bool", "null")]
    for first, found in Resolver.yaml_implicit_resolvers.items()
}
_STARTS = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_MERGE = object()  # the key `<<`
_Parser: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader  # libyaml is ten times faster

# Map from problems found by the parser to messages.
_PROBLEMS = (
    (
        "mapping values are not allowed",
        "a colon is not allowed here; quote text that has one, or check the indentation",
    ),
    ("cannot start any token", "a value cannot begin with this character; quote it (tabs cannot indent)"),
    ("end of stream|stream end", "a quote or bracket is not closed"),
    ("expected <block end>", "the indentation does not match the lines before"),
    ("expected ':'", "a key has no colon, or a quote is not closed"),
    ("expected ','", "a comma or a closing bracket is missing"),
)


def read_yaml(path: Path, *, listing: str = "") -> Any:
    """Return the plain values in a YAML file; `listing` is what the error adds if there is none.

    Numbers are read as in YAML 1.2: 1e-4 is a number, 010 and 1:30 are text. A duplicate key and a second `<<` in a
    mapping are errors.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file{f'; {listing}' if listing else ''}.") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not UTF-8 text (byte {error.start + 1}); save it as UTF-8.") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error}).") from None
    try:
        try:
            return _values(_Parser(text))
        except _Refused:
            raise
        except yaml.YAMLError:  # the messages of libyaml differ
            return _values(yaml.SafeLoader(text))
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UsageError(f"{path}: line {line} has a control character; remove it.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" line {mark.line + 1}, column {mark.column + 1}:" if mark else ""
        raise UsageError(f"{path}:{where} {_in_words(error)}.") from None
    except (yaml.YAMLError, ValueError):  # a number has at most 4,300 digits
        raise UsageError(f"{path}: not valid YAML.") from None


class _Refused(yaml.MarkedYAMLError):
    """A mistake that the parser does not see; `problem` is the message."""


def _refuse(problem: str, event: Any) -> NoReturn:
    raise _Refused(problem=problem, problem_mark=event.start_mark)


def _in_words(error: yaml.MarkedYAMLError) -> str:
    if isinstance(error, _Refused):
        return str(error.problem)
    found = f"{error.context or ''} {error.problem or ''}"
    return next((words for pattern, words in _PROBLEMS if re.search(pattern, found)), "not valid YAML")


@dataclass
class _Open:
    """A collection that has not ended."""

    start: Any  # the event
    keys: set[Any] | None  # the keys so far; None for a list
    values: list[Any] = field(default_factory=list)  # in a mapping, keys and values in turn
    size: int = 1  # number of values, with aliases expanded


def _values(parser: Any) -> Any:  # noqa: C901  # a branch for each kind of event
    """Return the value that the events of a parser describe, in one pass without nodes."""
    inner = document = _Open(None, None)
    outer: list[_Open] = []
    anchors: dict[str, tuple[Any, int]] = {}  # the values and their sizes
    for event in iter(parser.get_event, None):
        kind = type(event)
        if kind is yaml.ScalarEvent or kind in _STARTS:
            if event.tag is not None:
                _refuse("tags (!word) are not supported; write plain values", event)
            if event.anchor in anchors:
                _refuse("an anchor (&name) is given twice", event)
        anchor = None
        if kind is yaml.ScalarEvent:
            value, size, anchor = _plain(event.value) if event.implicit[0] else event.value, 1, event.anchor
        elif kind is yaml.AliasEvent:
            if event.anchor not in anchors:
                _refuse("an alias (*name) has no anchor (&name)", event)
            value, size = anchors[event.anchor]
        elif kind in _STARTS:
            if len(outer) == DEEPEST:
                _refuse("values are nested too deeply", event)
            if event.anchor is not None:  # until it ends, an alias in it would make it endless
                anchors[event.anchor] = None, MOST_VALUES
            outer.append(inner)
            inner = _Open(event, set() if kind is yaml.MappingStartEvent else None)
            continue
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            value = inner.values if inner.keys is None else _mapping(inner)
            size, anchor = inner.size, inner.start.anchor
            inner = outer.pop()
        else:
            if kind is yaml.DocumentStartEvent and document.values:
                _refuse("a second document begins here; a file must have only one", event)
            continue
        if anchor is not None:
            anchors[anchor] = value, size
        inner.size += size
        if inner.size > MOST_VALUES:
            _refuse(f"aliases (*name) expand to more than {MOST_VALUES:,} values", event)
        inner.values.append(value if inner.keys is None or len(inner.values) % 2 else _key(value, inner.keys, event))
    return document.values[0] if document.values else None


def _key(value: Any, keys: set[Any], event: Any) -> Any:
    """Return a key after those of `keys`, to which it is added."""
    if isinstance(value, (list, dict)):
        _refuse("a key must be a word or number", event)
    if value in keys:
        _refuse(f"the key {value!r} is given twice", event)
    keys.add(value)
    return _MERGE if value == "<<" and getattr(event, "implicit", (False,))[0] else value


def _plain(text: str) -> Any:
    """Return the value of a scalar without quotes."""
    first = text[:1]
    if first in "+-.0123456789" and first:
        if _INT.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    for tag, pattern in _WORDS.get(first, ()):
        if pattern.match(text):
            return SafeConstructor.bool_values[text.lower()] if tag.endswith(":bool") else None
    return text


def _mapping(mapping: _Open) -> dict[Any, Any]:
    """Return the mapping, in which own keys take precedence over merged ones."""
    own = dict(zip(mapping.values[::2], mapping.values[1::2], strict=True))
    if _MERGE not in own:
        return own
    merged = own.pop(_MERGE)
    others = merged if isinstance(merged, list) else [merged]
    if not all(isinstance(other, dict) for other in others):
        _refuse("`<<` takes a mapping or a list of mappings", mapping.start)
    found: dict[Any, Any] = {}
    for other in reversed(others):
        found |= other
    return found | own
