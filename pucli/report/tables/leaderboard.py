"""The leaderboard: mean place of each method in the rankings of all experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pucli.metrics import Ranking
from pucli.runner.experiment import Experiment


@dataclass(frozen=True)
class Leader:
    """A method over all rankings.

    Parameters
    ----------
    method : str
        Its name in the list of methods.
    rankings : int
        In which it stands.
    first : int
        In which one of its columns is the best.
    place : float
        Mean over its columns and rankings of (rank - 1) / (columns - 1): 0 is always first, 1 always last.
    """

    method: str
    rankings: int
    first: int
    place: float


def leaders(ranked: Sequence[tuple[Experiment, Sequence[Ranking]]]) -> list[Leader]:
    """Return the methods of all rankings, the best mean place first.

    Rankings of different experiments have different peers, so a place is a hint, not a measurement.
    """
    places: dict[str, list[float]] = {}
    seen: dict[str, set[tuple[str, int]]] = {}
    first: dict[str, set[tuple[str, int]]] = {}
    for experiment, rankings in ranked:
        for number, ranking in enumerate(rankings):
            for column, rank in zip(ranking.columns, ranking.ranks, strict=True):
                method = experiment.methods[column].method
                places.setdefault(method, []).append((rank - 1) / (len(ranking.columns) - 1))
                seen.setdefault(method, set()).add((experiment.name, number))
                if rank == min(ranking.ranks):
                    first.setdefault(method, set()).add((experiment.name, number))
    found = [
        Leader(method, len(seen[method]), len(first.get(method, ())), sum(values) / len(values))
        for method, values in places.items()
    ]
    return sorted(found, key=lambda leader: leader.place)
