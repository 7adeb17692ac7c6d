"""Least squares with unlabeled rows: the guarantee, the gap and the labels of a fit, computed in extended precision.

The gain of a fit over the supervised one that it states is computed for the worst labels; `improvement_` may not be
above it. Other labels are searched by a general minimizer and by Clarabel: none may lead to a risk that is better than
the gap allows. Directions of the rows that are below a share of the largest are left out of a search, as in a fit.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from pucli.core.arrays import Floats, Ints
from pucli.methods import make_estimator
from tests.trust.fits import Cases, fitted
from tests.trust.objectives import Long, by_clarabel
from tests.trust.problems import partly_labeled

SEED = 24
COUNTS = (100, 10_000)
METHODS = ("least-squares", "icls", "cpls")
# Rounding of a risk, as a share of its size, that a gap may ignore.
ROUNDING = 1e-10
# Directions of the standardized rows below this share of the largest are left out of a search.
SMALLEST = 1e-9


class Task(NamedTuple):
    """The kind of a problem, rows, labels 0 and 1 or -1 for unlabeled rows, and the parameters of the method."""

    kind: str
    X: Floats
    y: Ints
    lam: float
    fit_intercept: bool


class Risk(NamedTuple):
    """The squared error of rows X (n, d), plus lam times that of the slopes; coefficients have the intercept last."""

    X: Long
    lam: Any

    def at(self, w: Long, y: Any) -> Any:
        """Return the risk of coefficients w (d + 1,) for labels y (n,)."""
        away = self.X @ w[:-1] + w[-1] - y
        return away @ away + self.lam * (w[:-1] @ w[:-1])


def cases() -> list[Cases]:
    note = f"rounding of {ROUNDING:g} of the risk is allowed"
    return [Cases(f"risks of {method}", COUNTS, partial(_judged, method), note) for method in METHODS]


def _judged(method: str, number: int) -> tuple[str, str]:
    task = generated(number)
    return task.kind, judged(method, task)


def generated(number: int, seed: int = SEED) -> Task:
    rng = np.random.default_rng([seed, number])
    kind, X, y = partly_labeled(rng, least=int(rng.integers(1, 6)), classes=2)
    centered = float(np.abs(X - X.mean(axis=0)).max()) or 1.0
    lam = 0.0 if rng.random() < 0.5 else 10.0 ** float(rng.uniform(-6, 3)) * min(centered**2, 1e60)
    return Task(kind, X, y, lam, bool(rng.random() < 0.8))


def judged(method: str, task: Task) -> str:
    """Return what is wrong with a fit, "" if nothing, "refused" if the method refused the rows with a reason."""
    model = make_estimator(method, lam=task.lam, fit_intercept=task.fit_intercept)
    if wrong := fitted(model, task.X, task.y):
        return wrong
    with np.errstate(all="ignore"):
        return _wrong(method, task, model)


def _wrong(method: str, task: Task, model: Any) -> str:
    labeled = task.y >= 0
    own = task.y[labeled].astype(np.longdouble)
    # differences from a row and its exact score keep the digits of rows that are far from zero
    first, lam = task.X[0], np.longdouble(task.lam)
    rows = task.X.astype(np.longdouble) - first
    known, every = Risk(rows[labeled], lam), Risk(np.vstack([rows[labeled], rows[~labeled]]), lam)
    w = _about(first, model._coef, model._intercept)
    if method == "least-squares" or model.supervised_only_:
        return _supervised(task, known, own, w, model.objective_, model.dual_gap_)
    before = _about(first, model.supervised_coef_, model.supervised_intercept_)
    least, size = _least_gain(every, own, before, w)
    terms = np.abs(task.X) @ np.abs(before + w)[:-1] + abs((before + w)[-1])
    rounding = 8 * np.finfo(float).eps * float(size * max(terms.max(), 1.0))
    if model.improvement_ - least > (rounding if model.improvement_ == 0.0 else 0.0):
        return f"improvement {model.improvement_:.9g}, but {least:.9g} for some labels"
    q = model.soft_labels_.astype(np.longdouble)
    if not ((q >= 0) & (q <= 1)).all():
        return "labels outside 0 and 1"
    fit = _Fits(task, every.X, first)
    others = [q, *fit.searched(known, own, model.soft_labels_, method == "cpls", before)]
    if method == "icls":
        at_own = known.at(w, own)
        slack = model.dual_gap_ + ROUNDING * float(max(at_own, own @ own))
        if abs(float(at_own) - model.objective_) > slack:
            return f"the risk is {float(at_own):.12g}, not {model.objective_:.12g} (gap {model.dual_gap_:.3g})"
        best = min(known.at(fit.of(np.append(own, other)), own) for other in others)
        if model.objective_ - float(best) > slack:
            return f"gap {model.dual_gap_:.3g}, but other labels are {model.objective_ - float(best):.3g} better"
        return ""
    slack = model.dual_gap_ + ROUNDING * size
    contrast = every.at(w, np.append(own, q)) - every.at(before, np.append(own, q))
    if abs(float(contrast) - model.objective_) > slack:
        return f"the contrast is {float(contrast):.12g}, not {model.objective_:.12g} (gap {model.dual_gap_:.3g})"
    labels = [np.append(own, other) for other in others]
    fits = [w, before, *map(fit.of, labels)]
    below = max(min(float(every.at(v, y) - every.at(before, y)) for v in fits) for y in labels)
    above = min(-_least_gain(every, own, before, v)[0] for v in fits)
    if below - model.objective_ > slack or model.objective_ - above > slack:
        saddle = f"between {below:.9g} and {above:.9g}"
        return f"objective {model.objective_:.9g}, gap {model.dual_gap_:.3g}, but the saddle is {saddle}"
    return ""


def _about(first: Floats, coef: Floats, intercept: float) -> Long:
    """Return coefficients for rows from which `first` (d,) is subtracted, from exact arithmetic."""
    pairs = zip(first.tolist(), coef.tolist(), strict=True)
    score = sum((Fraction(x) * Fraction(slope) for x, slope in pairs), Fraction(float(intercept)))
    rest = float(score - Fraction(float(score)))
    return np.append(coef.astype(np.longdouble), np.longdouble(float(score)) + np.longdouble(rest))


def _supervised(task: Task, risk: Risk, y: Long, w: Long, objective: float, gap: float) -> str:
    own, best = risk.at(w, y), risk.at(_Fits(task, risk.X, task.X[0]).of(y), y)
    slack = gap + ROUNDING * float(max(own, y @ y))
    if abs(float(own) - objective) > slack:
        return f"the risk is {float(own):.12g}, not {objective:.12g} (gap {gap:.3g})"
    return f"gap {gap:.3g}, but {objective - float(best):.3g} better" if objective - float(best) > slack else ""


def _least_gain(risk: Risk, own: Long, before: Long, w: Long) -> tuple[float, float]:
    """Return the least gain of w over `before` for any labels of the rows after those with a label, and its size."""
    f, old = risk.X @ w[:-1] + w[-1], risk.X @ before[:-1] + before[-1]
    y = np.append(own, (old > f)[len(own) :].astype(np.longdouble))
    terms = (old - f) * (old + f - 2 * y)
    slopes = risk.lam * (before[:-1] @ before[:-1] - w[:-1] @ w[:-1])
    size = ((np.abs(old) + np.abs(f) + 1) ** 2).sum() + risk.lam * (before[:-1] @ before[:-1] + w[:-1] @ w[:-1])
    return float(terms.sum() + slopes), float(size)


class _Fits:
    """Least squares coefficients for any labels of some rows, refined in extended precision.

    `first` (d,) was subtracted from the rows, so that without an intercept the last coefficient is its score.
    """

    def __init__(self, task: Task, rows: Long, first: Floats) -> None:
        self.rows, self.count, self.intercept = rows, len(rows), task.fit_intercept
        self.center = rows.mean(axis=0) if self.intercept else -first.astype(np.longdouble)
        scale = np.sqrt(((rows - self.center) ** 2).mean(axis=0))
        largest = np.abs(rows + first).max(axis=0)
        scale = np.where(scale > 1e-12 * largest, scale, np.where(largest > 0, largest, 1))
        self.scale = np.maximum(scale, np.sqrt(np.longdouble(task.lam) / self.count))
        design = (rows - self.center) / self.scale
        if self.intercept:
            design = np.hstack([design, np.ones((self.count, 1))])
        if task.lam > 0:
            ridge = np.sqrt(np.longdouble(task.lam)) / self.scale
            design = np.vstack([design, np.eye(len(ridge), design.shape[1]) * np.append(ridge, 0)[: design.shape[1]]])
        self.design = design
        left, values, right = np.linalg.svd(np.asarray(design, dtype=float), full_matrices=False)
        kept = values > SMALLEST * values[0]
        self.basis, self.back = left[:, kept], right[kept].T / values[kept]

    def of(self, y: Long) -> Long:
        """Return the coefficients for labels y (n,), the intercept last."""
        target: Long = np.append(y, np.zeros(len(self.design) - self.count))
        inside = np.zeros(self.design.shape[1], np.longdouble)
        for _ in range(3):
            inside = inside + self.back @ (self.basis.T @ (target - self.design @ inside))
        slopes = inside[: len(self.scale)] / self.scale
        return np.append(slopes, (inside[-1] if self.intercept else 0) - self.center @ slopes)

    def searched(self, known: Risk, own: Long, start: Floats, all_rows: bool, before: Long) -> list[Long]:
        """Return labels of the unlabeled rows, found by a general minimizer and by Clarabel.

        They minimize the squared distance of the coefficients from `before` in the metric of all rows, or the risk of
        the labeled rows.
        """
        B = self.basis[len(own) : self.count]
        old = np.append(self.rows @ before[:-1] + before[-1], np.zeros(len(self.design) - self.count))
        if len(old) > self.count:
            slopes = self.design[self.count :, : len(self.scale)] @ (before[:-1] * self.scale)
            old[self.count :] = slopes
        rest = np.asarray(self.basis.T @ old, dtype=float) - self.basis[: len(own)].T @ np.asarray(own, dtype=float)
        matrix, goal = B.T, rest
        if not all_rows:
            labeled = np.delete(self.basis, slice(len(own), self.count), axis=0)
            target = np.append(own, np.zeros(len(labeled) - len(own)))
            matrix = labeled @ B.T
            goal = np.asarray(target, dtype=float) - labeled @ (self.basis[: len(own)].T @ np.asarray(own, float))
        return [found.astype(np.longdouble) for found in _in_box(matrix, goal, start)]


def _in_box(A: Floats, c: Floats, start: Floats) -> list[Floats]:
    """Return points that nearly minimize |A q - c|^2 over 0 <= q <= 1."""
    done = minimize(
        lambda q: (float((A @ q - c) @ (A @ q - c)), 2 * (A @ q - c) @ A),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(start),
        options={"maxiter": 60, "ftol": 1e-15, "gtol": 1e-12},
    )
    eye, n = np.eye(len(start)), len(start)
    limits = np.append(np.ones(n), np.zeros(n))
    point = by_clarabel(
        2 * A.T @ A, -2 * A.T @ c, np.vstack([eye, -eye]), limits, lambda kinds: [kinds.NonnegativeConeT(2 * n)]
    )
    return [np.clip(x, 0.0, 1.0) for x in (done.x, point) if x is not None]
