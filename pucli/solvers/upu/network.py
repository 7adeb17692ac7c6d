"""Unbiased and non-negative PU learning with a network of one hidden layer (Kiryo, Niu, du Plessis, Sugiyama 2017).

With the sigmoid loss l(z) = 1 / (1 + e^z) and the partial risks

    R_p = prior/n_p sum_p l(f),    R_n = 1/n_u sum_u l(-f) - prior/n_p sum_p l(-f),

uPU minimises R_p + R_n. R_n estimates a non-negative quantity, but a flexible f makes it negative. nnPU takes its steps
on R_p + R_n while R_n >= -beta, and otherwise on -gamma R_n alone, which raises R_n again (their algorithm 1).

With known negatives q the risk is that of Sakai, du Plessis, Niu and Sugiyama (2017) for eta from 0 to 1,

    (1 - eta) R_PN + eta R_PU = R_p + (1 - eta) R_q + eta R_n,    R_q = (1 - prior)/n_q sum_q l(-f),

with max(R_n, 0) in place of R_n for nnPU. Without known negatives eta is 1. `labelled` then is 1 for labelled
positives, 0 for unlabeled rows and -1 for known negatives; True and False are 1 and 0.

The network is m - hidden - ReLU - 1, trained by Adam (Kingma, Ba 2015); the L2 decay is added to the gradient of every
parameter, not decoupled from it. The initial weights are normal with variance 1 / fan-in, the biases zero.

From there a small prior leads to a constant: nearly all of the gradient pushes scores down, until the sigmoid is flat.
`train_until_learned` then starts from a network that was trained at a balanced prior, with offset and slope of its
score chosen for the prior at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata

from pucli.core.arrays import Bools, Floats, Ints
from pucli.solvers.result import Certificate

# Above this many rows, scores and gradients are computed in blocks of as many, each with `hidden` numbers for a row.
MANY_ROWS = 200_000
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
Marks: TypeAlias = Bools | Ints


# A network has learned if its risk is below this share of that of the best constant.
LEARNED = 0.95
# Numbers of offsets and slopes tried for the score of a network trained at another prior.
OFFSETS, SLOPES = 64, (0.5, 1.0, 2.0, 4.0, 8.0)
# Features are standardised inside if a mean is farther from zero than this, or a deviation is beyond these.
FAR, NARROW, BROAD = 0.5, 0.5, 2.0


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
    """Return a network with random weights and biases of zero.

    Parameters
    ----------
    n_features : int
        Number of inputs.
    hidden : int
        Number of hidden neurons.
    rng : numpy.random.Generator
        Source of the weights.
    """
    W = rng.normal(0.0, 1.0 / np.sqrt(n_features), (n_features, hidden))
    return Network(W, np.zeros(hidden), rng.normal(0.0, 1.0 / np.sqrt(hidden), hidden), np.zeros(1))


def network_score(network: Network, X: Floats) -> Floats:
    """Return f(x) for the rows X (n, m), shape (n,)."""
    if len(X) > MANY_ROWS:
        return np.concatenate([network_score(network, part) for part in _blocks(X)])
    f: Floats = np.maximum(X @ network.W + network.b, 0.0) @ network.v + network.c[0]
    return f


def partial_risks(f: Floats, labelled: Marks, prior: float, non_negative: bool, eta: float = 1.0) -> Risks:
    """Return the risks of scores.

    Parameters
    ----------
    f : ndarray of shape (n,)
        Scores.
    labelled : ndarray of bool of shape (n,)
        True for labelled positives.
    prior : float
        Class prior.
    non_negative : bool
        Whether R_n counts as zero in the total where it is negative (nnPU).
    eta : float, default=1.0
        Weight of the unlabeled rows.
    """
    p, u, q = f[labelled == 1], f[labelled == 0], f[labelled == -1]
    positive = prior * float(np.mean(expit(-p))) if len(p) else 0.0
    negative = float(np.mean(expit(u))) if len(u) else 0.0
    negative -= prior * float(np.mean(expit(p))) if len(p) else 0.0
    known = (1.0 - prior) * float(np.mean(expit(q))) if len(q) else 0.0
    unlabeled = max(negative, 0.0) if non_negative else negative
    return Risks(positive + (1.0 - eta) * known + eta * unlabeled, positive, negative)


def score_gradient(
    f: Floats,
    labelled: Marks,
    prior: float,
    non_negative: bool,
    beta: float = 0.0,
    gamma: float = 1.0,
    eta: float = 1.0,
) -> Floats:
    """Return the derivative of a step's objective by each score, shape (n,).

    The objective is the risk, or -gamma eta R_n where R_n < -beta (nnPU).

    Parameters
    ----------
    f : ndarray of shape (n,)
        Scores.
    labelled : ndarray of bool of shape (n,)
        True for labelled positives.
    prior : float
        Class prior.
    non_negative : bool
        True for nnPU, False for uPU.
    beta : float, default=0.0
        Negative R_n that is tolerated.
    gamma : float, default=1.0
        Size of the step that raises R_n, relative to a usual step.
    eta : float, default=1.0
        Weight of the unlabeled rows.
    """
    slope: Floats = expit(f) * expit(-f)
    kinds = labelled == 1, labelled == 0, labelled == -1
    n_p, n_u, n_q = (max(int(np.count_nonzero(kind)), 1) for kind in kinds)
    by_positive: Floats = np.where(kinds[0], -prior / n_p, 0.0) * slope
    by_negative: Floats = eta * np.select(kinds[:2], (-prior / n_p, 1.0 / n_u), 0.0) * slope
    if non_negative and eta > 0.0 and partial_risks(f, labelled, prior, True).negative < -beta:
        return -gamma * by_negative
    by_known: Floats = np.where(kinds[2], (1.0 - eta) * (1.0 - prior) / n_q, 0.0) * slope
    return by_positive + by_negative + by_known


def network_gradient(
    network: Network,
    X: Floats,
    labelled: Marks,
    prior: float,
    non_negative: bool,
    beta: float = 0.0,
    gamma: float = 1.0,
    eta: float = 1.0,
) -> Network:
    """Return the derivative of a step's objective by each parameter, without the decay.

    Parameters
    ----------
    network : Network
        Current parameters.
    X : ndarray of shape (n, m)
        Rows of the batch.
    labelled : ndarray of bool of shape (n,)
        True for labelled positives.
    prior : float
        Class prior.
    non_negative : bool
        True for nnPU, False for uPU.
    beta : float, default=0.0
        Negative R_n that is tolerated.
    gamma : float, default=1.0
        Size of the step that raises R_n, relative to a usual step.
    eta : float, default=1.0
        Weight of the unlabeled rows.
    """
    if len(X) > MANY_ROWS:
        by_score = score_gradient(network_score(network, X), labelled, prior, non_negative, beta, gamma, eta)
        parts = [_back(network, x, part) for x, part in zip(_blocks(X), _blocks(by_score), strict=True)]
        return Network(*(np.sum(of_blocks, axis=0) for of_blocks in zip(*parts, strict=True)))
    hidden = X @ network.W + network.b
    active = np.maximum(hidden, 0.0)
    f = active @ network.v + network.c[0]
    by_score = score_gradient(f, labelled, prior, non_negative, beta, gamma, eta)
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
    eta : float
        Weight of the unlabeled rows if there are known negatives, 1 without.
    """

    hidden: int = 100
    epochs: int = 100
    learning_rate: float = 1e-3
    decay: float = 0.005
    batch_size: int = 30000
    beta: float = 0.0
    gamma: float = 1.0
    eta: float = 1.0


def train_network(
    X: Floats,
    labelled: Marks,
    prior: float,
    non_negative: bool,
    rng: np.random.Generator,
    training: Training,
    start: Network | None = None,
) -> NetworkSolution:
    """Train a network for a fixed number of epochs.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Rows.
    labelled : ndarray of shape (n,)
        True for labelled positives.
    prior : float
        Share of positives among the unlabeled rows, in (0, 1).
    non_negative : bool
        Whether to follow nnPU's rule.
    rng : numpy.random.Generator
        Draws the initial weights and the order of the rows.
    training : Training
        Settings of the training.
    start : Network, optional
        Initial weights, which are changed; without it they are drawn.

    Returns
    -------
    NetworkSolution
        The network after the last epoch.
    """
    hidden, epochs, learning_rate, decay, batch_size, beta, gamma, eta = training
    network = initial_network(X.shape[1], hidden, rng) if start is None else start
    first = [np.zeros_like(part) for part in network]
    second = [np.zeros_like(part) for part in network]
    n, step = len(X), 0
    for _ in range(epochs):
        order = rng.permutation(n) if batch_size < n else np.arange(n)
        for first_row in range(0, n, batch_size):
            rows = order[first_row : first_row + batch_size] if batch_size < n else slice(None)
            gradient = network_gradient(network, X[rows], labelled[rows], prior, non_negative, beta, gamma, eta)
            step += 1
            scale = learning_rate * np.sqrt(1.0 - BETA_2**step) / (1.0 - BETA_1**step)
            for part, by_part, m1, m2 in zip(network, gradient, first, second, strict=True):
                total = by_part + decay * part
                m1 += (1.0 - BETA_1) * (total - m1)
                m2 += (1.0 - BETA_2) * (total * total - m2)
                part -= scale * m1 / (np.sqrt(m2) + EPSILON)
    risks = partial_risks(network_score(network, X), labelled, prior, non_negative, eta)
    last = network_gradient(network, X, labelled, prior, non_negative, beta, gamma, eta)
    size = max(float(np.max(np.abs(g + decay * part), initial=0.0)) for g, part in zip(last, network, strict=True))
    return NetworkSolution(
        network=network,
        risks=risks,
        objective=risks.objective,
        residual=size,
        n_iter=epochs,
        converged=bool(np.isfinite(size)),
    )


def has_learned(network: Network, X: Floats, labelled: Marks, prior: float, risk: float) -> bool:
    """Return whether a network ranks labelled rows above unlabeled rows and its risk is below that of any constant.

    Parameters
    ----------
    network : Network
        Trained network.
    X : ndarray of shape (n, m)
        Training rows.
    labelled : ndarray of bool of shape (n,)
        True for labelled positives.
    prior : float
        Class prior; the best constant has the risk min(prior, 1 - prior).
    risk : float
        Risk of the network on the training rows.
    """
    if not (np.isfinite(risk) and risk < LEARNED * min(prior, 1.0 - prior)):
        return False
    ranks = rankdata(network_score(network, X))
    positive = labelled == 1
    n_p, n_u = np.count_nonzero(positive), np.count_nonzero(~positive)
    return bool(ranks[positive].sum() - 0.5 * n_p * (n_p + 1) > 0.5 * n_p * n_u)


def train_until_learned(
    X: Floats, labelled: Marks, prior: float, non_negative: bool, rng: np.random.Generator, training: Training
) -> NetworkSolution:
    """Train a network whatever the scale of the features; `converged` tells whether it has learned.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Rows.
    labelled : ndarray of shape (n,)
        True for labelled positives.
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
        In the units of X. If the first network has not learned, the better one of the second start.
    """
    centre, scale = X.mean(axis=0), X.std(axis=0)
    varied = scale > 0.0
    beyond = (scale[varied] < NARROW) | (scale[varied] > BROAD)
    if np.any(np.abs(centre) > FAR) or np.any(beyond):
        scale = np.where(varied, scale, 1.0)
        found = train_until_learned((X - centre) / scale, labelled, prior, non_negative, rng, training)
        W = found.network.W / scale[:, None]
        return replace(found, network=found.network._replace(W=W, b=found.network.b - centre @ W))
    tried = [train_network(X, labelled, prior, non_negative, rng, training)]
    if not has_learned(tried[0].network, X, labelled, prior, tried[0].objective):
        balanced = train_network(X, labelled, max(prior, 0.5), True, rng, training)
        start = _at_prior(balanced.network, X, labelled, prior, non_negative, training.eta)
        risks = partial_risks(network_score(start, X), labelled, prior, non_negative, training.eta)
        kept = Network(*(part.copy() for part in start))
        tried.append(replace(balanced, network=kept, risks=risks, objective=risks.objective))
        tried.append(train_network(X, labelled, prior, non_negative, rng, training, start))
    learned = [one for one in tried if has_learned(one.network, X, labelled, prior, one.objective)]
    best = min(learned or tried, key=lambda one: one.objective if np.isfinite(one.objective) else np.inf)
    return replace(best, converged=bool(learned), n_iter=sum(one.n_iter for one in tried))


def _at_prior(network: Network, X: Floats, labelled: Marks, prior: float, non_negative: bool, eta: float) -> Network:
    """Return the network whose score is a (f - t), with the slope a and the offset t of the smallest risk."""
    f = network_score(network, X)
    spread = float(f.std()) or 1.0
    offsets = np.quantile(f, 1.0 - np.geomspace(0.5 / len(f), 1.0, OFFSETS) * 0.999)
    found = [
        (partial_risks(a / spread * (f - t), labelled, prior, non_negative, eta).objective, a / spread, t)
        for a in SLOPES
        for t in offsets
    ]
    _, a, t = min(found)
    return Network(network.W.copy(), network.b.copy(), a * network.v, a * (network.c - t))
