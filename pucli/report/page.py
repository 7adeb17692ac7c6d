"""The report as one web page that needs no network: tables, figures drawn in, no scripts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pucli.report import Report

_TEMPLATE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ report.name }}: {{ report.title }}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; }
th { text-align: left; } td.n { text-align: right; font-variant-numeric: tabular-nums; }
.reproduced { color: #186a3b; } .better { color: #1a5276; } .worse, .not { color: #922b21; }
figure { margin: 1.5rem 0; } svg { max-width: 100%; height: auto; }
</style></head><body>
<h1>{{ report.name }}: {{ report.title }}</h1>
<p>{{ report.source }}. Profile <b>{{ report.profile }}</b>:
{{ report.reductions | join("; ") or "the whole experiment" }}. {{ report.counts.done }} of {{ report.counts.total }}
cells are done{% if report.counts.failed %}, {{ report.counts.failed }} failed{% endif %}
{%- if report.counts.missing %}, {{ report.counts.missing }} have not run yet{% endif %}.
{% for flag, n in report.flags.items() %}{{ n }} {{ flag }}{{ ", " if not loop.last else "." }}{% endfor %}</p>
<table><thead><tr><th>Data set</th><th>Setting</th><th>Method</th><th>Metric</th><th>Published</th><th>Obtained</th>
<th>Repeats</th><th>Difference (sd)</th><th>Verdict</th><th>Note</th></tr></thead><tbody>
{% for row in rows %}<tr><td>{{ row.dataset }}</td><td>{{ row.setting }}</td><td>{{ row.label }}</td>
<td>{{ row.metric }}</td><td class="n">{{ pm(row.published_mean, row.published_sd) }}</td>
<td class="n">{{ pm(row.obtained_mean, row.obtained_sd) }}</td>
<td class="n">{{ row.repeats }}
{%- if row.repeats != row.expected_repeats %} of {{ row.expected_repeats }}{% endif %}</td>
<td class="n">{{ number(row.difference_in_sd) }}</td>
<td class="{{ row.verdict.split(' ')[0] }}">{{ row.verdict }}</td><td>{{ row.note }}</td></tr>
{% endfor %}</tbody></table>
{% for ranking in report.rankings %}<h2>Ranks over {{ ranking.n }} {{ ranking.blocks }} {{ ranking.setting }}</h2>
<table><thead><tr><th>Method</th><th>Average rank</th></tr></thead><tbody>
{% for i in range(ranking.labels | length) %}<tr><td>{{ ranking.labels[i] }}</td>
<td class="n">{{ "%.2f" | format(ranking.ranks[i]) }}</td></tr>{% endfor %}</tbody></table>{% endfor %}
{% for title, drawing in drawings %}<figure>{{ drawing | safe }}
<figcaption>{{ title }}</figcaption></figure>{% endfor %}
</body></html>
"""


def page(report: Report) -> str:
    """Return table.html."""
    from jinja2 import Environment

    template = Environment(autoescape=True, trim_blocks=True).from_string(_TEMPLATE)
    drawings = []
    for path, title in report.figures:
        svg = (report.folder / path).with_suffix(".svg").read_text(encoding="utf-8")
        drawings.append((title, svg[svg.index("<svg") :]))
    rows = [row for row in report.rows if row.verdict != "not run"]
    return template.render(report=report, rows=rows, drawings=drawings, pm=_pm, number=_number) + "\n"


def _pm(mean: float, sd: float) -> str:
    if math.isnan(mean):
        return ""
    return f"{mean:.2f}" if math.isnan(sd) else f"{mean:.2f} ± {sd:.2f}"


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:+.1f}"
