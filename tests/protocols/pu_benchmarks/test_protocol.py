"""The samplings of PU-Bench and PUICL."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from sklearn.model_selection import train_test_split

from pucli.core.errors import UsageError
from pucli.protocols.pu_benchmarks import protocol
from pucli.protocols.pu_benchmarks.protocol import PROTOCOL, pu_bench, puicl, puicl_stream
from pucli.runner import Context, load_experiment, plan, run
from pucli.runner.store import read_rows

DECLARED = {
    "title": "One set that needs no download",
    "protocol": "pu_benchmarks",
    "options": {"sampling": "puicl", "sets": ["breast-cancer"]},
    "data": {"names": ["breast-cancer"], "standardize": "train"},
    "split": {"label_frequencies": [0.3333], "repeats": 2, "seed": 7},
    "methods": {"svc-naive": {"method": "svc-naive", "grid": {}}},
    "metrics": ["f1", "auc"],
}


def declared(tmp_path, **changes):
    path = tmp_path / "one.yaml"
    path.write_text(yaml.safe_dump({**DECLARED, **changes}))
    return load_experiment(path)


def test_a_labeled_row_of_pu_bench_is_unlabeled_too_and_never_tested() -> None:
    y = np.repeat([1, -1], [400, 600])
    rows = pu_bench(np.zeros((1000, 1)), y, 0.1, 42)
    labeled, unlabeled = rows.train[rows.labeled == 1], rows.train[rows.labeled == 0]
    assert len(rows.test) == 200 and y[rows.test].mean() == pytest.approx(-0.2)
    assert len(unlabeled) == 792 and len(labeled) == int(0.1 * (y[unlabeled] == 1).sum())
    assert (y[labeled] == 1).all() and set(labeled) <= set(unlabeled)
    assert not set(rows.train) & set(rows.test)
    assert len(rows.validation) == 8 + int(0.1 * 3) and rows.validation_labeled.sum() == int(0.1 * 3)
    assert not set(rows.validation) & (set(rows.train) | set(rows.test))


def test_the_labeled_rows_of_pu_bench_are_those_of_its_repository() -> None:
    """The same random numbers in the same order as `create_pu_training_set` there has them."""
    y = np.random.default_rng(5).permutation(np.repeat([1, -1], [400, 600]))
    rest, _ = train_test_split(np.arange(1000), test_size=0.2, stratify=y, random_state=2)
    train, _ = train_test_split(rest, test_size=8, stratify=y[rest], random_state=2)
    positive = np.where(y[train] == 1)[0]
    expected = train[np.random.default_rng(2).choice(positive, size=int(0.1 * len(positive)), replace=False)]
    rows = pu_bench(np.zeros((1000, 1)), y, 0.1, 2)
    assert np.array_equal(rows.train[rows.labeled == 1], expected)


@pytest.mark.parametrize(("labeling", "side"), [("sar-lbe-a", 1), ("sar-lbe-b", -1), ("sar-pusb", 1)])
def test_pu_bench_labels_clear_or_doubtful_positives_first(labeling: str, side: int) -> None:
    rng = np.random.default_rng(3)
    y = np.repeat([1, -1], [800, 1200])
    X = rng.normal(size=(2000, 2)) + 0.8 * y[:, None]
    rows = pu_bench(X, y, 0.1, 42, labeling)
    labeled, positive = rows.train[rows.labeled == 1], rows.train[y[rows.train] == 1]
    assert len(labeled) == 63 and (y[labeled] == 1).all()
    assert side * (X[labeled].sum(axis=1).mean() - X[positive].sum(axis=1).mean()) > 0.2


def test_a_fifth_of_the_unlabeled_rows_of_puicl_is_negative() -> None:
    y = np.repeat([1, -1], [3916, 4208])
    for seed in range(4):
        rows = puicl(y, 0.3333, np.random.default_rng(seed))
        labeled, unlabeled = rows.train[rows.labeled == 1], rows.train[rows.labeled == 0]
        assert (len(labeled), len(unlabeled)) == (200, 500)
        assert (y[labeled] == rows.positive).all()
        assert np.mean(y[unlabeled] != rows.positive) == 0.2
        assert np.array_equal(rows.test, unlabeled) and not set(labeled) & set(unlabeled)


def test_puicl_draws_the_positive_class_and_takes_few_rows_of_small_sets() -> None:
    y = np.repeat([1, -1], [212, 357])
    drawn = {(rows := puicl(y, 0.3333, np.random.default_rng(seed))).positive: rows for seed in range(10)}
    assert set(drawn) == {1, -1}
    assert [int((drawn[label].labeled == 1).sum()) for label in (1, -1)] == [71, 119]
    assert [len(drawn[label].test) for label in (1, -1)] == [141 + 35, 238 + 60]


@pytest.mark.parametrize(
    ("place", "counts", "classes"),
    [(0, (212, 357), "-++--+-+-+"), (5, (1594, 134), "++-----+--"), (12, (2384, 4113), "-+++-+-++-")],
    ids=["wdbc", "car", "wine-quality"],
)
def test_the_tasks_of_puicl_are_the_published_ones(place, counts, classes) -> None:
    """The classes that its replicate_metrics.csv names; each depends on all random numbers drawn before."""
    y, rng = np.repeat([1, -1], counts), puicl_stream(42, place)
    drawn = [puicl(y, 0.3333, rng).positive for _ in classes]
    assert "".join("+" if label == 1 else "-" for label in drawn) == classes


def test_repeats_of_puicl_follow_each_other_and_sets_have_their_own_draws(tmp_path) -> None:
    experiment = declared(tmp_path)
    first, second = (PROTOCOL.prepare(cell, Context()) for cell in plan(experiment))
    assert not np.array_equal(first.X_train, second.X_train)
    later = declared(tmp_path, options={"sampling": "puicl", "sets": ["wdbc", "breast-cancer"]})
    moved = PROTOCOL.prepare(plan(later)[0], Context())
    assert not np.array_equal(first.X_train, moved.X_train)
    assert {cell.key for cell in plan(experiment)}.isdisjoint({cell.key for cell in plan(later)})


def test_a_data_set_without_a_place_is_named(tmp_path) -> None:
    experiment = declared(tmp_path, options={"sampling": "puicl", "sets": ["wdbc"]})
    with pytest.raises(UsageError, match="lacks breast-cancer"):
        plan(experiment)


@pytest.mark.parametrize("sampling", ["puicl", "pu-bench"])
def test_an_experiment_runs_and_its_keys_differ_by_sampling(tmp_path, sampling: str) -> None:
    experiment = declared(tmp_path, options={**DECLARED["options"], "sampling": sampling})
    run(experiment, results_dir=tmp_path)
    rows = list(read_rows(tmp_path / "one").values())
    assert len(rows) == 2
    assert all(row["status"] == "done" for row in rows)
    keys = {cell.key for cell in plan(experiment)}
    changed = {"puicl": "pu-bench", "pu-bench": "puicl"}[sampling]
    other = declared(tmp_path, options={**DECLARED["options"], "sampling": changed})
    assert keys.isdisjoint({cell.key for cell in plan(other)})


def test_shares_of_the_rows_are_those_of_the_benchmarks(tmp_path) -> None:
    experiment = declared(tmp_path, split={**DECLARED["split"], "unlabeled_train": 0.5})
    with pytest.raises(UsageError, match="its own shares"):
        plan(experiment)


PU_BENCH = {"sampling": "pu-bench"}


def test_repeats_of_pu_bench_have_the_seeds_of_the_list_and_each_labeling_is_a_setting(tmp_path) -> None:
    options = {**PU_BENCH, "seeds": [2, 25], "labelings": {"scar": [0.3333], "sar-lbe-b": [0.3333]}}
    cells = plan(declared(tmp_path, options=options))
    found = {(cell.setting["labeling"], cell.declared["split"]["seed"]) for cell in cells}
    assert found == {("scar", 2), ("scar", 25), ("sar-lbe-b", 2), ("sar-lbe-b", 25)}
    assert len({cell.key for cell in cells}) == len({cell.group for cell in cells}) == 4
    with pytest.raises(UsageError, match="seeds has 1"):
        plan(declared(tmp_path, options={**PU_BENCH, "seeds": [2]}))
    with pytest.raises(UsageError, match="sar-pusb"):
        plan(declared(tmp_path, options={**PU_BENCH, "labelings": {"sar-pus": [0.3333]}}))
    with pytest.raises(UsageError, match=r"has 0\.1"):
        plan(declared(tmp_path, options={**PU_BENCH, "labelings": {"scar": [0.1]}}))


def test_a_labeling_or_data_set_may_have_fewer_repeats(tmp_path) -> None:
    options = {**PU_BENCH, "labelings": {"scar": [0.3333], "sar-lbe-b": [0.3333]}}
    cells = plan(declared(tmp_path, options={**options, "repeats_of": {"sar-lbe-b": 1}}))
    assert {(cell.setting["labeling"], cell.repeat) for cell in cells} == {("scar", 0), ("scar", 1), ("sar-lbe-b", 0)}
    cells = plan(declared(tmp_path, options={**options, "repeats_of": {"breast-cancer": 1}}))
    assert {cell.repeat for cell in cells} == {0}


def test_the_figures_of_outliers_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_curve

    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.8, 1, -1)
    scores = y + rng.normal(size=200)
    predictions = np.where(scores > 0, 1, -1)
    found = {name: of(y, predictions, scores) for name, of in protocol._OF_OUTLIERS.items()}
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y, predictions))
    assert found["outlier_average_precision"] == pytest.approx(average_precision_score(y == -1, -scores))
    fpr, tpr, _ = roc_curve(y == -1, -scores, drop_intermediate=False)
    for percent in (80, 90, 95):
        assert found[f"outlier_fpr_{percent}"] == pytest.approx(fpr[tpr >= percent / 100].min())


@pytest.mark.slow
def test_pu_bench_takes_the_point_with_the_largest_proxy_accuracy(tmp_path) -> None:
    """A threshold of minus infinity calls every row positive, and plus infinity none; neither is the best."""
    methods = {"svc-naive": {"method": "svc-naive", "grid": {"threshold": [-1e9, 0.0, 1e9]}}}
    split = {**DECLARED["split"], "label_frequencies": [0.5]}
    experiment = declared(tmp_path, options=PU_BENCH, methods=methods, split=split)
    assert {cell.n_fits for cell in plan(experiment)} == {4}
    run(experiment, results_dir=tmp_path)
    rows = list(read_rows(tmp_path / "one").values())
    assert [row["status"] for row in rows] == ["done", "done"]
    assert {row["params"]["threshold"] for row in rows} == {0.0}
