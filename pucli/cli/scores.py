"""Scores of a fitted model on rows with labels, for ``train`` and ``evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pucli.persistence import SavedModel


def true_label_scores(pipeline: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the scores that need true labels: all of them for two classes, those that allow it for more."""
    from pucli.metrics import classification_scores, compute

    predicted = pipeline.predict(X)
    if len(np.unique(np.concatenate([y, predicted]))) > 2:
        return dict(compute({"truth": y, "predictions": predicted}))
    positive = pipeline.classes_[-1]
    scores = classification_scores(y, predicted, decision_values(pipeline, X), positive=positive)
    return {name: int(value) if name in {"tp", "fp", "fn", "tn"} else float(value) for name, value in scores.items()}


def labelled_scores(pipeline: Any, X: np.ndarray, s: np.ndarray, denominator: str) -> dict[str, Any]:
    """Return the metrics that labelled and unlabeled rows alone allow, PUF among them.

    `s` is 1 for labelled positives; `denominator` "unlabeled" (case-control) or "all" (single training set).
    """
    from pucli.metrics import compute, pu_counts

    counts = pu_counts(s == 1, pipeline.predict(X), pipeline.classes_[-1])
    return dict(compute({"counts": counts, "denominator": denominator}))


def decision_values(pipeline: Any, X: np.ndarray) -> np.ndarray | None:
    """Return decision values (n,) of two classes, above 0 for the last one, None where there are none.

    Where a model has probabilities only: that of the last class less one half.
    """
    if hasattr(pipeline, "decision_function"):
        values = np.asarray(pipeline.decision_function(X))
        return values if values.ndim == 1 else None
    if hasattr(pipeline, "predict_proba"):
        shares = np.asarray(pipeline.predict_proba(X))
        return shares[:, -1] - 0.5 if shares.shape[1] == 2 else None
    return None


def words_of(saved: SavedModel, labels: np.ndarray) -> list[str]:
    """Return predicted labels as the file that the model was trained on calls them."""
    words = saved.metadata.get("words", {})
    return [words.get(str(label), str(label)) for label in labels.tolist()]
