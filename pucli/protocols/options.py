"""The `options` of an experiment, which are the keys specific to its protocol, with the changes of a profile."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from pucli.core.errors import UsageError
from pucli.runner.experiment import Experiment, Strict

Model = TypeVar("Model", bound=Strict)


def read_options(model: type[Model], experiment: Experiment, changes: Mapping[str, Any] | None = None) -> Model:
    """Return the options validated by `model`, with the `changes` of a profile.

    Raises
    ------
    UsageError
        An option is invalid; the message names the key, the problem and the nearest valid key.
    """
    try:
        return model(**{**experiment.options, **(changes or {})})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"{experiment.name}: options.{where}: {first['msg']}"
        if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
            near = difflib.get_close_matches(where, model.model_fields, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(model.model_fields)}."
            message = (
                f"{experiment.name}: options.{where}: the protocol {experiment.protocol} has no such option; {hint}"
            )
        raise UsageError(message) from None
