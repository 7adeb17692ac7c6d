"""Small SVG drawings in the colors of the surrounding page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import numpy as np

from pucli.data.columns.cells import shortest
from pucli.data.columns.encoder import day

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 420, 240, 54, 36, 10
TICKS = 5
BAR, NAMES = 26, 130
# Width of a map by its height, and the shares of the rows with a lower score at which its color changes.
MAP_SHAPE = (WIDTH - LEFT - 12) / (HEIGHT - BOTTOM - TOP)
MAP_LEVELS = (0.5, 0.8, 0.95)
LONGEST_NAME = 18

Numbers = Sequence[float] | np.ndarray


class _Axes:
    """A plot with axes, either of which may be logarithmic: add lines, bands and bars, then take `svg`."""

    def __init__(
        self, x: tuple[float, float], y: tuple[float, float], x_label: str, y_label: str, log: str = ""
    ) -> None:
        self.x, self.y, self.log = x, y, log
        self.parts: list[str] = []
        self.labels = (x_label, y_label)
        self.x_ticks: Callable[[float, float], list[tuple[float, str]]] = powers if "x" in log else round_ticks
        self.y_ticks: Callable[[float, float], list[tuple[float, str]]] = powers if "y" in log else round_ticks

    def points(self, x: Numbers, y: Numbers) -> str:
        """Return the coordinates of points in the drawing."""

        def part(values: Numbers, ends: tuple[float, float], log: bool) -> np.ndarray:
            (low, high), found = ends, np.asarray(values, dtype=float)
            if log:
                low, high, found = np.log(low), np.log(high), np.log(np.clip(found, low, None))
            share: np.ndarray = (found - low) / max(high - low, 1e-12)
            return share

        across = LEFT + part(x, self.x, "x" in self.log) * (WIDTH - LEFT - 12)
        up = HEIGHT - BOTTOM - part(y, self.y, "y" in self.log) * (HEIGHT - BOTTOM - TOP)
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, up, strict=True))

    def line(self, x: Numbers, y: Numbers, kind: str) -> None:
        """Add a line through points (n,) in units of the axes; `kind` is its class in the style sheet of the page."""
        self.parts.append(f'<polyline class="{kind}" points="{self.points(x, y)}"/>')

    def area(self, x: np.ndarray, low: np.ndarray, high: np.ndarray, kind: str) -> None:
        """Add the area between two lines over the same abscissae, (n,) each."""
        around = self.points(np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]]))
        self.parts.append(f'<polygon class="{kind}" points="{around}"/>')

    def marks(self, x: Numbers) -> None:
        """Add short marks above the horizontal axis."""
        ends = (self.points([at], [self.y[0]]) for at in x)
        self.parts.append(f'<path class="known" d="{"".join(f"M{end}v-9" for end in ends)}"/>')

    def dots(self, x: Numbers, y: Numbers, kind: str) -> None:
        """Add dots at points (n,)."""
        if len(x):
            path = "".join(f"M{point}h0" for point in self.points(x, y).split())
            self.parts.append(f'<path class="dots {kind}" d="{path}"/>')

    def svg(self, title: str) -> str:
        """Return the drawing with its axes; `title` is the text for screen readers."""
        ticks = []
        for value, text in self.x_ticks(*self.x):
            a, b = (float(one) for one in self.points([value], [self.y[0]]).split(","))
            ticks.append(f'<path class="axis" d="M{a:.1f} {b:.1f}v4"/>')
            at = min(a, WIDTH - 3.1 * len(text))
            ticks.append(f'<text x="{at:.1f}" y="{b + 16:.1f}" text-anchor="middle">{escape(text)}</text>')
        for value, text in self.y_ticks(*self.y):
            a, b = (float(one) for one in self.points([self.x[0]], [value]).split(","))
            ticks.append(f'<text x="{a - 6:.1f}" y="{b + 4:.1f}" text-anchor="end">{text}</text>')
        corner = self.points([self.x[0], self.x[0], self.x[1]], [self.y[1], self.y[0], self.y[0]])
        middle = (HEIGHT - BOTTOM + TOP) / 2
        names = (
            f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 4}" text-anchor="middle">{escape(self.labels[0])}</text>'
            f'<text x="12" y="{middle}" text-anchor="middle" transform="rotate(-90 12 {middle})">'
            f"{escape(self.labels[1])}</text>"
        )
        return (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{escape(title)}</title>{"".join(self.parts)}'
            f'<polyline class="axis" points="{corner}"/>{"".join(ticks)}{names}</svg>'
        )


def round_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return at most `TICKS` + 1 multiples of 1, 2 or 5 times a power of ten between two ends, each with its text.

    Examples
    --------
    >>> [text for _, text in round_ticks(17.3, 68.1)]
    ['20', '30', '40', '50', '60']
    """
    span = max(high - low, 1e-12 * max(abs(low), 1.0))
    power = 10.0 ** np.floor(np.log10(span / TICKS))
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= span / (TICKS + 0.5))
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    unit, sign = (1e6, " M") if max(abs(low), abs(high)) >= 1e6 else (1.0, "")
    values = [float(f"{k * step:.10g}") for k in range(first, last + 1)]
    return [(value, f"{shortest(value / unit)}{sign if value else ''}") for value in values]


def powers(low: float, high: float) -> list[tuple[float, str]]:
    """Return the powers of ten between two positive ends, each with its text.

    Examples
    --------
    >>> [text for _, text in powers(0.05, 100.0)]
    ['0.1', '1', '10', '100']
    """
    first, last = int(np.ceil(np.log10(low) - 1e-9)), int(np.floor(np.log10(high) + 1e-9))
    step = -(-(last - first + 1) // (TICKS + 1)) or 1
    return [(10.0**k, shortest(10.0**k)) for k in range(first, last + 1, step)]


def date_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return the first days of years or months, or days, between two ends in days since 1970-01-01, with their text.

    Examples
    --------
    >>> [text for _, text in date_ticks(20_450.0, 20_640.0)]
    ['2026-01', '2026-03', '2026-05', '2026-07']
    """
    months = np.arange(np.datetime64(int(low), "D"), np.datetime64(int(high) + 32, "D")).astype("datetime64[M]")
    starts = np.unique(months)
    days = starts.astype("datetime64[D]").astype(np.int64)
    kept = (days >= low) & (days <= high)
    starts, days = starts[kept].astype(np.int64), days[kept]
    if len(days) < 3:
        return [(value, day(round(value))) for value, _ in round_ticks(low, high) if value == round(value)][:4]
    step = next((k for k in (1, 2, 3, 6, 12, 24, 60, 120, 240, 600) if len(days) / k <= 5), 1200)
    form = "%Y-%m" if step < 12 else "%Y"
    chosen = starts % step == 0
    return [(float(value), day(float(value), form)) for value in days[chosen]]


def bars(names: Sequence[str], values: Numbers, title: str) -> str:
    """Return an SVG with a horizontal bar for each name, up to the largest value."""
    longest = max(float(np.max(values)), 1e-12)
    parts = []
    for k, (name, value) in enumerate(zip(names, values, strict=True)):
        y, length = BAR * k + 4, (WIDTH - NAMES - 50) * float(value) / longest
        short = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."
        parts.append(
            f'<text x="{NAMES - 8}" y="{y + 13}" text-anchor="end">{escape(short)}</text>'
            f'<rect class="filled" x="{NAMES}" y="{y}" width="{length:.1f}" height="{BAR - 8}"/>'
            f'<text x="{NAMES + length + 6:.1f}" y="{y + 13}">{value:.2g}</text>'
        )
    height = BAR * len(names) + 4
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img"><title>{escape(title)}</title>{"".join(parts)}</svg>'


def gains(
    shares: np.ndarray,
    low: np.ndarray,
    middle: np.ndarray,
    high: np.ndarray,
    flagged: float,
    known: np.ndarray,
    *,
    log: bool,
) -> str:
    """Return an SVG of the share of the positives found in each share of the rows, with its 90% band.

    known : (p,), shares of the rows at which known positives, each held out, are found.
    """
    first = float(shares[1]) if log else 0.0
    label = "% of the rows looked at, top rows first" + (" (logarithmic)" if log else "")
    axes = _Axes((100 * first, 100.0), (0.0, 100.0), label, "% of positives found", "x" if log else "")
    start = int(log)
    axes.area(100 * shares[start:], 100 * low[start:], 100 * high[start:], "area p")
    random = np.geomspace(first, 1.0, 40) if log else np.array([0.0, 1.0])
    axes.line(100 * random, 100 * random, "chance")
    axes.line(100 * shares[start:], 100 * middle[start:], "strong")
    axes.line([100 * max(flagged, first)] * 2, [0.0, 100.0], "cut")
    axes.marks(100 * np.maximum(known, first))
    return axes.svg("Share of the positives found in each share of the rows, top rows first, with 90% band")


def odds_bounds(
    ratios: np.ndarray, inner: tuple[np.ndarray, np.ndarray], outer: tuple[np.ndarray, np.ndarray], called: float
) -> str:
    """Return an SVG of the recall against the odds ratio of labeling, with its bounds."""
    axes = _Axes((1.0, float(ratios[-1])), (0.0, 100.0), "times as readily labeled, at most", "% of positives found")
    axes.area(ratios, 100 * outer[0], 100 * outer[1], "area p")
    for bound in inner:
        axes.line(ratios, 100 * bound, "strong")
    axes.line([1.0, float(ratios[-1])], [100 * called] * 2, "chance")
    axes.line([2.0, 2.0], [0.0, 100.0], "cut")
    return axes.svg("Share of the positives found, if some were labeled more readily than others, with 90% band")


def histogram(labeled: np.ndarray, unlabeled: np.ndarray, threshold: float, *, log: bool) -> str:
    """Return an SVG of the histograms of the scores of labeled and unlabeled rows, each of area one."""
    both = np.concatenate([labeled, unlabeled])
    low, high = np.quantile(both, [0.002, 0.998])
    low, high = (low, high) if high > low else (low - 1.0, low + 1.0)
    edges = np.linspace(low, high, 31)
    heights = [np.histogram(np.clip(part, low, high), edges, density=True)[0] for part in (unlabeled, labeled)]
    most = float(max(h.max() for h in heights)) or 1.0
    least = min(float(h[h > 0].min()) for h in heights) / 2.0 if log else 0.0
    label = "density (logarithmic)" if log else "density"
    axes = _Axes((low, high), (least, most), "held-out score", label, "y" if log else "")
    for kind, height in zip(("u", "p"), heights, strict=True):
        steps = np.repeat(edges, 2)
        axes.area(steps, np.zeros(len(steps)), np.concatenate([[0.0], np.repeat(height, 2), [0.0]]), f"area {kind}")
    if low <= threshold <= high:
        axes.line([threshold, threshold], list(axes.y), "cut")
    return axes.svg("Held-out scores of labeled and unlabeled rows, with the threshold")


def precision_recall(recall: np.ndarray, low: np.ndarray, middle: np.ndarray, high: np.ndarray) -> str:
    """Return an SVG of the precision-recall curve with its 90% band."""
    axes = _Axes((0.0, 1.0), (0.0, 1.0), "recall", "precision")
    axes.area(recall, low, high, "area p")
    axes.line(recall, middle, "strong")
    return axes.svg("Estimated precision at each recall, with 90% band")


def dependence_line(values: np.ndarray, probabilities: np.ndarray, name: str, *, dates: bool = False) -> str:
    """Return an SVG of the partial dependence on one column."""
    low, high = float(values[0]), float(values[-1])
    top = round_ticks(0.0, 1.1 * max(float(probabilities.max()), 1e-6))
    highest = min(1.0, top[-1][0] + (top[1][0] - top[0][0]))
    axes = _Axes((low, high if high > low else low + 1.0), (0.0, highest), name, "mean probability")
    if dates:
        axes.x_ticks = date_ticks
    axes.line(values, probabilities, "strong")
    return axes.svg(f"Mean probability of a positive as {name} varies")


def score_map(x: np.ndarray, y: np.ndarray, order: np.ndarray, known: np.ndarray) -> str:
    """Return an SVG of places, colored by the rank of their score.

    x, y : (n,), longitudes and latitudes.
    order : (n,), share of the rows with a lower score.
    known : (n,), True for known positives.
    """
    ends = [(float(values.min()), float(values.max())) for values in (x, y)]
    middle = [(low + high) / 2 for low, high in ends]
    shrink = max(float(np.cos(np.radians(middle[1]))), 0.1)  # a degree of longitude in degrees of latitude
    half = max(ends[0][1] - ends[0][0], (ends[1][1] - ends[1][0]) * MAP_SHAPE / shrink, 1e-6) / 2
    across, up = (middle[0] - half, middle[0] + half), half * shrink / MAP_SHAPE
    axes = _Axes(across, (middle[1] - up, middle[1] + up), "longitude", "latitude")
    level = np.digitize(order, MAP_LEVELS)
    for k in range(len(MAP_LEVELS) + 1):
        chosen = (level == k) & ~known
        axes.dots(x[chosen], y[chosen], f"level{k}")
    axes.dots(x[known], y[known], "labeled")
    return axes.svg("Places of the rows, colored by the rank of their score")
