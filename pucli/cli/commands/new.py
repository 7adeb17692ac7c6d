"""``pucli new``: write the initial files of a new method, data set or experiment, or a table to try pucli on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pucli.cli import completion
from pucli.cli import options as opt
from pucli.cli.output import Output
from pucli.core.errors import UsageError

EXAMPLES = """
pucli new data
pucli new method nearest-mean
pucli new dataset people --data checked.csv --label bought --positive yes
pucli new experiment my-table
"""
KINDS = ("data", "method", "dataset", "experiment")


def command(
    out: Output,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="data|method|dataset|experiment",
            help="Kind of files to write.",
            autocompletion=completion.completer(*KINDS),
        ),
    ],
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Its name, and the name of the new folder; none for data.")
    ] = None,
    parent: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder in which to create it.")] = Path(),
    data: Annotated[Path | None, typer.Option("--data", help="dataset: your table (csv, tsv, xlsx, arff).")] = None,
    label: Annotated[str | None, typer.Option("--label", metavar="COLUMN", help="dataset: its label column.")] = None,
    positive: Annotated[
        str | None, typer.Option("--positive", metavar="VALUE", help="dataset: the value of the positive class.")
    ] = None,
) -> None:
    """Write a table to try pucli on, or files to start from.

    The files of a method, a data set or an experiment run as they are and include a test. A method is a small package
    to install. Existing files are kept. `data` is an invented table of customers to try pucli on, with its hidden truth
    in a second file.
    """
    from pucli.cli.new import new_data, new_dataset, new_experiment, new_method

    opt.choice("kind", kind, KINDS)
    for option, value in {"data": data, "label": label, "positive": positive}.items():
        if value and kind != "dataset":
            raise UsageError(f"--{option} is an option of `pucli new dataset`, not of `pucli new {kind}`.")
    if kind == "data":
        if name is not None:
            raise UsageError(f"`pucli new data` takes no name; write it into a folder with --out {name}.")
        made = new_data(parent)
    elif name is None:
        raise UsageError(f"a NAME is missing: `pucli new {kind} my-{kind}`.")
    elif kind == "method":
        made = new_method(name, parent)
    elif kind == "dataset":
        made = new_dataset(name, parent, data=data, label=label, positive=positive)
    else:
        made = new_experiment(name, parent)
    out.document(made)
    for file in made.files:
        out.text(str(file))
    if made.warning:
        out.warn(made.warning)
    for line in ("", "Next:", *(f"  {command}" for command in made.next)):
        out.remark(line)
