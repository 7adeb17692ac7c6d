"""`python -m benchmarks negatives_by_method` on one small task."""

import pytest

from benchmarks import negatives_by_method
from benchmarks.common import quality_tasks


@pytest.mark.slow
def test_the_line_of_a_method_is_of_its_cells(tmp_path, monkeypatch):
    monkeypatch.setattr(quality_tasks, "at_hand", lambda half, folder: ["wine2", "isolet"])
    found = negatives_by_method.run(folder=tmp_path, methods=("blssvm", "nnpu"), repeats=1)
    assert [(cell["method"], cell["task"]) for cell in found["cells"]] == [("blssvm", "wine2"), ("nnpu", "wine2")] * 2
    for row, cell in zip(found["rows"], sorted(found["cells"], key=lambda cell: cell["method"]), strict=True):
        assert row["method"] == cell["method"] and row["F1 used"] == f"{cell['used']:.3f}"
        assert row["difference"] == f"{cell['used'] - cell['ignored']:+.3f}"
