"""Critical-difference diagrams (Demsar 2006) as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from pucli.metrics import MethodRanking

WIDTH, MARGIN, TOP, STEP = 760.0, 215.0, 46.0, 20.0
# a bar joins methods whose ranks differ by less than the critical difference
BAR_STEP = 7.0


def critical_difference(ranking: MethodRanking) -> str:
    """Return a diagram (SVG) of average ranks, with bars over methods that do not differ significantly."""
    methods = [(f"{name} {rank:.2f}", rank) for name, rank, _ in ranking.best_first]
    k = len(methods)
    bars = joined([rank for _, rank in methods], ranking.critical_difference)
    half = -(-k // 2)
    below = TOP + 14 + BAR_STEP * len(bars)
    height = below + STEP * max(half, k - half) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}" role="img" '
        f'font-size="12" fill="currentColor" stroke="currentColor" stroke-width="0" width="{WIDTH:g}">',
        f"<title>Average ranks: {escape(', '.join(label for label, _ in methods))}</title>",
        _line(_x(1, k), TOP, _x(k, k), TOP, 1.2),
    ]
    for tick in range(1, k + 1):
        parts += [_line(_x(tick, k), TOP, _x(tick, k), TOP - 6, 1.2), _text(_x(tick, k), TOP - 10, str(tick), "middle")]
    if math.isfinite(ranking.critical_difference) and ranking.critical_difference < k - 1:
        end = _x(1 + ranking.critical_difference, k)
        parts += [
            _line(_x(1, k), 12, end, 12, 2.0),
            _text(end + 6, 16, f"CD {ranking.critical_difference:.2f}", "start"),
        ]
    for number, (first, last) in enumerate(bars):
        y = TOP + 8 + BAR_STEP * number
        parts.append(_line(_x(first, k) - 3, y, _x(last, k) + 3, y, 4.0))
    for place, (label, rank) in enumerate(methods):
        left = place < half
        y = below + STEP * ((place if left else k - 1 - place) + 1) - 6
        x = _x(rank, k)
        edge = MARGIN - 8 if left else WIDTH - MARGIN + 8
        parts += [
            f'<polyline points="{x:.1f},{TOP:g} {x:.1f},{y:.1f} {edge:.1f},{y:.1f}" fill="none" stroke-width="1"/>',
            _text(edge - 4 if left else edge + 4, y + 4, label, "end" if left else "start"),
        ]
    return "".join([*parts, "</svg>"])


def joined(ranks: Sequence[float], critical: float) -> list[tuple[float, float]]:
    """Return the first and last of each maximal group of sorted `ranks` within the critical difference."""
    found: list[tuple[float, float]] = []
    if not math.isfinite(critical):
        return found
    for first, low in enumerate(ranks):
        last = max(i for i, rank in enumerate(ranks) if rank - low < critical)
        if last > first and (not found or ranks[last] > found[-1][1]):
            found.append((low, ranks[last]))
    return found


def _x(rank: float, k: int) -> float:
    return MARGIN + (rank - 1) / max(k - 1, 1) * (WIDTH - 2 * MARGIN)


def _line(x1: float, y1: float, x2: float, y2: float, width: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{width:g}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
