"""Comparison of new rows with those of training: share of positives, test of other changes, adapted predictions.

The share of positives follows from the model's held-out and new scores, or from its probabilities alone if it keeps no
held-out ones; the test from the shares of training rows in the bins of each feature that a model file keeps for its
warnings (`pucli.data.columns.drift`). The test cannot use held-out scores: those of the
model of all rows differ from them enough for a false alarm in every fourth file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from pucli.core.arrays import Floats
from pucli.core.errors import UsageError
from pucli.core.seeding import stream
from pucli.data.columns.drift import DriftCounter, ReferenceShares
from pucli.data.reading import Reading
from pucli.data.rows.row_hashes import RowCounter
from pucli.data.rows.user_file import FLAGGED
from pucli.models.prediction import predicted_blocks
from pucli.solvers.ensemble.estimates import Estimate
from pucli.solvers.prior.shift import LEVEL, FeatureShares, NewPrior, adapted, changed_features, new_prior
from pucli.solvers.prior.three_samples import prior_of_three

if TYPE_CHECKING:
    from pucli.models.saved import SavedModel

FEWEST = 30  # rows that a file needs for an answer


@dataclass(frozen=True)
class Shift:
    """Answer for a file."""

    rows: int  # number of rows of the file
    # whether the rows look like those of training, only the share of positives has changed, or more has
    verdict: Literal["same", "prior", "more", "untested"]
    prior: NewPrior  # share of positives in the file
    training_prior: Estimate  # share of positives in the population of training
    # p-values of no change, and of no change but of the share of positives
    p_same: float | None
    p_only_prior: float | None
    columns: tuple[str, ...]  # columns that changed in another way, the clearest first
    threshold: float  # the score above which the expected F1 of the file is largest, with the adapted probabilities
    remarks: tuple[str, ...]  # cells and columns that are unlike those of training, and rows of training

    def adapt(self, blocks: Iterator[pd.DataFrame], words: Mapping[str, str]) -> Iterator[pd.DataFrame]:
        """Yield blocks of predictions with adapted probabilities, scores and labels; `words` name "0" and "1"."""
        labels = np.array([words.get("0", "0"), words.get("1", "1")], dtype=object)
        for block in blocks:
            p = block["probability"].to_numpy()
            found: dict[str, Any] = {
                "score": block["score"] - self.threshold,
                "probability": self._of(p, self.prior.value),
            }
            found["prediction"] = labels[(found["score"] > 0.0).astype(int)]
            if FLAGGED in block:
                found[FLAGGED] = found["score"] > 0.0
            if "probability_low" in block:
                found["probability_low"] = self._of(p, self.prior.low)
                found["probability_high"] = self._of(p, self.prior.high)
            yield block.assign(**found)

    def _of(self, p: Floats, new: float) -> Floats:
        return adapted(p, self.training_prior.value, new)


@dataclass(frozen=True)
class ShiftAnswer(Shift):
    """The share of positives of a new file, and whether more than that share has changed."""

    model: Path
    data: Path | list[Path]


def shift_of(saved: SavedModel, path: Path | Sequence[Path], how: Reading | None = None) -> Shift:
    """Compare the rows of a file with those of training; the file is read once.

    Parameters
    ----------
    saved : SavedModel
        A model of `load_model`.
    path : Path or sequence of Path
        The file, or the files of one table.
    how : Reading, optional
        How the file is read; as that of training without it.

    Returns
    -------
    Shift
        The share of positives in the file, and whether it differs from training.
    """
    trained = _trained_prior(saved)
    tally, scores, parts = DriftCounter(), [], []
    trained_rows = RowCounter(saved.metadata.get("data", {}))
    for block in predicted_blocks(saved, path, how=how, tally=tally, trained=trained_rows):
        scores.append(block["score"].to_numpy())
        parts.append(block["probability"].to_numpy())
    score, p = np.concatenate(scores), np.concatenate(parts)
    if len(p) < FEWEST:
        raise UsageError(f"a class prior needs at least {FEWEST} rows; there are {len(p)}.")
    counts = _numbers_of_rows(saved)
    known = counts[0] if counts else 0
    prior = _new_prior(saved, score, p, trained, known)
    threshold = _threshold(score, adapted(p, trained.value, prior.value))
    alike, other, columns = _tested(saved, tally, counts) if counts else (None, None, ())
    verdict: Literal["same", "prior", "more", "untested"] = "untested"
    if alike is not None and other is not None:
        verdict = "same" if alike > LEVEL else "prior" if other > LEVEL else "more"
    named = columns if verdict == "more" else ()
    warnings = list(tally.lines())
    if (again := trained_rows.found()) is not None:
        warnings.append(f"{again} that the model was trained on, the labeled ones among them: they tell nothing new.")
    return Shift(len(p), verdict, prior, trained, alike, other, named, threshold, tuple(warnings))


def _new_prior(saved: SavedModel, scores: Floats, p: Floats, trained: Estimate, known: int) -> NewPrior:
    """Return the share of positives: from held-out scores of training if the model keeps them, else from p (n,)."""
    model, ends, rng = saved.estimator, (trained.low, trained.high), stream(0, "prior shift")
    if hasattr(model, "_population"):
        samples = (model._positive, model._population, scores + model.threshold_)
        return prior_of_three(samples, trained.value, ends, rng)
    return new_prior(p, trained.value, ends, known, rng)


def _trained_prior(saved: SavedModel) -> Estimate:
    """Return the share of positives on which the probabilities of a model rest."""
    model = saved.estimator
    if hasattr(model, "prior_interval_"):
        low, high = model.prior_interval_
        return Estimate(float(model.prior_), float(low), float(high))
    if (curve := saved.metadata.get("probability")) and saved.metadata.get("kind") == "pu":
        return Estimate(curve["prior"], curve["prior_low"], curve["prior_high"])
    raise UsageError(
        f"a model of {saved.method} has no probabilities from labeled positives and unlabeled rows; train one with "
        "`pucli auto`."
    )


def _numbers_of_rows(saved: SavedModel) -> tuple[int, int] | None:
    """Return the numbers of labeled and unlabeled training rows; None if the file does not say."""
    if "labeled" in saved.metadata:
        return saved.metadata["labeled"], saved.metadata["unlabeled"]
    model = saved.estimator
    return (len(model._positive), len(model._population)) if hasattr(model, "_population") else None


def _tested(
    saved: SavedModel, tally: DriftCounter, counts: tuple[int, int]
) -> tuple[float | None, float | None, tuple[str, ...]]:
    """Return the p-values of no change and of another share of positives alone, and the columns that contradict it."""
    found = tally.compared()
    if found is None:
        return None, None, ()
    names, usual, here, rows = found
    labeled, population = old_shares(usual, counts, single=saved.metadata.get("denominator") == "all")
    new = FeatureShares(binned(here), rows)
    alike, _ = changed_features(labeled, population, new, any_prior=False)
    other, of_each = changed_features(labeled, population, new, any_prior=True)
    order = [k for k in np.argsort(of_each, kind="stable") if of_each[k] <= LEVEL]
    return alike, other, tuple(dict.fromkeys(names[k] for k in order))


def old_shares(usual: ReferenceShares, counts: tuple[int, int], *, single: bool) -> tuple[FeatureShares, FeatureShares]:
    """Return the shares of labeled rows and of the population: of the unlabeled rows, or of all in a single sample."""
    n_labeled, n_unlabeled = counts
    total = n_labeled + n_unlabeled
    difference = total * usual.shares_of_all - n_unlabeled * usual.shares
    labeled = np.clip(binned(difference / max(n_labeled, 1)), 0.0, None)
    labeled /= np.maximum(labeled.sum(axis=1, keepdims=True), 1e-12)
    population = FeatureShares(binned(usual.shares_of_all), total) if single else None
    return FeatureShares(labeled, n_labeled), population or FeatureShares(binned(usual.shares), n_unlabeled)


def binned(up_to: Floats) -> Floats:
    """Return shares by bin (k, 6) from shares up to the points between them (k, 5)."""
    return np.diff(up_to, axis=1, prepend=0.0, append=1.0)


def _threshold(scores: Floats, p: Floats) -> float:
    order = np.argsort(-scores, kind="stable")
    ordered, found = scores[order], np.cumsum(p[order])
    last = np.append(np.diff(ordered) != 0.0, True)
    f1 = np.where(last, 2.0 * found / (np.arange(1, len(p) + 1) + found[-1]), -1.0)
    k = int(np.argmax(f1))
    return float(np.nextafter(ordered[-1], -np.inf) if k == len(p) - 1 else 0.5 * (ordered[k] + ordered[k + 1]))
