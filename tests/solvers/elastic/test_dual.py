"""E-GLPUAL against cvxpy with Clarabel and the printed updates; exact zeros; the grouping effect of Theorem 2."""

from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pucli.estimators.base.data_defaults import L1_SHARE, l1_of_features
from pucli.estimators.global_local.elastic import ElasticGLPUAL
from pucli.estimators.global_local.glpual import GLPUAL
from pucli.methods import Method
from pucli.solvers.elastic.admm import shifted_laplacian, soft_threshold
from pucli.solvers.elastic.dual import elastic_objective, solve_elastic
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.graph import laplacian_product
from pucli.tuning.folds import pu_folds
from pucli.tuning.paths.elastic import ElasticPath
from pucli.tuning.routes import GenericRoute
from tests import oracles
from tests.helpers import examples
from tests.oracles import clarabel, with_graph

METHOD = Method("e-glpual", "pucli.estimators.global_local.elastic:ElasticGLPUAL", "pu", "")


problem = partial(oracles.problem, m=4, shift=2.0, relevant=1)


def optimum(X, y, lam1, lam2, c_p, c_u, sigma):
    """Solve (4.1) as written."""
    _, labeled, (i, j, weight) = with_graph(X, y, sigma)
    beta, intercept = cp.Variable(X.shape[1]), cp.Variable()
    f = X @ beta + intercept
    goal = lam1 / 2 * cp.norm1(beta) + lam2 / 2 * cp.sum_squares(beta) + c_p * cp.sum(cp.pos(1 - f[labeled]))
    goal += c_u * cp.sum_squares(1 + f[~labeled]) + cp.sum_squares(cp.multiply(np.sqrt(weight), f[i] - f[j]))
    return clarabel(goal), beta.value


weights = st.sampled_from([0.01, 0.1, 1.0, 10.0])


@given(seed=st.integers(0, 1000), lam1=weights, lam2=weights, c_p=weights, c_u=weights, sigma=weights)
@examples(25)
def test_objective_is_clarabels_and_the_gap_is_a_bound(seed, lam1, lam2, c_p, c_u, sigma):
    X, y = problem(seed)
    settings_ = {"lam1": lam1, "lam2": lam2, "c_p": c_p, "c_u": c_u, "sigma": sigma}
    model = ElasticGLPUAL(**settings_, tol=1e-9).fit(X, y)
    best, _ = optimum(X, y, **settings_)
    assert abs(model.objective_ - best) <= 1e-6 * best
    assert model.objective_ - best <= model.dual_gap_ + 1e-7 * best
    assert model.dual_gap_ <= 1e-6 * best


@given(seed=st.integers(0, 1000), stop=st.integers(1, 8), lam1=weights)
@examples(20)
def test_gap_bounds_the_error_even_when_stopped_early(seed, stop, lam1):
    Z, labeled, edges = with_graph(*problem(seed, n=80, m=8, n_p=30))
    early = solve_elastic(GlobalLocalProblem(Z, labeled, edges, 1e-3, 1.0, 0.05), lam1, tol=1e-12, max_iter=stop)
    exact = solve_elastic(GlobalLocalProblem(Z, labeled, edges, 1e-3, 1.0, 0.05), lam1, tol=1e-10)
    assert exact.gap <= 1e-9 * exact.objective
    assert -1e-9 <= early.objective - exact.objective <= early.gap + 1e-9
    value = elastic_objective(early.coef, GlobalLocalProblem(Z, labeled, edges, 1e-3, 1.0, 0.05), lam1)
    assert np.isclose(value, early.objective, rtol=1e-12)


@given(seed=st.integers(0, 1000), lam1=st.sampled_from([3.0, 10.0, 30.0]))
@examples(15)
def test_zeros_are_exact_and_where_the_optimality_conditions_put_them(seed, lam1):
    X, y = problem(seed, n=120, m=12, n_p=30)
    model = ElasticGLPUAL(lam1=lam1, lam2=0.1, c_u=0.1, tol=1e-10).fit(X, y)
    _, beta = optimum(X, y, lam1, 0.1, 1.0, 0.1, 1.0)
    zero = model._coef == 0.0
    assert np.all(np.abs(beta[zero]) < 1e-4)
    assert np.all(np.abs(model._coef[~zero]) > 1e-12)
    np.testing.assert_allclose(model._coef, beta, atol=1e-4)


def test_irrelevant_features_are_dropped_and_the_relevant_one_kept():
    rng = np.random.default_rng(0)
    y = np.r_[np.ones(50), np.zeros(150)]
    X = rng.normal(size=(200, 12))
    X[:100, 0] += 3.0  # positives, half of them unlabeled
    model = ElasticGLPUAL(lam1=30.0).fit(X, y)
    assert model._coef[0] > 0.1
    assert np.count_nonzero(model._coef[1:]) <= 1


@given(seed=st.integers(0, 1000), c_p=weights, c_u=weights)
@examples(20)
def test_the_model_is_constant_from_twenty_times_the_default_of_lam1(seed, c_p, c_u):
    X, y = problem(seed)
    Z, labeled, edges = with_graph(X, y)
    edge = l1_of_features(ElasticGLPUAL(c_p=c_p, c_u=c_u), X, labeled) / L1_SHARE
    above = solve_elastic(GlobalLocalProblem(Z, labeled, edges, 0.1, c_p, c_u), edge * 1.001, tol=1e-10)
    assert not above.coef[:-1].any()
    if c_p * labeled.sum() < 4 * c_u * (~labeled).sum():  # off the kink the bound is sharp
        below = solve_elastic(GlobalLocalProblem(Z, labeled, edges, 0.1, c_p, c_u), edge * 0.99, tol=1e-10)
        assert below.coef[:-1].any()


@given(seed=st.integers(0, 1000), distance=st.sampled_from([0.0, 1e-3, 0.1]), lam1=weights, lam2=weights, c_u=weights)
@examples(25)
def test_similar_features_get_similar_coefficients(seed, distance, lam1, lam2, c_u):
    """Inequality (4.57); its derivation needs coefficients of one sign."""
    X, y = problem(seed)
    X[:, 1] = X[:, 0] + distance * np.random.default_rng(seed).normal(size=len(X))
    Z, labeled, (i, j, weight) = with_graph(X, y)
    fit = solve_elastic(GlobalLocalProblem(Z, labeled, (i, j, weight), lam2, 1.0, c_u), lam1, tol=1e-12)
    n_p, n_u = labeled.sum(), (~labeled).sum()
    difference = X[:, 0] - X[:, 1]
    graph_norm = np.sqrt(difference @ laplacian_product(i, j, weight, difference[:, None])[:, 0])
    bound = (2 * c_u * np.sqrt(n_p / c_u + n_u) + np.sqrt(n_p)) * np.linalg.norm(difference)
    bound = (bound + 2 * np.sqrt(n_p + n_u * c_u) * graph_norm) / lam2
    if fit.coef[0] * fit.coef[1] > 0 or distance == 0.0:
        assert abs(fit.coef[0] - fit.coef[1]) <= bound + 1e-5


def test_without_l1_penalty_it_is_glpual():
    X, y = problem(3)
    elastic = ElasticGLPUAL(lam1=0.0, lam2=0.5, tol=1e-9).fit(X, y)
    plain = GLPUAL(lam=0.5, tol=1e-9).fit(X, y)
    assert np.isclose(elastic.objective_, plain.objective_, rtol=1e-8)


@given(seed=st.integers(0, 1000), mu=st.sampled_from([0.5, 1.0, 3.0]), lam1=st.sampled_from([1.0, 10.0]))
@examples(8)
def test_printed_admm_reaches_the_same_objective(seed, mu, lam1):
    X, y = problem(seed)
    dual = ElasticGLPUAL(lam1=lam1, tol=1e-8).fit(X, y)
    admm = ElasticGLPUAL(lam1=lam1, solver="admm", mu=mu, tol=1e-6).fit(X, y)
    assert admm.converged_
    assert abs(dual.objective_ - admm.objective_) <= dual.dual_gap_ + admm.dual_gap_ + 1e-9


@given(d=st.floats(-5, 5), c=st.floats(0.01, 4))
def test_soft_threshold_minimizes_its_subproblem(d, c):
    t = float(soft_threshold(np.array(d), c))
    grid = np.linspace(-10, 10, 4001)
    assert c * abs(t) + 0.5 * (t - d) ** 2 <= np.min(c * np.abs(grid) + 0.5 * (grid - d) ** 2) + 1e-12


def test_update_of_b_solves_its_linear_system():
    X, y = problem(1)
    _, _, edges = with_graph(X, y)
    q = np.random.default_rng(0).normal(size=len(X))
    b = shifted_laplacian(edges, len(X), 0.7).solve(q)
    np.testing.assert_allclose(2 * laplacian_product(*edges, b[:, None])[:, 0] + 0.7 * b, q, atol=1e-10)


@pytest.mark.slow
def test_the_grid_route_gives_the_counts_of_single_fits():
    X, y = problem(5, n=90, m=5, n_p=30)
    s = y.astype(np.int8)
    folds = pu_folds(s, 3, 0, 1)
    points = [
        {"lam1": l1, "lam2": l2, "c_u": c_u, "sigma": sigma}
        for l1 in (0.1, 3.0, 20.0)
        for l2 in (0.1, 10.0)
        for c_u in (0.05, 0.5)
        for sigma in (0.3, 5.0)
    ]
    fixed = {"tol": 1e-10}
    path = ElasticPath(METHOD, X, s, folds, fixed, None).outcomes(points)
    single = GenericRoute(METHOD, X, s, folds, fixed).outcomes(points)
    np.testing.assert_array_equal(path, single)


def test_bad_weights_are_refused():
    X, y = problem(0)
    for wrong in ({"lam1": -1.0}, {"lam2": 0.0}, {"c_u": -0.1}, {"sigma": 0.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            ElasticGLPUAL(**wrong).fit(X, y)


def test_not_converged_gives_a_warning():
    X, y = problem(2, n=200, m=30, n_p=80)
    with pytest.warns(UserWarning, match=r"stopped after 1 iteration above the tolerance"):
        model = ElasticGLPUAL(lam1=3.0, lam2=1e-3, max_iter=1, tol=1e-12).fit(X, y)
    assert not model.converged_ and model.dual_gap_ > 0
