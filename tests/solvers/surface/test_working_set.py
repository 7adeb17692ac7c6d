"""Inequality (4.58) of Wang 2024: coefficients of similar surface features, of features that share no group."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pucli.estimators.base.data_defaults import L1_SHARE, l1_of_groups
from pucli.estimators.global_local.elastic import EKFGLPUAL
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.graph import laplacian_product, mutual_knn
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.quadratic_surface import surface_features, surface_groups, surface_ridge
from pucli.solvers.surface.problem import surface_problem
from pucli.solvers.surface.working_set import solve_surface
from tests.helpers import examples


def sides(seed, share, lam2, c_p, c_u):
    """Yield, per pair, the left side of (4.58) as printed, with lam1 / (2 lam2) on the shares of groups, and the right.

    The pairs are those of coefficients of x_j and x_j^2 / 2, which are in one group each, of features with a norm above
    0; a column is nearly another one's copy.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=40)
    labeled = np.arange(40) < 10
    X[labeled] += [0.8, 0.8, 0.0]
    edges, S, G = mutual_knn(X, 5).edges(1.0), surface_features(X), surface_ridge(X)
    problem = surface_problem(GlobalLocalProblem(with_intercept(S), labeled, edges, lam2, c_p, c_u), G)
    lam1 = share * l1_of_groups(EKFGLPUAL(c_p=c_p, c_u=c_u), X, labeled) / L1_SHARE
    fit = solve_surface(problem, lam1, tol=1e-10)
    assert fit.converged
    alpha, groups = fit.coef[:-1], surface_groups(3)
    norms = np.linalg.norm(alpha[groups], axis=1)
    n_p, n_u = 10, 30
    own = [(groups[j, k], norms[j]) for j in range(3) for k in (j, 3) if norms[j] > 1e-3 * norms.max()]
    for (i, norm_i), (j, norm_j) in combinations(own, 2):
        difference = S[:, i] - S[:, j]
        length = np.linalg.norm(difference)
        graph = np.sqrt(difference @ laplacian_product(*edges, difference[:, None])[:, 0])
        right = 2.0 * c_u / lam2 * np.sqrt(n_p * c_p / c_u + n_u) * length + np.sqrt(n_p) * c_p / lam2 * length
        right += 2.0 / lam2 * np.sqrt(n_p * c_p + n_u * c_u) * graph
        shares, ridge = alpha[i] / norm_i - alpha[j] / norm_j, (G[i] - G[j]) @ alpha
        yield abs(shares + ridge), abs(lam1 / (2.0 * lam2) * shares + ridge), right


@given(
    st.integers(0, 10**6), st.floats(0.01, 0.9), st.floats(0.01, 100.0), st.floats(0.1, 10.0), st.floats(0.01, 1.0)
)  # fmt: skip
@examples(6)
def test_the_bound_holds_with_the_weights_of_both_penalties(seed, share, lam2, c_p, c_u):
    for _, left, right in sides(seed, share, lam2, c_p, c_u):
        assert left <= right * (1.0 + 1e-6)


def test_the_bound_fails_without_them_as_it_is_printed():
    """The printed left side has the shares of the groups without lam1 / (2 lam2); the right falls with 1 / lam2."""
    pairs = list(sides(0, 0.1, 1e4, 1.0, 0.1))
    assert any(printed > right for printed, _, right in pairs)
    assert all(left <= right for _, left, right in pairs)
