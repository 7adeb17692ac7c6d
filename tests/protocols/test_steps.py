"""The skeleton of protocols: what all share, and that true labels of scored rows stay in one object."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pucli import protocols
from pucli.core.errors import UsageError
from pucli.metrics.classification import error_rate
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.steps import NOT_CONVERGED, ProtocolSteps, SplitRows
from pucli.runner import Context, parse_experiment
from pucli.runner.profiles import scope

FOLDER = Path(protocols.__file__).parent


class Smallest(ProtocolSteps):
    """The two steps without a default, and metrics."""

    name, version, tunes = "smallest", 1, False

    def conditions(self, planner, dataset):
        return [{"setting": {"half": half}, "split": {"half": half}} for half in (0, 1)]

    def rows(self, cell, context):
        X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
        own = np.arange(20) % 2 == cell.declared["split"]["half"]
        return SplitRows(X[own], y[own], X[~own] + 100.0, HiddenLabels(y[~own]), notes=["made up"])

    def score(self, run, model, predictions):
        return {"error": run.rows.hidden.score(error_rate, predictions)}


def cells(**changes):
    declared = {
        "title": "Small",
        "data": {"names": ["breast-cancer"]},
        "split": {"repeats": 2, "seed": 1},
        "methods": {"naive": {"method": "svc-naive", "grid": {}}},
        **changes,
    }
    experiment = parse_experiment(declared, file="small.yaml")
    return Smallest().cells(experiment, scope(experiment, "full"))


def test_two_steps_and_metrics_make_a_protocol():
    planned = cells()
    assert [(cell.setting["half"], cell.repeat) for cell in planned] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert len({cell.key for cell in planned}) == len({cell.group for cell in planned}) == 4
    context = Context()
    result = Smallest().run_cell(planned[0], context)
    assert result.metrics == {"error": 0.5}  # all test rows lie beyond the positives
    assert result.notes == ["made up"] and {"tune", "fit", "predict"} <= result.seconds.keys()
    assert NOT_CONVERGED not in result.flags and result.params["random_state"] >= 0
    rows = context.cache[planned[0].group]
    assert rows.X_train.mean() == pytest.approx(0) and rows.X_test.min() > 10  # by the training rows


def test_what_a_protocol_does_not_do_is_refused(monkeypatch):
    with pytest.raises(UsageError, match="does not tune"):
        cells(methods={"naive": {"method": "svc-naive", "grid": {"C": [1.0, 2.0]}}})
    monkeypatch.setattr(Smallest, "scales", False)
    with pytest.raises(UsageError, match="does not scale features"):
        cells()


def test_true_labels_of_scored_rows_are_read_in_one_file():
    reading = {path.name for path in FOLDER.rglob("*.py") if re.search(r"\._y\b", path.read_text(encoding="utf-8"))}
    assert reading == {"hidden_labels.py"}
    assert not any("y_test" in path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.py"))
