"""Cells as exports write them: amounts of millions, pairs, durations, weeks, stamps, errors, several values in one."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from pucli.data import TableEncoder
from pucli.data.columns.kinds import Column, column_kinds

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
        (lambda n: f"{n / 7:.4f}-{n}.7000", "numbers that join"),
        (lambda n: f"-{n / 7:.4f}{n}.7000", "numbers that join"),
        (lambda n: f"{n / 7:.3f}-1.{n}E+02-.5", "numbers that join"),
        (lambda n: f"{n / 7:.1f} (0.{n % 9})", "several numbers"),
        (lambda n: f"{n} ({n / 10:.1f}%)", "several numbers"),
        (lambda n: f"0.{n} [0.{n % 9}-0.9]", "several numbers"),
        (lambda n: f"{n}Nm@ {n}rpm", "several numbers"),
        (lambda n: f"{n % 59}m{n % 31}s", "durations"),
        (lambda n: f"P{n % 9 + 1}Y{n % 11}M", "durations"),
        (lambda n: f"{n % 24}h{n % 60:02d}", "durations"),
        (lambda n: f"{n / 10:.1f}·10⁻³", "powers of ten"),
        (lambda n: f"{'NS'[n % 2]} {n / 10:.2f}", "write south and west as negative numbers"),
        (lambda n: f"S{40 + n / 77:.3f}", "write south and west as negative numbers"),
        (lambda n: f"{n / 10:.2f}{'EW'[n % 2]}", "write one of both as negative numbers"),
        (lambda n: f"{n}.25 {'CDRR'[n % 2 :: 2]}", "write one of both as negative numbers"),
    ],
)
def test_numbers_of_other_forms_are_said(write: Callable[[int], str], said: str) -> None:
    assert said in described(write).warning


@pytest.mark.parametrize("write", [lambda n: f"S{n}", lambda n: f"E{n % 90}.{n % 9}"])
def test_names_of_sites_and_diagnoses_are_no_coordinates(write: Callable[[int], str]) -> None:
    assert "coordinates" not in described(write).warning


@pytest.mark.parametrize(
    "write",
    [
        lambda n: f"{n % 9 * 5}-{n % 9 * 5 + 4}",
        lambda n: f"{n:05d}-{n:04d}",
        lambda n: "2DH4"[n % 4 :] + "x",
        lambda n: f"10.11.{n % 12}.{n % 90 + 10}",
    ],
)
def test_classes_and_codes_are_neither_pairs_nor_dates(write: Callable[[int], str]) -> None:
    assert not re.search("numbers|dates", described(write).warning)


def test_cells_below_a_limit_are_told_whatever_else_is() -> None:
    column = described(lambda n: "< 0,5" if n % 3 == 0 else f"{n / 10:.1f}".replace(".", ","))
    assert column.kind == "number" and column.decimal == "," and column.n_empty == 0
    assert re.search(r"has flags beside its numbers.* '<' \(\d+\)", column.warning)


@pytest.mark.parametrize(
    ("write", "example"),
    [
        (lambda n: f"KW {n % 52 + 1:02d}/2024", ""),
        (lambda n: f"Q{n % 4 + 1}/{n % 20 + 10}", ""),
        (lambda n: f"{n % 4 + 1}. Quartal {2000 + n % 20}", ""),
        (lambda n: f"{n % 28 + 1} stycznia 2024", ""),
        (lambda n: f"2024. {n % 12 + 1}. {n % 28 + 1}.", ""),
        (lambda n: f"令和{n % 6 + 1}年{n % 12 + 1}月7日", ""),
        (lambda n: f"/Date({1_600_000_000_000 + n})/", ""),
        (lambda n: f"2024{n % 12 + 1:02d}{n % 28 + 1:02d}101500.000+0100", "--as COLUMN=date:%Y%m%d%H%M%S.%f%z"),
        (lambda n: f"2024-{n % 365 + 1:03d}", "--as COLUMN=date:%Y-%j"),
    ],
)
def test_dates_of_other_languages_and_programs_are_said(write: Callable[[int], str], example: str) -> None:
    warning = described(write).warning
    assert "dates of a form that is not read" in warning
    assert (example or "write them as 2024-12-31") in warning


@pytest.mark.parametrize(
    ("write", "said", "kind"),
    [
        (lambda n: 202400 + n % 53 + 1, "weeks of a year", ""),
        (lambda n: 2024000 + n % 366 + 1, "days of a year", "date:%Y%j"),
        (lambda n: 20240100_00 + n % 28 * 100 + 100 + n % 24, "times", "date:%Y%m%d%H"),
        (lambda n: 20240101_1000 + n % 60, "times", "date:%Y%m%d%H%M"),
        (lambda n: 20240101_101500 + n % 60, "times", "date:%Y%m%d%H%M%S"),
        (lambda n: 1_700_000_000.25 + 1000.0 * n, "seconds since 1970 (2023-", ""),
    ],
)
def test_stamps_of_digits_are_said(write: Callable[[int], float], said: str, kind: str) -> None:
    warning = described(write).warning
    assert said in warning
    if kind:
        assert f"--as COLUMN={kind} reads them" in warning
        assert (lambda column: (column.kind, column.n_unread))(described(write, {"x": kind})) == ("date", 0)


def test_other_numbers_are_no_stamps() -> None:
    assert not described(lambda n: 202400 + n % 90).warning
    assert "look like" not in described(lambda n: 2_024_000 + 7 * n).warning


@pytest.mark.parametrize(("year", "told"), [(2560, True), (1445, True), (1402, True), (2020, False), (1950, False)])
def test_dates_of_other_calendars_are_told(year: int, told: bool) -> None:
    warning = described(lambda n: f"{year + n % 3}-{n % 12 + 1:02d}-{n % 28 + 1:02d}").warning
    assert ("as of another calendar" in warning) is told


def test_dates_among_partial_ones_are_told_with_a_wrong_cell() -> None:
    warning = described(lambda n: f"2024-05-{n % 28 + 1:02d}" if n % 3 else f"2024-{n % 12 + 1:02d}-UN").warning
    assert "holds dates in" in warning
    assert "-UN' in others; --as COLUMN=date reads them" in warning


def test_new_dates_without_a_day_are_said() -> None:
    days = pd.DataFrame({"x": [f"2024-{n % 12 + 1:02d}-{n % 28 + 1:02d}" for n in DRAWN.tolist()]})
    months = pd.DataFrame({"x": days["x"].str[:7]})
    with pytest.warns(UserWarning, match=f"{N} cells with no day, read as the first one"):
        TableEncoder().fit(days).transform(months)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TableEncoder().fit(months).transform(months)


@pytest.mark.parametrize("error", ["#REF!", "########", "Loading...", "#NAME?"])
@pytest.mark.parametrize("others", [["north"], ["north", "south", "east"], []])
def test_errors_of_a_spreadsheet_are_told(error: str, others: list[str]) -> None:
    values = [*others, error]
    assert f"has {error!r}, which a spreadsheet shows" in described(lambda n: values[n % len(values)]).warning


@pytest.mark.parametrize(
    ("alike", "what"), [(["Yes", "yes"], "capital letters"), (["New York", "New  York"], "blanks")]
)
@pytest.mark.parametrize("others", [[], ["Rome", "Oslo"]])
def test_two_spellings_of_one_value_are_told(alike: list[str], what: str, others: list[str]) -> None:
    values = [*alike, *others]
    assert f"differ in {what} alone" in described(lambda n: values[n % len(values)]).warning
    assert not described(lambda n: ["TRUE", "true", "False"][n % 3]).warning


@pytest.mark.parametrize("separator", ["|", ";", ", "])
def test_several_values_in_a_cell_are_told(separator: str) -> None:
    genres = ["Action", "Comedy", "Drama", "Horror", "War"]
    column = described(lambda n: separator.join(one for place, one in enumerate(genres) if (n + 1) >> place & 1) or "-")
    assert column.kind == "category"
    assert "holds several values in a cell" in column.warning
    assert not described(lambda n: f"Ott, {'ABCDEFGHI'[n % 9]}").warning


@pytest.mark.parametrize(
    "write",
    [
        lambda n: f"+49 {n % 90 + 100} {100_000 + 37 * n}",
        lambda n: f"DE{n % 90 + 10} {5000 + n} {8999 - n} 12",
        lambda n: f"32U {300_000 + 91 * n} {5_000_000 + 77 * n}",
    ],
)
def test_numbers_of_things_over_several_words_are_identifiers(write: Callable[[int], str]) -> None:
    assert described(lambda n: write(int(np.flatnonzero(n == DRAWN)[0]))).kind == "identifier"


def test_texts_with_numbers_of_their_own_are_texts() -> None:
    words = ["the", "parcel", "came", "late"]
    cells = [f"{words[n % 4]} {words[n % 3]} order {10_000 + row}" for row, n in enumerate(DRAWN.tolist())]
    assert column_kinds(pd.DataFrame({"x": cells}))[0].kind == "text"
    baskets = [f"{n % 7 + 3001} {n % 5 + 3011} {n % 3 + 3021} {n % 11}" for n in DRAWN.tolist()]
    assert column_kinds(pd.DataFrame({"x": baskets}))[0].kind != "identifier"


@pytest.mark.parametrize("trained", [["1", "0"], ["yes", "no"]])
def test_yes_and_no_as_decimal_numbers_are_read(trained: list[str]) -> None:
    one = DRAWN % 3 == 0
    encoder = TableEncoder({"x": "yes/no"}).fit(pd.DataFrame({"x": np.where(one, *trained)}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = encoder.transform(pd.DataFrame({"x": np.where(one, "1.0", "0.0")}))
    assert (found[:, 0] == one).all()


def test_new_numbers_with_another_unit_are_told_by_the_unit() -> None:
    euros = pd.DataFrame({"x": [f"{n}.{n % 900 + 100},50 €" for n in DRAWN.tolist()]})
    dollars = pd.DataFrame({"x": euros["x"].str.replace("€", "$")})
    with pytest.warns(UserWarning, match=r"not a number, treated as empty; in training there was no \$, so write them"):
        TableEncoder().fit(euros).transform(dollars)
