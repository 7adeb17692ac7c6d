"""The nearest neighbors of each row: exact for moderate sizes, otherwise approximate with measured recall.

The time of brute force grows with the square of the rows: with 20 columns it takes 20 seconds for 1e5 rows, and half an
hour for 1e6. Above `EXACT_ROWS`, and with too many columns for a tree, neighbors are found by nearest-neighbor
descent (Dong et al. 2011; pynndescent, the extra `scale`), which searches for many more neighbors than are used. They
are kept in the user's cache.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.core.memory import check_memory

# Up to this many rows, or this many columns, neighbors are exact.
EXACT_ROWS, TREE_COLUMNS = 100_000, 6
# Number of neighbors that the descent searches for, the share of them below which it stops if a round finds so few new
# ones, and number of rows on which its recall is measured. With 30 and 0.001 it took a quarter longer at 200,000 rows.
ASKED, FEW_NEW = 24, 0.01
MEASURED_ROWS = 400
# Number of neighbors of each row that are kept on disk, enough for the folds of a search, and number of files.
KEPT, KEPT_FILES = 15, 3
# Memory of the descent: 1.2 GB were measured for 1e6 rows of 20 columns; the wider search takes up to twice as much.
BYTES_PER_ROW = 2000
# Below this recall the search is repeated once with twice as many neighbors, and until a tenth of that share is new.
LEAST_RECALL = 0.95
# Numbers of rows in a block: of a table, and when distances to the measured rows are computed.
_BLOCK, _MEASURED_BLOCK = 60_000, 8192


class Neighbors(NamedTuple):
    """Nearest neighbors."""

    rows: Ints  # (n, k), the k nearest other rows of each row, the nearest first
    recall: float  # share of the true neighbors among them, measured on a sample; 1 if they are exact


def nearest(X: Floats, k: int) -> Neighbors:
    """Find the k nearest other rows of each row of X (n, m), the nearest first.

    Examples
    --------
    >>> import numpy as np
    >>> found = nearest(np.array([[0.0], [1.0], [10.0], [12.0]]), 1)
    >>> found.rows[:, 0].tolist(), found.recall
    ([1, 0, 3, 2], 1.0)
    """
    n, m = X.shape
    if n > EXACT_ROWS and m > TREE_COLUMNS:
        if importlib.util.find_spec("pynndescent") is not None:
            return _descent(X, k)
        warnings.warn(
            f"exact neighbors of {n} rows in {m} columns take hours; with `pip install 'pucli[scale]'`, nearly all of "
            "them are found in minutes",
            stacklevel=2,
        )
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    return Neighbors(found.astype(np.int64), 1.0)


def _descent(X: Floats, k: int) -> Neighbors:
    """Return approximate neighbors; if too many are missed, those of a wider search."""
    path = _file_of(X)
    kept = _read(path, k)
    if kept is not None:
        return Neighbors(kept, measured_recall(X, kept))
    check_memory(BYTES_PER_ROW * len(X), f"the neighbor search among {len(X)} rows", "use fewer rows, or blssvm")
    single = np.ascontiguousarray(X - X.mean(axis=0), dtype=np.float32)
    wanted = max(KEPT, k)
    asked = max(ASKED, 8 * wanted // 5)
    for attempt in range(2):
        rows = _others(_searched(single, asked << attempt, FEW_NEW / 10**attempt), wanted)
        recall = measured_recall(X, rows[:, :k])
        if recall >= LEAST_RECALL:
            break
    _keep(path, rows)
    return Neighbors(rows[:, :k].astype(np.int64), recall)


def _searched(X: AnyArray, asked: int, few_new: float) -> AnyArray:
    """Return the neighbors found for each row, itself included, shape (n, asked), and free the index."""
    from pynndescent import NNDescent

    found: AnyArray = NNDescent(X, n_neighbors=asked, delta=few_new, random_state=0).neighbor_graph[0]
    return found


def _file_of(X: Floats) -> Path:
    """Return the file in the user's cache for the neighbors of these rows by this search."""
    import platformdirs

    digest = hashlib.blake2b(repr((X.shape, ASKED, FEW_NEW)).encode(), digest_size=16)
    for start in range(0, len(X), _BLOCK):
        digest.update(X[start : start + _BLOCK].tobytes())
    return Path(platformdirs.user_cache_dir("pucli")) / "neighbors" / f"{digest.hexdigest()}.npy"


def _read(path: Path, k: int) -> Ints | None:
    """Return the k nearest of each row from the cache, None if the file is missing or has fewer."""
    try:
        kept = np.load(path, allow_pickle=False)
    except (OSError, ValueError):
        return None
    return kept[:, :k].astype(np.int64) if kept.ndim == 2 and kept.shape[1] >= k else None


def _keep(path: Path, rows: AnyArray) -> None:
    """Cache neighbors for the next fit to the same rows; the oldest files are removed, and a full disk is no error."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as stream:
            np.save(stream, rows)
        partial.replace(path)
        for old in sorted(path.parent.glob("*.npy"), key=lambda file: file.stat().st_mtime)[:-KEPT_FILES]:
            old.unlink(missing_ok=True)
    except OSError:
        partial.unlink(missing_ok=True)


def _others(found: AnyArray, k: int) -> AnyArray:
    """Return the first k of each row's neighbors (n, more than k) that are not the row itself, as int32."""
    others = np.empty((len(found), k), dtype=np.int32)
    for start in range(0, len(found), _BLOCK):
        part = found[start : start + _BLOCK, : k + 1]
        own = part == np.arange(start, start + len(part))[:, None]
        order = np.argsort(own, axis=1, kind="stable")[:, :k]
        others[start : start + len(part)] = np.take_along_axis(part, order, axis=1)
    return others


def measured_recall(X: Floats, neighbors: AnyArray) -> float:
    """Return the share of the true neighbors of some rows that are among `neighbors` (n, k).

    A neighbor as near as the k-th true one counts as true, so that ties do not matter.
    """
    n, k = neighbors.shape
    some = np.linspace(0, n - 1, min(n, MEASURED_ROWS)).astype(np.int64)
    center = X.mean(axis=0)  # inner products of rows far from the origin keep too few digits
    chosen = X[some] - center
    best = np.full((len(some), k), np.inf)
    for start in range(0, n, _MEASURED_BLOCK):
        block = X[start : start + _MEASURED_BLOCK] - center
        D = (chosen**2).sum(axis=1)[:, None] + (block**2).sum(axis=1) - 2.0 * chosen @ block.T
        inside = (some >= start) & (some < start + len(block))
        D[np.flatnonzero(inside), some[inside] - start] = np.inf
        best = np.partition(np.hstack([best, D]), k - 1, axis=1)[:, :k]
    limit = best.max(axis=1)
    found = ((X[neighbors[some]] - X[some][:, None]) ** 2).sum(axis=2)
    return float(np.mean(found <= (limit * (1.0 + 1e-9) + 1e-12)[:, None]))
