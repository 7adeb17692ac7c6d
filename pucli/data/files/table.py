"""Tables as read from files, dense or sparse, and what a reader of files is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pucli.data.reading import Reading

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    from pucli.core.arrays import Floats


class Table(NamedTuple):
    """A table.

    frame : pandas.DataFrame
    place : callable
        Function from the number of a row to its place in the file ("line 17").
    naming : str
        Note for messages on how columns are named.
    decimal_commas : set of str
        The columns that are written with decimal commas.
    doubtful_texts : dict of str to str
        Columns that may be codes, though read as numbers or empty cells, each with an example.
    reading : Reading
        How the file was read, to read the next one alike.
    clean : bool
        Whether a column of text has the cells as they stand in the file.
    parts : sequence of (Path, int)
        The files, each with its number of rows, if there are several.
    """

    frame: pd.DataFrame
    place: Callable[[int], str]
    naming: str = ""
    decimal_commas: frozenset[str] = frozenset()
    doubtful_texts: Mapping[str, str] = MappingProxyType({})
    reading: Reading = Reading()
    clean: bool = False
    parts: Sequence[tuple[Path, int]] = ()


class WideTable(NamedTuple):
    """Sparse features (n, m), named by their numbers from 1, and labels (n,).

    first_feature : int
        Number of the first feature in the file, 0 or 1.
    """

    X: csr_array
    y: Floats
    first_feature: int = 1

    @property
    def names(self) -> list[str]:
        """Return the names of the features."""
        return [str(i) for i in range(1, self.X.shape[1] + 1)]


class ReadRequest(NamedTuple):
    """What is asked of a reader, besides the file.

    label : str or None
        Column or variable of the labels, None if there is none.
    known : list of str
        Required columns, which help to recognize a header line.
    as_text, as_number : collection of str
        Columns whose cells are kept as text ("007" is not 7), and columns known to hold numbers.
    ids : collection of str
        Columns of identifiers, whose cells stay as they are.
    how : Reading
        The user's options.
    """

    label: str | None
    known: Sequence[str] = ()
    as_text: Collection[str] = ()
    as_number: Collection[str] = ()
    ids: Collection[str] = ()
    how: Reading = Reading()


@dataclass(frozen=True)
class Reader:
    """A format of files; an entry point of the group ``pucli.readers`` adds one."""

    name: str  # "delimited text"
    suffixes: tuple[str, ...]  # extensions in lower case, with the dot
    read: Callable[[Path, ReadRequest], Table]
    # whether the first bytes of a file are of this format, where pucli knows no better name for them
    recognize: Callable[[bytes], bool] = lambda head: False
    # number of cells, known before the file is read; 0 if `read` refuses what does not fit into the memory
    size: Callable[[Path, Reading], float] = lambda path, how: 0.0
    # the columns that `columns.of(path, table)` returns, in tables of so many rows each, for files of any length; None
    # reads the file at once. It takes the path, `pucli.data.rows.blocks.BlockColumns`, the number of rows and options
    blocks: Callable[[Path, Any, int, Reading], Iterator[Table]] | None = None
