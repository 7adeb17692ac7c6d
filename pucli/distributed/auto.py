"""The kernel ridge regressions of `AutoPU`, trained on blocks of rows.

A sample of the rows chooses widths, ridges and landmarks. The fit on all rows then needs sums of products of kernel
values alone (`pucli.solvers.ensemble.ridge`), for each fold and each kind of row. Four passes: moments, the sample, the
sums, and histograms of the held-out scores, from which the prior, the threshold and the estimates follow as they do
from the scores. Boosted trees can be added (`pucli.distributed.boosting`). Forests and the second fit with soft labels
need all rows at once, and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.core.errors import UsageError
from pucli.core.seeding import stream
from pucli.distributed.blocks import Block, ColumnNames, Moments, Total, read_rows
from pucli.distributed.boosting import boosted_on_blocks, held_out_scores, held_out_sums, mean_of
from pucli.distributed.sample import Checked, RowSample, Shares, checked, sample, sample_shares, uniform
from pucli.distributed.training import Runner, checked_columns, class_names_of, saved
from pucli.estimators.auto.auto_pu import AutoPU
from pucli.estimators.auto.leaderboard import warn_of_chance
from pucli.estimators.auto.random_labeling import RandomLabeling, random_labeling
from pucli.metrics.ranking import auc, chance_limit, true_auc
from pucli.models.saved import SavedModel, make_pipeline
from pucli.solvers.ensemble.class_prior import OutOfFoldScores
from pucli.solvers.ensemble.ensemble import Ensemble, FittedMember
from pucli.solvers.ensemble.estimates import f1_of
from pucli.solvers.ensemble.forests import BoostingKind, TreeSum
from pucli.solvers.ensemble.members import Views, make_views
from pucli.solvers.ensemble.ridge import (
    CHOOSING_ROWS,
    KernelRidge,
    fit_kernel_ridge,
    pick_landmarks,
    solve_sums,
)
from pucli.solvers.ensemble.rows import Standardize, feature_signs, varying_columns
from pucli.solvers.ensemble.threshold import check_wanted, recall_above
from pucli.solvers.folds import stratified_folds
from pucli.solvers.kernels.intercept import with_intercept

KINDS = (("raw", "gaussian"), ("raw", "laplace"), ("ranks", "gaussian"), ("ranks", "laplace"))
FOLDS = 3
# Bins and ends of histograms of standardized scores; largest number of scores taken from one.
BINS, LOWEST, HIGHEST, MOST_SCORES = 16_000, -8.0, 8.0, 100_000
# Rows whose kernel values are computed at once: 64 MB with 400 landmarks.
CHUNK = 20_000


@dataclass(frozen=True)
class BlockAuto:
    """An `AutoPU` that was trained on blocks."""

    estimator: AutoPU
    columns: ColumnNames
    labels: dict[str, int]  # number of rows with each label
    # number of unlabeled rows whose held-out score is above the threshold, up to the width of a bin
    called_positive: int
    random_labeling: RandomLabeling  # test on the sample
    checked: Checked  # findings about the columns

    def of_rows(self, X: Floats) -> dict[str, Floats]:
        """Return for each row of X (n, m) the score minus the threshold, the probability and its range."""
        score = self.estimator._score(X)
        probability = self.estimator.probability_of(score + self.estimator.threshold_)
        low, high = self.estimator.probability_range(probability)
        return {"score": score, "probability": probability, "probability_low": low, "probability_high": high}

    def to_save(self, data: str) -> SavedModel:
        """Return the model as a model file holds it."""
        pipeline = make_pipeline(self.estimator, standardize=False)
        found = saved("auto", pipeline, self.columns, class_names_of(self.labels, self.columns), data, self.checked)
        found.metadata["doubt"] = self.random_labeling.doubt
        return found


def auto_on_blocks(
    runner: Runner, blocks: Sequence[Block], columns: ColumnNames, params: dict[str, Any], client: Any = None
) -> BlockAuto:
    """Train `AutoPU` with kernel ridge regressions, and boosted trees if wanted, on blocks of rows."""
    model, seed = AutoPU(**params), int(params["random_state"])
    if model.labeling != "scar":
        raise UsageError("--labeling sar cannot be used on blocks; it needs all rows at once.")
    known, columns, n_p = checked_columns(runner, blocks, columns)
    if min(n_p, known.n - n_p) < 2:
        raise UsageError(f"label column {columns.label!r}: at least 2 labeled and 2 unlabeled rows are needed.")
    whole = model.scenario != "case-control"
    check_wanted(model.goal, model.wanted, known.n if whole else known.n - n_p)
    model.classes_, model.n_features_in_, model.n_negative_ = np.array([0, 1]), len(columns.features), 0
    shares = sample_shares(n_p, known.n - n_p)
    all_columns = columns
    some = runner.total(partial(sample, columns=columns, shares=shares, seed=seed), blocks)
    about = checked(some, known, columns)
    model._columns = varying_columns(np.stack([known.low, known.high]))
    some, known, columns = _of_columns(model._columns, some, known, columns)
    views = _views(some, shares, known)
    members = _choose(some, views, seed)
    sums = runner.total(partial(_fold_sums, columns=columns, views=views, members=members, seed=seed), blocks).values
    fitted, by_fold = _fit_all(members, sums, n_p, known.n, whole, len(some.X))
    if client is not None:
        weights = (0.5 * known.n / n_p, 0.5 * known.n / (known.n - n_p))
        member, models = _boosted(runner, client, blocks, columns, views, weights, whole, seed)
        fitted, by_fold = [*fitted, member], [*by_fold, models]
    ensemble = Ensemble(views, fitted)
    score = partial(_score_histograms, columns=columns, ensemble=ensemble, by_fold=by_fold, seed=seed)
    counts = runner.total(score, blocks).values
    positive, unlabeled = counts[-1]
    model.ensemble_ = ensemble
    share = n_p / known.n if whole else 0.0
    population = scores_of(unlabeled + positive if whole else unlabeled)
    model._conclude(OutOfFoldScores(scores_of(positive), population, share, seed))
    hidden = float(np.clip((model.prior_ * known.n - n_p) / (known.n - n_p), 0.0, 1.0)) if whole else model.prior_
    model.leaderboard_ = _leaderboard(model, fitted, counts, hidden, whole)
    ranking = auc(scores_of(positive), scores_of(unlabeled))
    warn_of_chance(ranking, chance_limit(n_p, known.n - n_p))
    test = random_labeling(some.X, some.labeled, hidden, stream(seed, "random labelling"))
    test = test.of_columns(model._columns)
    above = int(unlabeled[_middles() > model.threshold_].sum())
    return BlockAuto(model, all_columns, known.labels, above, test, about)


def _of_columns(
    kept: Ints, some: RowSample, known: Moments, columns: ColumnNames
) -> tuple[RowSample, Moments, ColumnNames]:
    """Return the sample, the moments and the names of the columns `kept` alone."""
    names = tuple(columns.features[k] for k in kept)
    of_kept = {name: getattr(known, name)[kept] for name in ("mean", "squares", "low", "high")}
    return some._replace(X=some.X[:, kept]), known._replace(**of_kept), columns._replace(features=names)


def fold_of(block: Block, seed: int) -> Ints:
    """Return the fold of each row of a block (n,)."""
    return (uniform(block, seed + 1) * FOLDS).astype(np.int64)


def _fold_sums(block: Block, columns: ColumnNames, views: Views, members: Sequence[FittedMember], seed: int) -> Total:
    """Return the sums of kernel products of one block, (members, FOLDS, 2, r, r): of labeled and of unlabeled rows.

    Members are kernel ridge regressions with r - 1 landmarks each.
    """
    X, labeled = read_rows(block, columns)
    fold = fold_of(block, seed)
    r = len(members[0].model.landmarks) + 1
    found = np.zeros((len(members), FOLDS, 2, r, r))
    for part in _parts(len(X)):
        seen = views.of(X[part])
        for k, member in enumerate(members):
            K = _kernel(member.model, seen[member.view])
            for b in range(FOLDS):
                for kind, side in enumerate((labeled[part], ~labeled[part])):
                    rows = K[side & (fold[part] == b)]
                    found[k, b, kind] += rows.T @ rows
    return Total(found)


def _score_histograms(
    block: Block, columns: ColumnNames, ensemble: Ensemble, by_fold: Sequence[Any], seed: int
) -> Total:
    """Return counts (members + 1, 2, BINS) of held-out scores of one block; the last are of the mean over members.

    by_fold : for each member the coefficients (r, FOLDS) fitted without each fold or, for trees, the models.
    """
    X, labeled = read_rows(block, columns)
    fold = fold_of(block, seed)
    scores = np.empty((len(ensemble.members) + 1, len(X)))
    for part in _parts(len(X)):
        seen = ensemble.views.of(X[part])
        for k, (member, coef) in enumerate(zip(ensemble.members, by_fold, strict=True)):
            scores[k, part] = member.standardized(_held_out(member, coef, seen[member.view], fold[part]))
    scores[-1] = scores[:-1].mean(axis=0)
    bins = np.clip((scores - LOWEST) * (BINS / (HIGHEST - LOWEST)), 0, BINS - 1).astype(np.int64)
    return Total(np.array([[np.bincount(row[kind], minlength=BINS) for kind in (labeled, ~labeled)] for row in bins]))


def _held_out(member: FittedMember, by_fold: Any, X: np.ndarray, fold: Ints) -> Floats:
    """Return the scores (n,) of rows in the member's view by the models without their fold (n,)."""
    if not isinstance(by_fold, np.ndarray):
        return held_out_scores(by_fold, X, fold)
    by_any: Floats = _kernel(member.model, X) @ by_fold
    return np.take_along_axis(by_any, fold[:, None], axis=1)[:, 0]


def scores_of(counts: Ints) -> Floats:
    """Return scores with the distribution of a histogram, in ascending order; at most `MOST_SCORES`."""
    total = int(counts.sum())
    size = min(total, MOST_SCORES)
    ranks = (np.arange(size) + 0.5) / size * total
    return _middles()[np.searchsorted(np.cumsum(counts), ranks)]


def _parts(n: int) -> list[slice]:
    """Return slices of at most `CHUNK` rows, whose kernel values fit into memory."""
    return [slice(start, start + CHUNK) for start in range(0, n, CHUNK)]


def _middles() -> Floats:
    return LOWEST + (np.arange(BINS, dtype=np.float64) + 0.5) * ((HIGHEST - LOWEST) / BINS)


def _kernel(model: KernelRidge, X: Floats) -> Floats:
    """Return the kernel values of rows and landmarks, and a last column of one."""
    return with_intercept(model.values(X))


def _views(some: RowSample, shares: Shares, known: Moments) -> Views:
    """Return the views: scales of all rows, ranks of a sample in which both kinds have their share."""
    thin = min(1.0, shares.unlabeled / shares.labeled)
    labeled = some.X[some.labeled]
    kept = labeled[: max(1, round(thin * len(labeled)))]
    signs = feature_signs(some.X, some.labeled)
    views = make_views(np.concatenate([kept, some.X[~some.labeled]]), signs)
    deviation = np.sqrt(known.squares / known.n)
    varies = (known.high > known.low) & (deviation > 1e-12 * np.abs(known.mean))
    scale = np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0)
    return replace(views, raw=Standardize(signs * known.mean, scale))


def _choose(some: RowSample, views: Views, seed: int) -> list[FittedMember]:
    """Return members whose widths, ridges and landmarks are chosen on the sample."""
    rows = pick_landmarks(some.labeled, CHOOSING_ROWS, stream(seed, "auto", "rows"))
    X, labeled = some.X[rows], some.labeled[rows]
    n_folds = min(FOLDS, int(labeled.sum()), int((~labeled).sum()))
    folds = stratified_folds(labeled, n_folds, stream(seed, "folds"))[None]
    seen = views.of(X)
    members = []
    for view, kernel in KINDS:
        name = f"ridge-{kernel}" + ("" if view == "raw" else f"-{view}")
        model, _, chosen = fit_kernel_ridge(seen[view], labeled, folds, kernel, stream(seed, "auto", name))
        members.append(FittedMember(name, view, model, chosen | {"rows": float(len(rows))}, np.nan, 0.0, 1.0))
    return members


def _fit_all(
    members: Sequence[FittedMember], sums: Floats, n_p: int, n: int, whole: bool, sampled: int
) -> tuple[list[FittedMember], list[Any]]:
    """Return the members fitted to all rows, and for each its coefficients (r, FOLDS) without one fold.

    sums : those of `_fold_sums`. n_p, n : number of labeled rows and of all. whole : whether all are the population.
    """
    weights = np.array([0.5 * n / n_p, 0.5 * n / (n - n_p)])
    fitted, by_fold = [], []
    for member, folds in zip(members, sums, strict=True):
        total = folds.sum(axis=0)
        chosen = dict(member.parameters)
        ridge = chosen["ridge"] * n / chosen.pop("rows")

        def solution(G: Floats, model: KernelRidge = member.model, ridge: float = ridge) -> Floats:
            moment = weights[0] * G[0, -1] - weights[1] * G[1, -1]
            return solve_sums(model, weights[0] * G[0] + weights[1] * G[1], moment, ridge)

        coefs = [solution(total - part) for part in folds]
        population = folds.sum(axis=1) if whole else folds[:, 1]
        size = n if whole else n - n_p
        center = sum(float(G[-1] @ c) for G, c in zip(population, coefs, strict=True)) / size
        square = sum(float(c @ G @ c) for G, c in zip(population, coefs, strict=True)) / size
        deviation = np.sqrt(max(square - center**2, 0.0))
        scale = float(1.0 / deviation) if deviation > 1e-6 else 0.0
        final = solution(total)
        model = replace(member.model, weights=final[:-1], constant=float(final[-1]))
        fitted.append(replace(member, model=model, parameters=chosen, center=center, scale=scale))
        by_fold.append(np.stack(coefs, axis=1))
    return fitted, by_fold


def _boosted(
    runner: Runner,
    client: Any,
    blocks: Sequence[Block],
    columns: ColumnNames,
    views: Views,
    weights: tuple[float, float],
    whole: bool,
    seed: int,
) -> tuple[FittedMember, list[TreeSum]]:
    """Return boosted trees as a member, and its models without each fold; weights: of a row of each kind."""
    folds = partial(fold_of, seed=seed)
    models = boosted_on_blocks(client, blocks, columns, views, folds, FOLDS, weights, seed)
    sums = runner.total(
        partial(held_out_sums, columns=columns, views=views, models=models, fold_of=folds, whole=whole), blocks
    )
    scale = 1.0 / sums.deviation if sums.deviation > 1e-6 else 0.0
    kind = BoostingKind()
    chosen = {"rounds": kind.rounds, "rate": kind.rate, "depth": kind.depth}
    return FittedMember("boosted-trees", "bins", mean_of(models), chosen, np.nan, sums.total / sums.n, scale), models


def _leaderboard(
    model: AutoPU, members: Sequence[FittedMember], counts: Ints, hidden: float, whole: bool
) -> list[dict[str, Any]]:
    """Return the ensemble and its members by PU-AUC; sets the members' `pu_auc`."""
    share, lines = model.chosen_threshold_.share, []
    for member, (positive, unlabeled) in zip([*members, None], counts, strict=True):
        p, u = scores_of(positive), scores_of(unlabeled)
        population = scores_of(unlabeled + positive) if whole else u
        recall = recall_above(p, share, float(np.quantile(population, 1.0 - share)), model._curve)
        ranking = auc(p, u)
        if member is not None:
            member.pu_auc = ranking
        found = {"auc": float(true_auc(ranking, hidden)), "f1": f1_of(recall, share, model.prior_)}
        if member is None:
            found = {name: model.estimates_[name].value for name in found}
        name, parameters = (member.name, member.parameters) if member else ("ensemble", {})
        lines.append({"name": name, "pu_auc": ranking, **found, "parameters": parameters})
    return sorted(lines, key=lambda line: -line["pu_auc"])
