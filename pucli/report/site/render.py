"""Templates of figures, verdicts and ranks, and the page of an experiment."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import ascii_lowercase
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pucli.core.inert_text import inert_text
from pucli.core.version import __version__
from pucli.metrics import get_metric
from pucli.report.model import FIRST_TITLE, Report
from pucli.report.site.diagram import critical_difference
from pucli.report.tables.causes import CAUSES
from pucli.report.tables.comparisons import by_pair
from pucli.report.tables.summary import flags_in_words
from pucli.report.tables.table import LINES, TableRow, blocks
from pucli.report.tables.verdict import BY_VARIANT, COMPARED, NOT_RUN, REPRODUCED, STYLES, plain

# explains the verdicts
LEGEND = (
    "Means and sample standard deviations over repeats. The interval is the 90 % confidence interval of the "
    "obtained minus the published mean. = reproduced: within two standard errors, and the interval lies within the "
    "margin of the metric. ≈ by a variant: another variant of the method agrees. ~ as often with another: it does, but "
    "as often with figures that are not its own. ▲ better, ▼ worse: beyond two standard errors. "
    "? inconclusive: the interval is too wide to tell. ◌ degenerate: at least half of the models "
    "predict one class only. ≠ differs: no repeat gave a value, or the metric has no better side. · not judged: "
    "fewer than three repeats. ↔ compared: the published figure is that of another method. – not run."
)
# figures that are open at once; the others are folded, so that a page stays short
OPEN_FIGURES = 4
# Of more pairs of methods the page has the result in words, and comparisons.csv the rows.
MOST_PAIRS = 8
# A smaller p-value is given as less than this.
LEAST_P = 1e-4


@dataclass(frozen=True)
class Grid:
    """A table as in print, with one line per data set or setting and one column per method."""

    title: str
    first: str
    columns: list[str]
    lines: list[tuple[str, list[TableRow | None]]]


@functools.cache
def environment() -> Environment:
    """Return the templates with their filters."""
    made = Environment(
        loader=PackageLoader("pucli.report.site"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    filters: dict[str, Callable[..., Any]] = {
        "num": _number,
        "pm": lambda sd, metric: "" if math.isnan(sd) else f" ± {_number(sd, metric)}",
        "signed": lambda value, metric: f"{value:+.{get_metric(metric).digits}f}",
        "key": lambda value: "" if math.isnan(value) else f"{value:.6g}",
        "sign": lambda verdict: STYLES[plain(verdict)].sign,
        "short": lambda verdict: STYLES[plain(verdict)].short or plain(verdict),
        "css": lambda verdict: "by" if "variant" in verdict else plain(verdict).replace(",", "").replace(" ", "-"),
        "p_value": lambda p: f"p = {p:.2g}" if p >= LEAST_P else f"p < {LEAST_P:f}".rstrip("0"),
        "diagram": critical_difference,
        "answer": _answer,
        "flags": flags_in_words,
    }
    made.filters.update(filters)
    return made


def asset(name: str) -> str:
    """Return a file in the folder of the templates: style.css or script.js."""
    return (files("pucli.report.site") / "templates" / name).read_text(encoding="utf-8")


def render(template: str, *, root: str = "", standalone: bool = False, **values: Any) -> str:
    """Return a page."""
    shared = {"root": root, "standalone": standalone, "version": __version__}
    if standalone:
        shared |= {"style": asset("style.css"), "script": asset("script.js")}
    text = inert_text(environment().get_template(template).render(**shared, **values))
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"


def experiment_page(
    report: Report,
    *,
    figures: Sequence[Mapping[str, str]],
    downloads: Sequence[tuple[str, str]],
    texts: Sequence[tuple[str, str]],
    made: Sequence[tuple[str, str]],
) -> str:
    """Return the page of one experiment, which lies one folder below that of the site."""
    printed = [row for row in report.rows if row.verdict]
    return render(
        "experiment.html",
        root="../",
        report=report,
        printed=printed,
        grids=grids(report.rows),
        first=[figure for figure in figures if figure["title"] == FIRST_TITLE],
        rest=[figure for figure in figures if figure["title"] != FIRST_TITLE],
        open_figures=OPEN_FIGURES,
        most_pairs=MOST_PAIRS,
        pairs=by_pair(report.comparisons),
        choices=_choices(printed),
        with_puf=any(not math.isnan(row.puf_mean) for row in report.rows),
        downloads=downloads,
        texts=texts,
        made=made,
        legend=LEGEND,
        # letter and meaning of each cause of disagreement
        notes={cause: (a, CAUSES[cause]) for a, cause in zip(ascii_lowercase, report.causes, strict=False)},
    )


def grids(rows: Sequence[TableRow]) -> list[Grid]:
    """Return the tables as in print; rows that have not run and are not published are left out."""
    shown = [row for row in rows if row.verdict != NOT_RUN or not math.isnan(row.published_mean)]
    found = []
    for unit, place, line, own in blocks(shown):
        columns = list(dict.fromkeys(row.column for row in own))
        at = {(getattr(row, line), row.column): row for row in own}
        names = dict.fromkeys(getattr(row, line) for row in own)
        lines = [(name or "all", [at.get((name, column)) for column in columns]) for name in names]
        found.append(Grid(", ".join(filter(None, (unit, place))), LINES[line], columns, lines))
    return found


def _choices(rows: Sequence[TableRow]) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return the filters of the list of every figure: name, attribute of a row, and each value with its text."""
    sets = list(dict.fromkeys(row.dataset for row in rows))
    verdicts = list(dict.fromkeys(plain(row.verdict) for row in rows))
    filters = [
        ("by-verdict", "verdict", [(verdict, f"{STYLES[verdict].sign} {verdict}") for verdict in verdicts]),
        ("by-set", "set", [(name, name) for name in sets]),
    ]
    return [one for one in filters if len(one[2]) > 1]


def _number(value: float, metric: str = "") -> str:
    if isinstance(value, float) and math.isnan(value):
        return ""
    digits = get_metric(metric).digits if metric else 2
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def _answer(verdicts: Mapping[str, int]) -> str:
    """Describe how many of the published figures are reproduced."""
    judged = sum(number for verdict, number in verdicts.items() if verdict not in (COMPARED, NOT_RUN))
    if not judged and COMPARED in verdicts:
        return "Nothing to reproduce: every published figure here is that of another method, to compare with."
    agree = sum(verdicts.get(verdict, 0) for verdict in (REPRODUCED, BY_VARIANT))
    words = "Reproduced" if agree == judged else "Not reproduced" if not agree else "Reproduced in part"
    return f"{words}: {agree} of {judged} comparisons with a published figure agree." if judged else ""
