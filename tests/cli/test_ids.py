"""Identifiers and labels from file to file: as they came, whatever a spreadsheet or a terminal makes of them."""

from __future__ import annotations

import io
import sys

import numpy as np
import pandas as pd
import pytest

from pucli.cli.output import Output
from pucli.core.errors import RunError


@pytest.fixture
def rows(tmp_path):
    random = np.random.default_rng(0)
    n = 80
    frame = pd.DataFrame({"id": [f"={i}" for i in range(n)], "a": random.normal(size=n), "b": random.normal(size=n)})
    frame["y"] = np.where((frame["a"] > 0) & (random.random(n) < 0.7), "+", "-")
    frame.to_csv("rows.csv", index=False)
    return frame


def test_texts_get_an_apostrophe_for_spreadsheets_alone(pucli, rows):
    words = ("--data", "rows.csv", "--label", "y", "--positive", "+", "--id", "id", "--model", "m.model")
    assert pucli("train", "--method", "svc-naive", *words).code == 0
    predict = ("predict", "--model", "m.model", "--data", "rows.csv", "--out")
    assert pucli(*predict, "plain.csv").code == 0
    assert pucli(*predict, "safe.csv", "--spreadsheet-safe").code == 0
    plain, safe = (pd.read_csv(f"{name}.csv", dtype=str) for name in ("plain", "safe"))
    assert plain["id"].tolist() == rows["id"].tolist()
    assert set(plain["prediction"]) == {"+", "-"}
    assert safe["id"].tolist() == [f"'{one}" for one in rows["id"]]
    assert set(safe["prediction"]) == {"'+", "'-"}


@pytest.mark.parametrize("labels", [("TRUE", "FALSE"), ("01", "02"), ("1e5", "2e5")])
def test_labels_are_predicted_as_they_are_written(pucli, rows, labels):
    rows.assign(y=np.where(rows["y"] == "+", *labels)).to_csv("rows.csv", index=False)
    words = ("--data", "rows.csv", "--label", "y", "--positive", labels[0], "--drop", "id", "--model", "m.model")
    assert pucli("train", "--method", "svc-naive", *words).code == 0
    done = pucli("predict", "--model", "m.model", "--data", "rows.csv", "--json")
    assert {row["prediction"] for row in done.document["predictions"]} == set(labels)


class Terminal(io.TextIOWrapper):
    """Terminal with a code page."""

    def isatty(self) -> bool:
        return True


def test_characters_that_stdout_lacks_do_not_become_escapes(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp1252", errors="backslashreplace"))
    with Output(as_json=False, quiet=False) as out:
        out.data("id\nä")
        out.data("да")
        assert any("written as UTF-8" in text for text in out.warnings)
    assert raw.getvalue() == "id\nä\n".encode("cp1252") + "да\n".encode()
    monkeypatch.setattr(sys, "stdout", Terminal(io.BytesIO(), encoding="cp1252", errors="backslashreplace"))
    with pytest.raises(RunError, match=r"the terminal has the encoding cp1252.*--out"):
        Output(as_json=False, quiet=False).data("да")
