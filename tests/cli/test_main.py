"""What all commands share: help, names, exit codes, JSON, silence where the reader has gone."""

import contextlib
import fcntl
import inspect
import itertools
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import termios
import time

import pandas as pd
import pytest
import typer
import yaml

from pucli import __version__
from pucli.cli.help import GROUPS, MANY, groups
from pucli.cli.main import app, command_names, main
from pucli.cli.output import Output
from pucli.cli.progress import Lines
from pucli.cli.terminal import duration, number
from pucli.core.errors import RunError, UsageError
from pucli.core.json_values import json_values
from pucli.data import catalogue_schema, dataset_names
from pucli.methods import METHODS
from pucli.runner import experiment_names, experiment_schema
from tests.cli.commands.test_reproduce import SMALL
from tests.helpers import ROOT

# pydantic is not among them: typer imports it itself where it reads values
HEAVY = ("numpy", "numba", "sklearn", "pandas", "scipy", "matplotlib", "rich.progress", "joblib", "yaml")


def parse(words):
    """Parse a command line without running it; a mistake raises."""
    group = typer.main.get_command(app)
    context = group.make_context("pucli", [words[0], "--help"], resilient_parsing=True)
    command = group.get_command(context, words[0])
    assert command is not None, f"no command {words[0]}"
    command.make_context(words[0], list(words[1:]), parent=context)


def examples(page):
    return re.findall(r"^\s*(?:\.venv/bin/)?pucli (\w.*)$", re.sub(r"\\\n\s*", "", page), flags=re.MULTILINE)


def test_help_lists_every_command_in_groups(pucli):
    done = pucli("--help")
    assert done.code == 0
    first = examples(done.out)[0]
    assert first.startswith("auto customers.csv")
    titles = list(GROUPS)
    for title, following in itertools.pairwise([*titles, "Options"]):
        part = done.out.partition(f"\n{title}:")[2].partition(f"\n{following}:")[0]
        assert re.findall(r"^  (\S+) +\S", part, flags=re.MULTILINE) == groups(command_names())[title]
    assert sorted(itertools.chain(*groups(command_names()).values())) == sorted(command_names())
    assert "..." not in done.out.partition(titles[0])[2]  # no description is cut off
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize("name", command_names())
def test_help_has_examples_first_and_few_options_before_the_others(pucli, name):
    page = pucli(name, "--help").out
    start, _, rest = page.partition("Examples:")
    assert "--quiet" not in start and len(start.splitlines()) <= 6
    before = rest.partition("\nMore:")[0]
    assert len(re.findall(r"^  (?:-\w, )?--[a-z]", before, flags=re.MULTILINE)) <= 12
    assert len(re.findall(r"^  (?:-\w, )?--[a-z]", rest, flags=re.MULTILINE)) >= 3


@pytest.mark.parametrize("name", command_names())
def test_the_short_help_of_a_command_of_many_options_has_the_usual_ones(pucli, name):
    option = re.compile(r"^  (?:-\w, )?(--[a-z-]+)", re.MULTILINE)
    short, whole = pucli(name, "-h").out, pucli(name, "--help").out
    shown, every = (set(option.findall(page.partition("Examples:")[2])) for page in (short, whole))
    if len(every) > MANY:
        assert len(shown) <= 15 and shown < every
        assert f"{len(every) - len(shown)} more options: pucli {name} --help" in short
    else:
        assert short == whole


@pytest.mark.parametrize("name", command_names())
def test_help_names_values_by_plain_words(pucli, name):
    usage, _, rest = pucli(name, "--help").out.partition("Examples:")
    assert not re.search(r"[<{]|\[\[|\]\.", usage) and not re.search(r"<\w|x>=", rest)
    options = re.findall(r"^  (?:-\w, )?--[a-z-]+ (\S+)  +", rest, flags=re.MULTILINE)
    assert all(re.fullmatch(r"[A-Z][A-Z0-9=|,./]*", word) for word in options), options


def test_only_the_first_page_lists_environment_variables(pucli):
    group, used = typer.main.get_command(app), set()
    for name in command_names():
        used |= {one.envvar for one in group.get_command(None, name).params if one.envvar}
        assert "env var" not in pucli(name, "--help").out
    assert set(re.findall(r"PUCLI_\w+", pucli("--help").out)) == used | {
        "PUCLI_DATA_DIR",
        "PUCLI_DATASETS",
        "PUCLI_OFFLINE",
    }


def test_a_second_file_without_its_option_is_explained(pucli):
    done = pucli("auto", "customers.csv", "more.csv", "--label", "bought")
    assert done.code == 2
    assert done.err.startswith("pucli: more.csv is a further file; give each one after the first as --data more.csv.")


@pytest.mark.parametrize("name", command_names())
def test_help_of_a_command_has_examples_that_parse(pucli, name):
    done = pucli(name, "--help")
    assert done.code == 0
    assert done.err == ""
    for option in ("--json", "--quiet", "--help"):
        assert option in done.out
    found = examples(done.out.partition("Examples:")[2])
    assert any(line.startswith(name) for line in found)
    for line in found:
        parse(shlex.split(line))


def test_examples_of_the_first_page_parse(pucli):
    for line in examples(pucli("--help").out.partition("Examples:")[2]):
        parse(shlex.split(line))


@pytest.mark.slow
def test_help_imports_nothing_heavy():
    code = (
        "import sys; from pucli.cli.main import main; main(['--help']); main(['train', '--help']); "
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_version(pucli):
    assert pucli("--version").out == f"pucli {__version__}\n"


def test_no_command_shows_the_help_and_is_wrong_usage(pucli):
    done = pucli()
    assert (done.code, done.out) == (2, "")
    assert "Start here:" in done.err


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["trian"], "'train'"),
        (["list", "method"], "'methods'"),
        (["train", "--metod", "glpual"], "--method"),
        (["train", "--method", "glpul", "--dataset", "wine"], "'glpual'"),
        (["train", "--method", "glpual", "--dataset", "wines"], "'wine'"),
        (["train", "--method", "glpual", "--dataset", "wine", "--param", "lamb=1"], "'lam'"),
        (["train", "--method", "glpual", "--dataset", "wine", "--scenario", "case-controll"], "'case-control'"),
        (["tune", "--method", "glpual", "--dataset", "wine", "--score", "pufs"], "'puf'"),
        (["tune", "--method", "glpual", "--dataset", "wine", "--grid", "lan=1,2"], "'lam'"),
        (["tune", "--method", "glpual", "--dataset", "wine", "--grid", "sigmas=decades"], "'sigma'"),
        (["split", "wien"], "'wine'"),
        (["fetch", "seds"], "'seeds'"),
        (["reproduce", "table-31"], "'table-3.1'"),
        (["reproduce", "table-3.1", "--profile", "quik"], "'quick'"),
        (["reproduce", "table-3.1", "--method", "glpual/linea"], "'glpual/linear'"),
        (["reproduce", "table-3.1", "--profile", "smoke", "--backend", "lokky"], "'loky'"),
    ],
)
def test_a_wrong_name_suggests_the_nearest(pucli, tmp_path, words, nearest):
    done = pucli(*words)
    assert done.code == 2
    assert done.out == ""
    assert nearest in done.err
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    assert not (tmp_path / "results" / "table-3.1" / "table.md").exists()


@pytest.mark.parametrize("words", [["trian"], ["list", "method"], ["train"], ["list", "methods", "--jsn"]])
def test_an_error_is_a_json_document_too(pucli, words):
    done = pucli(*words, "--json")
    assert done.code == 2
    assert done.err == ""
    error = done.document["error"]
    assert error["kind"] == "usage"
    assert error["exit_code"] == 2
    assert len(error["message"]) > 10


@pytest.mark.parametrize("what", ["datasets", "methods", "experiments", "metrics", "protocols"])
def test_list(pucli, what):
    document = pucli("list", what, "--json").document
    names = [entry["name"] for entry in document[what]]
    lines = pucli("list", what).out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == names
    assert {"datasets": "wine", "methods": "glpual", "experiments": "table-3.1", "metrics": "f1", "protocols": "pu"}[
        what
    ] in names


def test_list_methods_says_how_far_each_scales_and_how_it_fares(pucli, monkeypatch):
    from pucli.report.tables.standing import Standing

    known = {"usmo": Standing("usmo", 1_000_000, 7.6, "bench scale", 3, 1, 0.25)}
    monkeypatch.setattr("pucli.report.tables.standing.read_standings", lambda: known)
    listed = {entry["name"]: entry for entry in pucli("list", "methods", "--json").document["methods"]}
    assert (listed["usmo"]["rows"], listed["usmo"]["place"]) == ("1,000,000 in 7.6 s", "0.25 (3)")
    assert listed["cpls"]["rows"] == "10,000, bench semi_supervised" and listed["cpls"]["place"] == "not ranked"
    assert listed["bsvm"]["rows"] == "not measured"
    assert "0 (always first)" in pucli("list", "methods").err


def test_list_methods_says_what_each_needs(pucli):
    from pucli.methods import METHODS
    from pucli.models.fitting import estimator_of

    listed = {entry["name"]: entry["needs"] for entry in pucli("list", "methods", "--json").document["methods"]}
    assert "each class" in listed["cpls"] and "pucli[deep]" in listed["pae"] and listed["glpual"].count(";") == 0
    for name, method in METHODS.items():
        if method.kind == "pu":
            parameter = inspect.signature(estimator_of(name)).parameters.get("prior")
            assert ("class prior" in listed[name]) == (parameter is not None), name
            assert parameter is None or parameter.default is None or f"({parameter.default} if" in listed[name], name


@pytest.mark.parametrize(("schema", "key"), [(experiment_schema, "split"), (catalogue_schema, "Entry")])
def test_schemas_of_declared_files_describe_the_keys(schema, key):
    found = schema()
    assert key in found.get("properties", {}) or key in found["$defs"]
    for part in (found, *found["$defs"].values()):
        assert all(value["description"] for value in part.get("properties", {}).values())


def test_further_rows_stop_when_the_reader_has_gone(monkeypatch):
    def gone(*args, **options):
        raise BrokenPipeError

    dropped = []
    monkeypatch.setattr("builtins.print", gone)
    monkeypatch.setattr(Output, "_drop_output", lambda self: dropped.append(self))
    out = Output(as_json=False, quiet=True)
    out.write("a result, beside which a file may be written")
    with pytest.raises(SystemExit) as stopped:
        out.data("1,0.5")
    assert stopped.value.code == 0 and len(dropped) == 2


@pytest.mark.slow
def test_a_closed_pipe_is_not_an_error(data_cache):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "pucli", "list", "datasets"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def on_screen(words, **environment):
    """Return what a command shows on a terminal."""
    controller, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "pucli", *words], stdout=terminal, stderr=terminal, env=environment
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            chunk = os.read(controller, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(controller)
    assert process.wait(timeout=300) == 0
    return shown.decode()


COLOR = re.compile(r"\x1b\[[0-9;]*(3[0-7]|9[0-7]|38;)[0-9;]*m")


def narrow(words, folder):
    """Return what a command shows on a terminal of 80 columns, line by line, without its control codes."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(
        [sys.executable, "-m", "pucli", *words],
        cwd=folder,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**environment, "TERM": "xterm-256color", "NO_COLOR": "1"},
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # the end, on Linux
        while chunk := os.read(controller, 65536):
            shown += chunk
    os.close(controller)
    assert process.wait(timeout=300) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    return [line for line in re.split(r"[\r\n]+", text) if line.strip()]


@pytest.mark.slow
def test_eighty_columns_show_the_method_the_bar_the_count_and_the_time(data_cache, tmp_path):
    names = [f"gllc/kernel-rbf-with-a-long-name-{number}" for number in (1, 2, 3)]
    methods = {name: {"method": "gllc", "grid": {"lam": [0.1, 1, 10]}} for name in names}
    declared = {**SMALL, "methods": methods, "split": {**SMALL["split"], "repeats": 20}}
    (tmp_path / "an-experiment-with-a-long-name.yaml").write_text(yaml.safe_dump(declared))
    lines = narrow(["reproduce", "an-experiment-with-a-long-name.yaml"], tmp_path)
    for name in names:
        assert sum(line.startswith(name) for line in lines) == 2  # one line for each of two settings
    bars = [line for line in lines if re.search(r"\d+/40 runs +\d:\d\d:\d\d", line)]
    assert bars and all(len(line) <= 80 for line in bars)
    assert "\N{BOX DRAWINGS HEAVY HORIZONTAL}" in bars[-1]
    assert any("\N{HORIZONTAL ELLIPSIS}" in line for line in bars)  # the description gives way
    listed = narrow(["list", "methods"], tmp_path)
    for name in METHODS:
        assert any(line.split()[0] == name for line in listed)


@pytest.mark.slow
def test_no_color_is_honored(data_cache, monkeypatch):
    words = ["fetch", "wine", "breast-cancer"]
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert COLOR.search(on_screen(words))
    assert not COLOR.search(on_screen(words, NO_COLOR="1"))


def fail_with(monkeypatch, error):
    def raise_error():
        raise error

    monkeypatch.setattr("pucli.cli.commands.list._methods", raise_error)


@pytest.mark.parametrize(
    ("error", "code", "kind"),
    [
        (UsageError("wrong"), 2, "usage"),
        (RunError("failed"), 1, "run"),
        (OSError(28, "No space left on device", "here.csv"), 1, "run"),
        (MemoryError("8 GiB"), 1, "run"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("x"), 1, "defect"),
    ],
)
def test_every_failure_has_its_exit_code_and_one_message(pucli, monkeypatch, error, code, kind):
    fail_with(monkeypatch, error)
    plain_text = pucli("list", "methods")
    assert plain_text.code == code
    assert plain_text.out == ""
    assert plain_text.err.startswith("pucli: ")
    assert "Traceback" not in plain_text.err
    assert pucli("list", "methods", "--json").document["error"]["kind"] == kind


def test_a_defect_shows_where_it_happened_on_demand(pucli, monkeypatch):
    fail_with(monkeypatch, ZeroDivisionError("x"))
    monkeypatch.setenv("PUCLI_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        pucli("list", "methods")


def completed(line):
    """Return what TAB offers at the end of a line."""
    words = line.split(" ")
    done = subprocess.run(
        [sys.executable, "-m", "pucli"],
        env={
            **os.environ,
            "_PUCLI_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("pucli t", {"train", "tune"}),
        ("pucli train --method gl", {"glpual", "gllc"}),
        ("pucli train --method glpual --param m", {"max_iter=", "max_rank=", "mu="}),
        ("pucli train --dataset wi", {"wifi", "wine"}),
        ("pucli split wi", {"wifi", "wine"}),
        ("pucli reproduce table-3.", {"table-3.1", "table-3.3"}),
        ("pucli reproduce table-3.3 --method gllc", {"gllc/thesis", "gllc/rkhs"}),
        ("pucli reproduce table-3.3 --dataset s", {"seeds", "ssmcr"}),
        ("pucli reproduce table-3.3 --profile ", {"smoke", "quick", "full"}),
        ("pucli list m", {"methods", "metrics"}),
        ("pucli reproduce nothing --method gl", set()),
    ],
)
def test_tab_completes_names(data_cache, line, offered):
    found = completed(line)
    assert found >= offered and bool(found) == bool(offered)


def test_json_values_are_strict_json():
    import numpy as np

    assert json_values({8, 1}) == json_values(frozenset({8, 1})) == [1, 8]
    assert json_values({"a": float("nan"), "b": np.float64(2), "c": np.array([1, 2]), "d": {3: (True, None)}}) == {
        "a": None,
        "b": 2.0,
        "c": [1, 2],
        "d": {"3": [True, None]},
    }
    times = [duration(seconds) for seconds in (0.00064, 0.1234, 9.0, 61.2, 1800.0, 9000.0, 432_000.0)]
    assert times == ["under 0.01 s", "0.12 s", "9 s", "61 s", "30 min", "2.5 hours", "5.0 days"]
    assert number(float("nan")) == number(None) == "-"
    assert number(0.123456) == "0.123" and number(2.94e-4) == "0.000294" and number(1e-9) == "under 0.000001"


def test_progress_lines_are_spaced_in_time_and_end_with_the_last(capsys):
    show = Lines("run")
    for done in range(1, 101):
        show(done, 100, seconds_left=300.0 * (done < 100))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["run 1/100, about 5 min left", "run 100/100"]


def test_a_log_gets_lines_while_a_step_takes_long(capsys, monkeypatch):
    monkeypatch.setattr(Lines, "interval", 0.05)
    with Lines("run", "cells") as show:
        show(1, 3)
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "run 1/3 cells" and lines[1] == "run 1/3 cells, 0 s so far" and len(lines) >= 3
    with Lines("run", short=False) as show:
        show(3, 3)
    assert capsys.readouterr().err == ""


def readme_commands():
    blocks = re.findall(r"```(?:sh|bash|console)\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


TRIED = "auto examples/customers.csv --label bought --positive yes --id customer"


def test_the_first_commands_of_the_readme():
    first, second, third = readme_commands()[:3]
    assert first == (
        "python3 -m venv .venv && .venv/bin/pip install . && "
        f".venv/bin/pucli {TRIED} --scored ranked.csv --report page.html"
    )
    assert second == ".venv/bin/pucli reproduce table-3.1 --profile quick"
    assert third == ".venv/bin/pip install -e '.[test]' && .venv/bin/python -m pytest -n auto"
    assert len((ROOT / "README.md").read_text().splitlines()) <= 130


@pytest.mark.slow  # trains all members on 2,000 rows
def test_the_readme_shows_what_auto_prints(pucli, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    done = pucli(*TRIED.split(), "--scored", "ranked.csv", "--report", "page.html")
    printed = re.search(r"```text\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)[1]
    assert done.out == printed and "warning" not in done.err
    truth = pd.read_csv("examples/customers_truth.csv").set_index("customer")["bought"] == "yes"
    ranked = pd.read_csv("ranked.csv").query("labeled == 0")
    called, positive = ranked["prediction"] == "yes", truth[ranked["customer"]].to_numpy()
    recall, share = positive[called].sum() / positive.sum(), called.mean()
    shown = re.search(r"recall +about \d+% of hidden positives \((\d+)% to (?:over )?(\d+)%", printed)
    lift = re.search(r"lift .* rows \(([\d.]+) to ([\d.]+)\)", printed)
    count = re.search(r"positives +about [\d,]+ \((\d+) to (\d+)\)", printed)
    told = f"{positive[called].sum()} of the {called.sum()} flagged rows are buyers, of {positive.sum()}"
    assert told in " ".join((ROOT / "README.md").read_text().split())
    for value, found in ((100 * recall, shown), (recall / share, lift), (positive.sum(), count)):
        assert float(found[1]) <= value <= float(found[2])


def test_commands_of_the_readme_parse():
    known, experiments = dataset_names(), experiment_names()
    found = 0
    for line in readme_commands():
        for part in line.split(" && "):
            words = shlex.split(part, comments=True)
            if words and words[0].endswith("pucli") and len(words) > 1 and not words[1].startswith("-"):
                parse(words[1:])
                found += 1
                for option, value in itertools.pairwise(words):
                    assert value in known or option not in {"--dataset", "-d"}
                if words[1] in {"reproduce", "report"} and not words[2].endswith(".yaml"):
                    assert words[2] in experiments
    assert found >= 5


def test_main_takes_the_arguments_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["pucli", "--version"])
    assert main() == 0
    assert __version__ in capsys.readouterr().out
