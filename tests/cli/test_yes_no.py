"""A label column with yes or no in every row: unlabeled, or known negatives?"""

import sys
from types import SimpleNamespace

import pandas as pd
import pytest

from tests.cli.helpers import refused, small_table

GLLC = ("train", "--method", "gllc", "--data", "rows.csv", "--label", "label")
SAID = "in every row, and 'no' counts as unlabeled; add --unlabeled no if so, --negative no if known negatives"


def wrote(words):
    small_table().assign(label=words).to_csv("rows.csv", index=False)


@pytest.mark.parametrize("positive", [(), ("--positive", "yes")])
@pytest.mark.slow
def test_a_script_is_warned_in_one_line(pucli, positive):
    wrote(["yes"] * 12 + ["no"] * 28)
    (line,) = [line for line in pucli(*GLLC, *positive).err.splitlines() if SAID in line]
    assert line.startswith("warning: label column 'label' is 'yes' or 'no'")
    assert SAID not in pucli(*GLLC, *positive, "--unlabeled", "no").err
    before, after = (pucli(*GLLC, *more, "--json").document for more in ((), ("--unlabeled", "no")))
    assert before["objective"] == after["objective"]


@pytest.mark.parametrize("command", ["train --method gllc", "auto", "prior"])
def test_a_terminal_is_asked(pucli, monkeypatch, command):
    wrote(["yes"] * 12 + ["no"] * 28)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    done = pucli(*command.split(), *GLLC[3:])
    refused(done, "28 rows with 'no'", "--unlabeled no", "--negative no")


@pytest.mark.parametrize(
    "words", [["yes"] * 12 + [""] * 28, ["yes"] * 12 + ["unlabeled"] * 28, ["yes"] * 12 + ["no", ""] * 14]
)
def test_no_question_where_it_is_plain(pucli, monkeypatch, words):
    wrote(words)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    assert pucli(*GLLC, "--positive", "yes").code == 0


def test_numbers_and_truth_values_are_asked_as_well(pucli):
    for yes, no in ((1, 0), ("True", "False")):
        wrote([yes] * 12 + [no] * 28)
        assert f"--unlabeled {no}" in pucli(*GLLC).err


@pytest.mark.slow
def test_known_negatives_need_unlabeled_rows_and_a_method_that_takes_them(pucli):
    wrote(["yes"] * 12 + ["no"] * 28)
    refused(pucli(*GLLC, "--negative", "no"), "no unlabeled row then", "--unlabeled no")
    wrote(["yes"] * 12 + ["no"] * 8 + [""] * 20)
    three = (*GLLC, "--positive", "yes")
    refused(pucli(*three, "--negative", "no"), "cannot learn from known negatives", "auto", "--unlabeled no")
    refused(pucli(*three, "--negative", "maybe"), "no such class", "'no' (8 rows)")
    refused(pucli(*three, "--negative", "yes"), "another meaning")
    assert "8 rows with another class ('no') count as unlabeled" in pucli(*three).err
    assert "another class" not in pucli(*three, "--unlabeled", "no").err
    refused(pucli("train", "--method", "gllc", "--dataset", "wine", "--negative", "no"), "--negative", "--data")
    assert pd.read_csv("rows.csv")["label"].notna().sum() == 20


@pytest.mark.slow
def test_auto_learns_from_known_negatives(pucli):
    small_table(120).assign(label=["yes"] * 20 + ["no"] * 20 + [""] * 80).to_csv("rows.csv", index=False)
    words = ("auto", "--data", "rows.csv", "--label", "label", "--positive", "yes", "--negative", "no")
    done = pucli(*words, "--negatives-are", "random", "--scored", "scored.csv", "--model", "m.model", "--json").document
    assert (done["known_negatives"], done["negatives"], done["unlabeled"]) == (20, "random", 80)
    assert "--negative no" in done["command"] and done["command"].endswith("--negatives-are random")
    assert pd.read_csv("scored.csv")["labeled"].tolist() == [0] * 80 + [1] * 20 + [-1] * 20
    assert pucli("predict", "--model", "m.model", "--data", "rows.csv", "--top", 5).code == 0
    asked = pucli("review", "--model", "m.model", "--data", "rows.csv", "--rows", 120, "--out", "look.csv", "--json")
    assert asked.document["rows"] == asked.document["unlabeled"] == 80
    shown = pucli(*words)
    assert "20 known negative (biased)" in " ".join(shown.out.split())
    refused(pucli(*words[:-2], "--negatives-are", "random"), "--negative VALUE")
