"""SAR-EM (Bekker, Robberechts and Davis 2019): a classifier and the propensity of being labeled, by EM.

A row is positive with probability f(x) and, if positive, labeled with probability e(x); both are logistic. EM
increases the likelihood of the labels, the sum of log f e over labeled and of log(1 - f e) over unlabeled rows, less
ridge / 2 times the squared coefficients without the constants. The two functions have the same form, so the likelihood
alone cannot distinguish them: the start decides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, log_expit

from pucli.core.arrays import Bools, Floats

# Tolerance of a Newton step's promised decrease, most steps, and a weak penalty of the constant, for separable rows.
_TOLERANCE, _STEPS, _CONSTANT_RIDGE = 1e-10, 50, 1e-6


class SarEM(NamedTuple):
    """Coefficients (m + 1,) of classifier and propensity, constant last; posterior (n,); penalized log-likelihoods."""

    classifier: Floats
    propensity: Floats
    posterior: Floats
    likelihoods: list[float]
    converged: bool


def sar_em(X: Floats, labeled: Bools, *, ridge: float = 1.0, max_iter: int = 100, tol: float = 1e-6) -> SarEM:
    """Fit classifier and propensity to rows X (n, m), of which `labeled` (n,) are labeled positives.

    The classifier starts as the logistic regression of labeled against unlabeled rows with balanced weights. A step
    that raises the likelihood by at most `tol` for each row is the last.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(2, 1, (50, 2)), rng.normal(-2, 1, (50, 2))])
    >>> found = sar_em(X, np.arange(100) < 20)
    >>> bool(np.all(np.diff(found.likelihoods) > -1e-9))
    True
    """
    Z = np.hstack([X, np.ones((len(X), 1))])
    s = np.asarray(labeled, dtype=np.float64)
    weights = np.where(labeled, 0.5 * len(s) / s.sum(), 0.5 * len(s) / (len(s) - s.sum()))
    zero = np.zeros(Z.shape[1])
    classifier = logistic_regression(Z, s, weights, ridge, zero)
    posterior = np.where(labeled, 1.0, expit(Z @ classifier))
    propensity = logistic_regression(Z, s, posterior, ridge, zero)
    likelihoods = [penalized_likelihood(Z, labeled, classifier, propensity, ridge)]
    for _ in range(max_iter):
        posterior = expected_class(Z, labeled, classifier, propensity)
        classifier = logistic_regression(Z, posterior, np.ones(len(s)), ridge, classifier)
        propensity = logistic_regression(Z, s, posterior, ridge, propensity)
        likelihoods.append(penalized_likelihood(Z, labeled, classifier, propensity, ridge))
        if likelihoods[-1] - likelihoods[-2] <= tol * len(s):
            break
    converged = len(likelihoods) <= max_iter
    return SarEM(classifier, propensity, expected_class(Z, labeled, classifier, propensity), likelihoods, converged)


def expected_class(Z: Floats, labeled: Bools, classifier: Floats, propensity: Floats) -> Floats:
    """Return the probabilities (n,) of a positive given features and label, f (1 - e) / (1 - f e) if unlabeled.

    Z (n, m + 1) are the rows with a last column of ones; classifier and propensity (m + 1,) are the coefficients of the
    log-odds of f and of e.
    """
    f, e = expit(Z @ classifier), expit(Z @ propensity)
    return np.where(labeled, 1.0, f * (1.0 - e) / np.maximum(1.0 - f * e, 1e-300))


def penalized_likelihood(Z: Floats, labeled: Bools, classifier: Floats, propensity: Floats, ridge: float) -> float:
    """Return the log-likelihood of the labels less the penalty; see `expected_class` and `sar_em`."""
    both = log_expit(Z @ classifier) + log_expit(Z @ propensity)
    fit = np.where(labeled, both, np.log1p(-np.minimum(np.exp(both), 1.0 - 1e-15)))
    return float(fit.sum()) - _penalty(classifier, ridge) - _penalty(propensity, ridge)


def logistic_regression(Z: Floats, targets: Floats, weights: Floats, ridge: float, start: Floats) -> Floats:
    """Return the coefficients c that minimize sum w (log(1 + exp(t)) - y t) plus the penalty, by Newton's method.

    t = Z c; the targets y are from 0 to 1, the weights w not negative.
    """
    penalty = np.full(Z.shape[1], ridge)
    penalty[-1] = _CONSTANT_RIDGE

    def value(c: Floats) -> float:
        t = Z @ c
        return float(weights @ (np.logaddexp(0.0, t) - targets * t)) + _penalty(c, ridge)

    coefficients, current = start, value(start)
    for _ in range(_STEPS):
        p = expit(Z @ coefficients)
        gradient = Z.T @ (weights * (p - targets)) + penalty * coefficients
        hessian = (Z * (weights * p * (1.0 - p))[:, None]).T @ Z
        hessian[np.diag_indices_from(hessian)] += penalty
        step = cho_solve(cho_factor(hessian), gradient)
        promised, size = float(gradient @ step), 1.0
        if promised <= _TOLERANCE:
            break
        while size > 1e-8 and value(coefficients - size * step) > current - 1e-4 * size * promised:
            size *= 0.5
        if size <= 1e-8:
            break
        coefficients = coefficients - size * step
        current = value(coefficients)
    return coefficients


def _penalty(coefficients: Floats, ridge: float) -> float:
    slope, constant = coefficients[:-1], coefficients[-1]
    return 0.5 * float(ridge * (slope @ slope) + _CONSTANT_RIDGE * constant**2)
