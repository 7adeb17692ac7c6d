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


@pytest.fixture
def cases():
    """Rows whose identifiers no option names: codes such as NA and 007, which a reader of numbers would change."""
    random = np.random.default_rng(0)
    codes = ["NA", *(f"{i:03d}" for i in random.permutation(79))]
    frame = pd.DataFrame({"case_id": codes, "a": random.normal(size=80), "b": random.normal(size=80)})
    frame["y"] = np.where((frame["a"] > 0) & (random.random(80) < 0.7), "yes", None)
    return frame


WORDS = ("--label", "y", "--positive", "yes")
PREDICT = ("predict", "--model", "m.model", "--out", "p.csv", "--data")


@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx"])
@pytest.mark.slow
def test_found_identifiers_are_written_as_they_are_in_the_file(pucli, cases, kind):
    write = {"csv": cases.to_csv, "parquet": cases.to_parquet, "xlsx": cases.to_excel}[kind]
    write(f"rows.{kind}", index=False)
    assert pucli("train", "--method", "svc-naive", "--data", f"rows.{kind}", *WORDS, "--model", "m.model").code == 0
    assert pucli(*PREDICT, f"rows.{kind}").code == 0
    read = pd.read_csv("p.csv", dtype=str, keep_default_na=False)
    assert list(read)[:3] == ["row", "case_id", "prediction"]
    assert read["case_id"].tolist() == cases["case_id"].tolist()
    assert pucli(*PREDICT, f"rows.{kind}", "--id", "").code == 0
    assert list(pd.read_csv("p.csv"))[:2] == ["row", "prediction"]


def test_a_found_identifier_is_said_and_is_no_warning(pucli, cases):
    cases.assign(number=[f"PO{i}" if i % 2 else None for i in range(80)]).to_csv("rows.csv", index=False)
    done = pucli("train", "--method", "svc-naive", "--data", "rows.csv", *WORDS)
    assert "2 identifiers (case_id, number)" in done.err and "warning: column" not in done.err
    columns = pucli("auto", "--data", "rows.csv", *WORDS, "--columns").out.splitlines()
    assert columns[0].endswith("not used; named like an identifier; --as COLUMN=number if it is a quantity")
    assert columns[-1] == "number   identifier, 40 values, 40 empty: not used; differs in nearly every row"


@pytest.mark.slow
def test_auto_says_which_columns_name_the_rows(pucli, cases):
    cases.assign(number=[f"PO{i}" if i % 2 else None for i in range(80)]).to_csv("rows.csv", index=False)
    done = pucli("auto", "--data", "rows.csv", *WORDS)
    assert "; case_id and number only name the rows" in " ".join(done.out.split())
    assert "identifier" not in done.err and "nan" not in done.out


def test_files_without_a_found_identifier_are_predicted(pucli, cases, monkeypatch):
    cases.to_csv("rows.csv", index=False)
    cases.drop(columns="case_id").to_csv("new.csv", index=False)
    cases.drop(columns="case_id").to_parquet("new.parquet", index=False)
    assert pucli("train", "--method", "svc-naive", "--data", "rows.csv", *WORDS, "--model", "m.model").code == 0
    for words in (["new.csv"], ["new.parquet"], ["new.csv", "--data", "rows.csv"]):
        done = pucli(*PREDICT, *words)
        assert done.code == 0, done.err
        read = pd.read_csv("p.csv", dtype=str, keep_default_na=False)
        assert read["case_id"].tolist()[:80] == [""] * 80
        assert read["case_id"].tolist()[80:] == (cases["case_id"].tolist() if len(words) > 1 else [])
        assert ("no cells in 'case_id'" in done.err) == (len(words) == 1)


@pytest.mark.slow
def test_identifiers_that_an_option_names_replace_the_found_ones(pucli, cases):
    cases.assign(name=[f"n{i}" for i in range(80)]).to_csv("rows.csv", index=False)
    train = ("train", "--method", "svc-naive", "--data", "rows.csv", *WORDS, "--model", "m.model")
    for id_words, columns in ((("--id", "name"), ["name"]), (("--id", ""), []), ((), ["case_id", "name"])):
        assert pucli(*train, *id_words).code == 0
        assert pucli(*PREDICT, "rows.csv").code == 0
        assert list(pd.read_csv("p.csv"))[: len(columns) + 2] == ["row", *columns, "prediction"]
    assert pucli(*PREDICT, "rows.csv", "--id", "other").code == 2


def test_a_found_identifier_with_the_name_of_a_column_of_predictions_is_left_out(pucli, cases):
    cases.rename(columns={"case_id": "row"}).to_csv("rows.csv", index=False)
    done = pucli("train", "--method", "svc-naive", "--data", "rows.csv", *WORDS, "--model", "m.model")
    assert done.code == 0 and "column 'row' is left out as an identifier and not copied" in " ".join(done.err.split())
    assert pucli(*PREDICT, "rows.csv").code == 0
    assert pd.read_csv("p.csv")["row"].tolist() == list(range(1, 81))
