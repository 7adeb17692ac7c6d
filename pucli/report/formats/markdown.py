"""The table as Markdown that is readable in a terminal and on the web."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

from pucli.core.inert_text import inert_text
from pucli.metrics import MethodRanking, get_metric
from pucli.report.model import Report
from pucli.report.tables.causes import CAUSES
from pucli.report.tables.comparisons import Comparison, by_pair
from pucli.report.tables.controls import OTHER_DATASET, OTHER_METHOD, OTHER_SETTING, PLAIN, Control, of_all_looks
from pucli.report.tables.summary import flags_in_words
from pucli.report.tables.table import LINES, TableRow, blocks
from pucli.report.tables.verdict import (
    AS_OFTEN,
    BY_VARIANT,
    COMPARED,
    NOT_JUDGED,
    NOT_REPRODUCED,
    NOT_RUN,
    VERDICTS,
    in_words,
)

# where Markdown takes the rest of a name for a tag, which is not shown
_TAG = re.compile("<(?=[A-Za-z/!?])")
# signs of Markdown; between letters an underscore is none, and what stands before a bar is left to `grid`
_SIGNS = re.compile(r"[*`\[\]]|(?<![^\W_])_|_(?![^\W_])|\\(?!\\*\|)")


def markdown(report: Report) -> str:
    """Return table.md."""
    parts = [
        *_head(report),
        *_summary(report),
        *_controls(report),
        *_cells(report),
        *_differences(report),
        *_ranks(report),
    ]
    notes = [("notes.md", "Notes: reasons and readings")] if (report.folder / "notes.md").is_file() else []
    if texts := [*notes, *report.texts]:
        parts += ["## More", "\n".join(f"- [{literal(title)}]({path})" for path, title in texts)]
    if report.figures:
        parts += ["## Figures", *(f"![{literal(title)}]({path})" for path, title in report.figures)]
    parts += _how_to_read(report)
    return _TAG.sub(r"\\<", "\n\n".join(parts)) + "\n"


_LEGEND = """\
Means and sample standard deviations over repeats. *Difference* is the obtained minus the published mean, in standard
errors sqrt(s_o^2/n_o + s_p^2/n_p) of the difference (half a unit of the last printed digit is allowed beyond two);
*interval* is its 90 % confidence interval, in the unit of the table.

- **reproduced**: the difference is within two standard errors, and its interval lies within the margin ({margins}).
- **reproduced by a variant**: this variant of the method does not agree, but the named one does.
- **inconclusive**: within two standard errors, but the interval is too wide to tell.
- **better**, **worse**: beyond two standard errors.
- **degenerate**: at least half of the models predict one class only; such figures reproduce nothing.
- **not reproduced**: no repeat gave a value, or the metric has no better side.
{few}
Flags count finished runs: *edge of the grid* (a chosen parameter lies at or beyond the end of its grid), *not
converged*, *one class predicted* (on the test rows). p: Wilcoxon signed-rank test over repeats; in brackets, adjusted
for the number of rows in which the pair is tested (Benjamini-Hochberg). The repeats share the rows of a data set, which
makes p somewhat too small."""


def _how_to_read(report: Report) -> list[str]:
    margins = []
    for name in dict.fromkeys(row.metric for row in report.rows if not math.isnan(row.published_mean)):
        metric = get_metric(name)
        size = f"{100 * metric.margin:g} % of the published figure" if metric.relative else f"{metric.margin:g}"
        margins.append(f"{name}: {size}{' points' if metric.unit == '%' and not metric.relative else ''}")
    few = "- **not judged**: fewer than three repeats.\n" if NOT_JUDGED in report.verdicts else ""
    if AS_OFTEN in report.verdicts:
        few += (
            f"- **{AS_OFTEN}**: the named variant or protocol agrees, but the method does not agree more often with\n"
        )
        few += "  its own print than with every other (Controls).\n"
    if COMPARED in report.verdicts:
        few += f"- **{COMPARED}**: the published figure is that of another method; how this one compares with it.\n"
    if any(not math.isnan(row.puf_mean) for row in report.rows):
        few += (
            "- *PUF*: squared recall over the share predicted positive, of the predictions whose F1 stands beside it.\n"
        )
    text = _LEGEND.format(margins=", ".join(margins) or "nothing is published in figures", few=few)
    causes = [f"- *{cause}*: {CAUSES[cause]}." for cause in CAUSES if cause in report.causes]
    return ["## How to read this", text, *(["Causes:\n\n" + "\n".join(causes)] if causes else [])]


def _head(report: Report) -> list[str]:
    lines = [f"# {literal(report.experiment)}: {literal(report.title)}"]
    if report.source:
        lines.append(f"Source: {report.source}.")
    lines.append(f"**Profile `{report.profile}`**: {report.extent}.")
    c = report.cells
    state = f"{c['done']} of {c['total']} runs are done"
    if c["failed"]:
        state += f", {c['failed']} failed"
    if c["missing"]:
        state += f", **{c['missing']} have not run yet: this table is partial**"
    if report.flags:
        state += f". Flagged: {flags_in_words(report.flags)}"
    lines.append(state + ".")
    if report.verdicts:
        lines.append(f"Verdicts: {', '.join(f'{n} {verdict}' for verdict, n in report.verdicts.items())}.")
    if report.causes:
        lines.append(f"Causes of disagreement: {', '.join(f'{n} {cause}' for cause, n in report.causes.items())}.")
    lines += [f"{remark[0].upper()}{remark[1:]}" for remark in report.remarks]
    if report.errors:
        errors = [f"- {error}" for error in report.errors[:10]]
        if len(report.errors) > 10:
            errors.append(f"- and {len(report.errors) - 10} more, see `cells.csv.gz`")
        lines += ["Failed runs:", "\n".join(errors)]
    return lines


def _summary(report: Report) -> list[str]:
    shown = [verdict for verdict in VERDICTS if verdict != NOT_RUN]
    rows = [
        [
            literal(line.column),
            literal(line.setting) or "all",
            line.heading,
            with_sd(line.published_mean, math.nan, line.metric),
            with_sd(line.obtained_mean, math.nan, line.metric),
            *(str(line.verdicts.get(name) or "") for name in shown),
            str(line.flagged or ""),
        ]
        for line in report.summary
    ]
    short = [
        {
            BY_VARIANT: "by a variant",
            AS_OFTEN: "as often with another",
            NOT_REPRODUCED: "not reprod.",
            COMPARED: "compared",
        }.get(v, v)
        for v in shown
    ]
    header = ["Method", "Setting", "Mean of", "Published", "Obtained", *short, "flagged runs"]
    both = " that have both a published and an obtained figure" if report.published else ""
    note = f"Means over the rows of the table{both}."
    return ["## Summary", note, grid(header, rows, "lll" + "r" * (len(header) - 3))] if rows else []


_CONTROLS = """\
Figures that our fits reproduce: of their own print, and of prints that are not theirs, at the same places (mean over
several settings or data sets). A figure counts if any of the looks, which are the columns of the method here and under
other protocols, reproduces it. p: that the own print is not ahead, by permutation over data sets, the largest of all
other prints. A plain SVC has one look, beside one of the method."""


def _controls(report: Report) -> list[str]:
    lines = control_lines(report.controls)
    if not lines:
        return []
    return ["## Controls", _CONTROLS, grid([*CONTROL_HEADINGS, "p"], [line[:-1] for line in lines], "llrrrrrlrr")]


CONTROL_HEADINGS = [
    "Method", "Metric", "Looks", "Figures", "Own print", "Other data set", "Other setting", "Other method",
    "Plain SVC, one look",
]  # fmt: skip


def control_lines(controls: Sequence[Control]) -> list[list[str]]:
    """Return a line of counts per table, metric and method: p and the adjusted p last."""
    lines = []
    for family, own in of_all_looks(controls).items():
        first = max(own, key=lambda one: one.figures)
        if not any(one.own or one.other for one in own):
            continue
        counts = [literal(first.method), first.metric, str(first.looks), str(first.figures), f"{first.own:.3g}"]
        for kind in (OTHER_DATASET, OTHER_SETTING, OTHER_METHOD):
            of_kind = [one for one in own if one.kind == kind]
            most = max(of_kind, key=lambda one: one.other, default=None)
            name = f" ({literal(most.print)})" if most and most.print and most.other else ""
            counts.append(f"{most.other:.2g}{name}" if most else "")
        plain = [one for one in controls if one.family == family and one.kind == PLAIN][:1]
        counts += [f"{one.other:.3g} ({one.own:.3g})" for one in plain] or [""]
        lines.append([*counts, f"{max(one.p for one in own):.2f}", f"{first.adjusted:.2f}"])
    return lines


def _cells(report: Report) -> list[str]:
    parts = ["## Table"]
    shown = [row for row in report.rows if row.verdict != NOT_RUN]
    hidden = len(report.rows) - len(shown)
    for unit, place, line, rows in blocks(shown):
        parts += [f"### {unit}{', ' + literal(place) if place else ''}", _table(rows, line)]
    if not shown:
        parts.append("No run is finished yet.")
    if hidden:
        parts.append(f"{hidden} rows without finished runs are left out here; `table.csv` has them.")
    return parts


def _table(rows: Sequence[TableRow], block: str) -> str:
    """Return a table whose first column, the data set or the setting, is printed once per block of methods."""
    lines, last = [], ""
    for row in rows:
        part = row.repeats != row.expected_repeats
        name = getattr(row, block)
        lines.append(
            [
                literal(name) if name != last else "",
                literal(row.column),
                with_sd(row.published_mean, row.published_sd, row.metric),
                with_sd(row.obtained_mean, row.obtained_sd, row.metric),
                with_sd(row.puf_mean, row.puf_sd, "puf"),
                f"{row.repeats} of {row.expected_repeats}" if part else str(row.repeats),
                "" if math.isnan(row.difference_in_errors) else f"{row.difference_in_errors:+.1f}",
                _interval(row),
                in_words(row.verdict),
                row.cause,
                row.note,
            ]
        )
        last = name
    figures = ["Published", "Obtained", "PUF", "Repeats", "Difference (standard errors)", "Interval"]
    return grid([LINES[block], "Method", *figures, "Verdict", "Cause", "Note"], lines, "llrrrrrrlll")


def _differences(report: Report) -> list[str]:
    if not report.comparisons:
        return []
    parts = ["## Differences between methods"]
    for pair in by_pair(report.comparisons):
        of_pair = pair.rows
        settings = list(dict.fromkeys(c.setting for c in of_pair))
        several = len(dict.fromkeys(c.dataset for c in of_pair)) > 1
        rows = []
        for dataset in dict.fromkeys(c.dataset for c in of_pair):
            row = [literal(dataset)]
            for setting in settings:
                row += next((_test(c) for c in of_pair if (c.dataset, c.setting) == (dataset, setting)), ["", ""])
            rows.append(row)
        parts.append(f"### {literal(pair.a)} minus {literal(pair.b)}")
        parts.append(f"{pair.words[0].upper()}{pair.words[1:]}.")
        if several:
            header = ["Data set"]
            for setting in settings:
                header += [f"mean {literal(setting)}".strip(), "p"]
            parts.append(grid(header, rows, "l" + "rl" * len(settings)))
        else:
            lines = [[literal(c.setting or c.dataset), *_test(c)] for c in of_pair]
            parts.append(grid(["Setting", "mean", "p"], lines, "lrl"))
    return parts


def _test(c: Comparison) -> list[str]:
    return [f"{c.mean_difference:+.{get_metric(c.metric).digits}f}", f"{c.p:.3f} ({c.p_adjusted:.3f})"]


def _ranks(report: Report) -> list[str]:
    parts = []
    for ranking in report.rankings:
        where = f", {literal(ranking.setting)}" if ranking.setting else ""
        parts.append(f"### Ranks over {ranking.n} {ranking.blocks}{where}")
        parts.append(_ranking_text(ranking))
        digits = get_metric(ranking.metric).digits
        rows = [[literal(name), f"{rank:.2f}", f"{mean:.{digits}f}"] for name, rank, mean in ranking.best_first]
        parts.append(grid(["Method", "average rank", f"mean {ranking.metric}"], rows, "lrr"))
    return ["## Ranks", *parts] if parts else []


def _ranking_text(ranking: MethodRanking) -> str:
    text = f"{ranking.test} test of equal performance: p = {ranking.p:.3g}."
    if len(ranking.columns) > 2:
        text += (
            f" Nemenyi test at the {ranking.alpha:.0%} level: average ranks differ if they are more than "
            f"{ranking.critical_difference:.2f} apart."
        )
    return text


def literal(name: str) -> str:
    r"""Return a name in one line, as Markdown shows it.

    Examples
    --------
    >>> print(literal("a_b *and* _c [d]"))
    a_b \*and\* \_c \[d\]
    """
    return _SIGNS.sub(r"\\\g<0>", inert_text(" ".join(name.split())))


def grid(header: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> str:
    """Return a Markdown table with padded columns, without columns that are empty in every row."""
    keep = [i for i in range(len(header)) if any(row[i] for row in rows)]
    table = [[_escape(line[i]) for i in keep] for line in [list(header), *rows]]
    widths = [max(3, *(_width(line[j]) for line in table)) for j in range(len(keep))]
    lines = [_line(line, widths, [align[i] for i in keep]) for line in table]
    rule = ["-" * (w - 1) + ":" if align[i] == "r" else "-" * w for i, w in zip(keep, widths, strict=True)]
    return "\n".join([lines[0], "| " + " | ".join(rule) + " |", *lines[1:]])


def _line(cells: Sequence[str], widths: Sequence[int], align: Sequence[str]) -> str:
    padded = []
    for cell, width, side in zip(cells, widths, align, strict=True):
        space = " " * (width - _width(cell))
        padded.append(space + cell if side == "r" else cell + space)
    return "| " + " | ".join(padded) + " |"


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _escape(text: str) -> str:
    # backslashes before a bar would escape the backslash that escapes it
    return re.sub(r"(\\*)\|", lambda found: f"{2 * found[1]}\\|", " ".join(text.split()))


def _interval(row: TableRow) -> str:
    if math.isnan(row.difference_low):
        return ""
    digits = get_metric(row.metric).digits
    return f"{row.difference_low:+.{digits}f} to {row.difference_high:+.{digits}f}"


def with_sd(mean: float, sd: float, metric: str) -> str:
    """Return a mean with its standard deviation in the digits of the metric; "" for NaN, the mean alone without sd."""
    if math.isnan(mean):
        return ""
    digits = get_metric(metric).digits
    return f"{mean:.{digits}f}" if math.isnan(sd) else f"{mean:.{digits}f} ± {sd:.{digits}f}"
