"""The refinement after a grid search (Wang 2024, section 3.6.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pucli.tuning.evidence import Evidence, evidence
from pucli.tuning.routes import Route
from pucli.tuning.scorers import Rule, choose


class Choice(NamedTuple):
    """A point with its score, the standard error, and whether it predicts only one class."""

    point: dict[str, Any]
    score: float
    standard_error: float
    constant: bool


def refined(
    evaluator: Route,
    start: Choice,
    step: float,
    refine: Sequence[str],
    stay: Mapping[str, Sequence[Any]],
    by: Rule,
) -> Iterator[tuple[dict[str, Any], Evidence, Choice | None]]:
    """Yield each point tried by the refinement, until no single move improves the score.

    Each parameter in turn is increased and decreased by the share `step`; the better of the two points is kept if its
    score exceeds the current score, whatever the rule. A round without improvement ends the search.
    """
    current = start
    plain = by._replace(name="puf")
    seen: set[tuple[tuple[str, Any], ...]] = set()
    improved = True
    while improved:
        improved = False
        for name in current.point:
            value = current.point[name]
            if name not in refine or value in stay.get(name, ()) or isinstance(value, str | bool):
                continue
            moves = [{**current.point, name: value * (1 + sign * step)} for sign in (1, -1)]
            moves = [move for move in moves if tuple(move.items()) not in seen]
            if not moves:
                continue
            seen.update(tuple(move.items()) for move in moves)
            found = evidence(evaluator, evaluator.outcomes(moves), by)
            scores = found.scores(by)
            best = choose(moves, scores, plain)
            gain = scores.score[best] > current.score + 1e-12 * max(1.0, abs(current.score))
            for k, move in enumerate(moves):
                if k != best or not gain:
                    yield move, found.of([k]), None
            if gain:
                current = Choice(moves[best], *scores.of(best))
                improved = True
                yield current.point, found.of([best]), current
