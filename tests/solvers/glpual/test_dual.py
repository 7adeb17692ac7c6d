"""GLPUAL and GLLC against cvxpy with Clarabel, against each other, against the printed updates, and their bounds."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import cho_factor

from pucli.estimators.global_local.glpual import GLLC, GLPUAL
from pucli.solvers.glpual import dual
from pucli.solvers.glpual import problem as glpual_problem
from pucli.solvers.glpual.admm import shrink_hinge
from pucli.solvers.glpual.dual import solve_glpual
from pucli.solvers.glpual.problem import GlobalLocalProblem, refined
from pucli.solvers.glpual.thesis import solve_thesis
from pucli.solvers.kernels.graph import edge_weights, mutual_knn, squared_distances
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.low_rank import rbf_from_distances
from tests.helpers import examples
from tests.oracles import clarabel, problem


def optimum(K_or_X, y, X, lam, c_p, c_u, sigma, squared, kernel):  # noqa: PLR0913
    """Solve (3.2) or (2.5) as written; in the kernel case over all n coefficients of the RKHS expansion."""
    graph = mutual_knn(X, 5)
    weight = edge_weights(graph, sigma)
    w, b = cp.Variable(K_or_X.shape[1]), cp.Variable()
    f = K_or_X @ w + b
    norm = cp.quad_form(w, cp.psd_wrap(K_or_X)) if kernel else cp.sum_squares(w)
    margin = 1 - f[y == 1]
    loss = cp.sum_squares(margin) if squared else cp.sum(cp.pos(margin))
    similarity = cp.sum_squares(cp.multiply(np.sqrt(weight), f[graph.i] - f[graph.j]))
    goal = lam / 2 * norm + c_p * loss + c_u * cp.sum_squares(1 + f[y == 0]) + similarity
    return clarabel(goal)


weights = st.sampled_from([0.01, 0.1, 1.0, 10.0])


@given(seed=st.integers(0, 1000), lam=weights, c_p=weights, c_u=weights, sigma=weights, squared=st.booleans())
@examples(25)
def test_linear_objective_is_clarabels_and_the_gap_is_a_bound(seed, lam, c_p, c_u, sigma, squared):
    X, y = problem(seed)
    settings_ = {"lam": lam, "c_p": c_p, "c_u": c_u, "sigma": sigma}
    model = (GLLC(**settings_) if squared else GLPUAL(**settings_, tol=1e-9)).fit(X, y)
    best = optimum(X, y, X, squared=squared, kernel=False, **settings_)
    assert abs(model.objective_ - best) <= 1e-6 * best
    assert model.objective_ - best <= model.dual_gap_ + 1e-7 * best
    assert model.dual_gap_ <= 1e-6 * best


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("width", [0.5, 2.0])
def test_rkhs_form_solves_the_full_kernel_problem(width, squared):
    X, y = problem(5, n=40)
    K = rbf_from_distances(squared_distances(X), width)
    settings_ = {"lam": 0.3, "c_p": 1.0, "c_u": 0.2, "sigma": 2.0}
    model = (GLLC if squared else GLPUAL)(kernel="rbf", width=width, **settings_).fit(X, y)
    best = optimum(K, y, X, squared=squared, kernel=True, **settings_)
    assert abs(model.objective_ - best) <= 1e-5 * best
    f = model.decision_function(X)
    value = objective_of(f, y, X, model, squared, g_norm=model._coef @ model._coef)
    assert np.isclose(value, model.objective_, rtol=1e-8)


def objective_of(f, y, X, model, squared, g_norm):
    graph = mutual_knn(X, 5)
    similarity = np.sum(edge_weights(graph, model.sigma) * (f[graph.i] - f[graph.j]) ** 2)
    margin = 1 - f[y == 1]
    loss = np.sum(margin**2) if squared else np.sum(np.maximum(margin, 0))
    return model.lam / 2 * g_norm + model.c_p * loss + model.c_u * np.sum((1 + f[y == 0]) ** 2) + similarity


@given(seed=st.integers(0, 1000), stop=st.integers(0, 6), lam=weights)
@examples(20)
def test_gap_bounds_the_error_even_when_stopped_early(seed, stop, lam):
    X, y = problem(seed, n=80, m=2, n_p=30)
    graph = mutual_knn(X, 5)
    edges = graph.edges(1.0)
    Z = with_intercept(X)
    early = solve_glpual(GlobalLocalProblem(Z, y == 1, edges, lam, 1.0, 0.05), tol=1e-12, max_iter=stop)
    exact = solve_glpual(GlobalLocalProblem(Z, y == 1, edges, lam, 1.0, 0.05), tol=1e-12, max_iter=5000)
    assert exact.gap <= 1e-9 * exact.objective
    assert -1e-9 <= early.objective - exact.objective <= early.gap + 1e-9


@pytest.mark.parametrize("stop", [0, 1, 3, 1000])
def test_the_gap_of_refined_coefficients_is_a_bound(stop, monkeypatch):
    """As where the sums of squares have lost digits, which is taken for the case here."""
    X, y = problem(2, n=80, m=2, n_p=30)
    rows = GlobalLocalProblem(with_intercept(X), y == 1, mutual_knn(X, 5).edges(1.0), 0.1, 1.0, 0.05)
    best = solve_glpual(rows, tol=1e-12, max_iter=5000).objective
    monkeypatch.setattr(dual, "DIFFERENCE", -1.0)
    found = solve_glpual(rows, tol=1e-9, max_iter=stop)
    assert found.objective == pytest.approx(rows.objective(found.coef), rel=1e-14)
    assert -1e-9 <= found.objective - best <= found.gap + 1e-9
    assert found.converged == (stop == 1000)


@pytest.mark.parametrize("squared", [False, True])
def test_refinement_ends_at_the_minimum_and_its_bound_is_the_distance(squared, monkeypatch):
    X, y = problem(5)
    labeled, rng = y == 1, np.random.default_rng(0)
    rows = GlobalLocalProblem(with_intercept(X), labeled, mutual_knn(X, 5).edges(1.0), 0.5, 2.0, 0.3)
    H, b = rows.quadratic_part()
    a = None if squared else rng.uniform(0.0, 2.0, np.count_nonzero(labeled))
    if squared:
        H, b = H + 4.0 * rows.Zp.T @ rows.Zp, b - 4.0 * rows.Zp.sum(axis=0)
    else:
        b = b - a @ rows.Zp
    best, factor = np.linalg.solve(H, -b), cho_factor(H, lower=True)
    start = best + rng.normal(size=len(b))
    found, gap = refined(start, a, rows, factor)
    np.testing.assert_allclose(found, best, atol=1e-9)
    assert gap < 1e-18
    monkeypatch.setattr(glpual_problem, "REFINEMENTS", 0)
    found, gap = refined(start, a, rows, factor)
    np.testing.assert_array_equal(found, start)
    assert gap == pytest.approx(0.5 * (start - best) @ H @ (start - best))


@pytest.mark.parametrize("offset", [1e8, 1e12])
def test_far_from_the_origin_the_value_is_that_of_the_rounded_intercept(offset):
    for seed in range(3):
        X, y = problem(seed, n=40, n_p=15)
        rows = GlobalLocalProblem(with_intercept(X + offset), y == 1, mutual_knn(X, 5).edges(1.0), 0.5, 1.0, 0.2)
        found = solve_glpual(rows, tol=1e-10)
        exact = rows._replace(Z=rows.Z.astype(np.longdouble)).objective(found.coef.astype(np.longdouble))
        assert found.objective == pytest.approx(exact, rel=1e-10 if offset < 1e10 else 1e-7)
        assert found.converged == (found.gap <= 1e-10 * found.objective)


@given(seed=st.integers(0, 1000), mu=st.sampled_from([0.1, 1.0, 5.0]))
@examples(10)
def test_admm_and_dual_agree(seed, mu):
    X, y = problem(seed)
    dual = GLPUAL(lam=0.5, tol=1e-8).fit(X, y)
    admm = GLPUAL(lam=0.5, solver="admm", mu=mu, tol=1e-8, max_iter=200_000).fit(X, y)
    assert abs(dual.objective_ - admm.objective_) <= dual.dual_gap_ + admm.dual_gap_ + 1e-9
    np.testing.assert_allclose(admm.decision_function(X), dual.decision_function(X), atol=1e-2)


@given(d=st.floats(-5, 5), c=st.floats(0.01, 4))
def test_hinge_shrinkage_minimizes_its_subproblem(d, c):
    x = float(shrink_hinge(np.array(d), c))
    grid = np.linspace(-10, 10, 4001)
    value = c * max(x, 0) + 0.5 * (x - d) ** 2
    assert value <= np.min(c * np.maximum(grid, 0) + 0.5 * (grid - d) ** 2) + 1e-12


def printed_updates(K, labeled, c_p, c_u, mu, n_iter, R):
    """Equations (3.17) and (3.24)-(3.26) as printed, with every vector at full length."""
    p, u_rows = np.flatnonzero(labeled), np.flatnonzero(~labeled)
    n_p, n_u, n = len(p), len(u_rows), len(labeled)
    order = np.r_[p, u_rows]
    Phi, R = K[np.ix_(order, order)], R[np.ix_(order, order)]
    Phi_p, Phi_u = Phi[:n_p], Phi[n_p:]
    one_p, one_u, one = np.ones(n_p), np.ones(n_u), np.ones(n)
    h, u = np.ones(n_p), np.zeros(n_p)
    for _ in range(n_iter):
        m2 = -2 * c_u * n_u + u @ one_p + mu * (one_p - h) @ one_p
        M22 = 2 * c_u * n_u + 2 * one @ R @ one + mu * n_p
        head = np.r_[u - mu * m2 / M22 * one_p + mu * (one_p - h), -2 * c_u * one_u - 2 * m2 / M22 * c_u * one_u]
        Omega = head - 2 * m2 / M22 * (R @ one)
        Q_b = 2 * c_u * one_u @ Phi_u @ Omega + 2 * one @ R @ Phi @ Omega + mu * one_p @ Phi_p @ Omega
        b0 = m2 / M22 - Q_b / M22
        f_p = Phi_p @ Omega + b0
        d, c = 1 + u / mu - f_p, c_p / mu
        h = np.where(d > c, d - c, np.where(d < 0, d, 0.0))
        u = u + mu * (1 - f_p - h)
    return Phi @ Omega + b0, order


@pytest.mark.parametrize("sigma", [0.1, 100.0])
@pytest.mark.parametrize("width", [0.5, 3.0])
def test_thesis_form_is_the_printed_iteration_and_ignores_sigma(width, sigma):
    X, y = problem(7, n=50)
    K = rbf_from_distances(squared_distances(X), width)
    graph = mutual_knn(X, 5)
    W = np.zeros((50, 50))
    W[graph.i, graph.j] = W[graph.j, graph.i] = np.exp(-graph.squared_distance / sigma)
    R = (np.diag(W.sum(axis=0)) - W) / 50
    f, order = printed_updates(K, y == 1, 1.0, 0.3, 0.01, 150, R)
    model = GLPUAL(kernel="rbf", form="thesis", width=width, c_u=0.3, sigma=sigma).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X)[order], f, atol=1e-8)
    assert np.isnan(model.dual_gap_) and model.residual_ > 0


def test_thesis_form_of_gllc_satisfies_its_necessary_condition():
    """(3.15) for the squared loss: f = Phi Omega + beta_0 with Omega and beta_0 from the normal equations."""
    X, y = problem(8, n=30)
    labeled = y == 1
    K = rbf_from_distances(squared_distances(X), 1.0)
    c_p, c_u = 1.0, 0.2
    result = solve_thesis(K, labeled, c_p, c_u, squared=True)
    n_p, n_u = labeled.sum(), (~labeled).sum()
    M22 = 2 * c_u * n_u + 2 * c_p * n_p
    m2 = -2 * c_u * n_u + 2 * c_p * n_p
    Omega = np.where(labeled, 2 * c_p * (1 - m2 / M22), -2 * c_u * (1 + m2 / M22))
    Q_b = (2 * c_u * ~labeled + 2 * c_p * labeled) @ K @ Omega
    np.testing.assert_allclose(result.coef, Omega[labeled])
    np.testing.assert_allclose(result.omega_u, Omega[~labeled][0])
    np.testing.assert_allclose(result.intercept, (m2 - Q_b) / M22)


def test_thesis_form_reports_divergence():
    X, y = problem(9, n=60, n_p=20)
    with pytest.warns(UserWarning, match="GLPUAL stopped"):
        model = GLPUAL(kernel="rbf", form="thesis", width=3.0, c_u=0.5, mu=50.0, max_iter=3000).fit(X, y)
    assert not model.converged_


def test_not_converged_gives_a_warning():
    X, y = problem(10, n=200, m=2, n_p=80)
    with pytest.warns(UserWarning, match=r"stopped after 1 iteration above the tolerance"):
        model = GLPUAL(lam=1e-3, c_u=0.01, max_iter=1, tol=1e-12).fit(X, y)
    assert not model.converged_ and model.dual_gap_ > 0


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), ("no", "yes")])
def test_any_two_labels_come_back(labels):
    X, y = problem(11)
    model = GLPUAL().fit(X, np.array(labels)[y.astype(int)])
    assert set(model.predict(X).tolist()) <= set(labels)
    np.testing.assert_array_equal(model.predict(X) == labels[1], model.decision_function(X) > 0)


def test_duplicate_rows_and_constant_features_work():
    X, y = problem(12)
    X = np.column_stack([np.vstack([X, X]), np.full(2 * len(X), 3.0)])
    for kernel in ("linear", "rbf"):
        model = GLPUAL(kernel=kernel).fit(X, np.r_[y, y])
        assert model.converged_


def test_read_only_input_is_not_changed():
    X, y = problem(13)
    X.setflags(write=False)
    y.setflags(write=False)
    for model in (GLPUAL(), GLLC(kernel="rbf"), GLPUAL(kernel="rbf", form="thesis")):
        model.fit(X, y).predict(X)


def test_thesis_form_needs_a_kernel():
    with pytest.raises(ValueError, match="set kernel='rbf'"):
        GLPUAL(form="thesis").fit(*problem(0))


def test_objective_function_is_the_definition():
    X, y = problem(14)
    graph = mutual_knn(X, 5)
    edges = graph.edges(1.0)
    w = np.random.default_rng(0).normal(size=4)
    model = GLPUAL(lam=1.0, c_u=0.1, sigma=1.0)
    f = X @ w[:-1] + w[-1]
    expected = objective_of(f, y, X, model, False, w[:-1] @ w[:-1])
    assert np.isclose(
        GlobalLocalProblem(with_intercept(X), y == 1, edges, model.lam, model.c_p, model.c_u).objective(w), expected
    )


def test_too_little_memory_is_told_before_neighbors_are_searched(monkeypatch):
    searched = []
    monkeypatch.setattr("pucli.core.memory.available_bytes", lambda: 1000)
    monkeypatch.setattr("pucli.estimators.global_local.glpual.mutual_knn", lambda *given: searched.append(given))
    X, y = problem(0, n=60)
    with pytest.raises(ValueError, match="the kernel matrix of 60 rows takes"):
        GLPUAL(kernel="rbf", form="thesis").fit(X, y)
    monkeypatch.setattr("pucli.estimators.global_local.feature_model.WHOLE_KERNEL_ROWS", 50)
    with pytest.raises(ValueError, match="500 landmarks for 60 rows takes"):
        GLPUAL(kernel="rbf").fit(X, y)
    assert not searched
