"""Path-wise evaluation of GLPUAL and GLLC grids: what the points share is computed once.

Per fold: distances and graph. Per width: kernel features. Per sigma: Z'RZ. Per (width, sigma, lam, c_u): one
factorisation, which serves both methods, with the dual warm-started along c_u. Small linear problems run in one
compiled loop over the whole grid. The thesis form needs, per width, one kernel matrix and its row sums over each fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from pucli.estimators.glpual import THESIS_ITERATIONS, THESIS_MU
from pucli.kernels.graph import edge_weights, graph_from_distances, laplacian_product, squared_distances
from pucli.kernels.intercept import with_intercept
from pucli.kernels.low_rank import pivoted_cholesky, rbf_features, rbf_from_distances
from pucli.methods import Method, estimator_class
from pucli.solvers.glpual.ascent import box_ascent_gram
from pucli.solvers.glpual.path import linear_path
from pucli.solvers.glpual.thesis import gllc_thesis, glpual_thesis
from pucli.tuning.folds import Fold
from pucli.tuning.search import Progress, count_positive

# Features (with the intercept) up to which the compiled loop beats LAPACK calls.
SMALL_FEATURES = 24


class _FoldData(NamedTuple):
    train: np.ndarray
    valid: np.ndarray
    labelled: np.ndarray  # (n_train,) bool
    s_valid: np.ndarray
    graph: Any


class GlobalLocalPath:
    """The path-wise route of `pucli.tuning.search` for the methods glpual and gllc."""

    def __init__(
        self, method: Method, X: np.ndarray, s: np.ndarray, folds: list[list[Fold]], params: Mapping, cache: dict | None
    ) -> None:
        self.squared = method.name == "gllc"
        self.defaults = {**_defaults(method), **params}
        self.X, self.s, self.folds = np.ascontiguousarray(X), s, folds
        self.cache = cache
        self._fold_id = hash(b"".join(valid.tobytes() for repeat in folds for _, valid in repeat))
        self.distances = squared_distances(self.X)
        self._features: dict[tuple, tuple[np.ndarray, np.ndarray]] = {}
        self._kernels: dict[float, np.ndarray] = {}
        k = self.defaults["n_neighbors"]
        self.data = {
            (r, f): _FoldData(train, valid, s[train] == 1, s[valid], graph_from_distances(self.distances, train, k))
            for r, repeat in enumerate(folds)
            for f, (train, valid) in enumerate(repeat)
        }

    @staticmethod
    def supports(params: Mapping[str, Any]) -> bool:
        """Whether these fixed parameters leave the route's assumptions intact (dual solver, full rank)."""
        return params.get("solver", "dual") == "dual" and params.get("max_rank") is None

    def counts(self, points: Sequence[Mapping[str, Any]], progress: Progress | None = None) -> np.ndarray:
        """Return the counts (n_points, repeats, folds, 4) of `pucli.tuning.scorers`."""
        full = [{**self.defaults, **point} for point in points]
        result = np.zeros((len(points), len(self.folds), len(self.folds[0]), 4), dtype=np.int64)
        total = len(self.data)
        for done, ((r, f), data) in enumerate(self.data.items()):
            groups: dict[tuple, list[int]] = {}
            for p, point in enumerate(full):
                groups.setdefault(self._group(point), []).append(p)
            for group, members in groups.items():
                result[members, r, f] = self._evaluate(group, [full[p] for p in members], (r, f), data)
            if progress is not None:
                progress((done + 1) * len(points) // total, len(points))
        return result

    @staticmethod
    def _group(point: Mapping[str, Any]) -> tuple:
        width = None if point["kernel"] == "linear" else float(point["width"])
        return point["form"], point["kernel"], width

    def _evaluate(self, group: tuple, points: list[dict], where: tuple[int, int], data: _FoldData) -> np.ndarray:
        form, kernel, width = group
        if form == "thesis":
            return self._thesis(width, points, data)
        if kernel == "linear":
            Z, Z_valid = with_intercept(self.X[data.train]), with_intercept(self.X[data.valid])
            if Z.shape[1] <= SMALL_FEATURES:
                return self._small(points, data, Z, Z_valid)
        else:
            Z, Z_valid = self._kernel_features(width, where, data)
        return self._large(group, points, where, data, Z, Z_valid)

    def _kernel_features(self, width: float, where: tuple[int, int], data: _FoldData) -> tuple[np.ndarray, np.ndarray]:
        """Low-rank features of training and validation rows, with the intercept column; the last few are kept."""
        key = (width, where)
        if key not in self._features:
            K = rbf_from_distances(self.distances[np.ix_(data.train, data.train)], width)
            features = pivoted_cholesky(K)
            landmarks = self.X[data.train[features.pivots]]
            valid = rbf_features(self.X[data.valid], landmarks, features.factor, width)
            if len(self._features) >= 2 * len(self.data):
                self._features.pop(next(iter(self._features)))
            self._features[key] = (with_intercept(features.L), with_intercept(valid))
        return self._features[key]

    def _small(self, points: list[dict], data: _FoldData, Z: np.ndarray, Z_valid: np.ndarray) -> np.ndarray:
        order = sorted(range(len(points)), key=lambda p: _path_order(points[p]))
        table = np.array([[points[p][k] for k in ("sigma", "lam", "c_u", "c_p")] for p in order], dtype=float)
        positive = linear_path(
            Z, data.labelled, data.graph.i, data.graph.j, data.graph.squared_distance, Z_valid,
            data.s_valid == 1, table, self.squared, self.defaults.get("tol", 1e-6),
            self.defaults.get("max_iter") or 1000,
        )  # fmt: skip
        result = np.empty((len(points), 4), dtype=np.int64)
        result[order, 0] = positive[:, 0]
        result[order, 2] = positive[:, 1]
        result[:, 1] = np.count_nonzero(data.s_valid == 1)
        result[:, 3] = np.count_nonzero(data.s_valid != 1)
        return result

    def _large(
        self,
        group: tuple,
        points: list[dict],
        where: tuple[int, int],
        data: _FoldData,
        Z: np.ndarray,
        Z_valid: np.ndarray,
    ) -> np.ndarray:
        """One LAPACK factorisation a point; with a cache, the other method's counts are kept for its own turn."""
        result = np.empty((len(points), 4), dtype=np.int64)
        tol, max_iter = self.defaults.get("tol", 1e-6), self.defaults.get("max_iter") or 1000
        keys = [
            (self.squared, group, where, self._fold_id, tol, max_iter, *_path_order(p), p["c_p"], p["n_neighbors"])
            for p in points
        ]
        if self.cache is not None and all(key in self.cache for key in keys):
            result[:] = [self.cache[key] for key in keys]
            return result
        Zp, Zu = np.ascontiguousarray(Z[data.labelled]), Z[~data.labelled]
        G_u, s_u = Zu.T @ Zu, Zu.sum(axis=0)
        ridge = np.diag_indices(Z.shape[1] - 1)
        sigma, G_r, a, previous = None, np.empty(0), np.zeros(len(Zp)), None
        for p in sorted(range(len(points)), key=lambda p: _path_order(points[p])):
            point = points[p]
            if point["sigma"] != sigma:
                sigma = point["sigma"]
                product = laplacian_product(data.graph.i, data.graph.j, edge_weights(data.graph, sigma), Z)
                G_r = Z.T @ product
            c_u, c_p = point["c_u"], point["c_p"]
            A = (2.0 * c_u) * G_u + 2.0 * G_r
            A[ridge] += point["lam"]
            C, _ = dpotrf(A.T, lower=1, overwrite_a=1, clean=0)
            Y, _ = dtrtrs(C, np.column_stack([Zp.T, (2.0 * c_u) * s_u]), lower=1)
            Yp, yb = Y[:, :-1], Y[:, -1]
            Q, q = Yp.T @ Yp, Yp.T @ yb
            scores = {}
            if self.squared or self.cache is not None:
                n_p = len(Zp)
                a_squared = np.linalg.solve(np.eye(n_p) + (2.0 * c_p) * Q, (2.0 * c_p) * (1.0 + q))
                scores[True] = a_squared
            if not self.squared or self.cache is not None:
                if previous != (sigma, point["lam"]):
                    a = np.zeros(len(Zp))
                a = np.minimum(a, c_p)
                constant = c_u * len(Zu) - 0.5 * yb @ yb
                box_ascent_gram(Q, q, a, c_p, constant, tol, max_iter)
                previous = (sigma, point["lam"])
                scores[False] = a
            for squared, dual in scores.items():
                w, _ = dtrtrs(C, Yp @ dual - yb, lower=1, trans=1)
                count = count_positive(Z_valid @ w > 0, data.s_valid)
                if squared == self.squared:
                    result[p] = count
                elif self.cache is not None:
                    self.cache[squared, *keys[p][1:]] = count
        return result

    def _thesis(self, width: float, points: list[dict], data: _FoldData) -> np.ndarray:
        K_pp, k_pu, s_uu, K_vp, k_vu = self._thesis_sums(width, data)
        n_u = int(np.count_nonzero(~data.labelled))
        result = np.empty((len(points), 4), dtype=np.int64)
        done: dict[tuple, tuple[int, int, int, int]] = {}
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
                done[c_p, c_u] = count_positive(f > 0, data.s_valid)
            result[p] = done[c_p, c_u]
        return result

    def _thesis_sums(self, width: float, data: _FoldData):
        """Kernel blocks and row sums of one fold, from one kernel matrix of all rows a width."""
        if width not in self._kernels:
            if len(self._kernels) >= 12:
                self._kernels.pop(next(iter(self._kernels)))
            self._kernels[width] = rbf_from_distances(self.distances, width)
        K = self._kernels[width]
        unlabeled = data.train[~data.labelled]
        p = data.train[data.labelled]
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


def _path_order(point: Mapping[str, Any]) -> tuple[float, float, float]:
    return float(point["sigma"]), float(point["lam"]), float(point["c_u"])


def _defaults(method: Method) -> dict[str, Any]:
    return {**estimator_class(method)().get_params(), **method.params}
