"""uPU and nnPU: gradients by finite differences, the sign rule, the convex losses against cvxpy."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from pucli.estimators.unbiased.upu import NNPU, UPU
from pucli.solvers.upu.network import (
    NetworkWeights,
    Risk,
    TrainingSettings,
    initial_network,
    network_gradient,
    network_score,
    train_network,
)
from tests import oracles
from tests.helpers import examples
from tests.oracles import clarabel


def problem(seed, n=60, m=3, n_p=20, shift=2.0):
    return oracles.problem(seed, n, m, n_p, shift=shift, moved=2 * n_p, scales=(1.0, 1.0))


def perturbed(network, part, place, step):
    parts = [p.copy() for p in network]
    parts[part][place] += step
    return NetworkWeights(*parts)


@given(seed=st.integers(0, 1000), prior=st.sampled_from([0.2, 0.5, 0.9]), non_negative=st.booleans())
@examples(20)
def test_the_gradient_is_that_of_the_objective_of_a_step(seed, prior, non_negative):
    X, y = problem(seed, n=20, n_p=6)
    labeled = y == 1
    rng = np.random.default_rng(seed)
    network = initial_network(3, 7, rng)
    network = NetworkWeights(network.W, rng.normal(size=7), 3 * network.v, rng.normal(size=1))
    gradient = network_gradient(network, X, labeled, Risk(prior, non_negative, gamma=0.7))
    negative = Risk(prior, False).partial(network_score(network, X), labeled).negative

    def descended_on(net):
        risks = Risk(prior, False).partial(network_score(net, X), labeled)
        return -0.7 * risks.negative if non_negative and negative < 0 else risks.objective

    for part in range(4):
        for _ in range(3):
            place = tuple(rng.integers(0, size) for size in network[part].shape)
            ends = [descended_on(perturbed(network, part, place, s)) for s in (1e-6, -1e-6)]
            assert abs((ends[0] - ends[1]) / 2e-6 - gradient[part][place]) < 1e-6


@pytest.mark.parametrize("non_negative", [True, False])
def test_blocks_of_rows_give_the_same_scores_and_gradient(monkeypatch, non_negative):
    rng = np.random.default_rng(3)
    X, labeled = rng.normal(size=(101, 3)), rng.random(101) < 0.4
    net = initial_network(3, 7, rng)
    scores = network_score(net, X)
    whole = network_gradient(net, X, labeled, Risk(0.3, non_negative))
    monkeypatch.setattr("pucli.solvers.upu.network.MANY_ROWS", 25)
    np.testing.assert_allclose(network_score(net, X), scores, rtol=1e-12)
    for part, expected in zip(network_gradient(net, X, labeled, Risk(0.3, non_negative)), whole, strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-9, atol=1e-14)


def test_sign_rule():
    """Below -beta nnPU steps on -gamma R_n alone, and such a step raises R_n; else on the whole risk, as uPU does."""
    labeled = np.r_[np.ones(5, bool), np.zeros(15, bool)]
    f = np.where(labeled, 3.0, -3.0)  # labeled rows far above all unlabeled ones: R_n < 0
    negative = Risk(0.5, False).partial(f, labeled).negative
    assert negative < 0
    slope = expit(f) * expit(-f)
    by_negative = np.where(labeled, -0.5 / 5, 1 / 15) * slope
    by_positive = np.where(labeled, -0.5 / 5, 0.0) * slope
    np.testing.assert_allclose(Risk(0.5, True, gamma=0.6).slopes(f, labeled), -0.6 * by_negative)
    np.testing.assert_allclose(Risk(0.5, False).slopes(f, labeled), by_positive + by_negative)
    np.testing.assert_allclose(Risk(0.5, True, beta=-negative + 1e-9).slopes(f, labeled), by_positive + by_negative)
    stepped = f - 0.1 * Risk(0.5, True).slopes(f, labeled)
    assert Risk(0.5, False).partial(stepped, labeled).negative > negative
    assert Risk(0.5, True).partial(f, labeled).objective == Risk(0.5, True).partial(f, labeled).positive


def test_risks_are_those_of_the_definition():
    _, y = problem(0)
    f = np.random.default_rng(0).normal(size=60)
    loss = lambda z: 1 / (1 + np.exp(z))  # noqa: E731
    p, u = f[y == 1], f[y == 0]
    risks = Risk(0.3, False).partial(f, y == 1)
    expected = 0.3 * loss(p).mean() + loss(-u).mean() - 0.3 * loss(-p).mean()
    assert np.isclose(risks.objective, expected)
    assert np.isclose(risks.positive, 0.3 * loss(p).mean())


def test_decay_enters_through_the_gradient():
    """One Adam step moves each parameter by the learning rate against the sign of gradient plus decay."""
    X, y = problem(1)
    start = initial_network(3, 4, np.random.default_rng(5))
    gradient = network_gradient(start, X, y == 1, Risk(0.4, False))
    training = TrainingSettings(hidden=4, epochs=1, learning_rate=1e-3, decay=0.5)
    fit = train_network(X, y == 1, Risk(0.4, False), np.random.default_rng(5), training)
    for before, after, g in zip(start, fit.network, gradient, strict=True):
        np.testing.assert_allclose(after - before, -1e-3 * np.sign(g + 0.5 * before), rtol=1e-3, atol=1e-9)


def test_mini_batches_see_every_row_and_results_depend_on_the_seed_alone():
    X, y = problem(2)
    a = NNPU(prior=0.4, batch_size=16, n_epochs=5, random_state=3).fit(X, y)
    b = NNPU(prior=0.4, batch_size=16, n_epochs=5, random_state=3).fit(X, y)
    c = NNPU(prior=0.4, batch_size=16, n_epochs=5, random_state=4).fit(X, y)
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    assert np.any(a.decision_function(X) != c.decision_function(X))


def test_nnpu_keeps_the_negative_risk_from_falling_and_upu_does_not():
    X, y = problem(3, n=120, m=20, n_p=30, shift=0.2)
    settings_ = {"prior": 0.5, "n_epochs": 600, "weight_decay": 0.0, "random_state": 0}
    unbiased, corrected = UPU(**settings_).fit(X, y), NNPU(**settings_).fit(X, y)
    assert unbiased.negative_risk_ < -0.1
    assert corrected.negative_risk_ > -0.02
    assert unbiased.objective_ < corrected.objective_


def test_both_networks_classify_well_separated_groups():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(2, 1, (200, 2)), rng.normal(-2, 1, (200, 2))]
    y = np.r_[np.ones(60), np.zeros(340)]
    truth = np.r_[np.ones(200), np.zeros(200)]
    for model in (UPU(prior=0.41, n_epochs=300, random_state=0), NNPU(prior=0.41, n_epochs=300, random_state=0)):
        assert np.mean(model.fit(X, y).predict(X) == truth) > 0.95


@given(
    seed=st.integers(0, 1000),
    loss=st.sampled_from(["squared", "double-hinge"]),
    lam=st.sampled_from([0.01, 1.0]),
    prior=st.sampled_from([0.2, 0.7]),
)
@examples(16)
def test_convex_losses_agree_with_clarabel(seed, loss, lam, prior):
    X, y = problem(seed)
    model = UPU(prior=prior, loss=loss, lam=lam, tol=1e-8).fit(X, y)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    p, u = X[y == 1] @ w + b, X[y == 0] @ w + b
    unlabeled = {"squared": cp.sum_squares(1 + u) / 4, "double-hinge": cp.sum(cp.maximum(u, 0.5 + 0.5 * u, 0))}
    risk = unlabeled[loss] / 40
    best = clarabel(risk - prior / 20 * cp.sum(p) + lam / 2 * cp.sum_squares(w))
    scale = max(abs(best), 0.1)
    assert abs(model.objective_ - best) <= 1e-6 * scale
    assert model.objective_ - best <= model.dual_gap_ + 1e-7 * scale


@pytest.mark.parametrize("loss", ["squared", "double-hinge"])
def test_rbf_features_score_new_rows_consistently(loss):
    X, y = problem(5)
    model = UPU(prior=0.4, loss=loss, kernel="rbf", width=1.5).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X[:7]), model.decision_function(X)[:7], atol=1e-8)


@pytest.mark.parametrize("prior", [0.0, 1.0, 2.0])
def test_a_prior_outside_the_unit_interval_is_refused(prior):
    for model in (UPU(prior=prior), NNPU(prior=prior)):
        with pytest.raises(ValueError, match="prior"):
            model.fit(*problem(0))
