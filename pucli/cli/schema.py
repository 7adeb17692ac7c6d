"""The JSON document of each command: its version, and its schema, made from the dataclasses of the answers."""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Sequence
from dataclasses import field, fields, make_dataclass
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# Versions of documents that lost a key, or gave one another type or meaning; all others have version 1. A further key
# leaves the version as it is.
VERSIONS: dict[str, int] = {}
COMMANDS = "pucli.cli.commands."
COLUMNS = "pucli.models.columns:Columns"
# The answers of each command, whose fields are the keys of its document; "error" is that of all commands that fail.
ANSWERS = {
    "error": ("pucli.cli.output:Failed",),
    "reproduce": ("pucli.report.model:Reproduced", "pucli.runner.dry_run:DryRun", "pucli.report.status:Status"),
    "report": ("pucli.report.model:OneReport", "pucli.report.model:AllReports"),
    "train": ("pucli.models.trained:Trained", "pucli.cli.block_training:TrainedInBlocks", COLUMNS),
    "list": tuple(f"{COMMANDS}list:{name}" for name in ("Datasets", "Methods", "Experiments", "Metrics", "Protocols")),
    "fetch": (f"{COMMANDS}fetch:Fetch",),
    "split": (f"{COMMANDS}split:Splits",),
    "site": (f"{COMMANDS}site:Site",),
    "new": ("pucli.cli.new.files:Made",),
    "show": ("pucli.cli.text.show:ModelCard",),
    "export": ("pucli.models.onnx.export:Export",),
    "predict": ("pucli.models.predicted:Predictions",),
    "shift": ("pucli.models.shift:ShiftAnswer",),
    "review": (f"{COMMANDS}review:ToReview", "pucli.models.review:ReadBack"),
    "evaluate": (f"{COMMANDS}evaluate:Evaluation",),
    "compare": ("pucli.models.compare.verdict:CompareAnswer",),
    "tune": (f"{COMMANDS}tune:Tuned", COLUMNS),
    "prior": ("pucli.models.class_prior:Priors", COLUMNS),
    "auto": ("pucli.models.auto.summary:AutoAnswer", COLUMNS),
}
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def version_of(command: str) -> str:
    """Return name and version of the schema of a command's document, such as "auto/1"."""
    return f"{command}/{VERSIONS.get(command, 1)}"


def answers_of(command: str) -> Sequence[type]:
    """Return the dataclasses of the answers of a command, with the keys that `Output` adds."""
    found = []
    for name in ANSWERS[command]:
        module, _, attribute = name.partition(":")
        answer = getattr(importlib.import_module(module), attribute)
        if command != "error":
            own = get_type_hints(answer, include_extras=True)
            parts = [("schema", Literal[version_of(command)]), *((one.name, own[one.name]) for one in fields(answer))]
            said: Any = field(default_factory=list)
            whole = make_dataclass(answer.__name__, [*parts, ("warnings", list[str], said)], kw_only=True)
            whole.__doc__, answer = answer.__doc__, whole
        found.append(answer)
    return found


@functools.cache
def adapter_of(command: str) -> TypeAdapter[Any]:
    """Return what validates the document of a command and makes its schema."""
    from pydantic import TypeAdapter

    return TypeAdapter(functools.reduce(operator.or_, answers_of(command)))


def document_schema(command: str) -> dict[str, Any]:
    """Return the JSON schema of the document of a command, or of "error"."""
    schema = adapter_of(command).json_schema()
    return {"$schema": DIALECT, **schema, "title": version_of(command)}
