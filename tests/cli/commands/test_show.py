"""``pucli show``: what a model file holds."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pucli.cli.text.show import ModelColumn, OpenInterval, _between, column_rows
from tests.cli.helpers import refused

WORDS = ("--data", "rows.csv", "--label", "bought", "--positive", "yes")


@pytest.fixture
def rows(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"code": [f"x|{i}" for i in range(80)], "a": random.normal(size=80)})
    frame["job"] = random.choice(["cook", "<b>nurse</b>", "pilot"], size=80)
    frame["bought"] = np.where((frame["a"] > 0) & (random.random(80) < 0.7), "yes", None)
    frame.to_csv("rows.csv", index=False)


def test_show_and_card_say_the_same(pucli, rows):
    assert pucli("train", "--method", "svc-naive", *WORDS, "--model", "m.model").code == 0
    done = pucli("show", "m.model", "--card", "m.md")
    assert done.code == 0, done.err
    card = Path("m.md").read_text()
    for text in ("svc-naive", "rows.csv", "bought = yes", "code", "category", "identifier", "random sample"):
        assert text in done.out and text in card
    found = pucli("show", "m.model", "--json").document
    assert [one["kind"] for one in found["columns"]] == ["identifier", "number", "category"]
    assert re.search(r"class prior +[\d.]+% \([\d.]+% to ", done.out)
    low, value, high = (found["class_prior"][end] for end in ("low", "value", "high"))
    assert 0 <= low <= value <= high <= 1
    assert found["ids"] == ["code"] and "pucli" in found["versions"]


@pytest.mark.slow
def test_models_of_auto_have_estimates_and_a_threshold(pucli, rows):
    assert pucli("auto", *WORDS, "--model", "m.model").code == 0
    found = pucli("show", "m.model", "--json").document
    assert set(found["estimates"]) == {
        "share", "recall", "recall_odds_2", "precision", "lift", "f1", "auc", "new_share", "new_recall", "new_lift"
    }  # fmt: skip
    assert isinstance(found["threshold"], float)


def test_a_file_that_is_no_model_and_a_card_over_the_model_are_refused(pucli, rows):
    assert pucli("show", "rows.csv").code == 2
    assert pucli("train", "--method", "svc-naive", *WORDS, "--model", "m.model").code == 0
    assert pucli("show", "m.model", "--card", "m.model").code == 2
    refused(pucli("show", "m.model", "--card", "rows.csv"), "--card rows.csv: the page is written as Markdown")


def test_many_neighbors_of_one_kind_take_one_line():
    columns = [ModelColumn(f"v{k}", "number", "standardized") for k in range(1, 801)]
    few = [ModelColumn(name, "category", "one-hot") for name in ("job", "town")]
    assert column_rows(SimpleNamespace(columns=[*columns, *few])) == [
        ["v1 to v800 (800)", "number", "standardized"],
        ["job", "category", "one-hot"],
        ["town", "category", "one-hot"],
    ]


def test_an_interval_that_rounding_closes_is_still_one():
    assert _between(OpenInterval(0.302, 0.3011, 0.3044)) == "30% (30% to 30%)"
    assert _between(OpenInterval(0.3, 0.3, 0.3)) == "30%"
