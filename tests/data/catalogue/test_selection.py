"""From a declared table to (X, y): rows, classes and columns, and what does not fit the declaration."""

from __future__ import annotations

import pytest

from pucli.core.errors import PucliError
from tests.data.toy import load_toy


def test_selection_in_words(tmp_path):
    text = "a,date,class\n9,2,1\n1,b,1\n2,a,0\n3,c,2\n4,a,1\n5,c,0\n"
    data = load_toy(tmp_path, text, "  rows: {drop_first: 1, take: {1: all, 0: 1}}\n  features: {codes: [date]}\n")
    assert data.y.tolist() == [1, -1, 1]
    assert data.X.tolist() == [[1, 2], [2, 1], [4, 1]]  # ranks among the chosen rows: a 1, b 2


def test_codes_sort_as_r_does_case_last_and_a_missing_text_comes_first(tmp_path):
    text = "a,name,class\n1,b,1\n2,B,0\n3,,1\n4,C,0\n5,a,1\n"
    data = load_toy(tmp_path, text, "  features: {take: [name], codes: [name]}\n")
    assert data.X.ravel().tolist() == [4, 3, 1, 5, 2]


def test_slices_count_from_one_after_a_stable_sort(tmp_path):
    text = "a,land,class\n1,b,1\n2,A,0\n3,b,0\n4,c,1\n5,A,1\n"
    extra = "  rows: {sort: {column: land, order: descending}, slices: [[1, 2], [4, 4]]}\n  features: {take: [a]}\n"
    assert load_toy(tmp_path, text, extra).X.ravel().tolist() == [4, 1, 2]


def test_a_row_with_a_declared_sign_in_any_column_is_left_out(tmp_path):
    text = "a,b,land,class\n1,x,?,1\n2,?,A,0\n3,x,A,0\n4,y,B,1\n"
    extra = "  rows: {without: ['?']}\n  features: {drop: [land], codes: [b]}\n"
    data = load_toy(tmp_path, text, extra)
    assert data.X.tolist() == [[3, 1], [4, 2]]
    assert data.y.tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("how", "expected"), [("median", [1.0, 2.0, 3.0]), ("zero", [1.0, 0.0, 3.0]), ("drop", [1.0, 3.0])]
)
def test_missing_numbers_are_filled_as_declared_and_noted(how, expected, tmp_path):
    data = load_toy(tmp_path, "a,class\n1,1\n,0\n3,0\n", f"  features: {{fill: {{a: {how}}}}}\n")
    assert data.X.ravel().tolist() == expected
    assert any("1 missing values of a" in note for note in data.notes)


def test_one_hot_columns_are_named_by_value(tmp_path):
    data = load_toy(tmp_path, "a,b,class\n1,x,1\n2,y,0\n", "  features: {one_hot: text}\n")
    assert data.feature_names == ("a", "b=x", "b=y")
    assert data.X.tolist() == [[1, 1, 0], [2, 0, 1]]


@pytest.mark.parametrize(
    ("text", "extra", "message"),
    [
        ("a,class\nx,1\n2,0\n", "", "column 'a': 'x' is not a number"),
        ("a,class\n,1\n2,0\n", "", "column 'a': 1 missing values; declare 'features.fill'"),
        ("a,klass\n1,1\n2,0\n", "", "no column 'class'; columns: a, klass"),
        ("a,class\n1,1\n2,2\n", "", "no row has class '0'; classes: 1, 2"),
        (
            "a,class\n1,1\n2,0\n",
            "  rows: {take: {1: 2, 0: 1}}\n",
            "2 rows of class '1' are declared, but there are only 1",
        ),
        ("a,class\n1,1\n2,0\n", "  features: {drop: [b]}\n", "no column 'b'"),
        ("a,class\n1,1\n2,0\n", f"  content_sha256: {'0a' * 32}\n", "declared is 0a0a"),
        ("a,class\n1,1\n2,0,7,7\n", "", "cannot be read as declared"),
    ],
)
def test_errors_name_what_does_not_fit_the_declaration(text, extra, message, tmp_path):
    with pytest.raises(PucliError, match=message):
        load_toy(tmp_path, text, extra)
    assert not list((tmp_path / "cache" / "toy").glob("parsed-*"))
