"""Safe reading of YAML: plain values of limited depth and size, with errors that name the line and column."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from pucli.core.errors import UsageError

# Maximum number of values in a file, with aliases expanded.
MOST_VALUES = 1_000_000


class _Loader(yaml.SafeLoader):
    """Safe loader in which 1e-4 is a number (YAML 1.2) and a duplicate key is an error."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("-+0123456789."),
)


# YAML 1.1 takes 010 for 8 and 1:30 for 90, which no reader does. So whole numbers are written in decimal digits, as in
# YAML 1.2, and what only looks like one is text.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:int"]
    for first, found in _Loader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?(0|[1-9][0-9]*)$"), list("-+0123456789"))
_PLAIN_FLOAT = re.compile(r"^([-+]?(\d+\.\d*|\.\d+)([eE][-+]?\d+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$")
_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, _PLAIN_FLOAT if tag == "tag:yaml.org,2002:float" and ":" in pattern.pattern else pattern)
        for tag, pattern in found
    ]
    for first, found in _Loader.yaml_implicit_resolvers.items()
}


def _mapping_without_duplicates(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        if key_node.tag == "tag:yaml.org,2002:merge":
            if "<<" in seen:
                raise yaml.constructor.ConstructorError(None, None, "the key '<<' is given twice", key_node.start_mark)
            seen.add("<<")
            continue
        key = loader.construct_object(key_node, deep=True)
        if isinstance(key, (dict, list)):
            raise yaml.constructor.ConstructorError(None, None, "a key must be a word or number", key_node.start_mark)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is given twice", key_node.start_mark)
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping_without_duplicates)

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
    ("unhashable", "a key must be a word or number"),
)


def read_yaml(path: Path) -> Any:
    """Return the plain values in a YAML file.

    Raises
    ------
    UsageError
        The file cannot be read, is not YAML, has a tag, or is too deep or too large with its aliases expanded.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; `pucli list experiments` shows the declared ones.") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not UTF-8 text (byte {error.start + 1}); save it as UTF-8.") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error}).") from None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        if _size(node, {}) > MOST_VALUES:
            raise UsageError(f"{path.name}: its aliases (*name) expand to more than {MOST_VALUES:,} values.")
        return loader.construct_document(node)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UsageError(f"{path.name}: line {line} has a control character; remove it.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" line {mark.line + 1}, column {mark.column + 1}:" if mark else ""
        raise UsageError(f"{path.name}:{where} {_in_words(error)}.") from None
    except RecursionError:
        raise UsageError(f"{path.name}: its values are nested too deeply or contain themselves.") from None
    except (yaml.YAMLError, ValueError, AttributeError):  # yaml takes any text for a !!timestamp
        raise UsageError(f"{path.name}: not valid YAML.") from None


def _in_words(error: yaml.MarkedYAMLError) -> str:
    found = f"{error.context or ''} {error.problem or ''}"
    for pattern, words in _PROBLEMS:
        if re.search(pattern, found):
            return words or str(error.problem)
    return "not valid YAML"


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """Return the number of values of a node with aliases expanded, at most `MOST_VALUES` + 1."""
    if id(node) in known:
        return known[id(node)]
    known[id(node)] = MOST_VALUES + 1  # for nodes that contain themselves
    children: list[yaml.Node] = []
    if isinstance(node, yaml.SequenceNode):
        children = node.value
    elif isinstance(node, yaml.MappingNode):
        children = [part for pair in node.value for part in pair]
    size = min(1 + sum(_size(child, known) for child in children), MOST_VALUES + 1)
    known[id(node)] = size
    return size
