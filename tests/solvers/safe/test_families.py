"""Exponential families and models of MCPL: gradients and Hessians by differences, densities by scipy."""

import numpy as np
import pytest
from scipy.stats import bernoulli, poisson

from pucli.solvers.safe.families import Bernoulli, DiagonalGaussian, FixedGaussian, FullGaussian, Poisson
from pucli.solvers.safe.models import SeparateModel, SharedGaussian

FAMILIES = {
    "full": FullGaussian(0.1 * np.eye(3)),
    "diagonal": DiagonalGaussian(np.full(3, 0.1)),
    "fixed": FixedGaussian(np.array([[2.0, 0.3, 0], [0.3, 1.0, 0.2], [0, 0.2, 0.5]])),
    "bernoulli": Bernoulli(),
    "poisson": Poisson(),
}


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_families_are_exponential_families(name):
    """(4.2): eta is the gradient of the conjugate, whose Hessian is the inverse covariance; the density integrates."""
    family, rng = FAMILIES[name], np.random.default_rng(0)
    X = rng.poisson(3.0, (50, 3)) if name == "poisson" else rng.normal(size=(50, 3))
    X = (X > 0).astype(float) if name == "bernoulli" else X.astype(float)
    mean = family.statistics(X).mean(axis=0)

    def conjugate(m):
        eta, cumulant = family.natural(m)
        return m @ eta - cumulant

    eta, cumulant = family.natural(mean)
    steps = 1e-5 * np.eye(len(mean))
    slopes = [(conjugate(mean + h) - conjugate(mean - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(slopes, eta, rtol=1e-5, atol=1e-6)
    hessian = [(family.natural(mean + h)[0] - family.natural(mean - h)[0]) / 2e-5 for h in steps]
    root = family.inverse_root(mean)
    np.testing.assert_allclose(root.T @ root, hessian, rtol=1e-4, atol=1e-5)
    log_density = family.statistics(X) @ eta - cumulant + family.log_carrier(X)
    if name in ("bernoulli", "poisson"):
        reference = bernoulli.logpmf(X, mean) if name == "bernoulli" else poisson.logpmf(X, mean)
        np.testing.assert_allclose(log_density, reference.sum(axis=1), rtol=1e-9)
        return
    covariance = family.covariance(mean)
    covariance = np.diag(covariance) if covariance.ndim == 1 else covariance
    centered = X - mean[:3]
    jitter = np.zeros((3, 3)) if name == "fixed" else 0.1 * np.eye(3)
    inside = np.einsum("ij,ij->i", centered @ np.linalg.inv(covariance), centered)
    expected = -0.5 * (inside + np.trace(np.linalg.solve(covariance, jitter)))
    np.testing.assert_allclose(log_density, expected - 0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1], rtol=1e-9)


@pytest.mark.parametrize("shared", [True, False])
def test_hessian_of_the_maximal_likelihood(shared):
    rng = np.random.default_rng(3)
    X, weight = rng.normal(size=(40, 2)), rng.dirichlet([1, 1, 1], 40)
    zero = np.zeros((2, 2))
    model = (
        SharedGaussian(X.T @ X, zero)
        if shared
        else SeparateModel([FullGaussian(zero)] * 3, 0.7, np.array([0, 0, 2, 0.1, 2]))
    )
    Z = weight.T @ model.features(X)
    size = Z.shape[1]

    def gradient(shift):
        move = np.vstack([shift.reshape(2, size), -shift.reshape(2, size).sum(axis=0)])
        theta = model.fit(Z + move).theta
        return (theta[:2] - theta[2]).ravel()

    steps = 1e-5 * np.eye(2 * size)
    numeric = [(gradient(h) - gradient(-h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(model.hessian(Z, model.fit(Z)), numeric, rtol=1e-5, atol=1e-6)
