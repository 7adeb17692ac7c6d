"""Benchmark `real_tables`: raw cells go through the commands, and every rival gets the same rows."""

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import real_tables
from benchmarks.common.real_rows import RealTable
from benchmarks.common.result_files import read_results
from pucli.core.errors import UsageError


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A table of numbers, words and empty cells; its positives are two of three kinds."""
    random = np.random.default_rng(0)
    kind = random.choice(["a", "b", "c"], 300)
    cells = random.normal(size=300) + 3.0 * (kind != "c")
    words = np.where(random.random(300) < 0.1, "", np.where(kind == "a", "red", "blue"))
    (tmp_path / "toy.csv").write_text(
        "".join(f"{x:.3f}, {w}, {k}\n" for x, w, k in zip(cells, words, kind, strict=True))
    )
    table = RealTable("toy", ("toy.csv",), ",", False, -1, frozenset("ab"), True)
    monkeypatch.setattr(real_tables, "TABLES", (table,))
    return tmp_path


def test_cells_are_read_as_the_source_has_them(toy):
    X, positive = real_tables.TABLES[0].read(toy)
    assert list(X) == ["x1", "x2"] and set(X["x2"]) == {"red", "blue", ""}
    assert 0.5 < positive.mean() < 0.8


@pytest.mark.slow  # two commands in processes of their own
def test_methods_get_the_same_rows_and_auto_runs_as_a_command(toy, monkeypatch):
    monkeypatch.setenv("PUCLI_QUALITY_DATA", str(toy))
    words = ["real_tables", "--only", "tables=toy", "--only", "frequencies=0.5", "--results", str(toy)]
    assert command.main([*words, "--only", "methods=pucli auto,HistGradientBoosting"]) == 0
    auto, rival = read_results(toy / "bench", "real_tables")["rows"]
    assert (auto["method"], rival["method"]) == ("pucli auto", "HistGradientBoosting")
    for row in (auto, rival):
        assert row["AUC"] > 0.8 and row["F1"] <= row["best F1"] and row["half"] == "design"
    assert auto["labeled"] == rival["labeled"] and auto["MB"] > 50


def test_a_row_is_the_mean_of_its_splits():
    same = {"table": "toy", "half": "design", "frequency": 0.5, "rows": 100, "method": "pucli auto"}
    cells = [{**same, "split": 0, "labeled": 20, "AUC": 0.8}, {**same, "split": 1, "labeled": 23, "AUC": 0.9}]
    cells.append({**same, "split": 0, "method": "uPU", "note": "fails"})
    mean, failed = real_tables.means(cells)
    assert np.isclose(mean.pop("AUC"), 0.85) and mean == {**same, "labeled": 22}
    assert failed == {**same, "method": "uPU", "note": "fails"}


def test_the_figures_of_the_first_rows():
    truth = np.arange(1000) < 50
    found = real_tables.judged(-np.arange(1000.0), truth, truth)
    assert found["AUC"] == found["F1"] == found["best F1"] == 1.0
    assert found["recall at 1 %"] == 0.2 and np.isclose(found["lift at 1 %"], 20.0)


def test_wrong_words_are_refused(toy, capsys):
    with pytest.raises(UsageError, match="no table or method nought"):
        real_tables.run(tables=["nought"], folder=toy)
    with pytest.raises(SystemExit):
        command.main(["real_tables", "--only", "table=toy"])
    assert "KEY one of tables, frequencies" in capsys.readouterr().err
