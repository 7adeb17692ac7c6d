"""GLPUAL and GLLC on a feature matrix (Wang 2024, eq. 3.2 and 2.5), by the dual in the labelled rows.

With w = (beta, beta_0), f = Z w and Z the rows (x_i, 1), GLPUAL minimises

    J(w) = lam/2 |beta|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf
         = 1/2 w'Aw + b'w + n_u c_u + c_p sum_p [1 - f_i]_+,
    A = lam I_0 + 2 c_u Zu'Zu + 2 Z'RZ,    b = 2 c_u Zu'1,

I_0 the identity with a zero for the intercept. Its dual is a box problem in the labelled rows,

    max_{0 <= a <= c_p}  -1/2 (Zp'a - b)' A^-1 (Zp'a - b) + 1'a + n_u c_u,     w = A^-1 (Zp'a - b),

solved here by coordinate ascent, with a Newton step on the free coordinates now and then. At any feasible a the
objective exceeds the optimum by at most

    gap(a) = sum_p c_p [1 - f_i]_+ - a_i (1 - f_i),

a sum of non-negative terms. GLLC has c_p (1 - f_i)^2 on the labelled rows: then a_i = 2 c_p (1 - f_i), a linear system.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from pucli.kernels.graph import similarity_form
from pucli.solvers.result import Solution, within

# Sweeps between Newton rounds, and steps in a round: sweeps find the free set, Newton solves on it.
NEWTON_EVERY = 5
NEWTON_STEPS = 3
# Sweeps after which pairs are moved as well: with a strong ridge the intercept couples all labelled rows, and single
# coordinates crawl along 1'a = constant.
PAIRS_AFTER = 5
# Sweeps with w maintained before the Gram matrix takes over, and the number of labelled rows it is formed for.
SWEEPS_BEFORE_GRAM = 25
GRAM_ROWS = 4000


def quadratic_part(Z, labelled, edges, lam, c_u):
    """Return A (m+1, m+1) and b (m+1,) of the objective above.

    Z : (n, m + 1) rows with a last column of ones; labelled : (n,) bool; edges : (i, j, weight) of R's edges.
    """
    Zu = Z[~labelled]
    A = 2.0 * c_u * (Zu.T @ Zu) + similarity_form(Z, edges)
    A[np.diag_indices(A.shape[0] - 1)] += lam
    return 0.5 * (A + A.T), 2.0 * c_u * Zu.sum(axis=0)


@njit(cache=True)
def box_ascent_weights(Y, v, a, upper, constant, half_b, tol, max_iter):
    """Coordinate ascent on the dual with v = Y'a - 2 half_b maintained; for more labelled rows than features.

    In the coordinates of A = C C', Y = Zp C^-T : (n_p, r), half_b = C^-1 b / 2 and v = C'w, so that f = Y v. v and a
    are updated in place. constant = n_u c_u. Stops when the gap is below tol times the objective. Returns (sweeps,
    gap, objective).
    """
    n, r = Y.shape
    curvature = np.empty(n)
    for i in range(n):
        total = 0.0
        for k in range(r):
            total += Y[i, k] * Y[i, k]
        curvature[i] = total
    gap = np.inf
    objective = np.inf
    for sweep in range(max_iter + 1):
        gap = 0.0
        objective = constant
        for k in range(r):
            objective += half_b[k] * v[k]
        for i in range(n):
            f = 0.0
            for k in range(r):
                f += Y[i, k] * v[k]
            loss = upper * max(0.0, 1.0 - f)
            gap += loss - a[i] * (1.0 - f)
            objective += loss + 0.5 * a[i] * f
        if gap <= tol * objective or sweep == max_iter:
            return sweep, gap, objective
        if sweep % NEWTON_EVERY == NEWTON_EVERY - 1:
            _newton_weights(Y, v, a, upper)
        for i in range(n):
            if curvature[i] <= 0.0:
                continue
            f = 0.0
            for k in range(r):
                f += Y[i, k] * v[k]
            new = min(max(a[i] + (1.0 - f) / curvature[i], 0.0), upper)
            step = new - a[i]
            if step != 0.0:
                a[i] = new
                for k in range(r):
                    v[k] += step * Y[i, k]
    return max_iter, gap, objective


@njit(cache=True)
def box_ascent_gram(Q, q, a, upper, constant, tol, max_iter):
    """Coordinate ascent on the dual with f = Q a - q maintained; for more features than labelled rows.

    Q = Zp A^-1 Zp' : (n_p, n_p); q = Zp A^-1 b : (n_p,); constant = n_u c_u - b'A^-1 b / 2; a is updated in place.
    Returns (sweeps, gap, objective, f).
    """
    n = Q.shape[0]
    f = np.dot(Q, a) - q
    gap = np.inf
    objective = np.inf
    for sweep in range(max_iter + 1):
        if sweep % 10 == 0 and sweep > 0:
            f = np.dot(Q, a) - q  # drop the rounding that piled up
        gap = 0.0
        hinge = 0.0
        quadratic = 0.0
        for i in range(n):
            loss = upper * max(0.0, 1.0 - f[i])
            hinge += loss
            gap += loss - a[i] * (1.0 - f[i])
            quadratic += 0.5 * a[i] * (f[i] + q[i])
        objective = quadratic + constant + hinge
        if gap <= tol * objective or sweep == max_iter:
            return sweep, gap, objective, f
        if sweep % NEWTON_EVERY == NEWTON_EVERY - 1:
            _newton_gram(Q, f, a, upper)
        if sweep >= PAIRS_AFTER:
            _pair_steps(Q, f, a, upper)
        for i in range(n):
            if Q[i, i] <= 0.0:
                continue
            new = min(max(a[i] + (1.0 - f[i]) / Q[i, i], 0.0), upper)
            step = new - a[i]
            if step != 0.0:
                a[i] = new
                for k in range(n):
                    f[k] += step * Q[i, k]
    return max_iter, gap, objective, f


@njit(cache=True)
def _pair_steps(Q, f, a, upper):
    """Raise one coordinate and lower another by as much, the most violating pair first; update a and f in place."""
    n = Q.shape[0]
    for _ in range(n):
        i, j = -1, -1
        for k in range(n):
            if a[k] < upper and (i < 0 or f[k] < f[i]):
                i = k
            if a[k] > 0.0 and (j < 0 or f[k] > f[j]):
                j = k
        if i < 0 or j < 0 or f[j] - f[i] <= 1e-12:
            return
        curvature = max(Q[i, i] + Q[j, j] - 2.0 * Q[i, j], 1e-14 * Q[i, i])
        step = min((f[j] - f[i]) / curvature, upper - a[i], a[j])
        a[i] = min(a[i] + step, upper)
        a[j] = max(a[j] - step, 0.0)
        for k in range(n):
            f[k] += step * (Q[i, k] - Q[j, k])


@njit(cache=True)
def box_ascent(Y, v, a, upper, constant, half_b, tol, max_iter):
    """Coordinate ascent for more labelled rows than features: `box_ascent_weights`, then the Gram matrix if it crawls.

    Arguments as in `box_ascent_weights`; v and a are updated in place and consistent. Returns the number of sweeps.
    """
    n, r = Y.shape
    first = min(max_iter, SWEEPS_BEFORE_GRAM) if n <= GRAM_ROWS else max_iter
    sweeps, gap, objective = box_ascent_weights(Y, v, a, upper, constant, half_b, tol, first)
    if gap <= tol * objective or sweeps == max_iter:
        return sweeps
    Q = np.dot(Y, Y.T)
    q = 2.0 * np.dot(Y, half_b)
    rest = constant - 2.0 * np.dot(half_b, half_b)
    more, gap, objective, _ = box_ascent_gram(Q, q, a, upper, rest, tol, max_iter - sweeps)
    for k in range(r):
        total = -2.0 * half_b[k]
        for i in range(n):
            total += a[i] * Y[i, k]
        v[k] = total
    return sweeps + more


@njit(cache=True)
def _free(a, upper):
    """Return the coordinates strictly inside the box."""
    free = np.empty(a.shape[0], np.int64)
    count = 0
    for i in range(a.shape[0]):
        if 0.0 < a[i] < upper:
            free[count] = i
            count += 1
    return free[:count]


@njit(cache=True)
def _box_newton(M, g, x, upper):
    """Return a move of x within [0, upper] that raises g'd - d'Md/2, or zeros where none is found.

    The Newton move, each coordinate clipped at the box; if that does not rise, the same direction up to the first
    bound. M : (k, k) positive semi-definite; g, x : (k,).
    """
    k = g.shape[0]
    ridged = M.copy()
    for p in range(k):
        ridged[p, p] += 1e-12 * (1.0 + M[p, p])
    direction = np.linalg.solve(ridged, g)
    move = np.minimum(np.maximum(x + direction, 0.0), upper) - x
    if np.dot(g, move) - 0.5 * np.dot(move, np.dot(M, move)) > 0.0:
        return move
    step = 1.0
    for p in range(k):
        if direction[p] > 0.0:
            step = min(step, (upper - x[p]) / direction[p])
        elif direction[p] < 0.0:
            step = min(step, -x[p] / direction[p])
    rise = np.dot(g, direction)
    curvature = np.dot(direction, np.dot(M, direction))
    if not (rise > 0.0 and curvature > 0.0):
        return np.zeros(k)
    return np.minimum(np.maximum(x + min(step, rise / curvature) * direction, 0.0), upper) - x


@njit(cache=True)
def _newton_gram(Q, f, a, upper):
    """Move the free coordinates towards their joint optimum; update a and f in place."""
    for _ in range(NEWTON_STEPS):
        free = _free(a, upper)
        k = free.shape[0]
        if k == 0:
            return
        M = np.empty((k, k))
        g = np.empty(k)
        for p in range(k):
            g[p] = 1.0 - f[free[p]]
            for s in range(k):
                M[p, s] = Q[free[p], free[s]]
        move = _box_newton(M, g, a[free], upper)
        for p in range(k):
            a[free[p]] = min(max(a[free[p]] + move[p], 0.0), upper)
            if move[p] != 0.0:
                f += move[p] * Q[free[p]]


@njit(cache=True)
def _newton_weights(Y, v, a, upper):
    """As `_newton_gram`, with v maintained in place of f."""
    for _ in range(NEWTON_STEPS):
        free = _free(a, upper)
        k = free.shape[0]
        if k == 0:
            return
        rows = Y[free]
        move = _box_newton(np.dot(rows, rows.T), 1.0 - np.dot(rows, v), a[free], upper)
        for p in range(k):
            a[free[p]] = min(max(a[free[p]] + move[p], 0.0), upper)
        v += np.dot(move, rows)


def objective(w, Z, labelled, edges, lam, c_p, c_u, squared=False):
    """Return J(w) from its definition: eq. 3.2, or 2.5 where `squared`."""
    f = Z @ w
    i, j, weight = edges
    positive = 1.0 - f[labelled]
    loss = np.sum(positive**2) if squared else np.sum(np.maximum(positive, 0.0))
    similarity = float(np.sum(weight * (f[i] - f[j]) ** 2))
    return float(0.5 * lam * (w[:-1] @ w[:-1]) + c_p * loss + c_u * np.sum((1.0 + f[~labelled]) ** 2) + similarity)


def solve_glpual(Z, labelled, edges, lam, c_p=1.0, c_u=0.1, tol=1e-6, max_iter=1000) -> Solution:
    """Minimise GLPUAL's objective (3.2) to a proven relative gap.

    Parameters
    ----------
    Z : (n, m + 1) rows with a last column of ones.
    labelled : (n,) bool, True for labelled positives.
    edges : (i, j, weight), the edges of R (`pucli.kernels.graph`).
    lam, c_p, c_u : ridge and per-row weights, all positive.
    tol : stop when the gap is below tol times the objective.
    max_iter : sweeps over the labelled rows.
    """
    A, b = quadratic_part(Z, labelled, edges, lam, c_u)
    Zp = Z[labelled]
    n_p = len(Zp)
    constant = c_u * (len(Z) - n_p)
    C = cho_factor(A, lower=True, check_finite=False)[0]
    Y = solve_triangular(C, np.column_stack([Zp.T, b]), lower=True, check_finite=False)
    Yp, yb = Y[:, :-1], Y[:, -1]
    a = np.zeros(n_p)
    if n_p <= Z.shape[1]:
        Q, q = Yp.T @ Yp, Yp.T @ yb
        n_iter = box_ascent_gram(Q, q, a, c_p, constant - 0.5 * yb @ yb, tol, max_iter)[0]
    else:
        n_iter = box_ascent(np.ascontiguousarray(Yp.T), -yb, a, c_p, constant, 0.5 * yb, tol, max_iter)
    v = Yp @ a - yb
    w = solve_triangular(C, v, lower=True, trans=1, check_finite=False)
    # The gap and the objective at the returned w, in the form that needs no further pass over the unlabeled rows.
    margin = 1.0 - Zp @ w
    hinge = c_p * np.maximum(margin, 0.0)
    gap = max(float(np.sum(hinge - a * margin)), 0.0)
    value = float(0.5 * v @ v + b @ w + constant + hinge.sum())
    return Solution(coef=w, dual=a, objective=value, gap=gap, n_iter=int(n_iter), converged=within(gap, value, tol))


def solve_gllc(Z, labelled, edges, lam, c_p=1.0, c_u=0.1) -> Solution:
    """Minimise GLLC's objective (2.5): one linear system. The gap is half |gradient|^2 in the metric of the Hessian."""
    A, b = quadratic_part(Z, labelled, edges, lam, c_u)
    Zp = Z[labelled]
    factor = cho_factor(A + 2.0 * c_p * (Zp.T @ Zp), lower=True, check_finite=False)
    rhs = 2.0 * c_p * Zp.sum(axis=0) - b
    w = cho_solve(factor, rhs, check_finite=False)
    a = 2.0 * c_p * (1.0 - Zp @ w)
    gradient = A @ w + b - Zp.T @ a
    w = w - cho_solve(factor, gradient, check_finite=False)  # one step of iterative refinement
    a = 2.0 * c_p * (1.0 - Zp @ w)
    gradient = A @ w + b - Zp.T @ a
    gap = 0.5 * float(gradient @ cho_solve(factor, gradient, check_finite=False))
    value = float(0.5 * (w @ A @ w) + b @ w + c_u * (len(Z) - len(Zp)) + c_p * np.sum((1.0 - Zp @ w) ** 2))
    return Solution(coef=w, dual=a, objective=value, gap=max(gap, 0.0), n_iter=1, converged=True)
