"""Folders of part files as Spark, Dask and pandas write them, with columns in the names of folders (`year=2024`)."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pucli.core.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

MOST_PARTS = 10_000
MISSING = "__HIVE_DEFAULT_PARTITION__"
# Folders of tables whose valid parts stand in a log, by what they hold. Few catalogues of Iceberg write a hint.
LOGGED = {
    "_delta_log": "Delta Lake",
    ".hoodie": "Hudi",
    "metadata/version-hint.text": "Iceberg",
    "metadata/*.metadata.json": "Iceberg",
}


def parts_of_folder(folder: Path) -> list[Path]:
    """Return the part files of a folder and the folders in it, by name, without empty, hidden and marker files.

    Raises
    ------
    UsageError
        There is none, there are several kinds, or only the log of the table tells which of them are valid.
    """
    for mark, kind in LOGGED.items():
        if any(folder.glob(mark)):
            raise UsageError(
                f"{folder} is a table of {kind}, whose log tells which parts are valid; write it as Parquet"
            )
    there = (
        path
        for path in folder.rglob("*")
        if not any(name.startswith(("_", ".")) for name in path.relative_to(folder).parts)
        and path.is_file()
        and path.stat().st_size
    )
    parts = sorted(islice(there, MOST_PARTS + 1))
    if len(parts) > MOST_PARTS:
        raise UsageError(f"{folder} is a folder with more than {MOST_PARTS:,} files; join them to fewer parts")
    if not parts:
        raise UsageError(f"{folder} is a folder without a file that is read; give a file, or a folder of part files")
    kinds = {path.suffix.lower(): path for path in parts}
    if len(kinds) > 1:
        first, second, *_ = kinds.values()
        raise UsageError(
            f"{folder} is a folder with files of several kinds, such as {first.name} and {second.name}; give one of "
            "them, or a folder of part files alone"
        )
    return parts


def with_partition(path: Path, frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the columns that the folders of its file name; a column that the file has stays."""
    columns = {name: value for name, value in partition_of(path).items() if name not in frame.columns}
    if not columns:
        return frame
    import pandas as pd

    return frame.assign(**{name: pd.array([value] * len(frame), dtype="str") for name, value in columns.items()})


def partition_of(path: Path) -> dict[str, str | None]:
    """Return the columns that the folders right above a file name, and their values; None is a missing one.

    Examples
    --------
    >>> partition_of(Path("sales/year=2024/town=St%20Ives/part-0.parquet"))
    {'year': '2024', 'town': 'St Ives'}
    """
    found: list[tuple[str, str | None]] = []
    for folder in path.parents:
        name, equals, value = folder.name.partition("=")
        if not equals or not name:
            break
        found.append((unquote(name), None if value == MISSING else unquote(value)))
    return dict(reversed(found))
