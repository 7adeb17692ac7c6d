"""Saved models as ONNX files: from the columns of a table to the predictions of `pucli predict`."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pucli.core.errors import UsageError
from pucli.core.version import __version__
from pucli.data.features import Standardizer
from pucli.methods import get_method
from pucli.models.onnx.columns import Input, encoded
from pucli.models.onnx.estimators import Answer, answer
from pucli.models.onnx.graph import INT64, IR_VERSION, ML, OPSET, OPSET_ML, OnnxGraph
from pucli.models.saved import SavedModel, saved_form

# Names of the outputs, those of the columns of predictions.
PREDICTION, SCORE, PROBABILITY = "prediction", "score", "probability"
LARGEST_FILE = 2**31 - 1
_NO_FORM = "Score with `pucli predict`."


@dataclass(frozen=True)
class Export:
    """The inputs of an ONNX file, and the types of its outputs by name."""

    model: Path
    onnx: Path
    bytes: int
    inputs: list[Input]
    outputs: dict[str, str]


@dataclass(frozen=True)
class Exported:
    """A model as an ONNX file."""

    content: bytes
    inputs: list[Input]
    outputs: dict[str, str]  # names of its outputs and their types


def exported(model: Any) -> Exported:
    """Return a model as an ONNX file whose outputs equal those of `pucli predict`, but for rounding.

    Parameters
    ----------
    model : estimator, Pipeline or SavedModel
        As of `pucli.save_model`.

    Returns
    -------
    Exported
        The content of the file, its inputs and outputs.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import BLSSVM
    >>> from pucli.models.onnx.export import exported
    >>> X, y = make_blobs(60, centers=[[-2, -2], [2, 2]], random_state=0)
    >>> sorted(exported(BLSSVM().fit(X, y)).outputs)
    ['prediction', 'probability', 'score']
    """
    saved = saved_form(model)
    if importlib.util.find_spec("onnx") is None:
        raise UsageError("writing ONNX needs onnx: pip install 'pucli[onnx]'")
    if get_method(saved.method).kind not in ("pu", "semi-supervised"):
        raise UsageError(f"a model of {saved.method} predicts no labels, and only labels are exported. {_NO_FORM}")
    encoder = saved.table_encoder
    graph = OnnxGraph({*encoder.needed, PREDICTION, SCORE, PROBABILITY})
    x, inputs = encoded(graph, encoder)
    for value, one in zip(graph.inputs, inputs, strict=True):
        value.doc_string = one.cells
    for _, step in saved.pipeline.steps[:-1]:
        x = _standardized(graph, step, x)
    outputs = _write_answer(graph, saved, answer(graph, saved.estimator, saved.method, x), inputs)
    return Exported(_content(graph, saved), inputs, outputs)


def _standardized(graph: OnnxGraph, step: object, x: str) -> str:
    """Return features scaled by a `Standardizer`."""
    if not isinstance(step, Standardizer):
        raise UsageError(f"the step {type(step).__name__} of this model has no ONNX form. {_NO_FORM}")
    scaled = graph.add("Div", graph.add("Sub", x, graph.constant(step.mean_)), graph.constant(step.scale_))
    return graph.add("Mul", scaled, graph.constant(~step.constant_)) if step.constant_.any() else scaled


def _write_answer(graph: OnnxGraph, saved: SavedModel, found: Answer, inputs: list[Input]) -> dict[str, str]:
    """Make labels, scores and probabilities the outputs of the graph; return their names and types."""
    classes, words = saved.estimator.classes_.tolist(), saved.metadata.get("words", {})
    named = [words.get(str(label), str(label)) or f"not {words.get('1', classes[-1])}" for label in classes]
    taken = {one.name for one in inputs}
    names = {name: _free(name, taken) for name in (PREDICTION, SCORE, PROBABILITY)}
    probability = graph.flat(found.probability) if found.probability else ""
    if len(classes) > 2:
        best = graph.add("ArgMax", found.values, axis=1, keepdims=0)
        graph.output(graph.chosen(np.array(named, dtype=object), best), names[PREDICTION], text=True)
        outputs = {names[PREDICTION]: "string"}
    else:
        score = graph.flat(found.values)
        positive = graph.add("Cast", graph.add("Greater", score, graph.constant(0.0)), to=INT64)
        # a cell that the model cannot fill gives no label
        unknown = graph.add("Where", graph.add("IsNaN", score), graph.constant(2, np.int64), positive)
        graph.output(graph.chosen(np.array([*named, ""], dtype=object), unknown), names[PREDICTION], text=True)
        graph.output(score, names[SCORE])
        outputs = {names[PREDICTION]: "string", names[SCORE]: "float64"}
        if not probability and (curves := saved.metadata.get("probability")):
            knots, values = (np.array(curves[name], dtype=np.float64) for name in ("scores", "probability"))
            probability = graph.flat(graph.interpolated(found.values, [(knots, values)]))
    if probability:
        inside = graph.add("Clip", probability, graph.constant(0.0), graph.constant(1.0))
        graph.output(inside, names[PROBABILITY])
        outputs[names[PROBABILITY]] = "float64"
    return outputs


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"output_{name}"
    return name


def _content(graph: OnnxGraph, saved: SavedModel) -> bytes:
    from onnx import checker, helper

    size = sum(constant.ByteSize() for constant in graph.constants) + sum(node.ByteSize() for node in graph.nodes)
    if size > LARGEST_FILE:
        raise UsageError(
            f"the model takes {size / 2**30:.1f} GB, and an ONNX file at most 2; train with a smaller --param max_rank "
            "or on fewer --rows."
        )
    model = helper.make_model(
        helper.make_graph(graph.nodes, f"pucli {saved.method}", graph.inputs, graph.outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(ML, OPSET_ML)],
        ir_version=IR_VERSION,
        producer_name="pucli",
        producer_version=__version__,
    )
    helper.set_model_props(model, {"method": saved.method})
    checker.check_model(model)
    content: bytes = model.SerializeToString(deterministic=True)
    return content
