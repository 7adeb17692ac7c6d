"""The ensemble of `pucli auto` in a graph: views of the features, kernel ridges, trees, and the curves after them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pucli.core.errors import UsageError
from pucli.estimators.auto.auto_pu import AutoPU
from pucli.models.onnx.graph import DOUBLE, OnnxGraph, Trees
from pucli.solvers.ensemble.boosting.categories import CategoryTrees
from pucli.solvers.ensemble.ensemble import Ensemble, FittedMember
from pucli.solvers.ensemble.forests import TreeSum
from pucli.solvers.ensemble.least_squares.linear import Linear
from pucli.solvers.ensemble.members import Views
from pucli.solvers.ensemble.refit import QuantileMap, Refitted
from pucli.solvers.ensemble.ridge import KernelRidge
from pucli.solvers.ensemble.trees import Bins, Forest


def auto_scores(graph: OnnxGraph, model: AutoPU, x: str) -> tuple[str, str]:
    """Return scores and probabilities of the rows of x (rows, m), both (rows, 1)."""
    if model._columns is not None:
        x = graph.add("Gather", x, graph.constant(model._columns, np.int64), axis=1)
    score = _scored(graph, model.ensemble_, x)
    curve = graph.interpolated(score, [(model.calibration_.scores, model.calibration_.probabilities)])
    least = float(model.probability_of(np.array([-np.inf]))[0])
    probability = graph.add("Max", curve, graph.constant(least))
    return graph.add("Sub", score, graph.constant(model.threshold_)), probability


def _scored(graph: OnnxGraph, ensemble: Ensemble | Refitted, x: str) -> str:
    if isinstance(ensemble, Refitted):
        return _mapped(graph, ensemble.scale, _scored(graph, ensemble.ensemble, x))
    views: dict[str, str] = {}
    signed = graph.add("Mul", x, graph.constant(ensemble.views.signs))
    total = ""
    for member in ensemble.members:
        if member.view not in views:
            views[member.view] = _view(graph, ensemble.views, member.view, signed)
        one = _member(graph, member, ensemble.views.bins, views[member.view])
        total = graph.add("Add", total, one) if total else one
    return graph.add("Div", total, graph.constant(float(len(ensemble.members))))


def _view(graph: OnnxGraph, views: Views, name: str, x: str) -> str:
    """Return the features as a member takes them; trees compare them with the borders of the bins themselves."""
    if name == "raw":
        return graph.add("Mul", graph.add("Sub", x, graph.constant(views.raw.mean)), graph.constant(views.raw.scale))
    if name == "ranks":
        ranks = views.ranks
        ends = zip(ranks.start[:-1], ranks.start[1:], strict=True)
        return graph.interpolated(x, [(ranks.values[a:b], ranks.normal[a:b]) for a, b in ends])
    return x


def _member(graph: OnnxGraph, member: FittedMember, bins: Bins, x: str) -> str:
    """Return the standardized score of a member, (rows, 1)."""
    model = member.model
    if type(model) is KernelRidge:
        score = _ridge(graph, model, x)
    elif type(model) is TreeSum:
        # bin up to the cut means value up to the border that this bin ends with
        score = _sum(graph, *forest_trees(model.forest, bins), model.scale, len(bins.start) - 1, x)
    elif type(model) is CategoryTrees:
        score = _category_trees(graph, model, bins, x)
    elif type(model) is Linear:
        score = graph.linear(x, model.weights[:, None], model.constant)
    else:
        raise UsageError(
            f"the member {member.name} of this model has no ONNX form; only least squares and trees of pucli have."
        )
    centered = graph.add("Sub", score, graph.constant(member.center))
    return graph.add("Mul", centered, graph.constant(member.scale))


def _ridge(graph: OnnxGraph, model: KernelRidge, x: str) -> str:
    if model.kernel == "laplace":
        apart = graph.distances(x, model.landmarks, city_block=True)
        K = graph.add("Exp", graph.add("Mul", apart, graph.constant(-1.0 / model.width)))
    else:
        K = graph.gaussian(x, model.landmarks, model.width)
    return graph.linear(K, model.weights[:, None], model.constant)


def _sum(graph: OnnxGraph, trees: Trees, constant: float, scale: float, m: int, x: str) -> str:
    if not len(trees.roots):
        return graph.linear(x, np.zeros((m, 1)), scale * constant)
    total = graph.add("Add", graph.trees(x, trees, 1), graph.constant(constant))
    return graph.add("Mul", total, graph.constant(scale))


def _category_trees(graph: OnnxGraph, model: CategoryTrees, bins: Bins, x: str) -> str:
    """Return the sum of trees on the features and, after them, the number of the level of each category."""
    categories, m = model.categories, len(bins.start) - 1
    columns = [x]
    for number in range(categories.count):
        levels = np.flatnonzero(categories.category == number)
        cells = graph.add("Gather", x, graph.constant(levels, np.int64), axis=1)
        above = graph.add("Greater", cells, graph.constant(bins.borders[bins.start[levels]]))
        there = graph.add("Xor", above, graph.constant(categories.present[levels] == 0, bool))
        there = graph.add("Cast", there, to=DOUBLE)
        first = graph.add("Cast", graph.add("ArgMax", there, axis=1, keepdims=1), to=DOUBLE)
        found = graph.add("ReduceMax", there, graph.constant([1], np.int64), keepdims=1)
        columns.append(graph.add("Mul", found, graph.add("Add", first, graph.constant(1.0))))
    wide = graph.add("Concat", *columns, axis=1)
    place = np.concatenate([np.flatnonzero(categories.category < 0), m + np.arange(categories.count)])
    forest = model.forest
    inner = forest.feature >= 0
    coded = inner & (model.levels != 0)
    moved = replace(forest, feature=np.where(inner, place[np.maximum(forest.feature, 0)], -1))
    codes = Bins(np.append(bins.borders, np.inf), np.append(bins.start, np.full(categories.count, bins.start[-1])))
    trees, constant = forest_trees(moved, codes)
    bits = np.arange(63)
    among = tuple(bits[(one >> bits) & 1 == 1].astype(np.float64) for one in np.where(coded, model.levels, 0)[inner])
    return _sum(graph, trees._replace(among=among), constant, model.scale, m + categories.count, wide)


def forest_trees(forest: Forest, bins: Bins) -> tuple[Trees, float]:
    """Return the trees of a forest with thresholds in units of the features, and the sum of trees without a split."""
    inner = forest.feature >= 0
    number = np.where(inner, np.cumsum(inner), np.cumsum(~inner)) - 1  # among the splits, or among the leaves
    nodes = np.flatnonzero(inner)
    tree = np.searchsorted(forest.start, nodes, side="right") - 1
    left = forest.start[tree] + forest.child[nodes]
    pair = np.column_stack([left, left + 1])
    roots = forest.start[:-1]
    feature, cut = forest.feature[nodes].astype(np.int64), forest.cut[nodes].astype(np.int64)
    border = bins.start[feature] + cut
    last = border >= bins.start[feature + 1]  # no value lies in a later bin
    split = np.where(last, np.inf, bins.borders[np.minimum(border, len(bins.borders) - 1)])
    trees = Trees(
        number[roots[inner[roots]]],
        feature,
        split,
        number[pair],
        ~inner[pair],
        np.zeros(int(np.count_nonzero(~inner)), np.int64),
        forest.value[~inner],
    )
    return trees, float(forest.value[roots[~inner[roots]]].sum())


def _mapped(graph: OnnxGraph, scale: QuantileMap, score: str) -> str:
    """Return scores mapped by a curve with slope one beyond its ends."""
    inside = graph.interpolated(score, [(scale.source, scale.target)])
    below = graph.add("Min", graph.add("Sub", score, graph.constant(scale.source[0])), graph.constant(0.0))
    above = graph.add("Max", graph.add("Sub", score, graph.constant(scale.source[-1])), graph.constant(0.0))
    return graph.add("Sum", inside, below, above)
