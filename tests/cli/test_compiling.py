"""The remark while solvers are compiled, and where they are kept."""

import os
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest
from numba.core import event

from pucli import solvers
from pucli.cli import compiling
from pucli.cli.output import Output

KIND = "numba:compile"


@pytest.fixture
def listeners():
    before = list(event._registered[KIND])
    event._registered[KIND][:] = []  # those of commands in other tests
    yield
    event._registered[KIND][:] = before


@pytest.mark.parametrize(("quiet", "written"), [(False, 1), (True, 0)])
def test_a_long_compilation_is_told_once_on_stderr(listeners, monkeypatch, capsys, quiet, written):
    now = iter([0.0, 0.1, 2.0, 3.0])
    monkeypatch.setattr(compiling, "time", SimpleNamespace(monotonic=lambda: next(now)))
    compiling.announce_compiling(Output(as_json=True, quiet=quiet))
    lines = []
    for _ in range(4):
        event.start_event(KIND)
        event.end_event(KIND)
        lines.append(capsys.readouterr())
    assert [line.err.count(compiling.TEXT) for line in lines] == [0, 0, written, 0]
    assert not any(line.out for line in lines)


def test_solvers_are_compiled_where_no_folder_can_be_written(monkeypatch):
    kept = []
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(solvers.atexit, "register", lambda remove, folder, **options: kept.append((remove, folder)))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert solvers._keeps_compiled() and not kept
    monkeypatch.setattr(solvers.os, "access", lambda folder, mode: False)
    assert not solvers._keeps_compiled()
    [(remove, folder)] = kept
    try:
        assert os.environ["NUMBA_CACHE_DIR"] == numba.config.CACHE_DIR == folder
        assert Path(folder).stat().st_mode & 0o077 == 0
        assert solvers._keeps_compiled()  # so that worker processes use the same one
    finally:
        remove(folder)
        del os.environ["NUMBA_CACHE_DIR"]
