"""Predictions on a terminal: a table with three digits. A file or a pipe gets CSV with all digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pucli.cli.output import Output

if TYPE_CHECKING:
    import pandas as pd

# Rows of a table; the next rows have heads and widths of their own.
ROWS = 500
ENDS = ["probability_low", "probability_high"]


def show_rows(out: Output, rows: pd.DataFrame) -> None:
    """Print predictions on a terminal, the ends of a probability beside it."""
    for start in range(0, max(1, len(rows)), ROWS):
        out.screen_table(*_readable(rows.iloc[start : start + ROWS]))


def _readable(rows: pd.DataFrame) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and cells of a table; an empty cell is ""."""
    shown = ((name, column) for name, column in rows.items() if name not in ENDS)
    columns = {str(name): column.astype(object).where(column.notna(), "").tolist() for name, column in shown}
    if "why" in columns:  # no line ends before or after the sign
        columns["why"] = [reasons.replace(" = ", "=") for reasons in columns["why"]]
    if "probability" in columns:
        columns["probability"] = [_hundredths(value) for value in rows["probability"]]
    if {"probability", *ENDS} <= set(rows.columns):
        ends = zip(*(map(_hundredths, rows[name]) for name in ENDS), strict=True)
        columns["probability"] = [
            f"{value} ({low} to {high})" if value else ""
            for value, (low, high) in zip(columns["probability"], ends, strict=True)
        ]
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


def _hundredths(value: float) -> str:
    return f"{value:.2f}" if value == value else ""
