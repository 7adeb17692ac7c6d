"""The search for wrong gaps: it finds one that is made up, and none in a few problems of each family."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.bench.trust import proofs
from pucli.estimators import BSVM


@pytest.mark.parametrize("family", proofs.FAMILIES, ids=lambda family: family.method)
def test_no_gap_is_wrong(family):
    for number in range(12):
        rng = np.random.default_rng([1, number])
        _, X, labelled, weights = proofs.problem(rng, family)
        assert proofs._judge(family, X, labelled, weights) in ("", "refused")


def test_a_wrong_gap_is_found(monkeypatch):
    def lie(self, X, labelled):
        self.coef_, self.intercept_ = np.zeros(X.shape[1]), 0.0
        self.objective_, self.dual_gap_, self.n_iter_ = float(np.where(labelled, 1.0, 1.0).sum()), 1e-9, 1
        self.converged_, self.residual_ = True, float("nan")

    monkeypatch.setattr(BSVM, "_fit", lie)
    X = np.random.default_rng(0).normal(size=(30, 2)) + 3.0 * (np.arange(30) < 15)[:, None]
    found = proofs._judge(proofs.FAMILIES[0], X, np.arange(30) < 15, {"lam": 0.1, "c_p": 1.0, "c_u": 1.0})
    assert "lower" in found
