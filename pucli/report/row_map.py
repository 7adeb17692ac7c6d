"""A t-SNE map of labelled and unlabeled rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pucli.arrays import Bools, Floats
from pucli.data.atomic import replacing
from pucli.data.preprocessing import Standardiser

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
    from matplotlib.figure import Figure
    from sklearn.manifold import TSNE

    chosen = np.sort(np.random.default_rng(seed).permutation(len(X))[:LARGEST_MAP])
    rows, marked = Standardiser().fit_transform(X[chosen]), labelled[chosen]
    # the usual perplexity, limited by the number of rows
    perplexity = min(float(np.clip(len(rows) / 8, 5, 50)), 0.5 * len(rows))
    start = "random" if rows.shape[1] < 2 else "pca"
    points = TSNE(perplexity=perplexity, init=start, random_state=seed).fit_transform(rows)
    figure = Figure(figsize=(6, 5), layout="constrained")
    ax = figure.subplots()
    ax.scatter(points[~marked, 0], points[~marked, 1], s=10, c="tab:gray", label="unlabeled")
    ax.scatter(points[marked, 0], points[marked, 1], s=22, c="tab:red", marker="^", label="labelled positive")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(title, fontsize=9)
    ax.legend(fontsize=8)
    with replacing(path) as partial:
        figure.savefig(partial, dpi=150)
    return len(rows)
