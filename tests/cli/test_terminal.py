"""Every command on a terminal of 80 columns: whole words, three digits, no exponents, colors."""

from __future__ import annotations

import importlib.util
import re
import shutil

import pandas as pd
import pytest
import yaml

from pucli.cli import output, terminal
from pucli.cli.main import command_names
from pucli.cli.text.columns import short
from pucli.cli.text.predictions import show_rows
from tests.helpers import ROOT

WIDTH = 80
ROWS = "--data customers.csv --label bought --positive yes"
SOURCE = f"{ROWS} --rows 150"
EXPORT = "export own.model --onnx own.onnx"
# A command line of each command; the words of later lines use the files of earlier ones.
LINES = {
    "list": "list methods",
    "fetch": "fetch wine",
    "auto": f"auto {SOURCE} --model auto.model --scored s.csv --verbose",
    "train": f"train --method gllc {SOURCE} --model own.model",
    "predict": "predict --model own.model --data customers.csv --out p.csv",
    "review": "review --model own.model --data customers.csv --out look.csv",
    "evaluate": "evaluate --model own.model --data customers.csv --label bought --labels pu",
    "shift": "shift --model own.model --data customers.csv",
    "show": "show auto.model --card card.md",
    "export": EXPORT,
    "tune": f"tune --method gllc {SOURCE} --grid lam=0.1,1 --param sigma=1 --param c_u=0.1 --cv 2",
    "prior": f"prior {SOURCE} --estimator km2 --replicates 3",
    "compare": "compare gllc svc-naive --dataset wine --repeats 2",
    "split": "split wine --repeats 1 --out splits.json",
    "reproduce": "reproduce table-3.1 --profile smoke --dry-run",
    "new": "new data --out fresh",
}
# They take the committed cells of table-3.1, or the stored ones of small.yaml.
OF_RESULTS = {
    "report": "report table-3.1",
    "site": "site --out site",
}
LISTS = ["list datasets", "list experiments", "list metrics", "list protocols"]
REFUSED = {
    "report": "report table-3.1 --all",
    "site": "site --results folder-that-is-not-there",
}
SMALL = {
    "title": "A small table",
    "data": {"names": ["wine"]},
    "split": {"scenario": "case-control", "label_frequencies": [0.5], "repeats": 1, "seed": 1, "unlabeled_train": 0.7},
    "methods": {"svc-naive": {"method": "svc-naive", "grid": {"C": [1]}}},
}
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture
def screen(pucli, monkeypatch, tmp_path):
    """Run commands on a terminal of 80 columns."""
    shutil.copy(ROOT / "examples" / "customers.csv", tmp_path)
    for module in (output, terminal):
        monkeypatch.setattr(module, "on_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setattr(output, "Bar", lambda label, unit="": output.Progress())
    monkeypatch.delenv("NO_COLOR", raising=False)
    return pucli


def check(text: str, words: str) -> None:
    copied = False  # a command to copy has all digits, so that it does the same
    for line in ESCAPE.sub("", text).splitlines():
        copied = bool(re.search(r"\bpucli [a-z]+ --", line)) or (copied and line.startswith("    "))
        assert len(line.rstrip()) <= WIDTH, (words, line)
        digits = [found.replace(".", "").lstrip("0") for found in NUMBER.findall(line)]
        assert copied or all(len(found) <= 3 for found in digits), (words, line)
        assert not re.search(r"\d\.?\d*e-\d\d", line), (words, line)
        assert not re.search(r"(?<![,.\d])1 (iterations|rows|points|fits|cells|repeats|choices)\b", line), (words, line)


def fits(screen, words: str, code: int = 0) -> None:
    done = screen(*words.split())
    assert done.code == code, (words, done.err)
    check(done.out, words)
    check(done.err, words)


def test_every_command_is_tried():
    assert {*LINES, *OF_RESULTS, *REFUSED} == set(command_names())


@pytest.mark.slow  # trains a dozen models
def test_every_command_fits_a_terminal(screen, tmp_path):
    (tmp_path / "results" / "table-3.1").mkdir(parents=True)
    shutil.copy(ROOT / "results" / "table-3.1" / "cells.csv.gz", tmp_path / "results" / "table-3.1")
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(SMALL))
    run = ["reproduce small.yaml --results part"]
    top = ["predict --model own.model --data customers.csv --top 3 --why"]
    for words in [*LINES.values(), *top, *LISTS, *run, *OF_RESULTS.values(), *REFUSED.values()]:
        if words != EXPORT:
            fits(screen, words, code=2 if words in REFUSED.values() else 0)


@pytest.mark.slow
def test_an_export_fits_a_terminal(screen, monkeypatch):
    fits(screen, LINES["train"])
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name: None)
        fits(screen, EXPORT, code=2)  # it then says what to install
    pytest.importorskip("onnx", reason="onnx is not installed; pip install -e '.[onnx]'")
    fits(screen, EXPORT)


def test_each_entry_of_a_list_is_one_line_of_a_pipe(pucli, monkeypatch):
    """Its first word is the name, and nothing is wrapped or cut."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    for words in ("list methods", *LISTS):
        what = words.split()[1]
        entries = pucli(*words.split(), "--json").document[what]
        head, *lines = pucli(*words.split()).out.splitlines()
        assert [line.split()[0] for line in lines] == [entry["name"] for entry in entries]
        ends = [entry[head.split("  ")[-1].strip().replace(" ", "_")] or "" for entry in entries]
        assert [line.endswith(end) for line, end in zip(lines, ends, strict=True)] == [True] * len(lines)


def test_predictions_on_a_terminal_have_three_digits(screen, capsys):
    rows = pd.DataFrame({"row": [1296, 7], "customer": ["0042", "C7"], "score": [2.000481035, -0.0123456]})
    rows = rows.assign(probability=[0.9900398, 0.1], probability_low=[0.48977, 0.0], probability_high=[1.0, 0.25])
    rows = rows.assign(why=["visits = 14; last_visit = 2026-06-25; member = yes", None])
    out = output.Output(as_json=False, quiet=True)
    show_rows(out, rows)
    shown = capsys.readouterr().out
    check(shown, "predict")
    lines = [line.split() for line in ESCAPE.sub("", shown).splitlines()]
    assert lines[0] == ["row", "customer", "score", "probability", "why"]
    assert lines[1][:6] == ["1296", "0042", "2", "0.99", "(0.49", "to"]
    assert "last_visit=2026-06-25;" in shown.split()
    assert lines[-1] == ["7", "C7", "-0.0123", "0.10", "(0.00", "to", "0.25)"]
    show_rows(out, rows.assign(**{f"a long name {k}": "no-place-to-break-this" for k in range(4)}))
    wide = capsys.readouterr().out.splitlines()
    assert wide[0].startswith("row,customer,score,probability,why,")
    assert wide[2].startswith("7,C7,-0.0123,0.10 (0.00 to 0.25),,no-place")


@pytest.mark.parametrize("name", command_names())
def test_every_help_page_fits_a_terminal(screen, name):
    done = screen(name, "--help")
    assert done.code == 0
    for line in done.out.splitlines():
        assert len(line) <= WIDTH or "pucli " in line, line
        assert not re.search(r"\w-$", line), line


def test_colors_of_warnings_and_errors(screen, monkeypatch, capsys):
    terminal.print_error("warning: doubtful")
    terminal.print_error("pucli: wrong")
    terminal.print_error("a remark")
    assert capsys.readouterr().err.splitlines() == [
        "\x1b[33mwarning: doubtful\x1b[0m",
        "\x1b[31mpucli: wrong\x1b[0m",
        "a remark",
    ]
    monkeypatch.setenv("NO_COLOR", "1")
    terminal.print_error("warning: doubtful")
    assert capsys.readouterr().err == "warning: doubtful\n"


def test_commands_are_wrapped_so_that_they_can_be_copied():
    line = "To train: pucli train --method glpual --data customers.csv --label bought --positive yes --rows 300"
    assert terminal.wrapped(line, 60) == [
        "To train:",
        "pucli train --method glpual --data customers.csv \\",
        "    --label bought --positive yes --rows 300",
    ]
    path = "x" * 90
    assert path in terminal.wrapped(f"no file {path}", 60)


def test_quantities_stay_whole_and_no_short_word_ends_a_text_alone():
    text = "between positives: recall 52 to 98 %, lift 2.2 to 4.7, precision 35 to 66 % at p = 0.13 of 1,800 unlabeled"
    for width in range(24, 120):
        lines = terminal.filled(text, width)
        assert " ".join(lines) == text and max(map(len, lines)) <= width
        for whole in ("52 to 98 %", "2.2 to 4.7", "35 to 66 %", "p = 0.13", "1,800 unlabeled"):
            assert any(whole in line for line in lines), (width, whole)
        assert len(lines) == 1 or " " in lines[-1], width
    ends = "1,479 of 3,000 unlabeled rows positive, for the largest estimated F1"
    assert terminal.wrapped(ends, 66)[1] == "estimated F1"


def test_several_warnings_about_columns_are_one_line(pucli, tmp_path):
    rows = [f"{i} kg,{i + 5} cm,{i % 7},{i * i % 11},{'yes' if i < 15 else ''}" for i in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["weight,height,a,b,bought", *rows]) + "\n")
    words = ("train", "--method", "gllc", "--data", "rows.csv", "--label", "bought", "--positive", "yes")
    told = [line for line in pucli(*words).err.splitlines() if line.startswith("warning: ") and "'height'" in line]
    assert len(told) == 1 and told[0].startswith("warning: 2 columns to look at (`pucli auto --columns`): 'weight'")
    found = pucli(*words, "--json").document["warnings"]
    assert sum(text.startswith(("column 'weight'", "column 'height'")) for text in found) == 2


def test_a_short_warning_keeps_whole_numbers_and_the_option_that_helps():
    long = "column 'supplier' has 1,150 values in 3,030 rows; if rows: add --groups supplier"
    assert short(long) == "'supplier' has 1,150 values in 3,030 rows: --groups supplier"
    assert short("column 'a' is text, as 2 cells are: b") == "'a' is text"
