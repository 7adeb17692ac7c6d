"""Files whose names are no text, or are as odd as a file system allows."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pucli.models.saved import load_model

BYTES = os.fsdecode(b"caf\xe9")  # Latin-1, which is not UTF-8


@pytest.fixture
def table(tmp_path):
    """A table in the folder of the test, of which 20 rows are labeled."""
    try:
        (tmp_path / BYTES).mkdir()
    except OSError:
        pytest.skip("the file system takes text alone")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) + 2 * (np.arange(80) < 40)[:, None]
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": (np.arange(80) < 20).astype(int)})


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_every_file_may_have_a_name_that_is_no_text(pucli, table, form):
    plain, data, model = f"rows.{form}", f"{BYTES}/{BYTES}.{form}", f"{BYTES}/{BYTES}.model"
    write = {"csv": lambda path: table.to_csv(path, index=False), "parquet": table.to_parquet}
    write.get(form, table.to_feather)(plain)
    Path(plain).rename(data)
    assert pucli("train", "-m", "blssvm", "--data", data, "--label", "y", "--model", model).code == 0
    assert load_model(model).metadata["data"]["file"].endswith(f"{BYTES}.{form}")
    for out in (f"{BYTES}.csv", f"{BYTES}.parquet"):
        done = pucli("predict", "--model", model, "--data", data, "--out", out)
        assert done.code == 0 and Path(out).stat().st_size > 500
    assert pucli("show", model, "--card", f"{BYTES}.md").code == 0


def test_an_exported_model_may_have_a_name_that_is_no_text(pucli, table):
    pytest.importorskip("onnx", reason="onnx is not installed; pip install -e '.[onnx]'")
    table.to_csv("rows.csv", index=False)
    model = f"{BYTES}/{BYTES}.model"
    assert pucli("train", "-m", "blssvm", "--data", "rows.csv", "--label", "y", "--model", model).code == 0
    assert pucli("export", model, "--onnx", f"{BYTES}.onnx").code == 0


def test_pages_show_a_name_that_is_no_text_with_an_escape(pucli, table):
    table.to_csv(f"{BYTES}.csv", index=False)
    data = ("--data", f"{BYTES}.csv", "--label", "y", "--positive", "1")
    assert pucli("auto", *data, "--report", f"{BYTES}.html").code == 0
    assert (
        pucli("compare", "blssvm", "svc-naive", *data, "--repeats", "3", "--out", "c.html", "--out", "c.tex").code == 0
    )
    for page in (f"{BYTES}.html", "c.html"):
        assert "caf\\udce9.csv" in Path(page).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [f"{BYTES} 1'", "a\nb\\", "a\x1b[31mb", "plain"])
def test_a_printed_command_can_be_pasted_whatever_the_name(pucli, table, name):
    table.to_csv(f"{name}.csv", index=False)
    pucli("auto", "--data", f"{name}.csv", "--label", "y", "--positive", "1", "--scored", f"{name}.s.csv")
    done = pucli("review", "--scored", f"{name}.s.csv", "--rows", "3", "--out", f"{name}.r.csv")
    word = done.out.split("--answers ")[1].strip()
    assert word.isprintable()
    typed = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True).stdout
    assert os.fsdecode(typed) == f"{name}.r.csv"


@pytest.mark.parametrize("out", ["o" * 251 + ".csv", "o" * 247 + ".parquet", "-o.csv", "a\nb.csv", "o 1.csv"])
def test_outputs_of_long_and_odd_names_are_written(pucli, table, out):
    table.to_csv("pu.csv", index=False)
    assert pucli("train", "-m", "blssvm", "--data", "pu.csv", "--label", "y", "--model", "m" * 249 + ".model").code == 0
    assert pucli("predict", "--model", "m" * 249 + ".model", "--data", "pu.csv", f"--out={out}").code == 0
    assert Path(out).stat().st_size > 500


def test_a_name_that_is_too_long_is_refused_before_the_work(pucli, table):
    table.to_csv("pu.csv", index=False)
    done = pucli("train", "-m", "blssvm", "--data", "pu.csv", "--label", "y", "--model", "m" * 300 + ".model")
    assert done.code == 2 and "Give a shorter name" in done.err and "columns" not in done.err


@pytest.mark.parametrize("other", ["rows.csv", "./rows.csv", "link.csv"])
def test_a_file_that_is_given_twice_is_refused(pucli, table, other):
    table.to_csv("rows.csv", index=False)
    Path("link.csv").symlink_to("rows.csv")
    done = pucli("train", "-m", "blssvm", "--data", "rows.csv", "--data", other, "--label", "y")
    assert done.code == 2 and "pucli: rows.csv is given twice" in done.err


def test_a_file_called_stdin_is_not_stdin(pucli, table, monkeypatch):
    Path("stdin").touch()
    text = table.to_csv(index=False).encode()
    for command in (("train", "-m", "blssvm", "--label", "y", "--model", "m.model"), ("predict", "--model", "m.model")):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text), isatty=lambda: False))
        assert pucli(*command, "--data", "-").code == 0


def test_a_warning_names_stdin_and_not_its_copy(pucli, table, monkeypatch):
    text = b"made by a program\n" + table.to_csv(index=False).encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text), isatty=lambda: False))
    done = pucli("train", "-m", "blssvm", "--label", "y", "--data", "-")
    assert done.code == 0 and "warning: stdin: the table begins in line 2" in done.err and "pucli-" not in done.err


def test_a_working_folder_that_is_gone_is_named(pucli, table, tmp_path):
    table.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    done = pucli("train", "-m", "blssvm", "--data", tmp_path / "rows.csv", "--label", "y", "--model", "m.model")
    assert done.code == 2 and "the working folder no longer exists" in done.err


def test_a_line_end_in_a_name_forges_no_line(pucli, tmp_path):
    name = "no\npucli: all fine.csv"
    Path(name).write_text("a,b,y\n" + "".join(f"{i},{i % 7},{'yes' if i % 3 == 0 else ''}\n" for i in range(60)))
    done = pucli("train", "-m", "blssvm", "--data", name, "--label", "z")
    assert done.err.startswith("pucli: no\\npucli: all fine.csv: no column 'z'") and done.err.count("\n") == 1
    done = pucli("train", "-m", "blssvm", "--data", name, "--label", "y", "--positive", "yes", "--model", "a\nb.model")
    assert done.code == 0 and "no\\npucli: all fine.csv" in done.out and "a\\nb.model" in done.out
    assert not any(line.startswith("pucli: ") for line in (done.out + done.err).splitlines())
