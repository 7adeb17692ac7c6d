"""Generated data sets, drawn with the random number generator of the caller.

`two_gaussians` is the data set of Wang 2024, section 3.4.1, in which a second group of positives lies far from the
boundary and affects a squared loss. `add_irrelevant_features` adds the noise features of section 4.3.1.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

import numpy as np

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.core.errors import UsageError, unknown
from pucli.data.catalogue.labeled_points import labeled_points
from pucli.data.catalogue.mixtures import MIXTURES


def two_gaussians(
    rng: np.random.Generator, *, mean_p2: float = 50.0, irrelevant: int = 0, scaled: int = 1, angle: float = 0.0
) -> tuple[Floats, Ints]:
    """Draw the two-dimensional data set of Wang 2024, section 3.4.1.

    200 positives around (15, 15) and 200 around (`mean_p2`, `mean_p2`), both with covariance 50 I; 400 negatives
    around the origin with covariance [[50, 0.2], [0.2, 50]].
    """
    near = rng.multivariate_normal([15.0, 15.0], 50.0 * np.eye(2), size=200)
    along, across = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    second = [mean_p2 * (along - across), mean_p2 * (along + across)]
    far = rng.multivariate_normal(second, 50.0 * np.eye(2), size=200)
    negative = rng.multivariate_normal([0.0, 0.0], [[50.0, 0.2], [0.2, 50.0]], size=400)
    X = np.vstack([near, far, negative])
    y = np.repeat(np.array([1, -1], dtype=np.int64), 400)
    if irrelevant and scaled:
        X = add_irrelevant_features(X, rng, per_feature=irrelevant)
    elif irrelevant:
        X = np.hstack([X, rng.standard_normal((len(X), 2 * irrelevant))])
    return X, y


def add_irrelevant_features(X: AnyArray, rng: np.random.Generator, *, per_feature: int = 2) -> Floats:
    """Return X standardized, followed by independent standard normal columns (Wang 2024, 4.3.1 and 4.5.2).

    Parameters
    ----------
    X : array of shape (n, m)
        Each column is centered and divided by its standard deviation; a constant column becomes 0.
    rng : numpy.random.Generator
        Source of randomness.
    per_feature : int
        Irrelevant columns per column of X.

    Returns
    -------
    ndarray of shape (n, m * (1 + per_feature))
    """
    X = np.asarray(X, dtype=np.float64)
    centered = X - X.mean(axis=0)
    spread = X.std(axis=0)
    constant = np.ptp(X, axis=0) == 0
    scaled = np.where(constant, 0.0, centered / np.where(constant, 1.0, spread))
    noise = rng.standard_normal((X.shape[0], X.shape[1] * per_feature))
    return np.hstack([scaled, noise])


# Generators by the names used in `datasets.yaml`.
GENERATORS: dict[str, Callable[..., tuple[Floats, Ints]]] = {
    "two-gaussians": two_gaussians,
    "labeled-points": labeled_points,
    **MIXTURES,
}

# Part of the identity of every generated data set; increase it when a generator draws differently.
VERSION = 1


def generate(name: str, rng: np.random.Generator, parameters: Mapping[str, float] | None = None) -> tuple[Floats, Ints]:
    """Draw a generated data set."""
    if name not in GENERATORS:
        raise unknown("generator", name, GENERATORS)
    function = GENERATORS[name]
    known = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for parameter, value in (parameters or {}).items():
        if parameter not in known:
            raise unknown("parameter", parameter, known, of=f"the generator {name!r}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            raise UsageError(f"parameter {parameter!r} of the generator {name!r} must be a number, not {value!r}")
    return function(rng, **(parameters or {}))
