"""MCPL with an unlabeled row far from all others: what it claims holds in exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.estimators.safe.mcpl import MCPLLDA, MCPLQDA

mpmath = pytest.importorskip("mpmath", reason="arithmetic of 50 digits needs mpmath")


def exact_improvement(fit, supervised, X, y):
    """The least gain over supervised for any labels of the unlabeled rows, from priors, means and covariances alone."""
    gain = []
    with mpmath.workdps(50):
        for model in (fit, supervised):
            covariances = np.broadcast_to(model.covariance_, (len(model.priors_), X.shape[1], X.shape[1]))
            joint = []
            for prior, mean, S in zip(model.priors_, model.means_, covariances, strict=True):
                S = mpmath.matrix(S.tolist())
                P, constant = S**-1, mpmath.log(mpmath.mpf(prior)) - mpmath.log(mpmath.det(S)) / 2
                centered = [mpmath.matrix(x.tolist()) - mpmath.matrix(mean.tolist()) for x in X]
                joint.append([constant - (d.T * P * d)[0] / 2 for d in centered])
            gain.append(np.array(joint, dtype=object).T)
        gain = gain[0] - gain[1]
        return sum(gain[k, c] if (c := label) >= 0 else min(gain[k]) for k, label in enumerate(y))


@pytest.mark.filterwarnings("ignore::pucli.core.errors.DegenerateModelWarning")
@pytest.mark.slow
@pytest.mark.parametrize("far", [1e4, 1e5, 3e5])
@pytest.mark.parametrize("Estimator", [MCPLLDA, MCPLQDA])
def test_improvement_is_a_bound_in_exact_arithmetic_with_a_far_row(Estimator, far):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        truth = np.concatenate([np.arange(30) % 2, rng.integers(0, 2, 40)])
        X = rng.normal(size=(70, 2 + seed % 2)) + 2.0 * rng.normal(size=(2, 2 + seed % 2))[truth]
        X[-1] = far * rng.normal(size=X.shape[1]) / np.sqrt(2.0)
        y = np.where(np.arange(70) < 30, truth, -1)
        fit, supervised = Estimator().fit(X, y), Estimator().fit(X[:30], y[:30])
        assert fit.converged_
        exact = exact_improvement(fit, supervised, X, y)
        assert 0.0 < fit.improvement_ <= exact
        assert fit.improvement_ >= exact * (1.0 - 1e-6)
