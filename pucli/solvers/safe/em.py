"""Expectation maximization for a generative classifier with labeled and unlabeled rows (Nigam et al. 2000).

It is the baseline of MCPL, without a guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from pucli.core.arrays import Floats, Ints
from pucli.solvers.result import Certificate
from pucli.solvers.safe.models import Parameters, SeparateModel, SharedGaussian


@dataclass(frozen=True, kw_only=True)
class MixtureFit(Certificate):
    """A local maximum of the observed-data log-likelihood.

    `objective` is that log-likelihood in nats, `residual` its increase in the last iteration.
    """

    parameters: Parameters  # the fitted model
    soft_labels: Floats  # (M, K), posteriors of the unlabeled rows


def expectation_maximization(
    model: SeparateModel | SharedGaussian,
    start: Parameters,
    X: Floats,
    codes: Ints,
    U: Floats,
    *,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> MixtureFit:
    """Maximize sum_i log pi_y p_y(x_i) + sum_j log sum_k pi_k p_k(u_j) from `start`."""
    one_hot = np.eye(len(start.prior))[codes]
    Z_labeled, A = one_hot.T @ model.features(X), model.features(U)
    parameters, objective, rise, n_iter = start, -np.inf, np.inf, 0
    while True:
        joint = model.log_joint(parameters, U, A)
        evidence = logsumexp(joint, axis=1)
        soft_labels = np.exp(joint - evidence[:, None])
        value = float(np.sum(evidence) + np.sum(one_hot * model.log_joint(parameters, X)) + model.log_prior(parameters))
        rise, objective = value - objective, value
        converged = rise <= tol * (len(X) + len(U))
        if converged or n_iter >= max_iter:
            return MixtureFit(
                objective=objective,
                residual=rise,
                n_iter=n_iter,
                converged=converged,
                parameters=parameters,
                soft_labels=soft_labels,
            )
        parameters = model.fit(Z_labeled + soft_labels.T @ A)
        n_iter += 1
