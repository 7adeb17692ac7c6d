"""Identifiers that no option names: columns found to be identifiers, which are copied to the predictions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pucli.data.encode.kinds.column import Column
from pucli.data.files.spool import reread
from pucli.data.files.text.layout import UNNAMED
from pucli.data.frames import cell_text
from pucli.data.rows.blocks import read_blocks

if TYPE_CHECKING:
    import pandas as pd

    from pucli.data.encode.encoder import TableEncoder
    from pucli.data.reading import Reading

OWN_COLUMNS = ("row", "prediction", "score", "probability", "probability_low", "probability_high", "cluster")
"""Names of the columns of predictions, without identifiers."""
_TAKEN = {*OWN_COLUMNS, "labelled"}


def found_ids(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the identifiers among the columns of a file, without unnamed ones and names of columns of predictions."""
    return tuple(
        one.name
        for one in columns
        if one.kind == "identifier" and one.name not in _TAKEN and not one.name.startswith(UNNAMED)
    )


def ids_not_copied(columns: Sequence[Column], frame: pd.DataFrame) -> list[str]:
    """Return a warning for each identifier with the name of a column of predictions, which may be taken for it.

    An index that begins with 0 or 1 is no loss.
    """
    return [
        f"column {one.name!r} is left out as an identifier and not copied, as predictions have a column of that name; "
        "rename it in the file"
        for one in columns
        if one.kind == "identifier" and one.name in _TAKEN and cell_text(frame[one.name].iloc[0]) not in ("0", "1")
    ]


def read_ids(files: Sequence[Path], ids: Sequence[str], encoder: TableEncoder, how: Reading) -> pd.DataFrame:
    """Read the identifiers of all rows of files, as they are written.

    Parameters
    ----------
    files : sequence of Path
        The files, which were read before with `encoder` and `how`.
    ids : sequence of str
        The columns to read.
    encoder : TableEncoder
        Encoder of the other columns.
    how : Reading
        Options for reading.
    """
    import pandas as pd

    needed, as_text = dict.fromkeys([*encoder.needed, *ids]), {*encoder.read_as_text, *ids}
    how = replace(how, formed=encoder.formed)
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings(action="ignore"))  # given when the files were read first
        again = [stack.enter_context(reread(path)) for path in files]
        blocks = read_blocks(again, list(needed), as_text=as_text, how=how, keep=ids)
        return pd.concat([block.frame[list(ids)] for block in blocks], ignore_index=True)
