"""Predictions of a fitted Classtering, compared with its posterior and with (2.5) maximized numerically."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize
from scipy.special import digamma, softmax

from pucli.estimators.semi_supervised import classtering
from pucli.estimators.semi_supervised.classtering import Classtering
from pucli.solvers.classtering import updates as solver
from pucli.solvers.classtering.moves import Fit
from pucli.solvers.classtering.state import Globals, Hyper, Locals, State


def posterior(seed: int, S: int, d: int, k: int, K: int) -> tuple[Hyper, Globals]:
    """Return a posterior in which nothing is at its optimum and no two components, factors or classes are alike."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(S, d, k + 1, k + 1))
    hyper = Hyper(rng.uniform(0.3, 1.0, d), np.zeros(d), np.ones(d), 1.0, 1.0, 1.0, np.ones(K))
    q = Globals(
        omega=rng.uniform(0.5, 5.0, S),
        phi=rng.uniform(0.2, 3.0, (S, K)),
        mean=rng.normal(size=(S, d, k + 1)),
        cov=0.3 * root @ root.swapaxes(2, 3),
        shape=1.5,
        rate=rng.uniform(0.5, 3.0, (S, k)),
    )
    return hyper, q


def fitted(monkeypatch, hyper, q, X, y, form) -> tuple[Classtering, Locals]:
    """Return an estimator whose fit has ended at the posterior (hyper, q), and the row variables there."""
    ended = []

    def best_fit(self, data):
        ended.append(solver.update_local(data, hyper, q))
        return Fit(
            objective=0.0,
            residual=0.0,
            n_iter=1,
            converged=True,
            state=State(hyper, q, ended[0]),
            bounds=np.zeros(1),
            births=0,
            deaths=0,
        )

    monkeypatch.setattr(Classtering, "_best_fit", best_fit)
    return Classtering(n_factors=q.rate.shape[1], form=form).fit(X, y), ended[0]


@pytest.mark.parametrize("form", ["collapsed", "thesis"])
def test_sorting_components_and_factors_does_not_change_predictions(monkeypatch, form):
    hyper, q = posterior(0, S=4, d=3, k=2, K=2)
    X = 2.0 * np.random.default_rng(1).normal(size=(40, 3))
    model, local = fitted(monkeypatch, hyper, q, X, np.arange(40) % 3 - 1, form)
    order = np.argsort(-local.mass)
    assert (order != np.arange(4)).sum() >= 3
    assert (np.diff(q.rate, axis=1) > 0).any() and (np.diff(q.rate, axis=1) < 0).any()
    terms = solver.row_terms((X - X.mean(axis=0)) / model._scale, hyper, q)[2]
    R, bound = solver.assignments(terms, np.full(40, -1), q, form == "collapsed")
    np.testing.assert_allclose(model.score_samples(X), bound - 3 * np.log(model._scale), rtol=1e-10)
    np.testing.assert_allclose(model.predict_cluster_proba(X), R[:, order], atol=1e-10)
    np.testing.assert_allclose(model.means_, q.mean[order, :, -1] * model._scale + X.mean(axis=0))
    np.testing.assert_allclose(model.cluster_class_proba_, (q.phi / q.phi.sum(axis=1, keepdims=True))[order])


def test_the_start_with_the_highest_bound_is_kept(monkeypatch):
    bounds, fit = [], classtering.fit

    def spy(*args, **kwargs):
        found = fit(*args, **{**kwargs, "moves": False})  # births and deaths would level the starts
        bounds.append(found.bounds[-1])
        return found

    monkeypatch.setattr(classtering, "fit", spy)
    X = np.random.default_rng(0).normal(size=(60, 2)) + 6.0 * np.eye(2)[np.arange(60) % 2]
    model = Classtering(starts=(1, 2, 8), random_state=0).fit(X)
    assert np.argmax(bounds) == 1 and bounds[1] > max(bounds[0], bounds[2]) + 1.0
    assert model.n_components_ == 2
    assert model.objective_ == pytest.approx(max(bounds) - X.size * np.log(model._scale))


def plain_bound(z, hyper, q, R, x, variance) -> float:
    """The bound (2.5) of one row z (d,) with one factor: R (S, K) of q(s, l), x and variance (S,) of q(x | s)."""
    log_pi = digamma(q.omega) - digamma(q.omega.sum())
    log_beta = digamma(q.phi) - digamma(q.phi.sum(axis=1, keepdims=True))
    total = 0.0
    for s, c in np.ndindex(R.shape):
        term = log_pi[s] + log_beta[s, c] - np.log(R[s, c])
        term += 0.5 * (1.0 + np.log(variance[s]) - x[s] ** 2 - variance[s])
        second = np.array([[x[s] ** 2 + variance[s], x[s]], [x[s], 1.0]])
        for i, value in enumerate(z):
            m, C = q.mean[s, i], q.cov[s, i]
            square = value**2 - 2.0 * value * (m @ [x[s], 1.0]) + np.sum((np.outer(m, m) + C) * second)
            term -= 0.5 * np.log(2.0 * np.pi * hyper.psi[i]) + 0.5 * square / hyper.psi[i]
        total += R[s, c] * term
    return total


@pytest.mark.slow
def test_thesis_form_predicts_the_labels_that_maximize_the_bound(monkeypatch):
    S, K = 2, 3
    hyper, q = posterior(2, S, d=2, k=1, K=K)
    X = np.random.default_rng(3).normal(size=(8, 2))
    model, _ = fitted(monkeypatch, hyper, q, X, np.arange(8) % 4 - 1, "thesis")
    proba, score = model.predict_proba(X), model.score_samples(X)
    for n in range(3):
        z = (X[n] - X.mean(axis=0)) / model._scale

        def minus_bound(v, z=z):
            R = softmax(v[: S * K]).reshape(S, K)
            return -plain_bound(z, hyper, q, R, v[S * K : S * K + S], np.exp(v[S * K + S :]))

        found = optimize.minimize(minus_bound, np.zeros(S * K + 2 * S), method="BFGS", options={"gtol": 1e-7})
        np.testing.assert_allclose(proba[n], softmax(found.x[: S * K]).reshape(S, K).sum(axis=0), atol=1e-4)
        assert score[n] == pytest.approx(-found.fun - 2 * np.log(model._scale), abs=1e-6)
