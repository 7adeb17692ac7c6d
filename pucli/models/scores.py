"""Scores, clusters, densities and metrics of fitted models, in the units of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats
from pucli.core.errors import UsageError
from pucli.estimators.base.pu import has_own_probabilities
from pucli.metrics import compute, pu_counts

# Rounding may raise a probability above 1 by this much.
ROUNDED = 1e-9


COUNTS = ("tp", "fn", "fp", "tn")  # the confusion matrix, row by row


def checked_scores(values: Floats, what: str, start: int = 0, *, share: bool = False) -> Floats:
    """Return the scores of a model after a check, which all scores pass before they are written or evaluated."""
    wrong = ~np.isfinite(values)
    if share:
        wrong |= (values < -ROUNDED) | (values > 1.0 + ROUNDED)
        values = np.clip(values, 0.0, 1.0)
    if wrong.any():
        row = int(wrong.argmax())
        raise UsageError(
            f"the model gives {int(wrong.sum())} of {len(values)} rows no {what} that can be used (the first is row "
            f"{start + row + 1}): they lie beyond what it can compute with. Check these rows, scale the features "
            "(train without --raw), or take another method."
        )
    return values


def decision_values(pipeline: Any, X: Any) -> Floats | None:
    """Return decision values (n,) for two classes, positive for the last class, or None if there are none.

    For a model with only probabilities, they are the probability of the last class minus one half.
    """
    if hasattr(pipeline, "decision_function"):
        values = np.asarray(pipeline.decision_function(X), dtype=np.float64)
        return values if values.ndim == 1 else None
    if has_own_probabilities(pipeline):
        shares = np.asarray(pipeline.predict_proba(X), dtype=np.float64)
        return shares[:, -1] - 0.5 if shares.shape[1] == 2 else None
    return None


def true_label_scores(
    pipeline: Any, X: Floats, y: AnyArray, probability: Floats | None = None, also: Sequence[str] = ()
) -> dict[str, float]:
    """Return the metrics of a fitted pipeline on rows with true labels.

    For more than two classes, only metrics without a positive class are returned.
    """
    predictions = pipeline.predict(X)
    given: dict[str, Any] = {"truth": y, "predictions": predictions, "clusters": clusters(pipeline, X)}
    if len(np.unique(np.concatenate([y, predictions]))) <= 2:
        decision = decision_values(pipeline, X)
        # without decision values, the AUC is NaN instead of missing
        given["decision"] = np.full(len(y), np.nan) if decision is None else checked_scores(decision, "score")
        given["positive"] = pipeline.classes_[-1]
        given["probability"] = probability
    return compute(given, also)


def labeled_scores(
    pipeline: Any, X: Floats, labeled: AnyArray, denominator: str, *, ranked: bool = True, also: Sequence[str] = ()
) -> dict[str, float]:
    """Return the metrics that need only labeled and unlabeled rows, such as PUF."""
    counts = pu_counts(labeled, pipeline.predict(X), pipeline.classes_[-1])
    given: dict[str, Any] = {"counts": counts, "denominator": denominator}
    if ranked:
        prior = getattr(pipeline[-1], "prior_", None)
        given |= {"labeled": labeled, "decision": decision_values(pipeline, X), "prior": prior}
        of_population = hasattr(pipeline[-1], "prior_interval_")  # that of `auto`, others are of the unlabeled rows
        if prior is not None and denominator == "all" and not of_population:
            given["prior"] = (float(prior) * np.sum(~labeled) + np.sum(labeled)) / len(labeled)
    return compute(given, also)


def clusters(pipeline: Any, X: Floats) -> AnyArray | None:
    """Return the cluster (n,) of each row, or None for a model without clusters."""
    if not hasattr(pipeline[-1], "predict_cluster"):
        return None
    found: AnyArray = pipeline[-1].predict_cluster(pipeline[:-1].transform(X) if len(pipeline) > 1 else X)
    return found


def log_density(pipeline: Any, X: Floats) -> Floats:
    """Return the log-density (n,) of the observed cells of rows X (n, d), in nats and in the units of the rows."""
    values: Floats = pipeline.score_samples(X)
    there: Bools = ~np.isnan(X)
    return values if len(pipeline) == 1 else values - there @ np.log(pipeline[0].scale_)


def imputed(pipeline: Any, X: Floats) -> Floats:
    """Return rows X (n, d), in their own units, with missing cells filled by their mean given the rest of the row."""
    if len(pipeline) == 1:
        completed: Floats = pipeline[-1].impute(X)
        return completed
    scaler, model = pipeline[0], pipeline[-1]
    completed = scaler.inverse_transform(model.impute(scaler.transform(X)))
    return np.where(np.isnan(X), completed, X)


def whole_counts(scores: dict[str, float]) -> dict[str, float]:
    """Return scores with the confusion counts as integers."""
    return {name: int(value) if name in COUNTS else value for name, value in scores.items()}
