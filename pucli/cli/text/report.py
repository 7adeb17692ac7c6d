"""A report on the terminal: the table, the verdicts and the paths of the files."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from pucli.cli.output import Output
from pucli.cli.terminal import many, plus_minus

if TYPE_CHECKING:
    from pucli.report import Report, TableRow


def print_report(out: Output, report: Report) -> None:
    """Print `report`: published beside obtained, difference in its standard errors, verdict."""
    from pucli.report.tables.summary import flags_in_words
    from pucli.report.tables.verdict import STYLES, in_words

    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in report.verdicts.items())
    counts = report.cells
    cells = f"{counts['done']:,} of {counts['total']:,} done"
    cells += f", {counts['failed']:,} failed" if counts["failed"] else ""
    cells += f", {counts['missing']:,} not run yet" if counts["missing"] else ""
    repeats = {(row.repeats, row.expected_repeats) for row in report.rows}
    if len(repeats) == 1 and (number_of := max(repeats)[0]):
        cells += f", {many(number_of, 'repeat')} of each"
    out.fields(
        [
            ("verdicts", verdicts or "none: no figure of this table was published"),
            ("table", f"{report.title} ({report.source})" if report.source else report.title),
            ("profile", report.profile + (f": {'; '.join(report.reductions)}" if report.reductions else "")),
            ("runs", cells),
        ]
    )
    out.text()
    columns = ["data set", "condition", "method", "metric", "published", "obtained", "puf", "repeats", "diff/se"]
    columns.append("verdict" if report.verdicts else "flags")
    rows = [
        [
            row.dataset,
            row.setting,
            row.column,
            row.metric,
            plus_minus(row.published_mean, row.published_sd),
            plus_minus(row.obtained_mean, row.obtained_sd),
            plus_minus(row.puf_mean, row.puf_sd),
            f"{row.repeats}/{row.expected_repeats}" if row.expected_repeats and len(repeats) > 1 else "",
            _signed(row.difference_in_errors),
            (in_words(row.verdict) + _signs(row)).strip(),
        ]
        for row in report.rows
    ]
    kept = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    _print_rows(out, [columns[i] for i in kept], [[row[i] for i in kept] for row in rows])
    if report.verdicts:
        said = {verdict: STYLES[verdict].meaning for verdict in report.verdicts if STYLES[verdict].meaning}
        out.fields([("diff/se", "obtained minus published, in standard errors"), *said.items()])
        out.text()
    files = ", ".join(str(path.relative_to(report.folder)) for path in report.files)
    out.fields(
        [
            ("flagged", flags_in_words(report.flags, advice=True) if report.flags else None),
            ("written", f"{report.folder}: {files}" if files else None),
        ]
    )
    if report.kept:
        out.remark(f"kept from the run, because cells.csv.gz lacks the data to redo them: {', '.join(report.kept)}")
    for error in report.errors[:5]:
        out.warn(f"failed: {error}")
    if len(report.errors) > 5:
        out.warn(f"{many(len(report.errors) - 5, 'more run')} failed; cells.csv.gz has all errors.")


def _print_rows(out: Output, columns: list[str], rows: list[list[str]]) -> None:
    """Print the rows; on a narrow screen, in blocks headed by the values that their rows share."""
    from pucli.report.tables.verdict import STYLES

    styles = {verdict: look.style for verdict, look in STYLES.items()}
    if out.fits(columns, rows):
        out.table(columns, rows, styles=styles, whole="method")
        out.text()
        return
    shared = [i for i, name in enumerate(columns) if name in ("data set", "condition", "metric")]
    others = [i for i in range(len(columns)) if i not in shared]
    for heading, block in itertools.groupby(rows, key=lambda row: [row[i] for i in shared]):
        out.text(", ".join(part for part in heading if part))
        out.table(
            [columns[i] for i in others], [[row[i] for i in others] for row in block], styles=styles, whole="method"
        )
        out.text()


def _signed(difference: float) -> str:
    if math.isnan(difference):
        return ""
    return f"{round(difference, 1) + 0.0:+.{0 if abs(difference) >= 100 else 1}f}"  # + 0.0: no "-0.0"


def _signs(row: TableRow) -> str:
    marks = [f"{row.failed} failed"] * bool(row.failed) + [f"{row.flagged} flagged"] * bool(row.flagged)
    return f" [{', '.join(marks)}]" if marks else ""
