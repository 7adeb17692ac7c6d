"""The arithmetic of printed F1: all solutions are found, and the published ones are those that are known."""

import itertools

import numpy as np

from benchmarks import split_evidence
from benchmarks.split_evidence import DIGIT, REPEATS, solutions


def test_the_solutions_of_umd_are_those_of_an_exhaustive_search():
    assert solutions(99.80, 0.62, 44) == [((25, 1),)]
    found = {tuple(sorted(one)) for one in solutions(99.58, 0.88, 44)}
    pairs = [(tp, errors) for tp in range(1, 44) for errors in range(1, 45 - tp)]
    expected = set()
    for number in (1, 2):
        for chosen in itertools.combinations_with_replacement(pairs, number):
            f1 = [100.0] * (REPEATS - number) + [200 * tp / (2 * tp + errors) for tp, errors in chosen]
            if abs(np.mean(f1) - 99.58) <= DIGIT and abs(np.std(f1, ddof=1) - 0.88) <= DIGIT:
                expected.add(tuple(sorted(chosen)))
    assert found == expected == {((22, 1), (25, 1)), ((23, 1), (24, 1))}


def test_a_figure_with_many_solutions_or_without_spread_has_none():
    assert solutions(98.2, 1.5, 40) == [] and solutions(100.0, 0.0, 40) == []
    # no repeat of four rows lacks as little as this
    assert solutions(99.9, 0.3, 4) == []


def test_the_printed_shares_fit_ten_repeats_but_for_ecoli():
    assert "26 are whole numbers" in split_evidence.shares() and "Ecoli 0.5, Ecoli 0.25" in split_evidence.shares()
