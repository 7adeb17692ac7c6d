"""Named causes of disagreement between obtained and published figures.

A cause declared by an experiment (`notes`, with `cause`) has precedence; its text is the evidence. Other causes are
inferred: from the verdict, from another form of the method that agrees, or from a profile that runs less than was
published. Any other disagreement is unexplained.
"""

from __future__ import annotations

from collections.abc import Collection

from pucli.report.tables.verdict import BY_VARIANT, COMPARED, DEGENERATE, INCONCLUSIVE, NOT_JUDGED, NOT_RUN, REPRODUCED

SELECTION = "data selection guessed"
FORM = "form of the method"
PROTOCOL = "another protocol"
SPREAD = "wide spread"
ONE_CLASS = "one class predicted"
REDUCED = "reduced run"
UNEXPLAINED = "unexplained"

CAUSES = {
    SELECTION: "which rows or columns were used is a guess, and with others, named in the note, the figures agree",
    FORM: "another variant of the method agrees, or the declared note says which",
    PROTOCOL: "the method agrees under another declared protocol, which the verdict names",
    "another machine": "a speed, measured on another machine",
    "tuning noise": "points of the grid agree, but tuning does not choose them",
    "scoring": "the published figures follow another scoring",
    SPREAD: "the repeats spread too widely to tell",
    ONE_CLASS: "at least half of the models predict one class only",
    "not stated in print": "the result depends on a detail that the publication does not state",
    "print contradicts itself": "the published figures or text contradict each other",
    "cannot be produced as described": "the method as described cannot produce the figure",
    REDUCED: "the profile runs less than was published (grid, repeats or iterations)",
    UNEXPLAINED: "no cause is known",
}


def automatic_cause(verdict: str, *, reduced: bool, fewer_repeats: bool, protocols: Collection[str] = ()) -> str:
    """Return the key of `CAUSES` inferred from the cells and the catalogue, or "" if there is nothing to explain."""
    if verdict in ("", REPRODUCED, NOT_JUDGED, NOT_RUN) or verdict.startswith(COMPARED):
        return ""
    if verdict == DEGENERATE:
        return ONE_CLASS
    if verdict == INCONCLUSIVE:
        return REDUCED if fewer_repeats else SPREAD
    if verdict.startswith(BY_VARIANT):
        names = set(verdict.removeprefix(f"{BY_VARIANT}: ").split(", "))
        return PROTOCOL if names <= set(protocols) else FORM
    return REDUCED if reduced else UNEXPLAINED
