"""An ONNX graph under construction, and the steps that several models share.

All numbers are doubles: a threshold of a tree or a knot of a curve that is rounded to single precision sends rows to
the other side. Piecewise linear curves find their piece by a search tree (`TreeEnsemble` of ai.onnx.ml 5), which costs
memory for one number per row and curve, and kernels sum their distances over the features (`Scan`), which loses no
digits to cancellation.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints

# Versions of the operators and of the file, which runtimes have read since the autumn of 2024.
OPSET, OPSET_ML, IR_VERSION = 21, 5, 10
ML = "ai.onnx.ml"
# Number of the type in casts (`onnx.TensorProto`), which is part of the format.
INT64, DOUBLE = 7, 11
# Modes of the nodes of `TreeEnsemble`: to the true branch if x <= split, if x < split, or if x is among some values.
UP_TO, BELOW, AMONG = 0, 1, 6


class Trees(NamedTuple):
    """Binary trees as arrays. Children are numbered among the splits or, where `is_leaf` says so, among the leaves."""

    roots: Ints  # (trees,), split at the root of each tree
    feature: Ints  # (splits,), feature that a split compares
    split: Floats  # (splits,), value that it is compared with
    child: Ints  # (splits, 2), children, first the one for smaller values
    is_leaf: Bools  # (splits, 2), whether the children are leaves
    target: Ints  # (leaves,), output to which a leaf adds its value
    value: Floats  # (leaves,), values of the leaves
    # for each split, the values that go to the first child; none where the split compares. By default all compare
    among: tuple[AnyArray, ...] = ()


class OnnxGraph:
    """Nodes, constants, inputs and outputs of a graph; only inputs may have the names `taken`."""

    def __init__(self, taken: Collection[str] = ()) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self._names = (name for k in itertools.count() if (name := f"~{k}") not in taken)

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Return the name of a constant of an array; `dtype` object is for text."""
        from onnx import numpy_helper

        name = next(self._names)
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype=dtype), name))
        return name

    def add(
        self, operator: str, *inputs: str, domain: str = "", name: str = "", unused: int = 0, **attributes: Any
    ) -> str:
        """Return the name of the result of an operator, the first if there are several."""
        from onnx import helper

        name = name or next(self._names)
        names = [name, *(next(self._names) for _ in range(unused))]
        self.nodes.append(helper.make_node(operator, inputs, names, domain=domain, **attributes))
        return name

    def input(self, name: str, *shape: int, text: bool = False) -> str:
        """Add an input of any number of rows, and return its name."""
        self.inputs.append(_value(name, text, ["rows", *shape]))
        return name

    def output(self, value: str, name: str, *, text: bool = False) -> None:
        """Make a value of the graph an output."""
        self.add("Identity", value, name=name)
        self.outputs.append(_value(name, text, ["rows"]))

    def column(self, value: str) -> str:
        """Return (rows,) as (rows, 1)."""
        return self.add("Unsqueeze", value, self.constant([1], np.int64))

    def flat(self, value: str) -> str:
        """Return (rows, 1) as (rows,)."""
        return self.add("Squeeze", value, self.constant([1], np.int64))

    def number(self, value: str) -> str:
        """Return a value of any type as doubles."""
        from onnx import TensorProto

        return self.add("Cast", value, to=TensorProto.DOUBLE)

    def linear(self, x: str, coef: Floats, intercept: Floats | float) -> str:
        """Return x coef + intercept, (rows, k)."""
        return self.add("Add", self.add("MatMul", x, self.constant(coef)), self.constant(intercept))

    def chosen(self, table: AnyArray, index: str) -> str:
        """Return the entries of a table (k,) at an index of any shape."""
        return self.add("Gather", self.constant(table, table.dtype), index)

    def encoded(self, text: str, codes: Mapping[str, int], default: int) -> str:
        """Return the code of each text."""
        codes = codes or {"": default}
        keys, values = list(codes), list(codes.values())
        return self.add("LabelEncoder", text, domain=ML, keys_strings=keys, values_int64s=values, default_int64=default)

    def trees(self, x: str, trees: Trees, n_targets: int, mode: int = UP_TO) -> str:
        """Return the sums of the leaves that rows reach, (rows, n_targets)."""
        from onnx import TensorProto, helper

        n = len(trees.split)
        modes = np.full(n, mode, np.uint8)
        more: dict[str, Any] = {}
        if sets := [values for values in trees.among if len(values)]:
            modes[[len(values) > 0 for values in trees.among]] = AMONG
            listed = np.concatenate([np.append(values, np.nan) for values in sets])
            more["membership_values"] = helper.make_tensor("sets", TensorProto.DOUBLE, [len(listed)], listed)
        return self.add(
            "TreeEnsemble",
            x,
            domain=ML,
            n_targets=n_targets,
            aggregate_function=1,
            post_transform=0,
            tree_roots=trees.roots,
            nodes_featureids=trees.feature,
            nodes_splits=helper.make_tensor("splits", TensorProto.DOUBLE, [n], trees.split),
            nodes_modes=helper.make_tensor("modes", TensorProto.UINT8, [n], modes),
            nodes_truenodeids=trees.child[:, 0],
            nodes_trueleafs=trees.is_leaf[:, 0].astype(np.int64),
            nodes_falsenodeids=trees.child[:, 1],
            nodes_falseleafs=trees.is_leaf[:, 1].astype(np.int64),
            leaf_targetids=trees.target,
            leaf_weights=helper.make_tensor("values", TensorProto.DOUBLE, [len(trees.value)], trees.value),
            **more,
        )

    def interpolated(self, x: str, curves: Sequence[tuple[Floats, Floats]]) -> str:
        """Return a curve of each column of x (rows, m), linear between its knots and constant beyond them."""
        from onnx import TensorProto

        parts = [_pieces(*curve) for curve in curves]
        first = np.cumsum([0, *(len(part[0]) for part in parts[:-1])])
        count = self.trees(x, search_trees([knots for knots, _ in curves]), len(curves), BELOW)
        index = self.add("Add", self.add("Cast", count, to=TensorProto.INT64), self.constant(first, np.int64))
        start, value, slope = (self.chosen(np.concatenate(column), index) for column in zip(*parts, strict=True))
        return self.add("Add", self.add("Mul", slope, self.add("Sub", x, start)), value)

    def distances(self, x: str, centers: Floats, *, city_block: bool = False) -> str:
        """Return distances of rows from centers, (rows, r)."""
        apart = ["Abs", "d"] if city_block else ["Mul", "d", "d"]
        return self._summed(x, centers.T, [["Sub", "x1", "c", "d"], [*apart, "e"]])

    def counted(self, index: str, k: int) -> str:
        """Return how often each of 0 to k - 1 is in each row of whole numbers (rows, any), (rows, k)."""
        steps = [["Equal", "x1", "c", "d"], ["Where", "d", "1", "0", "e"]]
        return self._summed(self.number(index), np.arange(k, dtype=np.float64), steps)

    def _summed(self, x: str, others: Floats, steps: Sequence[Sequence[str]]) -> str:
        """Return a sum (rows, r) over the columns of x (rows, m), each combined with one of `others`, (m, r) or (r,).

        The steps [operator, inputs ..., output] make the summand "e" (rows, r) of a column "x1" and its other "c" (r,).
        """
        from onnx import TensorProto, helper, numpy_helper

        r = others.shape[-1]
        rows = self.add("Shape", x, start=0, end=1)
        shape = self.add("Concat", rows, self.constant([r], np.int64), axis=0)
        zero = self.add("Expand", self.constant(0.0), shape)
        steps = [["Unsqueeze", "x", "axis", "x1"], *steps, ["Add", "sum", "e", "more"]]
        used = {name for step in steps for name in step[1:]}
        own = {name: next(self._names) for name in sorted(used)}  # no name may be one of the outer graph
        shapes = {"sum": [None, r], "x": [None], "c": [r], "more": [None, r]}
        kinds = {
            name: helper.make_tensor_value_info(own[name], TensorProto.DOUBLE, known) for name, known in shapes.items()
        }
        constants = {"axis": np.array([1]), "0": np.array(0.0), "1": np.array(1.0)}
        scanned = [self.add("Transpose", x, perm=[1, 0])]
        if others.ndim == 1:
            constants["c"] = others
        else:
            scanned.append(self.constant(others))
        body = helper.make_graph(
            [helper.make_node(operator, [own[name] for name in named], [own[out]]) for operator, *named, out in steps],
            "one column",
            [kinds[name] for name in ("sum", "x", "c")[: 1 + len(scanned)]],
            [kinds["more"]],
            [numpy_helper.from_array(value, own[name]) for name, value in constants.items() if name in used],
        )
        return self.add("Scan", zero, *scanned, body=body, num_scan_inputs=len(scanned))

    def gaussian(self, x: str, centers: Floats, width: float) -> str:
        """Return exp(-|x - c|^2 / (2 width^2)), (rows, r)."""
        scaled = self.add("Mul", self.distances(x, centers), self.constant(-0.5 / width**2))
        return self.add("Exp", scaled)


def search_trees(knots: Sequence[Floats]) -> Trees:
    """Return a tree for each column that counts its knots, ascending, up to x."""
    roots, children, leaves = [], [], []
    n_splits = n_leaves = 0
    for points in knots:
        k = len(points)
        child, is_leaf = np.zeros((k, 2), np.int64), np.zeros((k, 2), bool)
        waiting = [(0, k)]  # the split of knots low to high is numbered as the middle one
        while waiting:
            low, high = waiting.pop()
            middle = (low + high) // 2
            for side, (a, b) in enumerate(((low, middle), (middle + 1, high))):
                is_leaf[middle, side] = a == b
                child[middle, side] = n_leaves + a if a == b else n_splits + (a + b) // 2
                if a < b:
                    waiting.append((a, b))
        roots.append(n_splits + k // 2)
        children.append((child, is_leaf))
        leaves.append(np.arange(k + 1))
        n_splits, n_leaves = n_splits + k, n_leaves + k + 1
    sizes = [len(points) for points in knots]
    return Trees(
        np.array(roots),
        np.repeat(np.arange(len(knots)), sizes),
        np.concatenate(knots),
        np.concatenate([child for child, _ in children]),
        np.concatenate([leaf for _, leaf in children]),
        np.repeat(np.arange(len(knots)), np.add(sizes, 1)),
        np.concatenate(leaves).astype(np.float64),
    )


def _pieces(knots: Floats, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return start, value and slope of the piece below each of k knots and of the last one, each (k + 1,)."""
    with np.errstate(all="ignore"):
        slopes = np.diff(values) / np.diff(knots)
    slopes = np.where(np.isfinite(slopes), slopes, 0.0)
    start = np.concatenate([knots[:1], knots])
    value = np.concatenate([values[:1], values])
    return start, value, np.concatenate([[0.0], slopes, [0.0]])


def _value(name: str, text: bool, shape: Sequence[Any]) -> Any:
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(name, TensorProto.STRING if text else TensorProto.DOUBLE, shape)
