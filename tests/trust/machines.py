"""Gaps of the Laplacian SVM: its objective in extended precision, at a fit and where a search finds a better point."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.neighbors import kneighbors_graph

from pucli.core.arrays import Floats, Ints
from pucli.methods import make_estimator
from tests.trust import objectives
from tests.trust.fits import Cases, fitted
from tests.trust.objectives import SMALLEST, Long, by_clarabel, by_descent
from tests.trust.problems import partly_labeled

SEED = 26
COUNTS = (100, 10_000)
NEIGHBORS = 6
ROUNDING = 1e-10


class Machine(NamedTuple):
    """The objective of one class against the rest over weights of the rows and an offset.

    `F` (n, n) is the kernel, `L` the Laplacian of the graph over its gamma_i / n^2, `y` (n,) 1, -1, or 0 if unlabeled.
    """

    F: Long
    L: Long
    y: Long
    gamma: Any
    smooth: Any

    def at(self, alpha: Long, b: Any) -> tuple[Any, Long, Any]:
        """Return the value and its slopes by the weights and by the offset."""
        g = self.F @ alpha
        count = np.abs(self.y).sum()
        margin = np.where(self.y != 0, np.maximum(1 - self.y * (g + b), 0), 0)
        rough = self.smooth * (self.L @ g)
        slope = -2 / count * self.y * margin
        value = margin @ margin / count + self.gamma * (alpha @ g) + g @ rough
        return value, (slope + 2 * rough) @ self.F + 2 * self.gamma * g, slope.sum()

    def lowest(self, alpha: Long, b: Any) -> Any:
        """Return the least value that constants, a general minimizer and Clarabel find."""
        values, vectors = np.linalg.eigh(np.asarray(self.F, dtype=float))
        kept = values > SMALLEST * max(values[-1], 1e-300)
        A = (vectors[:, kept] / np.sqrt(values[kept])).astype(np.longdouble)

        found = [self.at(0 * alpha, np.longdouble(constant))[0] for constant in (-1, 0, 1)]
        found.append(by_descent(self.at, alpha, b, A))
        point = self._by_clarabel(np.asarray(A, dtype=float))
        if point is not None:
            found.append(self.at(A @ point[:-1], point[-1])[0])
        return min(value for value in found if np.isfinite(value))

    def _by_clarabel(self, A: Floats) -> Long | None:
        """Return the minimizer along the directions A, and the offset last; None where Clarabel finds none."""
        known = np.flatnonzero(self.y)
        r, count = A.shape[1], len(known)
        Z = np.asarray(self.F @ A, dtype=float)
        y = np.asarray(self.y[known], dtype=float)
        P = np.zeros((r + 1 + count,) * 2)
        rough = 2 * float(self.smooth) * Z.T @ np.asarray(self.L, dtype=float) @ Z
        P[:r, :r] = 2 * float(self.gamma) * np.eye(r) + (rough + rough.T) / 2
        P[r + 1 :, r + 1 :] = 2 / count * np.eye(count)
        margin = np.hstack([-y[:, None] * Z[known], -y[:, None], -np.eye(count)])
        positive = np.hstack([np.zeros((count, r + 1)), -np.eye(count)])
        limits = np.append(-np.ones(count), np.zeros(count))
        rows = np.vstack([margin, positive])
        point = by_clarabel(P, np.zeros(len(P)), rows, limits, lambda kinds: [kinds.NonnegativeConeT(2 * count)])
        return None if point is None else point[: r + 1].astype(np.longdouble)


def cases() -> list[Cases]:
    note = f"rounding of {ROUNDING:g} of the objective is allowed"
    return [
        Cases("gaps of laplacian-svm (linear)", COUNTS, lambda number: _judged("linear", number), note),
        Cases("gaps of laplacian-svm (rbf)", COUNTS, lambda number: _judged("rbf", number), note),
    ]


def _judged(kernel: str, number: int) -> tuple[str, str]:
    kind, X, y, params = generated(number)
    return kind, judged(kernel, X, y, params)


def generated(number: int, seed: int = SEED) -> tuple[str, Floats, Ints, dict[str, float]]:
    """Return the kind of a problem, rows, labels with -1 for unlabeled rows, and the weights of the method."""
    rng = np.random.default_rng([seed, number])
    kind, X, y = partly_labeled(rng, least=int(rng.integers(1, 4)))
    power = 6.0 if kind in ("weights", "all") else 2.0
    params = {name: float(10.0 ** rng.uniform(-power, power)) for name in ("gamma_a", "gamma_i")}
    spread = float(np.median(np.abs(X - X.mean(axis=0)))) or 1.0
    return kind, X, y, {**params, "width": float(10.0 ** rng.uniform(-1, 1)) * spread}


def judged(kernel: str, X: Floats, y: Ints, params: dict[str, float]) -> str:
    """Return what is wrong with a fit, "" if nothing, "refused" if the method refused the rows with a reason."""
    model = make_estimator("laplacian-svm", kernel=kernel, n_neighbors=NEIGHBORS, **params)
    if wrong := fitted(model, X, y):
        return wrong
    if not np.isfinite(model.objective_) or not np.isfinite(model.dual_gap_):
        return "converged without a finite gap" if model.converged_ else ""
    with np.errstate(all="ignore"):
        return _wrong(model, kernel, X, y, params)


def _wrong(model: Any, kernel: str, X: Floats, y: Ints, params: dict[str, float]) -> str:
    rows = X.astype(np.longdouble)
    F = rows @ rows.T if kernel == "linear" else objectives.kernel(X, params["width"])
    L, n = _laplacian(X), len(X)
    classes = model.classes_ if len(model.classes_) > 2 else model.classes_[1:]
    own = best = trivial = np.longdouble(0)
    for positive, alpha, b in zip(classes, model.dual_coef_, model.intercept_, strict=True):
        signs = np.where(y < 0, 0, np.where(y == positive, 1, -1)).astype(np.longdouble)
        machine = Machine(F, L, signs, np.longdouble(params["gamma_a"]), np.longdouble(params["gamma_i"]) / n**2)
        weights = alpha.astype(np.longdouble)
        own += machine.at(weights, np.longdouble(b))[0]
        best += machine.lowest(weights, np.longdouble(b))
        trivial += machine.at(0 * weights, np.longdouble(0))[0]
    slack = model.dual_gap_ + ROUNDING * max(abs(float(own)), abs(model.objective_), float(trivial))
    if float(own) - model.objective_ > slack:
        return f"the objective is {float(own):.9g}, not {model.objective_:.9g} (gap {model.dual_gap_:.3g})"
    if model.objective_ - float(best) > slack:
        return f"gap {model.dual_gap_:.3g}, but {model.objective_ - float(best):.3g} lower is possible"
    return ""


def _laplacian(X: Floats) -> Long:
    """Return the normalized Laplacian of the symmetric graph of nearest neighbors."""
    near = kneighbors_graph(X, min(NEIGHBORS, len(X) - 1)).toarray()
    W = np.maximum(near, near.T).astype(np.longdouble)
    root = np.sqrt(W.sum(axis=1))
    return np.eye(len(X), dtype=np.longdouble) - W / root / root[:, None]
