"""The flowchart on data made to its description."""

import numpy as np
import pytest

from pucli.models.advice import _irrelevant_features, advise, two_parts


def rows(seed, split, noise):
    """Positives on one side of the negatives or on both, in two features, with columns of noise; a third labeled."""
    rng = np.random.default_rng(seed)
    side = np.where(np.arange(300) % 2 == 0, 1.0, -1.0 if split else 1.0)
    positive = rng.normal(size=(300, 2)) + 5.0 * side[:, None] * np.array([1.0, 0.8])
    X = np.vstack([positive, rng.normal(size=(300, 2))])
    X = np.hstack([X, rng.normal(size=(600, noise))])
    labeled = np.zeros(600, dtype=bool)
    labeled[rng.permutation(300)[:100]] = True
    return X, labeled


@pytest.mark.slow
@pytest.mark.parametrize(
    ("split", "noise", "prior", "method"),
    [
        (True, 0, None, "glpual"),
        (False, 0, None, "gllc"),
        (True, 8, None, "ekf-glpual"),
        (False, 8, None, "e-glpual"),
        (True, 0, 0.4, "cpb-glpual"),
    ],
)
def test_the_answers_and_the_method_match_the_description(split, noise, prior, method):
    X, labeled = rows(0, split, noise)
    found = advise(X, labeled, prior)
    assert found.trifurcated == split
    assert len({*found.irrelevant} - {"0", "1"}) > 0.8 * noise if noise else not found.irrelevant
    assert found.method == method


def test_few_labeled_rows_are_not_in_two_parts():
    assert two_parts(np.arange(9.0)[:, None], np.zeros((5, 1)), 0) == (0.0, 0.0)


@pytest.mark.slow
def test_noise_alone_is_irrelevant():
    rng = np.random.default_rng(1)
    assert _irrelevant_features(rng.normal(size=(400, 6)), np.arange(400) < 100, 0).mean() > 0.6
