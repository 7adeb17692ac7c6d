"""Expectation maximisation for a generative classifier with labelled and unlabeled rows, the baseline of MCPL."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from pucli.solvers.safe.models import Parameters, SeparateModel, SharedGaussian


class MixtureFit(NamedTuple):
    """A local maximum of the observed-data log-likelihood."""

    parameters: Parameters
    soft_labels: np.ndarray  # posteriors of the unlabeled rows, (M, K)
    objective: float  # observed-data log-likelihood, nats
    rise: float  # of the objective in the last iteration
    n_iter: int
    converged: bool


def expectation_maximisation(
    model: SeparateModel | SharedGaussian, start: Parameters, X, codes, U, *, tol=1e-8, max_iter=1000
) -> MixtureFit:
    """Maximise sum_i log pi_y p_y(x_i) + sum_j log sum_k pi_k p_k(u_j) from `start`.

    Parameters
    ----------
    X : (N, d) labelled rows; codes : (N,) classes 0 .. K-1; U : (M, d) unlabeled rows, M >= 0.
    tol : rise of the objective per row, in nats, at which to stop.
    max_iter : the largest number of iterations.
    """
    one_hot = np.eye(len(start.prior))[codes]
    Z_labelled, A = one_hot.T @ model.features(X), model.features(U)
    parameters, objective, rise, n_iter = start, -np.inf, np.inf, 0
    while True:
        joint = model.log_joint(parameters, U, A)
        evidence = logsumexp(joint, axis=1)
        soft_labels = np.exp(joint - evidence[:, None])
        value = float(np.sum(evidence) + np.sum(one_hot * model.log_joint(parameters, X)) + model.log_prior(parameters))
        rise, objective = value - objective, value
        converged = rise <= tol * (len(X) + len(U))
        if converged or n_iter >= max_iter:
            return MixtureFit(parameters, soft_labels, objective, rise, n_iter, converged)
        parameters = model.fit(Z_labelled + soft_labels.T @ A)
        n_iter += 1
