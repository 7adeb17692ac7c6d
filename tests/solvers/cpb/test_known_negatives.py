"""The PNU risk of Sakai et al. (2017) in CPB-GLPUAL."""

import numpy as np
import pytest
from scipy.optimize import minimize

from pucli.estimators import CPBGLPUAL
from pucli.solvers.cpb.problem import CPBProblem, pnu_weights
from pucli.solvers.kernels.graph import mutual_knn
from pucli.solvers.kernels.intercept import with_intercept


def rows(seed=0, n=90):
    random = np.random.default_rng(seed)
    positive = random.random(n) < 0.4
    X = random.normal(size=(n, 2)) + 2.0 * positive[:, None]
    y = np.zeros(n, dtype=int)
    y[np.flatnonzero(positive)[:20]], y[np.flatnonzero(~positive)[:15]] = 1, -1
    return X, y


def objective(w, X, y, eta, prior=0.3, lam=0.05):
    """(1 - eta) R_PN + eta R_PU with the hinge and the absolute loss, the ridge and f'Rf, from the definition."""
    f = X @ w[:-1] + w[-1]
    p, q, u = f[y == 1], f[y == -1], f[y == 0]
    hinge = prior * np.maximum(1.0 - p, 0.0).mean()
    both = hinge + (1.0 - prior) * np.abs(1.0 + q).mean()
    other = hinge - prior * np.abs(1.0 + p).mean() + np.abs(1.0 + u).mean()
    i, j, weight = mutual_knn(X, 5).edges(1.0)
    ridge = 0.5 * lam * w[:-1] @ w[:-1]
    return (1.0 - eta) * both + eta * other + ridge + (weight * (f[i] - f[j]) ** 2).sum()


@pytest.mark.parametrize("eta", [0.2, 0.5, 0.9])
def test_no_start_of_a_minimiser_finds_less(eta):
    X, y = rows()
    model = CPBGLPUAL(prior=0.3, lam=0.05, kernel="linear", neg_label=-1, eta=eta).fit(X, y)
    w = np.append(model.coef_, model.intercept_)
    assert model.converged_ and model.objective_ == pytest.approx(objective(w, X, y, eta), rel=1e-9)
    random = np.random.default_rng(1)
    starts = [w, np.zeros(3), random.normal(size=3)]
    best = min(minimize(objective, start, (X, y, eta), method="Powell", tol=1e-8).fun for start in starts)
    assert model.objective_ <= best + 1e-6
    steps = CPBGLPUAL(prior=0.3, lam=0.05, kernel="linear", neg_label=-1, eta=eta, solver="admm", mu=0.05).fit(X, y)
    assert steps.converged_ and steps.objective_ == pytest.approx(model.objective_, rel=1e-6)


def test_with_eta_one_known_negatives_do_not_count():
    X, y = rows()
    Z, labelled, kept, edges = with_intercept(X), y == 1, y != -1, mutual_knn(X).edges(1.0)
    weights = pnu_weights(labelled, y == -1, 0.3, 1.0)
    w = np.array([0.4, -1.0, 0.3])
    none = tuple(part[:0] for part in edges)
    with_them = CPBProblem(Z, labelled, none, 0.3, 0.1, weights).objective(w)
    assert with_them == pytest.approx(CPBProblem(Z[kept], labelled[kept], none, 0.3, 0.1).objective(w))
    plain, named = (CPBGLPUAL(prior=0.3, neg_label=label, eta=0.2).fit(X, labelled.astype(int)) for label in (None, -1))
    assert np.array_equal(plain.decision_function(X), named.decision_function(X))
    with pytest.raises(ValueError, match="as printed, without known negatives"):
        CPBGLPUAL(prior=0.3, form="thesis", neg_label=-1).fit(X, y)
