"""Kinds of columns as people write them: forms of numbers, words for empty, mixed dates, words for yes and no."""

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.columns.cells import TableError
from pucli.data.columns.encoder import TableEncoder
from pucli.data.columns.kinds import column_kinds
from pucli.data.columns.number_forms import formed_numbers, number_form


def column(cells, kind=None, decimal=""):
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object)})
    (found,) = column_kinds(frame, {"a": kind} if kind else None, decimal)
    return found


def encoded(cells, kind=None, decimal="", new=None):
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object)})
    encoder = TableEncoder({"a": kind} if kind else None, decimal=decimal).fit(frame)
    again = TableEncoder()
    again.__setstate__(encoder.__getstate__())  # as from a model file
    return again.transform(frame if new is None else pd.DataFrame({"a": pd.Series(new, dtype=object)}))[:, 0]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["€ 1.234,56", "€ 12", "€ -3,50"], [1234.56, 12, -3.5]),
        (["12 %", "3.5%", "100 %"], [12, 3.5, 100]),
        (["1,234", "12,345", "987"], [1234, 12345, 987]),
        (["1.234.567", "12,5", "3"], [1234567, 12.5, 3]),
        (["1 234,5 €", "7 €", "0,25 €"], [1234.5, 7, 0.25]),
        (["CHF 1'234.50", "CHF 5", "CHF 2.25"], [1234.5, 5, 2.25]),
        (["(3.50)", "2", "1.25-"], [-3.5, 2, -1.25]),
        (["−5", "4", "−0.5"], [-5, 4, -0.5]),
        (["12.3 kg", "4 kg", "5.5 kg"], [12.3, 4, 5.5]),
        (["1,23,456", "12,34,567.5", "99"], [123456, 1234567.5, 99]),
        (["$(230.97)", "$4,403.18", "-$2"], [-230.97, 4403.18, -2]),
        (["１２．５", "－３", "4"], [12.5, -3, 4]),
        (["3·14", "0·5", "2"], [3.14, 0.5, 2]),
        (["4726٫8", "12", "0٫5"], [4726.8, 12, 0.5]),
        (["90.7° E", "3° E", "12.5°E"], [90.7, 3, 12.5]),
    ],
)
def test_numbers_of_any_form_are_read_and_said(cells, values):
    form = number_form(cells)
    assert formed_numbers(cells, form.decimal, form.unit).tolist() == values
    found = column(cells * 9)
    assert found.kind == "number" and "signs or units" in found.warning
    np.testing.assert_array_equal(encoded(cells * 9)[:3], values)
    assert encoded(cells, "number").tolist() == values


@pytest.mark.parametrize(
    "cell", ["14:05", "C00122", "030 123 456", "2020-01-01", "1.2.3", "1,2,3", "12 kg 5", "1-2", ""]
)
def test_other_texts_are_no_numbers(cell):
    assert number_form([cell]) is None


def test_the_form_of_the_training_rows_holds_for_new_rows():
    cells = ["1.234,56", "12,5", "7"] * 9
    assert encoded(cells, new=["1.234", "0,5", "1.5"])[:2].tolist() == [1234.0, 0.5]
    with pytest.warns(UserWarning, match=r"'a': 1 cell not a number, treated as empty; in training there was no lb"):
        encoded(["5 kg", "6 kg", "8,5 kg"] * 9, new=["5 lb", "6 kg", "7"])
    with pytest.warns(UserWarning, match=r"treated as empty; decimal=, reads them"):
        encoded(["36.1%", "5%", "8.5%"] * 9, new=["36,1%", "5,25%", "7,5%"])


def test_two_units_and_two_decimal_signs_are_refused_by_name():
    with pytest.raises(TableError, match="'kg' and 'g'"):
        column(["5 kg", "500 g"], "number")
    with pytest.raises(TableError, match=r"both \. and , are decimal signs"):
        column(["1.234,5", "1,234.5"], "number")
    assert "(kg and g)" in column(["5 kg", "500 g", "7 kg", "2 kg"] * 5).warning


def test_the_decimal_sign_given_decides():
    assert encoded(["1.234", "2.500", "7"] * 8, decimal=",")[:3].tolist() == [1234, 2500, 7]
    assert encoded(["1,234", "2,500", "7"] * 8, decimal=",")[:3].tolist() == [1.234, 2.5, 7]
    assert "give --decimal ," in column(["1,234", "2,500", "7,000"] * 8).warning


@pytest.mark.parametrize("word", [".", "-", "unknown", "n.v.", "#DIV/0!", "–"])
def test_a_column_that_is_mostly_a_word_for_empty_is_one_of_numbers(word):
    cells = [str(i % 7) for i in range(70)] + [word] * 130
    found = column(cells)
    assert found.kind == "number" and found.unread == word and found.n_unread == 130
    assert found.share_read == pytest.approx(0.35)
    assert f"is {word!r} in most cells" in found.warning


def test_a_column_of_dates_and_a_word_for_empty_is_one_of_dates():
    days = pd.date_range("2020-01-01", periods=40).strftime("%d.%m.%Y").tolist()
    found = column(days + ["unknown"] * 80)
    assert found.kind == "date" and found.unread == "unknown"


def test_numbers_among_other_words_are_not_words_in_silence():
    cells = [f"{i}.5" for i in range(80)] + ["many", "few", "some", "lots", "none at all", "plenty"] * 5
    found = column(cells)
    assert found.kind != "number" and "--as COLUMN=number" in found.warning


@pytest.mark.parametrize("repeated", [1, 3])
def test_an_identifier_with_a_repeat_is_one(repeated):
    ids = np.random.default_rng(0).permutation(700)[:600]
    ids[:repeated] = ids[-repeated:]
    found = column(ids)
    assert found.kind == "identifier" and f"({repeated} of 600 repeat" in found.warning
    assert column(np.random.default_rng(0).integers(0, 700, 600)).kind == "number"


@pytest.mark.parametrize("far", ["9999-12-31", "1900-01-01", "0001-01-01"])
def test_dates_that_mean_never_are_warned_of(far):
    days = pd.date_range("2020-01-01", periods=60).strftime("%Y-%m-%d").tolist()
    found = column(days + [far] * 50)
    assert found.kind == "date" and f"is {far} in 50 cells" in found.warning and f"--missing {far}" in found.warning
    assert not column(days * 2).warning


def test_day_numbers_of_a_spreadsheet_among_dates_are_read():
    cells = ["19.12.2020", "44549", "01.01.2022", "31.12.2021"] * 8
    found = column(cells)
    assert found.kind == "date" and "'44549' is read as 2021-12-19" in found.warning
    expected = encoded(["19.12.2020", "19.12.2021", "01.01.2022", "31.12.2021"] * 8)
    np.testing.assert_array_equal(encoded(cells), expected)
    zero = column([*cells, "1900-01-00"])
    assert zero.kind == "date" and zero.unread == "1900-01-00"


def test_a_time_with_the_name_of_its_zone_is_a_date():
    named, zoned = ([f"2020-12-{d:02} 03:00:00{z}" for d in range(1, 29)] for z in (" UTC", "+00:00"))
    assert column(named).kind == "date"
    np.testing.assert_array_equal(encoded(named), encoded(zoned))


def test_a_format_of_dates_can_be_given():
    cells = ["03/04/2023", "05/06/2023", "07/08/2023"] * 10
    assert encoded(cells, "date:%m/%d/%Y")[0] == encoded(["2023-03-04", "2023-05-06"] * 10)[0]
    assert encoded(cells, "date:%d/%m/%Y")[0] == encoded(["2023-04-03", "2023-06-05"] * 10)[0]
    assert encoded(["04.03.23", "05.06.23"] * 9, "date:%d.%m.%y")[0] == encoded(["2023-03-04", "2023-06-05"] * 9)[0]
    with pytest.raises(TableError, match=r"no cell is a date of the form %Y%m%d, e\.g\. '03/04/2023'"):
        column(cells, "date:%Y%m%d")
    with pytest.raises(UsageError, match=r"only dates take a format"):
        column(cells, "number:%d")


def test_words_for_yes_and_no_of_several_languages_are_yes_and_no():
    cells = ["ja", "nein", "Yes", "no", "oui", "non", "wahr", "falsch"] * 5
    assert column(cells).kind == "yes/no"
    assert encoded(cells)[:8].tolist() == [1, 0, 1, 0, 1, 0, 1, 0]
    assert encoded(cells, new=["vrai", "NEIN", "true"]).tolist() == [1, 0, 1]
    for pair in (["wahr", "falsch"], ["vrai", "faux"], ["verdadero", "falso"], ["да", "нет"]):
        assert encoded(pair * 9)[:2].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (hex, "write them as 256"),
        (lambda k: f"{k // 256}_{k % 256:03d}", "write them as 1000"),
        (bin, "write them as 256"),
    ],
)
def test_numbers_as_programs_write_them_are_not_words_in_silence(written, value):
    found = column([written(256 + k % 15) for k in range(60)])
    assert "numbers as programs write them" in found.warning and value in found.warning
    assert not column([f"0x{k:x}g" for k in range(15)] * 4).warning


def test_a_column_that_was_empty_in_training_is_named_when_it_is_filled():
    frame = pd.DataFrame({"a": [1.0, 2.5, 3.0], "b": [None, None, None]})
    encoder = TableEncoder().fit(frame)
    again = TableEncoder()
    again.__setstate__(encoder.__getstate__())  # as from a model file
    with pytest.warns(UserWarning, match="'b': 2 cells filled, although all were empty in training"):
        again.transform(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", None, "y"]}))
    assert again.empty_in_training == {"b"}
