"""Cells in forms that spreadsheets, other programs and other files of the same source give them."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pucli.data import TableEncoder
from pucli.data.columns.kinds import Column, column_kinds
from pucli.data.rows.user_file import fit_file

N = 40
DAYS = pd.Timestamp("2021-01-05") + pd.to_timedelta(np.arange(N) * 17, unit="D")


def described(cells: object) -> Column:
    return column_kinds(pd.DataFrame({"x": cells}))[0]


def encoded(encoder: TableEncoder, cells: object) -> np.ndarray:
    return np.asarray(encoder.transform(pd.DataFrame({"x": cells})))


@pytest.mark.parametrize("words", [("yes", "no"), ("TRUE", "FALSE"), ("1", "0"), (True, False)])
@pytest.mark.parametrize("trained", [("Y", "N"), (1, 0), (True, False), ("ja", "nein")])
def test_other_words_for_yes_and_no_are_read_by_their_meaning_and_said(
    trained: tuple[object, object], words: tuple[object, object]
) -> None:
    yes = np.arange(N) % 3 == 0
    cells = [trained[0] if one else trained[1] for one in yes]
    encoder = TableEncoder().fit(pd.DataFrame({"x": cells}))
    expected = encoded(encoder, cells)
    new = [words[0] if one else words[1] for one in yes]
    alike = {str(word).casefold() for word in words} == {str(word).casefold() for word in trained}
    numbers = {"0", "1", "True", "False"}
    if alike or {str(word) for word in (*words, *trained)} <= numbers:
        assert (encoded(encoder, new) == expected).all()
        return
    with pytest.warns(UserWarning, match=rf"{N} cells with another word for yes or no.*'{new[0]}'"):
        assert (encoded(encoder, new) == expected).all()


def test_words_without_such_a_meaning_stay_unknown() -> None:
    sex = TableEncoder().fit(pd.DataFrame({"x": ["m", "f"] * 20}))
    with pytest.warns(UserWarning, match="neither 'm' nor 'f'"):
        encoded(sex, ["yes", "no"])


@pytest.mark.parametrize("written", ["{:.0f} days 03:00:00", "{:.0f} day, 3:00:00", "P{:.0f}DT3H"])
def test_durations_as_text_are_those_of_a_column_of_durations(written: str) -> None:
    days = np.arange(N) % 7
    spans = pd.to_timedelta(days, unit="D") + pd.Timedelta(hours=3)
    encoder = TableEncoder().fit(pd.DataFrame({"x": spans}))
    texts = [written.format(day) for day in days]
    assert (encoded(encoder, texts) == encoded(encoder, spans)).all()
    assert described(texts).kind == "number"
    assert "seconds" in described(texts).remark


def test_codes_are_no_durations() -> None:
    assert described([f"P{code % 5}D" for code in range(N)]).kind == "category"


def test_invisible_characters_around_a_cell_are_no_part_of_it() -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"x": ["a", "b", "c", "a"] * 10}))
    assert (encoded(encoder, ["a\u200b", "\ufeffb"]) == encoded(encoder, ["a", "b"])).all()


@pytest.mark.parametrize("written", ['="{}"', "“{}”", "'{}", "'{}'"])
def test_numbers_in_quotes_are_numbers(written: str) -> None:
    numbers = np.arange(N) % 9 + 0.5
    column = described([written.format(number) for number in numbers])
    assert (column.kind, column.n_unread) == ("number", 0)
    assert "is read as 0.5" in column.warning


def test_a_code_in_quotes_keeps_its_zeros() -> None:
    assert described([f'="00{number % 9}"' for number in range(N)]).kind == "category"


def test_the_exponent_of_double_precision_is_read() -> None:
    column = described([f"{number % 9}.5D+03" for number in range(N)])
    assert column.kind == "number"
    assert "is read as 500" in column.warning


def test_percentages_beside_shares_are_told() -> None:
    mixed = [f"{number % 7 + 50}%" if number % 2 else f"0.{number % 7}" for number in range(N)]
    assert "'0.0', without %, is read as it stands, maybe of another scale" in described(mixed).warning
    whole = [f"{number % 7 + 50}%" if number % 2 else f"{number % 7 + 50}" for number in range(N)]
    assert "scale" not in described(whole).warning
    few = [f"{number % 7}.5K" if number % 2 else f"{number * 13}" for number in range(N)]
    assert "'1.5K' is read as 1500" in described(few).warning


def test_integers_of_too_many_digits_are_identifiers_not_one_number() -> None:
    for cells in (2**60 + np.arange(N) % 7, [str(10**25 + number % 7) for number in range(N)]):
        assert described(cells).kind == "identifier"
        assert "so many digits" in described(cells).warning
    assert described((np.arange(N) % 7) * 2**60).kind == "number"


def test_dates_of_another_form_and_iso_dates_are_read_and_said() -> None:
    texts = [day.strftime("%Y-%m-%d" if number % 2 else "%d.%m.%Y") for number, day in enumerate(DAYS)]
    column = described(texts)
    assert (column.kind, column.n_unread) == ("date", 0)
    assert "two forms, '05.01.2021' and '2021-01-22'" in column.warning
    encoder = TableEncoder().fit(pd.DataFrame({"x": texts}))
    assert encoded(encoder, texts)[:, 0].tolist() == ((DAYS - pd.Timestamp(0)) / pd.Timedelta(days=1)).tolist()


def test_new_dates_with_the_month_first_are_told_by_their_form() -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"x": DAYS.strftime("%d/%m/%Y")}))
    with pytest.warns(UserWarning, match="every cell has the format %m/%d/%Y"):
        encoded(encoder, DAYS.strftime("%m/%d/%Y"))


def test_text_of_digits_with_leading_zeros_is_told() -> None:
    column = described([f"0{1000 + number % 9}" for number in range(N)])
    assert column.kind == "number"
    assert "cells like 01000: if they are codes" in column.warning


@pytest.mark.parametrize(
    ("cells", "example"),
    [(["3.8", "3.9", "3.10", "3.11"], "3.10"), (["1.5", "2.25", "1.05"], ""), (["1.50", "2.25"], "")],
)
def test_versions_are_told_and_amounts_are_not(cells: list[str], example: str, tmp_path: Path) -> None:
    warning = described(cells * 10).warning
    assert (f"cells like {example}: if they are codes" in warning) if example else not warning
    path = tmp_path / "a.csv"
    path.write_text("x,a,y\n" + "".join(f"{cell},{row % 7}.5,{row % 2}\n" for row, cell in enumerate(cells * 10)))
    assert fit_file(path, "y").encoder.columns_[0].warning == warning


@pytest.mark.parametrize(("others", "told"), [(["DE", "FR", "IT"], True), (["Oslo", "Rome", "Bern"], False)])
def test_na_among_codes_of_two_letters_is_told(others: list[str], told: bool, tmp_path: Path) -> None:
    cells = [*others, "NA"] * 10
    path = tmp_path / "a.csv"
    path.write_text("x,a,y\n" + "".join(f"{cell},{row % 7}.5,{row % 2}\n" for row, cell in enumerate(cells)))
    for column in (described(cells), fit_file(path, "y").encoder.columns_[0]):
        assert ("has NA beside codes of two letters" in column.warning) is told


def test_days_and_months_that_a_spreadsheet_exchanged_are_told() -> None:
    texts = [day.strftime("%m/%d/%Y") if day.day > 12 else day.strftime("%Y-%d-%m 00:00:00") for day in DAYS]
    assert "exchanged day and month" in described(texts).warning
    kept = [day.strftime("%m/%d/%Y" if row % 2 else "%Y-%m-%d") for row, day in enumerate(DAYS)]
    assert "exchanged" not in described(kept).warning


@pytest.mark.parametrize("each", [1e6, 1e9])
def test_small_parts_of_seconds_since_1970_are_told(each: float) -> None:
    cells = np.random.default_rng(0).permutation((1_700_000_000 + 86_399 * np.arange(N)) * int(each))
    assert "seconds since 1970 (2023-" in described(cells).warning


def test_bytes_that_are_no_text_stay_apart() -> None:
    assert described([b"\xff\x01", b"\xfe\x01", b"plain"] * 20).values == ("ff01", "fe01", "plain")


def test_a_column_that_is_left_out_or_doubtful_is_told_in_python() -> None:
    table = pd.DataFrame({"a": np.arange(N) % 7 + 0.5, "when": DAYS.strftime("%d.%m.%y")})
    with pytest.warns(UserWarning, match="column 'when' holds dates of a form that is not read.*kinds: COLUMN=date"):
        TableEncoder().fit(table)


@pytest.mark.parametrize("fill", ["1e+36", "9.96921e+36", "-3.4028235e+38", "-2147483648"])
def test_fill_values_of_any_kind_are_told(fill: str) -> None:
    cells = [fill if number % 5 == 0 else f"{number % 9}.5" for number in range(N)]
    assert "in 8 cells, far from all others" in described(cells).warning
    assert "far from" not in described([f"{10.0 ** (number % 12)}" for number in range(N)]).warning


def test_other_blanks_and_unicode_forms_are_the_same_cell() -> None:
    thousands = described([f"{number % 9 + 1}\u2003{100 + number}" for number in range(N)])
    assert (thousands.kind, thousands.n_unread) == ("number", 0)
    assert described(["Mu\u0308ller", "M\u00fcller", "Mayer", "Ott"] * 10).n_distinct == 3


def test_values_in_other_letters_are_told() -> None:
    assert "'red' and 'Red'; write them alike if they mean the same" in described(["red", "Red", "blue"] * 10).warning
    assert not described(["red", "green", "blue"] * 10).warning


def test_seconds_with_a_comma_are_read() -> None:
    log = [f"2024-03-{number % 28 + 1:02d} 12:00:00,{number:03d}" for number in range(N)]
    column = described(log)
    assert (column.kind, column.n_unread) == ("date", 0)
    points = [text.replace(",", ".") for text in log]
    encoder = TableEncoder().fit(pd.DataFrame({"x": points}))
    assert (encoded(encoder, log) == encoded(encoder, points)).all()


@pytest.mark.parametrize("written", ["{}. März 2024", "{}-Okt-2024", "{} août 2024", "1:{:02d} PM"])
def test_dates_and_times_that_are_not_read_are_named(written: str) -> None:
    column = described([written.format(number % 9 + 1) for number in range(N)])
    assert f"e.g. '{written.format(1)}'" in column.warning


def test_a_year_alone_among_dates_of_new_rows_is_said() -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"x": DAYS.strftime("%Y-%m-%d")}))
    with pytest.warns(UserWarning, match="1 cell with a year alone, read as its first day.*'2021'"):
        first = encoded(encoder, ["2021-03-05", "2021"])[1, 0]
    assert first == (pd.Timestamp("2021-01-01") - pd.Timestamp("1970-01-01")).days


def test_years_alone_that_the_user_declares_are_not_warned_of() -> None:
    years = pd.DataFrame({"x": [str(year) for year in range(1990, 2020)]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TableEncoder({"x": "date:%Y"}).fit(years).transform(years)


def test_a_long_run_of_digits_is_soon_told_from_a_number() -> None:
    begun = time.perf_counter()
    assert described(["1" * 20_000 + f"x{number}" for number in range(N)]).kind != "number"
    assert time.perf_counter() - begun < 20  # quadratic in the length, it took minutes
