"""What the tests share: which of them run, running a command, small files, the local mirror of the data."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# one BLAS thread, set before NumPy is imported: small systems on several threads wait for each other (15 times as long)
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Each process would compile all sources anew, those of packages too where the cache is a folder of its own. Compiled
# functions are kept beside the sources in any case.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import hypothesis
import numpy as np
import pytest

from tests.helpers import ROOT, check_document

# The same examples each time: a change is judged by what it changes. By day a third of those that .ci/nightly tries
# (--hypothesis-profile nightly); HYPOTHESIS_SEEK=1 looks for new ones.
hypothesis.settings.register_profile("day", derandomize=True, max_examples=34)
hypothesis.settings.register_profile("nightly", derandomize=True, max_examples=100)
if not os.environ.get("HYPOTHESIS_SEEK"):
    hypothesis.settings.load_profile("day")

BY_METHOD = ("test_every_method.py", "test_scikit_learn_checks.py", "test_committed_cells.py", "test_every_option.py")

# settings of the person who runs the tests
for _name in [name for name in os.environ if name.startswith("PUCLI_")]:
    del os.environ[_name]


def pytest_configure(config: pytest.Config) -> None:
    """Make a warning of scikit-learn an error; in pyproject.toml, it would import NumPy before its threads are set."""
    if hasattr(config, "workerinput") or not getattr(config.option, "numprocesses", None):
        config.addinivalue_line("filterwarnings", "error::sklearn.exceptions.DataConversionWarning")
    if not hasattr(config, "workerinput") and hasattr(config, "cache"):
        config.pluginmanager.register(Skipped(config))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--skipped", action="store_true", help="run only what the last run skipped, with more installed")


class Skipped:
    """Keeps the names of the tests and files that a run skips, for `--skipped`."""

    def __init__(self, config: pytest.Config) -> None:
        self.cache = config.cache
        self.names: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.names.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.names.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.cache.set("pucli/skipped", sorted(self.names))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Spare a run the imports of files of which it has no test, and a quick one those of torch and the like."""
    if config.getoption("skipped") and collection_path.suffix == ".py":
        file = collection_path.relative_to(config.rootpath).as_posix()
        return file not in {name.partition("::")[0] for name in config.cache.get("pucli/skipped", [])} or None
    if "not slow" not in config.getoption("markexpr").split(" and ") or collection_path.suffix != ".py":
        return None
    return "\npytestmark = pytest.mark.slow\n" in collection_path.read_text() or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what --skipped does not name, and tests marked `nightly` unless -m asks for them or one is named."""
    if config.getoption("skipped"):
        last = set(config.cache.get("pucli/skipped", []))
        _keep(config, items, [item for item in items if {item.nodeid, item.nodeid.partition("::")[0]} & last])
    if "nightly" in config.getoption("markexpr") or any("::" in word for word in config.args):
        return
    _keep(config, items, [item for item in items if not item.get_closest_marker("nightly")])


def _keep(config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=list(set(items).difference(kept)))
    items[:] = kept


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker whole files, and of a file with a test per method whole methods.

    Tests of one file need the same compiled functions, plans and fits; two workers would make them twice.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file, _, test = nodeid.partition("::")
            if file.startswith("tests/distributed/"):  # which share two workers
                return "tests/distributed"
            method = re.search(r"\[([\w-]+)", test) if file.endswith(BY_METHOD) else None
            return f"{file}[{method[1]}]" if method else file

    return ByFile(config, log)


@dataclass(frozen=True)
class Result:
    """What a command left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document on stdout, which must be all there is."""
        return json.loads(self.out, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))


@pytest.fixture
def data_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data cache, no mirror, no network, no PUCLI_* settings of the person who runs the tests."""
    for name in [name for name in os.environ if name.startswith("PUCLI_")]:
        monkeypatch.delenv(name)
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("PUCLI_DATA_DIR", str(folder))
    monkeypatch.setenv("PUCLI_OFFLINE", "1")
    return folder


@pytest.fixture
def pucli(
    data_cache: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Run a command line in this process, in a folder of its own."""
    from pucli.cli.main import main

    monkeypatch.chdir(tmp_path)

    def run(*words: Any) -> Result:
        if "numba" in sys.modules:  # the remark that solvers are compiled is that of an earlier command
            sys.modules["numba.core.event"]._registered["numba:compile"].clear()
        capsys.readouterr()
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        if "--json" in words and captured.out.startswith("{"):
            check_document(words[0], json.loads(captured.out))
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def shell(data_cache: Path, tmp_path: Path) -> Callable[..., Result]:
    """Run a command line in a process of its own, as a shell would."""

    def run(*words: Any, **environment: str) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "pucli", *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with a copy of the UCI files beside the checkout."""
    folder = ROOT.parent / "shared" / "data" / "uci"
    if not folder.is_dir():
        pytest.skip("no local copy of the UCI files beside the checkout (../shared/data/uci)")
    return folder


@dataclass(frozen=True)
class Customers:
    """Two groups of rows as files: `pu` marks 20 of 60 positives, `true` has the class of each row, `new` no label."""

    pu: Path
    true: Path
    new: Path
    truth: list[str]


@pytest.fixture
def customers(tmp_path: Path) -> Customers:
    """Write the three files."""
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(1.5, 1, (60, 3)), random.normal(-1.5, 1, (90, 3))])
    truth = ["yes"] * 60 + ["no"] * 90
    known = ["yes" if row < 20 else "" for row in range(150)]
    columns = {"pu": ("bought", known), "true": ("really", truth), "new": ("remark", ["x"] * 150)}
    paths = {}
    for name, (column, values) in columns.items():
        lines = [f"age,income,visits,{column}"]
        lines += [",".join([*(f"{value:.4f}" for value in row), word]) for row, word in zip(X, values, strict=True)]
        paths[name] = tmp_path / f"{name}.csv"
        paths[name].write_text("\n".join(lines) + "\n")
    return Customers(paths["pu"], paths["true"], paths["new"], truth)
