"""Columns that raise the score of a row: the score falls if such a column gets typical cells.

The score of the row is compared with the mean score of copies of it in which the column has typical cells of the
unlabeled training rows and the others are the same. It explains the model, not the world: of two columns with the
same information, either may be named.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pucli.core.arrays import Floats
from pucli.core.errors import UsageError
from pucli.data.columns.drift import ReferenceShares
from pucli.data.columns.encoder import TableEncoder, said, spans, typical

NAMED = 3
# Rows of `--scored` with reasons, and scores that these may take.
EXPLAINED, BUDGET = 100, 60_000
# Copies of rows that are scored at once.
ROWS = 5000


def reasons(score: Callable[[Floats], Floats], encoder: TableEncoder, usual: ReferenceShares, X: Floats) -> list[str]:
    """Return the `NAMED` columns that raise the score of each row most, with their cells."""
    if not len(X):
        return []
    columns = list(spans(encoder))
    changes = [
        (k, place, features, weight)
        for k, (column, place) in enumerate(columns)
        for features, weight in zip(*typical(column, place, usual), strict=True)
    ]
    base = score(X)
    raised = np.tile(base[:, None], len(columns))
    at_once = max(1, ROWS // len(X))
    for first in range(0, len(changes), at_once):
        part = changes[first : first + at_once]
        changed = np.tile(X, (len(part), 1, 1))
        for copy, (_, place, features, _) in zip(changed, part, strict=True):
            copy[:, place] = features
        scores = score(changed.reshape(-1, X.shape[1])).reshape(len(part), len(X))
        for of, (k, _, _, weight) in zip(scores, part, strict=True):
            raised[:, k] -= weight * of
    order = np.argsort(-raised, axis=1, kind="stable")[:, :NAMED]
    noise = 1e-9 * max(1.0, float(np.abs(base).max()))
    return [
        "; ".join(said(columns[k][0], X[i, columns[k][1]]) for k in best if raised[i, k] > noise)
        for i, best in enumerate(order)
    ]


def explainable(encoder: TableEncoder, usual: ReferenceShares) -> int:
    """Return the number of rows that can be explained in a few seconds, at most `EXPLAINED`."""
    scores = sum(len(typical(column, place, usual)[1]) for column, place in spans(encoder))
    return int(np.clip(BUDGET // max(scores, 1), 10, EXPLAINED))


def reference_of(encoder: TableEncoder) -> ReferenceShares:
    """Return the distribution of the features that a saved encoder holds."""
    if encoder.sparse_:
        raise UsageError("--why needs a table with columns; the model was trained on sparse rows.")
    found = getattr(encoder, "usual_", None)
    if found is None:
        raise UsageError("--why needs a model that holds what is usual in its columns; train it again.")
    return ReferenceShares(*found)
