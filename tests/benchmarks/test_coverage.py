"""Benchmarks `coverage` and `power`: what they draw and what they count."""

import pytest

from benchmarks import coverage, power
from pucli.core.seeding import stream


def test_biased_labels_are_those_of_positives_with_large_values_of_a_column():
    random, biased = (coverage.draw("overlap", 400, 0, odds) for odds in (1.0, 5.0))
    first = [of["X"][of["labeled"], 0] for of in (random, biased)]
    assert first[1].mean() > first[0].mean() + 0.2 and len(random["X"]) == len(biased["X"]) == 1000
    needles = coverage.draw("needles", 30, 0)
    assert len(needles["y"]) == 2000 and 5 <= needles["y"].sum() <= 40


def test_the_table_says_how_often_intervals_hold():
    of = {"kind": "overlap", "labeled": 30, "odds": 1.0, "figure": "recall"}
    cells = [{**of, "holds": k < 8, "width": 0.2, "of CP": 1.1} for k in range(10)]
    (line,) = coverage.table(cells)
    assert (line["holds"], line["draws"]) == (0.8, 10) and 0.2 < line["least"] < 0.5


@pytest.mark.slow  # fits the whole ensemble to 1,000 rows
def test_a_draw_has_every_figure():
    cells = coverage.measured(coverage.draw("separable", 400, 1), 1)
    figures = {cell["figure"] for cell in cells}
    assert {"prior", "recall", "new_recall", "new_share", "new_lift", "lift", "precision", "gains curve"} <= figures
    assert all(cell["holds"] for cell in cells if cell["figure"] == "no contradictions")


@pytest.mark.parametrize("bias", ["random", *power.BIASES])
def test_the_labels_are_biased_as_they_are_called(bias):
    X, prior = power.draw("separable", 400, bias, 8.0, stream(0, "power"))
    elsewhere = float((X[:400, 1] > X[:400, 0]).mean())
    assert X.shape == (1000, 5) and 0.1 < prior < 0.6
    assert (elsewhere > 0.6) == (bias == "class") and (X[:400, 2].mean() > 0.3) == (bias == "column")
