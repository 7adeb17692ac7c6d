"""IDX files, the format of MNIST: unsigned bytes after a header of the sizes, most significant byte first.

    0 0 type dims, then for each dimension its size in four bytes, then the values in C order

Images and labels are in separate files; row i of one belongs to row i of the other.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pucli.core.errors import RunError
from pucli.data.labels import LABEL

if TYPE_CHECKING:
    import pandas as pd

_UNSIGNED_BYTE = 8


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Return the array of unsigned bytes in an IDX file, in the shape given by its header."""
    content = path.read_bytes()
    if len(content) < 4 or content[:2] != b"\0\0":
        raise ValueError("the file does not begin with an IDX header (two zero bytes, type, number of dimensions)")
    kind, dimensions = content[2], content[3]
    if kind != _UNSIGNED_BYTE:
        raise ValueError(f"the values have IDX type 0x{kind:02x}; only unsigned bytes (0x08) are supported")
    begin = 4 + 4 * dimensions
    if dimensions == 0 or len(content) < begin:
        raise ValueError(f"the header ends before the sizes of its {dimensions} dimensions")
    shape = tuple(int(size) for size in np.frombuffer(content, ">u4", dimensions, 4))
    expected, found = math.prod(shape), len(content) - begin
    if found != expected:
        raise ValueError(f"the header declares {' x '.join(map(str, shape))} = {expected} values, the file has {found}")
    return np.frombuffer(content, np.uint8, expected, begin).reshape(shape)


def idx_table(path: Path) -> pd.DataFrame:
    """Return one row per item, with the column "label" for a one-dimensional file, otherwise one column per value."""
    import pandas as pd

    values = read_idx(path)
    if values.ndim == 1:
        return pd.DataFrame({LABEL: values})
    return pd.DataFrame(values.reshape(len(values), -1))


def beside(tables: list[pd.DataFrame], paths: list[str]) -> pd.DataFrame:
    """Return images and labels as one table."""
    import pandas as pd

    sizes = " and ".join(f"{path} has {len(table)}" for path, table in zip(paths, tables, strict=True))
    if len({len(table) for table in tables}) > 1:
        raise RunError(f"images and labels differ in number: {sizes} rows")
    labeled = sum(list(table.columns) == [LABEL] for table in tables)
    if len(tables) != 2 or labeled != 1:
        raise RunError(
            f"{' and '.join(paths)}: an idx data set is one file of images and one of labels; "
            f"{labeled} of {len(tables)} have labels"
        )
    return pd.concat(tables, axis=1)
