"""Log-likelihood of a sampler by kernel density estimation, as Sansone 2018, section 4.4.1, scores the deep models.

A Gaussian kernel on generated rows is evaluated on test rows; its bandwidth is one of ten between 1e-3 and 10^1.5,
equally spaced in logarithm. The thesis does not say on which rows the bandwidth was chosen; here it is chosen on
validation rows, never on the test rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.special import logsumexp

BANDWIDTHS = np.logspace(-3.0, 1.5, 10)
_BLOCK_BYTES = 64e6


class KernelLikelihood(NamedTuple):
    """log_likelihood : (n,) of the test rows in nats; bandwidth : the one chosen; validation : (n_bandwidths,) mean
    log-likelihood of the validation rows."""

    log_likelihood: np.ndarray
    bandwidth: float
    validation: np.ndarray


def log_density(generated: np.ndarray, rows: np.ndarray, bandwidths: np.ndarray) -> np.ndarray:
    """Return ln of the mean Gaussian kernel of `generated` (m, d) at `rows` (n, d), shape (n, len(bandwidths))."""
    m, d = generated.shape
    total = np.full((len(rows), len(bandwidths)), -np.inf)
    rate = 0.5 / bandwidths**2
    if d <= 8:
        _add_direct(generated, rows, rate, total)
    else:
        centre = rows.mean(axis=0)
        rows = rows - centre
        row_norms = np.einsum("nd,nd->n", rows, rows)
        step = max(1, int(_BLOCK_BYTES / (8 * max(len(rows), d))))
        for first in range(0, m, step):
            block = generated[first : first + step] - centre
            distance = rows @ (-2.0 * block.T)
            distance += row_norms[:, None]
            distance += np.einsum("md,md->m", block, block)
            np.maximum(distance, 0.0, out=distance)
            for j, value in enumerate(rate):
                total[:, j] = np.logaddexp(total[:, j], logsumexp(-value * distance, axis=1))
    return total - np.log(m) - d * np.log(bandwidths) - 0.5 * d * np.log(2.0 * np.pi)


@njit(cache=True)
def _add_direct(generated, rows, rate, total):
    """Write the logarithm of the sum of kernels into `total` (n, n_bandwidths); for few features."""
    m, d = generated.shape
    distance = np.empty(m)
    for i in range(rows.shape[0]):
        least = np.inf
        for j in range(m):
            value = 0.0
            for k in range(d):
                difference = rows[i, k] - generated[j, k]
                value += difference * difference
            distance[j] = value
            least = min(least, value)
        for b in range(len(rate)):
            cut = least + 40.0 / rate[b]  # exp(-40): nothing that a double keeps
            accumulated = 0.0
            for j in range(m):
                if distance[j] < cut:
                    accumulated += np.exp(-rate[b] * (distance[j] - least))
            total[i, b] = np.log(accumulated) - rate[b] * least


def kernel_log_likelihood(
    generated: np.ndarray, validation: np.ndarray, test: np.ndarray, bandwidths: np.ndarray = BANDWIDTHS
) -> KernelLikelihood:
    """Return the log-likelihood of `test` (n, d) under the kernel density of `generated` (m, d).

    The bandwidth is the one with the highest mean log-likelihood of `validation` (p, d).
    """
    scores = log_density(generated, validation, bandwidths).mean(axis=0)
    best = int(np.argmax(scores))
    values = log_density(generated, test, bandwidths[best : best + 1])[:, 0]
    return KernelLikelihood(values, float(bandwidths[best]), scores)
