"""A line of the table: the number of cases that were tried, and those that failed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

# Number of failed cases in a note, and characters of each.
SHOWN, LENGTH = 3, 120


@dataclass
class Line:
    """Cases of one kind."""

    name: str  # the promise
    tried: int = 0
    failed: dict[str, str] = field(default_factory=dict)  # reason of each case that failed, by case
    note: str = ""

    def count(self, case: str, problem: str) -> None:
        """Count one case; `problem` is empty if it held."""
        self.tried += 1
        if problem:
            self.failed[case] = re.sub(r"\S*(site-packages|tests/trust)/", "", problem)  # no paths of one machine

    def row(self) -> dict[str, Any]:
        """Return the line as a row of the table."""
        shown = [" ".join(f"{case}: {problem}".split())[:LENGTH] for case, problem in list(self.failed.items())[:SHOWN]]
        more = [f"and {len(self.failed) - SHOWN} more"] if len(self.failed) > SHOWN else []
        note = "; ".join([*([self.note] if self.note else []), *shown, *more])
        held = self.tried - len(self.failed)
        return {"name": self.name, "tried": self.tried, "held": held, "note": note, "failed": self.failed}
