"""The lower bound F of Classtering (Sansone 2018, eq. 2.3) for any state of q and of the hyper-parameters.

F = <ln p(Y, C, H, Theta)> - <ln q(H, Theta)>. No block is assumed to be at its optimum, so the bound can be compared
before and after each update. It is computed from the sums over rows in `Locals`, not from the rows themselves.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln, xlogy

from pucli.core.arrays import Floats
from pucli.solvers.classtering.state import ClassteringRows, Globals, Hyper, State
from pucli.solvers.classtering.updates import expected_log, loading_squares, residuals


def dirichlet_divergence(weights: Floats, prior: Floats) -> float:
    """Return the sum over rows of KL(Dir(weights) || Dir(prior)), both (m, K)."""
    prior = np.broadcast_to(prior, weights.shape)
    terms = (
        gammaln(weights.sum(axis=1))
        - gammaln(weights).sum(axis=1)
        - gammaln(prior.sum(axis=1))
        + gammaln(prior).sum(axis=1)
        + ((weights - prior) * expected_log(weights)).sum(axis=1)
    )
    return float(terms.sum())


def gamma_divergence(hyper: Hyper, q: Globals) -> float:
    """Return the sum of KL(q(nu_sj) || Gamma(a, b))."""
    shape, rate = q.shape, q.rate
    terms = (
        (shape - hyper.a) * digamma(shape)
        - gammaln(shape)
        + gammaln(hyper.a)
        + hyper.a * (np.log(rate) - np.log(hyper.b))
        + shape * (hyper.b - rate) / rate
    )
    return float(terms.sum())


def loading_term(hyper: Hyper, q: Globals) -> float:
    """Return <ln p(Lambda, mu | nu)> - <ln q(Lambda, mu)>."""
    S, d, k1 = q.mean.shape
    expected_nu = q.shape / q.rate
    log_nu = digamma(q.shape) - np.log(q.rate)
    columns = 0.5 * (d * log_nu - expected_nu * loading_squares(q)).sum()
    distance = (q.mean[:, :, -1] - hyper.mu0) ** 2 + q.cov[:, :, -1, -1]
    means = 0.5 * (np.log(hyper.nu0) - hyper.nu0 * distance).sum()
    entropy = 0.5 * np.linalg.slogdet(q.cov)[1].sum() + 0.5 * S * d * k1  # the 2 pi cancel with those of the prior
    return float(columns + means + entropy)


def lower_bound(data: ClassteringRows, state: State) -> float:
    """Return F in nats, for the units of `data.X`."""
    hyper, q, local = state
    S, _, k1 = q.mean.shape
    n = len(data.X)
    unlabeled = local.mass - local.labeled.sum(axis=1)
    assigned = (
        local.entropy
        - float(unlabeled @ xlogy(local.labels_given, local.labels_given).sum(axis=1))
        + float(local.mass @ expected_log(q.omega))
        + float((local.class_mass() * expected_log(q.phi)).sum())
    )
    factors = 0.5 * float(
        local.mass @ (np.linalg.slogdet(local.xcov)[1] + (k1 - 1)) - np.einsum("skk->", local.T[:, :-1, :-1])
    )
    noise = -0.5 * float((n * np.log(2.0 * np.pi * hyper.psi) + residuals(data, state) / hyper.psi).sum())
    divergence = (
        dirichlet_divergence(q.omega[None, :], hyper.alpha / S)
        + dirichlet_divergence(q.phi, hyper.gamma)
        + gamma_divergence(hyper, q)
    )
    return assigned + factors + noise + loading_term(hyper, q) - divergence
