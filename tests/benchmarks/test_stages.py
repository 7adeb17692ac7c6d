"""`python -m benchmarks stages`: the seconds of a command, and of its stages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import stages
from benchmarks.scale import Cost
from tests.helpers import ROOT


@pytest.mark.slow  # trains a model in a process of its own
def test_the_stages_of_a_command_are_told_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    words = f"auto {ROOT / 'examples' / 'customers.csv'} {stages.LABEL} --report page.html -q"
    subprocess.run([sys.executable, "-m", "benchmarks.stages", *words.split()], cwd=tmp_path, check=True)
    found = json.loads((tmp_path / "stages.json").read_text())
    assert found.keys() == {"imports", "rest", *stages.STAGES.values()} - {"scores"} and min(found.values()) > 0.0


def test_a_row_has_the_seconds_of_the_process_and_a_failure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")
    costs: list[Cost | str] = [Cost(5.0, 9.0, 100.0), "no memory"]

    def pretended(_: list[str]) -> Cost | str:
        Path("stages.json").write_text('{"imports": 1.5, "trees": 3.5}')
        return costs.pop(0)

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(stages, "measured", pretended)
    (row,) = stages.run(commands=["prior, 1,000 rows"])["rows"]
    assert row == {"name": "prior, 1,000 rows", "total": 5.0, "target": 3.0, "imports": 1.5, "trees": 3.5}
    with pytest.raises(RuntimeError, match="no memory"):
        stages.run(commands=["prior, 1,000 rows"])
    assert Path.cwd() == ROOT
