"""Rows as the first argument: a file, stdin, or the name of a declared data set."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.helpers import refused, train, write

LABELED = ("--label", "bought", "--positive", "yes")


@pytest.fixture
def table(customers):
    shutil.copy(customers.pu, "rows.csv")
    return Path("rows.csv")


def test_the_first_argument_is_the_file(pucli, table):
    for command in (
        "auto --columns",
        "prior --estimator tice --replicates 0",
        "train --method gllc",
        "tune --method gllc --grid lam=1 --param sigma=1 --param c_u=0.1 --cv 2",
    ):
        words = command.split()
        first, option = (pucli(*words, *rows, *LABELED) for rows in ([table], ["--data", table]))
        assert first.code == option.code == 0 and first.out.split("tried")[0] == option.out.split("tried")[0], command
    shutil.copy(table, "more.csv")
    both, alone = (
        pucli("auto", table, *more, *LABELED, "--columns", "--json") for more in (["--data", "more.csv"], [])
    )
    assert both.document["rows"] == 2 * alone.document["rows"]
    refused(pucli("auto", table, "--data", table, *LABELED), "given twice")


def test_a_model_takes_its_rows_first_or_from_stdin(pucli, table, monkeypatch):
    assert train(pucli, table, *LABELED).code == 0
    first = pucli("predict", table, "--model", "m.model")
    assert first.out == pucli("predict", "--data", table, "--model", "m.model").out != ""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(table.read_bytes())))
    assert pucli("predict", "-", "--model", "m.model").out == first.out
    for command, more in (("shift", ()), ("evaluate", LABELED), ("review", ("--out", "sample.csv"))):
        assert pucli(command, table, "--model", "m.model", *more).code == 0, command
    refused(pucli("shift", "--model", "m.model"), "no rows given", "--data FILE")


def test_the_first_argument_is_a_declared_data_set(pucli):
    words = ("prior", "--estimator", "best-bin", "--replicates", "0", "--json")
    assert pucli(*words, "wine").document == pucli(*words, "--dataset", "wine").document
    for command in ("train", "tune"):
        refused(pucli(command, "wines", "--method", "gllc"), "unknown data set 'wines'", "'wine'")
        refused(pucli(command, "wine", "--method", "gllc", "-d", "seeds"), "wine and --dataset seeds both name rows")
        refused(pucli(command, "nowhere.csv", "--method", "gllc", "--label", "a"), "no file nowhere.csv")


def test_a_name_of_both_a_file_and_a_data_set_is_refused(pucli, tmp_path, customers):
    shutil.copy(customers.pu, "wine")
    refused(pucli("train", "wine", "--method", "gllc"), "--data wine or --dataset wine")
    write(tmp_path, Path(customers.pu).read_text(), "gllc.csv")
    assert pucli("compare", "gllc.csv", "gllc", "blssvm", *LABELED, "--repeats", "2").code == 0


MISSING = """
import sys
from pucli.cli.main import main
for words in sys.argv[1:]:
    assert main(words.split()) == 2, words
assert not {"pandas", "scipy", "sklearn"} & set(sys.modules)
"""


def test_a_name_of_no_file_is_answered_before_packages_are_loaded(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    commands = [
        "auto row.csv --label b --positive 2",
        "auto rows.csv --positives-from list.txt",
        "prior row.csv --label b --positive 2",
        "train row.csv --method gllc --label b --positive 2",
        "predict row.csv --model m.model",
        "predict rows.csv --model m.model",
        "shift rows.csv --model m.model",
        "review --scored scored.csv --out sample.csv",
        "show m.model",
    ]
    done = subprocess.run([sys.executable, "-c", MISSING, *commands], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()
    assert all("no file" in line or "no such model file" in line for line in said) and len(said) == len(commands)
    assert "did you mean 'rows.csv'" in said[0]


def test_split_takes_names_alone(pucli):
    refused(pucli("split", "wine.csv"), "unknown data set")
