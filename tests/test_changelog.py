"""The changelog stays short: entries of one line, by kind."""

import re

from tests.helpers import ROOT

KINDS = ["Added", "Changed results", "Changed", "Fixed"]
MOST_LINES, WIDEST = 120, 160


def test_the_newest_version_has_few_entries_of_one_line_by_kind():
    newest = re.split(r"\n(?=## )", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))[1]
    lines = newest.strip().splitlines()
    assert len(lines) <= MOST_LINES
    assert [line.removeprefix("### ") for line in lines if line.startswith("### ")] == KINDS
    others = [line for line in lines[1:] if line and not line.startswith(("### ", "- "))]
    assert others == [] and max(map(len, lines)) <= WIDEST
