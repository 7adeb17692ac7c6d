"""A LIBSVM file that cannot be read names its line and what is wrong in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 3:2 1:5", "line 41: feature 1 follows feature 3"),
        ("1 1:2 1:5", "line 41: feature 1 follows feature 1"),
        ("1,2 1:2", "line 41 begins with '1,2', several labels; keep one"),
        ("yes 1:2", "line 41 begins with 'yes', no number as its label"),
        ("1 1:0x10", "line 41 has '1:0x10' where a feature belongs, such as 3:0.5"),
        ("1 -1:3", "line 41 has '-1:3' where a feature belongs"),
        ("1 1=3", "line 41 has '1=3' where a feature belongs"),
        ("1 1:2 99999999999999999999:3", "line 41: feature '99999999999999999999' is beyond the 50000000"),
    ],
)
def test_the_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    good = "".join(f"{i % 2} qid:{i} 1:{i} 3:0.5 # row {i}\n" for i in range(40))
    path = tmp_path / "rows.libsvm"
    path.write_text(good)
    assert open_table(path, None).frame.shape == (40, 4)
    path.write_text(good + line + "\n")
    with pytest.raises(UsageError) as caught:
        open_table(path, None)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_queries_are_said_to_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "rows.libsvm"
    path.write_text("1 qid:1 1:2\n0 qid:2 2:1\n")
    with pytest.warns(UserWarning, match="qid: is left out; .* --groups qid"):
        assert open_table(path, None).frame.shape == (2, 3)
