"""BLS-SVM trained on blocks of rows, wherever a runner computes them.

The model needs sums over the rows alone (`pucli.solvers.glpual.sums`), so the client holds a few small matrices and
never the rows. Four passes: moments for the standardization, a sample for the checks of the columns, sums for the fit,
a histogram of the scores for the prior and the threshold. The choice from a grid takes two more passes, where the
sums of the training blocks are all sums minus those of the fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from sklearn.pipeline import Pipeline

from pucli.core.arrays import Floats, Ints
from pucli.core.errors import DegenerateModelWarning, UsageError
from pucli.data.labels import negation
from pucli.distributed.blocks import (
    BIN_WIDTH,
    HIGHEST_SCORE,
    LOWEST_SCORE,
    SCORE_BINS,
    Block,
    ColumnNames,
    Moments,
    RowMap,
    moments,
    row_sums,
    rows_at,
    score_histogram,
)
from pucli.distributed.sample import Checked, checked, sample, sample_shares
from pucli.estimators.base.data_defaults import MEASURED_ROWS, median_distance
from pucli.estimators.base.pu import degeneracy
from pucli.estimators.global_local.feature_model import LANDMARKS
from pucli.estimators.global_local.svm import BLSSVM
from pucli.methods import get_method
from pucli.models.calibration import ProbabilityCurve, curve_of, prior_of
from pucli.models.saved import SavedModel, make_pipeline
from pucli.solvers.glpual.sums import RowSums, solve_squares_from_sums
from pucli.solvers.kernels.low_rank import LANDMARK_ROWS, landmarks_of
from pucli.solvers.prior.best_bin import MOST_SCORES, smallest_bound
from pucli.tuning.grids import expand
from pucli.tuning.scorers import RANKING, PointScores, Rule, choose

METHOD = "blssvm"


class Mergeable(Protocol):
    """A result of blocks that adds up."""

    def plus(self, other: Self) -> Self:
        """Return the result of both."""
        ...


M = TypeVar("M", bound=Mergeable)


class Runner(Protocol):
    """Computes a function of each block, and adds the results up in the order of the blocks."""

    def total(self, function: Callable[[Block], M], blocks: Sequence[Block]) -> M:
        """Return the sum of the results."""
        ...


@dataclass(frozen=True)
class BlockModel:
    """A model that was trained on blocks."""

    estimator: BLSSVM  # fitted
    features: RowMap  # map from raw rows to the columns of the model
    columns: ColumnNames
    labels: dict[str, int]  # number of rows with each label
    standardized: bool
    # share of positives among the unlabeled rows by the best bin of the training scores, and the score above which that
    # share of them lies
    prior: float
    threshold: float
    checked: Checked  # findings about the columns
    curve: ProbabilityCurve | None = None  # probabilities by score

    @property
    def coef(self) -> Floats:
        """Coefficients (r,) of the columns; the last is the intercept minus the threshold of the estimator."""
        return np.append(self.estimator._coef, self.estimator._intercept - (self.estimator.threshold or 0.0))

    def of_rows(self, X: Floats) -> dict[str, Floats]:
        """Return for each row of X (n, m) the score, the probability and its range."""
        scores = self.features(X) @ self.coef
        return {"score": scores} | ({} if self.curve is None else self.curve.of(scores))

    def to_save(self, data: str) -> SavedModel:
        """Return the model as a model file holds it."""
        pipeline = make_pipeline(self.estimator, standardize=self.standardized)
        if self.standardized:
            scaler = pipeline[0]
            scaler.mean_, scaler.scale_, scaler.constant_ = self.features[:3]
            scaler.n_features_in_ = len(self.columns.features)
        found = saved(METHOD, pipeline, self.columns, class_names_of(self.labels, self.columns), data, self.checked)
        if self.curve is not None:
            found.metadata["probability"] = self.curve.record()
        return found


def class_names_of(labels: Mapping[str, int], columns: ColumnNames) -> list[str]:
    """Return the labels of unlabeled rows and of positives in the files."""
    others = [label for label in labels if label != columns.positive]
    return [others[0] if len(others) == 1 and others[0] else negation(columns.positive), columns.positive]


def saved(
    method: str, pipeline: Pipeline, columns: ColumnNames, words: Sequence[str], data: str, checked: Checked
) -> SavedModel:
    """Return a model of numeric columns in the form in which it is saved."""
    names = list(columns.features)
    metadata = {
        "kind": "pu",
        "label_column": columns.label,
        "words": dict(zip("01", words, strict=True)),
        "data": {"file": data, "label": columns.label, "positive": columns.positive, **checked.marks},
        "id_columns": [],
        "leaks": list(checked.leaks),
        "denominator": "unlabeled",
        "preprocessing": "standardize" if len(pipeline) > 1 else "none",
    }
    return SavedModel(pipeline, method, names, metadata, encoder=checked.encoder(names))


def checked_columns(runner: Runner, blocks: Sequence[Block], columns: ColumnNames) -> tuple[Moments, ColumnNames, int]:
    """Count the labels and return them with the moments of all rows."""
    known = runner.total(partial(moments, columns=columns), blocks)
    columns = columns._replace(positive=columns.positive or _greater(known.labels))
    n_p = known.labels.get(columns.positive, 0)
    if n_p in (0, known.n):
        raise UsageError(
            f"label column {columns.label!r}: {n_p} of {known.n} rows have the label {columns.positive!r}; PU learning "
            "needs labeled positives and unlabeled rows."
        )
    return known, columns, n_p


def train_on_blocks(
    runner: Runner,
    blocks: Sequence[Block],
    columns: ColumnNames,
    params: Mapping[str, Any],
    *,
    standardize: bool = True,
    grid: Mapping[str, Any] | None = None,
    folds: int = 4,
) -> BlockModel:
    """Train BLS-SVM on blocks of rows."""
    model = BLSSVM(**params)
    try:
        model._validate_params()
    except ValueError as error:
        raise UsageError(f"{METHOD}: {error}") from error
    known, columns, n_p = checked_columns(runner, blocks, columns)
    shares = sample_shares(n_p, known.n - n_p)
    some = runner.total(partial(sample, columns=columns, shares=shares, seed=0), blocks)
    model.classes_, model.n_features_in_ = np.array([0, 1]), len(columns.features)
    features = _row_map(runner, blocks, columns, known, model, standardize)
    if grid:
        model.set_params(**_choose(runner, blocks, columns, features, model, grid, folds))
    sums = runner.total(partial(row_sums, columns=columns, features=features), blocks)
    _set_ridge(model, sums)
    found = solve_squares_from_sums(sums, model.lam_, model.c_p, model.c_u_)
    model._keep_coef(found.coef)
    model._keep_certificate(found)
    if not standardize and model.kernel == "linear":
        model._intercept -= float(features.mean @ model._coef)
        features = features._replace(mean=np.zeros(len(features.mean)))
    about = checked(some, known, columns)
    unfinished = BlockModel(model, features, columns, known.labels, standardize, np.nan, np.nan, about)
    return _with_threshold(runner, blocks, unfinished)


def _greater(labels: Mapping[str, int]) -> str:
    """Return the greater of two labels that are numbers."""
    try:
        return max((label for label in labels if label), key=float)
    except ValueError:
        raise UsageError(f"--positive names the label that marks positives: one of {', '.join(labels)}.") from None


def _row_map(
    runner: Runner, blocks: Sequence[Block], columns: ColumnNames, known: Moments, model: BLSSVM, standardize: bool
) -> RowMap:
    """Return the map to the columns of the model; sets its width and landmarks."""
    m = len(columns.features)
    deviation = np.sqrt(known.squares / known.n)
    constant = (known.high == known.low) | (deviation == 0)
    features = RowMap(known.mean, np.where(constant, 1.0, deviation), constant)
    if not standardize:
        # centered for a linear model, whose intercept takes that back: products of far columns lose digits
        center = known.mean if model.kernel == "linear" else np.zeros(m)
        features = RowMap(center, np.ones(m), np.zeros(m, dtype=bool))
    model.width_ = np.nan
    if model.kernel != "rbf":
        return features
    model.width_ = float(model.width) if not isinstance(model.width, str) else np.nan
    numbers = [
        np.linspace(0, known.n - 1, min(known.n, size)).astype(np.int64) for size in (MEASURED_ROWS, LANDMARK_ROWS)
    ]
    wanted = np.unique(np.concatenate(numbers))
    some = runner.total(partial(rows_at, columns=columns, numbers=wanted), blocks)
    order = np.argsort(some.numbers)
    rows = features.standardized(some.X[order])
    if np.isnan(model.width_):
        model.width_ = median_distance(model, rows[np.searchsorted(wanted, numbers[0])], np.zeros(0, dtype=bool))
    candidates = rows[np.searchsorted(wanted, numbers[1])]
    found = landmarks_of(candidates, model.width_, model.max_rank or LANDMARKS)
    model.landmarks_, model.landmark_factor_ = candidates[found.pivots], found.factor
    features = features._replace(landmarks=model.landmarks_, factor=found.factor, width=model.width_)
    left = 1.0 - (features(some.X[order])[:, :-1] ** 2).sum(axis=1)
    model.kernel_residual_ = max(float(left.max()), 0.0)
    return features


def _set_ridge(model: BLSSVM, sums: RowSums) -> None:
    """Set lam_ and c_u_: the numbers given, or what their words stand for (`pucli.estimators.base.data_defaults`)."""
    n_p, n_u = sums.n_labeled, sums.n_unlabeled
    model.lam_ = 2.0 * model.c_p * n_p / (n_p + n_u) if isinstance(model.lam, str) else float(model.lam)
    model.c_u_ = model.c_p * n_p / n_u if isinstance(model.c_u, str) else float(model.c_u)


def _choose(
    runner: Runner,
    blocks: Sequence[Block],
    columns: ColumnNames,
    features: RowMap,
    model: BLSSVM,
    grid: Mapping[str, Any],
    folds: int,
) -> dict[str, Any]:
    """Return the point of the grid with the greatest PU-AUC on held-out blocks, and its threshold."""
    if len(blocks) < folds:
        raise UsageError(f"{len(blocks)} blocks cannot fill {folds} folds; write smaller row groups.")
    points = expand(grid)
    parts = [list(blocks[fold::folds]) for fold in range(folds)]
    fold_sums = [runner.total(partial(row_sums, columns=columns, features=features), part) for part in parts]
    total = reduce(RowSums.plus, fold_sums)
    found = []
    for part, held_out in zip(parts, fold_sums, strict=True):
        rest = RowSums(total.G_p - held_out.G_p, total.G_u - held_out.G_u, total.G_r)
        coefs = []
        for point in points:
            trial = BLSSVM(**{**model.get_params(), **point})
            _set_ridge(trial, total)
            coefs.append(solve_squares_from_sums(rest, trial.lam_, trial.c_p, trial.c_u_).coef)
        score = partial(score_histogram, columns=columns, features=features, coef=np.array(coefs))
        found.append(runner.total(score, part).values)
    labeled, unlabeled = np.sum(found, axis=0)
    below = np.cumsum(unlabeled, axis=1) - 0.5 * unlabeled
    areas = (labeled * below).sum(axis=1) / (labeled.sum(axis=1) * unlabeled.sum(axis=1))
    entry, none = get_method(METHOD), np.zeros(len(points))
    best = choose(
        points, PointScores(areas, none, none > 0), Rule(RANKING, "unlabeled", entry.regularization, entry.ridge)
    )
    if model.threshold is not None:
        return points[best]
    return {**points[best], "threshold": _best_threshold(labeled[best], unlabeled[best])}


def _best_threshold(labeled: Ints, unlabeled: Ints) -> float:
    """Return the lower end of the bin for which the estimated F1 of the rows above is greatest."""
    prior, _ = prior_and_threshold(labeled, unlabeled)
    recall, share = (np.cumsum(n[::-1]) / n.sum() for n in (labeled, unlabeled))
    place = int(np.argmax(2.0 * prior * recall / (share + prior)))
    return HIGHEST_SCORE - BIN_WIDTH * (place + 1)


def _with_threshold(runner: Runner, blocks: Sequence[Block], model: BlockModel) -> BlockModel:
    """Return the model with the prior, the threshold and the shares of positives that its histogram of scores gives."""
    score = partial(score_histogram, columns=model.columns, features=model.features, coef=model.coef)
    labeled, unlabeled = runner.total(score, blocks).values
    zero = round(-LOWEST_SCORE / (HIGHEST_SCORE - LOWEST_SCORE) * SCORE_BINS)
    model.estimator.positive_share_ = float(unlabeled[zero:].sum() / unlabeled.sum())
    model.estimator.labeled_recall_ = float(labeled[zero:].sum() / labeled.sum())
    useless = degeneracy(model.estimator.positive_share_, model.estimator.labeled_recall_)
    if useless:
        warnings.warn(f"{METHOD} {useless}", DegenerateModelWarning, stacklevel=3)
    prior, threshold = prior_and_threshold(labeled, unlabeled)
    positive, population = _drawn(labeled), _drawn(unlabeled)
    curve = curve_of(positive, population, prior_of(positive, population, prior))
    return replace(model, prior=prior, threshold=threshold, curve=curve)


def _drawn(counts: Ints) -> Floats:
    """Return at most `MOST_SCORES` ascending scores, at even shares of the rows counted in each bin."""
    n = min(int(counts.sum()), MOST_SCORES)
    bins = np.searchsorted(np.cumsum(counts) / counts.sum(), (np.arange(n) + 0.5) / n)
    return np.asarray(LOWEST_SCORE + BIN_WIDTH * (bins + 0.5), dtype=np.float64)


def prior_and_threshold(labeled: Ints, unlabeled: Ints) -> tuple[float, float]:
    """Return the best bin estimate of the prior (`pucli.solvers.prior.best_bin`) and the threshold at it.

    Thresholds are the lower ends of the bins. Scores of training rows serve for held-out ones: with thousands of rows
    for each coefficient they hardly differ.
    """
    n_p, n_u = int(labeled.sum()), int(unlabeled.sum())
    q_p, q_u = np.cumsum(labeled[::-1]) / n_p, np.cumsum(unlabeled[::-1]) / n_u
    prior = smallest_bound(q_p, q_u, (n_p, n_u))
    place = int(np.searchsorted(q_u, prior))
    return prior, HIGHEST_SCORE - BIN_WIDTH * (min(place, SCORE_BINS - 1) + 1)
