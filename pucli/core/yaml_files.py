"""Safe reading of YAML: plain values of limited depth and size, with errors that name the line and column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.resolver import Resolver

from pucli.core.errors import UsageError

# Maximum number of values in a file, with aliases expanded.
MOST_VALUES = 1_000_000
# Numbers as in YAML 1.2. YAML 1.1 takes 1e-4 for text, 010 for 8 and 1:30 for 90, which no reader does; what only looks
# like a number is text.
_NUMBERS = {
    "tag:yaml.org,2002:int": r"[-+]?(0|[1-9][0-9]*)",
    "tag:yaml.org,2002:float": r"[-+]?(\d+\.\d*|\.\d+)([eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
}
_MERGE = "tag:yaml.org,2002:merge"


class _Resolver(Resolver):
    """Resolver with the numbers of YAML 1.2."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in found if tag not in _NUMBERS]
        for first, found in Resolver.yaml_implicit_resolvers.items()
    }


for _tag, _pattern in _NUMBERS.items():
    _Resolver.add_implicit_resolver(_tag, re.compile(f"^({_pattern})$"), list("-+0123456789."))


class _SlowLoader(_Resolver, yaml.SafeLoader):
    """Safe loader in pure Python, whose messages name the mistake."""


_Loader: Any = _SlowLoader
if yaml.__with_libyaml__:
    from yaml._yaml import CParser

    class _FastLoader(Composer, CParser, SafeConstructor, _Resolver):  # type: ignore[misc]
        """Safe loader with the parser of libyaml, ten times faster; composed in Python, where depth is bounded."""

        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)
            Composer.__init__(self)
            SafeConstructor.__init__(self)
            _Resolver.__init__(self)

    _Loader = _FastLoader

# Map from problems found by the parser to messages.
_PROBLEMS = (
    ("given twice|a key must be", ""),
    ("constructor for the tag", "tags (!word) are not supported; write plain values"),
    (
        "mapping values are not allowed",
        "a colon is not allowed here; quote text that has one, or check the indentation",
    ),
    ("undefined alias", "an alias (*name) has no anchor (&name)"),
    ("duplicate anchor", "an anchor (&name) is given twice"),
    ("cannot start any token", "a value cannot begin with this character; quote it (tabs cannot indent)"),
    ("end of stream|stream end", "a quote or bracket is not closed"),
    ("expected <block end>", "the indentation does not match the lines before"),
    ("expected ':'", "a key has no colon, or a quote is not closed"),
    ("expected ','", "a comma or a closing bracket is missing"),
    ("a single document", "a second document begins here; a file must have only one"),
    ("mapping or list of mappings for merging", "`<<` takes a mapping or a list of mappings"),
    ("unhashable", "a key must be a word or number"),
)


def read_yaml(path: Path, *, listing: str = "") -> Any:
    """Return the plain values in a YAML file; `listing` is what the error adds if there is none.

    Numbers are read as in YAML 1.2: 1e-4 is a number, 010 and 1:30 are text. A duplicate key and a second `<<` in a
    mapping are errors.

    Raises
    ------
    UsageError
        The file cannot be read, is not YAML, has a tag, or is too deep or too large with its aliases expanded.
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
        return _values(text, path)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UsageError(f"{path}: line {line} has a control character; remove it.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" line {mark.line + 1}, column {mark.column + 1}:" if mark else ""
        raise UsageError(f"{path}:{where} {_in_words(error)}.") from None
    except RecursionError:
        raise UsageError(f"{path}: its values are nested too deeply or contain themselves.") from None
    except (yaml.YAMLError, ValueError, AttributeError):  # yaml takes any text for a !!timestamp
        raise UsageError(f"{path}: not valid YAML.") from None


def _values(text: str, path: Path) -> Any:
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.YAMLError:  # the messages of libyaml differ
        loader = _SlowLoader(text)
        node = loader.get_single_node()
    if node is None:
        return None
    if _size(node, {}) > MOST_VALUES:
        raise UsageError(f"{path}: its aliases (*name) expand to more than {MOST_VALUES:,} values.")
    for part in _nodes(node):
        _check(part, loader)
    return loader.construct_document(node)


def _check(node: yaml.Node, loader: Any) -> None:
    """Raise ConstructorError for a duplicate key, also in a mapping that is merged."""
    if isinstance(node, yaml.MappingNode):
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise ConstructorError(None, None, "a key must be a word or number", key_node.start_mark)
            key = "<<" if key_node.tag == _MERGE else loader.construct_object(key_node)
            if key in seen:
                raise ConstructorError(None, None, f"the key {key!r} is given twice", key_node.start_mark)
            seen.add(key)


def _in_words(error: yaml.MarkedYAMLError) -> str:
    found = f"{error.context or ''} {error.problem or ''}"
    for pattern, words in _PROBLEMS:
        if re.search(pattern, found):
            return words or str(error.problem)
    return "not valid YAML"


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _nodes(root: yaml.Node) -> Iterator[yaml.Node]:
    """Yield every node once, in the order of the file."""
    seen, rest = set(), [root]
    while rest:
        node = rest.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            rest.extend(reversed(_children(node)))


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """Return the number of values of a node with aliases expanded, at most `MOST_VALUES` + 1."""
    if id(node) not in known:
        known[id(node)] = MOST_VALUES + 1  # for nodes that contain themselves
        size = 1 + sum(_size(child, known) for child in _children(node))
        known[id(node)] = min(size, MOST_VALUES + 1)
    return known[id(node)]
