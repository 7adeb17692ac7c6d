"""The JSON schema of the document of each command, made from its types."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any, Literal, NotRequired, get_type_hints

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from pucli.cli.documents import version_of
from pucli.cli.documents.experiments import (
    AllReports,
    Datasets,
    DryRun,
    Experiments,
    Fetch,
    Merge,
    Methods,
    Metrics,
    New,
    OneReport,
    Protocols,
    Reproduce,
    Schema,
    Site,
    Split,
    Status,
)
from pucli.cli.documents.models import Advise, Auto, AutoInBlocks, Compare, Priors, Train, TrainInBlocks, Tune
from pucli.cli.documents.parts import Columns, Error
from pucli.cli.documents.predictions import (
    Answers,
    Densities,
    Evaluate,
    Export,
    Predictions,
    Shift,
    Show,
    ToReview,
    WrittenDensities,
    WrittenPredictions,
)

# The forms of the document of each command; "error" is that of all commands that fail.
FORMS: dict[str, tuple[Any, ...]] = {
    "list": (Datasets, Methods, Experiments, Metrics, Protocols),
    "fetch": (Fetch,),
    "auto": (Auto, AutoInBlocks, Columns),
    "train": (Train, TrainInBlocks, Columns),
    "predict": (Predictions, WrittenPredictions, Densities, WrittenDensities),
    "shift": (Shift,),
    "review": (ToReview, Answers),
    "evaluate": (Evaluate,),
    "show": (Show,),
    "export": (Export,),
    "tune": (Tune, Columns),
    "advise": (Advise, Columns),
    "prior": (Priors, Columns),
    "compare": (Compare,),
    "split": (Split,),
    "reproduce": (Reproduce, DryRun),
    "merge": (Merge,),
    "status": (Status,),
    "report": (OneReport, AllReports),
    "new": (New,),
    "site": (Site,),
    "schema": (Schema,),
    "error": (Error,),
}
# Documents without the keys that `Output` adds.
AS_THEY_ARE = ("schema", "error")
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def forms_of(command: str) -> Sequence[Any]:
    """Return the types of the document of a command, with the keys that `Output` adds."""
    if command in AS_THEY_ARE:
        return FORMS[command]
    added = {"schema": Literal[version_of(command)], "warnings": NotRequired[list[str]]}
    forms = []
    for form in FORMS[command]:
        whole = TypedDict(form.__name__, {**added, **get_type_hints(form, include_extras=True)})  # type: ignore[misc]
        whole.__doc__ = form.__doc__
        forms.append(whole)
    return forms


@functools.cache
def adapter_of(command: str) -> TypeAdapter[Any]:
    """Return what validates the document of a command and makes its schema."""
    return TypeAdapter(functools.reduce(operator.or_, forms_of(command)))


def document_schema(command: str) -> dict[str, Any]:
    """Return the JSON schema of the document of a command, or of "error"; keys that it does not name are allowed."""
    schema = adapter_of(command).json_schema()
    return {"$schema": DIALECT, **schema, "title": version_of(command)}
