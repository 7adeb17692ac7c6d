"""`python -m benchmarks workers`: the ratio of the times that pass, and what a failure leaves."""

from __future__ import annotations

import pytest

from benchmarks import workers
from benchmarks.scale import Cost


def test_the_ratio_is_that_of_the_times_that_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")
    asked = []

    def pretended(arguments: list[str]) -> Cost | str:
        asked.append(arguments[-1])
        return Cost(12.0, 12.0 / int(arguments[-1]), 100.0) if len(asked) < 4 else "no memory"

    monkeypatch.setattr(workers, "measured", pretended)
    good, failed = workers.run(sizes=(50, 60))["rows"]
    assert asked == ["1", "2", "1", "2"]
    assert good["ratio"] == pytest.approx(2.0)
    assert good["seconds"] == pytest.approx(6.0)
    assert failed == {"name": "auto, 60 rows: one worker / two", "note": "no memory"}
