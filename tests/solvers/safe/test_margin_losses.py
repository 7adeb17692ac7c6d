"""Bertazzi 2018, section 2.3.4: the margin losses for which no classifier is safe and better than supervised.

With phi decreasing and convex, the minimax (2.5) is won by the supervised classifier, so that there is no method to
implement; for the quadratic loss it is CPLS. The ridge is |w|^2 / 2 over the two features, and Clarabel has the optima.
"""

import cvxpy as cp
import numpy as np
import pytest
from scipy.special import expit

from pucli.estimators.safe.least_squares import CPLS
from tests.oracles import clarabel

# Loss, its derivative, and the same for cvxpy.
LOSSES = {
    "logistic": (lambda a: np.logaddexp(0.0, -a), lambda a: -expit(-a), lambda a: cp.logistic(-a)),
    "exponential": (lambda a: np.exp(-a), lambda a: -np.exp(-a), lambda a: cp.exp(-a)),
    "squared hinge": (
        lambda a: np.maximum(0.0, 1.0 - a) ** 2,
        lambda a: -2.0 * np.maximum(0.0, 1.0 - a),
        lambda a: cp.square(cp.pos(1.0 - a)),
    ),
    "hinge": (lambda a: np.maximum(0.0, 1.0 - a), lambda a: -np.where(a < 1.0, 1.0, 0.0), lambda a: cp.pos(1.0 - a)),
    "quadratic": (lambda a: (1.0 - a) ** 2, lambda a: 2.0 * (a - 1.0), lambda a: cp.square(1.0 - a)),
}
DECREASING = ["logistic", "exponential", "squared hinge", "hinge"]


def rows(seed, n_labeled=12, n_unlabeled=6):
    """Labeled rows X, their labels -1 and 1, and unlabeled rows U."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n_labeled) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(n_labeled, 2)) + 0.7 * y[:, None], y, 1.5 * rng.normal(size=(n_unlabeled, 2))


def supervised(name, X, y):
    """The minimizer of sum_i phi(y_i x_i w) + |w|^2 / 2."""
    w = cp.Variable(X.shape[1])
    clarabel(cp.sum(LOSSES[name][2](cp.multiply(y, X @ w))) + 0.5 * cp.sum_squares(w[:2]))
    return w.value


def minimax(name, X, y, U):
    """The minimizer of (2.5) and its value, by Clarabel: max over q_j is the larger of two differences, per row."""
    at = LOSSES[name][2]
    w_sup, w = supervised(name, X, y), cp.Variable(X.shape[1])
    loss = LOSSES[name][0]
    own = cp.sum(at(cp.multiply(y, X @ w))) + 0.5 * cp.sum_squares(w[:2])
    base = np.sum(loss(y * (X @ w_sup))) + 0.5 * w_sup[:2] @ w_sup[:2]
    worst = cp.maximum(at(U @ w) - loss(U @ w_sup), at(-(U @ w)) - loss(-(U @ w_sup)))
    value = clarabel(own - base + cp.sum(worst))
    return w.value, w_sup, value


@pytest.mark.parametrize("name", DECREASING)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_printed_labels_lead_to_the_supervised_classifier(name, seed):
    """q_i = phi'(-u_i w) / (phi'(u_i w) + phi'(-u_i w)) is in [0, 1], and the semi-supervised minimizer is w_sup."""
    X, y, U = rows(seed)
    slope, at = LOSSES[name][1:]
    w_sup = supervised(name, X, y)
    margin = U @ w_sup
    q = slope(-margin) / (slope(margin) + slope(-margin))
    assert np.all((q >= 0.0) & (q <= 1.0))
    w = cp.Variable(2)
    own = cp.sum(at(cp.multiply(y, X @ w))) + 0.5 * cp.sum_squares(w[:2])
    clarabel(own + q @ at(U @ w) + (1.0 - q) @ at(-(U @ w)))
    np.testing.assert_allclose(w.value, w_sup, atol=1e-5)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # by less than the test allows
@pytest.mark.parametrize("name", DECREASING)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_minimax_of_a_decreasing_loss_is_the_supervised_classifier(name, seed):
    w, w_sup, value = minimax(name, *rows(seed))
    assert value == pytest.approx(0.0, abs=1e-7)
    np.testing.assert_allclose(w, w_sup, atol=1e-3)


def test_the_quadratic_loss_gains_where_rows_lie_outside_of_the_margin():
    """Theorem 3 of its [29]: |u_i w_sup| > 1 for all i; within the margin, q = (1 + u w) / 2 leads to w_sup."""
    X, y, U = rows(0)
    w_sup = supervised("quadratic", X, y)
    outside = U / np.abs(U @ w_sup)[:, None]
    assert minimax("quadratic", X, y, 1.5 * outside)[2] < -1e-3
    assert minimax("quadratic", X, y, 0.5 * outside)[2] == pytest.approx(0.0, abs=1e-7)


def test_the_minimax_of_the_quadratic_loss_is_cpls():
    """(1 - y f)^2 = 4 (code - (1 + f) / 2)^2 with codes 0 and 1; |slopes|^2 / 2 is 4 times the ridge of lam = 1/2."""
    X, y, U = rows(3)
    U = 3.0 * U
    w, w_sup, value = minimax(
        "quadratic", np.column_stack([X, np.ones(len(X))]), y, np.column_stack([U, np.ones(len(U))])
    )
    codes = np.append((1.0 + y) / 2.0, np.full(len(U), -1.0)).astype(int)
    fit = CPLS(lam=0.5).fit(np.vstack([X, U]), codes)
    assert value == pytest.approx(-4.0 * fit.improvement_, rel=1e-5) and value < -1e-3
    np.testing.assert_allclose(w, 2.0 * np.append(fit._coef, fit._intercept - 0.5), atol=1e-5)
    np.testing.assert_allclose(w_sup[:2], 2.0 * fit.supervised_coef_, atol=1e-5)
