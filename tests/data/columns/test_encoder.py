"""The encoder agrees with scikit-learn's, learns from training rows alone, and reads new tables by their meaning."""

import datetime
import decimal
import json
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pucli.core.errors import UsageError
from pucli.data.columns.drift import DriftCounter, Range
from pucli.data.columns.encoder import TableEncoder
from pucli.data.files.tables import open_table
from tests.helpers import SHARED

JOBS = ["cook", "nurse", "pilot", "clerk"]


def table(n=80, seed=0):
    """A table with a column of every kind, and empty cells in most of them."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 90, size=n).astype(float),
            "job": random.choice(JOBS, size=n),
            "member": random.choice(["yes", "no"], size=n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 10**7, size=n), unit="min"),
            "note": [
                " ".join(random.choice(["good", "bad", "room", "food", "very"], size=6)) + f" {i}" for i in range(n)
            ],
            "key": [f"K{i:04d}" for i in range(n)],
            "unit": "m",
        }
    )
    frame["since"] = frame["since"].dt.strftime("%Y-%m-%d %H:%M")
    for name in ("age", "job", "member", "since", "note"):
        frame.loc[random.random(n) < 0.1, name] = None
    return frame


def test_every_kind_has_its_features():
    encoder = TableEncoder(max_words=2).fit(table())
    names = encoder.get_feature_names_out().tolist()
    assert names[:2] == ["age", "age is empty"]
    assert names[2:7] == ["job=clerk", "job=cook", "job=nurse", "job=pilot", "job is empty"]
    assert names[7:9] == ["member=yes", "member is empty"]
    assert names[9:16] == [
        "since days",
        *(f"since {p} {t}" for p in ("month", "weekday", "hour") for t in ("sin", "cos")),
    ]
    assert names[16] == "since is empty"
    assert [name.startswith("note: ") for name in names[17:]] == [True, True, False]
    Z = encoder.transform(table())
    assert Z.shape == (80, len(names))
    assert np.isfinite(Z).all()


def test_numbers_agree_with_simple_imputer():
    frame = table()[["age"]]
    expected = SimpleImputer(strategy="median", add_indicator=True).fit_transform(frame)
    assert np.array_equal(TableEncoder().fit_transform(frame), expected)


@pytest.mark.parametrize("most", [2, 3, 40])
def test_categories_agree_with_one_hot_encoder(most):
    random = np.random.default_rng(4)
    values = np.repeat(list("abcdef"), [3, 9, 1, 5, 2, 7])
    frame = pd.DataFrame({"c": random.permutation(values)})
    ours = TableEncoder(max_categories=most).fit(frame)
    limit = most + 1 if most < 6 else None
    theirs = OneHotEncoder(max_categories=limit, handle_unknown="infrequent_if_exist", sparse_output=False).fit(frame)
    new = pd.DataFrame({"c": [*"fedcba", "never seen"]})
    with pytest.warns(UserWarning, match="not seen in training") if most >= 6 else pytest.MonkeyPatch.context():
        assert np.array_equal(ours.transform(new), theirs.transform(new))
    assert np.array_equal(ours.transform(frame), theirs.transform(frame))


def test_rare_new_and_empty_values_of_a_category_each_have_their_place():
    frame = pd.DataFrame({"c": ["a", "a", "b", "b", "c", None]})
    encoder = TableEncoder({"c": "category"}, max_categories=2).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["c=a", "c=b", "c=(other values)", "c is empty"]
    np.testing.assert_array_equal(
        encoder.transform(pd.DataFrame({"c": ["a", "b", "c", "new", None]})), np.eye(4)[[0, 1, 2, 2, 3]]
    )


def test_an_empty_cell_of_yes_and_no_has_the_more_frequent_meaning():
    words = TableEncoder().fit(pd.DataFrame({"c": ["yes", "no", "Y", "true", None]}))
    np.testing.assert_array_equal(words.transform(pd.DataFrame({"c": ["n", None]})), [[0.0, 0.0], [1.0, 1.0]])
    even = TableEncoder().fit(pd.DataFrame({"c": ["yes", "no", "Y", "n", None]}))
    np.testing.assert_array_equal(even.transform(pd.DataFrame({"c": [None]})), [[0.0, 1.0]])
    # with one value, a cell is filled or empty
    one = TableEncoder({"c": "yes/no"}).fit(pd.DataFrame({"c": ["x", None, "x"]}))
    with pytest.warns(UserWarning, match="neither 'x' nor 'empty'"):
        np.testing.assert_array_equal(one.transform(pd.DataFrame({"c": ["x", None, "z"]})), [[1.0], [0.0], [0.0]])


def test_text_agrees_with_tfidf_vectorizer():
    notes = table()["note"].fillna("")
    theirs = TfidfVectorizer(max_features=4, min_df=2).fit(notes[notes != ""])
    expected = theirs.transform(notes[notes != ""]).toarray()
    encoded = TableEncoder({"note": "text"}, max_words=4).fit_transform(notes[notes != ""].to_frame())
    assert np.array_equal(encoded, expected)


def test_dates_become_days_and_cyclic_features():
    frame = pd.DataFrame({"d": ["1970-01-01", "1970-01-02 06:00", "1970-07-01"]})
    encoder = TableEncoder().fit(frame)
    Z = dict(zip(encoder.get_feature_names_out(), encoder.transform(frame).T, strict=True))
    assert Z["d days"].tolist() == [0.0, 1.25, 181.0]
    assert np.allclose(Z["d hour sin"], [0, 1, 0])
    assert np.allclose(Z["d month cos"], [1, 1, -1])
    thursday, friday, wednesday = 2 * np.pi * np.array([3, 4, 2]) / 7
    assert np.allclose(Z["d weekday sin"], np.sin([thursday, friday, wednesday]))


def test_rows_that_are_not_for_training_change_nothing():
    """A poisoned test row: other values, extremes, other types."""
    frame, rest = table(), table(20, seed=9)
    encoder = TableEncoder().fit(frame)
    state = json.dumps(encoder.__getstate__()["encoders_"])
    before = encoder.transform(rest)
    poisoned = rest.astype(object).copy()
    poisoned.loc[len(poisoned)] = [1e9, "alien", "perhaps", "never", "poison " * 9, "K0001", "km"]
    tally = DriftCounter()
    after = encoder.transform(poisoned, tally)
    assert np.array_equal(after[:-1], before)
    assert json.dumps(encoder.__getstate__()["encoders_"]) == state
    report = "\n".join(tally.lines())
    for name, what in [("job", "'alien'"), ("member", "'perhaps'"), ("since", "'never'")]:
        assert f"column '{name}': 1 cell" in report and f"first in row 21: {what}" in report


def test_the_state_is_plain_data_and_gives_the_same_bits():
    frame = table()
    encoder = TableEncoder().fit(frame)
    state = json.loads(json.dumps(encoder.__getstate__(), default=lambda array: {"array": array.tolist()}))
    state["feature_names_in_"] = np.array(state["feature_names_in_"]["array"], dtype=object)
    again = TableEncoder.__new__(TableEncoder)
    again.__setstate__(state)
    assert np.array_equal(again.transform(frame), encoder.transform(frame))
    assert np.array_equal(pickle.loads(pickle.dumps(encoder)).transform(frame), encoder.transform(frame))
    assert again.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()


def test_order_of_columns_other_columns_and_types_do_not_matter():
    frame = table()
    encoder = TableEncoder().fit(frame)
    expected = encoder.transform(frame)
    other = frame[frame.columns[::-1]].assign(extra=1)
    other["age"] = other["age"].map(lambda age: "" if pd.isna(age) else f" {age:.0f} ").astype(object)
    other["job"] = pd.Categorical(other["job"])
    other["since"] = pd.to_datetime(other["since"])
    other["member"] = other["member"].str.upper()
    assert np.array_equal(encoder.transform(other), expected)
    assert np.array_equal(encoder.transform(frame.drop(columns=["key", "unit"])), expected)


def test_arrow_and_polars_tables_are_read_as_pandas_ones():
    pyarrow = pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")
    frame = table()
    arrow = pyarrow.Table.from_pandas(frame)
    expected = TableEncoder().fit_transform(frame)
    assert np.array_equal(TableEncoder().fit_transform(arrow), expected)
    assert np.array_equal(TableEncoder().fit(frame).transform(arrow), expected)


def test_types_of_every_library_mean_the_same():
    pyarrow = pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")
    days = [datetime.date(2020, 1, 1), datetime.date(2021, 5, 5), None] * 10
    table = pyarrow.table(
        {
            "n": [1, None, 3] * 10,
            "day": days,
            "time": [None if day is None else datetime.datetime(day.year, 1, 1, 5) for day in days],
            "b": [True, False, None] * 10,
            "c": ["x", "y", None] * 10,
            "price": [decimal.Decimal("1.5"), decimal.Decimal("2.5"), None] * 10,
        }
    )
    frame = table.to_pandas()
    expected = TableEncoder().fit_transform(frame)
    kinds = [column.kind for column in TableEncoder().fit(frame).columns_]
    assert kinds == ["number", "date", "date", "yes/no", "yes/no", "number"]
    for other in (table, frame.convert_dtypes(), table.to_pandas(types_mapper=pd.ArrowDtype)):
        assert np.array_equal(TableEncoder().fit_transform(other), expected)


def test_polars_tables():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = table()
    other = polars.DataFrame({name: [None if pd.isna(c) else c for c in frame[name]] for name in frame})
    assert np.array_equal(TableEncoder().fit_transform(other), TableEncoder().fit_transform(frame))


def test_a_sparse_matrix_is_left_as_it_is():
    X = scipy.sparse.random_array((20, 1000), density=0.01, format="csr", random_state=np.random.default_rng(0))
    encoder = TableEncoder().fit(X)
    assert encoder.transform(X) is X
    with pytest.raises(ValueError, match="expecting 1000 features"):
        encoder.transform(X[:, :10])
    with pytest.raises(UsageError, match="sparse"):
        encoder.transform(X.toarray())


def test_a_matrix_of_numbers_is_not_changed():
    X = np.random.default_rng(0).normal(size=(30, 4))
    X[:, 2] = 5.0
    encoder = TableEncoder().fit(X)
    assert encoder.is_plain
    assert np.array_equal(encoder.transform(X), X)
    assert not TableEncoder().fit(table()).is_plain


def test_a_missing_column_is_named_with_the_nearest_one():
    encoder = TableEncoder().fit(table())
    with pytest.raises(UsageError, match=r"no column 'age', which the model was trained with; there is 'Age': rename"):
        encoder.transform(table().rename(columns={"age": "Age"}))
    with pytest.raises(UsageError, match=r"no column 'age' \(nor 'job'\)"):
        encoder.transform(table().drop(columns=["age", "job"]))


@pytest.mark.parametrize("cell", [np.inf, -np.inf, "1e400", "Infinity"])
def test_an_infinite_cell_is_read_as_empty_and_told(cell):
    bad, empty = table(), table()
    empty.loc[7, "age"] = np.nan
    bad["age"] = table()["age"].astype(type(cell) if isinstance(cell, float) else str).mask(bad.index == 7, cell)
    with pytest.warns(UserWarning, match=r"column 'age': 1 cell infinite, treated as empty \(first in row 8"):
        found = TableEncoder().fit(table()).transform(bad)
    np.testing.assert_array_equal(found, TableEncoder().fit(table()).transform(empty))
    with pytest.warns(
        UserWarning, match="'age' has 1 infinite cell, read as empty; na_values of pandas inf,-inf,Infinity says so"
    ):
        encoder = TableEncoder().fit(bad)
    assert "age is empty" in encoder.get_feature_names_out()


FLAGGED = ["41.3 b", "40.1", ": c", "37.9 ep", ":", "39.9", "38.2", "<0.5", "44.5 b", "42"] * 4
PLAIN = [41.3, 40.1, np.nan, 37.9, np.nan, 39.9, 38.2, 0.5, 44.5, 42.0] * 4


def test_flags_beside_numbers_change_no_number():
    with pytest.warns(UserWarning, match=r"flags .* not used: 'b' \(8\), 'c' \(4\), 'ep' \(4\), '<' \(4\); kinds"):
        encoder = TableEncoder().fit(pd.DataFrame({"x": FLAGGED}))
    plain = TableEncoder().fit(pd.DataFrame({"x": PLAIN}))
    assert encoder.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()
    Z = plain.transform(pd.DataFrame({"x": PLAIN}))
    for cells in (FLAGGED, PLAIN):  # new rows may come without the flags
        np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"x": cells})), Z)


def test_flags_of_a_declared_number_are_features():
    encoder = TableEncoder({"x": "number"}).fit(pd.DataFrame({"x": FLAGGED}))
    names = ["x", "x flag b", "x flag c", "x flag ep", "x flag <", "x is empty"]
    assert encoder.get_feature_names_out().tolist() == names
    assert "cells without a number, treated as empty: 8; flags: 'b' (8)" in encoder.columns_[0].remark
    Z = encoder.transform(pd.DataFrame({"x": FLAGGED}))
    np.testing.assert_array_equal(Z[:, 1:5].sum(axis=0), [8, 4, 4, 4])
    np.testing.assert_array_equal(Z[:3, 0], [41.3, 40.1, np.nanmedian(PLAIN)])
    copy = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(copy.transform(pd.DataFrame({"x": FLAGGED})), Z)
    with pytest.warns(UserWarning, match="1 cell with a flag not seen in training"):
        assert encoder.transform(pd.DataFrame({"x": ["41.3 u"]}))[0].tolist() == [41.3, 0, 0, 0, 0, 0]


def test_multiples_are_read_as_such():
    encoder = TableEncoder().learn(pd.DataFrame({"x": ["17.1K", "900", "1.2M", "5", "33"] * 5}))
    assert encoder.transform(pd.DataFrame({"x": ["17.1K", "1.2M", "33"]}))[:, 0].tolist() == [17100.0, 1.2e6, 33.0]


EUROSTAT = SHARED / "cases" / "exports" / "eurostat_flags"


@pytest.mark.skipif(not EUROSTAT.is_dir(), reason="no ../shared/cases/exports beside the checkout")
def test_official_flags_give_the_features_of_the_file_without_them():
    flagged, plain = (open_table(EUROSTAT / f"eurostat_{name}.tsv", "bought").frame for name in ("lab", "plain"))
    encoders = [TableEncoder().learn(frame) for frame in (flagged, plain)]
    np.testing.assert_array_equal(encoders[0].transform(flagged), encoders[1].transform(plain))
    assert all("flags" in one.warning for one in encoders[0].columns_[1:5])


@pytest.mark.slow
def test_blocks_of_any_size_give_the_same_bits_and_one_tally():
    frame, new = table(), table(60, seed=3)
    new.loc[[5, 50], "job"] = "alien"
    encoder = TableEncoder().fit(frame)
    whole = DriftCounter()
    expected = encoder.transform(new, whole)
    for size in (1, 7, 59):
        tally, parts = DriftCounter(), []
        for start in range(0, len(new), size):
            tally.offset = start
            parts.append(encoder.transform(new.iloc[start : start + size], tally))
        assert np.array_equal(np.concatenate(parts), expected)
        assert tally.lines() == whole.lines()
    assert "2 cells with a value not seen in training (first in row 6: 'alien')" in whole.lines()[0]


def test_no_training_rows_are_an_error_and_no_new_rows_give_no_rows():
    with pytest.raises(UsageError, match="no rows"):
        TableEncoder().fit(table().iloc[:0])
    assert TableEncoder().fit(table()).transform(table().iloc[:0]).shape[0] == 0


@pytest.mark.parametrize("cells", [["x"], [3.5], [None], ["2024-05-05"]])
def test_one_row_and_one_column(cells):
    encoder = TableEncoder().fit(pd.DataFrame({"c": cells}))
    assert encoder.transform(pd.DataFrame({"c": cells})).shape[0] == 1


def test_three_thousand_categories_share_one_feature_beyond_the_frequent_ones():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"shop": [f"s{i}" for i in random.integers(0, 3000, size=20_000)]})
    Z = TableEncoder().fit_transform(frame)
    assert Z.shape == (20_000, 41)
    assert (Z.sum(axis=1) == 1).all()


def test_codes_with_leading_zeros_can_be_declared_categories():
    frame = pd.DataFrame({"zip": ["007", "7", "012", "007"]})
    encoder = TableEncoder({"zip": "category"}).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["zip=007", "zip=7", "zip=012"]


def test_a_category_of_numbers_is_the_same_however_they_are_written():
    encoder = TableEncoder({"c": "category"}).fit(pd.DataFrame({"c": [1, 2, 3]}))
    for cells in ([1.0, 2.0, 3.0], ["1", "2", "3"], ["1.0", " 2", "3"]):
        assert np.array_equal(encoder.transform(pd.DataFrame({"c": cells})), np.eye(3))


def test_as_a_step_of_a_pipeline():
    frame = table()
    model = make_pipeline(TableEncoder(), StandardScaler(), LogisticRegression())
    y = np.arange(len(frame)) % 3 == 0
    assert clone(model).fit(frame, y).predict(frame).shape == (80,)
    named = TableEncoder().set_output(transform="pandas").fit_transform(frame)
    assert named.columns[1] == "age is empty"


@parametrize_with_checks([TableEncoder()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_cells_on_both_sides_of_the_range_of_training_are_counted():
    tally = DriftCounter()
    values = np.array([*range(-4, 1), *np.linspace(1.0, 10.0, 20), *range(11, 15), np.nan])
    for part in np.array_split(values, 3):
        tally.add_range("age", part, Range(1.0, 10.0, 1000))
    [line] = tally.lines()
    assert line.startswith("column 'age': 9 of 30 cells ") and "1 to 10" in line
    # the range of few training rows says little: of twenty, up to half of the new cells may lie outside
    for outside, told in ((9, 0), (11, 1)):
        tally = DriftCounter()
        tally.add_range("age", np.repeat([0.0, 5.0], [outside, 20 - outside]), Range(1.0, 10.0, 20))
        assert len(tally.lines()) == told


def test_a_structured_array_is_a_table():
    rows = np.array([(1.5, "x"), (2.5, "y"), (4.0, "z")] * 3, dtype=[("a", "f8"), ("b", "U1")])
    encoder = TableEncoder().fit(rows)
    assert [column.kind for column in encoder.columns_] == ["number", "category"]
    assert encoder.transform(rows[:2]).tolist() == encoder.transform(pd.DataFrame(rows[:2])).tolist()
