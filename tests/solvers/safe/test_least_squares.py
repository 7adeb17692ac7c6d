"""Least squares classifiers: the printed programs through cvxpy, the guarantee for every labeling, bad input."""

import tracemalloc
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_classifiers_predictions

from pucli.estimators.safe.least_squares import CPLS, ICLS, LeastSquares
from pucli.solvers.safe.least_squares import (
    _box_least_squares,
    guaranteed_improvement,
    least_squares,
    safe_least_squares,
)
from tests.helpers import examples
from tests.oracles import clarabel

seeds = st.integers(0, 10**6)


def problem(seed, n_labeled=None, n_unlabeled=None, n_features=None):
    """Labeled rows of both classes, unlabeled rows that may be elsewhere and on another scale."""
    rng = np.random.default_rng(seed)
    N = n_labeled or int(rng.integers(4, 30))
    M = n_unlabeled or int(rng.integers(1, 60))
    D = n_features or int(rng.integers(1, 8))
    y = rng.integers(0, 2, N).astype(float)
    y[:2] = [0, 1]
    X = rng.normal(size=(N, D)) + rng.uniform(0, 3) * y[:, None]
    U = rng.uniform(0.3, 3) * rng.normal(size=(M, D)) + rng.normal(size=D)
    return X, y, U


def with_ones(X):
    return np.hstack([X, np.ones((len(X), 1))])


def risks(rows, labelings, w):
    """Risk of w for each labeling, a row of `labelings`."""
    return np.sum((labelings - rows @ w) ** 2, axis=1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lam", [0.0, 0.7])
def test_cpls_is_the_projection_and_the_printed_quadratic_program(seed, lam):
    X, y, U = problem(seed, n_labeled=15, n_features=3)
    fit = safe_least_squares(X, y, U, lam=lam, tol=1e-12)
    rows, D = with_ones(np.vstack([X, U])), X.shape[1]
    ridge = lam * np.diag([1.0] * D + [0.0])
    w_sup = np.linalg.solve(with_ones(X).T @ with_ones(X) + ridge, with_ones(X).T @ y)
    inverse = np.linalg.inv(rows.T @ rows + ridge)
    np.testing.assert_allclose(fit.coef_supervised, w_sup, rtol=1e-8, atol=1e-9)

    v = cp.Variable(len(rows))
    constraints = [v[: len(y)] == y, v >= 0, v <= 1]
    factor = np.linalg.cholesky(inverse)
    printed = clarabel(cp.sum_squares(factor.T @ (rows.T @ v)) - 2 * (rows @ w_sup) @ v, constraints, accuracy=None)
    np.testing.assert_allclose(fit.coef, inverse @ rows.T @ v.value, atol=2e-5)
    constant = w_sup @ (rows.T @ rows + ridge) @ w_sup
    assert -fit.objective == pytest.approx(printed + constant, abs=1e-5)

    w = cp.Variable(D + 1)
    metric = np.linalg.cholesky(rows.T @ rows + ridge).T
    clarabel(cp.sum_squares(metric @ (w - w_sup)), [*constraints, w == inverse @ (rows.T @ v)], accuracy=None)
    np.testing.assert_allclose(fit.coef, w.value, atol=2e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lam", [0.0, 0.7])
def test_icls_minimizes_the_labeled_risk_over_the_constraint_set(seed, lam):
    X, y, U = problem(seed, n_labeled=15, n_features=3)
    fit = safe_least_squares(X, y, U, metric="labeled", lam=lam, tol=1e-12)
    rows = with_ones(np.vstack([X, U]))
    ridge = lam * np.diag([1.0] * X.shape[1] + [0.0])
    v = cp.Variable(len(rows))
    w = np.linalg.solve(rows.T @ rows + ridge, rows.T) @ v
    risk = cp.sum_squares(y - with_ones(X) @ w) + lam * cp.sum_squares(w[:-1])
    best = clarabel(risk, [v[: len(y)] == y, v >= 0, v <= 1], accuracy=None)
    assert fit.objective == pytest.approx(best, abs=1e-6)
    assert fit.objective >= best - 1e-6 and fit.gap <= 1e-12 * len(rows)
    labels = np.concatenate([y, fit.soft_labels])
    np.testing.assert_allclose(fit.coef, np.linalg.solve(rows.T @ rows + ridge, rows.T @ labels), atol=1e-8)


@given(seeds, st.booleans(), st.sampled_from([0.0, 0.5]))
@examples(60)
def test_never_worse_than_supervised_for_any_labeling(seed, intercept, lam):
    """Theorem 3.6, and the bound is the worst case: attained by the labels that favor the supervised fit."""
    X, y, U = problem(seed)
    fit = safe_least_squares(X, y, U, lam=lam, fit_intercept=intercept)
    rng = np.random.default_rng(seed)
    labelings = np.hstack([np.tile(y, (1000, 1)), rng.integers(0, 2, (1000, len(U)))])
    closer_to_supervised = U @ (fit.coef_supervised - fit.coef)[:-1] + (fit.coef_supervised - fit.coef)[-1] > 0
    labelings[0, len(y) :] = closer_to_supervised
    rows = with_ones(np.vstack([X, U]))
    penalty = lam * (np.sum(fit.coef_supervised[:-1] ** 2) - np.sum(fit.coef[:-1] ** 2))
    gains = risks(rows, labelings, fit.coef_supervised) - risks(rows, labelings, fit.coef) + penalty
    slack = 1e-9 * (1.0 + risks(rows, labelings, fit.coef_supervised).max())
    assert fit.improvement >= 0.0
    assert gains.min() >= fit.improvement - slack
    assert gains[0] == pytest.approx(fit.improvement, abs=slack)
    assert fit.converged and -fit.objective - fit.improvement <= fit.gap + slack


@given(seeds)
@examples(80)
def test_strict_improvement_in_one_dimension(seed):
    """Theorem 3.8: without intercept the supervised slope stays if and only if some labeling retrieves it."""
    X, y, U = problem(seed, n_features=1)
    fit = safe_least_squares(X, y, U, fit_intercept=False, tol=1e-14)
    slope, u = fit.coef_supervised[0], U[:, 0]
    reach = u[u > 0].sum() if slope > 0 else u[u < 0].sum()
    share = slope * np.sum(u**2) / reach if reach else np.inf
    if share > 1.0 + 1e-6:
        assert fit.improvement > 0.0
        assert abs(fit.coef[0]) < abs(slope)
    elif share < 1.0 - 1e-6:
        assert fit.improvement <= 1e-10 * np.sum((slope * u) ** 2) + 1e-12
        assert fit.coef[0] == pytest.approx(slope, rel=1e-5)


@given(seeds)
@examples(40)
def test_in_one_dimension_cpls_is_the_minimax_of_its_definition(seed):
    """(3.15) without intercept: the least of the worst contrasts over slopes, and w_sup cut to the slopes (3.16)."""
    X, y, U = problem(seed, n_features=1)
    fit = safe_least_squares(X, y, U, fit_intercept=False, tol=1e-14)
    x, u = X[:, 0], U[:, 0]
    w_sup = (x @ y) / (x @ x)

    def worst(w):
        certain = np.sum((y - w * x) ** 2 - (y - w_sup * x) ** 2)
        either = [(label - w * u) ** 2 - (label - w_sup * u) ** 2 for label in (0, 1)]
        return certain + np.sum(np.maximum(*either))  # linear in each label, so that 0 or 1 is the worst

    reach = abs(w_sup) + np.sum(np.abs(u)) / np.sum(u**2)
    least = minimize_scalar(worst, bounds=(-reach, reach), method="bounded", options={"xatol": 1e-12, "maxiter": 5000})
    scale = 1.0 + worst(reach)
    assert worst(fit.coef[0]) <= least.fun + 1e-9 * scale
    assert fit.objective == pytest.approx(worst(fit.coef[0]), abs=1e-9 * scale)
    slopes = (x @ y + np.array([u[u < 0].sum(), u[u > 0].sum()])) / (x @ x + u @ u)
    assert fit.coef[0] == pytest.approx(np.clip(w_sup, *slopes), abs=1e-6 * reach)


def test_example_3_7_a_point_inside_the_margin_changes_nothing():
    X, y = np.array([[-1.0], [1.0]]), np.array([-1, 1])
    inside = CPLS(fit_intercept=False).fit(np.vstack([X, [[0.5]]]), ["a", "b", "-1"])
    outside = CPLS(fit_intercept=False).fit(np.vstack([X, [[8.0]]]), ["a", "b", "-1"])
    supervised = LeastSquares(fit_intercept=False).fit(X, y * 3)
    assert inside._coef == pytest.approx(supervised._coef, abs=1e-6)
    assert outside.improvement_ > 0 and outside._coef[0] < supervised._coef[0]


@given(seeds)
@examples(40)
def test_box_least_squares_against_an_active_set_method(seed):
    rng = np.random.default_rng(seed)
    M, r = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    B = rng.normal(size=(M, r)) * 10.0 ** rng.uniform(-2, 2)
    if rng.random() < 0.3:
        B[:, -1] = B[:, 0]
    c = rng.normal(size=r) * 10.0 ** rng.uniform(-2, 2)
    fit = _box_least_squares(B, c, np.full(M, 0.5), tol=1e-10)
    reference = lsq_linear(B.T, c, (0, 1), method="bvls", tol=1e-14)
    value = 0.5 * np.sum((B.T @ fit.y - c) ** 2)
    assert fit.y.min() >= 0 and fit.y.max() <= 1
    assert value <= reference.cost + fit.gap + 1e-9 * (1 + reference.cost)
    assert value - fit.gap <= reference.cost + 1e-9 * (1 + reference.cost)


@given(seeds, st.sampled_from([0.0, 2.0]))
@examples(30)
def test_supervised_fit_minimizes_its_risk(seed, lam):
    X, y, _ = problem(seed)
    w = least_squares(X, y, lam=lam)
    gradient = with_ones(X).T @ (with_ones(X) @ w - y) + lam * np.append(w[:-1], 0.0)
    assert np.abs(gradient).max() <= 1e-8 * (1 + np.abs(X).sum())


@given(seeds)
@examples(20)
def test_the_fit_does_not_depend_on_affine_maps_of_the_features(seed):
    X, y, U = problem(seed, n_labeled=20, n_features=3)
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(3, 3)) + 3 * np.eye(3), 100 * rng.normal(size=3)
    first, second = safe_least_squares(X, y, U), safe_least_squares(X @ A + b, y, U @ A + b)
    assert second.improvement == pytest.approx(first.improvement, abs=1e-5 * (1 + first.improvement))


@given(seeds, st.floats(-30, 30), st.booleans(), st.sampled_from(["all", "labeled"]))
@examples(40)
def test_units_of_the_features_do_not_matter(seed, exponent, intercept, metric):
    X, y, U = problem(seed, n_labeled=20, n_features=3)
    unit = 10.0**exponent
    first = safe_least_squares(X, y, U, fit_intercept=intercept, metric=metric)
    second = safe_least_squares(unit * X, y, unit * U, fit_intercept=intercept, metric=metric)
    scale = 1.0 + abs(first.improvement)
    assert second.improvement == pytest.approx(first.improvement, abs=1e-6 * scale * len(U))
    # With a ridge nothing is equivariant, but features far below it leave the intercept alone.
    supervised = least_squares(1e-30 * X, y, lam=1.0)
    np.testing.assert_allclose(supervised[-1], y.mean(), rtol=1e-9)


@pytest.mark.parametrize("constant", [0.0, 1e9, 1e-20, "rounding"])
def test_constant_columns_are_recognized_in_any_unit(constant):
    X, y, U = problem(6, n_labeled=20, n_unlabeled=40, n_features=2)
    reference = safe_least_squares(X, y, U)
    column = np.where(np.arange(60) % 3, 0.1 + 0.2, 0.3) if constant == "rounding" else np.full(60, constant)
    fit = safe_least_squares(np.column_stack([X, column[:20]]), y, np.column_stack([U, column[20:]]))
    np.testing.assert_allclose(fit.coef[[0, 1, 3]], reference.coef, atol=1e-9)
    assert abs(fit.coef[2]) * np.abs(column).max() < 1e-9


def test_more_features_than_rows():
    X, y, U = problem(3, n_labeled=5, n_unlabeled=6, n_features=30)
    fit = safe_least_squares(X, y, U)
    assert fit.improvement >= 0 and np.isfinite(fit.coef).all()
    np.testing.assert_allclose(with_ones(X) @ fit.coef_supervised, y, atol=1e-8)


def test_improvement_bound_needs_no_convergence():
    X, y, U = problem(5, n_labeled=40, n_unlabeled=400, n_features=20)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        early = CPLS(tol=1e-12, max_iter=1).fit(np.vstack([X, U]), np.append(y, -np.ones(400)))
    w = np.append(early._coef, early._intercept)
    w_sup = np.append(early.supervised_coef_, early.supervised_intercept_)
    assert early.improvement_ >= 0
    assert early.improvement_ == pytest.approx(guaranteed_improvement(X, y, U, w, w_sup), abs=1e-12)


def test_a_fall_back_describes_the_supervised_fit():
    found = 0
    for seed in range(60):
        X, y, U = problem(seed, n_labeled=30, n_unlabeled=40, n_features=6)
        early, fit = safe_least_squares(X, y, U, max_iter=0), safe_least_squares(X, y, U, tol=1e-12)
        assert early.objective - early.gap <= fit.objective + fit.gap + 1e-12
        assert early.objective + early.gap >= fit.objective - 1e-12
        if early.improvement == 0.0:
            found += 1
            np.testing.assert_array_equal(early.coef, early.coef_supervised)
            assert early.objective == 0.0
    assert found
    labels = np.append(y, -np.ones(len(U)))
    X, y, U = problem(0, n_labeled=30, n_unlabeled=40, n_features=6)
    estimator = CPLS().fit(np.vstack([X, U]), labels)
    estimator.improvement_, estimator.converged_ = 0.0, False
    assert "this is the supervised fit" in estimator.guarantee_
    with pytest.warns(ConvergenceWarning, match="fell back to the supervised fit"):
        estimator._warn_unless_converged()


def exact_improvement(X, y, U, w, w_sup):
    """The least gain over all labelings in rational arithmetic, for the floating point coefficients."""

    def gains(row, label):
        f, f_sup = (
            sum((Fraction(a) * Fraction(b) for a, b in zip(row, v, strict=False)), Fraction(v[-1])) for v in (w, w_sup)
        )
        return (f_sup - label) ** 2 - (f - label) ** 2

    certain = sum(gains(row.tolist(), int(label)) for row, label in zip(X, y, strict=True))
    return certain + sum(min(gains(row.tolist(), label) for label in (0, 1)) for row in U)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8, 1e12])
@pytest.mark.parametrize("metric", ["all", "labeled"])
def test_improvement_is_a_bound_in_exact_arithmetic(offset, metric):
    for seed in range(4):
        X, y, U = problem(seed, n_labeled=12, n_unlabeled=20, n_features=3)
        fit = safe_least_squares(X + offset, y, U + offset, metric=metric)
        exact = exact_improvement(X + offset, y, U + offset, fit.coef.tolist(), fit.coef_supervised.tolist())
        # A CPLS without gain is the supervised fit; of ICLS 0 says that rounding hides gain and loss.
        assert exact >= fit.improvement - (1e-13 if metric == "labeled" and fit.improvement == 0.0 else 0.0)
        assert float(exact) == pytest.approx(fit.improvement, abs=1e-11 * max(1.0, offset) * (1 + float(abs(exact))))


@pytest.mark.parametrize("intercept", [True, False])
def test_rounding_is_not_reported_as_gain_or_loss(intercept):
    for seed in range(20):
        X, y, _ = problem(seed, n_labeled=20, n_features=3)
        for metric in ("all", "labeled"):
            fit = safe_least_squares(X, y, X, fit_intercept=intercept, metric=metric)
            exact = exact_improvement(X, y, X, fit.coef.tolist(), fit.coef_supervised.tolist())
            assert fit.improvement <= exact or fit.improvement == 0.0
            assert fit.improvement == 0.0 or abs(fit.improvement) > 1e-13
    ones = np.ones((4, 1))
    fit = ICLS().fit(np.vstack([ones, ones]), [0, 0, 1, 1, -1, -1, -1, -1])
    assert fit.improvement_ == 0.0 and fit.guarantee_.startswith("never worse")


def test_memory_is_linear_in_the_unlabeled_rows():
    X, y, U = problem(0, n_labeled=50, n_unlabeled=20_000, n_features=10)
    safe_least_squares(X, y, U[:100])
    tracemalloc.start()
    fit = safe_least_squares(X, y, U)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert fit.converged
    assert peak < 25 * U.nbytes


@pytest.mark.parametrize("estimator", [LeastSquares(), CPLS(), ICLS(), CPLS(lam=1.0)])
def test_scikit_learn_conventions(estimator):
    X, y, _ = problem(1, n_labeled=30)
    check_classifiers_predictions(X, np.take(["one", "two"], y.astype(int)), "name", estimator)


@pytest.mark.parametrize("Estimator", [CPLS, ICLS])
def test_without_unlabeled_rows_it_is_the_supervised_fit(Estimator):
    X, y, _ = problem(2)
    fit, supervised = Estimator(lam=0.1).fit(X, y), LeastSquares(lam=0.1).fit(X, y)
    np.testing.assert_array_equal(fit._coef, supervised._coef)
    assert fit.supervised_only_ and "supervised" in fit.guarantee_ and len(fit.soft_labels_) == 0


def test_string_labels_and_the_words_of_the_guarantee():
    X, y, U = problem(4, n_labeled=20, n_unlabeled=40, n_features=2)
    names = np.concatenate([np.where(y == 1, "yes", "no"), np.full(40, "-1")])
    fit = CPLS().fit(np.vstack([X, 5 * U]), names)
    mixed = CPLS().fit(np.vstack([X, 5 * U]), np.array([*names[:20].tolist(), *[-1] * 40], dtype=object))
    np.testing.assert_array_equal(fit._coef, mixed._coef)
    assert fit.classes_.tolist() == ["no", "yes"]
    assert fit.soft_labels_.shape == (40,)
    assert f"at least {fit.improvement_:.6g}" in fit.guarantee_
    gain = LeastSquares().fit(X, names[:20]).squared_error(X, names[:20]) - fit.squared_error(X, names[:20])
    assert gain <= 0  # the supervised fit is the best on its own rows


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([-1, -1, -1, -1], "all 4 rows are unlabeled"),
        ([1, 1, -1, -1], "only one class"),
        ([0, 1, 2, -1], "Only binary"),
        ([0.3, 1.7, 2.2, -1], "Unknown label type"),
        ([0, 1, np.nan, -1], "NaN"),
    ],
)
def test_bad_labels(y, message):
    with pytest.raises(ValueError, match=message):
        CPLS().fit(np.arange(8.0).reshape(4, 2), y)


def test_unknown_label_in_the_measure():
    X, y, _ = problem(2)
    with pytest.raises(ValueError, match="none of the classes"):
        LeastSquares().fit(X, y).squared_error(X, y + 7)


def test_labels_of_another_length():
    X, y, _ = problem(2)
    with pytest.raises(ValueError, match=rf"X has 3 rows, but y has shape \({len(y)},\)"):
        LeastSquares().fit(X, y).squared_error(X[:3], y)


@pytest.mark.parametrize("mark", [None, ""])
def test_a_missing_label_is_an_error(mark):
    y = np.array(["a", "b", "a", mark, mark], dtype=object)
    with pytest.raises(ValueError, match=r"(row 3 has the label|the first in row 3).* [mM]ark unlabeled rows by -1"):
        CPLS().fit(np.arange(10.0).reshape(5, 2), y)
    if mark is not None:
        with pytest.raises(ValueError, match="row 3 has the label ''"):
            CPLS().fit(np.arange(10.0).reshape(5, 2), y.astype(str))
