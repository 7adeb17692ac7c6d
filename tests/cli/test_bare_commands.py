"""Commands that are given no rows: they take a data set that is there, say so first, and name the next command last."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.helpers import refused

SCRIPT = Path(__file__).with_name("bare_commands.sh")
# no proxy listens there
NOWHERE = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")


def test_the_commands_as_they_are_written_down_run_in_an_empty_folder_without_network(tmp_path):
    """Takes as long as eleven commands take: each in a process of its own is what is tested."""
    work, programs = tmp_path / "work", tmp_path / "bin"
    work.mkdir()
    programs.mkdir()
    pucli = programs / "pucli"
    pucli.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pucli "$@"\n')
    pucli.chmod(0o755)
    where = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PUCLI_DATA_DIR": str(tmp_path / "data")}
    done = subprocess.run(
        ["bash", "-x", SCRIPT],
        cwd=work,
        env={**os.environ, **where, **NOWHERE, "PUCLI_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "data").exists() or not any((tmp_path / "data").rglob("*.csv"))


@pytest.mark.parametrize(("method", "own"), [
    ("blssvm", "--data FILE --label COLUMN --positive VALUE"),
    ("least-squares", "--data FILE --label COLUMN"),
    ("gaussian-mixture", "--data FILE"),
])  # fmt: skip
def test_every_kind_of_method_has_rows_to_train_on(pucli, method, own):
    done = pucli("train", "--method", method, "--model", "m.model")
    assert done.code == 0
    first, last = done.err.splitlines()[0], done.err.splitlines()[-1]
    assert first.startswith("No rows were given: this is the data set breast-cancer")
    assert first.endswith(f"For your own: {own}")
    assert pucli(*last.removeprefix("Next: pucli ").split()).code == 0


def test_a_document_says_which_rows_were_taken(pucli):
    done = pucli("train", "--method", "blssvm", "--json")
    assert json.loads(done.out)["data"]["dataset"] == "breast-cancer"


def test_the_command_that_saves_the_model_repeats_every_option(pucli):
    options = ["--param", "lam=3", "--raw", "--seed", "5", "--tune"]
    document = json.loads(pucli("train", "--method", "blssvm", *options, "--json").out)
    last = pucli("train", "--method", "blssvm", *options).err.splitlines()[-1]
    again = json.loads(pucli(*last.partition(": pucli ")[2].split(), "--json").out)
    assert (again["params"], again["test"]) == (document["params"], document["test"])
    assert Path("blssvm.model").is_file()


def test_options_about_rows_without_rows_are_still_refused(pucli):
    refused(pucli("train", "--method", "blssvm", "--label", "bought"), "no rows given")


def test_split_without_a_name_takes_the_same_data_set(pucli):
    named, unnamed = (pucli("split", *name, "--json") for name in (["breast-cancer"], []))
    assert json.loads(named.out) == json.loads(unnamed.out)


def test_fetch_without_a_name_downloads_nothing_and_names_what_is_there(pucli, monkeypatch):
    monkeypatch.setattr("pucli.data.catalogue.download._get", lambda *_: pytest.fail("a download"))
    document = json.loads(pucli("fetch", "--json").out)
    there = {one["name"] for one in document["fetched"]}
    assert {"breast-cancer", "wang-two-gaussians"} <= there
    assert there.isdisjoint(document["missing"])
    assert "poker" in {*there, *document["missing"]}
