"""What the GLPUAL family shares: which forms go with which kernels, and what the printed updates take."""

from __future__ import annotations

# Updates of the printed kernel forms, and their penalty, where none is given.
THESIS_ITERATIONS = 150
THESIS_MU = 0.01


def check_form(form: str, kernel: str) -> None:
    """Raise ValueError for the thesis form with a linear kernel."""
    if form == "thesis" and kernel == "linear":
        raise ValueError("form='thesis' is a kernel form: set kernel='rbf', or form='rkhs' for the linear model.")
