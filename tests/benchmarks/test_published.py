"""`python -m benchmarks published`: PU-Bench's sampling, and the table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import published
from pucli.core.errors import UsageError
from tests.helpers import ROOT

DATA = ROOT.parent / "shared" / "data"


def test_a_labelled_row_of_pu_bench_is_unlabeled_too_and_never_tested() -> None:
    y = np.repeat([1, 0], [200, 300])
    train, labelled, test = published.pu_bench_split(y, 0.1, 42)
    assert labelled.sum() == 16
    assert (y[train[labelled]] == 1).all()
    assert set(train[labelled]) <= set(train[~labelled])
    assert not set(train) & set(test)
    assert len(test) == 100
    assert y[test].mean() == pytest.approx(0.4)


def test_without_files_it_says_where_they_should_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="PUCLI_MIRROR"):
        published.run(folder=tmp_path)


@pytest.mark.skipif(not (DATA / "uci/wdbc").is_dir(), reason="the data folder is not beside this checkout")
def test_every_figure_gets_a_line_for_each_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci/wdbc").symlink_to(DATA / "uci/wdbc")
    monkeypatch.setattr(published, "METHODS", ("SVC, unlabeled as negative",))
    found = published.run(folder=tmp_path)
    assert [(line["data"], line["labelled"]) for line in found["rows"]] == [("wdbc", 0.25), ("wdbc", 0.5)]
    assert all(0.9 < line["value"] <= 1.0 for line in found["rows"])
