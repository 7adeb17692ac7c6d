"""Suggestions of names."""

from pathlib import Path

import pytest

import pucli
from pucli.core.errors import did_you_mean, nearest, unknown


@pytest.mark.parametrize(
    ("name", "choices", "near"),
    [
        ("vists", ["visits", "last_visit", "age"], ["visits"]),
        ("VISITS", ["Visits"], ["Visits"]),
        ("bougt", ["country", "bought"], ["bought"]),
        ("auc", ["pu-auc", "f1"], ["pu-auc"]),
        ("visit_count", ["visit", "zip"], ["visit"]),
        ("visits", ["zip", "visit_count"], ["visit_count"]),
        ("age", ["language", "zip"], []),
        ("site", ["csv", "md", "tex"], []),
        ("e", ["age", "time"], []),
        ("", ["a"], []),
    ],
)
def test_only_names_with_much_in_common_are_near(name, choices, near):
    assert nearest(name, choices) == near


def test_at_most_so_many_names_are_suggested():
    assert (
        did_you_mean("colum", ["column", "columns", "column_1", "column_2"], 2) == "did you mean 'column' or 'columns'?"
    )


def test_a_message_names_the_wrong_value_the_nearest_and_how_to_list_all():
    assert str(unknown("method", "glpaul", ["glpual", "gllc"], of="table-1", listing="pucli list methods")) == (
        "unknown method 'glpaul' of table-1; did you mean 'glpual'? `pucli list methods` shows all of them."
    )


def test_names_are_compared_in_one_place_only():
    root = Path(pucli.__file__).parent
    assert [
        str(path.relative_to(root)) for path in root.rglob("*.py") if "difflib" in path.read_text(encoding="utf-8")
    ] == ["core/errors.py"]
