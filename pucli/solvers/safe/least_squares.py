"""Semi-supervised least squares: supervised, implicitly constrained (ICLS), contrastive pessimistic (CPLS).

Bertazzi 2018, chapter 3, after Loog 2016 and Krijthe & Loog 2017. With 0/1 labels, N labeled rows X and M unlabeled
rows U, every labeling y_u in [0, 1]^M has its least squares solution w(y_u) (3.16). CPLS takes the one nearest to the
supervised solution in the metric of all rows (Prop. 3.4), ICLS the one nearest in the metric of the labeled rows.
Both are least squares in the soft labels over a box,

    minimize 1/2 ||B' y_u - c||^2  subject to  0 <= y_u <= 1,      B (M, r), r <= D + 1,

where the rows of B are the rows of U in an orthonormal basis of the column space of the design. The (N+M) x (N+M)
matrix of Prop. 3.12 is never computed; memory and time per sweep are linear in M.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.linalg import lstsq, qr, svd

from pucli.core.arrays import Floats
from pucli.solvers.result import Certificate, Solution

# Coordinate sweeps between two Newton steps on the free labels.
_SWEEPS = 4
# A standard deviation below this fraction of the largest entry is rounding.
_CONSTANT = 1e-12
# Singular values of the standardized design below this fraction of the largest count as zero.
_RANK = 1e-10
# Terms of a prediction above this, in units of the labels, leave an error of rounding in a risk.
_LARGE = 1e4


@dataclass(frozen=True, kw_only=True)
class BoxSolution(Certificate):
    """Solution of the box-constrained least squares problem; `n_iter` counts coordinate sweeps."""

    y: Floats  # (M,), the minimizer
    error: Floats  # (r,), b'y - c


@dataclass(frozen=True, kw_only=True)
class SafeLeastSquares(Solution):
    """A semi-supervised least squares fit; `coef` (D + 1,) has the intercept last.

    Risks are sums of squared errors over all N + M rows, plus the penalty.
    """

    coef_supervised: Floats  # (D + 1,), the supervised fit
    soft_labels: Floats  # (M,), labels in [0, 1] that lead to `coef`
    improvement: float  # risk(supervised) - risk(coef) is at least this for every labeling, including rounding


@njit(cache=True)
def _sweep(B: Floats, norms: Floats, y: Floats, z: Floats, sweeps: int) -> None:
    """Minimize exactly over one label at a time, for all labels; y (M,) and z = B'y - c (r,) change in place."""
    for _ in range(sweeps):
        for j in range(B.shape[0]):
            if norms[j] == 0.0:
                continue
            slope = 0.0
            for i in range(B.shape[1]):
                slope += B[j, i] * z[i]
            new = min(1.0, max(0.0, y[j] - slope / norms[j]))
            change = new - y[j]
            if change != 0.0:
                y[j] = new
                for i in range(B.shape[1]):
                    z[i] += change * B[j, i]


def _newton_on_free(B: Floats, c: Floats, y: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return (y, z) after a Newton step on the labels strictly inside the box; the point is never worse.

    The step is projected onto the box. If that overshoots (in a direction of almost no curvature), the labels instead
    move along the Newton directions from one face of the box to the next.
    """
    free = np.flatnonzero((y > 0.0) & (y < 1.0))
    if len(free) == 0:
        return y, z
    step = lstsq(B[free].T, -z, lapack_driver="gelsy", check_finite=False)[0]
    trial = y.copy()
    trial[free] = np.clip(y[free] + step, 0.0, 1.0)
    trial_z = B.T @ trial - c
    if trial_z @ trial_z < z @ z:
        return trial, trial_z
    trial = y.copy()
    for _ in range(min(len(free), 2 * B.shape[1])):
        room = np.where(step > 0.0, 1.0 - trial[free], trial[free])
        ratio = room / np.maximum(np.abs(step), 1e-300)
        first = int(np.argmin(ratio))
        if ratio[first] >= 1.0:
            trial[free] += step
            break
        trial[free] = np.clip(trial[free] + ratio[first] * step, 0.0, 1.0)
        trial[free[first]] = 1.0 if step[first] > 0.0 else 0.0
        free = np.delete(free, first)
        if len(free) == 0:
            break
        step = lstsq(B[free].T, c - B.T @ trial, lapack_driver="gelsy", check_finite=False)[0]
    trial_z = B.T @ trial - c
    return (trial, trial_z) if trial_z @ trial_z < z @ z else (y, z)


def _box_least_squares(B: Floats, c: Floats, y0: Floats, *, tol: float = 1e-10, max_iter: int = 2000) -> BoxSolution:
    """Minimize 1/2 ||B'y - c||^2 over 0 <= y <= 1, for B (M, r) and c (r,), from y0 (M,) inside the box.

    It stops when the duality gap is at most `tol`, in units of the objective. The gap is that of the linearization,
    sum_j g_j y_j - min(0, g_j) with g = B (B'y - c), which bounds objective minus optimum because the objective is
    convex. `max_iter` counts coordinate sweeps.
    """
    B = np.ascontiguousarray(B, dtype=np.float64)
    norms = np.einsum("ij,ij->i", B, B)
    y = np.array(y0, dtype=np.float64)
    z = B.T @ y - c
    n_iter = 0
    while True:
        slopes = B @ z
        gap = float(np.sum(np.where(slopes < 0.0, (y - 1.0) * slopes, y * slopes)))
        if gap <= tol or n_iter >= max_iter:
            return BoxSolution(objective=0.5 * float(z @ z), gap=gap, n_iter=n_iter, converged=gap <= tol, y=y, error=z)
        _sweep(B, norms, y, z, _SWEEPS)
        n_iter += _SWEEPS
        y, z = _newton_on_free(B, c, y, B.T @ y - c)


def _standardization(X: Floats, fit_intercept: bool, lam: float) -> tuple[Floats, Floats]:
    """Return the center and scale of each column; with them the rank of the design does not depend on units.

    A column that varies only by rounding is scaled by its size, so that it counts as constant.
    """
    center = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
    scale = np.sqrt(np.mean((X - center) ** 2, axis=0))
    largest = np.maximum(np.abs(X.max(axis=0)), np.abs(X.min(axis=0)))
    scale = np.where(scale > _CONSTANT * largest, scale, np.where(largest > 0.0, largest, 1.0))
    return center, np.maximum(scale, np.sqrt(lam / len(X)))


def _design(X: Floats, center: Floats, scale: Floats, lam: float, fit_intercept: bool) -> Floats:
    """Return the standardized rows with a column of ones, and under them the D rows of the ridge penalty."""
    top = (X - center) / scale
    penalty = np.diag(np.sqrt(lam) / scale)
    if fit_intercept:
        top = np.hstack([top, np.ones((len(X), 1))])
        penalty = np.hstack([penalty, np.zeros((len(penalty), 1))])
    return np.vstack([top, penalty]) if lam > 0 else top


def _to_original(w: Floats, center: Floats, scale: Floats, fit_intercept: bool) -> Floats:
    """Return slopes and intercept (D+1,) in the units of the data."""
    slopes = w[: len(scale)] / scale
    return np.append(slopes, w[-1] - center @ slopes if fit_intercept else 0.0)


def _to_standardized(w: Floats, center: Floats, scale: Floats, fit_intercept: bool) -> Floats:
    """Return the coefficients of the standardized design for slopes and intercept (D+1,) in the units of the data."""
    slopes: Floats = w[:-1] * scale
    return np.append(slopes, w[-1] + center @ w[:-1]) if fit_intercept else slopes


def least_squares(X: Floats, y: Floats, *, lam: float = 0.0, fit_intercept: bool = True) -> Floats:
    """Return the w (D + 1,), slopes and then the intercept, that minimizes ||y - Xw||^2 + lam ||slopes||^2, (3.6).

    If the rows do not determine w (N <= D and lam = 0), it has the least norm in standardized features.
    """
    center, scale = _standardization(X, fit_intercept, lam)
    design = _design(X, center, scale, lam, fit_intercept)
    target = np.concatenate([y, np.zeros(len(design) - len(y))])
    w = lstsq(design, target, cond=_RANK, check_finite=False)[0]
    return _to_original(w, center, scale, fit_intercept)


def rounding_of_values(X: Floats, w: Floats) -> float:
    """Return the rounding of the terms of X w, 0 unless they are so much larger than labels that it shows in a risk."""
    largest = float(np.abs(X).max(axis=0) @ np.abs(w[:-1]) + abs(w[-1]))
    return float(np.finfo(float).eps * largest) if largest > _LARGE else 0.0


def fitted_values(X: Floats, w: Floats) -> Floats:
    """Return X w for coefficients w (D+1,) as they are rounded, without the rounding of a large offset of the rows."""
    intercept = np.longdouble(w[-1]) + (X[0].astype(np.longdouble) * w[:-1]).sum()
    values: Floats = (X - X[0]) @ w[:-1] + float(intercept)
    return values


def risk(X: Floats, y: Floats, w: Floats, lam: float) -> float:
    """Return ||y - Xw||^2 + lam ||slopes||^2 of coefficients as they are rounded."""
    away = fitted_values(X, w) - y
    return float(away @ away + lam * (w[:-1] @ w[:-1]))


def excess_risk(X: Floats, y: Floats, w: Floats, *, lam: float, fit_intercept: bool) -> float:
    """Return `risk` minus its minimum: the part of the residuals that the columns of the design explain."""
    center, scale = _standardization(X, fit_intercept, lam)
    design = _design(X, center, scale, lam, fit_intercept)
    left, singular, _ = svd(design, full_matrices=False, check_finite=False)
    residual = y - fitted_values(X, w)
    if lam > 0.0:
        residual = np.append(residual, -np.sqrt(lam) * w[:-1])
    explained = left[:, singular > _RANK * singular[0]].T @ residual
    return float(explained @ explained)


def contrast(X: Floats, y: Floats, w: Floats, w_supervised: Floats, lam: float) -> float:
    """Return risk(w) - risk(w_supervised), computed without cancellation."""
    values, before = fitted_values(X, w), fitted_values(X, w_supervised)
    slopes = (w - w_supervised)[:-1] @ (w + w_supervised)[:-1]
    return float((values - before) @ (values + before - 2.0 * y) + lam * slopes)


def guaranteed_improvement(X: Floats, y: Floats, U: Floats, w: Floats, w_supervised: Floats, lam: float = 0.0) -> float:
    """Return the minimum over all labelings of U of risk(w_supervised) - risk(w), rounded down.

    The risk is ||y_e - X_e w||^2 + lam ||slopes||^2. It is linear in each hidden label up to a term that both share,
    so the minimum is attained at a label 0 or 1 in each row. A bound on the rounding of the sums is subtracted; a
    minimum within that bound of zero is 0.
    """
    eps = np.finfo(np.float64).eps
    unit = (len(w) + 2) * eps
    change, both = w_supervised - w, w_supervised + w
    total = lam * float(change[:-1] @ both[:-1])
    rounding = unit * lam * float(both[:-1] @ both[:-1] + change[:-1] @ change[:-1])
    for rows, labels in ((X, y), (U, None)):
        f_change, f_both = rows @ change[:-1] + change[-1], rows @ both[:-1] + both[-1]
        worst = f_change > 0.0 if labels is None else labels
        total += float(np.sum(f_change * (f_both - 2.0 * worst)))
        size = np.abs(rows)
        change_error = unit * (size @ np.abs(change[:-1]) + abs(change[-1]))
        both_error = unit * (size @ np.abs(both[:-1]) + abs(both[-1]))
        reach = np.abs(f_both) + 2.0
        rounding += float(
            np.sum((reach + both_error) * change_error + np.abs(f_change) * both_error)
            + eps * np.sum((reach + np.abs(f_change)) ** 2)
        )
    return 0.0 if abs(total) <= rounding else total - rounding


def safe_least_squares(
    X: Floats,
    y: Floats,
    U: Floats,
    *,
    metric: str = "all",
    lam: float = 0.0,
    fit_intercept: bool = True,
    tol: float = 1e-10,
    max_iter: int = 2000,
) -> SafeLeastSquares:
    """Fit CPLS (`metric="all"`) or ICLS (`metric="labeled"`).

    `objective` is the contrastive risk (3.17), -||X_e (w - w_sup)||^2 <= 0, that CPLS maximizes over labelings (so
    optimum - objective <= gap), or the labeled risk (3.11) that ICLS minimizes. If CPLS cannot prove an
    improvement (before convergence, or because there is none), it falls back to the supervised fit, with objective
    0 and the known distance to the saddle value as the gap.
    """
    n_labeled, n_unlabeled = len(X), len(U)
    w_sup = least_squares(X, y, lam=lam, fit_intercept=fit_intercept)
    rows = np.vstack([X, U])
    center, scale = _standardization(rows, fit_intercept, lam)
    orthonormal, triangle = qr(_design(rows, center, scale, lam, fit_intercept), mode="economic", check_finite=False)
    left, singular, right = svd(triangle, check_finite=False)
    rank = int(np.sum(singular > _RANK * singular[0]))
    basis = orthonormal @ left[:, :rank]
    in_basis_sup = singular[:rank] * (right[:rank] @ _to_standardized(w_sup, center, scale, fit_intercept))

    # z(y_u) = basis'(y, y_u) - in_basis_sup are the coordinates of X_e (w(y_u) - w_sup).
    B = np.ascontiguousarray(basis[n_labeled : n_labeled + n_unlabeled])
    labeled = np.delete(basis, slice(n_labeled, n_labeled + n_unlabeled), axis=0)
    c = in_basis_sup - labeled[:n_labeled].T @ y
    start = np.clip(U @ w_sup[:-1] + w_sup[-1], 0.0, 1.0)
    stop = 0.5 * tol * (n_labeled + n_unlabeled)
    if metric == "all":
        box = _box_least_squares(B, c, start, tol=stop, max_iter=max_iter)
        objective = -float(box.error @ box.error)
    else:
        factor = qr(labeled, mode="r", check_finite=False)[0][:rank]
        box = _box_least_squares(B @ factor.T, factor @ c, start, tol=stop, max_iter=max_iter)
    z = B.T @ box.y - c
    shift = _to_original(right[:rank].T @ (z / singular[:rank]), center, scale, fit_intercept)
    w = w_sup + shift
    if metric != "all":
        objective = float(np.sum((y - X @ w[:-1] - w[-1]) ** 2) + lam * (w[:-1] @ w[:-1]))
    improvement = guaranteed_improvement(X, y, U, w, w_sup, lam)
    gap = 2.0 * box.gap
    if metric == "all" and improvement <= 0.0:
        # The contrastive risk of w_sup is 0 for all labels; its saddle value is at least that of the labels found.
        w, improvement, objective, gap = w_sup.copy(), 0.0, 0.0, -objective
    return SafeLeastSquares(
        coef=w,
        coef_supervised=w_sup,
        soft_labels=box.y,
        objective=objective,
        gap=gap,
        improvement=improvement,
        n_iter=box.n_iter,
        converged=box.converged,
    )
