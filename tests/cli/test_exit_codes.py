"""Exit code 2 of every option of every command for a value that it cannot take; docs/exit_codes.md has the table."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pucli.cli.main import command_names
from tests.cli.test_every_option import all_options

# What a command needs besides the option.
ARGUMENTS = {
    "compare": ["gllc", "blssvm"],
    "evaluate": ["--model", "m.model"],
    "list": ["methods"],
    "new": ["method", "mine"],
    "predict": ["--model", "m.model", "--data", "d.csv"],
    "report": ["small"],
    "reproduce": ["small"],
    "split": ["wine"],
    "train": ["--method", "gllc"],
    "tune": ["--method", "gllc"],
}


# Options, by their name in Python, that take a number or one of some words; the others take any text, or nothing.
CHOSEN = {
    "at_least", "backend", "count", "cv_repeats", "decimal", "encoding", "estimator", "expected", "fail_on", "folds",
    "format", "goal", "header_rows",
    "label_frequency",
    "labeling", "max_cells", "method", "metric", "n_jobs", "negatives_are", "param", "positive",
    "precision",
    "profile", "quote", "recall", "repeat", "repeats", "replicates", "rows", "scenario", "score", "seed", "sep",
    "shard", "share", "skip_footer", "skip_rows", "top",
}  # fmt: skip
ANY = {
    "adapt",
    "allow_changes", "answers", "boosting", "by_time", "card",
    "columns", "data", "dataset", "destination", "drop", "dry", "everything",
    "experiment", "folder", "grid", "groups", "ids", "json_document", "kinds", "label", "labels", "metrics", "mirror",
    "missing", "model", "negative", "positives_from",
    "only", "only_collect", "parent", "predictions", "quiet", "report",
    "results", "safe", "scored", "sheet", "split", "standardize", "trials", "tune",
    "unlabeled", "verbose",
    "parts", "show_status", "why",
}  # fmt: skip
OPTIONS = [entry for entry in all_options() if any(word.startswith("--") for word in entry[2])]


def test_every_option_is_in_one_of_the_lists():
    names = {name for _, name, _ in OPTIONS}
    assert names == CHOSEN | ANY


@pytest.mark.parametrize("command", command_names())
def test_an_unknown_option_is_wrong_usage(pucli, command):
    done = pucli(command, "--no-such-option")
    assert done.code == 2 and "Traceback" not in done.err
    assert done.err.startswith("pucli: ") and "--no-such-option" in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "option"),
    [(command, next(w for w in words if w.startswith("--"))) for command, name, words in OPTIONS if name in CHOSEN],
)
def test_a_value_of_another_kind_is_wrong_usage(pucli, command, option):
    done = pucli(command, *ARGUMENTS.get(command, []), option, "nonsense")
    assert done.code == 2, done.err
    assert done.err.startswith("pucli: ") and len(done.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "command", [name for name in command_names() if name in ARGUMENTS or name in ("auto", "prior")]
)
def test_help_is_done(pucli, command):
    assert pucli(command, "--help").code == 0


@pytest.mark.parametrize(
    "error",
    [MemoryError("no"), RuntimeError("can't start new thread"), ImportError("x.so: failed to map segment from x.so")],
)
def test_too_little_memory_is_no_defect(pucli, monkeypatch, error):
    import pucli.cli.commands.list as command

    def fail(*given, **more):
        raise error

    monkeypatch.setattr(command, "all_methods", fail, raising=False)
    monkeypatch.setattr("pucli.methods.all_methods", fail)
    done = pucli("list", "methods")
    assert (done.code, "memory" in done.err, "defect" in done.err) == (1, True, False)


def test_a_message_with_an_endless_name_is_shortened(pucli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a" * 10**6 + ",b\n1,2\n3,4\n")
    long = pucli("train", "--method", "\x1b" * 10**4, "--data", "t.csv", "--label", "y")
    assert len(long.err) < 2000 and "[...]" in long.err
    done = pucli("train", "--method", "blssvm", "--data", "t.csv", "--label", "y")
    assert (done.code, len(done.err.strip().splitlines())) == (2, 1)
    assert len(done.err) < 2000 and done.err.startswith("pucli: ") and "[...]" in done.err


def test_ctrl_c_after_the_end_is_silent():
    script = """import atexit, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
atexit.register(os.kill, os.getpid(), signal.SIGINT)
from pucli.__main__ import main
sys.argv = ["pucli", "--version"]
sys.exit(main())"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
