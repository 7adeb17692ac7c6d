"""What solvers state about their fits to generated problems, a like share of every family at a time."""

from __future__ import annotations

from collections.abc import Iterator

from tests.trust import likelihoods, local_fits, machines, missing_entries, proofs, safe_squares
from tests.trust.fits import in_rounds
from tests.trust.lines import Line

# Rounds by default and with --full.
ROUNDS = (1, 200)


def lines(full: bool, words: str = "") -> Iterator[Line]:
    """Yield the line of each family of solvers after each round, of those with `words` in their name."""
    modules = (proofs, likelihoods, safe_squares, missing_entries, machines, local_fits)
    chosen = [cases for module in modules for cases in module.cases() if words in cases.name]
    yield from in_rounds(chosen, full, ROUNDS[full])
