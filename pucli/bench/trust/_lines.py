"""A line of the table: how many cases were tried, and which of them did not hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# Cases that a note names, and characters of each.
SHOWN, LENGTH = 3, 120


@dataclass
class Line:
    """Cases of one kind.

    Parameters
    ----------
    name : what is promised.
    tried : number of cases.
    failed : case -> why it did not hold.
    note : what a reader should know besides.
    """

    name: str
    tried: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    note: str = ""

    def count(self, case: str, problem: str) -> None:
        """Count one case; `problem` is empty where it held."""
        self.tried += 1
        if problem:
            self.failed[case] = problem

    def row(self) -> dict[str, Any]:
        """Return the line as a row of the table."""
        shown = [f"{case}: {problem}"[:LENGTH] for case, problem in list(self.failed.items())[:SHOWN]]
        more = [f"and {len(self.failed) - SHOWN} more"] if len(self.failed) > SHOWN else []
        note = "; ".join([*([self.note] if self.note else []), *shown, *more])
        held = self.tried - len(self.failed)
        return {"name": self.name, "tried": self.tried, "held": held, "note": note, "failed": self.failed}
