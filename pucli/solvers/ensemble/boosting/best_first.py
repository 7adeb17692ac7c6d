"""Trees grown leaf by leaf, the largest gain first, on histograms of gradients, by compiled code.

The histogram of the larger child is its parent's minus the smaller child's (Ke et al. 2017). Rows are stored as the
numbers of their bins other than each feature's most frequent one, so that a feature that is nearly always zero costs
next to nothing. Gains and values are those of `grow`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.solvers.ensemble.boosting.grow import TIE, Nodes, Tree, draw

# `numbers` of a leaf: its node, its first row and the one after its last, the place of its histogram, and the feature,
# the bin and the levels of its best split. Its `sums`: of gradients and of weights, and the gain of that split.
NODE, LOW, HIGH, PLACE, FEATURE, BIN, LEVELS = range(7)
SUM_G, SUM_H, GAIN = range(3)
LEAST_GAIN = 1e-12
# Added to the weights of levels and of their divisions, of which there are many.
CATEGORY_RIDGE = 10.0


class Sparse(NamedTuple):
    """Binned rows, also without the most frequent bin of each feature."""

    bins: AnyArray  # (n, m), rows, given by the bins of their features
    coded: Bools  # (m,), features whose bins are levels of a category, of which there are at most 62
    entries: AnyArray  # numbers of the other bins, over all features, row after row
    start: Ints  # (n + 1,), first entry of each row
    offset: Ints  # (m + 1,), number of the first bin of each feature
    usual: Ints  # (m,), number of the most frequent bin of each feature


class Leaves(NamedTuple):
    """The leaves of a tree that grows."""

    # (n,), rows, those of a leaf side by side, and a workspace
    rows: Ints
    spare: Ints
    # (leaves, 7) and (leaves, 3), of each leaf, as above
    numbers: Ints
    sums: Floats
    histograms: Floats  # (leaves, bins, 3), of the gradients, weights and numbers of rows


def sparse_bins(bins: AnyArray, coded: Bools) -> Sparse:
    """Return binned rows (n, m) as `Sparse`; `coded` (m,) as there."""
    counts = [np.bincount(column) for column in bins.T]
    offset = np.concatenate([[0], np.cumsum([len(count) for count in counts])])
    usual = offset[:-1] + [int(np.argmax(count)) for count in counts]
    numbers = bins + offset[:-1].astype(np.int32)
    unusual = numbers != usual
    start = np.concatenate([[0], np.cumsum(unusual.sum(axis=1))])
    return Sparse(bins, coded, numbers[unusual], start, offset, usual)


@njit(cache=True, nogil=True)
def _fill(sparse: Sparse, tried: AnyArray, derivatives: Floats, leaves: Leaves, leaf: int) -> None:
    """Fill the histogram of a leaf, for the features that are tried."""
    offset, start, low, high = sparse.offset, sparse.start, leaves.numbers[leaf, LOW], leaves.numbers[leaf, HIGH]
    histogram = leaves.histograms[leaves.numbers[leaf, PLACE]]
    for j in range(len(tried)):
        if tried[j]:
            for e in range(offset[j], offset[j + 1]):
                histogram[e, 0], histogram[e, 1], histogram[e, 2] = 0.0, 0.0, 0.0
    g, h = 0.0, 0.0
    for at in range(low, high):
        i = leaves.rows[at]
        gradient, weight = derivatives[i, 0], derivatives[i, 1]
        g += gradient
        h += weight
        for k in range(start[i], start[i + 1]):
            e = sparse.entries[k]
            histogram[e, 0] += gradient
            histogram[e, 1] += weight
            histogram[e, 2] += 1.0
    for j in range(len(tried)):
        if not tried[j]:
            continue
        g_usual, h_usual, count = g, h, float(high - low)
        for e in range(offset[j], offset[j + 1]):
            g_usual -= histogram[e, 0]
            h_usual -= histogram[e, 1]
            count -= histogram[e, 2]
        e = sparse.usual[j]
        histogram[e, 0], histogram[e, 1], histogram[e, 2] = g_usual, h_usual, count


@njit(cache=True, nogil=True)
def _subtract(histogram: Floats, part: Floats, tried: AnyArray, offset: Ints) -> None:
    """Take the rows of the histogram `part` out of `histogram`, for the features that are tried."""
    for j in range(len(tried)):
        if tried[j]:
            for e in range(offset[j], offset[j + 1]):
                for k in range(3):
                    histogram[e, k] -= part[e, k]


@njit(cache=True, nogil=True)
def _find_split(
    leaves: Leaves,
    leaf: int,
    offset: Ints,
    tried: AnyArray,
    coded: AnyArray,
    least: int,
    ridge: float,
    order: Ints,
) -> None:
    """Write the best split of a leaf to its `numbers` and `sums`; `order` (64,) is a workspace.

    Its feature is -1 if there is none; its bins on the left go to BIN as a border, or to LEVELS as bits.
    """
    numbers, sums = leaves.numbers[leaf], leaves.sums[leaf]
    histogram = leaves.histograms[numbers[PLACE]]
    g, h, n = sums[SUM_G], sums[SUM_H], numbers[HIGH] - numbers[LOW]
    best = -1.0
    numbers[FEATURE] = -1
    if n < 2 * least:
        return
    for j in range(len(tried)):
        if not tried[j]:
            continue
        first, last, more = offset[j], offset[j + 1], ridge
        if coded[j]:
            first, last = 0, _in_order_of_gradient(histogram, first, last, order)
            more = ridge + CATEGORY_RIDGE
        g_left, h_left, count, levels = 0.0, 0.0, 0.0, 0
        for k in range(first, last - 1):
            e = k
            if coded[j]:
                e = offset[j] + order[k]
                levels |= 1 << order[k]
            g_left += histogram[e, 0]
            h_left += histogram[e, 1]
            count += histogram[e, 2]
            if count < least:
                continue
            if n - count < least:
                break
            # the gain is rise / weight: a division costs more than all else here
            left, right, g_right = h_left + more, max(h - h_left, 0.0) + more, g - g_left
            rise, weight = g_left * g_left * right + g_right * g_right * left, left * right
            if rise > (best + TIE * abs(best)) * weight:
                best, numbers[FEATURE], numbers[BIN], numbers[LEVELS] = rise / weight, j, e - offset[j], levels
    sums[GAIN] = best - g * g / (h + ridge)


@njit(cache=True, nogil=True)
def _in_order_of_gradient(histogram: Floats, first: int, last: int, order: Ints) -> int:
    """Write the levels that a leaf has to `order`, by their shrunken mean gradient, and return their number."""
    count = 0
    for e in range(first, last):
        if histogram[e, 2] == 0.0:
            continue
        mean = histogram[e, 0] / (histogram[e, 1] + CATEGORY_RIDGE)
        at = count
        while at > 0:
            before = first + order[at - 1]
            if histogram[before, 0] / (histogram[before, 1] + CATEGORY_RIDGE) <= mean:
                break
            order[at] = order[at - 1]
            at -= 1
        order[at] = e - first
        count += 1
    return count


@njit(cache=True, nogil=True)
def _best_leaf(numbers: Ints, sums: Floats, count: int) -> int:
    """Return the leaf, of the first `count`, with the largest gain, -1 if none can be split."""
    leaf = -1
    for k in range(count):
        if numbers[k, FEATURE] < 0 or sums[k, GAIN] <= LEAST_GAIN:
            continue
        if leaf < 0 or sums[k, GAIN] > sums[leaf, GAIN] * (1.0 + TIE):
            leaf = k
    return leaf


@njit(cache=True, nogil=True)
def _divide(bins: AnyArray, derivatives: Floats, leaves: Leaves, leaf: int, new: int) -> None:
    """Divide the rows of `leaf` at its split: those above the border become the leaf `new`."""
    rows, spare, numbers, sums = leaves.rows, leaves.spare, leaves.numbers, leaves.sums
    j, border, low, high = numbers[leaf, FEATURE], numbers[leaf, BIN], numbers[leaf, LOW], numbers[leaf, HIGH]
    levels = numbers[leaf, LEVELS]
    left, right, g, h = low, 0, 0.0, 0.0
    for k in range(low, high):
        i = rows[k]
        if bins[i, j] <= border if levels == 0 else (levels >> np.int64(bins[i, j])) & 1 == 1:
            rows[left] = i
            left += 1
            g += derivatives[i, 0]
            h += derivatives[i, 1]
        else:
            spare[right] = i
            right += 1
    for k in range(right):
        rows[left + k] = spare[k]
    numbers[new, LOW], numbers[new, HIGH], numbers[leaf, HIGH] = left, high, left
    sums[new, SUM_G], sums[new, SUM_H] = sums[leaf, SUM_G] - g, max(sums[leaf, SUM_H] - h, 0.0)
    sums[leaf, SUM_G], sums[leaf, SUM_H] = g, h


@njit(cache=True, nogil=True)
def _draw_features(features: Ints, tried: int, state: AnyArray, chosen: AnyArray) -> None:
    """Mark in `chosen` (m,) which of the `features`, whose order changes, are tried."""
    m = len(features)
    for k in range(tried):
        at = k + draw(state, m - k)
        features[k], features[at] = features[at], features[k]
        chosen[features[k]] = True


@njit(cache=True, nogil=True)
def _grow(  # noqa: PLR0913
    sparse: Sparse,
    derivatives: Floats,
    tried: AnyArray,
    least: int,
    ridge: float,
    order: Ints,
    leaves: Leaves,
    tree: Nodes,
    levels: Ints,
    values: Floats,
) -> int:
    """Fill `tree`, `levels` and `values` as `grow_best_first`, and return the number of nodes."""
    bins, coded, offset = sparse.bins, sparse.coded, sparse.offset
    numbers, sums, most = leaves.numbers, leaves.sums, len(leaves.sums)
    for i in range(len(bins)):
        sums[0, SUM_G] += derivatives[i, 0]
        sums[0, SUM_H] += derivatives[i, 1]
    count = 1
    _fill(sparse, tried, derivatives, leaves, count - 1)
    _find_split(leaves, count - 1, offset, tried, coded, least, ridge, order)
    for new in range(1, most):
        leaf = _best_leaf(numbers, sums, new)
        if leaf < 0:
            break
        node, children = numbers[leaf, NODE], 2 * new - 1
        tree.feature[node], tree.cut[node], tree.child[node] = numbers[leaf, FEATURE], numbers[leaf, BIN], children
        levels[node] = numbers[leaf, LEVELS]
        _divide(bins, derivatives, leaves, leaf, new)
        numbers[leaf, NODE], numbers[new, NODE] = children, children + 1
        count = new + 1
        if count == most:
            break
        # the larger child takes the place of its parent's histogram
        small, large = leaf, new
        if numbers[leaf, HIGH] - numbers[leaf, LOW] > numbers[new, HIGH] - numbers[new, LOW]:
            small, large = new, leaf
        numbers[large, PLACE], numbers[small, PLACE] = numbers[leaf, PLACE], new
        if numbers[large, HIGH] - numbers[large, LOW] < 2 * least:
            numbers[small, FEATURE], numbers[large, FEATURE] = -1, -1
            continue
        _fill(sparse, tried, derivatives, leaves, small)
        _subtract(leaves.histograms[numbers[large, PLACE]], leaves.histograms[new], tried, offset)
        for k in (leaf, new):
            _find_split(leaves, k, offset, tried, coded, least, ridge, order)
    for k in range(count):
        total = sums[k, SUM_G] / (sums[k, SUM_H] + ridge)
        tree.value[numbers[k, NODE]] = total
        for at in range(numbers[k, LOW], numbers[k, HIGH]):
            values[leaves.rows[at]] = total
    return 2 * count - 1


def grow_best_first(
    sparse: Sparse, derivatives: Floats, histograms: Floats, least: int, ridge: float, tried: int, seed: np.uint64
) -> tuple[Tree, Ints, Floats]:
    """Return one tree as arrays, and its value for each row.

    Parameters
    ----------
    sparse : Sparse
        Rows.
    derivatives : ndarray of shape (n, 2)
        Gradient and weight of each row.
    histograms : ndarray of shape (leaves, bins, 3)
        Workspace; the tree has at most so many leaves.
    least : int
        Fewest rows of a leaf.
    ridge : float
        Added to the sum of weights in the value of a leaf.
    tried : int
        Number of features tried, drawn at random.
    seed : uint64
        Seed of the features.

    Returns
    -------
    tree : tuple of ndarray of shape (nodes,)
        Feature (-1 in a leaf), cut, left child, and value of each node.
    levels : ndarray of int of shape (nodes,)
        Levels that go to the left child, one bit each, where the split is on a category; otherwise 0.
    values : ndarray of shape (n,)
        Value of each row's leaf.
    """
    (n, m), leaves = sparse.bins.shape, len(histograms)
    chosen = np.zeros(m, bool)
    _draw_features(np.arange(m), tried, np.array([seed], np.uint64), chosen)
    numbers = np.full((leaves, 7), -1, np.int64)
    numbers[0, [NODE, LOW, HIGH, PLACE]] = 0, 0, n, 0
    grown = Leaves(np.arange(n), np.empty(n, np.int64), numbers, np.zeros((leaves, 3)), histograms)
    tree, levels, values = Nodes.empty(2 * leaves - 1), np.zeros(2 * leaves - 1, np.int64), np.empty(n)
    order = np.empty(64, np.int64)
    nodes = _grow(sparse, derivatives, chosen, least, ridge, order, grown, tree, levels, values)
    return tree.first(nodes), levels[:nodes].copy(), values
