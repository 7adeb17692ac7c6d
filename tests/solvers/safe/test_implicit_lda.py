"""ICLDA: its likelihood written out, its optimum against scipy, and what its constraint set says about it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize
from scipy.special import softmax

from pucli.estimators.safe.implicit_lda import ICLDA
from pucli.estimators.safe.mcpl import MCPLLDA
from pucli.solvers.safe.implicit_lda import _LabeledLikelihood, onto_simplex
from pucli.solvers.safe.models import SharedGaussian
from tests.helpers import examples
from tests.solvers.safe.problems import problem


def labeled_likelihood(X, y, U, Q, ridge=0.0):
    """L(Psi(Q) | labeled rows) of LDA, by numpy alone; noise of variance `ridge` is averaged over."""
    one_hot = np.eye(Q.shape[1])[y]
    rows, weight = np.vstack([X, U]), np.vstack([one_hot, Q])
    counts = weight.sum(axis=0)
    means = weight.T @ rows / counts[:, None]
    S = ridge * np.eye(X.shape[1])
    for k, mean in enumerate(means):
        S = S + (weight[:, k, None] * (rows - mean)).T @ (rows - mean) / len(rows)
    P = np.linalg.inv(S)
    away = X - means[y]
    inside = np.einsum("ij,jk,ik->i", away, P, away) + ridge * np.trace(P)
    return np.sum(np.log(counts[y] / len(rows)) - 0.5 * inside - 0.5 * np.linalg.slogdet(2.0 * np.pi * S)[1])


def parts(seed, **sizes):
    """Rows X with -1 in y, then the labeled rows, their labels, and the unlabeled rows."""
    X, y, _ = problem("lda", seed, **sizes)
    return X, y, X[y >= 0], y[y >= 0], X[y < 0]


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
@examples(20)
def test_gradient_and_objective_against_differences(seed, ridge):
    X, _, own, y, others = parts(seed, M=4)
    K, d = y.max() + 1, X.shape[1]
    model = SharedGaussian(X.T @ X + ridge * len(X) * np.eye(d), ridge * np.eye(d))
    Q = np.random.default_rng(seed).dirichlet(np.ones(K), 4)
    value, gradient, _ = _LabeledLikelihood(model, own, y, model.features(others)).at(Q)
    assert value == pytest.approx(labeled_likelihood(own, y, others, Q, ridge))

    def at(logits):
        return labeled_likelihood(own, y, others, softmax(logits.reshape(Q.shape), axis=1), ridge)

    by_logits = Q * (gradient - np.sum(Q * gradient, axis=1, keepdims=True))
    scale = 1.0 + np.abs(by_logits).max()
    np.testing.assert_allclose(approx_fprime(np.log(Q).ravel(), at, 1e-7) / scale, by_logits.ravel() / scale, atol=1e-4)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
@examples(20)
def test_best_labeled_likelihood_in_the_constraint_set(seed, ridge):
    """(4.25): at most the supervised likelihood, at least that of any labeling, and itself the fit to a labeling."""
    X, y, own, codes, others = parts(seed)
    fit, supervised = ICLDA(ridge=ridge).fit(X, y), MCPLLDA(ridge=ridge).fit(own, codes)
    scale = 1e-8 * (1.0 + abs(fit.objective_))
    assert fit.converged_ and fit.residual_ <= 1e-6 * len(own)
    assert fit.objective_ == pytest.approx(fit.log_likelihood(own, codes), abs=scale)
    assert fit.objective_ == pytest.approx(
        labeled_likelihood(own, codes, others, fit.soft_labels_, ridge), abs=1e2 * scale
    )
    assert fit.objective_ <= supervised.log_likelihood(own, codes) + scale
    rng = np.random.default_rng(seed)
    for sharpness in (0.1, 1.0, 10.0):
        for Q in rng.dirichlet(np.full(len(fit.classes_), sharpness), (20, len(others))):
            assert labeled_likelihood(own, codes, others, Q, ridge) <= fit.objective_ + 1e-6 * len(own)


def worst_gain(X, y, fit):
    """The gain over the supervised fit on all rows, in nats, for the labels that make it least."""
    own, codes, others = X[y >= 0], y[y >= 0], X[y < 0]
    supervised = MCPLLDA().fit(own, codes)
    gains = fit.log_joint(others) - supervised.log_joint(others)
    return fit.log_likelihood(own, codes) - supervised.log_likelihood(own, codes) + gains.min(axis=1).sum()


@given(st.integers(0, 10**6))
@examples(20)
def test_worst_labeling_attains_the_bound_and_mcpl_guarantees_at_least_as_much(seed):
    X, y, *_ = parts(seed)
    fit, safe = ICLDA().fit(X, y), MCPLLDA().fit(X, y)
    assert fit.improvement_ == pytest.approx(worst_gain(X, y, fit), rel=1e-7, abs=1e-7)
    assert fit.improvement_ <= safe.improvement_ + safe.gap_ + 1e-8


def test_some_labels_make_it_worse_than_supervised():
    """Unlabeled rows with a smaller spread: the best labeled likelihood is not the safe choice."""
    rng = np.random.default_rng(1)
    y = np.arange(30) % 2
    X = rng.standard_t(1.5, size=(30, 1)) + 2.0 * y[:, None]
    X[6:] *= 0.1
    y[6:] = -1
    fit = ICLDA().fit(X, y)
    assert fit.converged_ and fit.improvement_ < -1.0
    assert fit.improvement_ == pytest.approx(worst_gain(X, y, fit), rel=1e-7)
    assert "worse than supervised, for some hidden labels" in fit.guarantee_


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.slow
def test_optimum_against_scipy(seed):
    X, y, own, codes, others = parts(seed, K=3, M=5, D=2)
    starts = np.random.default_rng(seed).normal(size=(3, 15))

    def loss(logits):
        return -labeled_likelihood(own, codes, others, softmax(logits.reshape(5, 3), axis=1))

    best = max(-minimize(loss, start, method="L-BFGS-B", options={"maxiter": 500}).fun for start in starts)
    assert ICLDA().fit(X, y).objective_ == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_supervised_fit_in_the_constraint_set_is_found(ridge):
    """Copies of the labeled rows, with their labels, lead to the supervised fit, whose likelihood is the largest."""
    _, _, own, codes, _ = parts(3, K=3)
    fit = ICLDA(ridge=ridge, tol=1e-10).fit(np.vstack([own, own, own]), np.append(codes, np.full(2 * len(own), -1)))
    supervised = MCPLLDA(ridge=ridge).fit(own, codes)
    assert fit.objective_ == pytest.approx(supervised.log_likelihood(own, codes), abs=1e-6)
    np.testing.assert_allclose(fit.means_, supervised.means_, atol=1e-3)
    assert fit.improvement_ <= 0.0


def test_nearest_point_of_the_simplex():
    """Its defining inequality: no vertex lies on the outer side."""
    V = 3.0 * np.random.default_rng(0).normal(size=(200, 4))
    nearest = onto_simplex(V)
    assert nearest.min() >= 0.0
    np.testing.assert_allclose(nearest.sum(axis=1), 1.0)
    away = V - nearest
    assert np.all(away.max(axis=1) <= np.sum(away * nearest, axis=1) + 1e-12)
