"""The share of positives among rows of two overlapping normal distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pucli import AutoPU
from pucli.solvers.prior.two_gaussians import gaussian_share


def rows(prior: float, distance: float, m: int, seed: int = 0, draw: Any = None) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    draw = rng.standard_normal if draw is None else draw
    positive = rng.random(1500) < prior
    X = draw((1700, m))
    X[np.append(np.ones(200, dtype=bool), positive), 0] += distance
    return X, np.arange(1700) < 200


@pytest.mark.parametrize("prior", [0.3, 0.1])
@pytest.mark.parametrize(("distance", "m"), [(2.0, 1), (2.0, 5), (2.5, 2)])
def test_the_share_of_two_overlapping_normal_classes(prior: float, distance: float, m: int) -> None:
    found = [gaussian_share(*rows(prior, distance, m, seed)) for seed in range(3)]
    assert all(one is not None for one in found)
    assert abs(np.mean(found) - prior) < 0.03


def test_other_distributions_and_a_heap_have_none() -> None:
    rng = np.random.default_rng(0)
    for draw in (rng.exponential, rng.random):
        made = (lambda shape: rng.exponential(size=shape)) if draw is rng.exponential else rng.random
        assert gaussian_share(*rows(0.3, 1.0, 3, draw=made)) is None
    assert gaussian_share(*rows(0.3, 0.3, 3)) is None
    X, s = rows(0.3, 2.0, 2)
    assert gaussian_share(np.round(X), s) is None


@pytest.mark.slow  # a fit of the automatic classifier
def test_auto_has_this_prior() -> None:
    X, s = rows(0.3, 2.0, 2)
    assert abs(AutoPU().fit(X, s).prior_ - 0.3) < 0.03
