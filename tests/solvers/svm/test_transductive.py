"""The transductive SVM: its loss, its stationary points, and what low density separation is for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize

from pucli.estimators.semi_supervised.low_density import LowDensitySeparation
from pucli.solvers.svm.transductive import STAGES, solve_transductive, transductive_loss
from tests.oracles import clarabel


def problem(seed, n=20, p=3, labeled=8):
    rng = np.random.default_rng(seed)
    y = np.zeros(n, dtype=int)
    y[:labeled] = np.where(np.arange(labeled) % 3 == 0, 1, -1)
    return rng.normal(size=(n, p)) + 0.5 * y[:, None], y


@pytest.mark.parametrize("extra", [0, 1])
def test_the_gradient_is_that_of_the_loss(extra):
    Z, y = problem(0, labeled=20 if extra else 8)
    point = np.random.default_rng(1).normal(size=3 + extra)

    def part(k):
        return lambda w: transductive_loss(w, Z, y.astype(float), 2.0, 0.7)[k]

    assert check_grad(part(0), part(1), point) < 1e-5


def test_without_unlabeled_rows_it_is_the_svm_of_clarabel():
    cp = pytest.importorskip("cvxpy", reason="cvxpy is not installed")
    Z, y = problem(2, labeled=20)
    w, b = cp.Variable(3), cp.Variable()
    loss = 0.5 * cp.sum_squares(w) + 3.0 * cp.sum_squares(cp.pos(1 - cp.multiply(y, Z @ w + b)))
    found = solve_transductive(Z, y, 3.0, 1e-9, 1000)
    assert found.objective == pytest.approx(clarabel(loss, accuracy=None), rel=1e-6)
    assert found.coef == pytest.approx(w.value, abs=1e-4)
    assert found.offset == pytest.approx(b.value, abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_each_stage_is_minimized_from_the_one_before(seed):
    Z, y = problem(seed)
    found = solve_transductive(Z, y, 1.0, 1e-8, 1000)
    assert found.converged
    rows, signs = Z - Z[y == 0].mean(axis=0), y.astype(float)
    point = np.zeros(3)
    for C_u in 2.0 ** np.arange(-STAGES, 1):
        point = minimize(
            lambda w, C_u=C_u: transductive_loss(w, rows, signs, 1.0, C_u)[0], point, method="Nelder-Mead",
            options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000, "initial_simplex": point + 1e-3 * np.eye(4, 3)},
        ).x  # fmt: skip
    assert found.objective == pytest.approx(transductive_loss(point, rows, signs, 1.0, 1.0)[0], rel=1e-6)
    assert found.coef == pytest.approx(point, abs=1e-4)


def test_the_mean_score_of_unlabeled_rows_is_that_of_the_labels():
    Z, y = problem(5)
    found = solve_transductive(Z, y, 10.0, 1e-8, 1000)
    scores = Z @ found.coef + found.offset
    assert scores[y == 0].mean() == pytest.approx(y[y != 0].mean())


def moons(n=200):
    from sklearn.datasets import make_moons

    X, truth = make_moons(n, noise=0.05, random_state=0)
    y = np.full(n, -1)
    y[[np.flatnonzero(truth == c)[0] for c in (0, 1)]] = [0, 1]
    return X, truth, y


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_two_moons_with_one_label_each(unit):
    X, truth, y = moons()
    model = LowDensitySeparation().fit(unit * X, y)
    assert np.mean(model.predict(unit * X) == truth) > 0.99
    new, known = moons(100)[:2]
    assert np.mean(model.predict(unit * (new + 0.02)) == known) > 0.97


def test_three_classes_and_names_of_labels():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 20, axis=0) + rng.normal(size=(60, 2))
    names = np.repeat(["a", "b", "c"], 20)
    model = LowDensitySeparation().fit(X, np.where(np.arange(60) % 20 < 2, names, "-1"))
    assert model.decision_function(X).shape == (60, 3)
    assert np.mean(model.predict(X) == names) > 0.95


def test_what_is_kept_of_earlier_fits_changes_nothing():
    X, _, y = moons()
    first = LowDensitySeparation(rho=4.0, sigma=1.0).fit(X, y).decision_function(X)
    LowDensitySeparation(rho=2.0, sigma=1.0).fit(X[::-1], y[::-1])
    again = LowDensitySeparation(rho=4.0, sigma=1.0).fit(X, y).decision_function(X)
    assert np.array_equal(first, again)


@pytest.mark.parametrize(
    "bad", [{"rho": 0.0}, {"rho": "median"}, {"C": -1.0}, {"sigma": "nearest"}, {"max_iter": 0}], ids=str
)
def test_bad_parameters_are_named(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        LowDensitySeparation(**bad).fit(np.eye(4), [0, 1, 0, -1])
