"""The parts of Classtering: data, hyper-parameters, and the factors of q, as `classtering.updates` defines them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pucli.core.arrays import Floats, Ints

# Bounds on learnt hyper-parameters, in units where the mean variance of a feature is one. They matter only where the
# maximum lies at infinity (one component, a constant feature, columns that are all switched off).
PSI_MIN = 1e-6
NU0_MAX = 1e3
SHAPE_RANGE = (1e-3, 1e3)
RATE_MIN = 1e-9
CONCENTRATION_RANGE = (1e-3, 1e3)


class Rows(NamedTuple):
    """The data.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Rows.
    labels : ndarray of int, shape (n,)
        Class numbers 0 to K - 1; -1 for an unlabeled row.
    squares : ndarray of shape (d,)
        Column sums of X^2.
    collapsed : bool
        Whether the label of an unlabeled row is summed out (see `label_terms`).
    """

    X: Floats
    labels: Ints
    squares: Floats
    collapsed: bool


class Hyper(NamedTuple):
    """Hyper-parameters.

    Attributes
    ----------
    psi : ndarray of shape (d,)
        Noise variances.
    mu0, nu0 : ndarray of shape (d,)
        Mean and precision of the component means.
    a, b : float
        Shape and rate of the column precisions.
    alpha : float
        Total weight of the components; not learnt.
    gamma : ndarray of shape (K,)
        Weights of the classes.
    """

    psi: Floats
    mu0: Floats
    nu0: Floats
    a: float
    b: float
    alpha: float
    gamma: Floats


class Globals(NamedTuple):
    """The distribution q of the parameters.

    Attributes
    ----------
    omega : ndarray of shape (S,)
        Dirichlet weights of pi.
    phi : ndarray of shape (S, K)
        Dirichlet weights of beta.
    mean : ndarray of shape (S, d, k + 1)
        Means of the rows of [Lambda_s mu_s], mu last.
    cov : ndarray of shape (S, d, k + 1, k + 1)
        Covariances of these rows.
    shape : float
        Shape of the Gamma distributions of nu.
    rate : ndarray of shape (S, k)
        Rates of the Gamma distributions.
    """

    omega: Floats
    phi: Floats
    mean: Floats
    cov: Floats
    shape: float
    rate: Floats


class Locals(NamedTuple):
    """The distribution q of the row variables, and the sums over rows that the other updates need.

    Attributes
    ----------
    R : ndarray of shape (n, S)
        q(s_n = s).
    labels_given : ndarray of shape (S, K)
        q(l | s) of an unlabeled row; zero where l is summed out.
    xcov : ndarray of shape (S, k, k)
        Covariance of x given s.
    mass : ndarray of shape (S,)
        Sums of R.
    labelled : ndarray of shape (S, K)
        Sums of R over the rows with label l.
    T : ndarray of shape (S, k + 1, k + 1)
        Sums of R <(x, 1)(x, 1)'>.
    Q : ndarray of shape (S, d, k + 1)
        Sums of R y <(x, 1)'>.
    entropy : float
        Entropy of R.
    """

    R: Floats
    labels_given: Floats
    xcov: Floats
    mass: Floats
    labelled: Floats
    T: Floats
    Q: Floats
    entropy: float

    def class_mass(self) -> Floats:
        """Return the contribution of the rows to the weights of beta, (S, K)."""
        unlabeled = self.mass - self.labelled.sum(axis=1)
        added: Floats = self.labelled + unlabeled[:, None] * self.labels_given
        return added


class State(NamedTuple):
    """Everything that F depends on."""

    hyper: Hyper
    q: Globals
    local: Locals


def rows(X: Floats, labels: Ints, collapsed: bool = True) -> Rows:
    """Return the data record of rows and labels.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    labels : ndarray of int of shape (n,)
        Class numbers; -1 marks an unlabeled row.
    collapsed : bool, default=True
        Whether the class of an unlabeled row is summed out, in place of a factor of q.
    """
    return Rows(X, labels, np.einsum("nd,nd->d", X, X), collapsed)


def initial_hyper(data: Rows, n_classes: int) -> Hyper:
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
