"""Known negatives as a third sum, of the GLPUAL family: c_n times the loss of the unlabeled rows."""

import inspect

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from pucli.core.saved_state import check_state
from pucli.estimators import BLSSVM, BSVM, EKFGLPUAL, GLLC, GLPUAL, ElasticGLPUAL
from pucli.methods import METHODS, estimator_class
from pucli.solvers.kernels.graph import mutual_knn
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.low_rank import rbf_features

FAMILY = [GLPUAL, GLLC, BSVM, BLSSVM, ElasticGLPUAL, EKFGLPUAL]
WEIGHTS = {"c_p": 1.3, "c_u": 0.2, "c_n": 0.9}
SQUARE, HINGE = (lambda z: (1.0 - z) ** 2), (lambda z: np.maximum(1.0 - z, 0.0))


def rows(seed=0, n=120):
    random = np.random.default_rng(seed)
    positive = random.random(n) < 0.4
    X = random.normal(size=(n, 3)) + positive[:, None]
    y = np.zeros(n, dtype=int)
    y[np.flatnonzero(positive)[:25]], y[np.flatnonzero(~positive)[:20]] = 1, -1
    return X, y


def graph_and_losses(model, X, y, f):
    """The three sums and f'Rf, from their definition; lam and penalties of coefficients are added by the tests."""
    kind = type(model)
    of_positive = SQUARE if kind in (GLLC, BLSSVM) else HINGE
    of_negative = HINGE if kind is BSVM else SQUARE
    value = 1.3 * of_positive(f[y == 1]).sum() + 0.2 * of_negative(-f[y == 0]).sum()
    value += 0.9 * of_negative(-f[y == -1]).sum()
    if kind in (BSVM, BLSSVM):
        return value
    i, j, weight = mutual_knn(X, 5).edges(1.0)
    return value + (weight * (f[i] - f[j]) ** 2).sum()


def features(model, X):
    return X if model.kernel == "linear" else rbf_features(X, model.landmarks_, model.landmark_factor_, 2.0)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("kind", [GLLC, BLSSVM])
def test_squares_solve_the_normal_equations(kind, kernel):
    X, y = rows()
    model = kind(lam=0.5, kernel=kernel, width=2.0, neg_label=-1, **WEIGHTS).fit(X, y)
    Z = with_intercept(features(model, X))
    weights = np.select([y == 1, y == 0], [1.3, 0.2], 0.9)
    H = 2.0 * (Z.T * weights) @ Z + np.diag([0.5] * (Z.shape[1] - 1) + [0.0])
    if kind is GLLC:
        i, j, weight = mutual_knn(X, 5).edges(1.0)
        H += 2.0 * ((Z[i] - Z[j]).T * weight) @ (Z[i] - Z[j])
    w = np.linalg.solve(H, 2.0 * (weights * np.where(y == 1, 1.0, -1.0)) @ Z)
    np.testing.assert_allclose(Z @ w, model.decision_function(X), atol=1e-8)
    value = 0.25 * w[:-1] @ w[:-1] + graph_and_losses(model, X, y, Z @ w)
    assert model.converged_ and model.objective_ == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize(
    "model",
    [
        GLPUAL(lam=0.5, tol=1e-9),
        GLPUAL(lam=0.5, tol=1e-9, solver="admm"),
        BSVM(lam=0.5, tol=1e-8),
        BSVM(lam=0.5, tol=1e-8, kernel="rbf", width=2.0),
        ElasticGLPUAL(lam1=4.0, lam2=0.5, tol=1e-8),
        ElasticGLPUAL(lam1=4.0, lam2=0.5, tol=1e-7, solver="admm"),
    ],
    ids=repr,
)
def test_hinges_reach_the_minimum_of_a_convex_program(model):
    import cvxpy as cp

    from tests.oracles import clarabel

    X, y = rows()
    model = model.set_params(neg_label=-1, **WEIGHTS).fit(X, y)
    rbf = getattr(model, "kernel", "linear") == "rbf"
    F = np.linalg.cholesky(np.exp(-((X[:, None] - X) ** 2).sum(-1) / 8.0) + 1e-10 * np.eye(len(X))) if rbf else X
    w, b = cp.Variable(F.shape[1]), cp.Variable()
    f = F @ w + b
    of_negative = cp.pos if isinstance(model, BSVM) else cp.square
    goal = 0.25 * cp.sum_squares(w) + 1.3 * cp.sum(cp.pos(1 - f[y == 1]))
    goal += 0.2 * cp.sum(of_negative(1 + f[y == 0])) + 0.9 * cp.sum(of_negative(1 + f[y == -1]))
    if not isinstance(model, BSVM):
        i, j, weight = mutual_knn(X, 5).edges(1.0)
        goal += cp.sum(cp.multiply(weight, cp.square(f[i] - f[j])))
    if isinstance(model, ElasticGLPUAL):
        goal += 2.0 * cp.norm1(w)
    least = clarabel(goal)
    assert model.converged_
    assert model.objective_ - model.dual_gap_ - 1e-6 * least <= least <= model.objective_ + 1e-6 * least


@pytest.mark.parametrize("solver", ["working-set", "admm"])
def test_the_quadratic_surface_is_not_beaten_by_a_minimiser(solver):
    X, y = rows(n=80)
    X = X[:, :2]
    model = EKFGLPUAL(lam1=0.5, lam2=0.01, solver=solver, neg_label=-1, **WEIGHTS).fit(X, y)

    def value(t):
        A, beta = np.array([[t[0], t[1]], [t[1], t[2]]]), t[3:5]
        f = 0.5 * ((X @ A) * X).sum(axis=1) + X @ beta + t[5]
        groups = np.sqrt((A**2).sum(axis=1) + beta**2).sum()
        return graph_and_losses(model, X, y, f) + 0.25 * groups + 0.005 * ((X @ A + beta) ** 2).sum()

    A = model.quadratic_
    at = np.array([A[0, 0], A[0, 1], A[1, 1], *model.coef_, model.intercept_])
    assert model.converged_ and value(at) == pytest.approx(model.objective_, rel=1e-7)
    best = min(minimize(value, start, method="Powell", tol=1e-9).fun for start in (at, np.zeros(6)))
    assert model.objective_ - model.dual_gap_ - 1e-8 <= best <= model.objective_ * (1.0 + 1e-3)


@pytest.mark.parametrize("kind", FAMILY)
def test_without_known_negatives_nothing_changes_and_with_them_something_does(kind):
    X, y = rows()
    two = np.where(y == 1, 1, 0)
    plain, named = kind().fit(X, two), kind(neg_label=-1, c_n=7.0).fit(X, two)
    assert np.array_equal(plain.decision_function(X), named.decision_function(X)) and not hasattr(named, "c_n_")
    least, most = (kind(neg_label=-1, c_n=c, c_u=0.2).fit(X, y).decision_function(X)[y == -1] for c in (0.2, 2.0))
    assert most.mean() < least.mean() - 0.05
    # a known negative of weight c_u is an unlabeled row
    same = kind(c_u=0.2).fit(X, two).decision_function(X)[y == -1]
    np.testing.assert_allclose(least, same, atol=0.02)


@pytest.mark.parametrize("kind", FAMILY)
def test_balanced_gives_both_sums_half_of_the_weight(kind):
    X, y = rows()
    model = kind(neg_label=-1).fit(X, y)
    one = kind().fit(X[y != -1], y[y != -1])
    assert model.c_u_ == pytest.approx(0.5 * one.c_u_)
    assert model.c_n_ * (y == -1).sum() == pytest.approx(model.c_u_ * (y == 0).sum())
    assert model.fit(X[y != -1], y[y != -1]) and not hasattr(model, "c_n_")
    assert "_negative" not in vars(model)


@pytest.mark.parametrize("model", [BLSSVM(), BLSSVM(kernel="rbf", width=2.0), BSVM(tol=1e-9)], ids=repr)
def test_weights_of_rows_are_repeated_rows(model):
    X, y = rows()
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    model.set_params(neg_label=-1)
    by_weight = model.fit(X, y, sample_weight=weights).decision_function(X)
    numbers = model.c_u_, model.c_n_, model.objective_
    repeated = model.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).decision_function(X)
    np.testing.assert_allclose(by_weight, repeated, atol=1e-4)
    np.testing.assert_allclose(numbers, (model.c_u_, model.c_n_, model.objective_), rtol=1e-7)
    none = model.fit(X, y, sample_weight=np.where(y == -1, 0, 1)).decision_function(X)
    np.testing.assert_allclose(none, model.fit(X[y != -1], y[y != -1]).decision_function(X), atol=1e-6)
    with pytest.raises(ValueError, match="leaves one class"):
        model.fit(X, y, sample_weight=np.where(y == 0, 0, 1))


def test_sparse_rows_give_the_model_of_dense_ones():
    X, y = rows()
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    dense, sparse = (BLSSVM(neg_label=-1, c_n=0.7).fit(form, y) for form in (X, csr_array(X)))
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-5)


@pytest.mark.parametrize("kind", [GLPUAL, GLLC])
def test_rows_in_blocks_give_the_model_of_whole_ones(kind, monkeypatch):
    X, y = rows()
    options = {"kernel": "rbf", "width": 2.0, "neg_label": -1, **WEIGHTS}
    whole = kind(**options).fit(X, y)
    monkeypatch.setattr("pucli.estimators.global_local.feature_model.WHOLE_KERNEL_ROWS", 50)
    monkeypatch.setattr("pucli.estimators.global_local.feature_model.LANDMARKS", len(X))
    blocks = kind(**options).fit(X, y)
    assert blocks.objective_ == pytest.approx(whole.objective_, rel=1e-5)


def test_a_far_row_leaves_the_digits_of_the_objective():
    X, y = rows()
    X[np.flatnonzero(y == 0)[0]] *= 1e7
    for kind in (GLPUAL, GLLC):
        model = kind(lam=0.5, neg_label=-1, **WEIGHTS).fit(X, y)
        f = model.decision_function(X)
        value = 0.25 * model.coef_ @ model.coef_ + graph_and_losses(model, X, y, f)
        assert model.objective_ == pytest.approx(value, rel=1e-6)


def test_printed_forms_refuse_known_negatives():
    X, y = rows()
    for model in (GLPUAL(kernel="rbf", form="thesis"), GLLC(kernel="rbf", form="thesis"), EKFGLPUAL(solver="author")):
        with pytest.raises(ValueError, match="as printed, without known negatives"):
            model.set_params(neg_label=-1).fit(X, y)


def test_the_list_of_methods_says_who_takes_known_negatives():
    for name, method in METHODS.items():
        if method.kind == "pu" and not method.package:
            takes = "neg_label" in inspect.signature(estimator_class(method)).parameters
            assert takes == (not method.without_negatives), name
    X, y = rows()
    check_state(GLPUAL(neg_label=-1).fit(X, y), "model", {})
