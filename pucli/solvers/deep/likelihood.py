"""Log-likelihood of a sampler by kernel density estimation (Sansone 2018, section 4.4.1).

A Gaussian kernel density of generated rows is evaluated on test rows. Its bandwidth is one of ten between 1e-3 and
10^1.5, equally spaced in logarithm. The thesis does not state on which rows the bandwidth was chosen; here it is chosen
on validation rows, never on the test rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.special import logsumexp

from pucli.core.arrays import Floats

BANDWIDTHS = np.logspace(-3.0, 1.5, 10)
_BLOCK_BYTES = 64e6


def log_density(generated: Floats, rows: Floats, bandwidths: Floats) -> Floats:
    """Return the log-density (n, b) of a Gaussian kernel estimate at each row, for each bandwidth."""
    m, d = generated.shape
    total = np.full((len(rows), len(bandwidths)), -np.inf)
    rate = 0.5 / bandwidths**2
    if d <= 8:
        _add_direct(generated, rows, rate, total)
    else:
        center = rows.mean(axis=0)
        rows = rows - center
        row_norms = np.einsum("nd,nd->n", rows, rows)
        step = max(1, int(_BLOCK_BYTES / (8 * max(len(rows), d))))
        for first in range(0, m, step):
            block = generated[first : first + step] - center
            distance = rows @ (-2.0 * block.T)
            distance += row_norms[:, None]
            distance += np.einsum("md,md->m", block, block)
            np.maximum(distance, 0.0, out=distance)
            for j, value in enumerate(rate):
                total[:, j] = np.logaddexp(total[:, j], logsumexp(-value * distance, axis=1))
    density: Floats = total - np.log(m) - d * np.log(bandwidths) - 0.5 * d * np.log(2.0 * np.pi)
    return density


@njit(cache=True)
def _add_direct(generated: Floats, rows: Floats, rate: Floats, total: Floats) -> None:
    """Write the logarithm of the sum of kernels into `total` (n, n_bandwidths). Fast for few features."""
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
            cut = least + 40.0 / rate[b]  # exp(-40) is below the rounding of the sum
            accumulated = 0.0
            for j in range(m):
                if distance[j] < cut:
                    accumulated += np.exp(-rate[b] * (distance[j] - least))
            total[i, b] = np.log(accumulated) - rate[b] * least


def kernel_log_likelihood(generated: Floats, validation: Floats, test: Floats) -> tuple[Floats, float]:
    """Return the log-likelihood of test rows (n,) under the kernel density of generated rows, and its bandwidth."""
    if len(generated) == 0:
        raise ValueError("the density of a model needs at least one generated row; raise n_samples.")
    best = int(np.argmax(log_density(generated, validation, BANDWIDTHS).mean(axis=0)))
    return log_density(generated, test, BANDWIDTHS[best : best + 1])[:, 0], float(BANDWIDTHS[best])
