"""SAR-EM: its steps against other minimizers, its likelihood, and what it recovers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks.common.sar_em import expected_class, logistic_regression, penalized_likelihood, sar_em


def biased_rows(n: int, seed: int, slope: float = 2.0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return X, labels, truth and propensities: the class depends on the first feature, the label on the second."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    truth = rng.random(n) < expit(6.0 * X[:, 0])
    e = expit(slope * X[:, 1])
    return X, truth & (rng.random(n) < e), truth, e


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ridge", [0.01, 1.0, 100.0])
def test_the_likelihood_never_falls(seed: int, ridge: float) -> None:
    X, labeled, _, _ = biased_rows(150, seed)
    found = sar_em(X, labeled, ridge=ridge, max_iter=60)
    assert np.diff(found.likelihoods).min() > -1e-9 * len(X)
    assert ((found.posterior >= 0) & (found.posterior <= 1)).all()
    assert (found.posterior[labeled] == 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_m_step_is_the_minimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z = np.hstack([rng.normal(size=(80, 3)), np.ones((80, 1))])
    targets, weights = rng.random(80), rng.random(80)
    found = logistic_regression(Z, targets, weights, 0.7, np.zeros(4))

    def value(c: np.ndarray) -> float:
        t = Z @ c
        return float(weights @ (np.logaddexp(0, t) - targets * t) + 0.35 * c[:3] @ c[:3] + 5e-7 * c[3] ** 2)

    other = minimize(value, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    assert value(found) <= other.fun + 1e-9
    assert np.abs(found - other.x).max() < 1e-4


def test_the_e_step_is_bayes_rule() -> None:
    rng = np.random.default_rng(0)
    Z = np.hstack([rng.normal(size=(4, 1)), np.ones((4, 1))])
    classifier, propensity = np.array([1.0, 0.3]), np.array([-0.5, 0.2])
    f, e = expit(Z @ classifier), expit(Z @ propensity)
    found = expected_class(Z, np.zeros(4, bool), classifier, propensity)
    truth, chosen = rng.random((200_000, 4)) < f, rng.random((200_000, 4)) < e
    unlabeled = ~(truth & chosen)
    assert np.abs((truth & unlabeled).sum(axis=0) / unlabeled.sum(axis=0) - found).max() < 0.01


def test_at_the_end_no_direction_increases_the_likelihood() -> None:
    X, labeled, _, _ = biased_rows(200, 0)
    found = sar_em(X, labeled, max_iter=3000, tol=1e-12)
    Z = np.hstack([X, np.ones((200, 1))])
    both = np.concatenate([found.classifier, found.propensity])

    def value(c: np.ndarray) -> float:
        return -penalized_likelihood(Z, labeled, c[:3], c[3:], 1.0)

    better = minimize(value, both, method="BFGS")
    assert better.fun >= value(both) - 1e-3


def test_propensities_are_recovered_where_class_and_label_depend_on_different_features() -> None:
    X, labeled, truth, e = biased_rows(3000, 1)
    found = sar_em(X, labeled, ridge=0.1, max_iter=300)
    Z = np.hstack([X, np.ones((len(X), 1))])
    estimated = expit(Z @ found.propensity)
    assert np.abs(estimated - e)[truth].mean() < 0.06
    assert abs(found.posterior.mean() - truth.mean()) < 0.03
