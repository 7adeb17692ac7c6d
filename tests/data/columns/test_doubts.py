"""What is read otherwise than a user may mean is said: identifiers, leaks, units, spellings, other ranges."""

import warnings

import numpy as np
import pandas as pd
import pytest

from pucli.data.columns.cells import ColumnCells, parsed_numbers
from pucli.data.columns.doubts import NUMBER_RULES, TEXT_RULES, TextColumn, odd_form, unread_date
from pucli.data.columns.encoder import TableEncoder
from pucli.data.columns.kinds import column_kinds
from pucli.data.columns.leakage import leaks
from pucli.data.older_pandas import is_older
from pucli.data.rows.label_column import LabelColumn
from pucli.data.rows.user_file import ColumnChoice, fit_file


def column(cells):
    (found,) = column_kinds(pd.DataFrame({"a": cells}))
    return found


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("step", [3, 7, 20])
def test_integers_without_repeats_are_identifiers(step, shuffled):
    rng = np.random.default_rng(0)
    ids = 10_000 + np.cumsum(rng.integers(1, 2 * step, 2000))
    found = column(rng.permutation(ids) if shuffled else ids)
    assert found.kind == "identifier" and "chance would repeat" in found.warning


def test_measured_integers_stay_numbers():
    rng = np.random.default_rng(0)
    assert column(rng.integers(0, 3000, 2000)).kind == "number"
    assert column(rng.permutation(100)[:30] * 100).kind == "number"
    assert column(rng.choice(10**6, 100, replace=False)).kind == "number"


def test_values_that_nearly_only_labeled_rows_have_are_suspected():
    rng = np.random.default_rng(0)
    n = 600
    labeled = np.arange(n) < 100
    frame = pd.DataFrame(
        {
            "source": np.where(labeled, "crm", np.where(rng.random(n) < 0.97, "web", "crm")),
            "flag": np.where(labeled, rng.random(n) < 0.9, rng.random(n) < 0.01).astype(int),
            "gap": np.where(labeled & (rng.random(n) < 0.6), np.nan, rng.normal(size=n)),
            "fair": np.where(labeled, rng.random(n) < 0.8, rng.random(n) < 0.3).astype(int),
        }
    )
    found = leaks(frame, labeled, column_kinds(frame))
    assert set(found) == {"source", "flag", "gap"}
    assert " in 100 % of the labeled and " in found["source"]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["14:05", "25:00", "23:59", "10:10"], "holds times"),
        (["1/2", "3/4", "1 1/2", "2"], "holds fractions"),
        (["3½", "4", "1½", "2½"], "holds fractions"),
        (
            ["~5", "~6", "<3", ">100"],
            "flags beside its numbers or in place of them, which are not used: '~' (20), '<' (10)",
        ),
        (
            ["12.3*", "5", "8.5†", "7.1"],
            "flags beside its numbers or in place of them, which are not used: '*' (10), '†'",
        ),
        (["12.3[1]", "5", "8.5[2]", "7.1"], "--as COLUMN=number makes features of them"),
        (["15:37:00.125", "20:05:00.5", "1:02:03.25", "9:00:00.0"], "holds times"),
        (["2h 50m", "19h", "3h 5m", "12h 1m"], "holds several numbers"),
        (["5 ft 3 in", "6 ft 0 in", "5 ft 11 in", "6 ft 2 in"], "holds several numbers"),
        (["1.86,58.97", "30.01,0.99", "52.33,68.03", "4.5,6.25"], "holds several numbers"),
        (["POINT (44.75 46.72)", "POINT (2 1)", "POINT (3 4.5)", "POINT (-1 0)"], "holds several numbers"),
        (["32°4'10\"N", "52°54'0\"N", "61°35'31\"S", "1°0'9\"N"], "holds several numbers"),
        (["41.8° W", "86.4° E", "115.5° E", "3.2° W"], "signs or units (°W and °E)"),
        (["12 months", "24 months", "6 months", "3 months"], "numbers with words"),
        (["Nov-22", "Jan-23", "Apr-22", "Dec-21"], "--as COLUMN=date:%b-%y reads them"),
        (["[1, 2]", "[3]", "[]", "[2, 2]"], "lists or objects"),
        (['{"a": 1}', '{"a": 2}', "{}"], "lists or objects"),
        (["2020-W05", "2020-W06", "2021-W01"], "dates of a form that is not read"),
        (["2020Q1", "2020 Q2", "Q3/2021"], "dates of a form that is not read"),
        (["05/2020", "12/2021", "01/2022"], "dates of a form that is not read"),
        (["3-Okt-2020", "4-Mrz-2021", "5-Nov-2020"], "dates of a form that is not read"),
        (["2020-05-03", "2021-07-09", "2020"], "has dates without a day, e.g. '2020'"),
        (["2020-05-03", "2021-07-09", "2020-06"], "has dates without a day, e.g. '2020-06'"),
        ([160311, 230430, 991231], "look like dates; --as COLUMN=date:%y%m%d"),
        ([1577836800000, 1600000000123, 1699095625102], "milliseconds since 1970"),
    ],
)
def test_cells_that_a_reader_may_take_otherwise_are_named(cells, said):
    assert said in column(cells * 10).warning


@pytest.mark.parametrize(
    "cells",
    [
        ["2020-05", "2021-07", "2020-06"],  # months throughout
        [160311, 230499, 991231],  # no day 99
        ["1.2.3", "1.10.0", "2.0.1"],
        ["20-60", "10-30", "30-40"],
    ],
)
def test_cells_of_one_meaning_are_not(cells):
    assert not column(cells * 10).warning


def test_codes_of_digits_and_letters_are_no_numbers():
    codes = [f"{i * 7919 % 2**20:05x}" if i % 2 else f"{i}e5" for i in range(200)]
    found = column(codes)
    assert found.kind == "identifier" and "--as COLUMN=number" not in found.warning


@pytest.mark.parametrize(
    "cells",
    [
        ["1,234", "12,345", "987", "2,001"],
        ["$12.50", "$3", "$7.25", "$8"],
        ["51.2%", "3 %", "7%", "8.1%"],
        ["12.3 kg", "4 kg", "5.5 kg", "6 kg"],
        ["3,14", "2,71", "1,41", "1,73"],
    ],
)
def test_numbers_with_signs_or_units_are_named(cells):
    found = column(cells * 10)
    assert "signs or units" in found.warning and cells[0] in found.warning
    assert not column(["cook", "nurse", "pilot", "baker"] * 10).warning


def test_a_word_for_empty_does_not_turn_numbers_into_words():
    cells = [f"{value:.2f}" for value in np.random.default_rng(0).normal(size=200)]
    cells[::5] = ["-"] * 40
    cells[1::50] = ["unknown"] * 4
    found = column(cells)
    assert found.kind == "number" and "treated as empty: 44" in found.remark
    assert column(["1", "2", "3", "many"] * 20).kind == "category"


def test_dates_that_could_be_read_otherwise_are_warned_of():
    found = column(["03/04/2023", "05/06/2023", "07/08/2023"] * 10)
    assert found.kind == "date" and "month first" in found.warning


def test_other_spellings_of_the_positive_class_count_and_are_named():
    cells = pd.Series(["yes"] * 5 + ["Yes "] * 3 + ["YES"] * 2 + ["no"] * 4 + [None] * 6)
    labels = LabelColumn.of("file: label column 'bought'", cells, lambda row: f"row {row}")
    assert labels.is_class("yes").sum() == 10
    spelled, other = labels.doubts(["yes"])
    assert "'YES' (2 rows), 'Yes' (3 rows) counted as 'yes' too" in spelled
    assert "4 rows with another class ('no') count as unlabeled too" in other
    three = LabelColumn.of("t", pd.Series(["yes", "no", "unknown"]), str)
    assert "1 row with another class ('no') counts as" in three.doubts(["yes"], ["unknown"])[0]
    assert other.endswith(
        "if known not to be positive: `pucli auto --negative no`"
    )  # prior and compare have no use of it
    cells = pd.Series(["sepsis"] * 4 + ["no sepsis"] * 1200 + ["not reviewed"] * 3)
    (other,) = LabelColumn.of("file", cells, lambda row: "").doubts(["sepsis"])
    assert "1,200 rows with another class ('no sepsis') count" in other and "--negative 'no sepsis'" in other
    signs = LabelColumn.of("file", pd.Series(["1", "0", "-1"] * 4), lambda row: "")
    assert signs.doubts(["1"], ["-1"], negative=True) == []  # the third class can only be of unlabeled rows
    four = LabelColumn.of("file", pd.Series(["yes", "no", "maybe", None] * 4), lambda row: "")
    (other,) = four.doubts(["yes"], ["no"], negative=True)
    assert other.endswith("4 rows with another class ('maybe') count as unlabeled too")
    plain = LabelColumn.of("file", pd.Series(["yes", "no"] * 4), lambda row: "")
    assert plain.doubts(["yes"]) == []


def test_new_rows_outside_the_range_of_the_training_rows_are_warned_of():
    rng = np.random.default_rng(0)
    encoder = TableEncoder().fit(pd.DataFrame({"a": rng.normal(size=600), "b": rng.integers(0, 9, 600)}))
    new = pd.DataFrame({"a": rng.normal(size=300), "b": rng.integers(0, 9, 300)})
    encoder.transform(new)
    with pytest.warns(UserWarning, match=r"'a': \d+ of 300 cells lie outside the range .* same units"):
        encoder.transform(new.assign(a=1.8 * new["a"] + 3.0))
    with pytest.warns(UserWarning, match="'b'"):
        encoder.transform(new.assign(b=1000 * new["b"]))
    again = TableEncoder()
    again.__setstate__(encoder.__getstate__())
    with pytest.warns(UserWarning, match="outside"):
        again.transform(new.assign(a=1000.0))


def test_dates_after_those_of_the_training_rows_are_warned_of():
    days = pd.date_range("2021-01-01", "2024-10-28", 400).strftime("%Y-%m-%d")
    encoder = TableEncoder().fit(pd.DataFrame({"joined": days, "a": np.arange(400.0) % 7}))
    assert [type(one).__name__ for one in encoder.encoders_] == ["Date", "Number"]
    same = pd.DataFrame({"joined": days[::-1], "a": np.arange(400.0) % 7})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(same)
    later = same.assign(joined=pd.date_range("2025-01-01", periods=400).strftime("%Y-%m-%d"))
    told = "'joined': 400 of 400 dates lie outside those of the training rows, 2021-01-01 to 2024-10-28"
    with pytest.warns(UserWarning, match=told):
        encoder.transform(later)
    again = TableEncoder()
    again.__setstate__(encoder.__getstate__())
    with pytest.warns(UserWarning, match=told):
        again.transform(later)


@pytest.mark.skipif(is_older(), reason="before 3.1, pandas takes a text for its part before a null character")
def test_a_long_cell_is_not_quoted_whole():
    encoder = TableEncoder().fit(pd.DataFrame({"a": np.random.default_rng(0).normal(size=60)}))
    cells = [*map(str, range(59)), "1" + 700 * "\0"]
    with pytest.warns(UserWarning, match="not a number") as caught:
        encoder.transform(pd.DataFrame({"a": pd.Series(cells, dtype=object)}))
    assert all(str(one.message).count("\\x00") < 30 for one in caught)


def test_columns_that_have_lost_their_meaning_are_warned_of():
    rng = np.random.default_rng(0)
    times = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**6, 200) * 60, unit="s")
    words = np.array(["likes rivers", "paints large walls", "rivers and walls", "sings at night about rivers"])
    frame = pd.DataFrame(
        {
            "at": times.strftime("%Y-%m-%d %H:%M:%S"),
            "note": [f"{words[i % 4]} {rng.integers(0, 10**6)}" for i in range(200)],
            "size": rng.normal(size=200),
            "test": np.where(rng.random(200) < 0.3, np.nan, rng.normal(size=200)),
        }
    )
    encoder = TableEncoder().fit(frame)
    assert [type(one).__name__ for one in encoder.encoders_] == ["Date", "Text", "Number", "Number"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(frame)
    for changed, told in (
        ({"at": times.strftime("%Y-%m-%d")}, "'at': 200 of 200 cells have no time of day"),
        ({"note": [f"mag Berge {i}" for i in range(200)]}, "'note': 200 of 200 cells have no word known"),
        ({"size": frame["size"] / 1000}, "'size': all cells lie within a hundredth of the range .* same units"),
        ({"test": np.nan}, "'test': 200 of 200 cells are empty, unlike"),
    ):
        with pytest.warns(UserWarning, match=told):
            encoder.transform(frame.assign(**changed))


def test_dates_with_and_without_a_time_zone_are_warned_of():
    times = pd.date_range("2024-01-01 05:00", periods=60, freq="7h")
    local, zoned = times.strftime("%Y-%m-%d %H:%M"), times.strftime("%Y-%m-%d %H:%M+02:00")
    for trained, new, words in ((local, zoned, "with a time zone"), (zoned, times, "without a time zone")):
        encoder = TableEncoder().fit(pd.DataFrame({"seen": trained}))
        with pytest.warns(UserWarning, match=f"column 'seen': 60 cells {words}, although .* hours may be shifted"):
            encoder.transform(pd.DataFrame({"seen": new}))
    # of two zones, the same moments are the same rows
    encoder = TableEncoder().fit(pd.DataFrame({"seen": zoned}))
    moments = times.tz_localize("UTC") - pd.Timedelta(hours=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = encoder.transform(pd.DataFrame({"seen": moments.tz_convert("America/New_York")}))
    assert np.array_equal(found, encoder.transform(pd.DataFrame({"seen": zoned})))
    mixed = [*local[:30], *zoned[30:]]
    assert "without one, which are read as UTC" in column(mixed).warning


def remembered(frame, unlabeled=None):
    encoder = TableEncoder().fit(frame)
    encoder.remember(encoder.transform(frame), np.ones(len(frame), dtype=bool) if unlabeled is None else unlabeled)
    return encoder


def told(encoder, frame):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoder.transform(frame)
    return " ".join(str(one.message) for one in caught)


def people(seed, n=600):
    draw = np.random.default_rng(seed)
    times = pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 365 * 24 * 60, n), unit="min")
    return pd.DataFrame(
        {
            "weight": draw.normal(75, 12, n).clip(30, 140).round(1),
            "balance": draw.normal(300, 600, n).round(),
            "plan": draw.choice(["gold", "free", "basic"], n),
            "seen": times.strftime("%Y-%m-%d %H:%M"),
        }
    )


def test_new_rows_that_are_distributed_otherwise_are_warned_of():
    encoder = remembered(people(0))
    new = people(1)
    assert told(encoder, new) == ""
    pounds = told(encoder, new.assign(weight=new["weight"] * 0.7))
    assert "column 'weight': " in pounds and " or less; are they in the same units?" in pounds
    assert "'balance': no cell is negative, although 10 % or more" in told(
        encoder, new.assign(balance=abs(new["balance"]))
    )
    assert "'weight': every cell is 75, unlike" in told(encoder, new.assign(weight=75.0))
    assert "'plan=gold' is true of 100 % of these rows" in told(encoder, new.assign(plan="gold"))
    clock = new["seen"].str[:11] + "0" + new["seen"].str[12:]
    assert "its times of day are unlike" in told(encoder, new.assign(seen=clock))
    # rows of one month alone, and few rows, are no news
    assert told(encoder, new[new["seen"].str[5:7] == "07"]) == ""
    assert told(encoder, new.assign(plan="gold")[:20]) == ""


def test_new_rows_may_be_like_the_unlabeled_rows_or_like_all_rows():
    table = pd.concat([people(0, 300).assign(weight=lambda rows: rows["weight"] + 60), people(1, 300)])
    encoder = remembered(table, np.arange(600) >= 300)
    assert told(encoder, table) == ""
    assert told(encoder, people(2)) == ""
    assert "'weight'" in told(encoder, people(2).assign(weight=table["weight"].to_numpy()[:300].repeat(2)))


def test_dates_among_a_few_other_cells_are_dates():
    days = pd.date_range("2024-01-01", periods=300, freq="29h").strftime("%Y-%m-%d %H:%M")
    for share, word in ((0.03, "0000-00-00"), (0.3, "never")):
        cells = np.where(np.random.default_rng(0).random(300) < share, word, days)
        assert (column(cells).kind, column(cells).written) == ("date", "ISO8601")
        encoder = TableEncoder().fit(pd.DataFrame({"seen": cells}))
        with pytest.warns(UserWarning, match=f"not a date of the format ISO8601, .*: '{word}'"):
            found = encoder.transform(pd.DataFrame({"seen": cells}))
        assert np.array_equal(found[:, -1], cells == word)


@pytest.mark.parametrize("written", ["%m/%d/%Y %I:%M %p", "%Y-%m-%d %I:%M:%S %p", "%d.%m.%Y %H:%M"])
def test_dates_of_several_forms_are_the_same_moments(written):
    times = pd.date_range("2024-01-13 05:00", periods=60, freq="7h")
    encoder = TableEncoder().fit(pd.DataFrame({"seen": times.strftime(written)}))
    expected = encoder.transform(pd.DataFrame({"seen": times.strftime(written)}))
    for new in (times.strftime("%Y-%m-%d %H:%M"), times):
        assert np.array_equal(encoder.transform(pd.DataFrame({"seen": new})), expected)


@pytest.mark.parametrize("written", ["%d.%m.%y", "%b %Y", "%a, %d %b %Y %H:%M:%S GMT"])
def test_dates_that_are_not_read_are_warned_of(written):
    found = column(pd.date_range("2024-01-01", periods=200, freq="29h").strftime(written))
    assert found.kind != "date" and "holds dates of a form that is not read" in found.warning


@pytest.mark.parametrize(
    "cells", [["10.0.0.1", "10.0.2.7", "192.168.0.1"], ["1.2.3", "1.10.4", "2.0.1"], ["May", "June"]]
)
def test_other_texts_are_not_taken_for_dates(cells):
    assert not column(cells * 20).warning


def test_numbers_that_look_like_dates_or_codes_for_empty_are_warned_of():
    draw = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=200).strftime("%Y%m%d").astype(int)
    assert "look like dates; --as" in column(draw.permutation(days)).warning
    ages = draw.integers(18, 90, 200)
    assert "is -999 in 10 cells" in column(np.where(np.arange(200) % 20, ages, -999)).warning
    assert "is 9999 in 10 cells" in column(np.where(np.arange(200) % 20, ages + 0.5, 9999)).warning
    for fine in (ages, ages * 1.5, np.where(np.arange(200) % 20, 9.0 * ages, 999), draw.integers(19000, 99999, 200)):
        assert not column(fine).warning


@pytest.mark.parametrize(
    "cells", [["12-", "7", "130-", "8"], ["\u22125", "3", "\u22127.5", "2"], ["1 234", "22 500", "7 000", "12"]]
)
def test_other_signs_and_separators_are_named(cells):
    assert "signs or units" in column(cells * 10).warning


@pytest.mark.parametrize(
    ("numbers", "warned"),
    [
        ([679, 812, 455, 930, 120, 3.381, 1.915, 2.1, 1.004, 12.5], True),
        ([0.679, 812, 455, 930, 120, 310, 1.915, 2.1, 1.004, 12.5], False),
        ([679, 812, 455, 930, 120, 3.381, 1.9155, 2.1, 1.004, 12.5], False),
        ([6, 8, 4, 9, 1, 3.381, 1.915, 2.1, 1.004, 12.5], False),
    ],
)
def test_dots_for_thousands_are_noticed(numbers, warned):
    [column] = column_kinds(pd.DataFrame({"income": np.array(numbers, dtype=float)}))
    assert ("three decimals" in column.warning) == warned


@pytest.mark.parametrize("separator", [",", ";"])
def test_codes_with_leading_zeros_that_are_read_as_numbers_are_told(tmp_path, separator):
    rng = np.random.default_rng(0)
    rows = [
        separator.join(
            [f"{rng.integers(0, 99999):05d}", f"{rng.integers(0, 999)}", f"{rng.integers(0, 9)}", "ny"[i % 2]]
        )
        for i in range(200)
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([separator.join(["zip", "count", "grade", "label"]), *rows]) + "\n")
    encoded = fit_file(path, "label")
    [told] = [line for line in encoded.warnings if "zip" in line]
    assert "is read as a number, but has cells like 0" in told and "--as COLUMN=category" in told
    assert not any(name in line for line in encoded.warnings for name in ("count", "grade"))
    chosen = fit_file(path, "label", ColumnChoice(kinds={"zip": "category"}))
    assert not any("zip" in line and "number" in line for line in chosen.warnings)


def test_identifiers_that_a_spreadsheet_has_cut_are_named():
    cut = np.array([4.91763e12 + 1e7 * (i * 37 % 101) for i in range(80)])
    assert "4.91763E+12" in column(cut).warning and "save the column as text" in column(cut).warning
    assert not column(cut + 1234.0).warning.startswith("holds whole")


def test_missing_values_of_stata_and_sas_are_empty_cells():
    cells = [[".a", ".b", ".Z", "._", "."][i % 5] if i % 4 == 0 else f"{i}.5" for i in range(100)]
    found = column(cells)
    assert found.kind == "number" and found.n_unread == 25


def test_codes_of_surveys_for_no_answer_are_named():
    steps = np.arange(100) % 5 + 1
    for codes in ([98, 99], [-9], [-8, -9], [97]):
        cells = steps.copy()
        cells[::10] = np.resize(codes, 10)
        shown = ",".join(str(code) for code in sorted(codes))
        assert f"no answer, --missing {shown} empties these cells" in column(cells).warning
    assert column(np.append(steps, [40, 98, 98, 98])).warning == ""  # no scale: 40 stands between
    assert "--missing 9999999" in column(np.where(steps == 1, 9999999, 1000.5 * steps)).warning


@pytest.mark.parametrize("written", ["%d%b%Y", "%d%b%Y:%H:%M:%S", "%a %b %d %H:%M:%S %Y"])
def test_dates_of_sas_and_of_c_are_read(written):
    days = pd.to_datetime("2020-01-25 10:05:00") + pd.to_timedelta(np.arange(60), unit="D")
    cells = [day.strftime(written) for day in days]
    for texts in (cells, [text.upper() for text in cells], [*cells[:-2], ".", "."]):
        found = column(texts)
        assert (found.kind, found.written) == ("date", written)
    assert "dates of a form that is not read" in column([day.strftime("%d%b%y") for day in days]).warning


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    "cells",
    [range(8), [0, 1, 2, 3, 4, None, None], [*range(30)] * 2, [700, 3, 981, 12, 44], [*range(40), *[None] * 9]],
)
def test_an_index_without_a_name_is_no_feature(cells, place):
    (column,) = column_kinds(pd.DataFrame({f"Unnamed: {place}": cells}))
    assert (column.kind, "counts like an index" in column.warning) == ("identifier", True)


@pytest.mark.parametrize("cells", [[1, 1, 2, 2, 5, 5, 1], [0.5, 1.5, 2.5, 3.5], [3, 1, 3, 1, 2, 3]])
def test_other_numbers_without_a_name_are_a_feature(cells):
    (column,) = column_kinds(pd.DataFrame({"Unnamed: 0": cells}))
    assert column.kind == "number"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (1_700_000_000 + 86_400 * np.arange(30), "like 1702505600, which look like seconds since 1970 (2023-12-13)"),
        (1_700_000_000_000 + 86_400_000 * np.arange(30), "like 1702505600000, which look like milliseconds since 1970"),
    ],
)
def test_moments_as_numbers_are_said(cells, said):
    assert said in column(np.random.default_rng(0).permutation(cells)).warning


@pytest.mark.parametrize(
    "cells", [["1.9.1", "1.6.5"], ["10.0.1.209", "10.0.0.1"], ["555-1234", "555-3333"], ["A5", "B7"]]
)
def test_codes_are_not_numbers_of_another_form(cells):
    assert odd_form(cells * 3) is None


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["27.11.23", "3.1.24", "31.12.24"], "%d.%m.%y"),
        (["4/21/23", "5/7/21", "12/31/22"], "%m/%d/%y"),
        (["08-APR-21", "30-Jun-22", "01-DEC-21"], "%d-%b-%y"),
        (
            ["21/Sep/2021:16:27:00 +0100", "01/Oct/2021:00:00:01 +0000", "30/Dec/2022:23:59:59 -0500"],
            "%d/%b/%Y:%H:%M:%S %z",
        ),
        (["2021年4月5日", "2021年12月31日", "2022年1月1日"], "%Y年%m月%d日"),
        (["3. März 2024", "19. Dezember 2021", "1. Mai 2022"], ""),
        (["2021-03-16 23:12:00 EST", "2023-07-07 05:14:00 EST", "2021-06-30 15:19:00 EST"], ""),
    ],
)
def test_the_form_of_unread_dates_is_one_that_reads_them(texts, form):
    way_out = f"--as COLUMN=date:{form} reads them" if form else "write them as 2024-12-31"
    assert unread_date(texts)[1:] == (texts[0], way_out)


@pytest.mark.parametrize("texts", [["A12-7", "B3-11", "C4-2"], ["1/2", "3/4", "7/10"], ["Oslo", "Rome", "Bern"]])
def test_other_texts_are_no_unread_dates(texts):
    assert unread_date(texts) is None


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1,145.16", "2,000.50", "7"], "; decimal=. reads them (first in row 1: '1,145.16')"),
        (["1.145,16", "12,5"], "; decimal=, reads them"),
        (["1,145", "2,000"], "; decimal=. or , reads them"),
        (["−2.5", "3.5"], "; decimal=. reads them"),
        (["12 €", "13 €"], "; in training there was no €, so write them alike"),
        (["call us", "1,145.16"], "treated as empty (first in row 1: 'call us')"),
    ],
)
def test_new_numbers_of_another_form_are_said_with_the_way_out(cells, said):
    encoder = TableEncoder().fit(pd.DataFrame({"x": [1.5, 2.5, 4.0, 3.0]}))
    with pytest.warns(UserWarning) as warned:
        encoder.transform(pd.DataFrame({"x": cells}))
    assert said in str(warned[0].message)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([f"{feet}'{inch}\"" for feet in (4, 5) for inch in range(9)], "holds feet and inches"),
        ([f"{n} percent" for n in range(9)], "holds numbers with words"),
        ([f"{n}.5±0.{n}" for n in range(9)], "holds numbers with their errors"),
        ([f"−{n}×10^{n}" for n in range(9)], "holds numbers as powers of ten"),
        ([*["TP53", "BRCA1"] * 20, "2-Sep"], "has '2-Sep', which a spreadsheet may have made of a name"),
        ([200000 + 100 * year + month for year in (10, 11, 12) for month in range(1, 13)], "look like months"),
        (["north", None, None, "south", None, None, "west", None], "as in a pivot table, fill it in"),
    ],
)
def test_other_forms_of_cells_are_said(cells, said):
    assert said in column(cells).warning


@pytest.mark.parametrize(
    "cells",
    [
        ["5-9", "10-19", "20-29"] * 9,
        ["A12", "7B", "x±y"] * 9,
        [201000 + 3 * (n % 19) for n in range(57)],
        ["north", None, "north", None, "south", None, None],
        [None, "north", None, None, "south", None, "west", None],
    ],
)
def test_what_only_resembles_them_is_left_alone(cells):
    assert not column(cells).warning


def test_durations_say_their_unit():
    assert column(pd.to_timedelta([1, 5, 9, 4], unit="h")).remark == "durations, in seconds"


@pytest.mark.parametrize(("codes", "said"), [(["12E4", "35E1", "9E7"], "cells like 12E4"), (["1e+05", "2.5E4"], "")])
def test_codes_that_read_as_numbers_are_said(tmp_path, codes, said):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["code,y", *(f"{codes[i % len(codes)]},{i % 2}" for i in range(40))]) + "\n")
    warnings = " ".join(fit_file(path, "y").warnings)
    assert said in warnings and bool(said) == ("codes" in warnings)


def test_a_few_ordinal_numbers_are_classes_and_many_are_named():
    assert column(["1st", "2nd", "3rd"] * 10).warning == ""
    found = column(["1st", "2nd", "3rd", *(f"{day}th" for day in range(4, 20))] * 3).warning
    assert "ordinal numbers, e.g. '1st'" in found and found.endswith("write them as 1")


@pytest.mark.parametrize("half", [0.0, 0.5])
@pytest.mark.parametrize("name", ["date", "Datum", "signup_date", "saleDate", "date of sale"])
def test_day_numbers_of_a_spreadsheet_are_said_and_declared_dates_read_them(name, half):
    cells = pd.DataFrame({name: 44_013 + 9 * (np.arange(40) % 17) + half})
    (found,) = column_kinds(cells)
    shown = f"{44_013 + half:g}" if half else "44013"
    assert found.kind == "number" and f"--as COLUMN=date reads {shown} as 2020-07-01" in found.warning
    days = TableEncoder({name: "date"}).learn(cells).transform(cells)
    assert days[0, 0] == 18_444 + half == pd.Timestamp("2020-07-01").timestamp() / 86_400 + half


@pytest.mark.parametrize(("name", "low"), [("price", 44_013), ("update", 44_013), ("date", 20_200_101), ("date", 1)])
def test_other_numbers_are_no_day_numbers(name, low):
    (found,) = column_kinds(pd.DataFrame({name: low + 9 * (np.arange(40) % 17)}))
    assert "day numbers" not in found.warning


def test_every_doubt_about_a_column_has_an_example():
    """One column for each rule, which gives its warning though all rules before it were asked."""
    rng, n = np.random.default_rng(0), 40
    days = pd.Series(pd.date_range("2021-01-03", periods=n, freq="17D"))
    columns = {
        "as_days": days.dt.strftime("%Y%m%d").astype(int),
        "stamps": days.dt.strftime("%Y%m%d%H%M%S").astype(float),
        "as_short_days": days.dt.strftime("%y%m%d").astype(int),
        "dots_for_thousands": [*rng.integers(200, 900, 20), *(np.arange(20) + 1001) / 1000],
        "moments": days.astype("datetime64[s]").astype(int) + rng.integers(0, 999, n),
        "cut_numbers": rng.integers(100_000, 999_999, n) * 1e7,
        "far_numbers": [*rng.normal(size=n - 3), -999, -999, -999],
        "answer_codes": [*rng.integers(1, 6, n - 4), 98, 98, 99, 99],
        "numbers_and_words": [*map(str, range(n - 8)), *(f"w{i}" for i in range(8))],
        "dates_and_words": [*days.dt.strftime("%d.%m.%Y")[: n - 8], *(f"w{i}" for i in range(8))],
        "of_other_form": [f"{i}:15" for i in range(10, 20)] * 4,
        "na_beside_codes": ["AT", "DE", "FR", "NA"] * 10,
        "in_other_letters": ["Oslo", "oslo", "Rome", "Bern"] * 10,
        "several_values": [f"{a}|{b}" for a in "abcd" for b in "abcd"] * 3,
        "changed_name": ["SEPT2", "2-Sep", "TP53"] * 10,
        "heads_of_groups": [cell for word in ("north", "south", "west") for cell in (word, None, None)],
    }
    assert list(columns) == [rule.__name__ for rule in (*NUMBER_RULES, *TEXT_RULES)]
    for name, cells in columns.items():
        series = pd.Series(cells)
        if series.dtype.kind in "if":
            said = {rule.__name__: rule(series.to_numpy(dtype=float)) for rule in NUMBER_RULES}
        else:
            words = TextColumn(
                ColumnCells(series.rename("a")), "category", ~np.isnan(parsed_numbers(ColumnCells(series).texts))
            )
            said = {rule.__name__: rule(words) for rule in TEXT_RULES}
        assert said[name], name
        assert next(filter(None, said.values())) == said[name], (name, said)
