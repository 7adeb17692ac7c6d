"""Small SVG drawings in the colours of the surrounding page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 420, 240, 46, 36, 10


class Axes:
    """A plot with axes: add lines, bands and bars, then take `svg`."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], x_label: str, y_label: str) -> None:
        self.x, self.y = x, y
        self.parts: list[str] = []
        self.labels = (x_label, y_label)

    def points(self, x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> str:
        """Return the coordinates of points in the drawing."""
        spans = [max(high - low, 1e-12) for low, high in (self.x, self.y)]
        across = LEFT + (np.asarray(x) - self.x[0]) / spans[0] * (WIDTH - LEFT - 8)
        up = HEIGHT - BOTTOM - (np.asarray(y) - self.y[0]) / spans[1] * (HEIGHT - BOTTOM - TOP)
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, up, strict=True))

    def line(self, x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray, kind: str) -> None:
        """Add a line.

        Parameters
        ----------
        x, y : array-like of shape (n,)
            Points, in the units of the axes.
        kind : str
            Class in the page's style sheet.
        """
        self.parts.append(f'<polyline class="{kind}" points="{self.points(x, y)}"/>')

    def area(self, x: np.ndarray, low: np.ndarray, high: np.ndarray, kind: str) -> None:
        """Add the area between two lines.

        Parameters
        ----------
        x : ndarray of shape (n,)
            Common abscissae of the lines, in the units of the axis.
        low, high : ndarray of shape (n,)
            Ordinates of the lower and of the upper line.
        kind : str
            Class in the page's style sheet.
        """
        around = self.points(np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]]))
        self.parts.append(f'<polygon class="{kind}" points="{around}"/>')

    def svg(self, title: str) -> str:
        """Return the drawing with its axes; `title` is the text for screen readers."""
        ticks = []
        for value, anchor in zip(np.linspace(*self.x, 5), ("middle",) * 4 + ("end",), strict=True):
            a, b = self.points([value], [self.y[0]]).split(",")
            at = float(a) + (8 if anchor == "end" else 0)  # the last one ends at the edge of the drawing
            text = _short(value, self.x[1] - self.x[0])
            ticks.append(f'<text x="{at:.1f}" y="{float(b) + 15:.1f}" text-anchor="{anchor}">{text}</text>')
        for value in np.linspace(*self.y, 5):
            a, b = self.points([self.x[0]], [value]).split(",")
            ticks.append(f'<text x="{float(a) - 5:.1f}" y="{float(b) + 4:.1f}" text-anchor="end">{value:.2g}</text>')
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


def _short(value: float, span: float) -> str:
    """Return a number with as many digits as tell five ticks over `span` apart."""
    if abs(value) >= 1e6 or span < 1e-4:
        return f"{value:.3g}"
    return f"{value:.{int(np.clip(2 - np.floor(np.log10(span)), 0, 6))}f}"


def histogram(labelled: np.ndarray, unlabeled: np.ndarray, cut: float) -> str:
    """Return an SVG of the histograms of the scores of labelled and unlabeled rows, each of area one.

    Parameters
    ----------
    labelled, unlabeled : ndarray of shape (p,) and (u,)
        Held-out scores; those beyond the 0.2 % and 99.8 % quantiles are counted in the last bins.
    cut : float
        Score above which rows are predicted positive; drawn if it is within the axis.
    """
    both = np.concatenate([labelled, unlabeled])
    low, high = np.quantile(both, [0.002, 0.998])
    low, high = (low, high) if high > low else (low - 1.0, low + 1.0)
    edges = np.linspace(low, high, 31)
    heights = [np.histogram(np.clip(part, low, high), edges, density=True)[0] for part in (unlabeled, labelled)]
    axes = Axes((low, high), (0.0, float(max(h.max() for h in heights)) or 1.0), "held-out score", "density")
    for kind, height in zip(("u", "p"), heights, strict=True):
        steps = np.repeat(edges, 2)
        axes.area(steps, np.zeros(len(steps)), np.concatenate([[0.0], np.repeat(height, 2), [0.0]]), f"area {kind}")
    if low <= cut <= high:
        axes.line([cut, cut], list(axes.y), "cut")
    return axes.svg("Held-out scores of labelled and unlabeled rows, with the cut")


def precision_recall(recall: np.ndarray, low: np.ndarray, middle: np.ndarray, high: np.ndarray) -> str:
    """Return an SVG of the precision-recall curve with its 90 % band.

    Parameters
    ----------
    recall : ndarray of shape (n,)
        Recall, from 0 to 1.
    low, middle, high : ndarray of shape (n,)
        Precision at each recall: lower end of the band, estimate, upper end.
    """
    axes = Axes((0.0, 1.0), (0.0, 1.0), "recall", "precision")
    axes.area(recall, low, high, "area p")
    axes.line(recall, middle, "strong")
    return axes.svg("Estimated precision at each recall, with 90 % band")


def dependence_line(values: np.ndarray, probabilities: np.ndarray, name: str) -> str:
    """Return an SVG of the partial dependence on one feature.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Ascending values of the feature.
    probabilities : ndarray of shape (n,)
        Mean probability of a positive at each value.
    name : str
        Name of the feature, for the axis.
    """
    low, high = float(values[0]), float(values[-1])
    axes = Axes((low, high if high > low else low + 1.0), (0.0, 1.0), name, "mean probability")
    axes.line(values, probabilities, "strong")
    return axes.svg(f"Mean probability of a positive as {name} varies")
