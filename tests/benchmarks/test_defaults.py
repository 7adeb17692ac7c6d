"""`python -m benchmarks defaults`: when a model finds positives, warns or is silent, and the committed table."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import defaults
from benchmarks.common.result_files import read_results
from pucli.core.errors import DegenerateModelWarning, EstimatedPriorWarning, UsageError
from tests.helpers import ROOT

pytestmark = pytest.mark.slow

COMMITTED = ROOT / "results" / "bench"


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="PUCLI_MIRROR"):
        defaults.run(folder=tmp_path / "none")


def test_an_estimated_prior_excuses_nothing() -> None:
    assert defaults._is_about_model(DegenerateModelWarning)
    assert not defaults._is_about_model(EstimatedPriorWarning)


def test_a_task_is_judged_and_only_methods_that_draw_get_a_second_seed(tmp_path: Path) -> None:
    found = defaults.run(folder=tmp_path, methods=["glpual", "svc-naive"])
    assert [(line["method"], line["seed"]) for line in found["rows"]] == [
        ("glpual", 0),
        ("svc-naive", 0),
        ("svc-naive", 7),
    ]
    assert all(line["finds"] == 1 for line in found["rows"])
    assert all(cell["f1"] > cell["f1_of_all"] for cell in found["cells"])


def test_the_committed_table_holds_the_promise() -> None:
    lines = read_results(COMMITTED, "defaults")["rows"]
    assert len({line["method"] for line in lines}) >= 12
    for line in lines:
        assert line["finds"] + line["warns"] + line["silent"] == 32
        assert line["finds"] + line["warns"] >= defaults.TARGET, line
