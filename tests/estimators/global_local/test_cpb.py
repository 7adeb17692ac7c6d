"""Theorems 3 and 4 of Wang 2024, section 5.8: the risk of CPB-GLPUAL nears the Bayes risk as the sample grows."""

import numpy as np
import pytest

from pucli.estimators import CPBGLPUAL

SIZES = (100, 400, 1600)
NOISE = 0.1


def share_of_positives(X):
    """Four squares of the unit square in turn, with labels flipped at a rate of `NOISE`."""
    return np.where((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5), 1 - NOISE, NOISE)


def gap(n, seed, lam):
    """Return the 0-1 risk of a model on n rows, half of them labeled positives, less the Bayes risk."""
    rng = np.random.default_rng(seed)
    pool, unlabeled, test = (rng.uniform(size=(k, 2)) for k in (4 * n, n // 2, 4000))
    positives = pool[rng.uniform(size=len(pool)) < share_of_positives(pool)][: n // 2]
    s = np.repeat([1, 0], [n // 2, n // 2])
    model = CPBGLPUAL(prior=0.5, lam=lam, width=0.2).fit(np.vstack([positives, unlabeled]), s)
    p = share_of_positives(test)
    return float(np.mean(np.where(model.predict(test) == 1, 1 - p, p) - np.minimum(p, 1 - p)))


@pytest.mark.slow  # three sizes, several draws of each
def test_the_gap_to_the_bayes_risk_falls_where_the_weight_of_the_losses_grows_as_the_theorem_asks():
    """c' = 2 c / lam is of order n^(1/2); the theorem says that the gap falls below any bound with a chance near 1."""
    gaps = np.array([[gap(n, seed, n**-0.5) for seed in range(6)] for n in SIZES])
    means = gaps.mean(axis=1)
    assert means[0] > means[1] > means[2]
    assert means[0] > 0.1 and means[2] < 0.06
    assert (
        list(np.mean(gaps <= 0.08, axis=1)) == sorted(np.mean(gaps <= 0.08, axis=1)) and np.mean(gaps[2] <= 0.08) == 1
    )
