"""`python -m benchmarks labeling`, `tuning` and `prior` on one small task."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import labeling, prior, tuning
from pucli.core.errors import UsageError
from pucli.solvers.ensemble.class_prior import ALL_METHODS


@pytest.fixture
def wine(tmp_path: Path) -> Path:
    """A folder without files: of the tasks, only the rows of wine come with scikit-learn."""
    return tmp_path


@pytest.mark.slow
def test_models_of_biased_labels_run_beside_the_baselines(wine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labeling, "OF_LABELING", ("SAR-EM",))
    monkeypatch.setattr(labeling, "BASELINES", ("SVC, unlabeled as negative",))
    monkeypatch.setattr(labeling, "RIVAL", "")
    found = labeling.run(folder=wine, half="design", frequencies=(0.25,))
    lines = [line for line in found["rows"] if line["tasks"] == "all"]
    assert {line["labeling"] for line in lines} == {"single-training-set", "case-control", *labeling.BIASED}
    assert {line["labeled"] for line in lines} == {0.25}
    assert all(0.5 < line["AUC"] <= 1 for line in lines if line["method"] == "SAR-EM")


@pytest.mark.slow
def test_both_rules_choose_on_the_same_splits(wine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "METHODS", {"svc-naive": ("svc-naive", {}, {"C": [0.1, 1.0]})})
    found = tuning.run(folder=wine, half="design")
    assert [line["rule"] for line in found["rows"]] == [*tuning.RULES] * 2
    assert all(line["F1"] > 0.5 for line in found["rows"])
    with pytest.raises(UsageError, match="PUCLI_MIRROR"):
        tuning.run(folder=wine, half="look-once")


def test_a_win_is_a_task_on_which_the_rule_is_better() -> None:
    def cell(task: str, rule: str, f1: float) -> dict[str, object]:
        return {
            "task": task,
            "method": "m",
            "labeled": 0.5,
            "tasks": "design",
            "rule": rule,
            "F1": f1,
            "AUC": f1,
            "seconds": 1.0,
        }

    other = tuning.F1
    cells = [cell(task, tuning.THESIS, 0.5) for task in "abc"]
    cells += [cell(task, other, f1) for task, f1 in zip("abc", (0.6, 0.5, 0.4), strict=True)]
    cells += [cell(task, "pu-auc, twice", 0.55) for task in "abc"]
    lines = tuning._table(pd.DataFrame(cells))
    assert next(line for line in lines if line["rule"] == other)["wins"] == "1 of 2 that differ"
    assert lines[-1]["wins over f1"] == "2 of 3 that differ"


@pytest.mark.slow
def test_estimators_of_the_prior_are_compared_on_the_same_splits(wine: Path) -> None:
    found = prior.run(folder=wine, half="design", repeats=2)
    estimators = [line["estimator"] for line in found["rows"] if line["estimator"] != prior.RECOMMENDED]
    assert estimators[: len(ALL_METHODS)] == list(ALL_METHODS)
    cells = pd.DataFrame(found["cells"])
    assert (cells.groupby(["labeled", "repeat"]).truth.nunique() == 1).all()
    for line in found["rows"]:
        of = cells[(cells.labeled == line["labeled"]) & (cells.estimator == line["estimator"])]
        if line["estimator"] == prior.RECOMMENDED:
            of = cells[(cells.labeled == line["labeled"]) & (cells.estimator == "auto") & cells.recommended]
        assert line["cells"] == len(of)
        assert line["error"] == pytest.approx(np.mean(np.abs(of.prior - of.truth)))
        assert line["bias"] == pytest.approx(np.mean(of.prior - of.truth))
        assert line["kept"] == pytest.approx(np.mean((of.low <= of.truth) & (of.truth <= of.high)))
