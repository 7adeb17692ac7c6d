"""What columns are taken for: by rule, or as the user says; and which columns give the label away."""

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.columns.kinds import column_kinds, yes_value
from pucli.data.columns.leakage import leaks

N = 60
RANDOM = np.random.default_rng(1)


def column_of(cells, name="c", kinds=None):
    [column] = column_kinds(pd.DataFrame({name: cells}), kinds)
    return column


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (RANDOM.normal(size=N), "number"),
        ([1, 2, None, 4], "number"),
        (["1", "2.5", "?", "-3e4"], "number"),
        (RANDOM.integers(18, 90, size=N), "number"),
        (pd.to_timedelta([1, 2, 3], unit="h"), "number"),
        ([0, 1, 1, 0], "yes/no"),
        ([True, False, True], "yes/no"),
        (["TRUE", "False", None], "yes/no"),
        (["yes", "no", "no", ""], "yes/no"),
        (["x", None, "x", None], "yes/no"),
        (["cook", "nurse", "pilot", "cook"], "category"),
        ([f"zip {i % 25}" for i in range(N)], "category"),
        (pd.Categorical(["a", "b", "c"]), "category"),
        (["2024-01-05", "2024-02-29", None], "date"),
        (["05.01.2024", "29.02.2024"], "date"),
        (["2024-01-05 10:30:00", "2024-01-05T11:00:00"], "date"),
        (pd.to_datetime(["2024-01-05", "2024-01-06"]), "date"),
        (pd.to_datetime(["2024-01-05", "2024-01-06"], utc=True), "date"),
        ([f"the room was good and number {i} too" for i in range(N)], "text"),
        ([f"C{i:05d}" for i in range(N)], "identifier"),
        (np.arange(N), "identifier"),
        (np.arange(N, 0, -1), "identifier"),
        ([7, 7, 7], "constant"),
        (["same", "same"], "constant"),
        ([None, None], "constant"),
        ([np.nan, np.nan], "constant"),
    ],
)
def test_each_kind_is_recognized_by_its_cells(cells, kind):
    assert column_of(cells).kind == kind


def test_a_whole_number_is_an_identifier_by_its_name_only_if_it_has_many_values():
    many = RANDOM.permutation(10 * N)[:N]
    assert column_of(many, "customer_id").kind == column_of(many, "customerID").kind == "identifier"
    assert column_of(many, "paid").kind == "number"
    assert column_of(many % 7, "store_id").kind == "number"
    assert column_of(RANDOM.normal(size=N), "id").kind == "number"  # not whole


@pytest.mark.parametrize("name", ["heat_index", "region-centroid-row"])
def test_a_quantity_called_index_or_row_is_a_number_unless_its_values_differ(name):
    repeated = RANDOM.integers(200, size=1000)
    column = column_of(repeated, name)
    assert column.kind == "number" and "--drop" in column.warning
    assert column_of(RANDOM.permutation(1000), name).kind == column_of(repeated, "customer_id").kind == "identifier"


def test_distinct_whole_numbers_far_apart_are_kept_with_a_warning():
    column = column_of(RANDOM.permutation(10**6)[:N])
    assert column.kind == "number"
    assert "--drop" in column.warning


def test_few_rows_do_not_make_an_identifier():
    assert column_of(["ann", "bob", "eve"]).kind == "category"
    assert column_of([1, 2, 3]).kind == "number"


def test_a_few_words_among_numbers_become_empty_cells_with_a_remark():
    column = column_of(["1", "2", "3"] * 20 + ["closed"])
    assert (column.kind, "empty: 1, e.g. 'closed'" in column.remark) == ("number", True)
    assert column_of(["1", "2", "closed", "open"]).kind == "category"


def test_an_ambiguous_date_format_is_warned_of():
    assert "day first" in column_of(["05/01/2024", "06/02/2024"]).warning
    assert column_of(["05/01/2024", "06/22/2024"]).warning == ""


def test_the_user_can_override_the_kind():
    assert column_of([1, 2, 3], kinds={"c": "category"}).kind == "category"
    assert column_of(np.arange(N), kinds={"c": "number"}).kind == "number"
    assert column_of(["a b c d"] * 3 + ["e"], kinds={"c": "text"}).kind == "text"


@pytest.mark.parametrize(
    ("cells", "kinds", "message"),
    [
        (["a", "b"], {"c": "number"}, "column 'c' is declared as number, but no cell is a number, e.g. 'a'"),
        (["a", "b"], {"c": "date"}, "column 'c' is declared as date, but no cell is a date, e.g. 'a'"),
        (["a", "b", "d"], {"c": "yes/no"}, "'c' is declared as yes/no, but has 3 values; use category"),
        (["a", "b"], {"d": "number"}, "unknown column 'd'"),
        (["a", "b"], {"c": "nubmer"}, "unknown kind of column 'nubmer'; did you mean 'number'"),
        ([[1], [2]], {}, "column 'c': a cell must hold one value.*leave the column out"),
        ([1j, 2j], {}, "column 'c' holds complex numbers"),
    ],
)
def test_errors_name_the_column(cells, kinds, message):
    with pytest.raises(UsageError, match=message):
        column_of(cells, kinds=kinds)


@pytest.mark.parametrize(
    ("values", "yes"),
    [
        (["no", "Yes"], "Yes"),
        (["f", "t"], "t"),
        (["off", "running"], "running"),
        (["2", "10"], "10"),
        (["b", "a"], "b"),
    ],
)
def test_the_word_for_yes(values, yes):
    assert yes_value(values) == yes


def some_rows(n=400):
    labeled = np.arange(n) % 4 == 0
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"fair": random.normal(size=n) + labeled, "job": random.choice(["a", "b", "c"], size=n)})
    return frame, labeled


def test_columns_that_reveal_the_label_are_named():
    frame, labeled = some_rows()
    frame["again"] = np.where(labeled, 5.0, 1.0) + RANDOM.random(len(frame)) / 10
    frame["answer"] = np.where(labeled, "bought", np.where(np.arange(len(frame)) % 3 == 0, "left", "looked"))
    frame["paid_on"] = pd.Series(np.where(labeled, "2024-01-05", None), dtype=object)
    frame.loc[frame.index[labeled][0], "paid_on"] = "2024-02-07"
    frame["some"] = np.where(labeled & (np.arange(len(frame)) % 8 == 0), 3.5, np.nan)
    frame.loc[8, "some"] = 4.5
    often = labeled ^ (np.random.default_rng(6).random(len(frame)) < 0.05)
    frame["reviewed_by"] = pd.Series(np.where(often, "team", None), dtype=object)
    remarks = np.where(labeled, "case confirmed by agent", "some other remark")
    frame["note"] = [f"{text} {i}" for i, text in enumerate(remarks)]
    found = leaks(frame, labeled, column_kinds(frame))
    assert set(found) == {"again", "answer", "paid_on", "some", "reviewed_by", "note"}
    assert "100 % of the labeled and 0 % of the other rows" in found["paid_on"]
    assert any(word in found["note"] for word in ("case", "confirmed", "agent", "by"))


def test_a_category_with_many_values_is_not_named_for_chance_agreement():
    frame, labeled = some_rows()
    frame["shop"] = [f"s{i}" for i in np.random.default_rng(2).integers(0, 300, size=len(frame))]
    columns = column_kinds(frame, {"shop": "category"})
    assert leaks(frame, labeled, columns) == {}


def test_with_few_labeled_rows_no_column_is_named():
    frame, labeled = some_rows()
    frame["again"] = labeled.astype(float) * 2 + 1
    few = np.zeros_like(labeled)
    few[:5] = True
    frame["few"] = few * 2.0 + 1
    assert set(leaks(frame, few, column_kinds(frame))) == set()
