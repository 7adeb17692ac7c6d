"""DRESS I and II: weights and fit against other code, and the theorem on their variance by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import multivariate_normal
from sklearn.linear_model import LogisticRegression

from pucli.estimators.safe.dress import DRESS
from pucli.solvers.safe.dress import density_ratio, weighted_logistic
from tests.helpers import examples
from tests.solvers.safe.problems import problem


@pytest.mark.parametrize("numerator", ["all", "unlabeled"])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_weights_written_out(numerator, ridge):
    X, y, _ = problem("lda", 5, K=2, M=40, D=2)
    own = X[y >= 0]
    fit = DRESS(numerator, rho=0.7, nu=-0.4, ridge=ridge).fit(X, y)

    def density(rows):
        law = multivariate_normal(rows.mean(axis=0), np.cov(rows.T, bias=True) + ridge * np.eye(2))
        return law.pdf(own), law.pdf(rows.mean(axis=0))

    g, greatest = density(own)
    r = 0.7 * len(own) ** -0.4 * greatest
    np.testing.assert_allclose(fit.weights_, (density(X if numerator == "all" else X[y < 0])[0] + r) / (g + r))


@given(st.integers(0, 10**6), st.sampled_from([1e-3, 1.0, 100.0]))
@examples(20)
def test_minimum_against_scikit_learn(seed, lam):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3)) * [1.0, 10.0, 0.1] + 5.0
    y = np.where(rng.random(30) < expit(X[:, 0] - 5.0), 1.0, -1.0)
    y[:2] = -1.0, 1.0
    weight = rng.exponential(size=30)
    fit = weighted_logistic(X, y, weight, lam=lam, tol=1e-12)

    def objective(w):
        return weight @ np.logaddexp(0.0, -y * (X @ w[:-1] + w[-1])) + 0.5 * lam * w[:-1] @ w[:-1]

    other = LogisticRegression(C=1.0 / lam, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    other.fit(X, y, sample_weight=weight)
    assert fit.converged and 0.0 <= fit.gap <= 1e-12 * weight.sum()
    assert objective(fit.coef) == pytest.approx(fit.objective, rel=1e-12)
    assert objective(np.append(other.coef_, other.intercept_)) >= fit.objective - fit.gap - 1e-12
    np.testing.assert_allclose(fit.coef[:-1], other.coef_[0], rtol=1e-4, atol=1e-4)


@given(st.integers(0, 10**6), st.integers(0, 4))
@examples(20)
def test_gap_bounds_the_distance_from_the_minimum(seed, steps):
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(20, 2)), np.where(np.arange(20) % 3 == 0, 1.0, -1.0), rng.exponential(size=20)
    early = weighted_logistic(X, y, weight, lam=0.1, max_iter=steps)
    best = weighted_logistic(X, y, weight, lam=0.1, tol=1e-13)
    assert early.objective - best.objective <= early.gap + 1e-10


def test_equal_densities_give_the_supervised_fit():
    X, y, _ = problem("lda", 5, K=2, M=3, D=2)
    own, codes = X[y >= 0], y[y >= 0]
    supervised = DRESS().fit(own, codes)
    for numerator in ("all", "unlabeled"):
        copied = DRESS(numerator).fit(np.vstack([own, own]), np.append(codes, np.full(len(own), -1)))
        np.testing.assert_allclose(copied.weights_, 1.0)
        np.testing.assert_allclose(copied._coef, supervised._coef, rtol=1e-6)
    assert supervised.improvement_ == 0.0 and np.isnan(copied.improvement_)


def squared_errors(log_odds, M, n_repeats=150, N=200):
    """Squared distance from the best coefficients, (n_repeats, 3), of supervised, DRESS I and DRESS II, in order."""
    grid = np.linspace(-8.0, 8.0, 2001)
    share, mass = expit(log_odds(grid)), np.exp(-(grid**2) / 2.0)
    both, signs = np.append(grid, grid)[:, None], np.repeat([1.0, -1.0], len(grid))
    best = weighted_logistic(both, signs, np.append(mass * share, mass * (1.0 - share)), lam=1e-9).coef
    rng, errors = np.random.default_rng(0), np.empty((n_repeats, 3))
    for repeat in range(n_repeats):
        X = rng.normal(size=(N + M, 1))
        own = X[:N]
        y = np.where(rng.random(N) < expit(log_odds(own[:, 0])), 1.0, -1.0)
        weights = [np.ones(N), density_ratio(own, X[N:], rho=0.0), density_ratio(own, X, rho=0.0)]
        for k, weight in enumerate(weights):
            coef = weighted_logistic(own, y, weight, lam=1e-6, tol=1e-7).coef
            errors[repeat, k] = np.sum((coef - best) ** 2)
    return errors


def surely_positive(values):
    """Whether the mean is three standard errors above 0."""
    return values.mean() > 3.0 * values.std() / np.sqrt(len(values))


def curved(x):
    """Log odds that are no line: the logistic model is wrong."""
    return 2.0 * x**2 - 2.0 + x


@pytest.mark.slow
def test_a_wrong_model_gains_from_the_weights():
    """Section 2.3.2, where g is right and M > N."""
    supervised, first, second = squared_errors(curved, M=1000).T
    assert surely_positive(supervised - first) and surely_positive(supervised - second)


@pytest.mark.slow
def test_a_wrong_model_gains_more_from_all_rows_than_from_the_unlabeled_ones():
    """The fewer unlabeled rows, the more; with M near N, DRESS I gains next to nothing."""
    supervised, first, second = squared_errors(curved, M=220).T
    assert surely_positive(first - second) and surely_positive(supervised - second)


@pytest.mark.slow
def test_a_right_model_neither_gains_nor_loses():
    supervised, first, second = squared_errors(lambda x: x - 0.5, M=1000).mean(axis=0)
    assert first == pytest.approx(supervised, rel=0.05) and second == pytest.approx(supervised, rel=0.05)


@pytest.mark.parametrize(
    ("estimator", "X", "message"),
    [
        (
            DRESS(),
            [[0, 1], [1, 2], [2, 3], [3, 4], [5, 1]],
            r"4 rows \(labeled\) of 2 features is singular: set ridge",
        ),
        (DRESS("unlabeled"), [[0, 1], [1, 0], [2, 3], [3, 4], [5, 1]], r"1 rows \(unlabeled\) .* is singular"),
    ],
)
def test_bad_input(estimator, X, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(np.asarray(X, dtype=float), [0, 1, 0, 1, -1])


def test_a_weight_that_overflows_names_the_remedy():
    """A labeled row far from the others, where unlabeled rows lie: its weight is exp(N / 2)."""
    X = np.concatenate([np.random.default_rng(0).normal(size=3000), [1e6, 1e6, -1e6, 0.0]])[:, None]
    y = np.append(np.arange(3001) % 2, [-1, -1, -1])
    with pytest.raises(ValueError, match="overflows at a labeled row: set rho > 0"):
        DRESS("unlabeled", rho=0.0).fit(X, y)
    assert DRESS("unlabeled").fit(X, y).converged_


def test_features_in_very_different_units_reach_the_tolerance():
    X, y, _ = problem("lda", 5, K=2, M=40, D=2)
    fit = DRESS(rho=0.0).fit(X * [1e-6, 1e6], y)
    assert fit.converged_ and 0.0 <= fit.dual_gap_ <= 1e-9 * fit.weights_.sum()
    np.testing.assert_allclose(fit.weights_, DRESS(rho=0.0).fit(X, y).weights_, rtol=1e-8)
