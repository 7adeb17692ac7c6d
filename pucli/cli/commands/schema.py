"""``pucli schema``: print the JSON schema of a declared file, for editors."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from pucli.cli import completion
from pucli.cli.output import Output
from pucli.core.errors import unknown

EXAMPLES = """
pucli schema experiment
pucli schema datasets
"""


def command(
    out: Output,
    what: Annotated[
        str,
        typer.Argument(
            metavar="experiment|datasets",
            help="Kind of declared file.",
            autocompletion=completion.words("experiment", "datasets"),
        ),
    ],
) -> None:
    """Print the JSON schema of a declared file.

    With the schema, an editor completes keys and marks wrong ones as you type.
    """
    from pucli.data import catalogue_schema
    from pucli.runner import experiment_schema

    schemas = {"experiment": experiment_schema, "datasets": catalogue_schema}
    if what not in schemas:
        raise unknown("schema", what, schemas)
    schema = schemas[what]()
    out.document(schema)
    out.text(json.dumps(schema, indent=2))
