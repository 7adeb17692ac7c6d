"""Trees grown leaf by leaf, the largest gain first, on histograms of gradients, by compiled code.

The histogram of the larger child is its parent's minus the smaller child's (Ke et al. 2017). Gains, words and values
are those of `grow`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.solvers.ensemble.boosting.grow import (
    COUNT,
    COUNT_BITS,
    GRADIENT,
    MOST_ROWS,
    TIE,
    WEIGHT,
    Nodes,
    Tree,
    make_words,
)

# `numbers` of a leaf: its node, its first row and the one after its last, the place of its histogram, and its word; of
# its best split the feature, its place among those tried, the bin, the levels, and the word of the rows on the left.
NODE, LOW, HIGH, PLACE, WORD, FEATURE, BIN, LEVELS, LEFT = range(9)
# Numeric features of few rows have fewer bins, one for so many rows, but not fewer than the first number.
FEWEST_BINS, ROWS_OF_BIN = 64, 8
# The smallest gain of a split, in the units of the words.
LEAST_GAIN = 1e-6
# Added to the weights of levels and of their divisions, of which there are many.
CATEGORY_RIDGE = 10.0


class BinnedColumns(NamedTuple):
    """Binned rows, feature after feature."""

    bins: AnyArray  # (m, n), bins of the rows, merged in pairs where they are too many for the rows
    sizes: Ints  # (m,), number of bins of each feature
    merged: Ints  # (m,), how often those of each feature were merged
    coded: Bools  # (m,), features whose bins are levels of a category, of which there are at most 62


class Leaves(NamedTuple):
    """The leaves of a tree that grows."""

    # (n,), rows, those of a leaf side by side, and two workspaces
    rows: AnyArray
    spare: AnyArray
    words: Ints
    numbers: Ints  # (leaves, 9), of each leaf, as above
    gains: Floats  # (leaves,), of their best splits
    histograms: Ints  # (leaves, bins), words of the rows of each bin


class Search(NamedTuple):
    """Where splits are looked for."""

    # (tried,), features, and whether they are categories
    features: Ints
    coded: Bools
    offset: Ints  # (tried + 1,), first bin of each feature in a histogram, then the number of all
    least: int  # fewest rows of a leaf
    # added to sums of weights, and to those of levels
    ridge: float
    category_ridge: float


def feature_columns(bins: AnyArray, coded: Bools) -> BinnedColumns:
    """Return binned rows (n, m) as `BinnedColumns`; `coded` (m,) as there."""
    sizes, most = bins.max(axis=0).astype(np.int64) + 1, max(FEWEST_BINS, len(bins) // ROWS_OF_BIN)
    merged = np.where(coded, 0, np.ceil(np.log2(np.maximum(sizes / most, 1.0)))).astype(np.int64)
    columns = np.ascontiguousarray(bins.T) >> merged.astype(np.uint8)[:, None]
    return BinnedColumns(columns, ((sizes - 1) >> merged) + 1, merged, coded)


@njit(cache=True, nogil=True)
def _fill(bins: AnyArray, words: Ints, search: Search, leaves: Leaves, leaf: int) -> None:
    """Fill the histogram of a leaf."""
    low, high, rows, of_leaf = leaves.numbers[leaf, LOW], leaves.numbers[leaf, HIGH], leaves.rows, leaves.words
    histogram = leaves.histograms[leaves.numbers[leaf, PLACE]]
    for k in range(low, high):
        of_leaf[k] = words[rows[k]]
    for f in range(len(search.features)):
        part, column = histogram[search.offset[f] : search.offset[f + 1]], bins[search.features[f]]
        part[:] = 0
        for k in range(low, high):
            part[column[rows[k]]] += of_leaf[k]


@njit(cache=True, nogil=True)
def _find_split(search: Search, leaves: Leaves, leaf: int, order: Ints) -> None:
    """Write the best split of a leaf to its `numbers` and `gains`; `order` (64,) is a workspace.

    Its feature is -1 if there is none; its bins on the left go to BIN as a border, or to LEVELS as bits.
    """
    numbers = leaves.numbers[leaf]
    histogram, word, least = leaves.histograms[numbers[PLACE]], numbers[WORD], search.least
    g, h, n = float(word >> GRADIENT), float((word >> COUNT_BITS) & WEIGHT), word & COUNT
    best, bound = -1.0, -1.0
    numbers[FEATURE] = -1
    if n < 2 * least:
        return
    for f in range(len(search.features)):
        first, last, ridge = search.offset[f], search.offset[f + 1], search.ridge
        if search.coded[f]:
            first, last = 0, _in_order_of_gradient(histogram[first:last], search.category_ridge, order)
            ridge += search.category_ridge
        left, levels = np.int64(0), 0
        for k in range(first, last - 1):
            e = k
            if search.coded[f]:
                e = search.offset[f] + order[k]
                levels |= 1 << order[k]
            left += histogram[e]
            count = left & COUNT
            if count < least:
                continue
            if n - count < least:
                break
            # the gain is rise / weight: a division costs more than all else here
            g_left, h_left = float(left >> GRADIENT), float((left >> COUNT_BITS) & WEIGHT)
            on_left, on_right, g_right = h_left + ridge, h - h_left + ridge, g - g_left
            rise, weight = g_left * g_left * on_right + g_right * g_right * on_left, on_left * on_right
            if rise > bound * weight:
                best, numbers[FEATURE], numbers[BIN] = rise / weight, f, e - search.offset[f]
                numbers[LEVELS], numbers[LEFT] = levels, left
                bound = best * (1.0 + TIE)
    leaves.gains[leaf] = best - g * g / (h + search.ridge)


@njit(cache=True, nogil=True)
def _in_order_of_gradient(histogram: Ints, ridge: float, order: Ints) -> int:
    """Write the levels that a leaf has to `order`, by their shrunken mean gradient, and return their number."""
    count = 0
    means = np.empty(64)
    for e in range(len(histogram)):
        word = histogram[e]
        if word == 0:
            continue
        mean = float(word >> GRADIENT) / (float((word >> COUNT_BITS) & WEIGHT) + ridge)
        at = count
        while at > 0 and means[at - 1] > mean:
            order[at], means[at] = order[at - 1], means[at - 1]
            at -= 1
        order[at], means[at] = e, mean
        count += 1
    return count


@njit(cache=True, nogil=True)
def _best_leaf(numbers: Ints, gains: Floats, count: int) -> int:
    """Return the leaf, of the first `count`, with the largest gain, -1 if none can be split."""
    leaf = -1
    for k in range(count):
        if numbers[k, FEATURE] < 0 or gains[k] <= LEAST_GAIN:
            continue
        if leaf < 0 or gains[k] > gains[leaf] * (1.0 + TIE):
            leaf = k
    return leaf


@njit(cache=True, nogil=True)
def _divide(column: AnyArray, leaves: Leaves, leaf: int, new: int) -> None:
    """Divide the rows of `leaf` at its split, by the bins (n,) of its feature: those above it become the leaf `new`."""
    rows, spare, numbers = leaves.rows, leaves.spare, leaves.numbers
    border, levels, low, high = numbers[leaf, BIN], numbers[leaf, LEVELS], numbers[leaf, LOW], numbers[leaf, HIGH]
    left, right = low, 0
    for k in range(low, high):
        i = rows[k]
        if column[i] <= border if levels == 0 else (levels >> np.int64(column[i])) & 1 == 1:
            rows[left] = i
            left += 1
        else:
            spare[right] = i
            right += 1
    for k in range(right):
        rows[left + k] = spare[k]
    numbers[new, LOW], numbers[new, HIGH], numbers[leaf, HIGH] = left, high, left
    numbers[new, WORD], numbers[leaf, WORD] = numbers[leaf, WORD] - numbers[leaf, LEFT], numbers[leaf, LEFT]


@njit(cache=True, nogil=True)
def _grow(  # noqa: PLR0913
    bins: AnyArray,
    derivatives: Floats,
    words: Ints,
    search: Search,
    ridge: float,
    leaves: Leaves,
    tree: Nodes,
    levels: Ints,
    values: Floats,
    gains: Floats,
) -> int:
    """Fill `tree`, `levels`, `values` and `gains` as `grow_best_first`, and return the number of nodes."""
    numbers, histograms, order, most = leaves.numbers, leaves.histograms, np.empty(64, np.int64), len(leaves.gains)
    numbers[0, WORD] = words.sum()
    count = 1
    _fill(bins, words, search, leaves, count - 1)
    _find_split(search, leaves, count - 1, order)
    for new in range(1, most):
        leaf = _best_leaf(numbers, leaves.gains, new)
        if leaf < 0:
            break
        node, children, feature = numbers[leaf, NODE], 2 * new - 1, search.features[numbers[leaf, FEATURE]]
        tree.feature[node], tree.cut[node], tree.child[node] = feature, numbers[leaf, BIN], children
        levels[node] = numbers[leaf, LEVELS]
        gains[numbers[leaf, FEATURE]] += leaves.gains[leaf]
        _divide(bins[feature], leaves, leaf, new)
        numbers[leaf, NODE], numbers[new, NODE] = children, children + 1
        count = new + 1
        if count == most:
            break
        # the larger child takes the place of its parent's histogram
        small, large = leaf, new
        if numbers[leaf, HIGH] - numbers[leaf, LOW] > numbers[new, HIGH] - numbers[new, LOW]:
            small, large = new, leaf
        numbers[large, PLACE], numbers[small, PLACE] = numbers[leaf, PLACE], new
        if numbers[large, HIGH] - numbers[large, LOW] < 2 * search.least:
            numbers[small, FEATURE], numbers[large, FEATURE] = -1, -1
            continue
        _fill(bins, words, search, leaves, small)
        parent, part = histograms[numbers[large, PLACE]], histograms[new]
        for e in range(search.offset[-1]):
            parent[e] -= part[e]
        for k in (leaf, new):
            _find_split(search, leaves, k, order)
    for k in range(count):
        g, h = 0.0, 0.0
        for at in range(numbers[k, LOW], numbers[k, HIGH]):
            g += derivatives[leaves.rows[at], 0]
            h += derivatives[leaves.rows[at], 1]
        tree.value[numbers[k, NODE]] = g / (h + ridge)
        for at in range(numbers[k, LOW], numbers[k, HIGH]):
            values[leaves.rows[at]] = g / (h + ridge)
    return 2 * count - 1


def grow_best_first(
    columns: BinnedColumns, derivatives: Floats, features: Ints, histograms: Ints, least: int, ridge: float
) -> tuple[Tree, Ints, Floats, Floats]:
    """Return one tree as arrays, its value for each row, and what each feature gains."""
    n, leaves = columns.bins.shape[1], len(histograms)
    if n > MOST_ROWS:
        raise ValueError(f"{n} rows are too many for one tree: at most {MOST_ROWS}")
    rows, spare = np.arange(n, dtype=np.uint32), np.empty(n, np.uint32)
    words = make_words(derivatives[:, 0], derivatives[:, 1], rows, ridge)
    offset = np.concatenate([np.zeros(1, np.int64), np.cumsum(columns.sizes[features])])
    search = Search(features, columns.coded[features], offset, least, words.ridge, CATEGORY_RIDGE * words.of_weight)
    numbers = np.full((leaves, LEFT + 1), -1, np.int64)
    numbers[0, [NODE, LOW, HIGH, PLACE]] = 0, 0, n, 0
    grown = Leaves(rows, spare, np.empty(n, np.int64), numbers, np.zeros(leaves), histograms)
    tree, levels = Nodes.empty(2 * leaves - 1), np.zeros(2 * leaves - 1, np.int64)
    values, gains = np.empty(n), np.zeros(len(features))
    nodes = _grow(columns.bins, derivatives, words.of_row, search, ridge, grown, tree, levels, values, gains)
    inner = np.flatnonzero(tree.feature >= 0)
    tree.cut[inner] = ((tree.cut[inner].astype(np.int64) + 1) << columns.merged[tree.feature[inner]]) - 1
    return tree.first(nodes), levels[:nodes].copy(), values, gains
