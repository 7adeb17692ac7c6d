"""Tables as read from files, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

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
    """

    frame: pd.DataFrame
    place: Callable[[int], str]
    naming: str = ""
    decimal_commas: frozenset[str] = frozenset()
    doubtful_texts: Mapping[str, str] = MappingProxyType({})
    reading: Reading = Reading()
    clean: bool = False


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
