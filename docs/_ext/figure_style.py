"""One look for the figures of all examples, that of the reports."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

from pucli.report.figures.style import PALETTE, STYLE


def apply(gallery_conf: Any, fname: Any) -> None:
    """Set the style before each example."""
    mpl.rcParams.update({**STYLE, "axes.prop_cycle": mpl.cycler(color=PALETTE), "font.size": 11})
