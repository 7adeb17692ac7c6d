"""Maximum contrastive pessimistic likelihood (Bertazzi 2018, chapters 4 and 5; Loog 2016): the saddle point, certified.

Over parameters Psi and soft labels Q (M, K) of the unlabeled rows,

    max over Psi, min over Q of  CL(Psi, Q) = L(Psi, Q) - L(Psi_sup, Q),

the log-likelihood of all rows contrasted with that of the supervised fit (4.8). The maximum Psi(Q) is in closed form
(4.15)-(4.17) and depends on Q only through class counts and sums Z = A'Q, so what is left is

    minimise  h(Z) - <Z, theta_sup>  over the rows of Q in the simplex,

smooth and convex, with a Hessian A H A' of low rank. A primal-dual interior point method solves it; a Newton step costs
one Cholesky factorisation in the (K-1)(p+1) dimensions of Z and K(K-1)/2 products A'WA, so time is linear in M.

For fixed Psi the minimum over Q is at a vertex per row, so CL(Psi(Q), Q) - min_Q' CL(Psi(Q), Q') >= 0 is an exact
saddle gap, and the second term is the gain over supervised that holds for every labelling (Theorem 4.5).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.solvers.safe.models import Parameters, SeparateModel, SharedGaussian

_BOUNDARY = 0.995  # share of the way to the boundary that a step may go
_CLOSE = 10.0  # slacks stay within this factor of mu / Q
_DECREASE = 0.03  # of mu, once a Newton step promises less than mu per soft label


class SaddlePoint(NamedTuple):
    """A certified MCPL fit; likelihoods in nats, summed over all rows."""

    parameters: Parameters
    supervised: Parameters
    soft_labels: np.ndarray  # (M, K)
    objective: float  # CL(Psi, Q)
    gap: float  # objective is at most this far from the saddle value
    improvement: float  # L(Psi) - L(Psi_sup) is at least this for every labelling, rounding of the sums included
    n_iter: int
    converged: bool


def _second_moments(A, d, share):
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

    def __init__(self, A, hessian, d):
        self.A, self.d = A, d
        self.share = d / d.sum(axis=1, keepdims=True)
        self.largest = d.argmax(axis=1)
        self.root = np.linalg.cholesky(hessian).T
        inner = self.root @ _second_moments(A, d, self.share) @ self.root.T
        inner[np.diag_indices_from(inner)] += 1.0
        self.factor = cho_factor(inner, check_finite=False)

    def _project(self, rho):
        """Return P_j rho_j of each row, (M, K)."""
        return self.d * (rho - np.sum(self.share * rho, axis=1, keepdims=True))

    def _relative(self, rho):
        """Return rho minus its value in each row's class of largest d: what is common to a row would only round."""
        return rho - rho[np.arange(len(rho)), self.largest][:, None]

    def solve(self, rho):
        """Return dq (M, K)."""
        free = self.d.shape[1] - 1
        rest = self._relative(rho)
        right = (self._project(rest)[:, :free].T @ self.A).ravel()
        v = self.root.T @ cho_solve(self.factor, self.root @ right, check_finite=False)
        rest[:, :free] -= self.A @ v.reshape(free, -1).T
        return self._project(self._relative(rest))


def _longest(values, change):
    """Return the largest step in (0, 1] that keeps values + step * change positive, with some room."""
    falling = change < 0.0
    if not falling.any():
        return 1.0
    return float(min(1.0, _BOUNDARY * np.min(-values[falling] / change[falling])))


def _evaluate(model, A, Z_labelled, theta_sup, Q):
    """Return Z, the fitted parameters and the gradient g (M, K) at Q."""
    Z = Z_labelled + Q.T @ A
    parameters = model.fit(Z)
    return Z, parameters, A @ (parameters.theta - theta_sup).T


def _gap(Q, g) -> float:
    """Return CL(Psi(Q), Q) - min_Q' CL(Psi(Q), Q'): every row's minimum is at a vertex."""
    return float(np.sum(Q * (g - g.min(axis=1, keepdims=True))))


def minimise_over_labels(model: SeparateModel | SharedGaussian, A, Z_labelled, theta_sup, *, tol, max_iter):
    """Minimise the maximal contrastive log-likelihood over soft labels.

    Parameters
    ----------
    model : gives `fit(Z)` and `hessian(Z, parameters)`.
    A : (M, p+1) features (1, t(u)) of the unlabeled rows.
    Z_labelled : (K, p+1) class counts and sums of the labelled rows, all counts positive.
    theta_sup : (K, p+1) parameters of the supervised fit.
    tol : saddle gap at which to stop, in nats over all rows.
    max_iter : the largest number of Newton steps.

    Returns
    -------
    (Q (M, K), Parameters at Q, gap, number of Newton steps).

    Notes
    -----
    The barrier function h - mu sum log Q is minimised along mu -> 0 by Newton steps with D = S / Q, S > 0 the slacks
    of the primal-dual method (g = lam + S, Q S = mu on the central path), kept within a factor of mu / Q. They are
    descent directions of a convex function, so a step is short enough once the slope along it is no longer steep.
    """
    K = len(Z_labelled)
    Q = np.full((len(A), K), 1.0 / K)
    Z, parameters, g = _evaluate(model, A, Z_labelled, theta_sup, Q)
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
            trial = _evaluate(model, A, Z_labelled, theta_sup, trial_Q)
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


def _contrast(model, fitted, supervised, X, A):
    """Return the gain in log-likelihood of each row and class over supervised, (n, K), and a bound on its rounding."""
    first, second = model.log_joint(fitted, X, A), model.log_joint(supervised, X, A)
    size = np.abs(A) @ (np.abs(fitted.theta) + np.abs(supervised.theta)).T + np.abs(first) + np.abs(second)
    return first - second, (A.shape[1] + 2) * np.finfo(float).eps * size


def contrastive_pessimistic(supervised_model, model, X, codes, U, *, tol=1e-8, max_iter=200) -> SaddlePoint:
    """Fit the MCPL estimate and certify it.

    Parameters
    ----------
    supervised_model, model : the same model for the labelled rows alone and for all rows (they differ only in the
        second moment that `SharedGaussian` holds).
    X : (N, d) labelled rows; codes : (N,) classes 0 .. K-1, each at least once; U : (M, d) unlabeled rows, M >= 1.
    tol : saddle gap per row at which to stop, in nats.
    max_iter : the largest number of Newton steps.

    Returns
    -------
    SaddlePoint. Where no improvement is certain (before convergence, or where there is none) the fit falls back to the
    supervised parameters: objective 0, and gap the known distance of the saddle value from it. Raises LinAlgError
    where the supervised covariance is singular.
    """
    one_hot = np.eye(codes.max() + 1)[codes]
    Z_labelled = one_hot.T @ model.features(X)
    A = model.features(U)
    supervised = supervised_model.fit(Z_labelled)
    stop = tol * (len(X) + len(U))
    Q, fitted, gap, n_iter = minimise_over_labels(model, A, Z_labelled, supervised.theta, tol=stop, max_iter=max_iter)
    gain, gain_error = _contrast(model, fitted, supervised, U, A)
    own, own_error = _contrast(model, fitted, supervised, X, model.features(X))
    certain = np.sum(one_hot * own) + model.log_prior(fitted) - model.log_prior(supervised)
    improvement = float(certain + np.sum(gain.min(axis=1)))
    rounding = np.sum(gain_error.max(axis=1)) + np.sum(one_hot * own_error)
    rounding += np.finfo(float).eps * (abs(model.log_prior(fitted)) + abs(model.log_prior(supervised)))
    improvement = 0.0 if abs(improvement) <= rounding else improvement - float(rounding)
    objective = float(certain + np.sum(Q * gain))
    converged = gap <= stop
    if improvement <= 0.0:
        # CL(Psi_sup, .) = 0, and the saddle value lies between that and CL(Psi(Q), Q), its maximum over Psi at Q.
        fitted, improvement, objective, gap = supervised, 0.0, 0.0, max(objective, 0.0)
    return SaddlePoint(fitted, supervised, Q, objective, gap, improvement, n_iter, converged)
