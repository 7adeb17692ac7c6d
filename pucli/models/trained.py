"""The answer of ``pucli train``: everything known about a fit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pucli.core.json_values import OrNaN
from pucli.data.features import shape
from pucli.models.columns import UsedColumn, column_records
from pucli.models.fitting import Fitted
from pucli.models.scores import log_density, true_label_scores, whole_counts
from pucli.models.validation import HeldOutResults


@dataclass(frozen=True)
class Trained:
    """A trained model; density models have no `labeled` and `unlabeled`, and few fits have `known_negatives`."""

    method: str
    params: dict[str, Any]
    data: dict[str, Any]
    rows: int
    labeled: int | None
    unlabeled: int | None
    known_negatives: int | None
    features: int
    columns: list[UsedColumn] | None
    missing_cells: int
    constant_features: list[str]
    duplicate_rows: int
    standardized: bool
    # what the estimator says of its solution; None if it does not
    objective: OrNaN | None
    dual_gap: OrNaN | None
    residual: OrNaN | None
    n_iter: int | None
    converged: bool | None
    guarantee: str | None
    improvement: OrNaN | None
    pattern: str | None
    n_complete: int | None
    prior: OrNaN | None
    n_components: int | None
    positive_share: OrNaN | None
    labeled_recall: OrNaN | None
    graph_recall: OrNaN | None
    kernel_residual: OrNaN | None
    seconds: float
    test: dict[str, OrNaN] | None  # scores on the held-out rows of a declared data set, and their number
    model: Path | None
    notes: list[str]
    held_out: HeldOutResults | None
    probability: dict[str, float] | None  # class prior on which probabilities rest, and its interval


def trained(fitted: Fitted, model: Path | None, notes: list[str], held_out: HeldOutResults | None) -> Trained:
    """Return everything known about a fit."""
    rows = fitted.rows
    known = 0 if rows.negative is None else int(rows.negative.sum())
    return Trained(
        method=fitted.method,
        params=fitted.params,
        data=rows.about,
        rows=rows.X.shape[0],
        labeled=None if rows.y is None else rows.n_labeled,
        unlabeled=None if rows.y is None else len(rows.y) - rows.n_labeled - known,
        known_negatives=known or None,
        features=rows.X.shape[1],
        columns=None if rows.encoder is None else column_records(rows.encoder),
        missing_cells=int(np.isnan(rows.X).sum()) if isinstance(rows.X, np.ndarray) else 0,
        **shape(rows.X, rows.feature_names)._asdict(),
        standardized=fitted.standardized,
        **fitted.statements,
        seconds=fitted.seconds,
        test=_test_scores(fitted),
        model=model,
        notes=notes,
        held_out=held_out,
        probability={name: value for name, value in fitted.probability.items() if name.startswith("prior")} or None,
    )


def _test_scores(fitted: Fitted) -> dict[str, OrNaN] | None:
    """Return the scores on the held-out rows, or None if there are none."""
    rows = fitted.rows
    if rows.X_test is None:
        return None
    if rows.y_test is None:
        return {"rows": len(rows.X_test), "log_likelihood": float(log_density(fitted.pipeline, rows.X_test).mean())}
    scores = true_label_scores(fitted.pipeline, rows.X_test, rows.y_test)
    return {"rows": len(rows.y_test), **whole_counts(scores)}
