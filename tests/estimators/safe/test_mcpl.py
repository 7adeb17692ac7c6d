"""MCPL, EM and self-training as estimators: their fits, scikit-learn's conventions, and bad input."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_classifiers_predictions

from pucli.estimators.safe.implicit_lda import ICLDA
from pucli.estimators.safe.lda_baselines import EMLDA, SelfTrainingLDA
from pucli.estimators.safe.mcpl import MCPL, MCPLLDA, MCPLQDA
from tests.solvers.safe.problems import problem


def test_em_rises_and_ends_at_a_fixed_point():
    X, y, _ = problem("lda", 2, K=3, M=60, D=2)
    values = []
    for n in (1, 2, 5, 20):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            values.append(EMLDA(max_iter=n).fit(X, y).objective_)
    fit = EMLDA(tol=1e-12, max_iter=5000).fit(X, y)
    assert np.all(np.diff([*values, fit.objective_]) >= -1e-9)
    posterior = fit.predict_proba(X[y < 0])
    weight = np.vstack([np.eye(3)[y[y >= 0]], posterior])
    np.testing.assert_allclose(fit.means_, weight.T @ X / weight.sum(axis=0)[:, None], atol=1e-4)
    assert np.isnan(fit.improvement_) and "no guarantee" in fit.guarantee_


def test_self_training_ends_in_the_supervised_fit_of_its_labels():
    X, y, _ = problem("lda", 4, K=3, M=60, D=2)
    fit = SelfTrainingLDA(threshold=0.9).fit(X, y)
    taken = fit.pseudo_codes_ >= 0
    supervised = MCPLLDA().fit(X[taken], fit.pseudo_codes_[taken])
    np.testing.assert_allclose(fit.predict_proba(X), supervised.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(fit.pseudo_codes_[y >= 0], y[y >= 0])
    assert fit.own_loss(X[taken], fit.pseudo_codes_[taken]) == pytest.approx(
        -supervised.log_likelihood(X[taken], fit.pseudo_codes_[taken])
    )


@pytest.mark.parametrize(
    "estimator",
    [
        MCPL(),
        MCPLLDA(),
        MCPLQDA(),
        ICLDA(),
        EMLDA(),
        SelfTrainingLDA(),
        MCPL("gaussian-diagonal"),
        MCPL("gaussian-fixed"),
    ],
)
def test_scikit_learn_conventions(estimator):
    X, _, y = problem("lda", 1, K=3, D=2)
    check_classifiers_predictions(X, np.take(["one", "two", "three"], y), "name", estimator)


@pytest.mark.parametrize(
    ("estimator", "X", "y", "message"),
    [
        (MCPLLDA(), [[0, 1], [1, 2], [2, 3], [5, 1]], [0, 0, 1, -1], "set ridge > 0"),
        (MCPLQDA(), [[0, 1], [1, 5], [2, 3], [5, 1], [0, 0]], ["a", "a", "b", "b", "-1"], "class 'a' is singular on 2"),
        (MCPL("gaussian-diagonal"), [[0], [1], [3], [5]], [0, 0, 1, -1], "class 1 is singular on 1 labeled rows"),
        (MCPL("bernoulli"), [[0], [1], [3], [1]], [0, 0, 1, -1], "0 or 1"),
        (MCPL("bernoulli"), [[0], [1], [1], [1]], [0, 0, 1, -1], "pseudo_rows > 0"),
        (MCPL("poisson"), [[0.5], [1], [3], [1]], [0, 0, 1, -1], "counts"),
        (MCPL("poisson"), [[0], [0], [3], [1]], [0, 0, 1, -1], "pseudo_rows > 0"),
        (MCPL("gaussian-fixed", covariance=np.eye(3)), [[0], [1], [3], [5]], [0, 0, 1, -1], "shape"),
        (MCPL("gamma"), [[0], [1], [3], [5]], [0, 0, 1, -1], "family"),
        (MCPL(), [[0], [1], [3], [5]], [-1, -1, -1, -1], "unlabeled"),
        (MCPL(), [[0], [1], [3], [5]], [2, 2, -1, -1], "only one class"),
        (MCPLQDA(ridge=1.0), np.eye(90), [0, 1, -1] * 30, "too many"),
    ],
)  # fmt: skip
def test_bad_input(estimator, X, y, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(np.asarray(X, dtype=float), y)


@pytest.mark.parametrize(
    ("covariance", "message"),
    [
        (-np.eye(2), "positive definite.*eigenvalue -1"),
        (np.zeros((2, 2)), "positive definite.*eigenvalue 0"),
        (np.full((2, 2), np.nan), "NaN"),
        ([[1.0, 0.9], [0.0, 1.0]], "not symmetric"),
        ([np.eye(2), -np.eye(2)], "positive definite"),
    ],
)
def test_a_given_matrix_that_is_not_a_covariance(covariance, message):
    X, y, _ = problem("fixed", 1, K=2, D=2)
    with pytest.raises(ValueError, match=message):
        MCPL("gaussian-fixed", covariance=covariance).fit(X, y)


def test_a_given_covariance_may_be_small():
    X, y, _ = problem("fixed", 1, K=2, D=2)
    S = np.array([[2.0, 0.5], [0.5, 1.0]])
    first = MCPL("gaussian-fixed", covariance=S).fit(X, y)
    second = MCPL("gaussian-fixed", covariance=1e-20 * S).fit(1e-10 * X, y)
    assert second.improvement_ == pytest.approx(first.improvement_, abs=1e-4)


def test_labels_of_another_length():
    X, _, y = problem("lda", 1, K=2, D=2)
    fit = MCPLLDA().fit(X, y)
    for wrong in (y[:3], y[:, None]):
        with pytest.raises(ValueError, match=rf"X has {len(X)} rows, but y has shape \({len(wrong)},"):
            fit.log_likelihood(X, wrong)
