"""Shared by the GLPUAL family: valid pairs of form and kernel, and defaults of the printed updates."""

from __future__ import annotations

# Default number of updates of the printed kernel forms, and their default penalty.
THESIS_ITERATIONS = 150
THESIS_MU = 0.01


def check_form(form: str, kernel: str) -> None:
    """Raise ValueError for the thesis form with a linear kernel."""
    if form == "thesis" and kernel == "linear":
        raise ValueError("form='thesis' is a kernel form: set kernel='rbf', or form='rkhs' for the linear model.")
