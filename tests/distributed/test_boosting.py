"""Boosted trees of LightGBM as a member of `auto` on blocks."""

import json

import numpy as np
import pandas as pd
import pytest

from pucli.cli.main import main
from pucli.distributed.boosting import ScoreSums, forest_of, held_out_scores, mean_of
from pucli.models.saved import load_model
from pucli.solvers.ensemble.forests import TreeSum
from pucli.solvers.ensemble.trees import make_bins

lightgbm = pytest.importorskip("lightgbm", reason="the extra [boosting] is not installed: no LightGBM")


def booster(bins, y, rounds, seed=0):
    params = {"objective": "cross_entropy", "boost_from_average": False, "max_depth": 3, "verbose": -1}
    return lightgbm.train({**params, "seed": seed, "num_threads": 1}, lightgbm.Dataset(bins, y), rounds)


def test_trees_as_arrays_score_as_lightgbm_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    bins = make_bins(X).of(X)
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=800) > 0).astype(float)
    models = [booster(bins, y, rounds, seed) for seed, rounds in enumerate((1, 30))]
    forests = [forest_of(model.dump_model()) for model in models]
    every = np.array(np.meshgrid(*[[0, 90, 254, 255]] * 4), dtype=np.uint8).reshape(4, -1).T
    for rows in (bins, every):
        raw = [model.predict(rows, raw_score=True) for model in models]
        for forest, score in zip(forests, raw, strict=True):
            np.testing.assert_allclose(forest.sum(rows), score, atol=1e-12)
        kept = [TreeSum(forest, 1.0) for forest in forests]
        np.testing.assert_allclose(mean_of(kept).score(rows), np.mean(raw, axis=0), atol=1e-12)
        fold = rng.integers(0, 2, size=len(rows))
        np.testing.assert_allclose(held_out_scores(kept, rows, fold), np.where(fold == 1, raw[1], raw[0]), atol=1e-12)


def test_a_tree_of_one_leaf_is_a_constant():
    forest = forest_of({"tree_info": [{"tree_structure": {"leaf_value": 0.25}}]})
    assert forest.sum(np.zeros((3, 2), dtype=np.uint8)).tolist() == [0.25] * 3


def test_sums_of_scores_are_merged():
    scores = np.random.default_rng(1).normal(size=50)
    parts = [ScoreSums(len(part), part.sum(), part @ part) for part in np.split(scores, [20])]
    both = parts[0].plus(parts[1])
    assert both.n == 50 and both.total == pytest.approx(scores.sum())
    assert both.deviation == pytest.approx(scores.std())


@pytest.mark.slow
def test_auto_on_workers_trains_them_where_one_worker_sees_one_class_alone(tmp_path, capfd):
    """Classes that no line separates; rows sorted by class, so that the last files alone hold labeled rows."""
    pytest.importorskip("distributed", reason="the extra [dask] is not installed")
    rng = np.random.default_rng(0)
    n = 3000
    X = rng.normal(size=(n, 4))
    positive = X[:, 0] * X[:, 1] > 0.3
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame = frame.assign(bought=(positive & (rng.random(n) < 0.4)).astype(int), true=positive)
    frame = frame.sort_values("bought", ignore_index=True)
    for k in range(4):
        frame.iloc[k * 750 : (k + 1) * 750].drop(columns="true").to_parquet(tmp_path / f"part{k}.parquet")
    words = ["auto", "--data", str(tmp_path / "part*.parquet"), "--label", "bought", "--positive", "1", "--json"]
    assert main([*words[:3], "--label", "bought", "--boosting"]) == 2
    assert "--boosting is for --backend dask" in capfd.readouterr().err
    assert main([*words, "--backend", "dask", "--boosting", "--model", str(tmp_path / "m.model")]) == 0
    document = json.loads(capfd.readouterr().out)
    ranked = {line["name"]: line["pu_auc"] for line in document["leaderboard"]}
    assert ranked["boosted-trees"] > 0.75
    model = load_model(tmp_path / "m.model").pipeline
    score = model.decision_function(frame[list("abcd")].to_numpy())
    assert [member.name for member in model[-1].ensemble_.members][-1] == "boosted-trees"
    hidden, true = frame["bought"] == 0, frame["true"]
    assert score[hidden & true].mean() > score[hidden & ~true].mean() + 0.5
