"""Predictions block by block: the same bits as in memory, whatever the format; identifiers and the top rows."""

import io
import pickle
import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline

from pucli.core.errors import UsageError
from pucli.data.columns.drift import DriftCounter
from pucli.data.rows.blocks import STDIN
from pucli.data.rows.training_rows import RowSource, training_rows
from pucli.data.rows.user_file import ColumnChoice
from pucli.models import prediction
from pucli.models.fitting import fit
from pucli.models.prediction import predicted_blocks, top_rows
from pucli.models.saved import load_model, save_model

N = 200


def table(n, seed):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "key": [f"{i:05d}" for i in range(n)],
            "age": random.integers(18, 90, n).astype(float),
            "job": random.choice(["cook", "nurse", "pilot"], n),
            "since": pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 900, n), unit="D")),
            "note": [" ".join(random.choice(["good", "bad", "room", "food"], 5)) for _ in range(n)],
        }
    )
    frame.loc[random.random(n) < 0.1, "age"] = np.nan
    frame.loc[random.random(n) < 0.1, "job"] = None
    frame["since"] = frame["since"].dt.strftime("%Y-%m-%d")
    yes = (frame["job"] == "cook") & (random.random(n) < 0.7) | (frame["age"] > 80)
    return frame, yes


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model that was trained on a table with columns of every kind, and went through its file."""
    folder = tmp_path_factory.mktemp("model")
    frame, yes = table(N, 0)
    frame.assign(bought=np.where(yes, "yes", "")).to_csv(folder / "rows.csv", index=False)
    choice = ColumnChoice(ids=("key",), kinds={"note": "text"})
    rows = training_rows("pu", RowSource(data=folder / "rows.csv", label="bought", positive="yes", choice=choice))
    save_model(folder / "m.model", fit("glpual", {}, rows, standardize=True).to_save())
    return load_model(folder / "m.model")


def new_rows(folder, kind, n=500):
    frame, _ = table(n, 1)
    path = folder / f"new.{kind}"
    frame.to_parquet(path, row_group_size=70) if kind == "parquet" else frame.to_csv(path, index=False)
    return path, frame


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_blocks_give_the_bits_of_the_model_in_memory(kind, saved, tmp_path, monkeypatch):
    path, frame = new_rows(tmp_path, kind)
    whole = saved.whole
    for rows in (64, 496, 1000):
        monkeypatch.setattr(prediction, "BLOCK", rows)
        found = pd.concat(predicted_blocks(saved, path, ids=["key"]), ignore_index=True)
        assert np.array_equal(found["score"], whole.decision_function(frame))
        assert found["row"].tolist() == list(range(1, 501))
        assert found["key"].tolist() == frame["key"].tolist()
        assert (found["prediction"] == np.where(found["score"] > 0, "yes", "no")).all()


def test_the_whole_model_predicts_the_words_of_the_shell(saved, tmp_path):
    path, frame = new_rows(tmp_path, "csv")
    whole = saved.whole
    assert whole.predict(frame).tolist() == pd.concat(predicted_blocks(saved, path))["prediction"].tolist()
    assert whole.classes_.tolist() == ["no", "yes"]
    assert whole.score(frame, whole.predict(frame)) == 1.0
    assert pickle.loads(pickle.dumps(whole)).predict(frame[:5]).tolist() == whole.predict(frame[:5]).tolist()


def test_a_pipe_gives_the_same_predictions_as_the_file(saved, tmp_path, monkeypatch):
    path, _ = new_rows(tmp_path, "csv")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(path.read_bytes())))
    one = pd.concat(predicted_blocks(saved, path))
    pd.testing.assert_frame_equal(pd.concat(predicted_blocks(saved, STDIN)), one)


def test_cells_unlike_training_are_counted_over_all_blocks_with_their_line(saved, tmp_path, monkeypatch):
    path, frame = new_rows(tmp_path, "csv")
    frame = frame.astype(object)
    frame.loc[[100, 300], "job"] = "sailor"
    frame.loc[250, "age"] = "old"
    frame.to_csv(path, index=False)
    tally = DriftCounter()
    monkeypatch.setattr(prediction, "BLOCK", 64)
    list(predicted_blocks(saved, path, tally=tally))
    assert "column 'job': 2 cells with a value not seen in training (first in line 102: 'sailor')" in tally.lines()
    assert "column 'age': 1 cell not a number, treated as empty (first in line 252: 'old')" in tally.lines()


@pytest.mark.slow
def test_the_top_rows_are_those_of_a_full_sort(saved, tmp_path, monkeypatch):
    path, _ = new_rows(tmp_path, "csv")
    every = pd.concat(predicted_blocks(saved, path), ignore_index=True)
    expected = every.sort_values("score", ascending=False, kind="stable").head(17).reset_index(drop=True)
    for rows in (5, 64, 1000):
        with monkeypatch.context() as patched:
            patched.setattr(prediction, "BLOCK", rows)
            pd.testing.assert_frame_equal(top_rows(predicted_blocks(saved, path), 17), expected)
    assert len(top_rows(predicted_blocks(saved, path), 10_000)) == 500


@pytest.mark.slow
def test_memory_is_that_of_a_block(saved, tmp_path, monkeypatch):
    """Rows five times as many take no more memory at once."""
    import tracemalloc

    peaks = []
    monkeypatch.setattr(prediction, "BLOCK", 512)
    for n in (10_000, 50_000):
        path, _ = new_rows(tmp_path, "csv", n)
        tracemalloc.start()
        for _block in predicted_blocks(saved, path):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_a_missing_column_and_a_name_that_is_taken_are_errors(saved, tmp_path):
    path, frame = new_rows(tmp_path, "csv")
    with pytest.raises(
        UsageError, match="no column 'age', which the model was trained with; there is 'ages': rename it"
    ):
        frame.rename(columns={"age": "ages"}).to_csv(path, index=False)
        list(predicted_blocks(saved, path))
    with pytest.raises(UsageError, match="--id score"):
        list(predicted_blocks(saved, path, ids=["score"]))


def test_prediction_does_not_change_the_model(saved, tmp_path):
    path, frame = new_rows(tmp_path, "csv", 100)
    alone = pd.concat(predicted_blocks(saved, path))["score"].to_numpy()
    poisoned = pd.concat([frame, frame.assign(age=1e9, job="alien", note="poison " * 50)], ignore_index=True)
    poisoned.to_csv(path, index=False)
    assert np.array_equal(pd.concat(predicted_blocks(saved, path))["score"].to_numpy()[:96], alone[:96])


def blocks_of(scores, rows=3):
    frame = pd.DataFrame({"row": np.arange(len(scores)) + 1, "score": np.asarray(scores, dtype=float)})
    return [frame[start : start + rows].reset_index(drop=True) for start in range(0, len(frame), rows)]


def test_as_many_top_rows_as_asked_for_and_ties_in_the_order_of_the_file():
    found = top_rows(blocks_of([1, 5, 2, 5, 0, 3, 5]), 4)
    assert found["row"].tolist() == [2, 4, 7, 6] and found["score"].tolist() == [5, 5, 5, 3]


@pytest.mark.parametrize(
    ("share", "above"), [(0.5, [False, True, True, False]), (1.0, [True] * 4), (0.0, [False] * 4), (0.25, [0, 1, 0, 0])]
)
def test_a_share_of_the_rows_lies_above_the_moved_threshold(monkeypatch, share, above):
    raw, threshold = np.array([1.0, 9.0, 4.0, 2.0]), 7.0
    monkeypatch.setattr(prediction, "predicted_blocks", lambda *_, **__: blocks_of(raw - threshold))
    model = SimpleNamespace(threshold_=threshold)
    moved = prediction.with_threshold_at_share(Saved(Pipeline([("model", model)]), {}), "rows.csv", share)
    new = moved.pipeline[-1].threshold_
    assert (raw > new).tolist() == above and model.threshold_ == threshold
    if share == 0.5:
        assert new == 3.0  # half way


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_no_rounding_leaves_a_row_on_the_wrong_side_of_no_row_or_all(monkeypatch, share):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        raw, threshold = rng.normal(size=20), float(rng.normal())
        blocks = blocks_of(raw - threshold)
        monkeypatch.setattr(prediction, "predicted_blocks", lambda *_, blocks=blocks, **__: blocks)
        saved = Saved(Pipeline([("model", SimpleNamespace(threshold_=threshold))]), {})
        new = prediction.with_threshold_at_share(saved, "rows.csv", share).pipeline[-1].threshold_
        assert np.all((raw - new > 0.0) == (share == 1.0)), seed


def test_a_range_has_its_lower_end_below_and_is_the_whole_one_where_a_column_leaks():
    curves = {"scores": [-1.0, 1.0], "low": [0.0, 0.6], "probability": [0.1, 0.8], "high": [0.3, 0.9]}
    X = np.array([[-1.0], [1.0], [0.0]])
    pipeline = Pipeline([("model", Sign())])
    for leaks, low, high in (([], [0.0, 0.6, 0.3], [0.3, 0.9, 0.6]), (["a"], [0.0] * 3, [1.0] * 3)):
        found = prediction._predicted(Saved(pipeline, {"probability": curves, "leaks": leaks}), X, 0)
        np.testing.assert_allclose(found["probability"], [0.1, 0.8, 0.45])
        np.testing.assert_allclose(found["probability_low"], low)
        np.testing.assert_allclose(found["probability_high"], high)


@dataclass
class Saved:
    """What these functions read of a model file."""

    pipeline: Any
    metadata: dict


class Sign(ClassifierMixin, BaseEstimator):
    """The first feature as the score."""

    classes_ = np.array([0, 1])

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)
