"""``pucli export``: write a model as an ONNX file, to score rows without pucli."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pucli.cli.output import Output, output_file

EXAMPLES = """
pucli export bought.model --onnx bought.onnx
"""


def command(
    out: Output,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file of `pucli auto` or `pucli train`.")],
    destination: Annotated[Path, typer.Option("--onnx", metavar="FILE", help="Write an ONNX file, e.g. bought.onnx.")],
) -> None:
    """Write a model as an ONNX file, to score rows without pucli.

    Each column of the model is an input; the encoding of its cells is part of the file. The outputs are prediction,
    score and probability, as those of `pucli predict`. Linear and kernel models, Gaussian classes and `auto` can be
    written. It needs the package onnx: pip install 'pucli[onnx]'.
    """
    from pucli.core.atomic_files import replacing
    from pucli.models.onnx.export import Export, exported
    from pucli.models.saved import load_model

    output_file("--onnx", destination, model)
    found = exported(load_model(model))
    with replacing(destination) as partial:
        partial.write_bytes(found.content)
    out.document(Export(model, destination, len(found.content), found.inputs, found.outputs))
    out.table(["input", "type", "cells"], [[one.name, one.type, one.cells] for one in found.inputs])
    out.text()
    out.table(["output", "type"], [[name, kind] for name, kind in found.outputs.items()])
    out.text()
    out.text(f"written to {destination} ({len(found.content) / 1e6:.2g} MB)")
    out.remark("Not in the file: ranges of probabilities, and the checks and warnings of `pucli predict` on new rows.")
