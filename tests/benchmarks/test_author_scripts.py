"""The author's scripts, replayed: as many as are public, each with its own seed and values."""

import dataclasses

import numpy as np
import pytest

from benchmarks import author_scripts
from benchmarks.author_scripts import SCRIPTS, Selection, replay


def test_there_are_nineteen_scripts_and_ten_of_them_of_one_figure():
    """The twentieth is a copy of OR1 0.5, 6 under the name of OR2."""
    assert len(SCRIPTS) == len({script.name for script in SCRIPTS}) == 19
    ten = [script for script in SCRIPTS if (script.dataset, script.frequency) == ("or1", 0.5)]
    assert len(ten) == 10 and len({script.seed for script in ten}) == 10
    assert len({script.lam1 for script in ten}) == 4


@pytest.fixture
def planted(monkeypatch):
    """The rows of a data set whose classes are apart in two of its three features."""
    draws = np.random.default_rng(0)
    positive = np.repeat([1.0, 0.0], 60)
    X = draws.normal(size=(120, 3)) + 3 * positive[:, None] * [1, 1, 0]
    monkeypatch.setattr(author_scripts, "_rows", lambda dataset, selection: (X, positive))


def test_a_replay_finds_what_is_there_to_find_and_is_the_same_each_time(planted):
    script = SCRIPTS[-4]
    f1, dropped = replay(script, Selection())
    # calling every row positive has about 67
    assert f1 > 72 and 0 <= dropped <= 100 and replay(script, Selection()) == (f1, dropped)
    assert replay(dataclasses.replace(script, seed=7), Selection()) != (f1, dropped)
    # a strong penalty on the groups drops every irrelevant feature
    assert replay(dataclasses.replace(script, lam1=1000.0), Selection())[1] == 100
