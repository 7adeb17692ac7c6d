"""The parts of Classtering: data, hyper-parameters, and the factors of q, as `classtering.updates` defines them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pucli.core.arrays import Floats, Ints

# Bounds on learned hyper-parameters, in units where the mean variance of a feature is one. They matter only where the
# maximum lies at infinity (one component, a constant feature, columns that are all switched off).
PSI_MIN = 1e-6
NU0_MAX = 1e3
SHAPE_RANGE = (1e-3, 1e3)
RATE_MIN = 1e-9
CONCENTRATION_RANGE = (1e-3, 1e3)


class ClassteringRows(NamedTuple):
    """The data."""

    X: Floats  # (n, d), rows
    labels: Ints  # (n,), class numbers 0 to K - 1; -1 for an unlabeled row
    squares: Floats  # (d,), column sums of X^2
    collapsed: bool  # whether the label of an unlabeled row is summed out (see `label_terms`)


class Hyper(NamedTuple):
    """Hyper-parameters."""

    psi: Floats  # (d,), noise variances
    # (d,), mean and precision of the component means
    mu0: Floats
    nu0: Floats
    # shape and rate of the column precisions
    a: float
    b: float
    alpha: float  # total weight of the components; not learned
    gamma: Floats  # (K,), weights of the classes


class Globals(NamedTuple):
    """The distribution q of the parameters."""

    omega: Floats  # (S,), Dirichlet weights of pi
    phi: Floats  # (S, K), Dirichlet weights of beta
    mean: Floats  # (S, d, k + 1), means of the rows of [Lambda_s mu_s], mu last
    cov: Floats  # (S, d, k + 1, k + 1), covariances of these rows
    shape: float  # shape of the Gamma distributions of nu
    rate: Floats  # (S, k), rates of the Gamma distributions


class Locals(NamedTuple):
    """The distribution q of the row variables, and the sums over rows that the other updates need."""

    R: Floats  # (n, S), q(s_n = s)
    labels_given: Floats  # (S, K), q(l | s) of an unlabeled row; zero where l is summed out
    xcov: Floats  # (S, k, k), covariance of x given s
    mass: Floats  # (S,), sums of R
    labeled: Floats  # (S, K), sums of R over the rows with label l
    T: Floats  # (S, k + 1, k + 1), sums of R <(x, 1)(x, 1)'>
    Q: Floats  # (S, d, k + 1), sums of R y <(x, 1)'>
    entropy: float  # entropy of R

    def class_mass(self) -> Floats:
        """Return the contribution of the rows to the weights of beta, (S, K)."""
        unlabeled = self.mass - self.labeled.sum(axis=1)
        added: Floats = self.labeled + unlabeled[:, None] * self.labels_given
        return added


class State(NamedTuple):
    """Everything that F depends on."""

    hyper: Hyper
    q: Globals
    local: Locals


def rows(X: Floats, labels: Ints, collapsed: bool = True) -> ClassteringRows:
    """Return the data record of rows and labels."""
    return ClassteringRows(X, labels, np.einsum("nd,nd->d", X, X), collapsed)


def initial_hyper(data: ClassteringRows, n_classes: int) -> Hyper:
    """Return hyper-parameters on the scale of the data; half of each feature's variance is noise."""
    mean = data.X.mean(axis=0)
    variance = np.maximum(data.X.var(axis=0), PSI_MIN)
    return Hyper(
        psi=np.maximum(0.5 * variance, PSI_MIN),
        mu0=mean,
        nu0=np.minimum(1.0 / variance, NU0_MAX),
        a=1.0,
        b=1.0,
        alpha=1.0,
        gamma=np.full(n_classes, 1.0 / n_classes),
    )
