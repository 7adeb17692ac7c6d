"""Several files with the same columns as one table."""

from __future__ import annotations

import bisect
import os
from collections.abc import Collection, Sequence
from itertools import accumulate
from pathlib import Path

from pucli.core.errors import UsageError
from pucli.data.files.folders import parts_of_folder, with_partition
from pucli.data.files.formats import open_table
from pucli.data.files.spool import shown
from pucli.data.files.table import Table
from pucli.data.reading import AS_IT_IS, Reading


def files_of(path: Path | str | Sequence[Path]) -> list[Path]:
    """Return one or several files as a list; a folder stands for its part files. None may be given twice."""
    given = [Path(path)] if isinstance(path, Path | str) else [Path(one) for one in path]
    # os.path: a name that is too long or lies in a locked folder is no folder, and the reader says what is wrong
    files = [file for one in given for file in (parts_of_folder(one) if os.path.isdir(one) else [one])]  # noqa: PTH112
    seen: dict[object, Path] = {}
    for file in files if len(files) > 1 else ():
        if (first := seen.setdefault(_identity(file), file)) is not file:
            other = f" as {file}" if file != first else ""
            raise UsageError(f"{shown(first)} is given twice{other}, so each of its rows would count twice")
    return files


def _identity(file: Path) -> object:
    """Return what is equal for two names of one file."""
    try:
        found = file.stat()
    except OSError:  # its reader says what is wrong
        return file
    return (found.st_dev, found.st_ino) if found.st_ino else file


def title_of(files: Sequence[Path]) -> str:
    """Return the name of files for messages and titles."""
    first, *others = files
    rest = f" and {len(others)} more file{'s' * (len(others) > 1)}" if others else ""
    return f"{shown(first)}{rest}"


def open_files(
    files: Sequence[Path],
    label: str | None,
    *,
    known: Collection[str] = (),
    as_text: Collection[str] = (),
    as_number: Collection[str] = (),
    how: Reading = AS_IT_IS,
    keep: Collection[str] = (),
) -> Table:
    """Read files with the same columns, in any order, as one table.

    Parameters
    ----------
    files : sequence of Path
        The files.
    label : str or None
        The label column, None if there is none.
    known, as_text, as_number : collection of str, default=()
        See `open_table`.
    how : Reading
        The user's options for reading.
    keep : collection of str, default=()
        See `open_table`.

    Raises
    ------
    UsageError
        A file cannot be read, or has other columns than the first one.
    """
    tables: list[Table] = []
    for file in files:
        options = {"known": known, "as_text": as_text, "as_number": as_number, "keep": keep}
        table = open_table(file, label, how=how, **options)  # type: ignore[arg-type]
        table.frame.columns = table.frame.columns.map(str)
        if len(files) > 1:  # the folder of a single file says nothing that differs between rows
            table = table._replace(frame=with_partition(file, table.frame))
        how = table.reading  # the numbering of LIBSVM features is that of the first file
        tables.append(table)
    if len(tables) == 1:
        return tables[0]
    return _joined(files, tables)


def _joined(files: Sequence[Path], tables: list[Table]) -> Table:
    import pandas as pd

    first, *others = tables
    names = list(first.frame.columns)
    sparse = first.reading.first_feature is not None
    frames = [first.frame]
    for file, table in zip(files[1:], others, strict=True):
        lacking = [name for name in names if name not in table.frame.columns]
        extra = [name for name in table.frame.columns if name not in names]
        if sparse and not extra:  # a feature that no row of a LIBSVM file has is zero
            frames.append(table.frame.reindex(columns=names, fill_value=0.0))
            continue
        if lacking or extra:
            what = f"no column {lacking[0]!r}" if lacking else f"a column {extra[0]!r}, which {files[0]} lacks"
            raise UsageError(f"{file} has {what}; files that are read as one table must have the same columns")
        frames.append(table.frame[names])
    starts = [0, *accumulate(map(len, frames))]

    def place(row: int) -> str:
        which = bisect.bisect_right(starts, row) - 1
        return f"{tables[which].place(row - starts[which])} of {files[which]}"

    return first._replace(
        frame=pd.concat(frames, ignore_index=True),
        place=place,
        decimal_commas=frozenset().union(*(table.decimal_commas for table in tables)),
        doubtful_texts={name: text for table in reversed(tables) for name, text in table.doubtful_texts.items()},
    )
