"""The JSON schema of the document of each command, made from its types."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any, Literal, NotRequired, get_type_hints

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from pucli.cli.documents import experiments, models, parts, predictions, version_of

# The forms of the document of each command; "error" is that of all commands that fail.
FORMS: dict[str, tuple[Any, ...]] = {
    "list": (
        experiments.Datasets,
        experiments.Methods,
        experiments.Experiments,
        experiments.Metrics,
        experiments.Protocols,
    ),
    "fetch": (experiments.Fetch,),
    "auto": (models.Auto, models.AutoInBlocks, parts.Columns),
    "train": (models.Train, models.TrainInBlocks, parts.Columns),
    "predict": (
        predictions.Predictions,
        predictions.WrittenPredictions,
        predictions.Densities,
        predictions.WrittenDensities,
    ),
    "shift": (predictions.Shift,),
    "review": (predictions.ToReview, predictions.Answers),
    "evaluate": (predictions.Evaluate,),
    "show": (predictions.Show,),
    "export": (predictions.Export,),
    "tune": (models.Tune, parts.Columns),
    "advise": (models.Advise, parts.Columns),
    "prior": (models.Priors, parts.Columns),
    "compare": (models.Compare,),
    "split": (experiments.Split,),
    "reproduce": (experiments.Reproduce, experiments.DryRun, experiments.Status),
    "report": (experiments.OneReport, experiments.AllReports),
    "new": (experiments.New,),
    "site": (experiments.Site,),
    "error": (parts.Error,),
}
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def forms_of(command: str) -> Sequence[Any]:
    """Return the types of the document of a command, with the keys that `Output` adds."""
    if command == "error":
        return FORMS[command]  # without the keys that `Output` adds
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
