import numpy as np
import pytest

from benchmarks import scale
from benchmarks.scale import Cost


def test_what_would_take_too_long_is_not_run_and_says_so(monkeypatch):
    pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")
    ran = []

    def pretended(arguments, most_seconds):
        ran.append(arguments)
        return Cost(4.0 * len(ran) ** 2, 1.0, 100.0)

    monkeypatch.setattr(scale, "measured", pretended)
    found = scale.run(sizes=(100, 200, 400), most_seconds=20.0, only=["train glpual"])
    (row,) = found["rows"]
    assert len(ran) == 2  # 4 s, then 16 s; 64 s are not run
    assert row["exponent"] == pytest.approx(2.0) and row["4e+02"] is None
    assert row["note"] == "not run at 4e+02 rows: about 64 s"


def test_ctrl_c_keeps_what_is_done(monkeypatch):
    pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")

    def interrupted(arguments, most_seconds=0.0):
        if "gllc" in str(arguments) or "usmo" in str(arguments):
            raise KeyboardInterrupt
        return Cost(1.0, 1.0, 100.0)

    monkeypatch.setattr(scale, "measured", interrupted)
    found = scale.run(sizes=(100,), only=["train glpual", "train usmo, linear", "prior"])
    assert [row["1e+02"] for row in found["rows"]] == [1.0, None, None]


@pytest.mark.slow
def test_a_process_is_measured_and_its_failure_told():
    cost = scale.measured(["-c", "import numpy as np; x = np.ones(30_000_000)"])
    assert isinstance(cost, Cost) and cost.cpu > 0 and cost.peak > 240
    assert scale.measured(["-c", "raise SystemExit('no such thing')"]) == "no such thing"
    assert scale.measured(["-c", "while True: pass"], 0.5) == "stopped after 0.5 s"


def test_the_rows_are_as_declared(tmp_path):
    import pandas as pd

    pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")
    scale.make_rows(2000, tmp_path / "rows.parquet")
    frame = pd.read_parquet(tmp_path / "rows.parquet")
    assert frame.shape == (2000, scale.FEATURES + 1)
    assert np.isclose(frame["label"].mean(), scale.POSITIVE * scale.LABELED, atol=0.02)


def test_the_page_explains_its_columns(tmp_path):
    from benchmarks.common.result_files import write_results

    found = {"title": "Costs", "about": scale.ABOUT, "columns": ["what"], "rows": [{"name": "auto"}]}
    page = write_results(tmp_path, "scale", found).read_text()
    assert page.startswith("# Costs\n\nThe figures below") and "exponent is the power" in page and "wall s" in page
