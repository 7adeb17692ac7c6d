"""Births and deaths of components: their order, and the halves of a birth."""

from types import SimpleNamespace

import numpy as np
import pytest

from pucli.solvers.classtering import moves
from pucli.solvers.classtering.moves import Ascent, _most_frequent


@pytest.fixture
def ascent():
    """An ascent at a state with four components, of which nothing but the masses is known."""
    found = Ascent.__new__(Ascent)
    mass = np.array([5.0, 40.0, 10.0, 20.0])
    found.data, found.state = (
        None,
        SimpleNamespace(
            local=SimpleNamespace(mass=mass, R=np.tile(mass / 75.0, (75, 1))), q=SimpleNamespace(omega=mass)
        ),
    )
    return found


def test_the_heaviest_component_is_split_first_and_the_lightest_dies_first(ascent, monkeypatch):
    tried = []
    monkeypatch.setattr(moves, "_with_birth", lambda data, state, s, side: s)
    monkeypatch.setattr(moves, "_with_death", lambda data, state, s: s)
    monkeypatch.setattr(Ascent, "sides", lambda self, s: [None])
    monkeypatch.setattr(Ascent, "attempt", lambda self, candidate: bool(tried.append(candidate)))
    assert ascent.births(10) == 0 and tried == [1, 3, 2, 0]
    tried.clear()
    assert ascent.births(4) == 0 and tried == []
    assert ascent.deaths() == 0 and tried == [0, 2, 3, 1]


def test_a_half_with_less_than_two_rows_is_not_split_off(ascent, monkeypatch):
    parts = [np.arange(75) < 37, np.arange(75) < 2, np.arange(75) >= 2]
    monkeypatch.setattr(moves, "_split_sides", lambda data, state, s: iter(parts))
    kept = list(ascent.sides(1))
    assert len(kept) == 1 and kept[0] is parts[0]


def test_the_most_frequent_classes_do_not_depend_on_their_numbers():
    labels = np.array([2, 0, 2, 0, 1, 1, 1, -1])
    R = np.where(np.arange(8) == 6, 0.2, 0.9)  # two rows of each class belong to the component
    for names in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        data = SimpleNamespace(labels=np.where(labels < 0, -1, np.array(names)[labels]))
        assert _most_frequent(data, R, np.arange(3)) == [names[2], names[0]]
