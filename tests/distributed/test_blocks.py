import functools
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from pucli.cli.main import main
from pucli.core.errors import RunError, UsageError
from pucli.core.processes import dask_client
from pucli.data.features import Standardizer
from pucli.distributed.blocks import (
    ColumnNames,
    RowMap,
    find_blocks,
    moments,
    numeric_columns,
    read_rows,
    rows_at,
    write_predictions,
)
from pucli.distributed.sample import Shares, sample
from pucli.distributed.training import _best_threshold, _drawn, prior_and_threshold, train_on_blocks
from pucli.estimators import BLSSVM
from pucli.estimators.global_local import feature_model
from pucli.models.saved import load_model, save_model
from tests.distributed.helpers import HereRunner

pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")


@pytest.fixture
def folder(tmp_path):
    """Six files of unequal length, the first in two row groups; one column is constant and one far from the origin."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4)) * [1.0, 5.0, 0.1, 1.0] + [0.0, 0.0, 1e6, 0.0]
    positive = X[:, 0] + 0.3 * rng.normal(size=900) > 0.3
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=7, bought=(positive & (rng.random(900) < 0.5)).astype(int))
    for k, (start, stop) in enumerate([(0, 300), (300, 350), (350, 500), (500, 600), (600, 750), (750, 900)]):
        frame[start:stop].to_parquet(tmp_path / f"part{k}.parquet", row_group_size=180)
    return tmp_path, frame


@pytest.mark.parametrize("params", [{}, {"lam": 3.0, "c_u": 0.2, "c_p": 2.0}, {"kernel": "rbf"}])
@pytest.mark.parametrize("standardize", [True, False])
def test_fitting_in_blocks_gives_the_model_of_one_machine(folder, params, standardize, monkeypatch, tmp_path):
    path, frame = folder
    monkeypatch.setattr(feature_model, "WHOLE_KERNEL_ROWS", 500)
    monkeypatch.setattr("pucli.estimators.global_local.svm.LANDMARKS", 60)
    monkeypatch.setattr("pucli.distributed.training.LANDMARKS", 60)
    X, y = frame.drop(columns="bought").to_numpy(dtype=float), frame["bought"].to_numpy()
    rows = Standardizer().fit_transform(X) if standardize else X
    true = BLSSVM(**params).fit(rows, y)
    blocks = find_blocks(str(path / "*.parquet"))
    assert len(blocks) == 7 and [block.first for block in blocks] == [0, 180, 300, 350, 500, 600, 750]
    columns = ColumnNames(numeric_columns(blocks[0], "bought", (), ()), "bought", "")
    found = train_on_blocks(HereRunner(), blocks, columns, params, standardize=standardize)
    expected = true.decision_function(rows)
    # without standardization the column at 1e6 costs digits of the scores
    close = 1e-8 if standardize else 1e-6
    np.testing.assert_allclose(found.features(X) @ found.coef, expected, atol=close * np.ptp(expected))
    assert found.estimator.objective_ == pytest.approx(true.objective_, rel=1e-8)
    save_model(tmp_path / "m.model", found.to_save("some"))
    saved = load_model(tmp_path / "m.model")
    np.testing.assert_allclose(
        saved.pipeline.decision_function(X), found.features(X) @ found.coef, atol=close * np.ptp(expected)
    )
    assert found.estimator.positive_share_ == pytest.approx(np.mean(expected[y == 0] > 0), abs=0.01)


def test_moments_add_up(folder):
    path, frame = folder
    blocks = find_blocks(str(path / "*.parquet"))
    columns = ColumnNames(("a", "c"), "bought", "1")
    found = HereRunner().total(functools.partial(moments, columns=columns), blocks)
    np.testing.assert_allclose(found.mean, frame[["a", "c"]].mean())
    np.testing.assert_allclose(np.sqrt(found.squares / found.n), frame[["a", "c"]].std(ddof=0), rtol=1e-9)
    assert found.labels == {"0": (frame.bought == 0).sum(), "1": (frame.bought == 1).sum()}


def test_the_grid_point_is_chosen_on_held_out_blocks(folder):
    path, frame = folder
    blocks = find_blocks(str(path / "*.parquet"))
    columns = ColumnNames(numeric_columns(blocks[0], "bought", (), ()), "bought", "1")
    grid = {"lam": [0.1, 1e6], "c_u": [0.5, 1e-4]}
    found = train_on_blocks(HereRunner(), blocks, columns, {}, grid=grid, folds=3)
    scores = {}
    X = Standardizer().fit_transform(frame.drop(columns="bought").to_numpy(dtype=float))
    y, fold = frame["bought"].to_numpy(), np.empty(900, dtype=int)
    for k, block in enumerate(blocks):
        fold[block.first : block.first + block.rows] = k % 3
    for lam in grid["lam"]:
        for c_u in grid["c_u"]:
            f = np.empty(900)
            for k in range(3):
                f[fold == k] = BLSSVM(lam=lam, c_u=c_u).fit(X[fold != k], y[fold != k]).decision_function(X[fold == k])
            scores[lam, c_u] = roc_auc_score(y, f), f
    best = max(scores, key=lambda point: scores[point][0])
    assert (found.estimator.lam, found.estimator.c_u) == best
    f, step = scores[best][1], 8.0 / 8000
    prior, _ = prior_and_threshold(*(np.histogram(f[y == k], np.arange(-4.0, 4.0005, step))[0] for k in (1, 0)))
    f1 = {
        threshold: 2 * prior * np.mean(f[y == 1] > threshold) / (np.mean(f[y == 0] > threshold) + prior)
        for threshold in f - 1e-9
    }
    threshold = found.estimator.threshold
    assert 2 * prior * np.mean(f[y == 1] > threshold) / (np.mean(f[y == 0] > threshold) + prior) > 0.99 * max(
        f1.values()
    )
    of_rows = found.of_rows(frame.drop(columns="bought").to_numpy(dtype=float))["score"]
    whole = BLSSVM(lam=best[0], c_u=best[1]).fit(X, y).decision_function(X)
    np.testing.assert_allclose(of_rows, whole - threshold, atol=1e-8)
    saved = found.to_save("rows").pipeline.decision_function(frame.drop(columns="bought").to_numpy(dtype=float))
    np.testing.assert_allclose(saved, of_rows, atol=1e-8)


def test_predictions_number_the_rows_of_each_file(folder, tmp_path):
    path, frame = folder
    blocks = find_blocks(str(path / "part0.parquet"))
    assert len(blocks) == 2
    model = SimpleNamespace(of_rows=lambda X: {"score": X[:, 0]})
    (tmp_path / "out").mkdir()
    columns = ColumnNames(("a", "b"), "bought", "1")
    out = write_predictions((blocks[0].path, blocks), model, columns, str(tmp_path / "out"), ["no", "yes"])
    found = pd.read_parquet(out)
    assert found["row"].tolist() == list(range(1, 301))
    np.testing.assert_array_equal(found["score"], frame["a"][:300])
    assert (found["prediction"] == np.where(frame["a"][:300] > 0, "yes", "no")).all()


def test_a_sample_has_the_share_of_each_kind_of_row(folder):
    path, frame = folder
    blocks, columns = find_blocks(str(path / "*.parquet")), ColumnNames(("a", "b"), "bought", "1")
    shares = Shares(1.0, 0.2, 1.0)
    found = HereRunner().total(functools.partial(sample, columns=columns, shares=shares, seed=0), blocks)
    assert found.labeled.sum() == frame["bought"].sum()
    assert np.sum(~found.labeled) == pytest.approx(0.2 * np.sum(frame["bought"] == 0), rel=0.2)


def test_scores_are_drawn_from_the_middle_of_their_bins_and_the_cut_is_a_lower_end():
    counts = np.zeros(8000, dtype=int)
    counts[[4000, 7999]] = [3, 1]
    np.testing.assert_allclose(_drawn(counts), [0.0005, 0.0005, 0.0005, 3.9995])
    unlabeled = counts.copy()
    unlabeled[:4000] = 1
    assert _best_threshold(1000 * counts, unlabeled) == pytest.approx(0.0, abs=1e-12)


def test_rows_are_found_by_their_numbers_and_constants_of_training_count_for_nothing(folder):
    path, frame = folder
    columns, numbers = ColumnNames(("a", "e"), "bought", "1"), np.array([0, 179, 180, 310, 899])
    found = HereRunner().total(
        functools.partial(rows_at, columns=columns, numbers=numbers), find_blocks(str(path / "*.parquet"))
    )
    np.testing.assert_array_equal(found.numbers, numbers)
    np.testing.assert_array_equal(found.X, frame[["a", "e"]].iloc[numbers])
    features = RowMap(np.array([1.0, 7.0]), np.array([2.0, 1.0]), np.array([False, True]))
    np.testing.assert_array_equal(features.standardized(np.array([[5.0, 9.0]])), [[2.0, 0.0]])


def test_prior_and_cut_come_from_the_histogram():
    rng = np.random.default_rng(1)
    n, prior = 200_000, 0.3
    positive = rng.normal(1.0, 0.2, n)
    mixed = np.where(rng.random(n) < prior, rng.normal(1.0, 0.2, n), rng.normal(-1.0, 0.2, n))
    edges = np.linspace(-4.0, 4.0, 8001)
    found, threshold = prior_and_threshold(np.histogram(positive, edges)[0], np.histogram(mixed, edges)[0])
    assert found == pytest.approx(prior, abs=0.01)
    assert np.mean(mixed >= threshold) == pytest.approx(found, abs=0.002)


def test_blocks_keep_data_and_predictions(pucli, folder, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.parquet").write_bytes((tmp_path / "part0.parquet").read_bytes())
    whole = (tmp_path / "part1.parquet").read_bytes()
    words = ("train", "-m", "blssvm", "--label", "bought", "--positive", "1", "--backend", "dask")
    done = pucli(*words, "--data", "*/x.parquet", "--predictions", "out")
    assert done.code == 2 and "have one name" in done.err
    done = pucli(*words, "--data", "part*.parquet", "--model", "part1.parquet")
    assert done.code == 2 and "would overwrite the input" in done.err
    assert (tmp_path / "part1.parquet").read_bytes() == whole
    (tmp_path / "part1.parquet").write_bytes(b"PAR1 and no more")
    done = pucli(*words, "--data", "part*.parquet")
    assert done.code == 2 and "part1.parquet is damaged" in done.err
    pd.DataFrame({"a": ["q"], "bought": [1]}).to_parquet(tmp_path / "part1.parquet")
    done = pucli(*words, "--data", "part*.parquet")
    assert done.code == 2 and "part1.parquet" in done.err and "no column 'b'" in done.err


def test_errors_name_what_blocks_do_not_support(folder, tmp_path):
    path, frame = folder
    blocks = find_blocks(str(path / "*.parquet"))
    with pytest.raises(UsageError, match="has no column 'sold'"):
        numeric_columns(blocks[0], "sold", (), ())
    frame.assign(job="cook").to_parquet(tmp_path / "text.parquet")
    (text,) = find_blocks(str(tmp_path / "text.parquet"))
    with pytest.raises(UsageError, match=r"'job' holds .*--drop job"):
        numeric_columns(text, "bought", (), ())
    frame.assign(a=np.where(frame["a"] > 2, np.nan, frame["a"])).to_parquet(tmp_path / "gap.parquet")
    (gap,) = find_blocks(str(tmp_path / "gap.parquet"))
    with pytest.raises(UsageError, match="column 'a' has empty or infinite cells"):
        read_rows(gap, ColumnNames(("a", "b"), "bought", "1"))
    with pytest.raises(UsageError, match="no file matches"):
        find_blocks(str(tmp_path / "none*.parquet"))
    with pytest.raises(UsageError, match="0 of 900 rows have the label 'yes'"):
        train_on_blocks(HereRunner(), blocks, ColumnNames(("a", "b"), "bought", "yes"), {})


@pytest.mark.slow
def test_workers_give_the_same_model_and_a_killed_worker_loses_only_its_blocks(
    folder, cluster, tmp_path, capsys, monkeypatch
):
    path, frame = folder
    out = tmp_path / "predictions"
    blocks = find_blocks(str(path / "part*.parquet"))
    here = train_on_blocks(HereRunner(), blocks, ColumnNames(tuple("abcde"), "bought", "1"), {})
    words = ["train", "--method", "blssvm", "--data", str(path / "part*.parquet"), "--label", "bought", "--json"]
    words += ["--backend", "dask", "--predictions", str(out)]
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", cluster.scheduler_address)
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["objective"] == pytest.approx(here.estimator.objective_, rel=1e-12)
    parts = [pd.read_parquet(name) for name in sorted(out.glob("part*.parquet"))]
    X = frame.drop(columns="bought").to_numpy(dtype=float)
    np.testing.assert_allclose(pd.concat(parts)["score"], here.features(X) @ here.coef, atol=1e-9)
    from pucli.distributed.dask_runner import DaskRunner

    with dask_client() as client:
        flag = tmp_path / "killed"
        found = DaskRunner(client).total(functools.partial(_dying, flag=str(flag)), blocks)
    assert flag.exists()
    assert found.n == 900
    np.testing.assert_allclose(found.mean, frame[["a", "b"]].mean())


def _dying(block, flag):
    """Kill the worker at the first block of the fourth file, once."""
    import os
    from pathlib import Path

    from pucli.distributed.blocks import ColumnNames, moments

    if block.path.endswith("part3.parquet") and not Path(flag).exists():
        Path(flag).touch()
        os._exit(1)
    return moments(block, ColumnNames(("a", "b"), "bought", "1"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path, frame: frame[:500].to_parquet(path), "was changed during the training"),
        (lambda path, frame: frame[:200].to_parquet(path, row_group_size=180), "was changed during the training"),
        (lambda path, frame: frame.drop(columns="b").to_parquet(path, row_group_size=180), "was changed"),
        (lambda path, frame: path.write_bytes(path.read_bytes()[:2000]), "is damaged"),
        (lambda path, frame: path.write_bytes(b""), "is damaged"),
        (lambda path, frame: frame.assign(b="x").to_parquet(path, row_group_size=180), "column 'b' holds"),
        (lambda path, frame: path.unlink(), "every worker must see the data files"),
    ],
)
def test_a_file_that_changes_during_the_training_is_named(folder, change, said):
    path, frame = folder
    columns, blocks = ColumnNames(("a", "b"), "bought", "1"), find_blocks(str(path / "part*.parquet"))
    assert blocks[1].group == 1
    assert read_rows(blocks[1], columns)[0].shape == (120, 2)
    change(path / "part0.parquet", frame[:300])
    with pytest.raises(UsageError) as caught:
        read_rows(blocks[1], columns)
    assert "part0.parquet" in str(caught.value) and said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("what", ["workers", "scheduler"])
def test_lost_workers_and_a_lost_scheduler_end_in_one_line(what):
    """What Dask raises if each worker that takes a block dies, or if the scheduler is gone."""
    distributed = pytest.importorskip("distributed", reason="the extra [dask] is not installed")
    from distributed.utils import CancelledError  # of which Dask 2024.1 has no subclass

    from pucli.distributed.dask_runner import DaskRunner

    class Client:
        gather = None

        def map(self, *args, **kwargs):
            if what == "workers":
                raise distributed.KilledWorker("moments-1", None, 3)
            raise CancelledError("moments-1")

    said = "4 workers died on one block" if what == "workers" else "connection to the scheduler was lost"
    for compute in (DaskRunner(Client()).total, DaskRunner(Client()).each):
        with pytest.raises(RunError, match=said):
            compute(moments, [1, 2])


def test_workers_that_do_not_start_end_in_one_line(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the extra [dask] is not installed")

    def fails(**how):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "Client", fails)
    with (
        pytest.raises(RunError, match=r"workers on this machine did not start .Nanny failed to start"),
        dask_client(),
    ):
        raise AssertionError


@pytest.mark.parametrize(
    ("address", "error", "says"),
    [("odd://host:1", UsageError, "no address"), ("tcp://127.0.0.1:1", RunError, "answers")],
)
def test_an_address_without_a_scheduler_ends_in_one_line(monkeypatch, address, error, says):
    distributed = pytest.importorskip("distributed", reason="the extra [dask] is not installed")
    client = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda address, timeout: client(address, timeout="100ms"))
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", address)
    with pytest.raises(error, match=f"DASK_SCHEDULER_ADDRESS {address}: .*{says}"), dask_client():
        raise AssertionError


def test_partial_predictions_of_killed_workers_are_removed(folder, tmp_path):
    from pucli.cli.block_training import Backend

    path, _ = folder
    out = tmp_path / "out"
    out.mkdir()

    class Killed:
        def each(self, write, items):
            (out / ".part0.parquet.1f").write_bytes(b"PAR1")
            (out / ".part0.parquet.crc").write_bytes(b"crc")
            (out / "own.parquet").write_bytes(b"PAR1")
            raise RunError("4 workers died")

    model = SimpleNamespace(labels=np.array(["0", "1"]), columns=ColumnNames(("a", "b"), "bought", "1"))
    with pytest.raises(RunError):
        Backend("dask", out).predict(SimpleNamespace(), Killed(), find_blocks(str(path / "part*.parquet")), model)
    assert sorted(file.name for file in out.iterdir()) == [".part0.parquet.crc", "own.parquet"]
