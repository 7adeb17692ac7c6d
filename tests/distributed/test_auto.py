import json
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

from pucli import AutoPU
from pucli.cli.main import main
from pucli.core.errors import UsageError
from pucli.distributed import auto
from pucli.distributed.auto import auto_on_blocks, fold_of, scores_of, uniform
from pucli.distributed.blocks import Block, ColumnNames, find_blocks, read_rows
from pucli.metrics.ranking import auc
from pucli.models.saved import load_model, save_model
from pucli.solvers.ensemble.members import MEMBERS
from tests.distributed.helpers import HereRunner

pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")

COLUMNS = ColumnNames(("a", "b", "c"), "bought", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Nine row groups in five files, sorted by the label; one of three columns is far from the origin."""
    path = tmp_path_factory.mktemp("blocks")
    rng = np.random.default_rng(0)
    n = 3000
    positive = rng.random(n) < 0.3
    X = rng.normal(size=(n, 3)) + 2.0 * positive[:, None] * [1.0, 1.0, 0.0]
    labeled = positive & (rng.random(n) < 0.4)
    frame = pd.DataFrame(X * [1.0, 100.0, 1.0] + [0.0, 5000.0, 0.0], columns=list("abc"))
    frame = frame.assign(bought=labeled.astype(int), true=positive).sort_values("bought", ignore_index=True)
    ends = [0, 800, 900, 2000, 2500, n]
    for k in range(5):
        part = frame.iloc[ends[k] : ends[k + 1]].drop(columns="true")
        part.to_parquet(path / f"part{k}.parquet", row_group_size=450)
    return path, frame


@pytest.fixture(scope="module")
def found(folder):
    return auto_on_blocks(HereRunner(), find_blocks(str(folder[0] / "part*.parquet")), COLUMNS, {"random_state": 3})


def test_a_constant_column_changes_no_bit(folder, found, tmp_path):
    path, frame = folder
    for file in sorted(path.glob("part*.parquet")):
        part = pd.read_parquet(file)
        part.insert(1, "steady", 7.5)
        part.to_parquet(tmp_path / file.name, row_group_size=450)
    columns = COLUMNS._replace(features=("a", "steady", "b", "c"))
    other = auto_on_blocks(HereRunner(), find_blocks(str(tmp_path / "part*.parquet")), columns, {"random_state": 3})
    X = frame[list("abc")].to_numpy()
    wide = other.of_rows(np.insert(X, 1, 7.5, axis=1))
    for name, values in found.of_rows(X).items():
        np.testing.assert_array_equal(wide[name], values)
    assert other.estimator.estimates_ == found.estimator.estimates_ and other.estimator.n_features_in_ == 4
    assert other.random_labeling.p_value == found.random_labeling.p_value
    assert other.random_labeling.feature == [0, 2, 3][found.random_labeling.feature]
    save_model(tmp_path / "model", other.to_save("parts"))
    assert load_model(tmp_path / "model").feature_names == list(columns.features)


@pytest.mark.slow
def test_the_estimates_are_near_the_truth_and_the_model_near_that_of_all_rows_at_once(folder, found):
    _, frame = folder
    X, s, true = frame[list("abc")].to_numpy(), frame["bought"].to_numpy() == 1, frame["true"].to_numpy()
    hidden = true[~s]
    score = found.of_rows(X)
    assert auc(score["score"][~s][hidden], score["score"][~s][~hidden]) > 0.9
    assert found.estimator.prior_interval_[0] <= hidden.mean() <= found.estimator.prior_interval_[1]
    assert abs(np.mean(score["score"][~s] > 0) - found.called_positive / np.sum(~s)) < 0.02
    whole = AutoPU(members=MEMBERS[:4], random_state=3).fit(X, s)
    best = max(line["pu_auc"] for line in whole.leaderboard_)
    assert max(line["pu_auc"] for line in found.estimator.leaderboard_) == pytest.approx(best, abs=0.02)
    assert [line["pu_auc"] for line in found.estimator.leaderboard_] == sorted(
        (line["pu_auc"] for line in found.estimator.leaderboard_), reverse=True
    )
    assert 0.0 <= score["probability"].min() < score["probability"].max() <= 1.0


@pytest.mark.slow
def test_held_out_scores_are_those_of_fits_without_the_fold(folder, monkeypatch):
    """Weighted ridge regressions fitted directly, fold by fold, give the same histogram."""
    path, _ = folder
    blocks = find_blocks(str(path / "part*.parquet"))
    seen = {}

    def caught(block, **settings):
        seen.update(settings)
        return auto.Total(np.ones((5, 2, auto.BINS), dtype=np.int64))

    monkeypatch.setattr(auto, "_score_histograms", caught)
    auto_on_blocks(HereRunner(), blocks, COLUMNS, {"random_state": 0})
    parts = [read_rows(block, COLUMNS) for block in blocks]
    X, s = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    fold = np.concatenate([fold_of(block, 0) for block in blocks])
    ensemble = seen["ensemble"]
    member, coef = ensemble.members[1], seen["by_fold"][1]
    K = auto._kernel(member.model, ensemble.views.of(X)[member.view])
    L = auto._kernel(member.model, member.model.landmarks)[:, :-1]
    weights = np.where(s, 0.5 * len(s) / s.sum(), 0.5 * len(s) / (~s).sum())
    ridge = member.parameters["ridge"] * len(s) / 2000
    held_out = np.empty(len(s))
    for b in range(auto.FOLDS):
        kept = fold != b
        A = K[kept].T @ (K[kept] * weights[kept, None])
        A[:-1, :-1] += ridge * L
        A[-1, -1] += ridge
        direct = np.linalg.solve(A, K[kept].T @ (weights[kept] * np.where(s[kept], 1.0, -1.0)))
        np.testing.assert_allclose(K[~kept] @ coef[:, b], K[~kept] @ direct, atol=1e-5)
        held_out[~kept] = K[~kept] @ coef[:, b]
    assert member.center == pytest.approx(held_out[~s].mean(), abs=1e-10)
    assert member.scale == pytest.approx(1.0 / held_out[~s].std(), rel=1e-8)


def test_folds_depend_on_the_row_alone():
    whole = uniform(Block("x", 0, 0, 10_000), 5)
    assert whole.min() >= 0.0 and whole.max() < 1.0 and abs(whole.mean() - 0.5) < 0.02
    np.testing.assert_array_equal(uniform(Block("y", 3, 4000, 100), 5), whole[4000:4100])
    assert np.abs(np.bincount(fold_of(Block("x", 0, 0, 9000), 5)) - 3000).max() < 200
    assert abs(np.corrcoef(whole, uniform(Block("x", 0, 0, 10_000), 6))[0, 1]) < 0.05


def test_scores_from_a_histogram_have_its_distribution():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=300_000)
    counts = np.histogram(scores, np.linspace(auto.LOWEST, auto.HIGHEST, auto.BINS + 1))[0]
    again = scores_of(counts)
    assert len(again) == auto.MOST_SCORES and (np.diff(again) >= 0).all()
    np.testing.assert_allclose(np.quantile(again, [0.01, 0.5, 0.99]), np.quantile(scores, [0.01, 0.5, 0.99]), atol=2e-3)


@pytest.mark.slow
def test_noise_is_warned_of_and_few_rows_are_refused(tmp_path):
    from pucli.core.errors import DegenerateModelWarning

    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(900, 3)), columns=list("abc")).assign(bought=np.arange(900) % 9 == 0)
    frame.astype({"bought": int}).to_parquet(tmp_path / "noise.parquet")
    with pytest.warns(DegenerateModelWarning, match="may be useless"):
        auto_on_blocks(HereRunner(), find_blocks(str(tmp_path / "noise.parquet")), COLUMNS, {"random_state": 0})
    frame.assign(bought=np.arange(900) == 4).astype({"bought": int}).to_parquet(tmp_path / "one.parquet")
    with pytest.raises(UsageError, match="at least 2 labeled"):
        auto_on_blocks(HereRunner(), find_blocks(str(tmp_path / "one.parquet")), COLUMNS, {"random_state": 0})


@pytest.mark.slow
def test_workers_give_the_same_model_and_predictions_beside_the_blocks(
    folder, found, cluster, tmp_path, capsys, monkeypatch
):
    path, frame = folder
    data, out = str(path / "part*.parquet"), tmp_path / "predictions"
    words = ["auto", "--data", data, "--label", "bought", "--seed", "3", "--backend", "dask", "--json"]
    words += ["--predictions", str(out)]
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", cluster.scheduler_address)
    assert main([*words, "--model", str(tmp_path / "m.model")]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["estimates"]["prior"]["value"] == pytest.approx(found.estimator.prior_, abs=1e-12)
    X = frame[list("abc")].to_numpy()
    written = pd.concat([pd.read_parquet(name) for name in sorted(out.glob("part*.parquet"))])
    np.testing.assert_allclose(written["score"], found.of_rows(X)["score"], atol=1e-9)
    np.testing.assert_allclose(written["probability"], found.of_rows(X)["probability"], atol=1e-9)
    assert set(written["prediction"]) == {"0", "1"}
    saved = load_model(tmp_path / "m.model")
    np.testing.assert_allclose(saved.pipeline.decision_function(X), written["score"], atol=1e-9)
    save_model(tmp_path / "again.model", found.to_save("some"))
    assert document["duplicate_rows"] is None
    assert main([*words[:5], "--backend", "dask", "--report", "r.html"]) == 2
    assert "--report and --scored need all rows" in capsys.readouterr().err


def test_blocks_of_a_single_training_set_are_summed_up_and_duplicates_are_not_denied(folder, capsys, monkeypatch):
    """The rows of blocks are never all there, so nothing can be said of duplicates."""
    from pucli.cli import block_training
    from pucli.distributed import dask_runner

    runner = HereRunner()
    runner.client = None
    monkeypatch.setattr(block_training, "dask_client", nullcontext)
    monkeypatch.setattr(dask_runner, "DaskRunner", lambda client: runner)
    words = ["auto", "--data", str(folder[0] / "part*.parquet"), "--label", "bought", "--backend", "dask", "--verbose"]
    assert main([*words, "--scenario", "single-training-set"]) == 0
    shown = capsys.readouterr()
    assert "of 3,000 rows" in shown.out and "labeled ones included (" in shown.out and "duplicate" not in shown.out
    assert (shown.out + shown.err).count("trained on blocks") == 1
