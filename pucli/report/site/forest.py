"""Forest plot, as SVG, of the published and obtained means of each data set with their standard deviations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from pucli.report.table import TableRow

LABELS, PANEL, GAP, STEP, TOP, BOTTOM = 130.0, 190.0, 18.0, 17.0, 24.0, 26.0
OUTLINE = 'fill="none" stroke="currentColor"'
# panels side by side
ACROSS = 4


def forest(lines: Sequence[tuple[str, Sequence[TableRow | None]]], columns: Sequence[str]) -> str:
    """Return the plot, with one panel per column and one line per data set, or "" without published figures.

    Parameters
    ----------
    lines : sequence of (str, sequence of TableRow or None)
        Name of the data set or setting, and its table row for each column.
    columns : sequence of str
        Names of the columns.

    Returns
    -------
    str
        An SVG element. A ring is the published mean, and a dot, in the colour of the verdict, the obtained mean.
    """
    shown = [i for i in range(len(columns)) if any(_both(rows[i]) for _, rows in lines)]
    if not shown:
        return ""
    scale = _Scale([row for _, rows in lines for row in rows if row is not None and _both(row)])
    height = TOP + STEP * len(lines) + BOTTOM
    parts = []
    for place, i in enumerate(shown):
        left, top = LABELS + (place % ACROSS) * (PANEL + GAP), (place // ACROSS) * height
        parts.append(f'<text x="{left:.0f}" y="{top + 14:.0f}" font-weight="600">{escape(columns[i])}</text>')
        parts += scale.axis(left, top + TOP, STEP * len(lines))
        for number, (name, rows) in enumerate(lines):
            y = top + TOP + STEP * (number + 0.5)
            if place % ACROSS == 0:
                parts.append(f'<text x="{LABELS - 10:.0f}" y="{y + 4:.1f}" text-anchor="end">{escape(name)}</text>')
            row = rows[i]
            if row is not None and _both(row):
                parts += _pair(row, scale, left, y)
    width = LABELS + min(len(shown), ACROSS) * (PANEL + GAP)
    total = height * -(-len(shown) // ACROSS)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {total:.0f}" width="{width:.0f}" role="img" '
        f'font-size="12" fill="currentColor" class="forest"><title>Published (ring) and obtained (dot) means with '
        f"their standard deviations</title>{''.join(parts)}</svg>"
    )


class _Scale:
    """Map from values to horizontal positions in a panel."""

    def __init__(self, rows: Sequence[TableRow]) -> None:
        ends = [
            mean + side * (0.0 if math.isnan(sd) else sd)
            for row in rows
            for mean, sd in ((row.published_mean, row.published_sd), (row.obtained_mean, row.obtained_sd))
            for side in (-1, 1)
        ]
        low, high = min(ends), max(ends)
        if all(0 <= mean <= 100 for row in rows for mean in (row.published_mean, row.obtained_mean)) and high > 2:
            low, high = max(low, 0.0), min(high, 100.0)
        self.low, self.high = low, high if high > low else low + 1.0

    def x(self, value: float) -> float:
        """Return the position of a value, clipped to the panel."""
        share = (value - self.low) / (self.high - self.low)
        return PANEL * min(max(share, 0.0), 1.0)

    def axis(self, left: float, top: float, height: float) -> list[str]:
        """Return the axis of a panel with its limits."""
        y = top + height
        return [
            f'<path d="M{left:.1f} {top:.1f}V{y:.1f}H{left + PANEL:.1f}" {OUTLINE} opacity=".35"/>',
            f'<text x="{left:.1f}" y="{y + 15:.1f}" opacity=".7">{self.low:.4g}</text>',
            f'<text x="{left + PANEL:.1f}" y="{y + 15:.1f}" text-anchor="end" opacity=".7">{self.high:.4g}</text>',
        ]


def _both(row: TableRow | None) -> bool:
    return row is not None and math.isfinite(row.published_mean) and math.isfinite(row.obtained_mean)


def _pair(row: TableRow, scale: _Scale, left: float, y: float) -> list[str]:
    verdict = "by" if "variant" in row.verdict else row.verdict.partition(":")[0].replace(" ", "-")
    found = []
    for mean, sd, dy in ((row.published_mean, row.published_sd, -2.5), (row.obtained_mean, row.obtained_sd, 2.5)):
        spread = 0.0 if math.isnan(sd) else sd
        start, end, x = (left + scale.x(value) for value in (mean - spread, mean + spread, mean))
        found.append(f'<path d="M{start:.1f} {y + dy:.1f}H{end:.1f}" {OUTLINE}/>')
        found.append(f'<circle cx="{x:.1f}" cy="{y + dy:.1f}" r="3" {OUTLINE if dy < 0 else ""}/>')
    text = escape(f"{row.column}: published {row.published_mean:.2f}, obtained {row.obtained_mean:.2f}, {row.verdict}")
    return [
        f'<g opacity=".75">{found[0]}{found[1]}</g>',
        f'<g class="v-{verdict}" fill="currentColor"><title>{text}</title>{found[2]}{found[3]}</g>',
    ]
