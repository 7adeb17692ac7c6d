"""Growth of one regression tree on binned features, as compiled code.

The value of a leaf is G / (H + ridge), where G and H are the sums of the gradients and weights of its rows. Each split
maximizes the increase of the sum of G^2 / (H + ridge). With gradients w y and weights w, the value is the weighted
mean of y and the split that of CART. With the derivatives of a loss, the tree is a step of Newton boosting (Chen and
Guestrin 2016, eq. 7). With random thresholds it is an extra tree (Geurts, Ernst, Wehenkel 2006).

Histograms hold whole numbers (Shi et al. 2022): gradients and weights are rounded to about n / 2^24 of their mean, the
sum of the gradients of some rows, that of their weights and their number are one word, and one addition adds a row to a
bin. Values of leaves follow from the gradients and weights themselves.
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
# A word holds a sum of gradients, one of weights, and a number of rows, in its highest, middle and lowest bits.
COUNT_BITS, SUM_BITS = 15, 24
MOST_ROWS = 2**COUNT_BITS - 1
COUNT, WEIGHT, GRADIENT = MOST_ROWS, 2**SUM_BITS - 1, COUNT_BITS + SUM_BITS
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


class Words(NamedTuple):
    """Gradients and weights of rows as words."""

    of_row: Ints  # (n,), words of the rows
    # what a weight, and a gain, is multiplied by in the sums of words, and the ridge times the first
    of_weight: float
    of_gain: float
    ridge: float


@njit(cache=True, nogil=True)
def make_words(gradient: Floats, weight: Floats, rows: AnyArray, ridge: float) -> Words:
    """Return the words of rows."""
    g, h = 1e-300, 1e-300
    for i in rows:
        g += abs(gradient[i])
        h += weight[i]
    of_gradient, of_weight, of_row = (WEIGHT - len(rows)) / g, (WEIGHT - len(rows)) / h, np.zeros(len(weight), np.int64)
    for i in rows:
        whole = np.int64(np.rint(gradient[i] * of_gradient)) << GRADIENT
        of_row[i] = whole + (np.int64(np.rint(weight[i] * of_weight)) << COUNT_BITS) + 1
    return Words(of_row, of_weight, of_gradient**2 / of_weight, max(ridge * of_weight, 1e-9))


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
    column: AnyArray,
    rows: Ints,
    first: int,
    end: int,
    gradient: Floats,
    weight: Floats,
    least: int,
    ridge: float,
    state: AnyArray,
) -> tuple[float, Whole]:
    """Return (gain, cut) of a random border of a feature among `rows[first:end]`; gain -1 if there is none."""
    low, high = 255, 0
    for k in range(first, end):
        b = column[rows[k]]
        low, high = min(low, b), max(high, b)
    if low >= high:
        return -2.0, 0
    cut = low + draw(state, high - low)
    g_left, h_left, g, h, count = 0.0, 0.0, 0.0, 0.0, 0
    for k in range(first, end):
        i = rows[k]
        g += gradient[i]
        h += weight[i]
        if column[i] <= cut:
            g_left += gradient[i]
            h_left += weight[i]
            count += 1
    if count < least or end - first - count < least:
        return -1.0, cut
    g_right, h_right = g - g_left, h - h_left
    gain = g_left * g_left / (h_left + ridge) + g_right * g_right / (h_right + ridge)
    return gain - g * g / (h + ridge), cut


@njit(cache=True, nogil=True)
def _best_of_sorted(  # noqa: PLR0913
    column: AnyArray,
    rows: Ints,
    first: int,
    end: int,
    gradient: Floats,
    weight: Floats,
    least: int,
    ridge: float,
    order: Ints,
) -> tuple[float, Whole]:
    """Return (gain, cut) of the best border of a feature among few rows, which are sorted by insertion."""
    n = end - first
    g, h = 0.0, 0.0
    for k in range(n):
        i = rows[first + k]
        g += gradient[i]
        h += weight[i]
        b = column[i]
        at = k
        while at > 0 and column[order[at - 1]] > b:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i
    if column[order[0]] == column[order[n - 1]]:
        return -2.0, 0
    cut: Whole = 0
    best, g_left, h_left = -1.0, 0.0, 0.0
    for k in range(n - 1):
        i = order[k]
        g_left += gradient[i]
        h_left += weight[i]
        if column[i] == column[order[k + 1]] or k + 1 < least or n - k - 1 < least:
            continue
        gain = g_left * g_left / (h_left + ridge) + (g - g_left) ** 2 / (h - h_left + ridge)
        if gain > best + TIE * abs(best):
            best, cut = gain, np.int64(column[i])
    return best - g * g / (h + ridge) if best >= 0.0 else best, cut


@njit(cache=True, nogil=True)
def _best_of_histogram(
    column: AnyArray, rows: Ints, first: int, end: int, words: Words, least: int, table: Ints
) -> tuple[float, Whole]:
    """Return (gain, cut) of the best border of a feature; `table` (256,) is a workspace."""
    table[:] = 0
    whole, ridge = np.int64(0), words.ridge
    for k in range(first, end):
        word = words.of_row[rows[k]]
        table[column[rows[k]]] += word
        whole += word
    if table[column[rows[first]]] == whole:
        return -2.0, 0
    g, h, n = float(whole >> GRADIENT), float((whole >> COUNT_BITS) & WEIGHT), end - first
    cut: Whole = 0
    best, left = -1.0, np.int64(0)
    for b in range(255):
        left += table[b]
        count = left & COUNT
        if count < least:
            continue
        if n - count < max(least, 1):
            break
        g_left, h_left = float(left >> GRADIENT), float((left >> COUNT_BITS) & WEIGHT)
        gain = g_left * g_left / (h_left + ridge) + (g - g_left) ** 2 / (h - h_left + ridge)
        if gain > best + TIE * abs(best):
            best, cut = gain, np.int64(b)
    return (best - g * g / (h + ridge)) / words.of_gain if best >= 0.0 else best, cut


@njit(cache=True, nogil=True)
def _split(  # noqa: PLR0913
    bins: AnyArray,
    rows: Ints,
    first: int,
    end: int,
    gradient: Floats,
    weight: Floats,
    words: Words,
    least: int,
    ridge: float,
    tried: int,
    random: bool,
    state: AnyArray,
    features: Ints,
    order: Ints,
    table: Ints,
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
            gain, where = _random_split(bins[j], rows, first, end, gradient, weight, least, ridge, state)
        elif end - first <= SORTED_ROWS:
            gain, where = _best_of_sorted(bins[j], rows, first, end, gradient, weight, least, ridge, order)
        else:
            gain, where = _best_of_histogram(bins[j], rows, first, end, words, least, table)
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
    words: Words,
    depth: int,
    least: int,
    ridge: float,
    tried: int,
    random: bool,
    state: AnyArray,
    features: Ints,
    order: Ints,
    table: Ints,
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
            bins, rows, low, high, gradient, weight, words, least, ridge, tried, random, state, features, order, table
        )
        if j < 0 or gain <= g * g / (h + ridge) * 1e-12:
            continue
        left, right = low, 0
        for k in range(low, high):
            i = rows[k]
            if bins[j, i] <= where:
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
    """Return one tree as arrays."""
    n, most = len(rows), 2 * (len(rows) // growth.least) + 1
    if n > MOST_ROWS:
        raise ValueError(f"{n} rows are too many for one tree: at most {MOST_ROWS}")
    tree = Nodes.empty(most)
    nodes = _grow(
        bins,
        rows.copy(),
        np.empty(n, rows.dtype),
        gradient,
        weight,
        make_words(gradient, weight, rows, growth.ridge),
        *growth,
        np.array([seed], np.uint64),
        np.arange(len(bins)),
        np.empty(SORTED_ROWS, np.int64),
        np.empty(256, np.int64),
        # nodes to split: number, first row and last, level; as an array, because lists of tuples take long to compile
        np.empty((most + 1, 4), np.int64),
        tree,
    )
    return tree.first(nodes)
