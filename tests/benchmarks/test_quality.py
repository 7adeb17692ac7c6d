"""The tasks and the table of `python -m benchmarks quality`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import betabinom

from benchmarks import quality
from benchmarks.common.quality_labeling import LABELINGS, labeled_split
from benchmarks.common.quality_methods import Prediction, Problem, predict
from benchmarks.common.quality_table import NAIVE, Cell, table
from benchmarks.common.quality_tasks import DESIGN, load, tasks
from benchmarks.common.result_files import write_results
from pucli.core.errors import UsageError
from pucli.data.catalogue.entries import load_catalogue
from tests.helpers import ROOT

DATA = ROOT.parent / "shared" / "data"


def test_the_halves_share_no_file_and_make_the_whole() -> None:
    design, once = tasks("design"), tasks("look-once")
    assert len(tasks()) == 32
    assert len(design) == len(once) == 16
    assert set(design) == DESIGN

    def files(names: list[str]) -> set[str]:
        entries = [load_catalogue()["task-" + name] for name in names]
        return {file.name for entry in entries for file in entry.files}

    assert files(design).isdisjoint(files(once))


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the data folder is not beside this checkout")
@pytest.mark.parametrize("task", tasks())
def test_every_task_has_finite_rows_of_two_classes(task: str) -> None:
    X, y = load(task, DATA)
    assert X.shape[0] == len(y) <= 800
    assert np.isfinite(X).all()
    assert set(y) == {0, 1}


def test_rows_that_are_drawn_are_the_same_in_every_run() -> None:
    some, again, every = load("wine2", most=50), load("wine2", most=50), load("wine2")
    assert len(some.y) == 50
    np.testing.assert_array_equal(some.X, again.X)
    assert {row.tobytes() for row in some.X} <= {row.tobytes() for row in every.X}
    assert every.y.sum() == 71


def test_without_files_it_says_where_they_should_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="PUCLI_MIRROR"):
        quality.run(folder=tmp_path, half="look-once")
    with pytest.raises(UsageError, match=r"PUCLI_MIRROR.*ecoli\.data"):
        quality.run()


@pytest.mark.slow
def test_a_run_measures_every_method_on_the_same_splits(tmp_path: Path) -> None:
    found = quality.run(folder=tmp_path, methods=["SVC, unlabeled as negative", "SVC, true prior"])
    assert "without ecoli-cp" in found["title"]
    lines = [line for line in found["rows"] if (line["tasks"], line["labeling"]) == ("all", "case-control")]
    assert len(lines) == 4
    naive, informed = (line["AUC"] for line in lines[:2])
    assert naive == informed > 0.8
    assert {line["labeling"] for line in found["rows"]} == set(quality.SHOWN)


@pytest.mark.parametrize("labeling", LABELINGS)
def test_a_labeling_marks_positives_and_as_many_as_it_should(labeling: str) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [200, 300])
    X = rng.normal(size=(500, 3)) + y[:, None]
    split = labeled_split(labeling, X, y, 0.5, np.random.default_rng(1))
    known = split.s == 1
    assert (y[split.train][known] == 1).all()
    assert known.sum() == pytest.approx(0.5 * y[split.train].sum(), abs=3)
    assert not set(split.train) & set(split.test)


def test_labels_by_score_go_to_the_clearest_positives() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [500, 500])
    X = rng.normal(size=(1000, 1)) + y[:, None]
    split = labeled_split("sar-score", X, y, 0.25, np.random.default_rng(1))
    labeled, positive = split.train[split.s == 1], split.train[y[split.train] == 1]
    assert X[labeled].mean() > X[positive].mean() + 0.5


def test_the_table_ranks_what_is_told_nothing_and_counts_wins() -> None:
    def cell(method: str, task: str, f1: float) -> Cell:
        return Cell(method, task, "case-control", 0.5, 0, f1, 0.9, 0.8, None, None, {}, 1.0)

    cells = []
    for task, (auto, naive) in {"wine2": (0.9, 0.8), "glass": (0.7, 0.75), "hd": (0.8, 0.5)}.items():
        cells += [cell("auto", task, auto), cell(NAIVE, task, naive), cell("true labels", task, 1.0)]
    lines = {line["method"]: line for line in table(cells, ["auto", NAIVE, "true labels"]) if line["tasks"] == "all"}
    assert lines["true labels"]["rank"] is None
    assert lines["auto"]["rank"] == pytest.approx(4 / 3)
    assert lines[NAIVE]["auto wins"] == "2 of 3"
    assert lines["auto"]["worst to SVC"] == pytest.approx(-0.05)
    assert "glass" in lines["auto"]["note"]


@pytest.mark.slow
def test_ceilings_know_what_they_say_and_are_cut_where_f1_is_largest() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [80, 120])
    X = rng.normal(size=(200, 2)) + 1.5 * y[:, None]
    labeled = (np.arange(200) < 40) & (y == 1)
    X_test = rng.normal(size=(400, 2)) + 1.5 * (np.arange(400) % 2)[:, None]
    problem = Problem(X, labeled, X_test, y, 0.25, "case-control", 0)
    clean = predict("no hidden positives", problem)
    poisoned = X.copy()
    poisoned[(y == 1) & ~labeled] = 50.0
    same = predict("no hidden positives", replace(problem, X=poisoned))
    assert clean is not None
    assert same is not None
    np.testing.assert_array_equal(clean.scores, same.scores)
    rare = predict("no hidden positives", replace(problem, true_prior=0.02))
    assert rare is not None
    assert rare.positive.sum() < clean.positive.sum()
    told = predict("auto, true prior", problem)
    assert told is not None
    assert told.prior is None
    assert told.positive.sum() > 0


def test_the_lift_is_measured_where_a_row_is_called() -> None:
    """Six positives of 20: the first five called rows hold four, which is 4/6 over 5/20."""
    y = np.repeat([1, 0], [6, 14])
    called = np.r_[True, True, True, True, False, False, True, np.zeros(13, bool)]
    told = {"lift": (2.5, 2.6, 2.7), "recall": (0.7, 0.6, 0.8)}
    found = Prediction(np.arange(20.0), called, 0.3, told)
    kept = quality._measured(("auto", "t", "scar", 0.5, 0), found, 0.3, y, 1.0).kept
    assert kept == {"lift": True, "recall": True, "recall of new rows": True}
    none = Prediction(np.arange(20.0), np.zeros(20, bool), 0.3, told)
    kept = quality._measured(("auto", "t", "scar", 0.5, 0), none, 0.3, y, 1.0).kept
    assert kept == {"recall": False, "recall of new rows": False}


def test_an_interval_holds_when_the_noise_of_the_test_rows_explains_the_difference() -> None:
    # 8 of 10 are no evidence against .88 to .92, 800 of 1,000 are
    assert quality.holds(0.88, 0.92, 8, 10)
    assert not quality.holds(0.88, 0.92, 800, 1000)
    # what the interval foretells is held in nine of ten draws, by its own distribution
    low, high, count = 0.7, 0.9, 40
    size = 0.8 * 0.2 / ((high - low) / 3.29) ** 2 - 1
    chances = betabinom(count, 0.8 * size, 0.2 * size).pmf(np.arange(count + 1))
    held = [quality.holds(low, high, hits, count) for hits in range(count + 1)]
    assert chances[held].sum() == pytest.approx(0.9, abs=0.03)


def test_cells_of_methods_that_are_not_run_come_from_earlier_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality, "each_task", lambda *_: [("wine2", load("wine2", most=120))])
    how = {"labelings": ("case-control",), "frequencies": (0.5,)}
    first = quality.run(methods=[NAIVE], **how)
    write_results(tmp_path, "quality", first)
    again = quality.run(methods=["SVC, true prior"], others=tmp_path, **how)
    assert {cell["method"] for cell in again["cells"]} == {NAIVE, "SVC, true prior"}
    assert [cell for cell in again["cells"] if cell["method"] == NAIVE] == first["cells"]
