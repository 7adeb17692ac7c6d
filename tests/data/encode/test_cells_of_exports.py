"""Cells as exports write them: amounts of millions, pairs, durations, weeks, stamps, errors, several values in one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from pucli.data.encode.columns import column_kinds
from pucli.data.encode.kinds.column import Column

N = 60
DRAWN = np.random.default_rng(0).integers(1, 1_000, N)


def described(write: Callable[[int], object], kinds: dict[str, str] | None = None) -> Column:
    return column_kinds(pd.DataFrame({"x": [write(int(number)) for number in DRAWN]}), kinds)[0]


@pytest.mark.parametrize(
    ("write", "unit"),
    [
        (lambda n: f"€{n / 10}M", "€M"),
        (lambda n: f"${n}K", "$K"),
        (lambda n: f"{n} Mio. €", "Mio€"),
        (lambda n: f"{n}.330,- €", "€"),
        (lambda n: f"CHF {n}.—", "CHF"),
    ],
)
def test_amounts_with_a_currency_are_numbers(write: Callable[[int], str], unit: str) -> None:
    column = described(write)
    assert (column.kind, column.unit, column.n_unread) == ("number", unit, 0)
    value = {"€M": DRAWN[0] / 10, "€": DRAWN[0] * 1000 + 330}.get(unit, DRAWN[0])
    assert f"is read as {value:g}" in column.warning


def test_thousands_beside_millions_are_not_one_unit() -> None:
    column = described(lambda n: f"€{n}K" if n % 2 else f"€{n}M")
    assert column.kind != "number"
    assert "€K and €M" in column.warning or "€M and €K" in column.warning
    assert "write them in one unit" in column.warning


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda n: f"{n}-{n + 7}", "ranges, or pairs of numbers"),
        (lambda n: f"{n % 40}+{n % 7}", "ranges, or pairs of numbers"),
        (lambda n: f"{n / 7:.1f} (0.{n % 9})", "several numbers"),
        (lambda n: f"{n} ({n / 10:.1f}%)", "several numbers"),
        (lambda n: f"0.{n} [0.{n % 9}-0.9]", "several numbers"),
        (lambda n: f"{n}Nm@ {n}rpm", "several numbers"),
        (lambda n: f"{n % 59}m{n % 31}s", "durations"),
        (lambda n: f"P{n % 9 + 1}Y{n % 11}M", "durations"),
        (lambda n: f"{n % 24}h{n % 60:02d}", "durations"),
        (lambda n: f"{n / 10:.1f}·10⁻³", "powers of ten"),
        (lambda n: f"{'NS'[n % 2]} {n / 10:.2f}", "write south and west as negative numbers"),
        (lambda n: f"{n / 10:.2f}{'EW'[n % 2]}", "write one of both as negative numbers"),
        (lambda n: f"{n}.25 {'CDRR'[n % 2 :: 2]}", "write one of both as negative numbers"),
    ],
)
def test_numbers_of_other_forms_are_said(write: Callable[[int], str], said: str) -> None:
    assert said in described(write).warning


@pytest.mark.parametrize(
    "write", [lambda n: f"{n % 9 * 5}-{n % 9 * 5 + 4}", lambda n: f"{n:05d}-{n:04d}", lambda n: "2DH4"[n % 4 :] + "x"]
)
def test_classes_and_codes_are_no_pairs(write: Callable[[int], str]) -> None:
    assert "numbers" not in described(write).warning


def test_cells_below_a_limit_are_told_whatever_else_is() -> None:
    column = described(lambda n: "< 0,5" if n % 3 == 0 else f"{n / 10:.1f}".replace(".", ","))
    assert "is read as" in column.warning
    assert "cells that are not numbers" in column.warning
    assert column.unread == "< 0,5"
