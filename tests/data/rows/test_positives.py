"""Labels in a second table: joined by an identifier, or added as rows of their own."""

import warnings

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data import label_positives
from pucli.data.rows.training_rows import RowSource, training_rows
from pucli.data.rows.user_file import ColumnChoice


def people(n=200, seed=0):
    random = np.random.default_rng(seed)
    numbers = random.permutation(9000)[:n]
    income = random.normal(3, 1, n).round(4)
    return pd.DataFrame({"customer_id": [f"{one:04d}" for one in numbers], "income": income,
                         "city": random.choice(["Graz", "Lyon", "Oslo"], n)})  # fmt: skip


@pytest.fixture
def table(tmp_path):
    frame = people()
    frame.to_csv(tmp_path / "customers.csv", index=False)
    return frame


def rows_of(tmp_path, listed, text=None, **choice):
    if text is not None:
        (tmp_path / listed).write_text(text)
    source = RowSource(data=tmp_path / "customers.csv", positives_from=tmp_path / listed, choice=ColumnChoice(**choice))
    with warnings.catch_warnings(action="ignore"):
        return training_rows("pu", source)


WANTED = slice(20, 60)


@pytest.mark.parametrize("name", ["ids.txt", "ids.csv", "ids", "column.csv", "rows.csv", "quoted.csv", "few.parquet"])
def test_rows_are_joined_by_the_common_identifier(tmp_path, table, name):
    """A list without a header, with one, and whole rows label the same rows; "0042" is not 42."""
    ids = table["customer_id"][WANTED]
    if name == "few.parquet":
        table[WANTED].to_parquet(tmp_path / name)
        found = rows_of(tmp_path, name)
    else:
        text = {
            "column.csv": table[["customer_id"]][WANTED].to_csv(index=False),
            "rows.csv": table[WANTED].to_csv(index=False),
            "quoted.csv": table[["city", "customer_id"]][WANTED].to_csv(index=False, sep=";"),
        }
        found = rows_of(tmp_path, name, text.get(name, "\n".join(ids) + "\n"))
    assert np.flatnonzero(found.labeled).tolist() == list(range(20, 60))
    assert found.positive == f"customer_id in {tmp_path / name}"
    assert found.about["positives_from"] | {"rows": 40} == {
        "file": str(tmp_path / name), "id": ["customer_id"], "rows": 40, "added": 0, "found": 40, "not_found": 0,
    }  # fmt: skip
    assert not any("customer_id" in feature for feature in found.feature_names)


def test_texts_are_joined_and_an_identifier_without_a_header_is_no_header(tmp_path):
    frame = people().assign(customer_id=[f"K{i}" for i in range(200)])
    frame.to_csv(tmp_path / "customers.csv", index=False)
    found = rows_of(tmp_path, "ids.txt", "\n".join(frame["customer_id"][WANTED]))
    assert np.flatnonzero(found.labeled).tolist() == list(range(20, 60))


def test_identifiers_that_are_not_found_are_named_or_refused(tmp_path, table):
    ids = list(table["customer_id"][WANTED])
    found = rows_of(tmp_path, "ids.txt", "\n".join([*ids, "x1", "x2", "", ids[0]]))
    assert found.n_labeled == 40
    assert any("2 of 42 identifiers" in line and "'x1', 'x2'" in line for line in found.warnings)
    with pytest.raises(UsageError, match=r"41 of 81 identifiers .* has identifiers such as"):
        rows_of(tmp_path, "ids.txt", "\n".join([*ids, *(f"x{i}" for i in range(41))]))


def test_rows_without_an_identifier_are_added_and_equal_ones_count_once(tmp_path, table):
    added = people(30, seed=5).drop(columns="customer_id")
    equal = table[WANTED].drop(columns="customer_id")
    text = pd.concat([equal, added, added[:4]]).to_csv(index=False)
    found = rows_of(tmp_path, "presence.csv", text)
    assert len(found.X) == 230 and found.n_labeled == 70
    assert np.flatnonzero(found.labeled[:200]).tolist() == list(range(20, 60))
    about = found.about["positives_from"]
    assert (about["added"], about["equal"], about["repeated"]) == (30, 40, 4)
    assert found.positive.endswith("presence.csv, added")
    assert found.marks["row"].tolist() == list(range(1, 231))


def test_two_samples_with_other_identifiers_are_one_table(tmp_path, table):
    """No identifier of the second is in the first: its rows are added, and the answer says so."""
    other = people(50, seed=9).assign(customer_id=[f"99{i:03d}" for i in range(50)])
    found = rows_of(tmp_path, "other.csv", other.to_csv(index=False))
    assert len(found.X) == 250 and found.n_labeled == 50
    assert any("so its rows are added as another sample" in line for line in found.warnings)
    assert not any("customer_id" in feature for feature in found.feature_names)


def test_equal_numbers_of_other_cases_join_nothing(tmp_path):
    """Both tables number their rows from 1: these are no common identifiers."""
    frame = people().assign(customer_id=range(1, 201))
    frame.to_csv(tmp_path / "customers.csv", index=False)
    other = people(40, seed=5).assign(customer_id=range(1, 41))
    found = rows_of(tmp_path, "numbered.csv", other.to_csv(index=False))
    assert len(found.X) == 240 and found.n_labeled == 40
    mixed = other.assign(customer_id=np.random.default_rng(0).permutation(200)[:40] + 1)
    with pytest.raises(UsageError, match="differ in the other columns, as if they were of different cases"):
        rows_of(tmp_path, "mixed.csv", mixed.to_csv(index=False))
    found = rows_of(tmp_path, "mixed.csv", ids=("customer_id",))
    assert any("labels may be of other rows" in line for line in found.warnings)
    assert rows_of(tmp_path, "mixed.csv", find_ids=False).n_labeled == 40


def test_what_cannot_be_joined_says_why(tmp_path, table):
    with pytest.raises(UsageError, match=r"no column 'income', so its rows can be neither found nor added; .*--drop"):
        rows_of(tmp_path, "no.csv", people(30).drop(columns=["income", "customer_id"]).assign(x=1).to_csv(index=False))
    assert rows_of(tmp_path, "no.csv", drop=("income",)).n_labeled > 0
    with pytest.raises(UsageError, match="is the table itself"):
        rows_of(tmp_path, "customers.csv")
    with pytest.raises(UsageError, match="lists every row"):
        rows_of(tmp_path, "all.txt", "\n".join(table["customer_id"]))
    with pytest.raises(UsageError, match=r"has no column 'customer_id' .--id"):
        rows_of(tmp_path, "no.csv", ids=("customer_id",))
    with pytest.raises(UsageError, match="--label and --positives-from both say"):
        training_rows(
            "pu", RowSource(data=tmp_path / "customers.csv", label="city", positives_from=tmp_path / "no.csv")
        )


def test_several_identifiers_together_name_a_row(tmp_path):
    frame = people().assign(customer_id=np.arange(200) // 2, order=np.arange(200) % 2)
    frame.to_csv(tmp_path / "customers.csv", index=False)
    listed = frame[["customer_id", "order"]][WANTED]
    found = rows_of(tmp_path, "two.csv", listed.to_csv(index=False), ids=("customer_id", "order"))
    assert np.flatnonzero(found.labeled).tolist() == list(range(20, 60))


def test_rows_that_repeat_by_chance_are_labeled_one_by_one():
    table = pd.DataFrame({"a": [0, 1] * 50, "b": [0, 0, 1, 1] * 25})
    X, s = label_positives(table, pd.DataFrame({"a": [1, 1, 1, 0], "b": [1, 1, 1, 0]}))
    assert len(X) == 100 and s.sum() == 4
    assert X[s].sum().tolist() == [3, 3]


def test_frames_and_lists_are_labeled_in_python():
    table = people().rename(columns={"customer_id": "customer"})
    X, s = label_positives(table, list(table["customer"][WANTED]))
    pd.testing.assert_frame_equal(X, table)
    assert np.flatnonzero(s).tolist() == list(range(20, 60))
    X, s = label_positives(table, people(10, seed=4).rename(columns={"customer_id": "customer"}), id="")
    assert len(X) == 210 and s.tolist() == [False] * 200 + [True] * 10
    with pytest.warns(UserWarning, match="1 of 2 identifiers of the list of positives"):
        _, s = label_positives(table, [table["customer"][3], "none"], id="customer")
    assert np.flatnonzero(s).tolist() == [3]
