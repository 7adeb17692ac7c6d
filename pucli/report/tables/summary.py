"""Summary with one line per column and setting: mean over data sets and counts of verdicts."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pucli.core.json_values import OrNaN
from pucli.metrics import get_metric
from pucli.report.tables.published import IN_VIEW
from pucli.report.tables.table import TableRow
from pucli.report.tables.verdict import NOT_RUN, counted

# flag of a cell -> its description for one run and for several
FLAGS = {
    "edge of the grid": (
        "run with the best parameter on the edge of the grid",
        "runs with the best parameter on the edge of the grid",
    ),
    "not converged": ("run did not converge", "runs did not converge"),
    "one class predicted": ("run predicts one class only", "runs predict one class only"),
}
ADVICE = {"edge of the grid": " (widen the grid)"}


@dataclass(frozen=True)
class SummaryLine:
    """Means over `rows` rows of the table and counts of their verdicts; `setting` is "" for all settings together."""

    column: str
    setting: str
    metric: str
    rows: int
    published_mean: OrNaN
    obtained_mean: OrNaN
    verdicts: dict[str, int]
    flagged: int

    @property
    def heading(self) -> str:
        """Return the heading of the means."""
        metric = get_metric(self.metric)
        return f"{metric.heading}, {self.rows} row{'s' * (self.rows != 1)}" if metric.unit else metric.heading


def summarize(rows: Sequence[TableRow], in_view: Collection[str] = ()) -> list[SummaryLine]:
    """Return the summary in the order of the table, that of the data sets `in_view` apart.

    The means are over the rows with both figures if any is published, otherwise over all obtained figures. Settings are
    combined if each has only one data set.
    """
    run = [row for row in rows if row.verdict != NOT_RUN]
    together = len({(row.setting, row.dataset) for row in run}) == len({row.setting for row in run})
    groups: dict[tuple[str, str, str], list[TableRow]] = {}
    for row in run:
        parts = "" if together else row.setting, f"data {IN_VIEW}" if row.dataset in in_view else ""
        groups.setdefault((row.metric, ", ".join(filter(None, parts)), row.column), []).append(row)
    found = []
    for (metric, setting, column), members in groups.items():
        published = [row for row in members if not math.isnan(row.published_mean)]
        both = [row for row in published if not math.isnan(row.obtained_mean)]
        obtained = [row.obtained_mean for row in (both if published else members) if not math.isnan(row.obtained_mean)]
        found.append(
            SummaryLine(
                column=column,
                setting=setting,
                metric=metric,
                rows=len(obtained),
                published_mean=statistics.fmean(row.published_mean for row in both) if both else math.nan,
                obtained_mean=statistics.fmean(obtained) if obtained else math.nan,
                verdicts=counted(row.verdict for row in members),
                flagged=sum(row.flagged for row in members),
            )
        )
    return found


def flags_in_words(flags: Mapping[str, int], *, advice: bool = False) -> str:
    """Describe the numbers of finished cells by flag, with what to do about it if there is `advice`.

    Examples
    --------
    >>> flags_in_words({"edge of the grid": 1466, "not converged": 1})
    '1,466 runs with the best parameter on the edge of the grid, 1 run did not converge'
    """
    texts = [(count, flag, *FLAGS.get(flag, (flag, flag))) for flag, count in flags.items()]
    ways_out = ADVICE if advice else {}
    return ", ".join(
        f"{count:,} {one if count == 1 else many}{ways_out.get(flag, '')}" for count, flag, one, many in texts
    )
