"""Path-wise evaluation of CPB-GLPUAL grids: a graph a fold, features a width, the similarity form once per sigma."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pucli.kernels.graph import mutual_knn, similarity_form
from pucli.kernels.intercept import with_intercept
from pucli.kernels.low_rank import rbf_features, rbf_map
from pucli.methods import Method, estimator_class
from pucli.solvers.cpb.dc import solve_cpb
from pucli.tuning.folds import Fold
from pucli.tuning.search import Progress, count_positive

ORDER = ("n_neighbors", "kernel", "width", "sigma")


class CPBPath:
    """The path-wise route of `pucli.tuning.search` for the method cpb-glpual."""

    def __init__(
        self, method: Method, X: np.ndarray, s: np.ndarray, folds: list[list[Fold]], params: Mapping, cache: dict | None
    ) -> None:
        self.defaults = {**estimator_class(method)().get_params(), **method.params, **params}
        self.X, self.s, self.folds = np.ascontiguousarray(X), s, folds

    @staticmethod
    def supports(params: Mapping[str, Any]) -> bool:
        """Whether these fixed parameters leave the route's solver in place; a prior is estimated by the estimator."""
        return (
            params.get("form", "rkhs") == "rkhs"
            and params.get("solver", "dc") == "dc"
            and params.get("max_rank") is None
            and params.get("prior") is not None
        )

    def counts(self, points: Sequence[Mapping[str, Any]], progress: Progress | None = None) -> np.ndarray:
        """Return the counts (n_points, repeats, folds, 4) of `pucli.tuning.scorers`."""
        full = [{**self.defaults, **point} for point in points]
        order = sorted(range(len(full)), key=lambda p: (*(full[p][name] for name in ORDER), -full[p]["lam"]))
        result = np.zeros((len(points), len(self.folds), len(self.folds[0]), 4), dtype=np.int64)
        places = [(r, f) for r in range(len(self.folds)) for f in range(len(self.folds[0]))]
        for done, (r, f) in enumerate(places):
            result[order, r, f] = self._fold([full[p] for p in order], *self.folds[r][f])
            if progress is not None:
                progress((done + 1) * len(points) // len(places), len(points))
        return result

    def _fold(self, points: list[dict], train: np.ndarray, valid: np.ndarray) -> list[tuple[int, int, int, int]]:
        """Fit sorted points to the training rows and count on the validation rows."""
        X, labelled = np.ascontiguousarray(self.X[train]), self.s[train] == 1
        previous: dict[str, Any] = {}
        graph = edges = similarity = dual = None
        Z = Z_valid = np.empty(0)
        counts = []
        for point in points:
            changed = {name for name in ORDER if previous.get(name) != point[name]}
            if "n_neighbors" in changed:
                graph = mutual_knn(X, point["n_neighbors"])
            if changed & {"kernel", "width"}:
                Z, Z_valid = self._features(point, X, self.X[valid])
            if changed:
                assert graph is not None
                edges = graph.edges(point["sigma"])
                similarity, dual = similarity_form(Z[:, :-1], edges), None
            fit = solve_cpb(
                Z,
                labelled,
                edges,
                point["prior"],
                point["lam"],
                point["tol"],
                point["max_iter"] or 100,
                similarity,
                dual,
            )
            dual = fit.dual
            counts.append(count_positive(Z_valid @ fit.w > 0, self.s[valid]))
            previous = point
        return counts

    @staticmethod
    def _features(point: Mapping[str, Any], X: np.ndarray, X_valid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if point["kernel"] == "linear":
            return with_intercept(X), with_intercept(X_valid)
        features = rbf_map(X, point["width"])
        valid = rbf_features(X_valid, X[features.pivots], features.factor, point["width"])
        return with_intercept(features.L), with_intercept(valid)
