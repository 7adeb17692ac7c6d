"""Kernel rows for `usmo.blocks`: computed a block at a time and kept in a least-recently-used cache of fixed size.

The rows of the problem are kept in an order with the active rows first. Kernel rows are then computed for active
columns only, and shrinking the problem swaps entries instead of copying them.
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.solvers.kernels.functions import Kernel, half_norms, middle, rbf_of_centered
from pucli.solvers.row_losses.pairs import TILE_COLUMNS

# Rows of a tile of `TILE_COLUMNS` kernel entries each.
TILE_ROWS = 64


class RowStore:
    """Coordinates of the rows, and a cache of kernel rows.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Rows.
    kernel : Kernel
        The kernel function.
    cache_bytes : float
        Size of the cache of kernel rows. It holds at least `block` rows.
    block : int
        Largest number of rows requested at once.
    overwrite : bool
        Reuse the memory of X, whose content is lost, instead of a copy.
    """

    def __init__(self, X: Floats, kernel: Kernel, cache_bytes: float, block: int, *, overwrite: bool = False) -> None:
        self.kernel = kernel
        n = len(X)
        self.Z = np.ascontiguousarray(X) if overwrite else np.array(X, order="C")
        self.half_norms = np.zeros(n)
        if kernel.name == "rbf":
            self.Z -= middle(self.Z)
            self.Z /= kernel.width
            self.half_norms = half_norms(self.Z)
        self.capacity = int(min(n, max(block, cache_bytes // (8 * n))))
        self.store = np.empty((self.capacity, n))
        self.slot = np.full(n, -1)
        self.owner = np.full(self.capacity, -1)
        self.used = np.zeros(self.capacity, np.int64)
        self.clock = 0

    def entries(self, rows: Ints, columns: slice) -> Floats:
        """Return the kernel entries of some rows for a range of columns."""
        if self.kernel.name == "rbf":
            return rbf_of_centered(self.Z[rows], self.Z[columns], self.half_norms[rows], self.half_norms[columns])
        K: Floats = self.Z[rows] @ self.Z[columns].T
        if self.kernel.name == "polynomial":
            K += self.kernel.coef0
            K **= self.kernel.degree
        return K

    def fetch(self, block: Ints, active: int) -> Ints:
        """Return the slots of the rows of `block`, computing missing ones for the first `active` columns."""
        self.clock += 1
        slots: Ints = self.slot[block]
        self.used[slots[slots >= 0]] = self.clock
        missing = block[slots < 0]
        if len(missing) == 0:
            return slots
        free = np.argpartition(self.used, len(missing) - 1)[: len(missing)]
        evicted = self.owner[free]
        self.slot[evicted[evicted >= 0]] = -1
        for start in range(0, active, TILE_COLUMNS):
            columns = slice(start, min(start + TILE_COLUMNS, active))
            for a in range(0, len(missing), TILE_ROWS):
                self.store[free[a : a + TILE_ROWS], columns] = self.entries(missing[a : a + TILE_ROWS], columns)
        self.slot[missing] = free
        self.owner[free] = missing
        self.used[free] = self.clock
        return self.slot[block]

    def product(self, weights: Floats, columns: slice) -> Floats:
        """Return sum_i weights_i k(x_i, x_c) for a range of columns c, skipping zero weights; nothing is cached."""
        rows = np.flatnonzero(weights)
        out = np.zeros(columns.stop - columns.start)
        for start in range(columns.start, columns.stop, TILE_COLUMNS):
            stop = min(start + TILE_COLUMNS, columns.stop)
            part = out[start - columns.start : stop - columns.start]
            for a in range(0, len(rows), TILE_ROWS):
                chosen = rows[a : a + TILE_ROWS]
                part += weights[chosen] @ self.entries(chosen, slice(start, stop))
        return out

    def swap(self, first: Ints, second: Ints) -> None:
        """Exchange the rows first_k and second_k of the problem, and the columns of the cached kernel rows."""
        for start in range(0, len(first), TILE_COLUMNS):  # by parts: a copy of all rows takes too much memory
            one, other = first[start : start + TILE_COLUMNS], second[start : start + TILE_COLUMNS]
            self.Z[np.concatenate([one, other])] = self.Z[np.concatenate([other, one])]
        both, crossed = np.concatenate([first, second]), np.concatenate([second, first])
        for slot in np.flatnonzero(self.owner >= 0):
            self.store[slot, both] = self.store[slot, crossed]
        self.slot[both] = self.slot[crossed]
        self.half_norms[both] = self.half_norms[crossed]
        held = both[self.slot[both] >= 0]
        self.owner[self.slot[held]] = held

    def forget(self) -> None:
        """Drop all cached rows: they lack the columns of rows that were not active."""
        self.slot[:] = -1
        self.owner[:] = -1
        self.used[:] = 0
