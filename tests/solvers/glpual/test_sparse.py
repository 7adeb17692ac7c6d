"""BLS-SVM on sparse rows: the solution of the dense solver, a valid gap, memory proportional to the non-zeros."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from pucli.estimators import BLSSVM
from pucli.solvers.glpual.gllc import solve_gllc
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.glpual.sparse import solve_blssvm_sparse
from pucli.solvers.kernels.graph import NO_EDGES
from pucli.solvers.kernels.intercept import with_intercept


def rows(n=200, m=30, density=0.2, seed=0):
    random = np.random.default_rng(seed)
    X = random_array((n, m), density=density, format="csr", random_state=random)
    labeled = random.random(n) < 0.3
    return X, labeled


@pytest.mark.parametrize("lam", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("shape", [(200, 30), (40, 90)])
def test_the_solution_is_that_of_the_dense_solver(lam, shape):
    X, labeled = rows(*shape)
    dense = solve_gllc(GlobalLocalProblem(with_intercept(X.toarray()), labeled, NO_EDGES, lam, 1.0, 0.1))
    sparse = solve_blssvm_sparse(X, labeled, lam, 1.0, 0.1)
    assert sparse.converged
    assert sparse.objective == pytest.approx(dense.objective, rel=1e-8)
    assert np.allclose(sparse.coef, dense.coef, atol=1e-3)


def test_the_gap_bounds_the_distance_to_the_minimum_from_the_first_step_on():
    X, labeled = rows()
    best = solve_blssvm_sparse(X, labeled, 0.1, tol=1e-13).objective
    for max_iter in range(8):
        found = solve_blssvm_sparse(X, labeled, 0.1, max_iter=max_iter)
        assert found.objective - best <= found.gap
        assert not found.converged


def test_the_estimator_takes_sparse_rows_and_scores_them_as_dense_ones():
    X, labeled = rows()
    y = labeled.astype(int)
    sparse, dense = BLSSVM(c_u=0.3).fit(X, y), BLSSVM(c_u=0.3).fit(X.toarray(), y)
    assert np.allclose(sparse.decision_function(X), dense.decision_function(X.toarray()), atol=1e-4)
    kernel = BLSSVM(kernel="rbf").fit(X, y)
    assert np.array_equal(kernel.decision_function(X), BLSSVM(kernel="rbf").fit(X.toarray(), y).decision_function(X))


@pytest.mark.filterwarnings("ignore:BLSSVM predicts nearly no row")
def test_memory_is_that_of_the_non_zeros():
    n, m = 2000, 100_000
    random = np.random.default_rng(0)
    columns = random.integers(0, m, size=(n, 20)).ravel()
    X = csr_array((np.ones(20 * n), (np.repeat(np.arange(n), 20), columns)), shape=(n, m))
    tracemalloc.start()
    model = BLSSVM().fit(X, (np.arange(n) % 4 == 0).astype(int))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model._coef.shape == (m,)
    assert peak < 8 * n * m / 50  # a dense copy of the rows is 1.6 GB


def test_very_many_features_need_no_matrix_of_them(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 40)) + 1e3
    labeled = np.arange(12) < 5
    whole = BLSSVM(lam=2.0, c_u=0.3).fit(X, labeled)
    monkeypatch.setattr("pucli.solvers.kernels.few_rows.WIDE", 20)
    monkeypatch.setattr("pucli.estimators.global_local.svm.solve_gllc", None)
    wide = BLSSVM(lam=2.0, c_u=0.3).fit(X, labeled)
    assert wide.converged_
    assert wide.objective_ == pytest.approx(whole.objective_, rel=1e-8)
    np.testing.assert_allclose(wide.decision_function(X), whole.decision_function(X), atol=1e-6)
