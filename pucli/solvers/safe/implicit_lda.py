"""Implicitly constrained linear discriminant analysis (Krijthe & Loog 2014; Bertazzi 2018, section 4.2.6).

With Psi(Q) the maximum likelihood fit to all rows with soft labels Q (M, K) of the unlabeled ones, (5.9),

    maximize  L(Psi(Q) | labeled rows)  over the rows of Q in the simplex:

of all parameters that some labeling leads to (4.25), those that explain the labeled rows best. Psi(Q) depends on Q
only through class counts and sums Z = A'Q, so a gradient costs two products with A, linear in M. The objective need not
be concave in Q. Projected gradient steps of spectral length find a stationary point (Birgin, Martinez, Raydan 2000).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.solvers.result import Certificate
from pucli.solvers.safe.models import Parameters, SharedGaussian

# A step may end below the present objective, but not below the lowest of this many last ones.
_MEMORY = 10
# Share of the rise that the slope predicts, which a step must reach.
_RISE = 1e-4
# Shortest step; where it is shorter, rounding has ended the progress.
_SHORTEST = 1e-12


@dataclass(frozen=True, kw_only=True)
class ImplicitFit(Certificate):
    """A stationary point.

    `objective` is the log-likelihood of the labeled rows, in nats. `residual` is max over Q' of the slope of the
    objective from Q toward Q', in nats: 0 if and only if Q is stationary.
    """

    parameters: Parameters  # psi(Q)
    soft_labels: Floats  # (M, K), Q


class _LabeledLikelihood:
    """L(Psi(Q) | labeled rows) and its gradient, from the moments of the labeled rows X (N, d)."""

    def __init__(self, model: SharedGaussian, X: Floats, codes: Ints, A: Floats) -> None:
        self.model, self.A = model, A
        self.Z = np.eye(codes.max() + 1)[codes].T @ model.features(X)
        self.second_moment = X.T @ X + len(X) * model.jitter

    def at(self, Q: Floats) -> tuple[float, Floats, Parameters]:
        """Return the objective, its gradient (M, K), and the fit at Q (M, K).

        With S the covariance of the fit and W the scatter of the labeled rows around its means m_k, the objective is
        sum_k c_k log pi_k - (N log|2 pi S| + tr(S^-1 W)) / 2; the chain rule goes through m_k = s_k / n_k and
        dS = -sum_k (ds_k m_k' + m_k ds_k' - m_k m_k' dn_k) / n.
        """
        counts, sums = self.Z[:, 0], self.Z[:, 1:]
        Z = self.Z + Q.T @ self.A
        fitted = self.model.fit(Z)
        m, P, n, N = fitted.mean, fitted.precision, Z[:, 0].sum(), counts.sum()
        scatter = self.second_moment - sums.T @ m - m.T @ sums + m.T @ (counts[:, None] * m)
        log_det = len(P) * np.log(2.0 * np.pi) - np.linalg.slogdet(P)[1]
        objective = float(counts @ np.log(fitted.prior) - 0.5 * (N * log_det + np.sum(P * scatter)))
        by_mean = (sums - counts[:, None] * m) @ P / Z[:, :1]
        by_covariance = m @ (P @ scatter @ P - N * P) / n
        by_sum = by_mean - by_covariance
        by_count = counts / Z[:, 0] - np.sum((by_mean - 0.5 * by_covariance) * m, axis=1)
        gradient: Floats = self.A @ np.column_stack([by_count, by_sum]).T
        return objective, gradient, fitted


def onto_simplex(V: Floats) -> Floats:
    """Return the nearest point of the simplex for each row of V (M, K)."""
    descending = -np.sort(-V, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, V.shape[1] + 1)
    last = np.sum(descending > excess, axis=1) - 1
    nearest: Floats = np.maximum(V - excess[np.arange(len(V)), last][:, None], 0.0)
    return nearest


def implicitly_constrained(
    model: SharedGaussian,
    X: Floats,
    codes: Ints,
    U: Floats,
    start: Floats,
    *,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> ImplicitFit:
    """Maximize the labeled likelihood over the fits to all labelings, from soft labels `start`.

    The objective is never below that at `start`.
    """
    likelihood = _LabeledLikelihood(model, X, codes, model.features(U))
    Q = start
    objective, gradient, fitted = likelihood.at(Q)
    last, n_iter = [objective], 0
    length = 1.0 / max(float(np.abs(gradient).max()), 1e-300)
    while True:
        residual = float(np.sum(Q * (gradient.max(axis=1, keepdims=True) - gradient)))
        if residual <= tol * len(X) or n_iter >= max_iter:
            break
        direction = onto_simplex(Q + length * gradient) - Q
        slope, step = np.sum(gradient * direction), 1.0
        while True:
            trial = likelihood.at(Q + step * direction)
            if trial[0] >= min(last) + _RISE * step * slope or step < _SHORTEST:
                break
            step *= 0.5
        if step < _SHORTEST:
            break
        curvature = step * np.sum(direction * (gradient - trial[1]))
        size = step**2 * np.sum(direction**2)
        length = size / curvature if curvature > 0.0 else 1e3 * length
        Q = Q + step * direction
        objective, gradient, fitted = trial
        last = [*last[1 - _MEMORY :], objective]
        n_iter += 1
    return ImplicitFit(
        objective=objective,
        residual=residual,
        n_iter=n_iter,
        converged=residual <= tol * len(X),
        parameters=fitted,
        soft_labels=Q,
    )
