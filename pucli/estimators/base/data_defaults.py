"""Defaults that depend on the data: the meaning of "median", "balanced" and "scale".

No number suits every data set: a kernel width has the units of the features, and a ridge is weighed against a sum of
losses that grows with the number of rows. Three words select values computed from the rows and from the numbers of
labeled and unlabeled rows:

* a width of "median" is the median distance between two rows, which grows with the root of the number of features;
* a weight c_u of "balanced" makes zero the best constant f, so that both kinds of rows have the same influence;
* a ridge of "scale" is that of a support vector machine with C = 1 and balanced class weights, and an L1 penalty of
  "scale" is a twentieth of the smallest one that removes all features.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

import numpy as np
from scipy.spatial.distance import pdist

from pucli.core.arrays import Bools, Floats
from pucli.solvers.kernels.quadratic_surface import surface_features
from pucli.solvers.surface.problem import shared

# (estimator, X, labeled, weights of the rows) -> number
Rule: TypeAlias = Callable[[Any, Floats, Bools, Floats | None], float]
# Number of rows between which distances are measured, evenly spaced over the training rows.
MEASURED_ROWS = 1000
# Share of the smallest L1 penalty that removes all features.
L1_SHARE = 0.05


def number_for_words(
    estimator: Any, X: Floats, labeled: Bools, weights: Floats | None = None, names: Collection[str] | None = None
) -> dict[str, float]:
    """Return the number of each parameter in the `_rules` of an estimator: the given one, or that for the word."""
    found: dict[str, float] = {}
    for name, rule in estimator._rules.items():
        if names is None or name in names:
            value = getattr(estimator, name)
            found[name] = rule(estimator, X, labeled, weights) if isinstance(value, str) else float(value)
    return found


def median_distance(estimator: Any, X: Floats, labeled: Bools, weights: Floats | None = None) -> float:
    """Return the median distance between two rows, 1 if most rows coincide, or NaN if the kernel has no width."""
    if estimator.kernel != "rbf":
        return np.nan
    chosen = np.arange(X.shape[0])
    if X.shape[0] > MEASURED_ROWS:
        chosen = np.linspace(0, X.shape[0] - 1, MEASURED_ROWS).astype(int)
    distances = pdist(X[chosen])
    if weights is not None:
        median = _weighted_median(distances, weights[chosen])
    else:
        median = float(np.median(distances)) if len(distances) else 0.0
    return median if 0.0 < median < np.inf else 1.0


def _weighted_median(distances: Floats, weights: Floats) -> float:
    """Return the median distance of pairs where each row is there `weights` (n,) times, itself included."""
    i, j = np.triu_indices(len(weights), 1)
    same = float(np.maximum(weights * (weights - 1.0), 0.0).sum()) / 2.0
    order = np.argsort(distances)
    values = np.append(0.0, distances[order])
    reached = np.cumsum(np.append(same, (weights[i] * weights[j])[order]))
    middle = np.floor(np.array([reached[-1] - 1.0, reached[-1]]) / 2.0)
    places = np.minimum(np.searchsorted(reached, middle, side="right"), len(values) - 1)
    return float(values[places].mean())


def counts(labeled: Bools, weights: Floats | None = None) -> tuple[float, float]:
    """Return the numbers of labeled and of unlabeled rows, or the sums of their weights."""
    kinds = labeled, ~labeled
    found = [int(np.count_nonzero(kind)) if weights is None else float(weights[kind].sum()) for kind in kinds]
    return found[0], found[1]


def balanced(estimator: Any, X: Floats, labeled: Bools, weights: Floats | None = None) -> float:
    """Return the c_u at which zero is the best constant f, if labeled and unlabeled rows have the same loss."""
    n_p, n_u = counts(labeled, weights)
    return float(estimator.c_p * n_p / n_u)


def balanced_hinge_and_square(estimator: Any, X: Floats, labeled: Bools, weights: Floats | None = None) -> float:
    """Return the c_u at which zero is the best constant f; the slope at zero is 1 for the hinge, 2 for the square."""
    return 0.5 * balanced(estimator, X, labeled, weights)


def ridge_of_sums(estimator: Any, X: Floats, labeled: Bools, weights: Floats | None = None) -> float:
    """Return the weight of |g|^2 / 2 if losses are summed with weight c_p: 2 c_p n_p / n."""
    numbers = counts(labeled, weights)
    return float(2.0 * estimator.c_p * numbers[0] / sum(numbers))


def ridge_of_means(estimator: Any, X: Floats, labeled: Bools, weights: Floats | None = None) -> float:
    """Return the weight of |g|^2 / 2 if losses are averaged: 1 / n."""
    result: float = 1.0 / X.shape[0]
    return result


def half_ridge_of_means(estimator: Any, X: Floats, labeled: Bools, weights: Floats | None = None) -> float:
    """Return the weight of |g|^2 if losses are averaged: 1 / (2 n)."""
    result: float = 0.5 / X.shape[0]
    return result


def ridge_of_gradients(estimator: Any, X: Floats, labeled: Bools, weights: Floats | None = None) -> float:
    """Return the weight of half a sum over the rows of squared gradients of f: `ridge_of_sums` over n."""
    result: float = ridge_of_sums(estimator, X, labeled, weights) / X.shape[0]
    return result


def l1_of_features(estimator: Any, X: Floats, labeled: Bools, weights: Floats | None = None) -> float:
    """Return a twentieth of the smallest lam1 at which all coefficients are zero."""
    gradient = _gradient_at_constant(estimator, X, labeled)
    return _share(2.0 * float(np.abs(gradient).max(initial=0.0)))


def l1_of_groups(estimator: Any, X: Floats, labeled: Bools, weights: Floats | None = None) -> float:
    """Return a twentieth of the smallest lam1 at which all groups of the quadratic surface are zero."""
    gradient = _gradient_at_constant(estimator, surface_features(X), labeled)
    return _share(2.0 * float(np.linalg.norm(shared(gradient, X.shape[1]), axis=1).max(initial=0.0)))


def _gradient_at_constant(estimator: Any, Z: Floats, labeled: Bools) -> Floats:
    """Return the gradient (m,) of hinges on labeled and squares on unlabeled rows Z (n, m) at the best constant f."""
    n_p, n_u = counts(labeled)
    c_u = balanced_hinge_and_square(estimator, Z, labeled) if isinstance(estimator.c_u, str) else estimator.c_u
    middle = Z[~labeled].mean(axis=0)
    constant = min(1.0, estimator.c_p * n_p / (2.0 * c_u * n_u) - 1.0)
    gradient: Floats = 2.0 * c_u * (1.0 + constant) * n_u * (middle - Z[labeled].mean(axis=0))
    return gradient


def _share(largest: float) -> float:
    return L1_SHARE * largest if largest > 0.0 else 1.0


def in_numbers(
    estimator: type[Any], params: Mapping[str, Any], tuned: Collection[str], X: Floats, labeled: Bools
) -> dict[str, Any]:
    """Return `params` with each word, given or default, replaced by its number."""
    if not getattr(estimator, "_rules", None):
        return dict(params)
    unfitted: Any = estimator(**params)
    words = [name for name in unfitted._rules if name not in tuned and isinstance(getattr(unfitted, name), str)]
    numbers = number_for_words(unfitted, X, labeled, names=words)
    return {**params, **{name: number for name, number in numbers.items() if not np.isnan(number)}}
