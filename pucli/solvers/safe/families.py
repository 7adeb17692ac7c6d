"""Exponential families for class-conditional densities, in the form that contrastive pessimistic likelihood needs.

A minimal family is p(x | eta) = c(x) exp(<t(x), eta> - F(eta)) (Bertazzi 2018, 4.1). By (4.2) a maximum likelihood fit
is a mean of t(x), so a family here is four maps: rows -> t(x); mean of t -> (eta, F(eta)); mean -> a square root of the
inverse of Cov t, the Hessian of the conjugate of F; rows -> log c(x). Any object with these methods is a family.

Used by MCPL (`safe.mcpl`, through `safe.models`).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import gammaln

from pucli.core.arrays import Floats


class ExponentialFamily(Protocol):
    """The methods of a class-conditional family; p is the length of t(x)."""

    def statistics(self, X: Floats) -> Floats:
        """Return t(x) of each row, (n, p)."""

    def natural(self, mean: Floats) -> tuple[Floats, float]:
        """Return eta (p,) and F(eta) where the mean of t is `mean` (p,); LinAlgError outside the mean space."""

    def inverse_root(self, mean: Floats) -> Floats:
        """Return R (r, p) with R'R the inverse of the covariance of t at `mean`."""

    def log_carrier(self, X: Floats) -> Floats:
        """Return log c(x) of each row, (n,)."""


def _positive(values: Floats) -> Floats:
    if not np.all(values > 0.0):
        raise np.linalg.LinAlgError("mean outside the mean space")
    return values


class FullGaussian:
    """Gaussian with free mean and covariance; t(x) = (x, upper triangle of xx' + jitter).

    `jitter` (d, d) is the covariance of Gaussian noise over which each row's log-likelihood is averaged. It is added to
    every maximum likelihood covariance, so that none is singular; otherwise (5.5) stays exact.
    """

    def __init__(self, jitter: Floats) -> None:
        self.jitter = jitter
        self.d = len(jitter)
        self.upper = np.triu_indices(self.d)

    def statistics(self, X: Floats) -> Floats:
        """Return t(x) of each row, (n, p)."""
        i, j = self.upper
        return np.hstack([X, X[:, i] * X[:, j] + self.jitter[i, j]])

    def covariance(self, mean: Floats) -> Floats:
        """Return the covariance (d, d) whose sufficient statistics have the mean `mean` (p,)."""
        m = mean[: self.d]
        second = np.empty((self.d, self.d))
        second[self.upper] = mean[self.d :]
        second.T[self.upper] = mean[self.d :]
        return second - np.outer(m, m)

    def condition(self, mean: Floats) -> float:
        """Return the factor by which rounding of the mean of t grows in the covariance, in its standard deviations."""
        covariance, m = self.covariance(mean), mean[: self.d]
        deviation = np.sqrt(np.diag(covariance))
        scaled = covariance / np.outer(deviation, deviation)
        largest = float(np.linalg.norm(scaled + np.outer(m / deviation, m / deviation), 2))
        return largest / max(float(np.linalg.eigvalsh(scaled)[0]), 1e-300)

    def natural(self, mean: Floats) -> tuple[Floats, float]:
        """Return eta (p,) and F(eta) where the mean of t is `mean` (p,)."""
        m = mean[: self.d]
        factor = np.linalg.cholesky(self.covariance(mean))
        precision = cho_solve((factor, True), np.eye(self.d), check_finite=False)
        first = precision @ m
        weights = np.where(self.upper[0] == self.upper[1], -0.5, -1.0)
        cumulant = 0.5 * m @ first + np.sum(np.log(np.diag(factor)))
        return np.concatenate([first, weights * precision[self.upper]]), float(cumulant)

    def inverse_root(self, mean: Floats) -> Floats:
        """Return R (r, p) with R'R the inverse of the covariance of t at `mean`."""
        # d2 conjugate = dm' P dm + 1/2 tr(P dC P dC),  C = S - mm',  dC = dS - dm m' - m dm'.
        d, (a, b) = self.d, self.upper
        inverse = solve_triangular(np.linalg.cholesky(self.covariance(mean)), np.eye(d), lower=True, check_finite=False)
        y = inverse @ mean[:d]
        weight = np.where(a == b, np.sqrt(0.5), 1.0)[:, None]
        by_mean = -weight * (inverse[a] * y[b][:, None] + inverse[b] * y[a][:, None])
        by_second = weight * (inverse[a][:, a] * inverse[b][:, b])
        by_second += weight * (inverse[a][:, b] * inverse[b][:, a]) * (a != b)
        return np.block([[inverse, np.zeros((d, len(a)))], [by_mean, by_second]])

    def log_carrier(self, X: Floats) -> Floats:
        """Return log c(x) of each row, (n,)."""
        return np.full(len(X), -0.5 * self.d * np.log(2.0 * np.pi))


class DiagonalGaussian:
    """Gaussian with free mean and variances, independent features; t(x) = (x, x^2 + jitter), jitter (d,)."""

    def __init__(self, jitter: Floats) -> None:
        self.jitter = jitter
        self.d = len(jitter)

    def statistics(self, X: Floats) -> Floats:
        """Return t(x) of each row, (n, p)."""
        return np.hstack([X, X * X + self.jitter])

    def covariance(self, mean: Floats) -> Floats:
        """Return the variances (d,)."""
        return mean[self.d :] - mean[: self.d] ** 2

    def condition(self, mean: Floats) -> float:
        """Return the factor by which rounding of the mean of t grows in the variances."""
        return float(np.max(mean[self.d :] / self.covariance(mean)))

    def natural(self, mean: Floats) -> tuple[Floats, float]:
        """Return eta (p,) and F(eta) where the mean of t is `mean` (p,)."""
        m, v = mean[: self.d], _positive(self.covariance(mean))
        return np.concatenate([m / v, -0.5 / v]), float(0.5 * np.sum(m * m / v + np.log(v)))

    def inverse_root(self, mean: Floats) -> Floats:
        """Return R (r, p) with R'R the inverse of the covariance of t at `mean`."""
        m, v = mean[: self.d], self.covariance(mean)
        zero = np.zeros((self.d, self.d))
        return np.block(
            [[np.diag(1.0 / np.sqrt(v)), zero], [np.diag(-np.sqrt(2.0) * m / v), np.diag(np.sqrt(0.5) / v)]]
        )

    def log_carrier(self, X: Floats) -> Floats:
        """Return log c(x) of each row, (n,)."""
        return np.full(len(X), -0.5 * self.d * np.log(2.0 * np.pi))


class FixedGaussian:
    """Gaussian with free mean and a given covariance (d, d); t(x) = x."""

    def __init__(self, covariance: Floats) -> None:
        self.fixed = covariance
        self.inverse: Floats = solve_triangular(
            np.linalg.cholesky(covariance), np.eye(len(covariance)), lower=True, check_finite=False
        )

    def statistics(self, X: Floats) -> Floats:
        """Return t(x) of each row, (n, p)."""
        return X

    def covariance(self, mean: Floats) -> Floats:
        """Return the given covariance (d, d)."""
        return self.fixed

    def natural(self, mean: Floats) -> tuple[Floats, float]:
        """Return eta (p,) and F(eta) where the mean of t is `mean` (p,)."""
        whitened = self.inverse @ mean
        return self.inverse.T @ whitened, float(0.5 * whitened @ whitened)

    def inverse_root(self, mean: Floats) -> Floats:
        """Return R (r, p) with R'R the inverse of the covariance of t at `mean`."""
        return self.inverse

    def log_carrier(self, X: Floats) -> Floats:
        """Return log c(x) of each row, (n,)."""
        whitened = X @ self.inverse.T
        constant = np.sum(np.log(np.diag(self.inverse))) - 0.5 * X.shape[1] * np.log(2.0 * np.pi)
        carrier: Floats = constant - 0.5 * np.einsum("ij,ij->i", whitened, whitened)
        return carrier


class Bernoulli:
    """Independent features in {0, 1}; t(x) = x."""

    def statistics(self, X: Floats) -> Floats:
        """Return t(x) of each row, (n, p)."""
        return X

    def natural(self, mean: Floats) -> tuple[Floats, float]:
        """Return eta (p,) and F(eta) where the mean of t is `mean` (p,)."""
        other = _positive(1.0 - _positive(mean))
        return np.log(mean / other), float(-np.sum(np.log(other)))

    def inverse_root(self, mean: Floats) -> Floats:
        """Return R (r, p) with R'R the inverse of the covariance of t at `mean`."""
        return np.diag(1.0 / np.sqrt(mean * (1.0 - mean)))

    def log_carrier(self, X: Floats) -> Floats:
        """Return log c(x) of each row, (n,)."""
        return np.zeros(len(X))


class Poisson:
    """Independent counts; t(x) = x."""

    def statistics(self, X: Floats) -> Floats:
        """Return t(x) of each row, (n, p)."""
        return X

    def natural(self, mean: Floats) -> tuple[Floats, float]:
        """Return eta (p,) and F(eta) where the mean of t is `mean` (p,)."""
        return np.log(_positive(mean)), float(np.sum(mean))

    def inverse_root(self, mean: Floats) -> Floats:
        """Return R (r, p) with R'R the inverse of the covariance of t at `mean`."""
        return np.diag(1.0 / np.sqrt(mean))

    def log_carrier(self, X: Floats) -> Floats:
        """Return log c(x) of each row, (n,)."""
        carrier: Floats = -np.sum(gammaln(X + 1.0), axis=1)
        return carrier
