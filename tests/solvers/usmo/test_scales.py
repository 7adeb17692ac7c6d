"""USMO on features of any size: certificates that hold in extended precision, an honest end, no raw exceptions."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from pucli.core.errors import DegenerateModelWarning
from pucli.estimators.unbiased.ramp import RampPU
from pucli.estimators.unbiased.usmo import USMO
from pucli.solvers.kernels.functions import Kernel, rbf

LABELED, UNLABELED, PRIOR = 20, 300, 0.4


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    signs = np.where(rng.random(UNLABELED) < PRIOR, 1.0, -1.0)
    X = rng.normal(size=(LABELED + UNLABELED, 4)) + 0.5 * np.concatenate([np.ones(LABELED), signs])[:, None]
    return X, (np.arange(LABELED + UNLABELED) < LABELED).astype(int)


def fit(model, X, y):
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, DegenerateModelWarning):
            warnings.simplefilter("ignore", category)
        return model.fit(X, y)


def kernel_matrix(model, X, Y):
    X, Y = X.astype(np.longdouble), Y.astype(np.longdouble)
    if model.kernel == "rbf":
        return np.exp(-((X[:, None] - Y[None]) ** 2).sum(-1) / (2 * np.longdouble(model.width_) ** 2))
    return (X @ Y.T + np.longdouble(model.coef0)) ** model.degree


def true_objective(model, X, y):
    """The documented objective of the model, in extended precision from its coefficients alone."""
    if model.kernel == "linear":
        w = model._coef.astype(np.longdouble)
        f, norm = X.astype(np.longdouble) @ w, w @ w
    else:
        weights = model.dual_coef_.astype(np.longdouble)
        f = kernel_matrix(model, X, model.support_vectors_) @ weights
        norm = weights @ kernel_matrix(model, model.support_vectors_, model.support_vectors_) @ weights
    f = f + np.longdouble(model._intercept)
    f_u, lam = f[y == 0], np.longdouble(model.lam_)
    hinge = np.maximum.reduce([0 * f_u, 0.5 + f_u / 2, f_u])
    return float(hinge.mean() / (2 * lam) - np.longdouble(model.prior) * f[y == 1].mean() / (2 * lam) + norm / 2)


def assert_certificate_holds(model, X, y):
    value, size = true_objective(model, X, y), max(abs(model.objective_), 1e-3 / model.lam_)
    assert value <= model.objective_ + 1e-8 * size
    assert value >= model.objective_ - model.dual_gap_ - 1e-12 * size


def test_linear_certificate_holds_whatever_the_units_of_a_column(data):
    X, y = data
    for scale in 10.0 ** np.arange(-6, 9):
        for lam in (0.01, 1e-4):
            Z = X * np.array([scale, 1, 1, 1])
            model = fit(USMO(prior=PRIOR, lam=lam, kernel="linear"), Z, y)
            assert model.converged_
            assert_certificate_holds(model, Z, y)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
def test_linear_certificate_holds_in_any_units(data, scale):
    X, y = data
    model = fit(USMO(lam=0.01, prior=PRIOR, kernel="linear"), scale * X, y)
    assert model.converged_
    assert_certificate_holds(model, scale * X, y)


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_linear_certificate_holds_far_from_the_origin(data, offset):
    X, y = data
    model = fit(USMO(lam=0.01, prior=PRIOR, kernel="linear"), X + offset, y)
    assert model.converged_
    assert_certificate_holds(model, X + offset, y)


@pytest.fixture(scope="module")
def wide():
    """More features than half the rows, so that the linear kernel is solved by pairs."""
    rng = np.random.default_rng(1)
    signs = np.where(rng.random(UNLABELED) < PRIOR, 1.0, -1.0)
    X = rng.normal(size=(LABELED + UNLABELED, 200)) + 0.2 * np.concatenate([np.ones(LABELED), signs])[:, None]
    return X, (np.arange(LABELED + UNLABELED) < LABELED).astype(int)


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("solver", ["usmo", "qp"])
@pytest.mark.slow
def test_pairs_with_the_linear_kernel_hold_far_from_the_origin(wide, solver, offset):
    X, y = wide
    near = fit(USMO(prior=PRIOR, lam=0.1, kernel="linear", solver=solver), X, y)
    model = fit(USMO(prior=PRIOR, lam=0.1, kernel="linear", solver=solver), X + offset, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(near.objective_, rel=1e-5)
    assert_certificate_holds(model, X + offset, y)


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("rows", ["data", "wide"])
def test_ramp_with_the_linear_kernel_does_not_depend_on_the_origin(rows, offset, request):
    X, y = request.getfixturevalue(rows)
    near = fit(RampPU(lam=0.01, prior=PRIOR, kernel="linear"), X, y)
    model = fit(RampPU(lam=0.01, prior=PRIOR, kernel="linear"), X + offset, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(near.objective_, rel=1e-4)
    np.testing.assert_allclose(model._coef, near._coef, atol=1e-3 * np.abs(near._coef).max())
    np.testing.assert_array_equal(model.predict(X + offset), near.predict(X))


def test_linear_path_solves_a_time_stamp_and_one_wrong_value(data):
    X, y = data
    stamped, wrong = X.copy(), X.copy()
    stamped[:, 0] = 1.5e9 + 3e7 * np.random.default_rng(1).random(len(X))
    wrong[LABELED + 5, 0] = 1e6
    for Z in (stamped, wrong):
        model = fit(USMO(lam=0.01, prior=PRIOR, kernel="linear"), Z, y)
        assert model.converged_
        assert_certificate_holds(model, Z, y)


def test_the_linear_path_does_not_claim_convergence_below_rounding(data):
    X, y = data
    wrong = X.copy()
    wrong[LABELED + 5, 0] = 1e20
    with pytest.warns(ConvergenceWarning, match="more would not help"):
        model = USMO(lam=0.01, prior=PRIOR, kernel="linear").fit(wrong, y)
    assert not model.converged_
    assert_certificate_holds(model, wrong, y)


@pytest.mark.parametrize("factors", [(1e7, 1e7, 1e7, 1e7), (1e8, 1, 1, 1)])
def test_ramp_with_large_features_ends(data, factors):
    X, y = data
    model = fit(RampPU(lam=0.01, prior=PRIOR, kernel="linear"), X * np.array(factors), y)
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
@pytest.mark.parametrize("estimator", [USMO, RampPU])
def test_features_whose_squares_overflow_are_refused(data, kernel, estimator):
    X, y = data
    wrong = X.copy()
    wrong[5, 0] = 1e200
    with pytest.raises(ValueError, match=r"square overflows|scale the features"):
        estimator(lam=0.01, prior=PRIOR, kernel=kernel).fit(wrong, y)


@pytest.mark.slow
def test_pairs_without_progress_end_with_a_way_out(data, monkeypatch):
    monkeypatch.setattr("pucli.solvers.usmo.blocks.MAX_STALLED", 5)
    X, y = data
    Z = X * np.array([1e3, 1, 1, 1])
    with pytest.warns(ConvergenceWarning, match="more would not help.*Scale the features"):
        model = USMO(lam=0.01, prior=PRIOR, kernel="polynomial", degree=2).fit(Z, y)
    assert not model.converged_
    assert model.n_iter_ < 1000


def test_the_advice_for_a_peer_above_the_tolerance_is_not_more_iterations(data, monkeypatch):
    X, y = data
    monkeypatch.setattr("pucli.solvers.usmo.qp.solve_qp", lambda problem, tol: problem.losses.upper * PRIOR)
    with pytest.warns(ConvergenceWarning, match="more would not help.*Scale the features"):
        USMO(lam=0.01, prior=PRIOR, kernel="linear", solver="qp").fit(X, y)


def changed(X, change):
    Z = X.copy()
    if change == "wrong value":
        Z[LABELED + 5, 0] = 1e7
    elif change == "time stamp":
        Z[:, 0] = 1.5e9 + 3e7 * np.random.default_rng(1).random(len(X))
    else:
        Z *= float(change)
    return Z


@pytest.mark.parametrize("change", ["1", "1e4", "1e6", "1e8", "wrong value", "time stamp"])
def test_rbf_certificate_holds_whatever_the_size_of_the_features(data, change):
    X, y = data
    Z = changed(X, change)
    for solver in ("usmo", "qp"):
        model = fit(USMO(lam=0.01, prior=PRIOR, width=1.0, solver=solver), Z, y)
        assert model.converged_ == (change != "1e8")
        assert_certificate_holds(model, Z, y)


@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4])
@pytest.mark.parametrize("degree", [2, 3])
def test_polynomial_certificate_holds_or_is_not_claimed(data, degree, offset, monkeypatch):
    monkeypatch.setattr("pucli.solvers.usmo.blocks.MAX_STALLED", 20)
    X, y = data
    model = fit(USMO(lam=0.01, prior=PRIOR, kernel="polynomial", degree=degree), X + offset, y)
    assert model.converged_ == (offset < 1e4)
    value = true_objective(model, X + offset, y)
    assert abs(value - model.objective_) <= model.dual_gap_


@pytest.mark.parametrize("kernel", [Kernel("rbf", 1.0), Kernel("polynomial", 1.0, 3)])
@pytest.mark.parametrize("lam", [0.01, 1e-4])
def test_rounding_is_negligible_on_standardized_features(data, kernel, lam):
    X, y = data
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = fit(USMO(prior=PRIOR, lam=lam, kernel=kernel.name, width=kernel.width, degree=kernel.degree), Z, y)
    assert model.converged_
    assert kernel.rounding(model.support_vectors_, model.dual_coef_) < 1e-9 * abs(model.objective_)


def test_ramp_does_not_claim_convergence_below_rounding(data):
    X, y = data
    assert fit(RampPU(lam=0.01, prior=PRIOR), X, y).converged_
    assert not fit(RampPU(lam=0.01, prior=PRIOR, kernel="polynomial"), X + 1e4, y).converged_


def test_the_rbf_kernel_is_exact_for_close_rows_far_from_the_rest():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 3)), rng.normal(size=(3, 3)) + 1e7])
    d = ((X[:, None].astype(np.longdouble) - X[None]) ** 2).sum(-1)
    assert np.allclose(rbf(X, X, 1.3), np.exp(-d / (2 * 1.3**2)).astype(float), atol=1e-8)
    assert np.array_equal(np.diagonal(rbf(X, X, 1.3)), np.ones(53))


def test_a_fit_without_progress_reports_its_true_objective(data):
    X, y = data
    Z = X.copy()
    Z[LABELED + 280] = 1e7
    model = fit(USMO(lam=0.01, prior=PRIOR, kernel="polynomial"), Z, y)
    assert not model.converged_
    assert true_objective(model, Z, y) == pytest.approx(model.objective_, rel=1e-8)
