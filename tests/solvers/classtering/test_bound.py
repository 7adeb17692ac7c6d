"""The lower bound of Classtering and its updates: against a plain sum of expectations and numerical maximizers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import digamma, gammaln

from pucli.solvers.classtering import updates as solver
from pucli.solvers.classtering.bound import lower_bound
from pucli.solvers.classtering.state import Globals, Hyper, State, rows
from tests.helpers import examples


def arbitrary(seed: int, n=6, d=2, k=1, S=2, K=2, collapsed=True):
    """Rows and a state in which nothing is at its optimum."""
    rng = np.random.default_rng(seed)
    data = rows(rng.normal(size=(n, d)) * 2.0, rng.integers(-1, K, n), collapsed)
    hyper = Hyper(
        psi=rng.uniform(0.2, 2.0, d),
        mu0=rng.normal(size=d),
        nu0=rng.uniform(0.2, 2.0, d),
        a=rng.uniform(0.5, 2.0),
        b=rng.uniform(0.5, 2.0),
        alpha=rng.uniform(0.5, 3.0),
        gamma=rng.uniform(0.5, 3.0, K),
    )
    root = rng.normal(size=(S, d, k + 1, k + 1)) * 0.5
    q = Globals(
        omega=rng.uniform(0.5, 5.0, S),
        phi=rng.uniform(0.5, 5.0, (S, K)),
        mean=rng.normal(size=(S, d, k + 1)),
        cov=root @ root.swapaxes(2, 3) + 0.1 * np.eye(k + 1),
        shape=rng.uniform(0.5, 3.0),
        rate=rng.uniform(0.5, 3.0, (S, k)),
    )
    R = rng.dirichlet(np.ones(S), size=n)
    root = rng.normal(size=(S, k, k)) * 0.5
    given_class = np.zeros((S, K)) if collapsed else rng.dirichlet(np.ones(K), size=S)
    xmean = rng.normal(size=(n, S, k))
    xcov = root @ root.swapaxes(1, 2) + 0.1 * np.eye(k)
    local = solver._local_sums(data, R, xmean, xcov, given_class)
    return data, State(hyper, q, local), xmean


def plain_bound(data, state, xmean) -> float:
    """F written out as expectations and entropies, one row, component and feature at a time."""
    hyper, q, local = state
    S, d, k1 = q.mean.shape
    k, K = k1 - 1, q.phi.shape[1]
    log_pi = digamma(q.omega) - digamma(q.omega.sum())
    log_beta = digamma(q.phi) - digamma(q.phi.sum(axis=1, keepdims=True))
    nu, log_nu = q.shape / q.rate, digamma(q.shape) - np.log(q.rate)

    def log_dirichlet(expected_logs, prior):
        # the density at exp(expected_logs), which need not sum to one: written out, not by scipy
        return gammaln(prior.sum()) - gammaln(prior).sum() + ((prior - 1.0) * expected_logs).sum()

    F = log_dirichlet(log_pi, np.full(S, hyper.alpha / S)) + stats.dirichlet(q.omega).entropy()
    for s in range(S):
        F += log_dirichlet(log_beta[s], hyper.gamma)
        if K > 1:
            F += stats.dirichlet(q.phi[s]).entropy()
        for j in range(k):
            F += hyper.a * np.log(hyper.b) - gammaln(hyper.a) + (hyper.a - 1) * log_nu[s, j] - hyper.b * nu[s, j]
            F += stats.gamma(q.shape, scale=1.0 / q.rate[s, j]).entropy()
        for i in range(d):
            m, C = q.mean[s, i], q.cov[s, i]
            F += stats.multivariate_normal(m, C).entropy()
            for j in range(k):
                F += 0.5 * (log_nu[s, j] - np.log(2 * np.pi)) - 0.5 * nu[s, j] * (m[j] ** 2 + C[j, j])
            F += 0.5 * np.log(hyper.nu0[i] / (2 * np.pi))
            F -= 0.5 * hyper.nu0[i] * ((m[k] - hyper.mu0[i]) ** 2 + C[k, k])
    for n in range(len(data.X)):
        for s in range(S):
            r = local.R[n, s]
            term = log_pi[s] - np.log(r)
            if data.labels[n] >= 0:
                term += log_beta[s, data.labels[n]]
            elif not data.collapsed:
                w = local.labels_given[s]
                term += (w * (log_beta[s] - np.log(w))).sum()
            x, V = xmean[n, s], local.xcov[s]
            term += stats.multivariate_normal(x, V).entropy() - 0.5 * k * np.log(2 * np.pi)
            term -= 0.5 * (x @ x + np.trace(V))
            x1 = np.append(x, 1.0)
            V1 = np.zeros((k1, k1))
            V1[:k, :k] = V
            second = np.outer(x1, x1) + V1
            for i in range(d):
                m, C = q.mean[s, i], q.cov[s, i]
                square = data.X[n, i] ** 2 - 2 * data.X[n, i] * (m @ x1) + np.sum((np.outer(m, m) + C) * second)
                term -= 0.5 * np.log(2 * np.pi * hyper.psi[i]) + 0.5 * square / hyper.psi[i]
            F += r * term
    return F


@pytest.mark.parametrize("collapsed", [True, False])
@pytest.mark.parametrize("k", [1, 2])
def test_bound_is_the_sum_of_expectations_and_entropies(collapsed, k):
    data, state, xmean = arbitrary(k, d=3, k=k, S=3, K=3, collapsed=collapsed)
    assert lower_bound(data, state) == pytest.approx(plain_bound(data, state, xmean), rel=1e-10)


UPDATES = {
    "local": lambda data, state: state._replace(local=solver.update_local(data, *state[:2])),
    "loadings": lambda data, state: solver.update_loadings(state),
    "relevance": lambda data, state: solver.update_relevance(state),
    "weights": lambda data, state: solver.update_weights(state),
    "noise": solver.update_noise,
    "mean prior": lambda data, state: solver.update_mean_prior(state),
    "relevance prior": lambda data, state: solver.update_relevance_prior(state),
    "class prior": lambda data, state: solver.update_class_prior(state),
}


@examples(30)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 30),
    d=st.integers(1, 4),
    S=st.integers(1, 4),
    K=st.integers(1, 3),
    collapsed=st.booleans(),
    order=st.permutations(sorted(UPDATES)),
)
@pytest.mark.slow
def test_no_update_lowers_the_bound(seed, n, d, S, K, collapsed, order):
    data, state, _ = arbitrary(seed, n=n, d=d, k=min(2, d), S=S, K=K, collapsed=collapsed)
    bound = lower_bound(data, state)
    for name in [*order, *order, *order]:
        state = UPDATES[name](data, state)
        raised = lower_bound(data, state)
        assert raised >= bound - 1e-9 * max(abs(bound), 1.0), name
        bound = raised


def maximum(bound_of, start, seed) -> float:
    """The highest bound that a quasi-Newton method finds from a random start, repeated."""
    rng = np.random.default_rng(seed)
    best = -np.inf
    for _ in range(3):
        found = optimize.minimize(
            lambda v: -bound_of(v), start + 0.3 * rng.normal(size=start.shape), method="BFGS", options={"gtol": 1e-7}
        )
        best = max(best, -found.fun)
    return best


def softmax(v):
    e = np.exp(v - v.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.mark.slow
@pytest.mark.parametrize("collapsed", [True, False])
def test_row_update_is_the_numerical_maximum(collapsed):
    data, (h, q, _), xmean = arbitrary(3, n=4, collapsed=collapsed)
    n, S, k = xmean.shape

    def bound_of(v):
        R, x, root, w = v[: n * S], v[n * S : 2 * n * S], v[2 * n * S : 2 * n * S + S], v[2 * n * S + S :]
        given_class = np.zeros(q.phi.shape) if collapsed else softmax(w.reshape(q.phi.shape))
        changed = solver._local_sums(
            data, softmax(R.reshape(n, S)), x.reshape(n, S, k), np.exp(root).reshape(S, 1, 1), given_class
        )
        return lower_bound(data, State(h, q, changed))

    update = lower_bound(data, State(h, q, solver.update_local(data, h, q)))
    assert update == pytest.approx(maximum(bound_of, np.zeros(2 * n * S + S + q.phi.size), 0), abs=1e-5)


@pytest.mark.slow
def test_loading_update_is_the_numerical_maximum():
    data, (h, q, local), _ = arbitrary(4)
    S, d, k1 = q.mean.shape

    def bound_of(v):
        mean, entries = v[: S * d * k1].reshape(S, d, k1), v[S * d * k1 :].reshape(S, d, 3)
        root = np.zeros((S, d, 2, 2))
        root[..., 0, 0], root[..., 1, 0], root[..., 1, 1] = (
            np.exp(entries[..., 0]),
            entries[..., 1],
            np.exp(entries[..., 2]),
        )
        return lower_bound(data, State(h, q._replace(mean=mean, cov=root @ root.swapaxes(2, 3)), local))

    update = lower_bound(data, solver.update_loadings(State(h, q, local)))
    assert update == pytest.approx(maximum(bound_of, np.zeros(S * d * (k1 + 3)), 0), abs=1e-5)


def test_weight_and_relevance_updates_are_the_numerical_maxima():
    data, (h, q, local), _ = arbitrary(5, collapsed=False)

    def weights(v):
        omega, phi = np.exp(v[: q.omega.size]), np.exp(v[q.omega.size :]).reshape(q.phi.shape)
        return lower_bound(data, State(h, q._replace(omega=omega, phi=phi), local))

    update = lower_bound(data, solver.update_weights(State(h, q, local)))
    assert update == pytest.approx(maximum(weights, np.zeros(q.omega.size + q.phi.size), 0), abs=1e-5)

    def relevance(v):
        changed = q._replace(shape=float(np.exp(v[0])), rate=np.exp(v[1:]).reshape(q.rate.shape))
        return lower_bound(data, State(h, changed, local))

    update = lower_bound(data, solver.update_relevance(State(h, q, local)))
    assert update == pytest.approx(maximum(relevance, np.zeros(1 + q.rate.size), 0), abs=1e-5)


@pytest.mark.parametrize("seed", [9, 10, 22])
def test_relevance_and_its_prior_reach_the_numerical_maximum_together(seed):
    data, (h, q, local), _ = arbitrary(seed, d=3, S=3)
    q = q._replace(mean=q.mean * np.array([0.3, 1.0, 4.0])[:, None, None])  # else a runs off to infinity

    def bound_of(v):
        prior = h._replace(a=float(np.exp(v[0])), b=float(np.exp(v[1])))
        nu = q._replace(shape=float(np.exp(v[2])), rate=np.exp(v[3:]).reshape(q.rate.shape))
        return lower_bound(data, State(prior, nu, local))

    found = maximum(bound_of, np.zeros(3 + q.rate.size), 0)
    state = State(h, q, local)
    for _ in range(30):
        state = solver.update_relevance_prior(state)
    assert lower_bound(data, state) == pytest.approx(found, abs=1e-5)


def test_hyper_parameter_updates_are_the_numerical_maxima():
    data, state, _ = arbitrary(6, S=3)
    h, q, local = state
    d = len(h.psi)
    updates = [
        (solver.update_noise(data, state), lambda v: h._replace(psi=np.exp(v[:d]))),
        (solver.update_mean_prior(state), lambda v: h._replace(mu0=v[:d], nu0=np.exp(v[d : 2 * d]))),
        (
            solver.update_class_prior(state, n_steps=2000),
            lambda v: h._replace(gamma=np.exp(v[: len(h.gamma)])),
        ),
    ]
    for updated, changed in updates:
        found = maximum(lambda v, changed=changed: lower_bound(data, State(changed(v), q, local)), np.zeros(2 * d), 0)
        assert lower_bound(data, updated) == pytest.approx(found, abs=1e-4)


@examples(20)
@given(st.integers(0, 10**6))
def test_summing_the_labels_out_raises_the_bound(seed):
    data, (h, q, _), _ = arbitrary(seed, collapsed=False)
    bounds = [
        lower_bound(rows, State(h, q, solver.update_local(rows, h, q)))
        for rows in (data, data._replace(collapsed=True))
    ]
    assert bounds[0] <= bounds[1]


@given(st.floats(-50.0, 8.0))
def test_inverse_digamma(y):
    assert digamma(solver.inverse_digamma(y)) == pytest.approx(y, abs=1e-9, rel=1e-9)
