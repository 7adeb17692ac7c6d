"""Boosted trees on blocks of rows, by LightGBM's Dask interface: an optional member of `auto` on blocks.

Each worker holds the bins of its blocks, one byte a cell, and LightGBM adds up the workers' histograms of gradients.
For each fold a model is trained without it. The trees become those of `pucli.solvers.ensemble.trees`, so that a model
file holds arrays and predictions do not need LightGBM. With another number of workers sums are added in another order,
and the trees may differ.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.core.errors import UsageError
from pucli.distributed.blocks import Block, ColumnNames, read_rows
from pucli.solvers.ensemble.boosting.grow import Tree
from pucli.solvers.ensemble.forests import BoostingKind, TreeSum
from pucli.solvers.ensemble.members import Views
from pucli.solvers.ensemble.trees import Forest, join

# Attempts to train a model, and minutes until workers that do not respond are given up.
ATTEMPTS, SILENT_MINUTES = 3, 2
# The fold of each row of a block (n,)
FoldOf: TypeAlias = Callable[[Block], Ints]


def boosted_on_blocks(
    client: Any,
    blocks: Sequence[Block],
    columns: ColumnNames,
    views: Views,
    fold_of: FoldOf,
    n_folds: int,
    weights: tuple[float, float],
    seed: int,
) -> list[TreeSum]:
    """Train one model for each fold on the rows outside of it."""
    _quiet()
    models = []
    for fold in range(n_folds):
        rows_of = partial(_rows_of, columns=columns, views=views, fold_of=fold_of, fold=fold, weights=weights)
        models.append(_boosted(client, blocks, rows_of, len(columns.features), seed))
    return models


def _quiet() -> None:
    """Keep LightGBM's messages off the standard output, in this thread."""
    with suppress(ImportError):
        import lightgbm

        logger = logging.getLogger("pucli.lightgbm")
        logger.setLevel(logging.ERROR)
        lightgbm.register_logger(logger)


def _boosted(client: Any, blocks: Sequence[Block], rows_of: Callable[..., Any], m: int, seed: int) -> TreeSum:
    """Return the model of the rows that `rows_of` returns for each block."""
    try:
        from lightgbm import DaskLGBMRegressor
        from lightgbm.basic import LightGBMError
    except ImportError as error:
        raise UsageError("--boosting needs LightGBM: `pip install 'pucli[boosting]'`.") from error
    kind = BoostingKind()
    for attempt in range(ATTEMPTS):
        bins, targets, weight = _on_workers(blocks, rows_of, m)
        # a worker's blocks may hold labeled or unlabeled rows alone, which the cross entropy allows
        model = DaskLGBMRegressor(
            client=client, objective="cross_entropy", boost_from_average=False, n_estimators=kind.rounds,
            learning_rate=kind.rate, max_depth=kind.depth, num_leaves=2**kind.depth, min_child_samples=kind.least,
            min_child_weight=0.0, reg_lambda=kind.ridge, subsample=kind.sample, subsample_freq=1, colsample_bytree=1.0,
            feature_fraction_bynode=kind.features, min_data_in_bin=1, max_bin=255, enable_bundle=False,
            random_state=seed, time_out=SILENT_MINUTES, verbose=-1,
        )  # fmt: skip
        try:
            model.fit(bins, targets, sample_weight=weight)
        except (LightGBMError, OSError, RuntimeError) as error:
            if attempt == ATTEMPTS - 1:
                raise UsageError(f"--boosting: LightGBM could not train on the workers ({error}).") from error
        else:
            return TreeSum(forest_of(model.booster_.dump_model()), 1.0)
    raise AssertionError


def _on_workers(blocks: Sequence[Block], rows_of: Callable[..., Any], m: int) -> tuple[Any, Any, Any]:
    """Return Dask arrays of bins (n, m), targets (n,) and weights (n,)."""
    import dask.array as da
    from dask import delayed

    parts = [delayed(rows_of, nout=3)(block) for block in blocks]
    shapes = ((np.nan, m), np.uint8), ((np.nan,), np.float32), ((np.nan,), np.float32)
    arrays = [
        da.concatenate([da.from_delayed(part[k], shape=shape, dtype=kind) for part in parts])
        for k, (shape, kind) in enumerate(shapes)
    ]
    return arrays[0], arrays[1], arrays[2]


def _rows_of(
    block: Block, columns: ColumnNames, views: Views, fold_of: FoldOf, fold: int, weights: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the bins, the targets and the weights of the rows of a block outside of a fold."""
    _quiet()
    X, labeled = read_rows(block, columns)
    kept = fold_of(block) != fold
    labeled = labeled[kept]
    return views.one("bins", X[kept]), labeled.astype(np.float32), np.where(labeled, *weights).astype(np.float32)


def forest_of(dumped: dict[str, Any]) -> Forest:
    """Return the trees of a dumped LightGBM model of bins as a `Forest`.

    Examples
    --------
    >>> leaves = {"leaf_value": -1.0}, {"leaf_value": 2.0}
    >>> split = {"split_feature": 0, "threshold": 3.5, "left_child": leaves[0], "right_child": leaves[1]}
    >>> forest = forest_of({"tree_info": [{"tree_structure": split}]})
    >>> forest.sum(np.array([[3], [4]], dtype=np.uint8)).tolist()
    [-1.0, 2.0]
    """
    return join([_tree_of(tree["tree_structure"]) for tree in dumped["tree_info"]])


def _tree_of(root: dict[str, Any]) -> Tree:
    nodes, children = [root], []
    for node in nodes:  # grows meanwhile
        children.append(len(nodes))
        if "split_feature" in node:
            nodes += [node["left_child"], node["right_child"]]
    feature = np.array([node.get("split_feature", -1) for node in nodes], dtype=np.int32)
    cut = np.array([np.floor(node.get("threshold", 0.0)) for node in nodes], dtype=np.uint8)
    value = np.array([node.get("leaf_value", 0.0) for node in nodes], dtype=np.float64)
    child = np.where(feature >= 0, np.array(children, dtype=np.int32), 0).astype(np.int32)
    return feature, cut, child, value


class ScoreSums(NamedTuple):
    """Number, sum and sum of squares of some scores."""

    n: int
    total: float
    squares: float

    def plus(self, other: ScoreSums) -> ScoreSums:
        """Return the sums of both."""
        return ScoreSums(self.n + other.n, self.total + other.total, self.squares + other.squares)

    @property
    def deviation(self) -> float:
        """Standard deviation."""
        return float(np.sqrt(max(self.squares / self.n - (self.total / self.n) ** 2, 0.0)))


def held_out_sums(
    block: Block, columns: ColumnNames, views: Views, models: Sequence[TreeSum], fold_of: FoldOf, whole: bool
) -> ScoreSums:
    """Return the sums of the held-out scores of one block."""
    X, labeled = read_rows(block, columns)
    counted = np.ones(len(X), dtype=bool) if whole else ~labeled
    score = held_out_scores(models, views.one("bins", X[counted]), fold_of(block)[counted])
    return ScoreSums(len(score), float(score.sum()), float(score @ score))


def held_out_scores(models: Sequence[TreeSum], bins: np.ndarray, fold: np.ndarray) -> Floats:
    """Return the score of each row by the model that was trained without its fold."""
    score = np.empty(len(bins))
    for b, model in enumerate(models):
        score[fold == b] = model.score(bins[fold == b])
    return score


def mean_of(models: Sequence[TreeSum]) -> TreeSum:
    """Return the mean of the models."""
    forests = [model.forest for model in models]
    starts = np.cumsum([0, *(int(forest.start[-1]) for forest in forests)])
    start = np.concatenate([[0], *(forest.start[1:] + s for forest, s in zip(forests, starts, strict=False))])
    parts = [np.concatenate([getattr(f, name) for f in forests]) for name in ("feature", "cut", "child", "value")]
    return TreeSum(Forest(start, *parts), 1.0 / len(models))
