"""The size of a table before it is read, so that one that does not fit into the memory is refused at once."""

from __future__ import annotations

from pathlib import Path

from pucli.core.errors import UsageError
from pucli.core.memory import check_memory

# Memory for each cell until the table is encoded: 27 bytes were measured for CSV, 32 for Parquet, of 1e6 x 22 numbers.
BYTES_PER_CELL = 30
WAY_OUT = (
    "take fewer rows or columns into a file, or more memory. `pucli predict` reads files of any length, and `--backend "
    "dask` of train and auto reads Parquet files block by block."
)


def check_fits(path: Path, cells: float) -> None:
    """Raise UsageError if a table of so many cells needs more memory than there is."""
    try:
        check_memory(BYTES_PER_CELL * cells, f"{path}: a table of about {cells:.2g} cells", WAY_OUT)
    except ValueError as error:
        raise UsageError(str(error)) from error


def cells_of_text(path: Path, head: str, separator: str) -> float:
    """Return about how many cells a text file has, judged by its first lines; a packed one may have more.

    Parameters
    ----------
    path : Path
    head : str
        Its first lines.
    separator : str
        " " means any number of blanks.
    """
    lines = head.split("\n")[:200]
    cells = sum(len(line.split()) if separator == " " else line.count(separator) + 1 for line in lines)
    return path.stat().st_size * cells / max(sum(len(line.encode()) + 1 for line in lines), 1)


def cells_of_parquet(path: Path) -> float:
    """Return the number of cells of a Parquet file, 0 if the reader must say."""
    try:
        import pyarrow.parquet as pq

        about = pq.read_metadata(path)
    except (ImportError, OSError, ValueError):  # told by the reader of the file
        return 0.0
    return float(about.num_rows * about.num_columns)
