"""Outputs: nothing is lost, replaced or mixed, and nothing from a file reaches the terminal raw."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from pucli.core.atomic_files import check_output, is_stdout, replacing, together
from pucli.core.errors import UsageError
from pucli.core.inert_text import inert_text
from pucli.report.formats.latex import escape
from tests.helpers import ROOT, by_night


@pytest.fixture
def trained(pucli, tmp_path):
    """A model and its rows, in the folder of the test."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) + 2 * (np.arange(80) < 40)[:, None]
    lines = [f"{a:.4f},{b:.4f},{int(i < 20)}" for i, (a, b) in enumerate(X)]
    (tmp_path / "pu.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n")
    assert pucli("train", "-m", "blssvm", "--data", "pu.csv", "--label", "y", "--model", "g.model", "-q").code == 0
    return tmp_path


def run(folder, line):
    """Run a line of the shell in which {pucli} is the command."""
    command = line.replace("{pucli}", f"{sys.executable} -m pucli")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31ma\x07", "\\x1b[31ma\\x07"),
        ("é ü 中\t\n", "é ü 中\t\n"),
        ("a\x9bb\x7f", "a\\x9bb\\x7f"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
    ],
)
def test_what_a_terminal_obeys_is_escaped(text, shown):
    assert inert_text(text) == shown


def test_json_stays_json():
    document = {"a": "\x9b\x1b\u202e"}
    assert json.loads(inert_text(json.dumps(document, ensure_ascii=False), as_json=True)) == document


def test_names_of_columns_and_labels_with_escapes(pucli, tmp_path):
    word = "y\x1b[2J"
    rows = "".join(f"{i % 7},{i * i % 11},{word if i % 3 == 0 else ''}\n" for i in range(60))
    (tmp_path / "rows.csv").write_text("\x1b[31ma\x1b]0;owned\x07,b,y\n" + rows)
    for words in (("nope",), ("y", "--columns"), ("y", "--positive", word, "--model", "m.model")):
        done = pucli("train", "--method", "blssvm", "--data", "rows.csv", "--label", *words)
        assert not set("\x1b\x07") & set(done.out + done.err)
    done = pucli("predict", "--model", "m.model", "--data", "rows.csv")
    assert done.code == 0 and "y\\x1b[2J" in done.out and "\x1b" not in done.out + done.err


def test_two_options_that_name_one_file(pucli, trained):
    (trained / "link").symlink_to(trained / "z")
    for other in ("z", "./z", "link"):
        done = pucli("auto", "--data", "pu.csv", "--label", "y", "--model", "z", "--report", other)
        assert done.code == 2 and "--model and --report both name" in done.err
        assert not (trained / "z").exists()


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "kept.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("there/kept.csv")
    with replacing(tmp_path / "link.csv") as partial:
        partial.write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "there" / "kept.csv").read_text() == "new"


def test_files_that_are_written_together_appear_together(tmp_path):
    def write(*names):
        for name in names:
            with replacing(tmp_path / name) as partial:
                partial.write_text("new")
        return {path.name for path in tmp_path.iterdir() if path.is_file()}

    with pytest.raises(KeyboardInterrupt), together():
        assert write("a", "b") == set()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError), together():  # its message says what was written
        write("a")
        raise UsageError("no threshold")
    with together():
        assert write("a", "b") == {"a"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_link_to_a_device_stays(tmp_path):
    link = tmp_path / "null.csv"
    link.symlink_to("/dev/null")
    with replacing(link) as partial:
        partial.write_text("rows")
    assert link.is_symlink() and str(link.readlink()) == "/dev/null"
    assert not is_stdout(link)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match="leads back to itself"):
        check_output(tmp_path / "loop")


@pytest.fixture
def plain(pucli, trained):
    """What predict writes to stdout."""
    done = pucli("predict", "--model", "g.model", "--data", "pu.csv", "-q")
    assert len(done.out.splitlines()) == 81
    return done.out


@pytest.mark.slow  # two processes
def test_links_to_streams(trained, plain):
    (trained / "so").symlink_to("/proc/self/fd/1")
    (trained / "se").symlink_to("/proc/self/fd/2")
    done = run(trained, "{pucli} predict --model g.model --data pu.csv --out so -q > kept.csv")
    assert done.returncode == 0 and (trained / "kept.csv").read_text() == plain
    done = run(trained, "{pucli} predict --model g.model --data pu.csv --out se -q")
    assert done.returncode == 0 and plain in done.stderr
    assert (trained / "so").is_symlink() and (trained / "se").is_symlink()


@pytest.mark.slow  # five processes; the last two import little
def test_streams_that_are_closed_or_full(trained, plain):
    done = run(trained, "{pucli} predict --model g.model --data pu.csv 2>&-")
    assert (done.returncode, done.stdout) == (0, plain)
    done = run(trained, "{pucli} predict --model g.model --data pu.csv --out kept.csv >&- 2>&- <&-")
    assert (done.returncode, (trained / "kept.csv").read_text()) == (0, plain)
    for words in ("predict --model g.model --data pu.csv -q", "list methods --json"):
        done = run(trained, f"{{pucli}} {words} > /dev/full")
        assert done.returncode == 1 and "No space left" in done.stderr and "Traceback" not in done.stderr
    done = run(trained, "{pucli} list nope --json > /dev/full")
    assert done.returncode == 2 and "unknown listing 'nope'" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.slow  # a process that reads until it is ended
@pytest.mark.parametrize("name", by_night(["SIGTERM", "SIGHUP", "SIGINT"], by_day=["SIGTERM"]))
def test_signals_that_end_a_process_leave_no_files(trained, name):
    rows = (trained / "pu.csv").read_text().partition("\n")
    (trained / "big.csv").write_text(rows[0] + "\n" + rows[2] * 10_000)
    words = [sys.executable, "-m", "pucli", "predict", "--model", "g.model", "--data", "big.csv", "--out", "kept.csv"]
    before = {path.name for path in trained.iterdir()}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    number = getattr(signal, name)
    # under nohup, signals to end are ignored, which a child inherits and pucli keeps
    child = subprocess.Popen(
        words,
        cwd=trained,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    ends = time.monotonic() + 60
    while not list(trained.glob(".kept.csv-*/*")) and time.monotonic() < ends and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(number)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130 and "interrupted" in err
    assert {path.name for path in trained.iterdir()} == before


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (r"\input /etc/hostname", r"\textbackslash{}input /etc/hostname"),
        ("a\n\\\\ b", r"a \textbackslash{}\textbackslash{} b"),
        ("50 % of $x_1^2$ & {more}", r"50 \% of \$x\_1\textasciicircum{}2\$ \& \{more\}"),
        ("a\x1bb", "ab"),
    ],
)
def test_latex_has_no_command_of_a_file(text, written):
    assert escape(text) == written


def test_a_failed_write_leaves_no_folder_that_was_made_for_it(tmp_path):
    (tmp_path / "old").mkdir()
    with pytest.raises(ValueError, match="bad row"), replacing(tmp_path / "old" / "new" / "deep" / "scored.csv"):
        raise ValueError("bad row")
    assert [path.name for path in tmp_path.rglob("*")] == ["old"]
