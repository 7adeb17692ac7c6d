"""``pucli schema``: print the JSON schema of a declared file, or of the --json document of a command."""

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
pucli schema auto
"""


def command(
    out: Output,
    what: Annotated[
        str,
        typer.Argument(
            metavar="experiment|datasets|COMMAND|error",
            help="Kind of declared file, or a command, for its --json document; error is what any command prints if "
            "it fails.",
            autocompletion=completion.schemas,
        ),
    ],
) -> None:
    """Print the JSON schema of a declared file or --json document.

    With the schema of a declared file, an editor completes keys and marks wrong ones as you type. That of a command
    describes its --json document. Its title, such as auto/1, is also the key schema of the document: the number
    changes if a key is lost or changes its type or meaning. Further keys do not change it; ignore those you do not
    know.
    """
    from pucli.cli.documents.schema import DIALECT, FORMS, document_schema
    from pucli.data import catalogue_schema
    from pucli.runner import experiment_schema

    files = {"experiment": experiment_schema, "datasets": catalogue_schema}
    if what in files:
        schema = {"$schema": DIALECT, "title": f"pucli {what}", **files[what]()}
    elif what in FORMS:
        schema = document_schema(what)
    else:
        raise unknown("schema", what, [*files, *FORMS])
    out.schema = ""  # the document is a schema itself
    out.document(schema)
    out.text(json.dumps(schema, indent=2))
