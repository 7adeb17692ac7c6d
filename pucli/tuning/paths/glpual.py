"""The path-wise routes of GLPUAL and GLLC.

Per fold: distances and graph. Per width: kernel features. Per sigma: Z'RZ. Per (width, sigma, lam, c_u): one
factorization, which serves both methods, with the dual warm-started along c_u. Small linear problems run in one
compiled loop over the whole grid. The thesis form needs one kernel matrix per width and its row sums over each fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dgeqrf, dormqr, dpotrf, dtrtrs

from pucli.core.arrays import Bools, Floats, Ints
from pucli.estimators.global_local.forms import THESIS_ITERATIONS, THESIS_MU
from pucli.solvers.glpual.ascent import box_ascent_gram
from pucli.solvers.glpual.dual import solve_glpual
from pucli.solvers.glpual.interior import box_interior
from pucli.solvers.glpual.path import linear_path
from pucli.solvers.glpual.sums import RowSums, solve_hinge_from_sums, solve_squares_from_sums
from pucli.solvers.glpual.thesis import gllc_thesis, glpual_thesis
from pucli.solvers.kernels.graph import (
    NeighborGraph,
    edge_weights,
    graph_from_distances,
    laplacian_product,
    squared_distances,
)
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.low_rank import pivoted_cholesky, rbf_features, rbf_from_distances
from pucli.tuning.paths.base import GridPosition, PathRoute, in_order, limit
from pucli.tuning.routes import Outcomes, Point

# Maximum number of features (with the intercept) for which the compiled loop is faster than LAPACK.
SMALL_FEATURES = 24
# With a linear kernel, the matrix of all distances is not formed for more rows than this.
DENSE_ROWS = 5000
# Above this many labeled rows, and more of them than features, their matrix is not formed.
MANY_LABELED = 2000
# Kernel matrices of all rows that the thesis form keeps, one for each width.
MOST_KERNELS = 12
# After this many sweeps of the ascent an interior-point method ends it.
SWEEPS = 20
# form, kernel, width: points that share their features
Group = tuple[str, str, float | None]


class FoldData(NamedTuple):
    """A fold: its rows, the mask of labeled rows, and the graph of the training rows."""

    train: Ints
    valid: Ints
    labeled: Bools  # (n_train,)
    s_valid: Ints
    graph: NeighborGraph


class GlobalLocalPath(PathRoute):
    """Common base of the routes of glpual and gllc; `squared` is the loss on labeled rows."""

    squared: bool

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.graph_rows = self.X
        self._fold_id = hash(b"".join(valid.tobytes() for folds in self.folds for _, valid in folds))
        self._features: dict[tuple[float, GridPosition], tuple[Floats, Floats]] = {}
        self._kernels: dict[float, Floats] = {}
        self._data: dict[GridPosition, FoldData] = {}

    @staticmethod
    def supports(params: Point) -> bool:
        """Return whether the solver is the dual ascent and the kernel has full rank."""
        return params.get("solver", "dual") == "dual" and params.get("max_rank") is None

    @cached_property
    def distances(self) -> Floats:
        """Return the squared distances (n, n) of all rows."""
        return squared_distances(self.graph_rows)

    def batch(self, point: Point) -> Group:
        """Return the key of points with the same features, which are evaluated together."""
        return point["form"], point["kernel"], None if point["kernel"] == "linear" else float(point["width"])

    def fold_outcomes(self, points: Sequence[Point], place: GridPosition) -> Outcomes:
        """Return the counts or the scores of points with the same features."""
        data, group = self._fold_data(place), self.batch(points[0])
        form, _, width = group
        if form == "thesis":
            assert width is not None
            return self._thesis(width, points, data)
        if width is None:
            Z, Z_valid = with_intercept(self.X[data.train]), with_intercept(self.X[data.valid])
            if Z.shape[1] <= SMALL_FEATURES:
                return self._small(points, data, Z, Z_valid)
        else:
            Z, Z_valid = self._kernel_features(width, place, data)
        return self._large(group, points, place, data, Z, Z_valid)

    def _fold_data(self, place: GridPosition) -> FoldData:
        if place not in self._data:
            train, valid = self.fold(place)
            k = self.defaults["n_neighbors"]
            if self.defaults["kernel"] == "linear" and len(self.X) > DENSE_ROWS:
                graph = self.fold_graph(self.graph_rows, train, k)
            else:
                graph = graph_from_distances(self.distances, train, k)
            self._data[place] = FoldData(train, valid, self.s[train] == 1, self.s[valid], graph)
        return self._data[place]

    def _kernel_features(self, width: float, place: GridPosition, data: FoldData) -> tuple[Floats, Floats]:
        """Return low-rank features of training and validation rows, with the intercept column; the last are cached."""
        key = (width, place)
        if key not in self._features:
            K = rbf_from_distances(self.distances[np.ix_(data.train, data.train)], width)
            features = pivoted_cholesky(K)
            landmarks = self.X[data.train[features.pivots]]
            valid = rbf_features(self.X[data.valid], landmarks, features.factor, width)
            if len(self._features) >= 2 * sum(map(len, self.folds)):
                self._features.pop(next(iter(self._features)))
            self._features[key] = (with_intercept(features.L), with_intercept(valid))
        return self._features[key]

    def _small(self, points: Sequence[Point], data: FoldData, Z: Floats, Z_valid: Floats) -> Outcomes:
        order = in_order(points, _path_order)
        table = np.array([[points[p][k] for k in ("sigma", "lam", "c_u", "c_p")] for p in order], dtype=float)
        scores = np.empty((len(table) if self.scores else 0, len(Z_valid)))
        positive = linear_path(
            Z, data.labeled, data.graph.i, data.graph.j, data.graph.squared_distance, Z_valid,
            data.s_valid == 1, table, self.squared, self._tol, limit(solve_glpual, self.defaults), scores,
        )  # fmt: skip
        result = self.empty(len(points), len(Z_valid))
        result[order] = self._from_loop(positive, scores, data.s_valid)
        return result

    @property
    def _tol(self) -> float:
        # GLLC is one linear system and has no tolerance
        return float(self.defaults.get("tol", 1e-6))

    def _large(
        self, group: Group, points: Sequence[Point], place: GridPosition, data: FoldData, Z: Floats, Z_valid: Floats
    ) -> Outcomes:
        """Return outcomes with one LAPACK factorization per point; a cache also keeps those of the other method."""
        result = self.empty(len(points), len(Z_valid))
        tol, max_iter = self._tol, limit(solve_glpual, self.defaults)
        keys = [
            (self.squared, group, place, self._fold_id, tol, max_iter, *_path_order(p), p["c_p"], p["n_neighbors"])
            for p in points
        ]
        if self.cache is not None and all(key in self.cache for key in keys):
            result[:] = [self.cache[key] for key in keys]
            return result
        if (self.squared and self.scores) or np.count_nonzero(data.labeled) > max(MANY_LABELED, Z.shape[1]):
            return self._from_sums(points, data, Z, Z_valid)
        Z, Z_valid, k = _labeled_last(Z, Z_valid, data.labeled, len(points))
        Zp, Zu = Z[data.labeled], Z[~data.labeled]
        rows, n_p = np.asfortranarray(Zp[:, k:].T), len(Zp)
        G_u, s_u = Zu.T @ Zu, Zu.sum(axis=0)
        sigma, G_r2, a, previous = None, np.empty(0), np.zeros(n_p), None
        A, diagonal, unit = np.empty_like(G_u), np.diag_indices(Z.shape[1] - 1), np.eye(n_p)
        for p in in_order(points, _path_order):
            point = points[p]
            if point["sigma"] != sigma:
                sigma = point["sigma"]
                product = laplacian_product(data.graph.i, data.graph.j, edge_weights(data.graph, sigma), Z)
                G_r2 = 2.0 * (Z.T @ product)
            c_u, c_p = point["c_u"], point["c_p"]
            # in place: new memory for A would cost a third of its factorization
            np.multiply(G_u, 2.0 * c_u, out=A)
            A += G_r2
            A[diagonal] += point["lam"]
            C, _ = dpotrf(A.T, lower=1, overwrite_a=1, clean=0)
            Yp, _ = dtrtrs(C[k:, k:], rows, lower=1)
            yb, _ = dtrtrs(C, (2.0 * c_u) * s_u, lower=1)
            Q, q = Yp.T @ Yp, Yp.T @ yb[k:]
            scores = {}
            if self.squared or self.cache is not None:
                scores[True] = np.linalg.solve(unit + (2.0 * c_p) * Q, (2.0 * c_p) * (1.0 + q))
            if not self.squared or self.cache is not None:
                if previous != (sigma, point["lam"]):
                    a = np.zeros(n_p)
                a = np.minimum(a, c_p)
                constant = c_u * len(Zu) - 0.5 * yb @ yb
                sweeps, gap, objective, _ = box_ascent_gram(Q, q, a, c_p, constant, tol, min(max_iter, SWEEPS))
                if gap > tol * objective and sweeps < max_iter:
                    a = box_interior(Q, q, a, c_p, constant, tol)[1]
                previous = (sigma, point["lam"])
                scores[False] = a
            V = np.tile(-yb[:, None], len(scores))
            V[k:] += Yp @ np.column_stack(list(scores.values()))
            W, _ = dtrtrs(C, V, lower=1, trans=1)
            for squared, f in zip(scores, (Z_valid @ W).T, strict=True):
                outcome = self.seen(f, data.s_valid)
                if squared == self.squared:
                    result[p] = outcome
                elif self.cache is not None:
                    self.cache[squared, *keys[p][1:]] = outcome
        return result

    def _from_sums(self, points: Sequence[Point], data: FoldData, Z: Floats, Z_valid: Floats) -> Outcomes:
        """Return the outcomes from sums over the rows, without a matrix of all labeled rows."""
        result = self.empty(len(points), len(Z_valid))
        plain = RowSums.of(Z, data.labeled)
        Zp = np.ascontiguousarray(Z[data.labeled])
        sigma, sums = None, plain
        for p in in_order(points, _path_order):
            point = points[p]
            if point["sigma"] != sigma and len(data.graph.i):
                sigma = point["sigma"]
                product = laplacian_product(data.graph.i, data.graph.j, edge_weights(data.graph, sigma), Z)
                sums = plain._replace(G_r=Z.T @ product)
            weights = point["lam"], point["c_p"], point["c_u"]
            if self.squared:
                w = solve_squares_from_sums(sums, *weights).coef
            else:
                w = solve_hinge_from_sums(sums, Zp, *weights, self._tol, limit(solve_glpual, self.defaults)).coef
            result[p] = self.seen(Z_valid @ w, data.s_valid)
        return result

    def _thesis(self, width: float, points: Sequence[Point], data: FoldData) -> Outcomes:
        K_pp, k_pu, s_uu, K_vp, k_vu = self._thesis_sums(width, data)
        n_u = int(np.count_nonzero(~data.labeled))
        result = self.empty(len(points), len(data.valid))
        done: dict[tuple[float, float], Any] = {}
        for p, point in enumerate(points):
            c_p, c_u = float(point["c_p"]), float(point["c_u"])
            if (c_p, c_u) not in done:  # sigma and lam have no effect
                if self.squared:
                    omega, omega_u, intercept, _ = gllc_thesis(K_pp, k_pu, s_uu, n_u, c_p, c_u)
                else:
                    mu = point.get("mu") or THESIS_MU
                    n_iter = point.get("max_iter") or THESIS_ITERATIONS
                    omega, omega_u, intercept, _ = glpual_thesis(K_pp, k_pu, s_uu, n_u, c_p, c_u, mu, n_iter)
                f = K_vp @ omega + omega_u * k_vu + intercept
                done[c_p, c_u] = self.seen(f, data.s_valid)
            result[p] = done[c_p, c_u]
        return result

    def _thesis_sums(self, width: float, data: FoldData) -> tuple[Floats, Floats, float, Floats, Floats]:
        """Return kernel blocks and row sums of one fold; each width has one kernel matrix of all rows."""
        if width not in self._kernels:
            if len(self._kernels) >= MOST_KERNELS:
                self._kernels.pop(next(iter(self._kernels)))
            self._kernels[width] = rbf_from_distances(self.distances, width)
        K = self._kernels[width]
        unlabeled = data.train[~data.labeled]
        p = data.train[data.labeled]
        chosen = np.zeros(len(K))
        chosen[unlabeled] = 1.0
        k_u = K @ chosen
        return (
            np.ascontiguousarray(K[np.ix_(p, p)]),
            np.ascontiguousarray(k_u[p]),
            float(k_u[unlabeled].sum()),
            K[np.ix_(data.valid, p)],
            k_u[data.valid],
        )


class GLPUALPath(GlobalLocalPath):
    """The route of glpual: the hinge on labeled rows."""

    squared = False


class GLLCPath(GlobalLocalPath):
    """The route of gllc: the squared loss on labeled rows."""

    squared = True


def _labeled_last(Z: Floats, Z_valid: Floats, labeled: Bools, n_points: int) -> tuple[Floats, Floats, int]:
    """Rotate features so that the n_p labeled rows have zeros in the first k = r - n_p; the intercept column stays.

    With a Cholesky factor C, C^-1 Zp' then only takes the end of C, instead of r^2 n_p operations for each point. The
    rows (n, r + 1) are returned as they are, with k = 0, if there are as many labeled rows as features, or too few
    points to gain from the rotation, which takes 4 n r n_p operations.
    """
    r, n_p = Z.shape[1] - 1, int(np.count_nonzero(labeled))
    if n_p >= r or n_points * r < 4 * len(Z):
        return Z, Z_valid, 0
    factor, reflections, *_ = dgeqrf(Z[labeled, :-1].T)
    rotated = []
    for rows in (Z, Z_valid):
        turned, *_ = dormqr("R", "N", factor, reflections, rows[:, :-1], max(1, 64 * len(rows)))
        rotated.append(with_intercept(turned[:, ::-1]))
    rotated[0][labeled, : r - n_p] = 0.0
    return rotated[0], rotated[1], r - n_p


def _path_order(point: Point) -> tuple[float, float, float]:
    return float(point["sigma"]), float(point["lam"]), float(point["c_u"])
