"""Maximum contrastive pessimistic likelihood (Bertazzi 2018, chapters 4 and 5; Loog 2016): the saddle point, certified.

Over parameters Psi and soft labels Q (M, K) of the unlabeled rows,

    max over Psi, min over Q of  CL(Psi, Q) = L(Psi, Q) - L(Psi_sup, Q),

the log-likelihood of all rows contrasted with that of the supervised fit (4.8). The maximum Psi(Q) is in closed form
(4.15)-(4.17) and depends on Q only through class counts and sums Z = A'Q, so what is left is

    minimize  h(Z) - <Z, theta_sup>  over the rows of Q in the simplex,

smooth and convex, with a Hessian A H A' of low rank. A primal-dual interior point method solves it; a Newton step costs
one Cholesky factorization in the (K-1)(p+1) dimensions of Z and K(K-1)/2 products A'WA, so time is linear in M.

For fixed Psi the minimum over Q is at a vertex per row, so CL(Psi(Q), Q) - min_Q' CL(Psi(Q), Q') >= 0 is an exact
saddle gap, and the second term is the gain over supervised that holds for every labeling (Theorem 4.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.core.arrays import Floats, Ints
from pucli.solvers.result import Certificate
from pucli.solvers.safe.models import Parameters, SeparateModel, SharedGaussian

# Share of the way to the boundary that a step may go.
_BOUNDARY = 0.995
# Slacks stay within this factor of mu / Q.
_CLOSE = 10.0
# Factor on mu once a Newton step predicts a decrease of less than mu per soft label.
_DECREASE = 0.03
# The bound on the improvement includes rounding of a fit if the condition number of its covariance times the mean
# absolute log-likelihood of a row exceeds this. Below, rounding does not change the reported digits.
_ILL_CONDITIONED = 1e7
# Rounding is part of the gap from this share of the gap to stop at.
_LEAST_DOUBT = 1e-2

Model = SeparateModel | SharedGaussian


@dataclass(frozen=True, kw_only=True)
class SaddlePoint(Certificate):
    """A certified MCPL fit; likelihoods are in nats, summed over all rows.

    `objective` is CL(Psi, Q); `gap` bounds its distance from the saddle value.
    """

    # the MCPL fit and the supervised one
    parameters: Parameters
    supervised: Parameters
    soft_labels: Floats  # (M, K), Q
    improvement: float  # L(Psi) - L(Psi_sup) is at least this for every labeling, rounding of the sums included


def _second_moments(A: Floats, d: Floats, share: Floats) -> Floats:
    """Return sum_j P_j (x) a_j a_j' over the first K - 1 classes, P_j = diag(d_j) - d_j d_j' / sum(d_j)."""
    size, K = A.shape[1], d.shape[1]
    result = np.empty(((K - 1) * size, (K - 1) * size))
    for k in range(K - 1):
        for m in range(k, K - 1):
            # On the diagonal 1 - share, as the sum of the other shares: no cancellation.
            weight = d[:, k] * (np.delete(share, k, axis=1).sum(axis=1) if k == m else -share[:, m])
            block = (A * weight[:, None]).T @ A
            result[k * size : (k + 1) * size, m * size : (m + 1) * size] = block
            result[m * size : (m + 1) * size, k * size : (k + 1) * size] = block.T
    return result


class _NewtonSystem:
    """The Newton equations of one iterate: D dq + A H A' dq - dlambda = rho, rows of dq summing to zero."""

    def __init__(self, A: Floats, hessian: Floats, d: Floats) -> None:
        self.A, self.d = A, d
        self.share = d / d.sum(axis=1, keepdims=True)
        self.largest = d.argmax(axis=1)
        self.root = np.linalg.cholesky(hessian).T
        inner = self.root @ _second_moments(A, d, self.share) @ self.root.T
        inner[np.diag_indices_from(inner)] += 1.0
        self.factor = cho_factor(inner, check_finite=False)

    def _project(self, rho: Floats) -> Floats:
        """Return P_j rho_j of each row, (M, K)."""
        projected: Floats = self.d * (rho - np.sum(self.share * rho, axis=1, keepdims=True))
        return projected

    def _relative(self, rho: Floats) -> Floats:
        """Return rho minus its value in each row's class of largest d, since a common constant only adds rounding."""
        relative: Floats = rho - rho[np.arange(len(rho)), self.largest][:, None]
        return relative

    def solve(self, rho: Floats) -> Floats:
        """Return dq (M, K)."""
        free = self.d.shape[1] - 1
        rest = self._relative(rho)
        right = (self._project(rest)[:, :free].T @ self.A).ravel()
        v = self.root.T @ cho_solve(self.factor, self.root @ right, check_finite=False)
        rest[:, :free] -= self.A @ v.reshape(free, -1).T
        return self._project(self._relative(rest))


def _longest(values: Floats, change: Floats) -> float:
    """Return the largest step in (0, 1] that keeps values + step * change positive, with a margin."""
    falling = change < 0.0
    if not falling.any():
        return 1.0
    return float(min(1.0, _BOUNDARY * np.min(-values[falling] / change[falling])))


def _evaluate(
    model: Model, A: Floats, Z_labeled: Floats, theta_sup: Floats, Q: Floats
) -> tuple[Floats, Parameters, Floats]:
    """Return Z, the fitted parameters and the gradient g (M, K) at Q."""
    Z = Z_labeled + Q.T @ A
    parameters = model.fit(Z)
    return Z, parameters, A @ (parameters.theta - theta_sup).T


def _gap(Q: Floats, g: Floats) -> float:
    """Return CL(Psi(Q), Q) - min_Q' CL(Psi(Q), Q'): every row's minimum is at a vertex."""
    return float(np.sum(Q * (g - g.min(axis=1, keepdims=True))))


def _minimize_over_labels(
    model: Model, A: Floats, Z_labeled: Floats, theta_sup: Floats, *, tol: float, max_iter: int
) -> tuple[Floats, Parameters, float, int]:
    """Minimize the maximal contrastive log-likelihood over soft labels, until the saddle gap is below `tol` nats.

    A (M, p + 1) are the features (1, t(u)) of the unlabeled rows, Z_labeled (K, p + 1) class counts and sums of the
    labeled rows, all counts positive. Returns the soft labels Q (M, K), the fit at Q, the gap, and the Newton steps.

    The barrier function h - mu sum log Q is minimized along mu -> 0 by Newton steps with D = S / Q, S > 0 the slacks
    of the primal-dual method (g = lam + S, Q S = mu on the central path), kept within a factor of mu / Q. They are
    descent directions of a convex function, so a step is short enough once the slope along it is no longer steep.
    """
    K = len(Z_labeled)
    Q = np.full((len(A), K), 1.0 / K)
    Z, parameters, g = _evaluate(model, A, Z_labeled, theta_sup, Q)
    best, gap, n_iter = (Q, parameters), _gap(Q, g), 0
    mu = gap / Q.size
    S = mu / Q
    while gap > tol and n_iter < max_iter:
        n_iter += 1
        try:
            system = _NewtonSystem(A, model.hessian(Z, parameters), Q / S)
        except np.linalg.LinAlgError:
            break  # the soft labels span more orders of magnitude than double precision
        dQ = system.solve(mu / Q - g)
        dS = mu / Q - S - S * dQ / Q
        slope = np.sum((g - mu / Q) * dQ)
        step = _longest(Q, dQ)
        while True:
            trial_Q = Q + step * dQ
            trial = _evaluate(model, A, Z_labeled, theta_sup, trial_Q)
            if np.sum((trial[2] - mu / trial_Q) * dQ) <= -0.3 * slope or step < 1e-8:
                break
            step *= 0.5
        S = S + _longest(S, dS) * dS
        Q, (Z, parameters, g) = trial_Q, trial
        S = np.clip(S, mu / Q / _CLOSE, mu / Q * _CLOSE)
        if _gap(Q, g) < gap:
            best, gap = (Q, parameters), _gap(Q, g)
        if -slope <= mu * Q.size:
            mu = max(_DECREASE * mu, 0.3 * tol / Q.size)
    return *best, gap, n_iter


def _contrast(model: Model, fitted: Parameters, supervised: Parameters, X: Floats, A: Floats) -> tuple[Floats, Floats]:
    """Return the gain in log-likelihood of each row and class over supervised, (n, K), and a bound on its rounding."""
    first, second = model.log_joint(fitted, X, A), model.log_joint(supervised, X, A)
    size = np.abs(A) @ (np.abs(fitted.theta) + np.abs(supervised.theta)).T + np.abs(first) + np.abs(second)
    return first - second, (A.shape[1] + 2) * np.finfo(float).eps * size


def _ill_conditioning(model: Model, parameters: Parameters, sizes: float, n: int) -> float:
    """Return a bound on the effect of rounding a fit on n rows whose absolute log-likelihoods sum to `sizes`."""
    condition = model.condition(parameters)
    if condition * sizes < _ILL_CONDITIONED * n:
        return 0.0
    d = parameters.mean.shape[1]
    return float((d + 2) * np.finfo(float).eps * condition * (sizes + n * d))


class Gain(NamedTuple):
    """Gain in log-likelihood over the supervised fit, in nats."""

    certain: float  # that of the labeled rows
    rows: Floats  # (M, K), that of each unlabeled row in each class
    rounding: float  # a bound on the error of their sum

    @property
    def worst(self) -> float:
        """The gain for the worst labels, less its rounding; 0 within rounding."""
        least = float(self.certain + np.sum(self.rows.min(axis=1)))
        return 0.0 if abs(least) <= self.rounding else least - self.rounding


def gain_over_supervised(
    supervised_fit: tuple[Model, Parameters], fit: tuple[Model, Parameters], X: Floats, codes: Ints, U: Floats
) -> Gain:
    """Return the gain of `fit` over `supervised_fit`."""
    supervised, (model, fitted) = supervised_fit[1], fit
    one_hot, A = np.eye(len(fitted.prior))[codes], model.features(U)
    gain, gain_error = _contrast(model, fitted, supervised, U, A)
    own, own_error = _contrast(model, fitted, supervised, X, model.features(X))
    certain = np.sum(one_hot * own) + model.log_prior(fitted) - model.log_prior(supervised)
    rounding = np.sum(gain_error.max(axis=1)) + np.sum(one_hot * own_error)
    rounding += np.finfo(float).eps * (abs(model.log_prior(fitted)) + abs(model.log_prior(supervised)))
    for source, parameters in (fit, supervised_fit):
        joint = np.abs(source.log_joint(parameters, U, A)).max(axis=1).sum()
        joint += np.sum(one_hot * np.abs(source.log_joint(parameters, X)))
        rounding += _ill_conditioning(source, parameters, float(joint), len(X) + len(U))
    return Gain(float(certain), gain, float(rounding))


def contrastive_pessimistic(
    supervised_model: Model,
    model: Model,
    X: Floats,
    codes: Ints,
    U: Floats,
    *,
    tol: float = 1e-8,
    max_iter: int = 200,
) -> SaddlePoint:
    """Fit the MCPL estimate and certify it.

    If no improvement can be proven (before convergence, or because there is none), the fit falls back to the supervised
    parameters, with objective 0 and the known distance to the saddle value as the gap.
    """
    one_hot = np.eye(codes.max() + 1)[codes]
    Z_labeled = one_hot.T @ model.features(X)
    A = model.features(U)
    supervised = supervised_model.fit(Z_labeled)
    stop = tol * (len(X) + len(U))
    Q, fitted, gap, n_iter = _minimize_over_labels(model, A, Z_labeled, supervised.theta, tol=stop, max_iter=max_iter)
    gain = gain_over_supervised((supervised_model, supervised), (model, fitted), X, codes, U)
    improvement = gain.worst
    objective = float(gain.certain + np.sum(Q * gain.rows))
    doubt = gain.rounding if gain.rounding > _LEAST_DOUBT * stop else 0.0
    converged = gap <= stop
    if improvement <= 0.0:
        # CL(Psi_sup, .) = 0, and the saddle value lies between that and CL(Psi(Q), Q), its maximum over Psi at Q.
        fitted, improvement, objective, gap = supervised, 0.0, 0.0, max(objective, 0.0)
    gap += doubt
    return SaddlePoint(
        objective=objective,
        gap=gap,
        n_iter=n_iter,
        converged=converged,
        parameters=fitted,
        supervised=supervised,
        soft_labels=Q,
        improvement=improvement,
    )
