"""Growth of one regression tree on binned features, as compiled code.

The value of a leaf is G / (H + ridge), where G and H are the sums of the gradients and weights of its rows. Each split
maximises the increase of the sum of G^2 / (H + ridge). With gradients w y and weights w, the value is the weighted
mean of y and the split that of CART. With the derivatives of a loss, the tree is a step of Newton boosting (Chen and
Guestrin 2016, eq. 7). With random thresholds it is an extra tree (Geurts, Ernst, Wehenkel 2006).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit

from pucli.core.arrays import AnyArray, Floats, Ints

Whole: TypeAlias = int | np.int64
Tree: TypeAlias = tuple[AnyArray, AnyArray, AnyArray, Floats]
# The rows of a node are sorted up to this many; larger nodes use histograms.
SORTED_ROWS = 48
# Gains that differ by less than this share are ties, which go to the first split whatever the rounding.
TIE = 1e-9


class Nodes(NamedTuple):
    """Arrays of a tree that grows, one entry for each node; made here, as that takes long to compile."""

    # feature (-1 in a leaf), cut, and left child
    feature: AnyArray
    cut: AnyArray
    child: AnyArray
    value: Floats  # value of a leaf

    @classmethod
    def empty(cls, most: int) -> Nodes:
        """Return room for so many nodes."""
        return cls(np.full(most, -1, np.int32), np.zeros(most, np.uint8), np.zeros(most, np.int32), np.zeros(most))

    def first(self, count: int) -> Tree:
        """Return a tree of the first nodes."""
        return (
            self.feature[:count].copy(),
            self.cut[:count].copy(),
            self.child[:count].copy(),
            self.value[:count].copy(),
        )


class Growth(NamedTuple):
    """How a tree grows."""

    depth: int  # largest depth
    least: int  # fewest rows of a leaf
    ridge: float  # added to the sum of weights in the value of a leaf
    tried: int  # number of features tried at each node
    random: bool  # whether thresholds are random, as in extra trees, or the best ones


@njit(cache=True, nogil=True)
def draw(state: AnyArray, count: int) -> Whole:
    """Return a random integer below `count` and advance the generator (splitmix64; Steele, Lea, Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64((z >> np.uint64(11)) % np.uint64(count))


@njit(cache=True, nogil=True)
def _random_split(  # noqa: PLR0913
    bins: AnyArray,
    rows: Ints,
    first: int,
    end: int,
    gradient: Floats,
    weight: Floats,
    j: int,
    least: int,
    ridge: float,
    state: AnyArray,
) -> tuple[float, Whole]:
    """Return (gain, cut) of a random border of feature j among `rows[first:end]`; gain -1 if there is none."""
    low, high = 255, 0
    for k in range(first, end):
        b = bins[rows[k], j]
        low, high = min(low, b), max(high, b)
    if low >= high:
        return -2.0, 0
    cut = low + draw(state, high - low)
    g_left, h_left, g, h, count = 0.0, 0.0, 0.0, 0.0, 0
    for k in range(first, end):
        i = rows[k]
        g += gradient[i]
        h += weight[i]
        if bins[i, j] <= cut:
            g_left += gradient[i]
            h_left += weight[i]
            count += 1
    if count < least or end - first - count < least:
        return -1.0, cut
    g_right, h_right = g - g_left, h - h_left
    return g_left * g_left / (h_left + ridge) + g_right * g_right / (h_right + ridge), cut


@njit(cache=True, nogil=True)
def _best_of_sorted(  # noqa: PLR0913
    bins: AnyArray,
    rows: Ints,
    first: int,
    end: int,
    gradient: Floats,
    weight: Floats,
    j: int,
    least: int,
    ridge: float,
    order: Ints,
) -> tuple[float, Whole]:
    """Return (gain, cut) of the best border of feature j among few rows, which are sorted by insertion."""
    n = end - first
    g, h = 0.0, 0.0
    for k in range(n):
        i = rows[first + k]
        g += gradient[i]
        h += weight[i]
        b = bins[i, j]
        at = k
        while at > 0 and bins[order[at - 1], j] > b:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i
    if bins[order[0], j] == bins[order[n - 1], j]:
        return -2.0, 0
    cut: Whole = 0
    best, g_left, h_left = -1.0, 0.0, 0.0
    for k in range(n - 1):
        i = order[k]
        g_left += gradient[i]
        h_left += weight[i]
        if bins[i, j] == bins[order[k + 1], j] or k + 1 < least or n - k - 1 < least:
            continue
        gain = g_left * g_left / (h_left + ridge) + (g - g_left) ** 2 / (h - h_left + ridge)
        if gain > best + TIE * abs(best):
            best, cut = gain, np.int64(bins[i, j])
    return best, cut


@njit(cache=True, nogil=True)
def _best_of_histogram(  # noqa: PLR0913
    bins: AnyArray,
    rows: Ints,
    first: int,
    end: int,
    gradient: Floats,
    weight: Floats,
    j: int,
    least: int,
    ridge: float,
    table: Floats,
) -> tuple[float, Whole]:
    """Return (gain, cut) of the best border of feature j; table : (256, 3), workspace of the histogram."""
    for b in range(256):
        table[b, 0], table[b, 1], table[b, 2] = 0.0, 0.0, 0.0
    low, high = 255, 0
    for k in range(first, end):
        i = rows[k]
        b = bins[i, j]
        table[b, 0] += gradient[i]
        table[b, 1] += weight[i]
        table[b, 2] += 1.0
        low, high = min(low, b), max(high, b)
    if low >= high:
        return -2.0, 0
    g, h = 0.0, 0.0
    for b in range(low, high + 1):
        g += table[b, 0]
        h += table[b, 1]
    cut: Whole = 0
    best, g_left, h_left, count = -1.0, 0.0, 0.0, 0.0
    for b in range(low, high):
        if table[b, 2] == 0.0:
            continue
        g_left += table[b, 0]
        h_left += table[b, 1]
        count += table[b, 2]
        if count < least or end - first - count < least:
            continue
        gain = g_left * g_left / (h_left + ridge) + (g - g_left) ** 2 / (h - h_left + ridge)
        if gain > best + TIE * abs(best):
            best, cut = gain, np.int64(b)
    return best, cut


@njit(cache=True, nogil=True)
def _split(  # noqa: PLR0913
    bins: AnyArray,
    rows: Ints,
    first: int,
    end: int,
    gradient: Floats,
    weight: Floats,
    least: int,
    ridge: float,
    tried: int,
    random: bool,
    state: AnyArray,
    features: Ints,
    order: Ints,
    table: Floats,
) -> tuple[float, int, Whole]:
    """Return (gain, feature, cut) of the best split among `tried` random features that vary; feature -1 if none."""
    cut: Whole = 0
    best, feature, seen = -1.0, -1, 0
    m = len(features)
    for k in range(m):
        at = k + draw(state, m - k)
        features[k], features[at] = features[at], features[k]
        j = features[k]
        if random:
            gain, where = _random_split(bins, rows, first, end, gradient, weight, j, least, ridge, state)
        elif end - first <= SORTED_ROWS:
            gain, where = _best_of_sorted(bins, rows, first, end, gradient, weight, j, least, ridge, order)
        else:
            gain, where = _best_of_histogram(bins, rows, first, end, gradient, weight, j, least, ridge, table)
        seen += gain > -2.0
        if gain > best + TIE * abs(best):
            best, feature, cut = gain, j, where
        if seen >= tried and feature >= 0:
            break
    return best, feature, cut


@njit(cache=True, nogil=True)
def _grow(  # noqa: PLR0913
    bins: AnyArray,
    rows: Ints,
    spare: Ints,
    gradient: Floats,
    weight: Floats,
    depth: int,
    least: int,
    ridge: float,
    tried: int,
    random: bool,
    state: AnyArray,
    features: Ints,
    order: Ints,
    table: Floats,
    stack: Ints,
    tree: Nodes,
) -> int:
    """Fill `tree` as `grow`, and return the number of its nodes; the other arrays are workspaces."""
    feature, cut, child, value = tree.feature, tree.cut, tree.child, tree.value
    n, most = len(rows), len(feature)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, n, 0
    waiting, nodes = 1, 1
    while waiting > 0:
        waiting -= 1
        node, low, high, level = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        g, h, size = 0.0, 0.0, 0.0
        for k in range(low, high):
            i = rows[k]
            g += gradient[i]
            h += weight[i]
            size += abs(gradient[i])
        value[node] = g / (h + ridge) if h + ridge > 0.0 else 0.0
        pure = abs(g) >= size * (1.0 - 1e-9) and ridge == 0.0
        if level >= depth or high - low < 2 * least or pure or nodes + 2 > most:
            continue
        gain, j, where = _split(
            bins, rows, low, high, gradient, weight, least, ridge, tried, random, state, features, order, table
        )
        if j < 0 or gain <= g * g / (h + ridge) * (1.0 + 1e-12):
            continue
        left, right = low, 0
        for k in range(low, high):
            i = rows[k]
            if bins[i, j] <= where:
                rows[left] = i
                left += 1
            else:
                spare[right] = i
                right += 1
        for k in range(right):
            rows[left + k] = spare[k]
        feature[node], cut[node], child[node] = j, where, nodes
        for k in range(2):
            stack[waiting, 0] = nodes + k
            stack[waiting, 1] = low if k == 0 else left
            stack[waiting, 2] = left if k == 0 else high
            stack[waiting, 3] = level + 1
            waiting += 1
        nodes += 2
    return nodes


def grow(bins: AnyArray, rows: Ints, gradient: Floats, weight: Floats, growth: Growth, seed: np.uint64) -> Tree:
    """Return one tree as arrays.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n, m)
        Rows, given by the bins of their features.
    rows : ndarray of int
        Indices of the training rows; a row may occur several times.
    gradient, weight : ndarray of shape (n,)
        Gradient and weight of each row of `bins`.
    growth : Growth
        How the tree grows.
    seed : uint64
        Seed of features and thresholds.

    Returns
    -------
    tuple of ndarray of shape (nodes,)
        Feature (-1 in a leaf), cut, left child, and value of each node.
    """
    n, most = len(rows), 2 * (len(rows) // growth.least) + 1
    tree = Nodes.empty(most)
    nodes = _grow(
        bins,
        rows.copy(),
        np.empty(n, rows.dtype),
        gradient,
        weight,
        *growth,
        np.array([seed], np.uint64),
        np.arange(bins.shape[1]),
        np.empty(SORTED_ROWS, np.int64),
        np.empty((256, 3)),
        # nodes to split: number, first row and last, level; as an array, because lists of tuples take long to compile
        np.empty((most + 1, 4), np.int64),
        tree,
    )
    return tree.first(nodes)
