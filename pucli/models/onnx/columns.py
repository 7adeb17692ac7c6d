"""Columns of a table as inputs of a graph, and their encoding inside it.

Each column with features is an input (rows,): doubles for numbers and dates, text for categories and yes/no. What the
encoder of the column does (`pucli.data.columns.encoders`) is done by the graph, so a program gives it the cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from pucli.core.errors import UsageError
from pucli.data.columns.cells import EMPTY
from pucli.data.columns.encoder import TableEncoder
from pucli.data.columns.encoders import PARTS, Category, ColumnEncoder, Date, FlaggedNumber, Number, Text, YesNo
from pucli.data.labels import NO, YES
from pucli.models.onnx.graph import INT64, OnnxGraph

_NAN = "; NaN is empty"


@dataclass(frozen=True)
class Input:
    """An input of a graph."""

    name: str  # name of the column
    type: str  # of its cells, "float64" or "string"
    cells: str  # what its cells are


def encoded(graph: OnnxGraph, encoder: TableEncoder) -> tuple[str, list[Input]]:
    """Return the features (rows, m) of a table and the inputs that hold its columns; both are added to the graph.

    Sparse rows have one input "X" with all features.
    """
    if encoder.sparse_:
        m = encoder.n_features_in_
        return graph.input("X", m), [Input("X", "float64", f"the {m} features of each row, zeros included")]
    parts, inputs = [], []
    for column in encoder.encoders_:
        if not column.features:
            continue
        found, one = _column(graph, column)
        parts += found
        inputs.append(one)
    return graph.add("Concat", *parts, axis=1), inputs


def _column(graph: OnnxGraph, column: ColumnEncoder) -> tuple[list[str], Input]:
    """Return the features of a column, each (rows, k), and its input."""
    name = column.name
    if not name:
        raise UsageError("a column without a name cannot be an input of an ONNX graph; name it in the training file.")
    if isinstance(column, FlaggedNumber):
        raise UsageError(
            f"column {name!r} has flags beside its numbers, which ONNX cannot read; leave it out (--drop)."
        )
    if isinstance(column, Number):
        cells = f"number without its unit {column.unit}" if column.unit else "number"
        empty = "" if np.isnan(column.fill) else _NAN
        values = graph.column(graph.input(name))
        return _filled(graph, values, column.fill, column.indicator), Input(name, "float64", cells + empty)
    if isinstance(column, Date):
        cells = f"days since 1970-01-01 (UTC), with fraction{_NAN}"
        return _dates(graph, column), Input(name, "float64", cells)
    if isinstance(column, Text):
        cells = r'text in lower case with a space for each \W+; "" is empty'
        return _words(graph, column), Input(name, "string", cells)
    cells = 'text; "" is empty'
    if isinstance(column, YesNo):
        return _yes_no(graph, column), Input(name, "string", cells)
    assert isinstance(column, Category)
    return _category(graph, column), Input(name, "string", cells)


def _filled(graph: OnnxGraph, values: str, fill: float, indicator: bool) -> list[str]:
    """Return values (rows, 1) with NaN filled and, if wanted, an indicator of NaN."""
    if np.isnan(fill):
        return [values]
    missing = graph.add("IsNaN", values)
    parts = [graph.add("Where", missing, graph.constant(fill), values)]
    return [*parts, graph.number(missing)] if indicator else parts


def _codes(graph: OnnxGraph, name: str, codes: dict[str, int], default: int) -> str:
    """Return the code (rows, 1) of each text, `default` for one that has none."""
    return graph.column(graph.encoded(graph.input(name, text=True), codes, default))


def _yes_no(graph: OnnxGraph, column: YesNo) -> list[str]:
    """Return 1 for yes, 0 for no, the mark of an empty cell; words are read in their usual spellings."""
    meaning = {column.yes: 1, column.no: 0}
    if {word.casefold() for word in meaning} == {"true", "false"}:
        meaning |= {"1": 1, "0": 0}
    if column.reads_other_words:
        meaning |= dict.fromkeys(YES, 1) | dict.fromkeys(NO, 0)
    codes: dict[str, int] = {}
    for word, code in meaning.items():
        for written in (word, word.lower(), word.upper(), word.capitalize(), word.title(), f"{word}.0"):
            codes.setdefault(written, code)
    codes |= dict.fromkeys(sorted(EMPTY), 2 if column.no else 0)
    found = _codes(graph, column.name, codes, 2)
    parts = [graph.chosen(np.array([0.0, 1.0, column.fill if column.no else 0.0]), found)]
    if column.indicator:
        parts.append(graph.number(graph.add("Equal", found, graph.constant(2, np.int64))))
    return parts


def _category(graph: OnnxGraph, column: Category) -> list[str]:
    """Return the 0/1 features of a category."""
    k, others = len(column.values), int(column.others > 0)
    codes = {value: place for place, value in enumerate(column.values)}
    for value, place in list(codes.items()):  # a program may write whole numbers as 3.0
        codes.setdefault(f"{value}.0", place)
    codes |= dict.fromkeys(sorted(EMPTY), k + others if column.indicator else -1)
    found = _codes(graph, column.name, codes, k if others else -1)
    places = graph.constant(np.arange(len(column.features)), np.int64)
    return [graph.number(graph.add("Equal", found, places))]


def _words(graph: OnnxGraph, column: Text) -> list[str]:
    """Return the tf-idf of words between blanks, each cell scaled to unit length, and the mark of an empty cell."""
    given, k = graph.input(column.name, text=True), len(column.words)
    words = graph.add("StringSplit", given, unused=1)
    places = {word: place for place, word in enumerate(column.words)}
    found = graph.encoded(words, places, -1)
    none = graph.add("Unsqueeze", graph.encoded(given, {}, -1), graph.constant([1], np.int64))
    counts = graph.counted(graph.add("Concat", found, none, axis=1), k)
    weighted = graph.add("Mul", counts, graph.constant(column.weights))
    square = graph.add("ReduceSum", graph.add("Mul", weighted, weighted), graph.constant([1], np.int64))
    length = graph.add("Sqrt", graph.add("Where", _by(graph, "Equal", square, 0.0), graph.constant(1.0), square))
    parts = [graph.add("Div", weighted, length)]
    if column.indicator:
        parts.append(graph.number(graph.column(graph.encoded(given, {"": 1}, 0))))
    return parts


def _dates(graph: OnnxGraph, column: Date) -> list[str]:
    """Return days, the sine and cosine of parts of the date, and the mark of an empty cell."""
    microseconds = graph.add("Round", _by(graph, "Mul", graph.column(graph.input(column.name)), 86_400e6))
    given = _by(graph, "Div", microseconds, 86_400e6)  # to the last bit, however a program divides
    missing = graph.add("IsNaN", given)
    there = graph.add("Where", missing, graph.constant(0.0), given)
    filled, *marked = _filled(graph, given, column.fill, column.indicator)
    parts = [filled]
    for part in column.parts:
        found = _date_part(graph, part, there)
        for turn in ("Sin", "Cos"):
            parts.append(graph.add("Where", missing, graph.constant(0.0), _turned(graph, turn, part, found)))
    return parts + marked


def _turned(graph: OnnxGraph, turn: str, part: str, found: str) -> str:
    """Return the sine or cosine of a part of a date as a share of its turn.

    Those of whole months, weekdays and minutes are looked up: trees may split between the sines of two months that
    differ in the last bit, which is not the same in every library.
    """
    steps = PARTS[part] * (60 if part == "hour" else 1)
    angles = 2 * np.pi * (np.arange(steps) / (steps / PARTS[part])) / PARTS[part]
    place = graph.add("Round", _by(graph, "Mul", found, steps / PARTS[part])) if part == "hour" else found
    index = graph.add("Mod", graph.add("Cast", place, to=INT64), graph.constant(steps, np.int64))
    known = graph.chosen(np.sin(angles) if turn == "Sin" else np.cos(angles), index)
    if part != "hour":
        return known
    whole = graph.add("Equal", _by(graph, "Mul", found, 60.0), place)
    other = graph.add(turn, _by(graph, "Mul", found, 2 * np.pi / PARTS[part]))
    return graph.add("Where", whole, known, other)


def _by(graph: OnnxGraph, operator: str, a: str, b: float) -> str:
    return graph.add(operator, a, graph.constant(b))


def _date_part(graph: OnnxGraph, part: str, days: str) -> str:
    """Return month (0-11), weekday (0 is Monday) or hour of days since 1970-01-01, as `date_parts` does."""
    by = partial(_by, graph)

    def quotient(a: str, b: float) -> str:
        return graph.add("Floor", by("Div", a, b))

    def rest(a: str, b: float) -> str:
        return graph.add("Sub", a, by("Mul", quotient(a, b), b))

    whole = graph.add("Floor", days)
    if part == "hour":
        return by("Div", graph.add("Round", by("Mul", graph.add("Sub", days, whole), 86_400e6)), 3_600e6)
    if part == "weekday":
        return rest(by("Add", whole, 3.0), 7.0)
    # days of years that begin in March, in eras of 400 years
    day = rest(by("Add", whole, 719_468.0), 146_097.0)
    corrected = graph.add("Add", graph.add("Sub", day, quotient(day, 1460.0)), quotient(day, 36_524.0))
    year = quotient(graph.add("Sub", corrected, quotient(day, 146_096.0)), 365.0)
    before = graph.add("Sub", graph.add("Add", by("Mul", year, 365.0), quotient(year, 4.0)), quotient(year, 100.0))
    month = quotient(by("Add", by("Mul", graph.add("Sub", day, before), 5.0), 2.0), 153.0)
    return rest(by("Add", month, 2.0), 12.0)
