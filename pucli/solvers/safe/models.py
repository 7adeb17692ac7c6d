"""Generative models for contrastive pessimistic likelihood: joint log-likelihood, its maximum and the Hessian.

With soft labels Q (M, K) of the unlabeled rows, all that the maximum likelihood fit depends on is, per class, the
weighted count and the weighted sum of t(x), Z_k = sum_j q_kj (1, t(u_j)) (Bertazzi 2018, 4.15-4.17). The maximum
h(Z) of the log-likelihood is convex in Z, with the fitted parameters theta_k = (log pi_k - F(eta_k), eta_k) as its
gradient: a row's joint log-likelihood is <(1, t(x)), theta_k> + log c(x).

`SeparateModel` has separate parameters for every class (4.2, 5.2.1); `SharedGaussian` has one covariance (5.2.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from pucli.core.arrays import Floats
from pucli.solvers.safe.families import DiagonalGaussian, ExponentialFamily, FullGaussian


class Parameters(NamedTuple):
    """A fitted model."""

    prior: Floats  # (K,), class probabilities
    mean: Floats  # (K, p), means of t(x) per class
    theta: Floats  # (K, p + 1), log pi_k - F(eta_k), then eta_k
    precision: Floats  # (d, d), the shared precision; empty where there is none


class SeparateModel:
    """K classes with one family each; all families have the same t(x).

    `pseudo_rows` rows whose mean of t is `pseudo_mean` (p,) are added to the density of each class, not to its prior.
    This conjugate prior keeps the parameters of a class inside their space. The log-likelihood of these rows is part of
    the objective.
    """

    def __init__(
        self, families: Sequence[ExponentialFamily], pseudo_rows: float = 0.0, pseudo_mean: Floats | float = 0.0
    ) -> None:
        self.families = families
        self.pseudo_rows = pseudo_rows
        self.pseudo_mean = pseudo_mean

    def features(self, X: Floats) -> Floats:
        """Return (1, t(x)) per row, (n, p+1)."""
        return np.hstack([np.ones((len(X), 1)), self.families[0].statistics(X)])

    def fit(self, Z: Floats) -> Parameters:
        """Return the maximum likelihood parameters for class counts and sums Z (K, p+1), (4.15)-(4.17)."""
        prior = Z[:, 0] / Z[:, 0].sum()
        mean = (Z[:, 1:] + self.pseudo_rows * self.pseudo_mean) / (Z[:, :1] + self.pseudo_rows)
        natural = [family.natural(m) for family, m in zip(self.families, mean, strict=True)]
        theta = np.array([np.append(np.log(p) - F, eta) for p, (eta, F) in zip(prior, natural, strict=True)])
        return Parameters(prior, mean, theta, np.empty((0, 0)))

    def hessian(self, Z: Floats, parameters: Parameters) -> Floats:
        """Return the Hessian of h in the first K - 1 classes (the last gets the rest), ((K-1)(p+1),) * 2."""
        blocks = []
        for family, row, mean in zip(self.families, Z, parameters.mean, strict=True):
            root = family.inverse_root(mean)
            root = np.hstack([-(root @ mean)[:, None], root])
            block = root.T @ root / (row[0] + self.pseudo_rows)
            block[0, 0] += 1.0 / row[0]
            blocks.append(block)
        size = Z.shape[1]
        hessian = np.tile(blocks[-1], (len(blocks) - 1, len(blocks) - 1))
        for k, block in enumerate(blocks[:-1]):
            hessian[k * size : (k + 1) * size, k * size : (k + 1) * size] += block
        return hessian

    def log_joint(self, parameters: Parameters, X: Floats, features: Floats | None = None) -> Floats:
        """Return log pi_k p_k(x) for each row and class, shape (n, K)."""
        A = self.features(X) if features is None else features
        carrier = np.column_stack([family.log_carrier(X) for family in self.families])
        return A @ parameters.theta.T + carrier

    def condition(self, parameters: Parameters) -> float:
        """Return the factor by which rounding of the class sums grows in the fitted parameters; 1 if unknown."""
        found = [
            family.condition(mean)
            for family, mean in zip(self.families, parameters.mean, strict=True)
            if isinstance(family, FullGaussian | DiagonalGaussian)
        ]
        return max(found, default=1.0)

    def log_prior(self, parameters: Parameters) -> float:
        """Return the log-likelihood of the pseudo rows."""
        if self.pseudo_rows == 0.0:
            return 0.0
        per_class = parameters.theta[:, 1:] @ self.pseudo_mean + parameters.theta[:, 0] - np.log(parameters.prior)
        return float(self.pseudo_rows * np.sum(per_class))


class SharedGaussian:
    """K Gaussian classes with one covariance, (5.4) and (5.9).

    `second_moment` (d, d) is the sum of xx' + jitter over all rows, labeled and unlabeled. It does not depend on the
    labels, so (1, x) are all the features needed. See `FullGaussian` for `jitter` (d, d).
    """

    def __init__(self, second_moment: Floats, jitter: Floats) -> None:
        self.second_moment = second_moment
        self.jitter = jitter

    def features(self, X: Floats) -> Floats:
        """Return (1, x) per row, (n, d+1)."""
        return np.hstack([np.ones((len(X), 1)), X])

    def covariance(self, Z: Floats, mean: Floats) -> Floats:
        """Return the shared covariance (d, d), (5.9)."""
        covariance: Floats = (self.second_moment - (Z[:, 1:].T @ mean)) / Z[:, 0].sum()
        return covariance

    def fit(self, Z: Floats) -> Parameters:
        """Return the maximum likelihood parameters for class counts and sums Z (K, d+1)."""
        prior = Z[:, 0] / Z[:, 0].sum()
        mean = Z[:, 1:] / Z[:, :1]
        covariance = self.covariance(Z, mean)
        factor = np.linalg.cholesky(0.5 * (covariance + covariance.T))
        precision = cho_solve((factor, True), np.eye(len(factor)), check_finite=False)
        eta = mean @ precision
        constant = np.log(prior) - 0.5 * np.einsum("kd,kd->k", eta, mean)
        return Parameters(prior, mean, np.column_stack([constant, eta]), precision)

    def hessian(self, Z: Floats, parameters: Parameters) -> Floats:
        """Return the Hessian of h in the first K - 1 classes, ((K-1)(d+1),) * 2.

        With W = n Sigma, e_k = ds_k - m_k dn_k and b_k = ds_k - m_k dn_k / 2, the second differential is
        sum_k (e_k' P e_k + dn_k^2) / n_k + tr(P dW P dW) / (2n), where dW = -sum_k (b_k m_k' + m_k b_k').
        """
        K, d = parameters.mean.shape
        total = Z[:, 0].sum()
        P, M = parameters.precision, parameters.mean
        scalar, eta = M @ P @ M.T, M @ P
        full = np.empty((K, d + 1, K, d + 1))
        for k in range(K):
            for m in range(K):
                core = (P * scalar[k, m] + np.outer(eta[m], eta[k])) / total
                right = np.hstack([-0.5 * (core @ M[m])[:, None], core])
                full[k, :, m, :] = np.vstack([-0.5 * M[k] @ right, right])
            right = np.hstack([-eta[k][:, None], P])
            full[k, :, k, :] += np.vstack([-M[k] @ right, right]) / Z[k, 0]
            full[k, 0, k, 0] += 1.0 / Z[k, 0]
        last = full[-1, :, -1, :]
        reduced = full[:-1, :, :-1, :] - full[:-1, :, -1:, :] - full[-1:, :, :-1, :] + last[None, :, None, :]
        return reduced.reshape((K - 1) * (d + 1), (K - 1) * (d + 1))

    def log_joint(self, parameters: Parameters, X: Floats, features: Floats | None = None) -> Floats:
        """Return log pi_k p_k(x), averaged over the jitter, for each row and class, shape (n, K)."""
        A = self.features(X) if features is None else features
        factor = np.linalg.cholesky(parameters.precision)
        whitened = X @ factor
        common = np.sum(np.log(np.diag(factor))) - 0.5 * X.shape[1] * np.log(2.0 * np.pi)
        common = common - 0.5 * np.sum(parameters.precision * self.jitter)
        joint: Floats = A @ parameters.theta.T + (common - 0.5 * np.einsum("ij,ij->i", whitened, whitened))[:, None]
        return joint

    def condition(self, parameters: Parameters) -> float:
        """Return the factor by which rounding of the second moment grows in the fitted covariance."""
        covariance = np.linalg.inv(parameters.precision)
        deviation = np.sqrt(np.diag(covariance))
        means = parameters.mean / deviation
        scaled = covariance / np.outer(deviation, deviation)
        largest = float(np.linalg.norm(scaled, 2)) + float(np.max(np.sum(means**2, axis=1)))
        return largest / max(float(np.linalg.eigvalsh(scaled)[0]), 1e-300)

    def log_prior(self, parameters: Parameters) -> float:
        """Return 0: there are no pseudo rows."""
        return 0.0
