"""The tasks and the table of `pucli bench quality`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pucli.bench import quality
from pucli.bench._quality_tasks import DESIGN, TASKS, load, tasks
from pucli.errors import UsageError
from tests.helpers import ROOT

DATA = ROOT.parent / "shared" / "data"


def test_the_halves_partition_the_tasks_and_share_no_file() -> None:
    design, once = tasks("design"), tasks("look-once")
    assert len(TASKS) == 32
    assert len(design) == len(once) == 16
    assert {task.name for task in design} == DESIGN
    assert {task.file for task in design if "mnist" not in task.file}.isdisjoint(task.file for task in once)


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the data folder is not beside this checkout")
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_task_has_finite_rows_of_two_classes(task) -> None:
    if not (DATA / task.file).is_file():
        pytest.skip(f"{task.file} is not there")
    X, y = load(task, DATA)
    assert X.shape[0] == len(y) <= 800
    assert np.isfinite(X).all()
    assert set(y) == {0, 1}


def test_the_error_without_files_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="PUCLI_QUALITY_DATA"):
        quality.run(folder=tmp_path)


@pytest.mark.skipif(not (DATA / "uci/wine").is_dir(), reason="the data folder is not beside this checkout")
def test_a_run_measures_every_method_on_the_same_splits(tmp_path: Path) -> None:
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci/wine").symlink_to(DATA / "uci/wine")
    found = quality.run(folder=tmp_path, methods=["SVC, unlabeled as negative", "SVC, true prior"])
    assert "without ecoli-cp" in found["title"]
    assert len(found["rows"]) == 4
    naive, informed = (line["AUC"] for line in found["rows"][:2])
    assert naive == informed > 0.8
