"""Share of positives from answers: exact where all rows were looked at, intervals that hold elsewhere."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from pucli.solvers.prior.review import NORMAL_90, Share, answers_needed, share_of, share_of_parts, wilson


def test_rows_drawn_with_certainty_count_as_they_are():
    positive = np.array([True, True, False])
    assert share_of(positive, np.ones(3), 3) == Share(2 / 3, 2 / 3, 2 / 3)
    assert share_of(positive, np.ones(3), 10) == Share(0.2, 0.2, 0.9)  # the other seven may be anything
    assert share_of(positive, np.full(3, 0.999), 3).low == pytest.approx(2 / 3)  # of a finite number, all were seen


@pytest.mark.parametrize(("drawn", "rows"), [([0.0, 0.5], 9), ([0.5, 1.5], 9), ([np.nan, 0.5], 9), ([0.5, 0.5], 1)])
def test_what_is_no_probability_or_too_few_rows_is_refused(drawn, rows):
    with pytest.raises(ValueError, match="drawn must be above 0 and at most 1"):
        share_of(np.array([True, False]), np.array(drawn), rows)


def test_wilson_agrees_with_scipy():
    from scipy.stats import binomtest

    for k, n in ((0, 10), (7, 10), (50, 50), (31, 200)):
        expected = binomtest(k, n).proportion_ci(0.9, method="wilson")
        assert np.allclose(astuple(wilson(k / n, n))[1:], (expected.low, expected.high))


def population(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of rows by descending score, with precision from .3 to .95, and their number."""
    rows = int(random.integers(400, 3000))
    p = np.clip(random.uniform(0.3, 0.95) + random.uniform(0.0, 0.4) * np.linspace(1, -1, rows), 0.02, 0.98)
    return random.random(rows) < p, np.arange(rows)


@pytest.mark.parametrize("answers", [50, 200])
@pytest.mark.parametrize("way", ["random", "first and random", "by score"])
def test_intervals_hold(answers, way):
    random = np.random.default_rng(answers)
    hit, widths, errors = [], [], []
    for _ in range(800):
        y, order = population(random)
        n = len(y)
        if way == "random":
            chosen, drawn = random.choice(n, answers, replace=False), np.full(answers, answers / n)
        elif way == "first and random":
            first = answers // 2
            rest = first + random.choice(n - first, answers - first, replace=False)
            chosen = np.r_[order[:first], rest]
            drawn = np.r_[np.ones(first), np.full(len(rest), answers / n)]
        else:  # each row on its own, the likelier the higher its score
            chance = np.linspace(1.5, 0.5, n) * answers / n
            chosen = np.flatnonzero(random.random(n) < chance)
            drawn = chance[chosen]
        found = share_of(y[chosen], drawn, n)
        hit.append(found.low <= y.mean() <= found.high)
        widths.append(found.high - found.low)
        errors.append(found.value - y.mean())
    assert 0.87 < np.mean(hit) < 0.95, np.mean(hit)
    assert abs(np.mean(errors)) < 0.01
    at_random = answers // 2 if way == "first and random" else answers
    assert np.median(widths) < 2 * NORMAL_90 * np.sqrt(0.25 / at_random)  # that of a share of one half
    print(way, answers, round(np.mean(hit), 3), round(float(np.median(widths)), 3))


@pytest.mark.parametrize("answers", [50, 200])
def test_intervals_of_the_class_prior_hold(answers):
    """Half the answers are of called rows; the interval is seldom wider than that of as many random rows."""
    random = np.random.default_rng(answers)
    hit, errors, ratios = [], [], []
    for _ in range(800):
        y = random.random(int(random.integers(400, 3000))) < random.uniform(0.05, 0.5)
        called = random.random(len(y)) < np.where(y, random.uniform(0.4, 0.9), random.uniform(0.02, 0.2))
        parts = []
        for mine in (called, ~called):
            rows = np.flatnonzero(mine)
            k = min(len(rows), answers // 2)
            chosen = random.choice(rows, k, replace=False)
            parts.append((share_of(y[chosen], np.full(k, k / len(rows)), len(rows)), len(rows)))
        found, plain = share_of_parts(parts), wilson(y.mean(), answers)
        hit.append(found.low <= y.mean() <= found.high)
        errors.append(found.value - y.mean())
        ratios.append((found.high - found.low) / (plain.high - plain.low))
    assert 0.87 < np.mean(hit) < 0.95, np.mean(hit)
    assert abs(np.mean(errors)) < 0.01
    assert np.median(ratios) < 1.05
    print(answers, round(np.mean(hit), 3), round(float(np.median(ratios)), 2))


def test_answers_needed_tell():
    found = wilson(0.7, 50)
    assert answers_needed(found, 50, 0.3) == 50
    needed = answers_needed(found, 50, 0.65)
    assert needed > 50 and wilson(0.7, needed * 1.1).low > 0.65 > wilson(0.7, needed * 0.9).low
    assert answers_needed(found, 50, 0.65, rows=100) < 100
    assert answers_needed(found, 50, 0.7) is None and answers_needed(found, 50, 0.7, rows=90) == 90
