"""Kernel of low density separation: Gaussian in the length of paths through dense regions (Chapelle and Zien 2005).

A path between rows costs the sum of exp(rho d) - 1 over its steps of length d, so that one long step costs more than
many short ones. With S the least cost, the distance of two rows is ln(1 + S) / rho, which tends to the longest step of
the best path as rho grows, and to the Euclidean length as rho tends to zero. The kernel exp(-distance^2 / (2 sigma^2))
need not be positive definite. Rows are mapped to the coordinates of its kernel principal components with positive
eigenvalue: the leading ones, up to 90 % of their sum and to a tenth of the largest. A new row is joined to the paths by
its best step to a training row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from pucli.core.arrays import Bools, Floats
from pucli.solvers.kernels.graph import squared_distances_between

# Principal components are kept until they have all but this share of the sum and are below this share of the largest.
DELTA = 0.1
# rho for which a step to the nearest row costs exp(STRETCH) - 1.
STRETCH = 4.0
# Nodes tried as detours that make a step needless, and the share of needed steps above which all are kept.
WITNESSES = 12
DENSE = 0.1


class PathMap(NamedTuple):
    """The kernel and its principal components on n training rows."""

    X: Floats  # (n, m), the rows
    # stretch of the steps and width of the kernel
    rho: float
    sigma: float
    costs: Floats  # (n, n), S
    column_means: Floats  # (n,), means of the columns of the kernel matrix
    # (n, p), maps centered rows of the kernel to coordinates, and the coordinates of the training rows
    projection: Floats
    coordinates: Floats

    def of(self, X: Floats) -> Floats:
        """Return the coordinates (q, p) of rows X (q, m)."""
        K = _path_kernel(_joined(_steps(X, self.X, self.rho), self.costs), self.rho, self.sigma)
        centered = K - self.column_means - K.mean(axis=1, keepdims=True) + self.column_means.mean()
        found: Floats = centered @ self.projection
        return found


@njit(cache=True)
def least_costs(steps: Floats) -> Floats:
    """Return the least cost (n, n) of a path between any two nodes, given that of steps, by Dijkstra's algorithm."""
    n = steps.shape[0]
    costs = np.empty((n, n))
    waiting = np.empty(n)
    for source in range(n):
        cost = costs[source]
        cost[:] = np.inf
        waiting[:] = np.inf
        waiting[source] = 0.0
        for _ in range(n):
            node = int(np.argmin(waiting))
            here = waiting[node]
            if here == np.inf:
                break
            cost[node] = here
            waiting[node] = np.inf
            for other in range(n):
                if cost[other] == np.inf:
                    waiting[other] = min(waiting[other], here + steps[node, other])
    return costs


@njit(cache=True)
def needed_steps(steps: Floats) -> Bools:
    """Return which steps (n, n) a cheapest path may take: those for which no two steps by way of a near node cost less.

    Costs of two steps that are less by rounding alone do not count.
    """
    n = steps.shape[0]
    needed = np.ones((n, n), dtype=np.bool_)
    for i in range(n):
        near = np.argsort(steps[i])[: WITNESSES + 1]
        for j in range(n):
            if j == i or steps[i, j] == np.inf:
                needed[i, j] = False
                continue
            for k in near:
                if k != i and k != j and steps[i, k] + steps[k, j] < (1.0 - 1e-9) * steps[i, j]:
                    needed[i, j] = False
                    break
    return needed


def _sparse_costs(steps: Floats, needed: Bools) -> Floats:
    """Return the least costs (n, n) over paths of needed steps; steps of no cost count as steps."""
    i, j = np.nonzero(needed)
    bounds = np.concatenate([[0], np.cumsum(needed.sum(axis=1))])
    costs: Floats = dijkstra(csr_array((steps[i, j], j, bounds), shape=steps.shape))
    return costs


@njit(cache=True)
def _joined(steps: Floats, costs: Floats) -> Floats:
    """Return the costs (q, n) of paths from new rows by their best first step (q, n), given those of paths (n, n)."""
    found = np.empty(steps.shape)
    for i in range(steps.shape[0]):
        row = found[i]
        row[:] = np.inf
        for k in range(costs.shape[0]):
            first = steps[i, k]
            if first < np.inf:
                for j in range(costs.shape[1]):
                    row[j] = min(row[j], first + costs[k, j])
    return found


def _path_kernel(costs: Floats, rho: float, sigma: float) -> Floats:
    """Return the Gaussian kernel of width `sigma` of the path lengths ln(1 + S) / rho, of the shape of the costs S."""
    return np.exp(-0.5 * (np.log1p(costs) / (rho * sigma)) ** 2)


def median_stretch(X: Floats) -> float:
    """Return `STRETCH` over the median distance of a row of X (n, m) from the nearest row at another place."""
    squared = squared_distances_between(X, X)
    squared[squared == 0.0] = np.inf
    nearest = np.sqrt(squared.min(axis=1))
    nearest = nearest[np.isfinite(nearest)]
    return STRETCH / float(np.median(nearest)) if len(nearest) else 1.0


def path_costs(X: Floats, rho: float) -> Floats:
    """Return S (n, n) of rows X (n, m); ValueError if they are not connected, as some cost overflows."""
    steps = _steps(X, X, rho)
    needed = needed_steps(steps)
    many = np.count_nonzero(needed) > DENSE * needed.size
    costs = least_costs(steps) if many else _sparse_costs(steps, needed)
    if not np.isfinite(costs).all():
        raise ValueError(
            f"rho={rho:g}: some rows are more than {700.0 / rho:.3g} from all others, which is too far; lower rho, or "
            "scale the rows."
        )
    return costs


def make_path_map(X: Floats, costs: Floats, rho: float, sigma: float | None) -> PathMap:
    """Return the map of rows."""
    if sigma is None:
        apart = np.log1p(costs[costs > 0.0]) / rho
        sigma = float(np.median(apart)) if len(apart) else 1.0
    K = _path_kernel(costs, rho, sigma)
    means = K.mean(axis=0)
    values, vectors = np.linalg.eigh(K - means - means[:, None] + means.mean())
    values, vectors = values[::-1], vectors[:, ::-1]
    positive = np.maximum(values, 0.0)
    enough = (np.cumsum(positive) >= (1.0 - DELTA) * positive.sum()) & (positive <= DELTA * positive[0])
    p = int(np.argmax(enough)) + 1 if enough.any() else len(values)
    p = min(p, max(int(np.count_nonzero(values > 1e-12 * values[0])), 1))
    lengths = np.sqrt(np.maximum(values[:p], 1e-300))
    return PathMap(X, rho, sigma, costs, means, vectors[:, :p] / lengths, vectors[:, :p] * lengths)


def _steps(X: Floats, Y: Floats, rho: float) -> Floats:
    with np.errstate(over="ignore"):  # an infinite cost means no step
        steps: Floats = np.expm1(rho * np.sqrt(squared_distances_between(X, Y)))
    return steps
