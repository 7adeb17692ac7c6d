"""The PNU risk of Sakai et al. (2017) with the squared loss."""

import numpy as np
import pytest
from scipy.optimize import minimize

from pucli.estimators import NNPU, UPU
from pucli.solvers.upu.network import Risk
from pucli.solvers.upu.squared import _pnu_objective, _squared_upu_objective, solve_squared_pnu, solve_squared_upu


def rows(seed=0, n=200):
    random = np.random.default_rng(seed)
    positive = random.random(n) < 0.4
    X = random.normal(size=(n, 3)) + positive[:, None]
    y = np.zeros(n, dtype=int)
    y[np.flatnonzero(positive)[:30]], y[np.flatnonzero(~positive)[:25]] = 1, -1
    return X, y, positive


@pytest.mark.parametrize("eta", [-1.0, -0.4, 0.0, 0.3, 1.0])
def test_the_minimum_is_that_of_a_numerical_minimiser(eta):
    X, y, _ = rows()
    Z = np.column_stack([X, np.ones(len(X))])
    found = solve_squared_pnu(Z, y, 0.4, 0.1, eta)
    best = minimize(lambda w: _pnu_objective(w, Z, y, 0.4, 0.1, eta), np.zeros(4), tol=1e-12)
    assert found.converged and found.gap < 1e-9
    assert abs(found.objective - best.fun) < 1e-7
    np.testing.assert_allclose(found.coef, best.x, atol=1e-4)


def test_with_eta_one_it_is_the_pu_risk():
    X, y, _ = rows()
    Z = np.column_stack([X, np.ones(len(X))])
    w, kept = np.array([0.3, -1.0, 2.0, 0.5]), y != -1
    pu = _squared_upu_objective(w, Z[kept], y[kept] == 1, 0.4, 0.1)
    assert _pnu_objective(w, Z, y, 0.4, 0.1, 1.0) == pytest.approx(pu)
    plain = solve_squared_upu(Z[kept], y[kept] == 1, 0.4, 0.1)
    np.testing.assert_allclose(solve_squared_pnu(Z, y, 0.4, 0.1, 1.0).coef, plain.coef, atol=1e-9)


def test_every_eta_estimates_the_same_risk():
    """On many rows, with the true prior, the risk does not depend on eta: PN, PU and NU are unbiased."""
    X, y, positive = rows(1, 60_000)
    y[positive & (np.arange(len(y)) % 2 == 0)], y[~positive & (np.arange(len(y)) % 2 == 0)] = 1, -1
    Z, w = np.column_stack([X, np.ones(len(X))]), np.array([0.3, -0.2, 0.5, -0.1])
    share = positive[y == 0].mean()
    risks = [_pnu_objective(w, Z, y, share, 0.0, eta) for eta in (-1.0, 0.0, 1.0)]
    assert np.ptp(risks) < 0.01


def test_the_estimator():
    X, y, _ = rows()
    one = UPU(prior=0.3, loss="squared", neg_label=-1).fit(X, y)
    assert one.objective_ == pytest.approx(
        solve_squared_pnu(np.column_stack([X, np.ones(len(X))]), y, 0.3, one.lam_, 0.5).objective
    )
    two = np.where(y == 1, 1, 0)
    plain, named = (UPU(prior=0.3, loss="squared", neg_label=label).fit(X, two) for label in (None, -1))
    assert np.array_equal(plain.coef_, named.coef_)
    with pytest.raises(ValueError, match="loss='squared', not 'double-hinge'"):
        UPU(prior=0.3, loss="double-hinge", neg_label=-1).fit(X, y)


@pytest.mark.parametrize("eta", [0.0, 0.3, 1.0])
def test_the_gradient_of_the_network_risk_is_that_of_differences(eta):
    _, y, _ = rows()
    f = np.random.default_rng(0).normal(size=len(y))

    def risk(f):
        """R_p + (1 - eta) R_q + eta max(R_n, 0), from the definition."""
        loss = 1.0 / (1.0 + np.exp(f)), 1.0 / (1.0 + np.exp(-f))  # l(f), l(-f)
        r_n = loss[1][y == 0].mean() - 0.4 * loss[1][y == 1].mean()
        return 0.4 * loss[0][y == 1].mean() + (1 - eta) * 0.6 * loss[1][y == -1].mean() + eta * max(r_n, 0.0)

    assert Risk(0.4, True, eta=eta).partial(f, y).objective == pytest.approx(risk(f))
    steps = 1e-6 * np.eye(len(f))
    slopes = np.array([(risk(f + step) - risk(f - step)) / 2e-6 for step in steps])
    np.testing.assert_allclose(Risk(0.4, True, eta=eta).slopes(f, y), slopes, atol=1e-8)
    # below zero, the step raises R_n and nothing else
    f = np.where(y == 1, 5.0, -5.0)
    raising = Risk(0.4, True, gamma=0.5, eta=0.3).slopes(f, y)
    assert np.all(raising[y == -1] == 0.0) and np.all(raising[y == 0] < 0.0) and np.all(raising[y == 1] > 0.0)


def test_the_non_negative_estimator():
    X, y, _ = rows()
    options = {"prior": 0.3, "random_state": 0, "n_epochs": 300}
    model = NNPU(neg_label=-1, **options).fit(X, y)
    assert model.objective_ == pytest.approx(Risk(0.3, True, eta=0.5).partial(model.decision_function(X), y).objective)
    assert model.negative_risk_ == pytest.approx(Risk(0.3, True).partial(model.decision_function(X), y).negative)
    other = NNPU(neg_label=-1, eta=1.0, **options).fit(X, y).decision_function(X)
    assert model.objective_ < Risk(0.3, True, eta=0.5).partial(other, y).objective
    two = np.where(y == 1, 1, 0)
    plain, named = (NNPU(neg_label=label, eta=eta, **options).fit(X, two) for label, eta in ((None, 0.5), (-1, 0.1)))
    assert np.array_equal(plain.decision_function(X), named.decision_function(X))
