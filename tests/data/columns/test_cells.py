"""Numbers and dates as other scripts, currencies, databases and programs write them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from pucli.data.columns.cells import trimmed
from pucli.data.columns.kinds import Column, column_kinds

N = 40
VALUES = (np.arange(N) * 37 % 101) * 41.25 - 0.5
DAYS = pd.Timestamp("2015-01-05") + pd.to_timedelta(np.arange(N) * 73, unit="D")


def described(cells: object, kind: str = "") -> Column:
    return column_kinds(pd.DataFrame({"x": cells}), {"x": kind} if kind else None)[0]


def in_script(text: str, zero: str) -> str:
    digits = {str(digit): chr(ord(zero) + digit) for digit in range(10)}
    return text.translate(str.maketrans({**digits, ".": "٫", ",": "٬"}))


@pytest.mark.parametrize("zero", ["٠", "۰"])
def test_digits_of_other_scripts_with_their_signs_are_numbers(zero: str) -> None:
    column = described([in_script(f"{value:,.2f}", zero) for value in VALUES[1:]])
    assert (column.kind, column.n_unread) == ("number", 0)
    assert f"{in_script(f'{VALUES[1]:,.2f}', zero)!r} is read as {VALUES[1]}" in column.warning


@pytest.mark.parametrize(
    "written", ["{}¢", "{} ₴", "₦{}", "₱ {}", "{}₫", "฿{}", "INR {}", "HK${}", "￥{}", "‐{}", "‑{}"]
)
def test_currencies_and_dashes_of_any_country_are_read(written: str) -> None:
    column = described([written.format(f"{value:.2f}") for value in VALUES[1:]])
    assert (column.kind, column.n_unread) == ("number", 0)
    sign = "-" if written[0] in "‐‑" else ""
    assert f"is read as {sign}{VALUES[1]}" in column.warning


def test_marks_of_the_writing_direction_are_no_part_of_a_cell() -> None:
    assert trimmed("\u202ayes\u202c") == trimmed("\u2067yes\u2069") == "yes"
    assert described([f"\u202a{value}\u202c" for value in VALUES]).kind == "number"


def test_a_dot_before_three_digits_of_a_price_may_separate_thousands() -> None:
    assert (
        "if the dot separates thousands, give --decimal ,"
        in described([f"{n % 9 + 1}.000 €" for n in range(N)]).warning
    )
    assert "thousands" not in described([f"{n % 9 + 1}.0{n % 7} €" for n in range(N)]).warning
    assert "if the comma is a decimal sign" in described([f"{n % 9 + 1},000 €" for n in range(N)], "number").warning


@pytest.mark.parametrize("n_values", [N, 4])
def test_numbers_with_both_decimal_signs_are_said_as_such(n_values: int) -> None:
    cells = [f"{VALUES[row % n_values]:.2f}" for row in range(N)]
    mixed = [cell.replace(".", ",") if row % 2 else cell for row, cell in enumerate(cells)]
    assert "holds numbers with . and , as decimal signs" in described(mixed).warning


@pytest.mark.parametrize(
    "written",
    [
        lambda v: f"np.float64({v})",
        lambda v: f"tensor({v})",
        lambda v: repr(Decimal(str(v))),
        "b'{}'".format,
        "({},)".format,
    ],
)
def test_numbers_as_a_program_prints_its_objects_are_named(written: object) -> None:
    column = described([written(value) for value in VALUES])  # type: ignore[operator]
    assert "holds numbers as a program prints its objects" in column.warning


def test_functions_and_grades_are_no_objects_of_a_program() -> None:
    assert not described([f"Grade({row % 5})" for row in range(N)]).warning


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("%m-%d-%Y", "%m-%d-%Y"),
        ("%m.%d.%Y", "%m.%d.%Y"),
        ("%Y_%m_%d", "%Y_%m_%d"),
        ("%d/%m/%Y %H:%M:%S.%f", "%d/%m/%Y %H:%M:%S.%f"),
        ("%Y:%m:%d %H:%M:%S", "%Y:%m:%d %H:%M:%S"),  # cameras
        ("%Y-%m-%d-%H.%M.%S.%f", "%Y-%m-%d-%H.%M.%S.%f"),  # Db2
        ("%a %b %d %H:%M:%S +0000 %Y", "%a %b %d %H:%M:%S %z %Y"),
        ("%b  %e %Y  1:42PM", "%b %d %Y %I:%M%p"),  # SQL Server
        ("%d/ene/%Y", ""),
        ("%d de feb de %Y", ""),
        ("February %dth, %Y", ""),
        ("datetime.date(%Y, 2, %d)", ""),
    ],
)
def test_dates_of_databases_and_programs_are_named_with_a_format_that_reads_them(written: str, form: str) -> None:
    cells = [day.strftime(written) for day in DAYS]
    warning = described(cells).warning
    assert "holds dates of a form that is not read" in warning
    assert (f"--as COLUMN=date:{form} reads them" if form else "write them as 2024-12-31") in warning
    if form:
        assert described(cells, f"date:{form}").n_unread == 0


def test_years_of_two_digits_that_fall_into_two_centuries_are_told() -> None:
    births = [f"05/03/{year % 100:02d}" for year in range(1930, 2010)]
    assert "has years of two digits" in described(births, "date:%d/%m/%y").warning
    assert not described([f"05/03/{year % 100:02d}" for year in range(1990, 2030)], "date:%d/%m/%y").warning
    assert not described([f"05/03/{year}" for year in range(1930, 2010)], "date:%d/%m/%Y").warning


@pytest.mark.parametrize("unit", ["µg/m³", "μg/m³", "mg/L", "%/a"])
def test_units_per_another_are_read_with_either_letter_for_micro(unit: str) -> None:
    column = described([f"{value} {unit}" for value in VALUES[1:]])
    assert (column.kind, column.unit) == ("number", unit)


@pytest.mark.parametrize("written", ["{} sq ft", "{} x10^9/L", "{} fl. oz", "{} pcs/box (net)"])
def test_numbers_with_the_same_words_after_them_are_named(written: str) -> None:
    column = described([written.format(f"{value:,.0f}") for value in VALUES[1:]])
    assert f"holds numbers with words, e.g. {written.format(f'{VALUES[1]:,.0f}')!r}" in column.warning
    assert not described([f"{row} {'Main' if row % 2 else 'Mill'} Street" for row in range(N)]).warning


@pytest.mark.parametrize(
    "written", ["T={:.1f}", "Temp: {:.1f} C", "ca. {:.1f} pcs", "${:.2f} per month", "#{:.2f}", "US Dollar {:,.2f}"]
)
def test_numbers_with_the_same_words_before_them_are_named(written: str) -> None:
    cells = [written.format(7.0 * row + 1.25) for row in range(N)]
    assert f"holds numbers with words, e.g. {cells[0]!r}" in described(cells).warning
    for code in ("E{}.{}", "v{}.{}", "§ {}{}", "AB-{}.{}", "No. {}{}"):
        assert "holds numbers" not in described([code.format(row // 9, row % 9) for row in range(N)]).warning


@pytest.mark.parametrize("written", ["{},50 kr.", "{},50 руб.", "Rs. {}.50/-", "{}.50 Rs."])
def test_currencies_that_end_with_a_dot_or_a_dash_are_read(written: str) -> None:
    column = described([written.format(row) for row in range(N)])
    assert column.kind == "number" and "is read as 0.5" in column.warning


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ("{}/{} mmHg", "several numbers in a cell"),
        ("{} out of {}", "several numbers in a cell"),
        ("{} bd / {} ba", "several numbers in a cell"),
        ("{},000-{},999", "ranges"),
        ("${}K - ${}K", "ranges"),
    ],
)
def test_two_numbers_in_a_cell_are_named(written: str, what: str) -> None:
    assert f"holds {what}" in described([written.format(row + 30, row + 90) for row in range(N)] * 2).warning


def test_a_form_that_begins_after_a_thousand_values_is_seen() -> None:
    points = [f"{row}.25" for row in range(2000)]
    commas = [f"{row},25" for row in range(2000)]
    assert "e.g. '0,25'" in described([*points, *commas]).warning
    assert "'#REF!'" in described([*(f"c{row % 1500}" for row in range(3000)), "#REF!"]).warning


@pytest.mark.parametrize("n", [1, 2])
def test_a_slip_far_from_all_others_is_told(n: int) -> None:
    assert f"is 1e+25 in {n} cell" in described([*VALUES, *[1e25] * n]).warning
    assert "far from" not in described([*VALUES, 1e6]).warning


def test_a_note_behind_some_of_the_numbers_is_told() -> None:
    cells = [f"{row} (estimated)" if row % 3 else f"{row}" for row in range(N)]
    assert "holds numbers with words, e.g. '1 (estimated)'" in described(cells).warning


@pytest.mark.parametrize("code", ["-999.9", "999.9", "-99.99"])
def test_codes_of_weather_stations_are_told(code: str) -> None:
    cells = [code if row % 6 == 0 else f"{row % 9}.5" for row in range(N)]
    assert f"is {code} in 7 cells" in described(cells).warning


@pytest.mark.parametrize("codes", [("888", "999"), ("77", "88"), ("-99", "-98")])
def test_two_codes_beside_the_steps_of_a_scale_are_told(codes: tuple[str, str]) -> None:
    cells = [codes[row % 2] if row % 5 == 0 else f"{row % 5 + 1}" for row in range(2 * N)]
    assert "if that means no answer" in described(cells).warning


def test_moments_beside_zero_for_none_are_told() -> None:
    cells = [0 if row % 5 == 0 else 1_600_000_000 + 86_400 * row for row in range(N)]
    assert "look like seconds since 1970" in described(cells).warning
    assert not described([0] * N + [1.5] * N).warning
