"""`python -m benchmarks shares`: the rows that it draws, what it measures, and its page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

from benchmarks import shares
from benchmarks.common.quality_methods import Prediction
from benchmarks.common.quality_table import AUTO, NAIVE


@pytest.mark.parametrize("share", shares.SHARES)
@pytest.mark.parametrize("positives", [60, 250, 540])
def test_unlabeled_rows_have_the_share_and_no_row_is_used_twice(share: float, positives: int) -> None:
    y = np.repeat([1, 0], [positives, 600 - positives])
    drawn = shares.draw(y, share, np.random.default_rng(3))
    every = np.concatenate(drawn)
    assert len(np.unique(every)) == len(every)
    assert len(drawn.labeled) == round(round(2 / 3 * positives) / 3) and np.all(y[drawn.labeled] == 1)
    assert y[drawn.unlabeled].sum() >= shares.FEWEST and (y[drawn.unlabeled] == 0).sum() >= shares.FEWEST
    assert y[drawn.unlabeled].mean() == pytest.approx(share, abs=0.06)
    assert y[drawn.test].sum() == round(positives / 3)


def test_rates_are_those_of_weighted_rows() -> None:
    rng = np.random.default_rng(0)
    y, positive, prior = rng.integers(0, 2, 200), rng.random(200) < 0.4, 0.8
    weights = np.where(y == 1, prior / y.mean(), (1 - prior) / (1 - y.mean()))
    found = shares.rates(positive, y, prior)
    for name, of in (("recall", recall_score), ("precision", precision_score), ("f1", f1_score)):
        assert found[name] == pytest.approx(of(y, positive, sample_weight=weights))
    assert shares.rates(np.zeros(200, bool), y, prior) == {"recall": 0.0, "precision": 0.0, "f1": 0.0}


@pytest.mark.slow
def test_lines_are_means_of_the_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "SHARES", (0.3, 0.8))
    found = shares.run(half="design", folder=tmp_path)  # wine comes with scikit-learn
    assert [(line["tasks"], line["share"]) for line in found["rows"]] == [
        (half, share) for half in ("all", "design") for share in (0.3, 0.8)
    ]
    for line in found["rows"]:
        (cell,) = (cell for cell in found["cells"] if cell["share"] == line["share"])
        assert cell["truth"] == pytest.approx(line["share"], abs=0.06)
        assert line["F1 of all"] == pytest.approx(2 * cell["truth"] / (1 + cell["truth"]))
        assert line["error"] == pytest.approx(abs(cell["prior"] - cell["truth"]))
        assert line["F1"] == cell["f1"] > 0.5 and line["AUC"] == cell["auc"] > 0.8
        assert f"prior {float(cell['kept']['prior']):.2f}" in line["kept"]


def test_test_rows_change_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    y = np.repeat([1, 0], [60, 60])
    X = rng.normal(size=(120, 2)) + 2.0 * y[:, None]
    drawn = shares.draw(y, 0.5, rng)
    seen = []

    def fake(name, problem):
        seen.append((name, problem.X.copy(), problem.true_prior))
        n = len(problem.X_test)
        every = dict.fromkeys(("prior", "recall", "precision", "f1", "auc"), (0.5, 0.0, 1.0))
        return Prediction(np.arange(n, dtype=float), np.arange(n) > 3, 0.4, every)

    monkeypatch.setattr(shares, "predict", fake)
    shares._measured(shares.Rows(X, y), drawn, 0)
    poisoned = X.copy()
    poisoned[drawn.test] = 1e6
    shares._measured(shares.Rows(poisoned, y), drawn, 0)
    assert [name for name, _, _ in seen] == [AUTO, NAIVE] * 2
    np.testing.assert_array_equal(seen[0][1], seen[2][1])
