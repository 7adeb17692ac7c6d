"""A t-SNE map of labelled and unlabeled rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.core.atomic_files import replacing
from pucli.data.features import Standardiser
from pucli.report.figures.style import NARROW, POSITIVE, drawing, look

# Larger data sets are subsampled at random to this number of rows.
LARGEST_MAP = 3000
ENDINGS = (".png", ".svg", ".pdf")


def write_row_map(path: Path, X: Floats, labelled: Bools, *, title: str, seed: int = 0) -> int:
    """Write the map to a file and return the number of rows shown.

    Parameters
    ----------
    path : Path
        The file; its extension is one of `ENDINGS`.
    X : array of shape (n, m)
        Rows; features are standardised first.
    labelled : array of shape (n,)
        Mask of the labelled positives, which are drawn as triangles.
    title : str
        Title of the figure.
    seed : int
        Seed of t-SNE, and of the subsample if there are more than 3000 rows.

    Raises
    ------
    UsageError, RunError
        The file cannot be written; the disk is full.
    """
    from sklearn.manifold import TSNE

    chosen = np.sort(np.random.default_rng(seed).permutation(len(X))[:LARGEST_MAP])
    rows, marked = Standardiser().fit_transform(X[chosen]), labelled[chosen]
    # the usual perplexity, limited by the number of rows
    perplexity = min(float(np.clip(len(rows) / 8, 5, 50)), 0.5 * len(rows))
    start = "random" if rows.shape[1] < 2 else "pca"
    points = TSNE(perplexity=perplexity, init=start, random_state=seed).fit_transform(rows)
    with look(), replacing(path) as partial:
        figure, ax = drawing(NARROW, 4.2)
        ax.scatter(points[~marked, 0], points[~marked, 1], s=8, c="0.6", linewidths=0, label="unlabeled")
        ink: dict[str, Any] = {"c": POSITIVE, "marker": "^", "edgecolors": "black", "linewidths": 0.4}
        ax.scatter(points[marked, 0], points[marked, 1], s=20, **ink, label="labelled positive")
        ax.set(xticks=[], yticks=[], title=title)
        figure.legend(loc="outside lower center", ncols=2)
        figure.savefig(partial)
    return len(rows)
