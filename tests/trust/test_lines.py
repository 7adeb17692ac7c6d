"""The lines of `pucli bench trust`."""

from __future__ import annotations

from pucli.bench import trust
from pucli.bench.trust._lines import Line


def test_a_line_counts_the_cases_that_held_and_names_those_that_failed():
    line = Line("cases", note="seeded")
    for number in range(10):
        line.count(f"case {number}", "broken" if number % 2 else "")
    row = line.row()
    assert (row["tried"], row["held"], len(row["failed"])) == (10, 5, 5)
    assert row["note"] == "seeded; case 1: broken; case 3: broken; case 5: broken; and 2 more"


def test_the_last_row_is_the_sum(monkeypatch):
    import sys
    from types import SimpleNamespace

    name = "pucli.bench.trust.made_up"
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(lines=lambda full: [Line("a", 3), Line("b", 4, {"x": "y"})]))
    found = trust.run(parts=["made_up"])
    assert [(row["name"], row["tried"], row["held"]) for row in found["rows"]] == [
        ("a", 3, 3),
        ("b", 4, 3),
        ("all", 7, 6),
    ]
