"""AUC by its definition, and the AUC that noise reaches."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.metrics import classification
from pucli.metrics.ranking import CHANCE, auc, chance_limit, noise_limit, pu_auc


def test_every_route_counts_pairs():
    rng = np.random.default_rng(0)
    for decimals in (0, 1, 9):  # many ties, few, none
        marked = rng.random(70) < 0.4
        scores = (rng.normal(size=70) + marked).round(decimals)
        above = scores[marked][:, None] - scores[~marked]
        pairs = ((above > 0).sum() + 0.5 * (above == 0).sum()) / above.size
        assert auc(scores[marked], scores[~marked]) == pairs
        assert pu_auc(scores, marked) == classification.auc(marked, scores, True) == pairs


def test_noise_exceeds_its_limit_in_one_of_twenty_cases():
    rng = np.random.default_rng(0)
    above = [auc(rng.random(40), rng.random(90)) > noise_limit(40, 90) for _ in range(2000)]
    assert 0.03 < np.mean(above) < 0.07
    assert chance_limit(40, 90) == noise_limit(40, 90, quantile=CHANCE) > noise_limit(40, 90)
    assert noise_limit(40, 90) == pytest.approx(0.5 + 1.645 * np.sqrt(131 / (12 * 40 * 90)))
    assert noise_limit(40, 90, inflation=4.0) - 0.5 == pytest.approx(2.0 * (noise_limit(40, 90) - 0.5))
