"""`python -m benchmarks`: what is printed and written, and what is refused."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType

import pytest

from benchmarks import __main__ as command
from benchmarks import usmo
from benchmarks.common.result_files import read_results


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A benchmark called "toy" in place of the real ones."""
    module = ModuleType("benchmarks.toy", "A toy.\n\nMore.")

    def run(progress, size=10):
        progress(1, 1)
        rows = [
            {"name": "ours", "seconds": 0.25, "ratio": None, "target": None, "note": ""},
            {"name": "theirs", "seconds": 2.5, "ratio": float("nan"), "target": ">= 5", "note": "a | b"},
        ]
        return {"title": f"Toy of {size}", "rows": rows}

    module.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "benchmarks.toy", module)
    monkeypatch.setattr(command, "names", lambda: ["toy"])
    return module


def test_the_results_are_printed_and_written(toy, tmp_path, capsys):
    assert command.main([]) == 0
    assert "A toy." in capsys.readouterr().out
    assert command.main(["toy", "--results", str(tmp_path)]) == 0
    done = capsys.readouterr()
    page = (tmp_path / "bench" / "toy.md").read_text()
    assert "| theirs | 2.5 | - | >= 5 | a \\| b |" in page and done.out == page
    assert "toy 1/1" in done.err
    rows = read_results(tmp_path / "bench", "toy")["rows"]
    assert [row["ratio"] for row in rows] == [None, None]


def test_full_uses_the_large_sizes_and_keeps_the_other_result(toy, tmp_path, capsys):
    with pytest.raises(SystemExit):
        command.main(["toy", "--full"])
    assert "only one size" in capsys.readouterr().err
    toy.FULL = {"size": 1000}
    for words in (["toy"], ["toy", "--full"]):
        assert command.main([*words, "--results", str(tmp_path)]) == 0
    assert "Toy of 10\n" in (tmp_path / "bench" / "toy.md").read_text()
    assert "Toy of 1000\n" in (tmp_path / "bench" / "toy-full.md").read_text()


def test_nothing_is_measured_for_a_place_that_cannot_be_written(toy, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    toy.run = None
    assert command.main(["toy", "--results", str(tmp_path / "file")]) == 1
    assert "file" in capsys.readouterr().err


def test_a_package_that_is_missing_is_named(toy, monkeypatch):
    monkeypatch.delitem(sys.modules, "benchmarks.toy")
    with pytest.raises(SystemExit, match=r"needs 'benchmarks.toy', which is not installed"):
        command.main(["toy"])


def test_every_benchmark_says_what_it_measures():
    names = command.names()
    assert {"quality", "scale", "usmo"} <= set(names) and "common" not in names
    assert all(command._summary(name) for name in names)


def test_usmo_has_the_sizes_of_its_targets():
    assert set(usmo.FULL) <= set(inspect.signature(usmo.run).parameters)
    assert usmo.FULL["sizes"] == (1000, 2000, 5000, 10_000, 20_000)
    assert usmo.MEMORY_FEATURES == 784
    assert max(usmo.FULL["memory_rows"]) == 60_000


def test_a_name_with_a_comma_is_one_value():
    settings = command._settings(None, command._module("quality"), ["methods=auto,SVC, true prior", "repeats=2"])
    assert settings == {"methods": ("auto", "SVC, true prior"), "repeats": 2}
