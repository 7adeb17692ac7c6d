import numpy as np
import pytest

from pucli.estimators import BLSSVM, GLLC, GLPUAL
from pucli.estimators.global_local import feature_model
from pucli.solvers.glpual.dual import solve_glpual
from pucli.solvers.glpual.gllc import solve_gllc
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.glpual.sums import RowSums, solve_hinge_from_sums, solve_squares_from_sums
from pucli.solvers.kernels.graph import NO_EDGES
from pucli.solvers.kernels.intercept import with_intercept


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    return X, (X[:, 0] > 0.5) & (rng.random(400) < 0.6)


def test_sums_give_the_solution_of_all_rows(rows):
    X, labeled = rows
    Z = with_intercept(X)
    problem, sums = GlobalLocalProblem(Z, labeled, NO_EDGES, 0.5, 1.0, 0.2), RowSums.of(Z, labeled)
    assert (sums.n_labeled, sums.n_unlabeled) == (labeled.sum(), (~labeled).sum())
    found, true = solve_squares_from_sums(sums, 0.5, 1.0, 0.2), solve_gllc(problem)
    np.testing.assert_allclose(found.coef, true.coef, atol=1e-10)
    assert found.objective == pytest.approx(problem.objective(found.coef, squared=True))
    found, true = solve_hinge_from_sums(sums, Z[labeled], 0.5, 1.0, 0.2), solve_glpual(problem)
    assert found.objective == pytest.approx(problem.objective(found.coef))
    assert found.objective == pytest.approx(true.objective, rel=2e-6) and found.gap <= 1e-6 * found.objective


def test_sums_add_up_over_blocks(rows):
    X, labeled = rows
    Z = with_intercept(X)
    total = RowSums.of(Z[:150], labeled[:150]).plus(RowSums.of(Z[150:], labeled[150:]))
    true = solve_gllc(GlobalLocalProblem(Z, labeled, NO_EDGES, 0.5, 1.0, 0.2))
    np.testing.assert_allclose(solve_squares_from_sums(total, 0.5, 1.0, 0.2).coef, true.coef, atol=1e-12)


def test_squares_whose_sums_lose_the_digits_are_not_converged(rows):
    X, labeled = rows
    near, far = (solve_squares_from_sums(RowSums.of(with_intercept(X + a), labeled), 0.5, 1.0, 0.3) for a in (0, 1e7))
    assert near.converged and not far.converged
    assert far.gap > 1e-4 * far.objective


@pytest.mark.parametrize("estimator", [GLPUAL, GLLC, BLSSVM])
@pytest.mark.slow
def test_many_rows_get_the_kernel_by_landmarks(estimator, rows, monkeypatch):
    X, labeled = rows
    exact = estimator(kernel="rbf", width=2.0).fit(X, labeled)
    monkeypatch.setattr(feature_model, "WHOLE_KERNEL_ROWS", 300)
    monkeypatch.setattr(f"{estimator.__module__}.LANDMARKS", 120)
    model = estimator(kernel="rbf", width=2.0).fit(X, labeled)
    assert len(model.landmarks_) == 120 and 0.0 < model.kernel_residual_ < 1e-3
    assert (
        model.objective_ == pytest.approx(exact.objective_, rel=1e-3) and model.dual_gap_ <= 1.01e-6 * model.objective_
    )
    near, true = model.decision_function(X), exact.decision_function(X)
    assert np.abs(near - true).max() < 0.05 * np.ptp(true)
    capped = estimator(kernel="rbf", width=2.0, max_rank=10).fit(X, labeled)
    assert len(capped.landmarks_) == 10 and capped.kernel_residual_ > model.kernel_residual_


def test_a_problem_beyond_the_memory_is_refused_with_its_size(rows, monkeypatch):
    X, labeled = rows
    monkeypatch.setattr("pucli.core.memory.available_bytes", lambda: 1000)
    with pytest.raises(ValueError, match=r"kernel matrix of 400 rows takes 0.00384 GB .*; leave form=thesis out"):
        GLPUAL(kernel="rbf", form="thesis").fit(X, labeled)
    monkeypatch.setattr(feature_model, "WHOLE_KERNEL_ROWS", 300)
    with pytest.raises(ValueError, match=r"500 landmarks for 400 rows .* max_rank"):
        BLSSVM(kernel="rbf").fit(X, labeled)
