"""A stray quote in a text file is told with its line; quotes that a table may have are read."""

import pytest

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table
from pucli.data.rows.blocks import read_blocks


def write(tmp_path, lines):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("bad", ['5,"x,P', '5,"x'])
def test_a_quote_that_swallows_rows_is_refused_with_its_line(tmp_path, bad):
    lines = [f'{row},"x",U' for row in range(50)]
    path = write(tmp_path, [*lines[:30], bad, *lines[30:]])
    with pytest.raises(UsageError, match="opens in line 32 is not closed"):
        open_table(path, None)
    with pytest.raises(UsageError, match="opens in line 32 is not closed"):
        list(read_blocks(path, ["a", "c"], rows=20))


def test_a_quote_that_is_never_closed_is_refused_with_its_line(tmp_path):
    with pytest.raises(UsageError, match="opens in line 3 is not closed"):
        open_table(write(tmp_path, ["1,x,U", '2,"x,U', "3,x,P"]), None)


def test_texts_over_several_lines_are_read(tmp_path):
    path = write(tmp_path, ['1,"two\nlines",U', '2,"say ""yes"", twice\n",P', '3, "6"" pipe",U', '4,5" pipe,U'])
    frame = open_table(path, None).frame
    assert frame["b"].tolist() == ["two\nlines", 'say "yes", twice\n', '6" pipe', '5" pipe']
