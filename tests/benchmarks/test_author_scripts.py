"""The author's scripts, replayed: as many as are public, each with its own seed and values."""

import dataclasses

import numpy as np
import pytest

from benchmarks import author_scripts
from benchmarks.author_scripts import NEAR, SCRIPTS, Selection, replay


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


def test_the_values_of_a_set_with_one_script_are_run_with_the_ten_seeds_of_or1(monkeypatch):
    replayed = []

    def fake(script, selection=None):
        replayed.append(script)
        return (70.0 if script.dataset == "seeds" else 80.0) + script.seed % 2, 100 * script.frequency

    monkeypatch.setattr(author_scripts, "replay", fake)
    rows = author_scripts.run(datasets=("seeds", "or2"))["rows"]
    assert [row["script"] for row in rows[4:-1]] == [f"{script.name}, ten seeds" for script in SCRIPTS if
                                                     script.dataset in ("or2", "seeds")]  # fmt: skip
    own = [script for script in replayed[4:] if script.dataset == "seeds" and script.frequency == 0.25]
    assert [script.seed for script in own] == [script.seed for script in SCRIPTS[:10]]
    assert {(script.lam1, script.c_u, script.updates) for script in own} == {(1.0, 0.05, 1500)}
    # printed: F1 of 80.3, 80.7 (OR2), 86.2, 89.9 (Seeds); dropped 52.5, 47.1 at 0.5, 46.2, 51.4 at 0.25
    assert rows[-1] == {"script": NEAR, "F1": "2 of 4", "dropped": "2 of 4"}
    assert [row["dropped"] for row in rows[4:-1]] == ["50.0 +- 0.0", "25.0 +- 0.0"] * 2
