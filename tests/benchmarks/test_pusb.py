"""Benchmark `pusb`: the rule of its draws, what it keeps, and what it compares."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import pusb
from benchmarks.common.quality_methods import Prediction, Problem
from benchmarks.common.result_files import read_results
from pucli.data.files.readers import read_csv
from pucli.data.older_pandas import is_older
from tests.helpers import ROOT

PUBLISHED = ROOT / "experiments" / "published"


def test_a_draw_has_the_counts_and_the_priors_of_the_rule():
    y = np.random.default_rng(0).random(8000) < 0.5
    weight = np.where(np.arange(8000) % 2, 1.0, 1e-6)
    labeled, unlabeled, test = pusb.drawn(y, weight, 0.2, 800, 2018)
    assert (len(labeled), len(unlabeled), len(test)) == (400, 800, 1000)
    assert y[labeled].all() and y[unlabeled].sum() == 160 and y[test].sum() == 200
    np.testing.assert_array_equal(y[test], np.arange(1000) < 200)
    assert np.mean(labeled % 2) > 0.99  # selected by the weight; unlabeled positives are not
    assert 0.3 < np.mean(unlabeled[:160] % 2) < 0.7
    assert not set(test) & (set(labeled) | set(unlabeled)) and set(labeled) & set(unlabeled)
    left_out = np.random.RandomState(2018).permutation(8000)[-3000:]
    assert set(test) <= set(left_out)


def test_positives_are_accepted_in_whole_passes_until_there_are_400():
    y = np.arange(4000) < 600
    labeled, *_ = pusb.drawn(
        y, np.ones(4000), 0.8, 100, 7
    )  # some 150 of 600 positives are in the pool, and pass each time
    pool = np.random.RandomState(7).permutation(4000)[:-3000]
    assert len(labeled) == 400 and np.bincount(labeled).max() == np.ceil(400 / y[pool].sum())


def test_seeds_of_the_published_trials_count_cells_by_unlabeled_rows_and_prior():
    trials = pd.read_csv(PUBLISHED / "pusb-trials.csv")
    place = 4 * trials["unlabeled"].map({800: 0, 1600: 1, 3200: 2}) + trials["prior"].map(
        {0.2: 0, 0.4: 1, 0.6: 2, 0.8: 3}
    )
    assert (trials["seed"] == 2018 + 100 * place + trials["draw"]).all()
    assert trials.groupby(pusb.CELL).ngroups == 32 and (trials.groupby(pusb.KEY).size() == 1).all()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Methods whose scores are the first feature, and the names of those that ran."""
    rng, ran = np.random.default_rng(1), []
    y = rng.random(9000) < 0.5
    X = y[:, None] + rng.normal(size=(9000, 1))

    def predict(name: str, problem: Problem) -> Prediction:
        ran.append(name)
        return Prediction(problem.X_test[:, 0], problem.X_test[:, 0] > 0.5, 0.5 if name == "auto" else None)

    monkeypatch.setattr(pusb, "rows_of", lambda table: (X, y, np.ones(9000)))
    monkeypatch.setattr(pusb, "predict", predict)
    return ran


def test_fits_are_kept_at_once_and_not_run_again(small: list[str], tmp_path: Path):
    trials = pd.read_csv(PUBLISHED / "pusb-trials.csv")
    trials[trials["table"] == "spambase"].to_csv(tmp_path / "pusb-trials.csv", index=False)
    kept = tmp_path / "fits.jsonl"
    found = pusb.run(draws=2, kept=kept, published=tmp_path)
    assert len(small) == len(kept.read_text().splitlines()) == len(found["cells"]) == 3 * 2 * 4
    again = pusb.run(draws=2, kept=kept, published=tmp_path)
    assert again["cells"] == found["cells"] and again["standing"] == found["standing"] and len(small) == 24
    lines = {(row.get("prior", row["table"]), row["measure"]): row for row in found["rows"]}
    assert (
        lines["spambase", "prior error"]["auto"]
        == lines["all", "prior error"]["auto"]
        == pytest.approx((0.3 + 0.1 + 0.1) / 3)
    )
    assert lines[0.2, "accuracy"]["auto"] > 0.75 > lines[0.2, "F1"]["auto"]  # cut at the true share, not at .5
    assert lines[0.2, "accuracy"]["PUSB"] == pytest.approx((0.805 + 0.827) / 2)  # the published draws 0 and 1
    for line in found["standing"]:
        assert line["n"] == 6 and line["difference"] == pytest.approx(line["auto"] - line["other"])


def test_errors_are_those_of_paired_differences_within_cells():
    index = pd.MultiIndex.from_product([["a"], [0.2, 0.4], [800], range(3)], names=pusb.KEY[:-1])
    frame = pd.DataFrame({"one": 0.0, "other": [0.1, 0.2, 0.3, 0.7, 0.8, 0.9]}, index)
    assert pusb._gain(frame, "one", "other") == pytest.approx((0.5, np.sqrt(2 * 0.01 / 3) / 2))
    assert np.isnan(pusb._gain(frame[::3], "one", "other")[1])


@pytest.mark.skipif(is_older(), reason="sums of earlier pandas differ in the last digit")
def test_the_committed_rows_are_those_of_the_committed_fits():
    found = read_results(ROOT / "results" / "bench", "pusb")
    fits = pd.concat([pd.DataFrame(found["cells"]), read_csv(PUBLISHED / "pusb-trials.csv")])
    rows, standing = pusb.tabulated(fits)
    assert (rows, standing) == (found["rows"], found["standing"]) and len(found["cells"]) == 32 * 10 * 4
