"""Style of all figures: sizes, colors for the color-blind, bands of spread, labels at lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from pucli.core.arrays import Floats
from pucli.methods import all_methods
from pucli.methods.entry import COLORS
from pucli.runner.experiment import base_name, variant_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# inches across two columns of a page, and across one
WIDE, NARROW = 7.2, 4.6
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, WINE, GREY = (
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#882255", "#595959",
)  # fmt: skip
# Okabe and Ito, and two of Tol, by the names that a declaration of a method uses
SHADES = dict(zip(COLORS, (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, WINE, GREY), strict=True))
PALETTE = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY, WINE, GREY)
POSITIVE, NEGATIVE, FAINT = RED, BLUE, "#c9ccd1"
# of columns that are not named as their method: roles, solvers, starts
NOT_METHODS = {
    "supervised": "#000000", "oracle": GREY, "init": GREY, "qp": ORANGE, "svr": GREEN, "k-means": RED, "cougan": GREEN,
}  # fmt: skip
MARKERS, DASHES = ("o", "s", "^", "D", "v", "X", "P", "*"), ("-", "--", ":", "-.")

STYLE: dict[str, Any] = {
    "font.size": 9, "axes.titlesize": 9, "axes.labelsize": 9, "figure.titlesize": 9, "xtick.labelsize": 8,
    "ytick.labelsize": 8, "legend.fontsize": 8, "legend.title_fontsize": 8, "axes.titlelocation": "left",
    "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.7, "axes.axisbelow": True,
    "axes.grid": True, "grid.color": "#d9dce1", "grid.linewidth": 0.5, "lines.linewidth": 1.4, "lines.markersize": 4,
    "image.cmap": "cividis", "savefig.dpi": 150, "figure.constrained_layout.use": True,
    # letters stay letters, which makes small files; identifiers that do not change
    "svg.fonttype": "none", "svg.hashsalt": "pucli",
}  # fmt: skip


@contextmanager
def look() -> Iterator[None]:
    """Draw in this style, whatever the user's settings."""
    import matplotlib.style
    from cycler import cycler

    with matplotlib.style.context(["default", {**STYLE, "axes.prop_cycle": cycler(color=PALETTE)}]):
        yield


def drawing(width: float, height: float, *grid: int, **how: Any) -> tuple[Figure, Any]:
    """Return a new figure and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.subplots(*grid, squeeze=not grid, **how)


def color(column: str) -> str:
    """Return the color of a method as it declares it, or else one derived from the name; the same in every figure.

    Examples
    --------
    >>> color("glpual/thesis") == color("glpual")
    True
    """
    name = re.sub(r"-[\d.]+$", "", base_name(column).lower())
    return _declared(name) or _declared(variant_name(column)) or PALETTE[crc32(name.encode()) % len(PALETTE)]


def _declared(name: str) -> str:
    """Return the color of the method with this name, or whose name has it as its first words ("ramp"), or ""."""
    methods = all_methods()
    longer = [other for other in methods if other.startswith(f"{name}-")] if name else []
    found = name if name in methods else longer[0] if len(longer) == 1 else ""
    return NOT_METHODS.get(name) or (SHADES.get(methods[found].color, "") if found else "")


def strokes(columns: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return how to draw the line of each column: color by method, dashes by variant, and a marker of its own."""
    of_method: dict[str, int] = {}
    found = {}
    for number, column in enumerate(columns):
        shade = color(column)
        variant = of_method.setdefault(shade, 0)
        of_method[shade] += 1
        found[column] = {
            "color": shade,
            "linestyle": DASHES[variant % len(DASHES)],
            "marker": MARKERS[number % len(MARKERS)],
        }
    return found


def band(
    ax: Axes, x: Sequence[float], repeats: Sequence[Sequence[float]], label: str, stroke: Mapping[str, Any]
) -> Any:
    """Draw the mean over repeats, with a band of two standard errors within the smallest and largest value."""
    mean, error = (np.array([of(v) for v in repeats]) for of in (np.mean, _two_standard_errors))
    low = np.maximum(mean - error, [min(v) for v in repeats])
    high = np.minimum(mean + error, [max(v) for v in repeats])
    ax.fill_between(x, low, high, color=stroke["color"], alpha=0.16, linewidth=0)
    return ax.plot(x, mean, label=label, **stroke)[0]


def _two_standard_errors(values: Sequence[float]) -> float:
    return 2.0 * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def spread_of(repeats: int) -> str:
    """Return the description of a line and its band.

    Examples
    --------
    >>> spread_of(3)
    'mean of 3 repeats, with two standard errors'
    """
    return "one repeat" if repeats == 1 else f"mean of {repeats} repeats, with two standard errors"


def end_labels(ax: Axes, height: float) -> None:
    """Write the name of each labeled line at its right end, moved apart where they would overlap.

    The axes, of about `height` inches, have all of their lines and limits.
    """
    from matplotlib.colors import to_rgb

    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_") and np.size(line.get_xdata())]
    share = 10.5 / 72 / height
    to_axes = ax.transData + ax.transAxes.inverted()
    ax.autoscale_view()
    ends = sorted(
        ((to_axes.transform(np.asarray(line.get_xydata())[-1])[1], line) for line in lines), key=lambda end: end[0]
    )
    places: list[float] = []
    for y, _ in ends:
        places.append(max(y, places[-1] + share) if places else y)
    down = max(0.0, (places[-1] if places else 0.0) - 1.0)
    for i in range(len(places) - 1, -1, -1):
        places[i] = min(places[i], (places[i + 1] - share) if i + 1 < len(places) else places[i] - down)
    for (_, line), y in zip(ends, places, strict=True):
        ink = tuple(0.68 * part for part in to_rgb(str(line.get_color())))  # dark enough to read on white
        ax.text(1.02, y, str(line.get_label()), color=ink, fontsize=8, va="center", transform=ax.transAxes)


def dots(ax: Axes, points: Floats, shade: str, diameter: float) -> None:
    """Draw many points as one path of short strokes with round ends, a quarter of the file that a scatter makes."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if len(points):
        ends = np.repeat(points, 2, axis=0)
        ends[1::2, 0] += 1e-6 * max(float(np.ptp(points)), 1e-6)  # a stroke without length has no ends
        codes = np.tile([Path.MOVETO, Path.LINETO], len(points))
        path = Path(ends, codes)
        path.should_simplify = False
        ax.add_patch(PathPatch(path, fill=False, edgecolor=shade, linewidth=diameter, capstyle="round", snap=False))
        ax.update_datalim(points)
        ax.autoscale_view()


def plain(axis: Axis) -> None:
    """Write the ticks of a logarithmic axis as plain numbers; between the powers only where there are few of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    def between(value: float, _: Any) -> str:
        low, high = axis.get_view_interval()
        few = high < 30 * low
        leading = value / 10 ** np.floor(np.log10(value))
        return f"{value:g}" if few and min(abs(leading - 2), abs(leading - 5)) < 1e-6 else ""

    axis.set_major_locator(LogLocator(numticks=7))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(FuncFormatter(between))


def ticks_at(axis: Axis, values: Sequence[float], apart: float = 0.08) -> None:
    """Put ticks at `values` of a logarithmic axis, each with its number if there is room for it."""
    logs = np.log(np.asarray(values, dtype=float))
    least = apart * (logs[-1] - logs[0])
    shown = [len(values) - 1]
    for i in range(len(values) - 2, -1, -1):
        if logs[shown[-1]] - logs[i] >= least:
            shown.append(i)
    from matplotlib.ticker import NullLocator

    axis.set_minor_locator(NullLocator())
    axis.set_ticks(list(values), [f"{value:g}" if i in shown else "" for i, value in enumerate(values)])
