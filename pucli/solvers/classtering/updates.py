"""Classtering: variational Bayes for a mixture of factor analyzers with class labels (Sansone 2018, chapter 2).

Row n comes from one of S components s with probability pi_s; a component is a factor analyzer,

    y_n = Lambda_s x_n + mu_s + noise,    x_n ~ N(0, I_k),    noise ~ N(0, diag(psi)),

and gives the row the class l with probability beta_sl. Priors: pi ~ Dir(alpha/S), beta_s ~ Dir(gamma),
column j of Lambda_s ~ N(0, I/nu_sj), nu_sj ~ Gamma(a, b), mu_s ~ N(mu0, diag(nu0)^-1). The family of q factorizes
into pi, beta, nu, (Lambda_s, mu_s) jointly, and (x_n, s_n, l_n). Every function `update_*` below maximizes the lower
bound F of (2.3) over one factor, or over one group of hyper-parameters, with everything else fixed, so F never
decreases. The model without labels is that of Ghahramani and Beal (2000), whose notation is used here.

All work on the rows consists of matrix products with S(k+1) columns: time and memory are linear in N, and the largest
arrays are N x S(k+1) and S x d x (k+1) x (k+1). The bound is computed in `classtering.bound`; births and deaths of
components are in `classtering.moves`.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln, zeta

from pucli.core.arrays import Floats, Ints
from pucli.solvers.classtering.state import (
    CONCENTRATION_RANGE,
    NU0_MAX,
    PSI_MIN,
    RATE_MIN,
    SHAPE_RANGE,
    ClassteringRows,
    Globals,
    Hyper,
    Locals,
    State,
)


def start(data: ClassteringRows, hyper: Hyper, R: Floats, n_factors: int) -> State:
    """Return the state for given responsibilities, with each component's principal axes as its factors."""
    S, d, K = R.shape[1], data.X.shape[1], len(hyper.gamma)
    mass = R.sum(axis=0)
    mean = np.zeros((S, d, n_factors + 1))
    mean[:, :, -1] = (R.T @ data.X + hyper.mu0) / (mass + 1.0)[:, None]
    for s in range(S):
        axes, spread = principal_axes(data.X, R[:, s], mean[s, :, -1], n_factors)
        mean[s, :, : axes.shape[1]] = axes * spread
    precision = np.concatenate([np.ones(n_factors), [0.0]]) + (
        mass[:, None, None] / hyper.psi[:, None] + hyper.nu0[:, None]
    )
    q = Globals(
        omega=hyper.alpha / S + mass,
        phi=hyper.gamma + np.outer(mass, np.full(K, 1.0 / K)),
        mean=mean,
        cov=(1.0 / precision)[..., None] * np.eye(n_factors + 1),
        shape=hyper.a + 0.5 * d,
        rate=np.full((S, n_factors), hyper.b + 0.5 * d),
    )
    return State(hyper, q, update_local(data, hyper, q, R))


def principal_axes(X: Floats, weight: Floats, center: Floats, n_axes: int) -> tuple[Floats, Floats]:
    """Return the leading principal axes of weighted rows (d, n_axes) and the deviations along them (n_axes,)."""
    Z = (X - center) * np.sqrt(weight / max(weight.sum(), 1e-12))[:, None]
    n, d = Z.shape
    if n < d:
        values, vectors = np.linalg.eigh(Z @ Z.T)
        spread = np.sqrt(np.maximum(values[::-1][:n_axes], 0.0))
        return Z.T @ vectors[:, ::-1][:, :n_axes] / np.maximum(spread, 1e-12), spread
    values, vectors = np.linalg.eigh(Z.T @ Z)
    return vectors[:, ::-1][:, :n_axes], np.sqrt(np.maximum(values[::-1][:n_axes], 0.0))


def row_terms(X: Floats, hyper: Hyper, q: Globals) -> tuple[Floats, Floats, Floats]:
    """Return q(x | y, s) and each row's share of F given the component."""
    S, d, k1 = q.mean.shape
    k = k1 - 1
    scaled = q.mean / hyper.psi[:, None]
    B = second_moments(hyper, q)
    xcov = np.asarray(np.linalg.inv(np.eye(k) + B[:, :k, :k]), dtype=np.float64)
    by_factor = scaled[:, :, :k].transpose(1, 0, 2).reshape(d, S * k)
    # h = <Lambda' Psi^-1 (y - mu)>, xmean = xcov h
    h = X @ by_factor - B[:, :k, k].ravel()
    by_mean = (scaled[:, :, :k] @ xcov).transpose(1, 0, 2).reshape(d, S * k)
    xmean = X @ by_mean - np.einsum("sk,skl->sl", B[:, :k, k], xcov).ravel()
    explained = sum_of_factors((h * xmean).reshape(len(X), S, k))
    constant = -0.5 * np.log(2.0 * np.pi * hyper.psi).sum() - 0.5 * B[:, k, k] + 0.5 * np.linalg.slogdet(xcov)[1]
    E = X @ scaled[:, :, k].T
    E += 0.5 * explained
    E += constant
    E -= 0.5 * ((X * X) @ (1.0 / hyper.psi))[:, None]
    return xmean.reshape(len(X), S, k), xcov, E


def sum_of_factors(parts: Floats) -> Floats:
    """Return the sums over the last axis of (n, S, k), to the bits of NumPy's, which is slow for so short an axis."""
    k = parts.shape[2]
    if k >= 8:  # NumPy sums in another order then
        direct: Floats = parts.sum(axis=2)
        return direct
    total = parts[:, :, 0]
    for j in range(1, k):
        total = total + parts[:, :, j]
    return total


def second_moments(hyper: Hyper, q: Globals) -> Floats:
    """Return <[Lambda mu]' Psi^-1 [Lambda mu]>, (S, k+1, k+1)."""
    scaled = q.mean / hyper.psi[:, None]
    S, d, k1 = q.mean.shape
    covariances = ((1.0 / hyper.psi) @ q.cov.reshape(S, d, k1 * k1)).reshape(S, k1, k1)
    return scaled.transpose(0, 2, 1) @ q.mean + covariances


def expected_log(dirichlet: Floats) -> Floats:
    """Return <ln p> under Dirichlet weights, along the last axis."""
    expected: Floats = digamma(dirichlet) - digamma(dirichlet.sum(axis=-1, keepdims=True))
    return expected


def label_terms(q: Globals, collapsed: bool) -> tuple[Floats, Floats]:
    """Return q(l | s) of unlabeled rows (S, K) and ln of its normalizer (S,).

    In (2.3) q(l | s) is a separate factor, proportional to exp <ln beta_sl>, and its rows count in q(beta) as if they
    were labeled, so that a component soon reinforces a single class. Summing over l costs nothing, because beta_s sums
    to one: unlabeled rows then carry no information about beta, and the bound is higher. In that form both returned
    arrays are zero.
    """
    if collapsed:
        return np.zeros(q.phi.shape), np.zeros(len(q.phi))
    log_beta = expected_log(q.phi)
    log_sum = np.log(np.exp(log_beta).sum(axis=1))
    return np.exp(log_beta - log_sum[:, None]), log_sum


def assignments(E: Floats, labels: Ints, q: Globals, collapsed: bool) -> tuple[Floats, Floats]:
    """Return q(s_n = s), shape (n, S), and each row's share of F, shape (n,)."""
    unlabeled = label_terms(q, collapsed)[1]
    prior = expected_log(q.omega) + np.column_stack([expected_log(q.phi), unlabeled]).T  # (K + 1, S); -1 = last row
    logits = E + prior[labels]
    top: Floats = logits.max(axis=1, keepdims=True)
    logits -= top
    R = np.exp(logits, out=logits)
    total = R.sum(axis=1, keepdims=True)
    R /= total
    return R, (top + np.log(total))[:, 0]


def update_local(data: ClassteringRows, hyper: Hyper, q: Globals, R: Floats | None = None) -> Locals:
    """Maximize F over q(x_n, s_n, l_n) and return the sums over rows."""
    xmean, xcov, E = row_terms(data.X, hyper, q)
    if R is None:
        R = assignments(E, data.labels, q, data.collapsed)[0]
    return _local_sums(data, R, xmean, xcov, label_terms(q, data.collapsed)[0])


def _local_sums(data: ClassteringRows, R: Floats, xmean: Floats, xcov: Floats, labels_given: Floats) -> Locals:
    """Return q of the row variables with its sums: R (n, S), xmean (n, S, k), xcov (S, k, k), labels_given (S, K)."""
    n, S, k = xmean.shape
    weighted = np.empty((n, S, k))
    for j in range(k):
        np.multiply(R, xmean[:, :, j], out=weighted[:, :, j])
    mass = R.sum(axis=0)
    T = np.empty((S, k + 1, k + 1))
    T[:, :k, :k] = weighted.transpose(1, 2, 0) @ xmean.transpose(1, 0, 2)
    T[:, :k, :k] += mass[:, None, None] * xcov
    T[:, :k, k] = T[:, k, :k] = weighted.sum(axis=0)
    T[:, k, k] = mass
    Q = np.empty((S, data.X.shape[1], k + 1))
    Q[:, :, :k] = (data.X.T @ weighted.reshape(n, S * k)).reshape(-1, S, k).transpose(1, 0, 2)
    Q[:, :, k] = R.T @ data.X
    labeled = np.zeros(labels_given.shape)
    for label in range(labels_given.shape[1]):
        labeled[:, label] = R[data.labels == label].sum(axis=0)
    terms = np.maximum(R, 1e-300)
    np.log(terms, out=terms)
    terms *= R
    entropy = -float(terms.sum())
    return Locals(R, labels_given, xcov, mass, labeled, T, Q, entropy)


def update_loadings(state: State) -> State:
    """Maximize F over q(Lambda_s, mu_s): one Gaussian of k+1 numbers per component and feature."""
    hyper, q, local = state
    S, d, k1 = q.mean.shape
    prior = np.empty((S, d, k1))
    prior[:, :, :-1] = (q.shape / q.rate)[:, None, :]
    prior[:, :, -1] = hyper.nu0
    precision = local.T[:, None] / hyper.psi[:, None, None]
    index = np.arange(k1)
    precision[:, :, index, index] += prior
    target = local.Q / hyper.psi[:, None]
    target[:, :, -1] += hyper.nu0 * hyper.mu0
    cov = np.linalg.inv(precision)
    cov = 0.5 * (cov + cov.swapaxes(2, 3))
    return state._replace(q=q._replace(mean=(cov @ target[..., None])[..., 0], cov=cov))


def loading_squares(q: Globals) -> Floats:
    """Return <|column j of Lambda_s|^2>, (S, k)."""
    k = q.rate.shape[1]
    variances = np.einsum("sdkk->sdk", q.cov)[:, :, :k]
    squares: Floats = (q.mean[:, :, :k] ** 2 + variances).sum(axis=1)
    return squares


def update_relevance(state: State) -> State:
    """Maximize F over q(nu)."""
    hyper, q, _ = state
    shape, rate = hyper.a + 0.5 * q.mean.shape[1], hyper.b + 0.5 * loading_squares(q)
    return state._replace(q=q._replace(shape=shape, rate=rate))


def update_weights(state: State) -> State:
    """Maximize F over q(pi) and q(beta)."""
    hyper, q, local = state
    omega, phi = hyper.alpha / len(q.omega) + local.mass, hyper.gamma + local.class_mass()
    return state._replace(q=q._replace(omega=omega, phi=phi))


def residuals(data: ClassteringRows, state: State) -> Floats:
    """Return the sum over rows of <(y - Lambda x - mu)^2> for each feature, shape (d,)."""
    _, q, local = state
    S, d, k1 = q.mean.shape
    fitted = np.einsum("sdk,sdk->d", q.mean @ local.T - 2.0 * local.Q, q.mean)
    spread = (q.cov.reshape(S, d, k1 * k1) @ local.T.reshape(S, k1 * k1, 1)).sum(axis=(0, 2))
    total: Floats = np.maximum(data.squares + fitted + spread, 0.0)
    return total


def update_noise(data: ClassteringRows, state: State) -> State:
    """Maximize F over psi, bounded below by PSI_MIN."""
    psi = np.maximum(residuals(data, state) / len(data.X), PSI_MIN)
    return state._replace(hyper=state.hyper._replace(psi=psi))


def update_mean_prior(state: State) -> State:
    """Maximize F over mu0 and nu0; a single component does not determine their spread."""
    hyper, q, _ = state
    if len(q.omega) == 1:
        return state
    mean = q.mean[:, :, -1]
    mu0 = mean.mean(axis=0)
    variance = ((mean - mu0) ** 2 + q.cov[:, :, -1, -1]).mean(axis=0)
    nu0 = np.minimum(1.0 / np.maximum(variance, 1e-300), NU0_MAX)
    return state._replace(hyper=hyper._replace(mu0=mu0, nu0=nu0))


def update_relevance_prior(state: State) -> State:
    """Increase F over a, b and q(nu) together: a Newton step in ln a, then the best b, then the best q(nu).

    With q(nu) at its optimum, F depends on a and b through G below. Alternating updates would move slowly along the
    ridge of G, which for columns of equal length runs to a = infinity.
    """
    hyper, q, _ = state
    half_d = 0.5 * q.mean.shape[1]
    m = 0.5 * loading_squares(q)
    n = m.size

    def best_rate(a: float) -> float:
        """Return b with n a = (a + d/2) sum b / (b + m), which maximizes G for this a."""
        share, log_b = a / (a + half_d), np.log(a * m.mean() / half_d)
        for _ in range(20):
            part = 1.0 / (1.0 + m * np.exp(-log_b))
            newton = (n * share - part.sum()) / max((part * (1.0 - part)).sum(), 1e-300)
            step = min(max(newton, -2.0), 2.0)
            log_b += step
            if abs(step) < 1e-10:
                break
        return max(float(np.exp(log_b)), RATE_MIN)

    def G(a: float, b: float) -> float:
        return float(n * (a * np.log(b) - gammaln(a) + gammaln(a + half_d)) - (a + half_d) * np.log(b + m).sum())

    a = hyper.a
    b = best_rate(a)
    inverse = 1.0 / (b + m)
    slope = n * (np.log(b) - digamma(a) + digamma(a + half_d)) - np.log(b + m).sum()
    cross = n / b - inverse.sum()
    down = n * a / b**2 - (a + half_d) * (inverse**2).sum()
    curvature = n * (zeta(2.0, a + half_d) - zeta(2.0, a)) + cross**2 / max(down, 1e-300)
    bend = a * a * curvature + a * slope  # of the profile of G, in ln a
    step = min(max(-a * slope / bend, -2.0), 2.0) if bend < 0.0 else np.sign(slope)
    new_a = float(min(max(a * np.exp(step), SHAPE_RANGE[0]), SHAPE_RANGE[1]))
    new_b = best_rate(new_a)
    if G(new_a, new_b) > G(a, b):
        a, b = new_a, new_b
    return update_relevance(state._replace(hyper=hyper._replace(a=a, b=b)))


def update_class_prior(state: State, n_steps: int = 2) -> State:
    """Increase F over gamma by `n_steps` of Minka's (2000) fixed point, which never lower it; needs two components."""
    hyper, q, _ = state
    S, K = q.phi.shape
    if S == 1 or K == 1:
        return state
    gamma = hyper.gamma
    mean_log = expected_log(q.phi).mean(axis=0)
    for _ in range(n_steps):
        gamma = np.clip(inverse_digamma(digamma(gamma.sum()) + mean_log), *CONCENTRATION_RANGE)
    return state._replace(hyper=hyper._replace(gamma=gamma))


def inverse_digamma(y: Floats) -> Floats:
    """Return x > 0 with digamma(x) = y (Minka 2000, appendix C: five Newton steps give 14 digits)."""
    y = np.asarray(y, dtype=float)
    x: Floats = np.where(y >= -2.22, np.exp(np.minimum(y, 700.0)) + 0.5, -1.0 / (np.minimum(y, -1e-300) - digamma(1.0)))
    for _ in range(5):
        x = x - (digamma(x) - y) / zeta(2.0, x)
    return x


def sweep(data: ClassteringRows, state: State, R: Floats | None = None) -> State:
    """Update every block once, in the order local, loadings, weights, noise, priors."""
    state = state._replace(local=update_local(data, state.hyper, state.q, R))
    state = update_noise(data, update_weights(update_loadings(state)))
    return update_class_prior(update_relevance_prior(update_mean_prior(state)))
