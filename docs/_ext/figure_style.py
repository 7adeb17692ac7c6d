"""One look for the figures of all examples."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

# Okabe and Ito: can be told apart by the colour-blind
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]


def apply(gallery_conf: Any, fname: Any) -> None:
    """Set the style before each example."""
    mpl.rcParams.update(
        {
            "figure.constrained_layout.use": True,
            "axes.prop_cycle": mpl.cycler(color=COLOURS),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
            "font.size": 11,
        }
    )
