"""One line for each method and setting: mean over data sets, and how often it agrees with what is published."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pucli.metrics import get_metric
from pucli.report.table import TableRow
from pucli.report.verdict import NOT_RUN


def summarise(rows: Sequence[TableRow]) -> list[dict[str, Any]]:
    """Return the summary in the order of the table.

    The means are over rows that have both figures where any is published, else over all obtained ones. Settings are
    put together where each has one data set only.
    """
    run = [row for row in rows if row.verdict != NOT_RUN]
    together = len({row.dataset for row in run}) <= 1
    groups: dict[tuple[str, str, str], list[TableRow]] = {}
    for row in run:
        groups.setdefault((row.metric, "" if together else row.setting, row.label), []).append(row)
    found = []
    for (metric, setting, label), members in groups.items():
        published = [row for row in members if not math.isnan(row.published_mean)]
        both = [row for row in published if not math.isnan(row.obtained_mean)]
        obtained = [row.obtained_mean for row in (both if published else members) if not math.isnan(row.obtained_mean)]
        found.append(
            {
                "label": label,
                "setting": setting,
                "metric": metric,
                "metric_text": f"{get_metric(metric).heading}, {len(obtained)} rows",
                "rows": len(obtained),
                "published_mean": statistics.fmean(row.published_mean for row in both) if both else math.nan,
                "obtained_mean": statistics.fmean(obtained) if obtained else math.nan,
                "verdicts": dict(Counter(row.verdict.partition(":")[0] for row in members if row.verdict)),
                "flagged": sum(row.flagged for row in members),
            }
        )
    return found
