"""The lines and the table of `python -m tests.trust.run`."""

from __future__ import annotations

import pytest

from tests.trust import run as trust
from tests.trust.lines import Line


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

    name = "tests.trust.made_up"
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(lines=lambda full: [Line("a", 3), Line("b", 4, {"x": "y"})]))
    *_, found = trust.stages(parts=["made_up"])
    assert [(row["name"], row["tried"], row["held"]) for row in found["rows"]] == [
        ("a", 3, 3),
        ("b", 4, 3),
        ("all", 7, 6),
    ]


def test_a_table_that_was_cut_short_says_so_and_keeps_the_rows_of_other_parts(monkeypatch):
    import sys
    from types import SimpleNamespace

    for part, name in (("killed", "a"), ("faults", "b")):
        made_up = SimpleNamespace(lines=lambda full, name=name: [Line(name, 1), Line(name, 2)])
        monkeypatch.setitem(sys.modules, f"tests.trust.{part}", made_up)
    first = list(trust.stages(parts=["faults"]))
    assert [table["rows"][0]["tried"] for table in first] == [1, 2, 2]
    assert "faults" in first[0]["open"] and "faults" not in first[-1]["open"]
    [cut, *_] = trust.stages(parts=["killed"], earlier=lambda: first[-1])
    assert [(row["name"], row["tried"]) for row in cut["rows"]] == [("a", 1), ("b", 2), ("all", 3)]
    assert cut["rows"][-1]["note"].startswith("cut short: estimator_checks, hostile, killed, same_bits")


@pytest.mark.slow
def test_some_families_run_again_and_the_other_rows_stay():
    *_, first = trust.stages(parts=["numbers:bound of"])
    row = {"name": "another", "tried": 3, "held": 3, "note": "", "part": "numbers"}
    *_, table = trust.stages(
        parts=["numbers:bound of"], earlier=lambda: {"rows": [row, *first["rows"]], "open": ["numbers"]}
    )
    assert [row["name"] for row in table["rows"]] == ["another", "bound of classtering", "all"]
    assert table["open"] == ["numbers"]


def test_a_part_is_written_beside_the_others_and_a_failure_is_the_exit_code(monkeypatch, tmp_path, capsys):
    import sys
    from types import SimpleNamespace

    lines = {"killed": Line("a", 2), "faults": Line("b", 2, {"b 1": "broken"})}
    for part, line in lines.items():
        made_up = SimpleNamespace(lines=lambda full, line=line: [line])
        monkeypatch.setitem(sys.modules, f"tests.trust.{part}", made_up)
    given = ["--results", str(tmp_path)]
    assert trust.main([*given, "--part", "killed"]) == 0
    assert trust.main([*given, "--part", "faults"]) == 1
    page = (tmp_path / "bench" / "trust.md").read_text()
    assert "| a | 2 | 2 |  |" in page and "| b | 2 | 1 | b 1: broken |" in page and page in capsys.readouterr().out
    with pytest.raises(SystemExit):
        trust.main([*given, "--part", "nothing"])
