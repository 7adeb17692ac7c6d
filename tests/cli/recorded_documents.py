"""Recorded keys and types of every --json document; `python -m tests.cli.recorded_documents` records new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pucli.cli.schema import ANSWERS, document_schema, version_of

RECORD = Path(__file__).with_name("recorded_documents.txt")


def _type(schema: dict[str, Any]) -> str:
    """Return a type in short, such as "number or null"."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "const" in schema or "enum" in schema:
        return "/".join(map(str, schema.get("enum", [schema.get("const")])))
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}))}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return str(schema.get("type", "any"))


def lines() -> list[str]:
    """Return a line for each key of each document: version, key and type; a key that may be missing ends with "?"."""
    found = []
    for command in ANSWERS:
        schema = document_schema(command)
        for part in (schema, *schema.get("$defs", {}).values()):
            name = command if part is schema else part["title"]
            for key, value in part.get("properties", {}).items():
                missing = "" if key in part.get("required", ()) else "?"
                found.append(f"{version_of(command)} {name}.{key}{missing}: {_type(value)}")
    return sorted(set(found))


def lost() -> list[str]:
    """Return the recorded lines that are no longer true although the version of their document is the same."""
    now, versions = set(lines()), {version_of(command) for command in ANSWERS}
    recorded = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    return [line for line in recorded if line not in now and line.split()[0] in versions]


if __name__ == "__main__":
    changed = lost()
    if changed:
        raise SystemExit("\n".join(["Raise the version in pucli/cli/schema.py first:", *changed]))
    RECORD.write_text("\n".join(lines()) + "\n", encoding="utf-8")
