"""Unbiased and non-negative PU learning with a network of one hidden layer (Kiryo, Niu, du Plessis, Sugiyama 2017).

With the sigmoid loss l(z) = 1 / (1 + e^z) and the partial risks

    R_p = prior/n_p sum_p l(f),    R_n = 1/n_u sum_u l(-f) - prior/n_p sum_p l(-f),

uPU minimizes R_p + R_n. R_n estimates a non-negative quantity, but a flexible f makes it negative. nnPU takes its steps
on R_p + R_n while R_n >= -beta, and otherwise on -gamma R_n alone, which raises R_n again (their algorithm 1).

The network is m - hidden - ReLU - 1, trained by Adam (Kingma, Ba 2015); the L2 decay is added to the gradient of every
parameter, not decoupled from it. The initial weights are normal with variance 1 / fan-in, the biases zero.

From there a small prior leads to a constant: nearly all of the gradient pushes scores down, until the sigmoid is flat.
`train_until_learned` then starts from a network that was trained at a balanced prior, with offset and slope of its
score chosen for the prior at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata

from pucli.core.arrays import Bools, Floats
from pucli.solvers.result import Certificate

# Above this many rows, scores and gradients are computed in blocks of as many, each with `hidden` numbers for a row.
MANY_ROWS = 200_000
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8

# A network has learned if its risk is below this share of that of the best constant.
LEARNED = 0.95
# Numbers of offsets and slopes tried for the score of a network trained at another prior.
OFFSETS, SLOPES = 64, (0.5, 1.0, 2.0, 4.0, 8.0)
# Features are standardized inside if a mean is farther from zero than this, or a deviation is beyond these.
FAR, NARROW, BROAD = 0.5, 0.5, 2.0


class NetworkWeights(NamedTuple):
    """Parameters: W (m, hidden), b (hidden,), v (hidden,), c (1,); f(x) = v' max(0, W'x + b) + c."""

    W: Floats
    b: Floats
    v: Floats
    c: Floats


class Risks(NamedTuple):
    """Partial risks of a network on some rows: the objective, R_p and R_n."""

    objective: float
    positive: float
    negative: float


@dataclass(frozen=True, kw_only=True)
class NetworkSolution(Certificate):
    """The network after the last epoch, and its risks on all rows.

    `objective` is that of `risks`, `residual` the largest entry of the gradient with the decay, `n_iter` the number of
    epochs. `converged` means that the residual is finite.
    """

    network: NetworkWeights
    risks: Risks


class Risk(NamedTuple):
    """The risk that a network is trained on."""

    prior: float  # share of positives among the unlabeled rows, in (0, 1)
    non_negative: bool  # True for nnPU, False for uPU
    # negative R_n that nnPU tolerates, and the size of the step that raises R_n, relative to a usual step
    beta: float = 0.0
    gamma: float = 1.0

    def partial(self, f: Floats, labeled: Bools) -> Risks:
        """Return the risks of scores (n,); nnPU counts R_n as zero in the objective where it is negative."""
        p, u = f[labeled], f[~labeled]
        positive = self.prior * float(np.mean(expit(-p))) if len(p) else 0.0
        negative = float(np.mean(expit(u))) if len(u) else 0.0
        negative -= self.prior * float(np.mean(expit(p))) if len(p) else 0.0
        return Risks(positive + (max(negative, 0.0) if self.non_negative else negative), positive, negative)

    def slopes(self, f: Floats, labeled: Bools) -> Floats:
        """Return the derivative (n,) of a step's objective by each score: the risk, or -gamma R_n."""
        slope: Floats = expit(f) * expit(-f)
        n_p, n_u = (max(int(np.count_nonzero(kind)), 1) for kind in (labeled, ~labeled))
        by_positive: Floats = np.where(labeled, -self.prior / n_p, 0.0) * slope
        by_negative: Floats = np.where(labeled, -self.prior / n_p, 1.0 / n_u) * slope
        if self.non_negative and self.partial(f, labeled).negative < -self.beta:
            return -self.gamma * by_negative
        return by_positive + by_negative


def initial_network(n_features: int, hidden: int, rng: np.random.Generator) -> NetworkWeights:
    """Return a network with random weights and biases of zero."""
    W = rng.normal(0.0, 1.0 / np.sqrt(n_features), (n_features, hidden))
    return NetworkWeights(W, np.zeros(hidden), rng.normal(0.0, 1.0 / np.sqrt(hidden), hidden), np.zeros(1))


def network_score(network: NetworkWeights, X: Floats) -> Floats:
    """Return f(x) for the rows X (n, m), shape (n,)."""
    if len(X) > MANY_ROWS:
        return np.concatenate([network_score(network, part) for part in _blocks(X)])
    f: Floats = np.maximum(X @ network.W + network.b, 0.0) @ network.v + network.c[0]
    return f


def network_gradient(network: NetworkWeights, X: Floats, labeled: Bools, risk: Risk) -> NetworkWeights:
    """Return the derivative of a step's objective by each parameter, without the decay."""
    if len(X) > MANY_ROWS:
        by_score = risk.slopes(network_score(network, X), labeled)
        parts = [
            _back(network, x, x @ network.W + network.b, part)
            for x, part in zip(_blocks(X), _blocks(by_score), strict=True)
        ]
        return NetworkWeights(*(np.sum(of_blocks, axis=0) for of_blocks in zip(*parts, strict=True)))
    hidden = X @ network.W + network.b
    f = np.maximum(hidden, 0.0) @ network.v + network.c[0]
    return _back(network, X, hidden, risk.slopes(f, labeled))


def _blocks(rows: Floats) -> list[Floats]:
    return [rows[start : start + MANY_ROWS] for start in range(0, len(rows), MANY_ROWS)]


def _back(network: NetworkWeights, X: Floats, hidden: Floats, by_score: Floats) -> NetworkWeights:
    """Return the derivative by each parameter, given that by the scores (n,) of rows X, with X W + b (n, hidden)."""
    back = np.where(hidden > 0.0, by_score[:, None] * network.v, 0.0)
    return NetworkWeights(
        X.T @ back, back.sum(axis=0), np.maximum(hidden, 0.0).T @ by_score, np.array([by_score.sum()])
    )


class TrainingSettings(NamedTuple):
    """Settings of the training."""

    hidden: int = 100  # hidden units
    epochs: int = 100  # number of epochs, part of the method's definition
    # Adam's step size, and the L2 decay
    learning_rate: float = 1e-3
    decay: float = 0.005
    batch_size: int = 30000  # rows of a step. With fewer rows, each step takes all of them


def train_network(
    X: Floats,
    labeled: Bools,
    risk: Risk,
    rng: np.random.Generator,
    training: TrainingSettings,
    start: NetworkWeights | None = None,
) -> NetworkSolution:
    """Train a network for a fixed number of epochs."""
    hidden, epochs, learning_rate, decay, batch_size = training
    network = initial_network(X.shape[1], hidden, rng) if start is None else start
    first = [np.zeros_like(part) for part in network]
    second = [np.zeros_like(part) for part in network]
    n, step = len(X), 0
    for _ in range(epochs):
        order = rng.permutation(n) if batch_size < n else np.arange(n)
        for first_row in range(0, n, batch_size):
            rows = order[first_row : first_row + batch_size] if batch_size < n else slice(None)
            gradient = network_gradient(network, X[rows], labeled[rows], risk)
            step += 1
            scale = learning_rate * np.sqrt(1.0 - BETA_2**step) / (1.0 - BETA_1**step)
            for part, by_part, m1, m2 in zip(network, gradient, first, second, strict=True):
                total = by_part + decay * part
                m1 += (1.0 - BETA_1) * (total - m1)
                m2 += (1.0 - BETA_2) * (total * total - m2)
                part -= scale * m1 / (np.sqrt(m2) + EPSILON)
    risks = risk.partial(network_score(network, X), labeled)
    last = network_gradient(network, X, labeled, risk)
    size = max(float(np.max(np.abs(g + decay * part), initial=0.0)) for g, part in zip(last, network, strict=True))
    return NetworkSolution(
        network=network,
        risks=risks,
        objective=risks.objective,
        residual=size,
        n_iter=epochs,
        converged=bool(np.isfinite(size)),
    )


def _has_learned(found: NetworkSolution, X: Floats, labeled: Bools, prior: float) -> bool:
    """Return whether a network ranks labeled rows above unlabeled rows and its risk is below that of any constant.

    The best constant has the risk min(prior, 1 - prior).
    """
    if not (np.isfinite(found.objective) and found.objective < LEARNED * min(prior, 1.0 - prior)):
        return False
    ranks = rankdata(network_score(found.network, X))
    n_p, n_u = np.count_nonzero(labeled), np.count_nonzero(~labeled)
    return bool(ranks[labeled].sum() - 0.5 * n_p * (n_p + 1) > 0.5 * n_p * n_u)


def train_until_learned(
    X: Floats, labeled: Bools, risk: Risk, rng: np.random.Generator, training: TrainingSettings
) -> NetworkSolution:
    """Train a network whatever the scale of the features; `converged` tells whether it has learned.

    If the first network has not learned, the better one of the second start is returned. It is in the units of X.
    """
    center, scale = X.mean(axis=0), X.std(axis=0)
    varied = scale > 0.0
    beyond = (scale[varied] < NARROW) | (scale[varied] > BROAD)
    if np.any(np.abs(center) > FAR) or np.any(beyond):
        scale = np.where(varied, scale, 1.0)
        found = train_until_learned((X - center) / scale, labeled, risk, rng, training)
        W = found.network.W / scale[:, None]
        return replace(found, network=found.network._replace(W=W, b=found.network.b - center @ W))
    prior = risk.prior
    tried = [train_network(X, labeled, risk, rng, training)]
    if not _has_learned(tried[0], X, labeled, prior):
        even = risk._replace(prior=max(prior, 0.5), non_negative=True)
        balanced = train_network(X, labeled, even, rng, training)
        start = _at_prior(balanced.network, X, labeled, risk)
        risks = risk.partial(network_score(start, X), labeled)
        kept = NetworkWeights(*(part.copy() for part in start))
        tried.append(replace(balanced, network=kept, risks=risks, objective=risks.objective))
        tried.append(train_network(X, labeled, risk, rng, training, start))
    learned = [one for one in tried if _has_learned(one, X, labeled, prior)]
    best = min(learned or tried, key=lambda one: one.objective if np.isfinite(one.objective) else np.inf)
    return replace(best, converged=bool(learned), n_iter=sum(one.n_iter for one in tried))


def _at_prior(network: NetworkWeights, X: Floats, labeled: Bools, risk: Risk) -> NetworkWeights:
    """Return the network whose score is a (f - t), with the slope a and the offset t of the smallest risk."""
    f = network_score(network, X)
    spread = float(f.std()) or 1.0
    offsets = np.quantile(f, 1.0 - np.geomspace(0.5 / len(f), 1.0, OFFSETS) * 0.999)
    found = [(risk.partial(a / spread * (f - t), labeled).objective, a / spread, t) for a in SLOPES for t in offsets]
    _, a, t = min(found)
    return NetworkWeights(network.W.copy(), network.b.copy(), a * network.v, a * (network.c - t))
