"""A report on the terminal: the table, the verdicts and the paths of the files."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pucli.cli.output import Output

if TYPE_CHECKING:
    from pucli.report import Report, TableRow

STYLES = {
    "reproduced": "green",
    "reproduced by a variant": "green",
    "better": "cyan",
    "worse": "red",
    "inconclusive": "yellow",
    "degenerate": "yellow",
    "not reproduced": "yellow",
    "not run": "dim",
}
# flag of a cell -> its description for one cell and for several
FLAGS = {
    "edge of the grid": ("choice hit a grid limit (widen the grid)", "choices hit a grid limit (widen the grid)"),
    "not converged": ("cell did not converge", "cells did not converge"),
    "one class predicted": ("cell predicts one class only", "cells predict one class only"),
}


def flag_text(flags: Mapping[str, int]) -> str:
    """Describe the numbers of finished cells by flag.

    Examples
    --------
    >>> flag_text({"edge of the grid": 12, "not converged": 1})
    '12 choices hit a grid limit (widen the grid), 1 cell did not converge'
    """
    texts = ((count, *FLAGS.get(flag, (flag, flag))) for flag, count in flags.items())
    return ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in texts)


def print_report(out: Output, report: Report) -> None:
    """Print `report`: published beside obtained, difference in published standard deviations, verdict."""
    out.text(f"{report.title} ({report.source})" if report.source else report.title)
    out.text(f"profile {report.profile}" + (f": {'; '.join(report.reductions)}" if report.reductions else ""))
    out.text()
    columns = ["data set", "setting", "method", "metric", "published", "obtained", "repeats", "diff/sd", "verdict"]
    rows = [
        [
            row.dataset,
            row.setting,
            row.column,
            row.metric,
            _plus_minus(row.published_mean, row.published_sd),
            _plus_minus(row.obtained_mean, row.obtained_sd),
            f"{row.repeats}/{row.expected_repeats}" if row.expected_repeats else "",
            "" if math.isnan(row.difference_in_sd) else f"{row.difference_in_sd:+.1f}",
            row.verdict + _marks(row),
        ]
        for row in report.rows
    ]
    kept = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    _print_rows(out, [columns[i] for i in kept], [[row[i] for i in kept] for row in rows])
    out.text()
    verdicts = report.verdicts
    if verdicts:
        out.text("verdicts  " + ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))
    counts = report.counts
    out.text(
        f"cells     {counts['done']} of {counts['total']} done"
        + (f", {counts['failed']} failed" if counts["failed"] else "")
        + (f", {counts['missing']} not run yet" if counts["missing"] else "")
    )
    if report.flags:
        out.text(f"flagged   {flag_text(report.flags)}")
    out.text(f"files     {report.folder}: {', '.join(str(path.relative_to(report.folder)) for path in report.files)}")
    if report.kept:
        out.remark(f"kept from the run, because cells.csv.gz lacks the data to redo them: {', '.join(report.kept)}")
    for error in report.errors[:5]:
        out.warn(f"failed: {error}")
    if len(report.errors) > 5:
        out.warn(f"{len(report.errors) - 5} more cells failed; cells.csv.gz has all errors.")


def _print_rows(out: Output, columns: list[str], rows: list[list[str]]) -> None:
    """Print the rows; on a narrow screen, in blocks headed by the values that their rows share."""
    if out.fits(columns, rows):
        out.table(columns, rows, styles=STYLES, whole="method")
        return
    shared = [i for i, name in enumerate(columns) if name in ("data set", "setting", "metric")]
    others = [i for i in range(len(columns)) if i not in shared]
    for heading, block in itertools.groupby(rows, key=lambda row: [row[i] for i in shared]):
        out.text(", ".join(part for part in heading if part))
        out.table(
            [columns[i] for i in others], [[row[i] for i in others] for row in block], styles=STYLES, whole="method"
        )
        out.text()


def _plus_minus(mean: float, sd: float) -> str:
    if math.isnan(mean):
        return ""
    return f"{mean:.2f}" if math.isnan(sd) else f"{mean:.2f} ± {sd:.2f}"


def _marks(row: TableRow) -> str:
    """Return the marks printed beside a verdict."""
    marks = [f"{row.failed} failed"] * bool(row.failed) + [f"{row.flagged} flagged"] * bool(row.flagged)
    return f" [{', '.join(marks)}]" if marks else ""
