"""The texts of a report in each format."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pucli.core.json_values import json_values
from pucli.metrics import get_metric
from pucli.report.files import csv_text
from pucli.report.formats.markdown import markdown
from pucli.report.model import Report
from pucli.report.tables.table import TableRow

TABLE_COLUMNS = (
    "dataset", "setting", "method", "variant", "metric", "obtained_mean", "obtained_sd", "puf_mean", "puf_sd",
    "repeats", "published_mean", "published_sd", "difference_in_sd", "difference_in_errors", "difference_low",
    "difference_high", "verdict", "cause", "note",
)  # fmt: skip
COMPARISON_COLUMNS = (
    "dataset", "setting", "a", "b", "metric", "n", "mean_difference", "median_difference", "wins", "ties", "losses",
    "statistic", "p", "p_adjusted",
)  # fmt: skip


def rendered(report: Report) -> dict[str, str]:
    """Return the texts of the table in each format and of comparisons.csv, by file name."""
    from pucli.report.formats.latex import latex

    found = {"table.md": markdown(report), "table.csv": table_csv(report.rows), "table.tex": latex(report)}
    lines = [
        [json_values(getattr(comparison, name)) for name in COMPARISON_COLUMNS] for comparison in report.comparisons
    ]
    found["comparisons.csv"] = csv_text(COMPARISON_COLUMNS, lines)
    return found


def table_csv(rows: Sequence[TableRow]) -> str:
    """Return the text of table.csv, with one row per published or obtained figure; PUF is there if any row has it."""
    lines = [{**vars(row), "metric": get_metric(row.metric).heading} for row in rows]
    with_puf = any(not math.isnan(row.puf_mean) for row in rows)
    columns = [name for name in TABLE_COLUMNS if with_puf or not name.startswith("puf_")]
    return csv_text(columns, ([line[name] for name in columns] for line in lines))
