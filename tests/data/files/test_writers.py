"""CSV without live formulas."""

from __future__ import annotations

import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.files.writers import check_writable_format, open_writer, without_formulas


def test_formulas_are_not_live_and_numbers_stay():
    frame = pd.DataFrame(
        {
            "=id": ["=1+1", "+49 30", "-5", "@x", "1=2", "-x", "+1e5", "", "\tx"],
            "score": [-1.5, 2.0, -3.0, 0.0, 1.0, -0.5, 1.0, 2.0, 3.0],
        }
    )
    safe = without_formulas(frame)
    assert list(safe.columns) == ["'=id", "score"]
    assert safe["'=id"].tolist() == ["'=1+1", "'+49 30", "-5", "'@x", "1=2", "'-x", "+1e5", "", "'\tx"]
    assert safe["score"].equals(frame["score"])
    assert frame["=id"].tolist()[0] == "=1+1"


def test_missing_texts_stay_missing(tmp_path):
    with open_writer(tmp_path / "a.csv", safe=True) as writer:
        writer.write(pd.DataFrame({"a": ["=x", None]}))
    assert (tmp_path / "a.csv").read_text() == 'a\n\'=x\n""\n'


def test_texts_stay_as_they_are_unless_a_spreadsheet_is_to_read_them(tmp_path):
    with open_writer(tmp_path / "a.csv") as writer:
        writer.write(pd.DataFrame({"=a": ["=x", "+", "-1"]}))
    assert (tmp_path / "a.csv").read_text() == "=a\n=x\n+\n-1\n"


def test_rows_without_formulas_are_not_copied():
    frame = pd.DataFrame({"a": ["x", "y"]})
    assert without_formulas(frame)["a"].tolist() == ["x", "y"]


@pytest.mark.parametrize("name", ["o.xls", "o.feather", "o.jsonl", "o.ods", "o.arrow", "o.csv.gz", "o.sav"])
def test_csv_is_not_written_under_the_name_of_another_format(tmp_path, name):
    with pytest.raises(UsageError, match=r"use the extension \.csv, \.parquet or \.xlsx"):
        check_writable_format(tmp_path / name)
    check_writable_format(tmp_path / "o.txt")
