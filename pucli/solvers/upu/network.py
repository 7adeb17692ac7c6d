"""Unbiased and non-negative PU learning with a network of one hidden layer (Kiryo, Niu, du Plessis, Sugiyama 2017).

With the sigmoid loss l(z) = 1 / (1 + e^z) and the partial risks

    R_p = prior/n_p sum_p l(f),    R_n = 1/n_u sum_u l(-f) - prior/n_p sum_p l(-f),

uPU minimises R_p + R_n. R_n estimates a non-negative quantity, but a flexible f makes it negative. nnPU takes its steps
on R_p + R_n while R_n >= -beta, and otherwise on -gamma R_n alone, which raises R_n again (their algorithm 1).

The network is m - hidden - ReLU - 1, trained by Adam (Kingma, Ba 2015); the L2 decay is added to the gradient of every
parameter, not decoupled from it. The initial weights are normal with variance 1 / fan-in, the biases zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from pucli.core.arrays import Bools, Floats
from pucli.solvers.result import Certificate

# Above this many rows, scores and gradients are computed in blocks of as many, each with `hidden` numbers for a row.
MANY_ROWS = 200_000
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


class Network(NamedTuple):
    """Parameters: W (m, hidden), b (hidden,), v (hidden,), c (1,); f(x) = v' max(0, W'x + b) + c."""

    W: Floats
    b: Floats
    v: Floats
    c: Floats


class Risks(NamedTuple):
    """Partial risks of a network on some rows: objective R_p + R_n (nnPU: R_p + max(R_n, 0)), R_p and R_n."""

    objective: float
    positive: float
    negative: float


@dataclass(frozen=True, kw_only=True)
class NetworkSolution(Certificate):
    """The network after the last epoch, and its risks on all rows.

    `objective` is that of `risks`, `residual` the largest entry of the gradient with the decay, `n_iter` the number of
    epochs. `converged` means that the residual is finite.

    Attributes
    ----------
    network : Network
        The parameters.
    risks : Risks
        Partial risks.
    """

    network: Network
    risks: Risks


def initial_network(n_features: int, hidden: int, rng: np.random.Generator) -> Network:
    """Draw a network from the generator `rng`."""
    W = rng.normal(0.0, 1.0 / np.sqrt(n_features), (n_features, hidden))
    return Network(W, np.zeros(hidden), rng.normal(0.0, 1.0 / np.sqrt(hidden), hidden), np.zeros(1))


def network_score(network: Network, X: Floats) -> Floats:
    """Return f(x) for the rows X (n, m), shape (n,)."""
    if len(X) > MANY_ROWS:
        return np.concatenate([network_score(network, part) for part in _blocks(X)])
    f: Floats = np.maximum(X @ network.W + network.b, 0.0) @ network.v + network.c[0]
    return f


def partial_risks(f: Floats, labelled: Bools, prior: float, non_negative: bool) -> Risks:
    """Return the risks of scores f (n,)."""
    p, u = f[labelled], f[~labelled]
    positive = prior * float(np.mean(expit(-p))) if len(p) else 0.0
    negative = float(np.mean(expit(u))) if len(u) else 0.0
    negative -= prior * float(np.mean(expit(p))) if len(p) else 0.0
    return Risks(positive + (max(negative, 0.0) if non_negative else negative), positive, negative)


def score_gradient(
    f: Floats, labelled: Bools, prior: float, non_negative: bool, beta: float = 0.0, gamma: float = 1.0
) -> Floats:
    """Return the derivative of a step's objective by each score (n,): the risk, or -gamma R_n where R_n < -beta."""
    slope: Floats = expit(f) * expit(-f)
    n_p, n_u = max(int(np.count_nonzero(labelled)), 1), max(int(np.count_nonzero(~labelled)), 1)
    by_positive: Floats = np.where(labelled, -prior / n_p, 0.0) * slope
    by_negative: Floats = np.where(labelled, -prior / n_p, 1.0 / n_u) * slope
    if non_negative and partial_risks(f, labelled, prior, True).negative < -beta:
        return -gamma * by_negative
    return by_positive + by_negative


def network_gradient(
    network: Network,
    X: Floats,
    labelled: Bools,
    prior: float,
    non_negative: bool,
    beta: float = 0.0,
    gamma: float = 1.0,
) -> Network:
    """Return the derivative of a step's objective by each parameter, without the decay."""
    if len(X) > MANY_ROWS:
        by_score = score_gradient(network_score(network, X), labelled, prior, non_negative, beta, gamma)
        parts = [_back(network, x, part) for x, part in zip(_blocks(X), _blocks(by_score), strict=True)]
        return Network(*(np.sum(of_blocks, axis=0) for of_blocks in zip(*parts, strict=True)))
    hidden = X @ network.W + network.b
    active = np.maximum(hidden, 0.0)
    f = active @ network.v + network.c[0]
    by_score = score_gradient(f, labelled, prior, non_negative, beta, gamma)
    back = np.where(hidden > 0.0, by_score[:, None] * network.v, 0.0)
    return Network(X.T @ back, back.sum(axis=0), active.T @ by_score, np.array([by_score.sum()]))


def _blocks(rows: Floats) -> list[Floats]:
    return [rows[start : start + MANY_ROWS] for start in range(0, len(rows), MANY_ROWS)]


def _back(network: Network, X: Floats, by_score: Floats) -> Network:
    """Return the derivative by each parameter, given that by the scores (n,) of rows X."""
    hidden = X @ network.W + network.b
    back = np.where(hidden > 0.0, by_score[:, None] * network.v, 0.0)
    return Network(X.T @ back, back.sum(axis=0), np.maximum(hidden, 0.0).T @ by_score, np.array([by_score.sum()]))


class Training(NamedTuple):
    """Settings of the training.

    Attributes
    ----------
    hidden : int
        Hidden units.
    epochs : int
        Number of epochs, part of the method's definition.
    learning_rate, decay : float
        Adam's step size, and the L2 decay.
    batch_size : int
        Rows of a step. With fewer rows, each step takes all of them.
    beta, gamma : float
        Parameters of nnPU's rule.
    """

    hidden: int = 100
    epochs: int = 100
    learning_rate: float = 1e-3
    decay: float = 0.005
    batch_size: int = 30000
    beta: float = 0.0
    gamma: float = 1.0


def train_network(
    X: Floats,
    labelled: Bools,
    prior: float,
    non_negative: bool,
    rng: np.random.Generator,
    training: Training,
) -> NetworkSolution:
    """Train a network for a fixed number of epochs.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Rows.
    labelled : ndarray of shape (n,)
        Which rows are labelled positives.
    prior : float
        Share of positives among the unlabeled rows, in (0, 1).
    non_negative : bool
        Whether to follow nnPU's rule.
    rng : numpy.random.Generator
        Draws the initial weights and the order of the rows.
    training : Training
        Settings of the training.

    Returns
    -------
    NetworkSolution
        The network after the last epoch.
    """
    hidden, epochs, learning_rate, decay, batch_size, beta, gamma = training
    network = initial_network(X.shape[1], hidden, rng)
    first = [np.zeros_like(part) for part in network]
    second = [np.zeros_like(part) for part in network]
    n, step = len(X), 0
    for _ in range(epochs):
        order = rng.permutation(n) if batch_size < n else np.arange(n)
        for start in range(0, n, batch_size):
            rows = order[start : start + batch_size] if batch_size < n else slice(None)
            gradient = network_gradient(network, X[rows], labelled[rows], prior, non_negative, beta, gamma)
            step += 1
            scale = learning_rate * np.sqrt(1.0 - BETA_2**step) / (1.0 - BETA_1**step)
            for part, by_part, m1, m2 in zip(network, gradient, first, second, strict=True):
                total = by_part + decay * part
                m1 += (1.0 - BETA_1) * (total - m1)
                m2 += (1.0 - BETA_2) * (total * total - m2)
                part -= scale * m1 / (np.sqrt(m2) + EPSILON)
    risks = partial_risks(network_score(network, X), labelled, prior, non_negative)
    last = network_gradient(network, X, labelled, prior, non_negative, beta, gamma)
    size = max(float(np.max(np.abs(g + decay * part), initial=0.0)) for g, part in zip(last, network, strict=True))
    return NetworkSolution(
        network=network,
        risks=risks,
        objective=risks.objective,
        residual=size,
        n_iter=epochs,
        converged=bool(np.isfinite(size)),
    )
