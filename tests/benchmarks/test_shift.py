"""`python -m benchmarks shift`: the files that it draws, and its table."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import shift


@pytest.mark.parametrize("share", shift.SHARES)
def test_files_have_the_share_and_no_row_twice(share: float) -> None:
    y = np.repeat([1, 0], [150, 450])
    for exact in (True, False):
        new = shift.draw(y, share, np.random.default_rng(0), exact=exact)
        assert len(np.unique(new)) == len(new) <= shift.MOST_NEW
        assert y[new].mean() == pytest.approx(share, abs=0.01 if exact else 0.12)


def test_lines_are_of_the_files_with_the_share() -> None:
    cell = dict.fromkeys(("width", "oracle error", "oracle width", "called changed", "called more", "moved"), 0.0)
    cells = [{**cell, "share": 0.5, "error": e, "kept": e < 0.2} for e in (-0.1, 0.3)]
    cells.append({**cell, "share": "unchanged", "error": 0.5, "kept": False})
    lines = {line["share"]: line for line in shift.table(cells)}
    assert set(lines) == {0.5, "unchanged", "all but unchanged"}
    assert lines[0.5]["error"] == pytest.approx(0.2) and lines[0.5]["kept"] == 0.5
    assert lines["all but unchanged"]["files"] == 2 and lines["unchanged"]["error"] == 0.5
