"""The `options` of an experiment, which are the keys specific to its protocol, with the changes of a profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from pucli.core.errors import UsageError
from pucli.core.validation_errors import explain
from pucli.runner.experiment import Experiment, Strict

Model = TypeVar("Model", bound=Strict)


def read_options(model: type[Model], experiment: Experiment, changes: Mapping[str, Any] | None = None) -> Model:
    """Return the options of an experiment, validated by `model`."""
    options = {**experiment.options, **(changes or {})}
    try:
        return model(**options)
    except ValidationError as error:
        start = f"{experiment.name} (protocol {experiment.protocol})"
        raise UsageError(explain(error, model, options, start=start, prefix=("options",))) from None
