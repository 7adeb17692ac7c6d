"""The JSON document of each command: its version, and its schema, made from the dataclasses of the answers."""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Sequence
from dataclasses import field, fields, make_dataclass
from typing import Any, Literal, get_type_hints

from pydantic import TypeAdapter

# Versions of documents that lost a key, or gave one another type or meaning; all others have version 1. A further key
# leaves the version as it is.
VERSIONS: dict[str, int] = {}
COLUMNS = "pucli.cli.text.columns:Columns"
# The answers of each command, whose fields are the keys of its document; "error" is that of all commands that fail.
ANSWERS = {
    "prior": ("pucli.models.class_prior:Priors", COLUMNS),
    "auto": ("pucli.models.auto.summary:Answer", COLUMNS),
}
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def version_of(command: str) -> str:
    """Return name and version of the schema of a command's document, such as "auto/1"."""
    return f"{command}/{VERSIONS.get(command, 1)}"


def answers_of(command: str) -> Sequence[type]:
    """Return the dataclasses of the answers of a command, with the keys that `Output` adds."""
    if command not in ANSWERS:
        from pucli.cli.documents.schema import forms_of

        return forms_of(command)
    found = []
    for name in ANSWERS[command]:
        module, _, attribute = name.partition(":")
        answer = getattr(importlib.import_module(module), attribute)
        if command != "error":
            own = get_type_hints(answer, include_extras=True)
            parts = [("schema", Literal[version_of(command)]), *((one.name, own[one.name]) for one in fields(answer))]
            added = ("warnings", list[str], field(default_factory=list))
            whole = make_dataclass(answer.__name__, [*parts, added], kw_only=True)
            whole.__doc__, answer = answer.__doc__, whole
        found.append(answer)
    return found


@functools.cache
def adapter_of(command: str) -> TypeAdapter[Any]:
    """Return what validates the document of a command and makes its schema."""
    return TypeAdapter(functools.reduce(operator.or_, answers_of(command)))


def document_schema(command: str) -> dict[str, Any]:
    """Return the JSON schema of the document of a command, or of "error"."""
    schema = adapter_of(command).json_schema()
    return {"$schema": DIALECT, **schema, "title": version_of(command)}
