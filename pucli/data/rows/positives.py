"""Labels in a second table: the positive rows, or a list of their identifiers.

Rows are joined by a common identifier. Without one, or if no identifier of the second table is in the first, the second
is a sample of its own, whose rows are added; a row that equals one of the first labels that one instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.core.arrays import Bools, Ints
from pucli.core.errors import UsageError, shell_word
from pucli.data.columns.cells import ColumnCells, as_frame, some_of
from pucli.data.columns.kinds import column_kinds
from pucli.data.files.disguises import recognized
from pucli.data.files.packed import is_packed, member_name
from pucli.data.files.spool import is_stream, shown
from pucli.data.files.table import Table
from pucli.data.files.tables import joined, open_files, open_table, readers
from pucli.data.ids import exact
from pucli.data.reading import Reading
from pucli.data.table_libraries import is_table

if TYPE_CHECKING:
    import pandas as pd

OPTION = "--positives-from"
# Share of the listed identifiers that must be found.
LEAST_FOUND = 0.5
# Rows of one identifier in two tables are of one case if their other cells agree by this share more than rows of
# different identifiers do; fewer pairs tell nothing.
AGREE, LEAST_PAIRS = 0.1, 5
# Equal rows are one case if so many of the rows differ from all others.
MOSTLY_DIFFERENT = 0.95
SHOWN = 3  # identifiers that are named


class TableNames(NamedTuple):
    """The names of the two tables in messages."""

    table: str
    positives: str


class Joining(NamedTuple):
    """What the user says of the columns of the first table.

    ids : sequence of str or None
        The columns that identify a row, None to find them.
    left_out : collection of str
        Those that are no features.
    kinds : mapping of str to str
        The kinds that are given.
    """

    ids: Sequence[str] | None
    left_out: Collection[str]
    kinds: Mapping[str, str]


class Listed(NamedTuple):
    """Which rows a second table labels.

    labeled : array of bool, shape (n,)
        Of the first table.
    added : array of int
        Rows of the second table that are added to the first, labeled.
    key : list of str
        The identifier by which the tables are joined, [] if none.
    identifiers : list of str
        Columns that identify rows of the first table, though not all of both.
    about : dict
        Numbers of rows, as JSON values.
    warnings : list of str
    """

    labeled: Bools
    added: Ints
    key: list[str]
    identifiers: list[str]
    about: dict[str, Any]
    warnings: list[str]

    @property
    def said(self) -> str:
        """Return what marks the labeled rows, such as "id in frauds.csv"."""
        name = self.about["file"]
        if len(self.added):
            return f"rows of {name}, added"
        return f"{' and '.join(self.key)} in {name}" if self.key else f"rows of {name}"


def label_positives(table: Any, positives: Any, *, id: str | None = None) -> tuple[pd.DataFrame, Bools]:
    """Return a table and which of its rows are positive, from a second table or a list of identifiers.

    Parameters
    ----------
    table : table (n, m)
        Unlabeled rows, of which some may be listed in `positives`.
    positives : table, or sequence of identifiers
        The positive rows, or their identifiers.
    id : str, optional
        The column that identifies a row; by default the one that is found to. "" joins by none.

    Returns
    -------
    X : pandas.DataFrame
        The rows of `table`, and behind them those of `positives` that are added: where no identifier joins the two.
    s : array of bool, shape (len(X),)
        True for labeled positives.

    Raises
    ------
    UsageError
        More than half of the identifiers are not found, or the columns differ.

    Warns
    -----
    UserWarning
        Some identifiers are not found.

    Examples
    --------
    >>> import pandas as pd
    >>> from pucli.data import label_positives
    >>> customers = pd.DataFrame({"customer": ["a", "b", "c"], "visits": [3, 1, 4]})
    >>> label_positives(customers, ["c", "a"], id="customer")[1].tolist()
    [True, False, True]
    """
    import pandas as pd

    frame, names = as_frame(table), TableNames("the table", "the list of positives")
    alone = not is_table(positives) and not hasattr(positives, "columns")
    listed = pd.DataFrame({"": list(positives)}) if alone else as_frame(positives)
    columns = Joining(None if id is None else [name for name in [id] if name], (), {})
    key, listed = joined_by(frame, listed, names, columns)
    found = match(frame, listed, names, key, columns)
    for text in found.warnings:
        warnings.warn(text, stacklevel=2)
    more = listed.reindex(columns=frame.columns).iloc[found.added]
    X = pd.concat([frame, more], ignore_index=True) if len(more) else frame
    return X, np.append(found.labeled, np.ones(len(more), dtype=bool))


def with_positives(
    files: Sequence[Path],
    title: str,
    table: Table,
    positives: Path,
    how: Reading,
    columns: Joining,
) -> tuple[Table, Listed]:
    """Return a table with the rows that a second file adds, and which rows the file labels."""
    if not is_stream(positives) and any(_same(file, positives) for file in files):
        raise UsageError(f"{OPTION} {positives} is the table itself; give the file of the labeled rows alone")
    names = TableNames(title, shown(positives))
    how = replace(how, skip_rows=0, sheet="", format=_format_of(positives), formed=())
    known = list(table.frame.columns)
    second = open_table(positives, None, known=known, how=how)
    key, listed = joined_by(table.frame, second.frame, names, columns)
    if key:  # once more, since "007" is not 7
        own = [name for name in second.frame.columns if name in key] or list(second.frame.columns[:1])
        with warnings.catch_warnings(action="ignore"):  # given when the files were read first
            whole = open_table(positives, None, known=known, how=how, keep=own).frame
        key, listed = joined_by(table.frame, whole, names, columns._replace(ids=key))
        known_texts = table.clean and all(table.frame[name].dtype == "str" for name in key)
        if not known_texts and not set(key) <= set(columns.ids or ()):
            with warnings.catch_warnings(action="ignore"):
                cells = open_files(files, None, how=table.reading, known=known, keep=key).frame
            frame = table.frame.copy(deep=False)
            for name in key:
                frame[name] = cells[name].array
            table = table._replace(frame=frame)
    found = match(table.frame, listed, names, key, columns)
    if not len(found.added):
        return table, found
    rows = found.added
    more = listed.reindex(columns=known).iloc[rows].reset_index(drop=True)
    first = table.frame.copy(deep=False)
    for name in key:
        for frame in (more, first):
            texts = exact(frame[name])
            frame[name] = texts.astype("str").where(texts.notna())
    table = table._replace(frame=first)
    other = second._replace(frame=more, place=lambda row: second.place(int(rows[row])))
    return joined([Path(title), positives], [table, other]), found


def _same(file: Path, other: Path) -> bool:
    try:
        return file.samefile(other)
    except OSError:
        return False


def _format_of(path: Path) -> str:
    """Return "csv" for text of another name, such as a list of identifiers, else ""."""
    if is_stream(path) or not path.is_file() or Path(member_name(path).lower()).suffix in readers():
        return ""
    with path.open("rb") as stream:
        head = stream.read(4096)
    return "" if b"\0" in head or is_packed(path) or recognized(head, path) is not None else "csv"


def joined_by(
    table: pd.DataFrame, listed: pd.DataFrame, names: TableNames, columns: Joining
) -> tuple[list[str], pd.DataFrame]:
    """Return the identifier that two tables share, [] if none, and the second one with a column of that name.

    A second table of one column is a list of identifiers.
    """
    given = columns.ids
    if given is not None and (missing := [name for name in given if name not in table]):
        raise UsageError(f"{names.table}: no column {missing[0]!r} (--id); columns: {some_of(list(table.columns))}")
    if listed.shape[1] == 1:
        return _of_list(table, listed, names, columns)
    if given is not None:
        if missing := [name for name in given if name not in listed]:
            raise UsageError(
                f"{names.positives} has no column {missing[0]!r} (--id); columns: {some_of(list(listed.columns))}"
            )
        return list(given), listed
    shared = [str(name) for name in table if name in listed and name not in columns.left_out]
    found = [
        name
        for name in _identifiers(table, shared, columns.kinds)
        if not (_counts(table[name]) and _counts(listed[name]))
    ]
    count = {name: int(np.isin(_texts(listed, [name]), _texts(table, [name])).sum()) for name in found}
    return [max(count, key=count.__getitem__)] if count else [], listed


def _of_list(
    table: pd.DataFrame,
    listed: pd.DataFrame,
    names: TableNames,
    columns: Joining,
) -> tuple[list[str], pd.DataFrame]:
    """Return the column of a table that holds the identifiers of a list, and the list with a column of that name."""
    import pandas as pd

    header, given = str(listed.columns[0]), columns.ids
    if given is not None and len(given) != 1:
        raise UsageError(f"{names.positives} is a list of identifiers; name their column in {names.table} with --id")
    names_of = list(map(str, table))
    found = list(given or ([header] if header in table else _identifiers(table, names_of, columns.kinds)))
    found = found or [name for name in names_of if _differs(table[name])]
    if not found:
        raise UsageError(
            f"{names.positives} is a list of identifiers, but {names.table} has no column that differs in nearly every "
            f"row; name it with --id COLUMN; columns: {some_of(list(table.columns))}"
        )
    values = exact(listed.iloc[:, 0]).astype(object)
    count = {name: int(np.isin(_texts(listed.set_axis([name], axis=1), [name]), _texts(table, [name])).sum())
             for name in found}  # fmt: skip
    key = max(count, key=count.__getitem__)
    if header not in (key, "1") and header in set(_texts(table, [key])):  # a list without a header
        values = pd.concat([pd.Series([header], dtype=object), values], ignore_index=True)
    return [key], pd.DataFrame({key: values})


def _identifiers(table: pd.DataFrame, names: Sequence[str], kinds: Mapping[str, str]) -> list[str]:
    """Return which of some columns identify rows."""
    known = {name: kind for name, kind in kinds.items() if name in names}
    return [one.name for one in column_kinds(table[list(names)], known) if one.kind == "identifier"] if names else []


def _differs(column: pd.Series) -> bool:
    """Return whether nearly all cells differ and none has a fraction."""
    if column.nunique() < MOSTLY_DIFFERENT * len(column):
        return False
    numbers = ColumnCells(column).numbers[0]
    return not (numbers != np.floor(numbers))[~np.isnan(numbers)].any()


def _counts(column: pd.Series) -> bool:
    """Return whether a column numbers its rows, which joins no two tables."""
    numbers = ColumnCells(column).numbers[0]
    return bool(len(numbers) > 1 and (np.diff(numbers) == 1.0).all())


def _texts(frame: pd.DataFrame, key: Sequence[str]) -> np.ndarray:
    """Return the identifiers (n,) as texts, "" where a cell is empty."""
    cells = [exact(frame[name]) for name in key]
    empty = np.any([one.isna().to_numpy() for one in cells], axis=0)
    rows = zip(*(one.astype(object).tolist() for one in cells), strict=True)
    texts = [
        "" if none else "\0".join(str(cell).strip() for cell in row) for none, row in zip(empty, rows, strict=True)
    ]
    return np.array(texts, dtype=object)


def match(
    table: pd.DataFrame,
    listed: pd.DataFrame,
    names: TableNames,
    key: Sequence[str],
    columns: Joining,
) -> Listed:
    """Return which rows of a table a second one labels, and which of its rows are added."""
    about: dict[str, Any] = {"file": names.positives, "id": list(key), "rows": len(listed), "added": 0}
    if not key:
        return _added(table, listed, names, (), columns, about, [])
    here, there = _texts(table, key), _texts(listed, key)
    wanted = np.unique(there[there != ""].astype(str))
    known = np.isin(wanted, here.astype(str))
    column = " and ".join(map(repr, key))
    if not len(wanted):
        raise UsageError(f"{names.positives} has no identifier in {column}; write one in each row")
    missing = [str(one) for one in wanted[~known][:SHOWN]]
    of = f"identifiers of {names.positives} are not in column {column} of {names.table}"
    lost = f"{(~known).sum():,} of {len(wanted):,} {of}"
    such = f"such as {', '.join(map(repr, missing))}"
    if not known.any() and listed.shape[1] > 1:
        said = f"no {column} of {names.positives} is in {names.table}, so its rows are added as another sample"
        return _added(table, listed, names, key, columns, about, [said])
    if known.sum() < LEAST_FOUND * len(wanted):
        example = next((text for text in here if text), "")
        raise UsageError(
            f"{lost}, {such}; {names.table} has identifiers such as {example!r}: name the column with --id, or write "
            f"them alike" + (f"; --id '' adds the rows of {names.positives} instead" if listed.shape[1] > 1 else "")
        )
    warned = [f"{lost} and are left out, {such}"] if missing else []
    if empty := int((there == "").sum()):
        warned.append(f"{empty:,} rows of {names.positives} have no identifier and are left out")
    if doubt := _disagreement(table, listed, names, key, here, there):
        if not columns.ids:
            raise UsageError(f"{doubt}; name the identifier with --id COLUMN, or add the rows with --id ''")
        warned.append(f"{doubt}; labels may be of other rows")
    labeled = np.isin(here.astype(str), wanted[known])
    about |= {"found": int(known.sum()), "not_found": int((~known).sum())}
    return Listed(labeled, np.zeros(0, dtype=np.int64), list(key), list(key), about, warned)


def _codes(table: pd.DataFrame, listed: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Return the cells of some columns of both tables, one below the other, as numbers: equal ones are alike."""
    import pandas as pd

    cells = (
        pd.concat([table[name].astype(object), listed[name].astype(object)], ignore_index=True) for name in columns
    )
    return np.column_stack([ColumnCells(one.rename("")).codes for one in cells])


def _disagreement(
    table: pd.DataFrame,
    listed: pd.DataFrame,
    names: TableNames,
    key: Sequence[str],
    here: np.ndarray,
    there: np.ndarray,
) -> str:
    """Return why rows of one identifier are not of one case: their other cells agree no more than any two rows do."""
    others = [str(name) for name in table if name in listed and name not in key]
    place = {text: row for row, text in enumerate(here)}
    pairs = [(place[text], row) for row, text in enumerate(there) if text and text in place]
    if not others or len(pairs) < LEAST_PAIRS:
        return ""
    one, other = (list(rows) for rows in zip(*pairs, strict=True))
    first, second = np.split(_codes(table.iloc[one], listed.iloc[other], others), 2)
    same, chance = float((first == second).mean()), float((first == np.roll(second, 1, axis=0)).mean())
    if same > chance + AGREE * (1.0 - chance) or same == 1.0:
        return ""
    return (
        f"rows of one {' and '.join(map(repr, key))} in {names.table} and in {names.positives} differ in the other "
        "columns, as if they were of different cases"
    )


def _added(
    table: pd.DataFrame,
    listed: pd.DataFrame,
    names: TableNames,
    key: Sequence[str],
    columns: Joining,
    about: dict[str, Any],
    warned: list[str],
) -> Listed:
    """Return which rows are added, and which rows of the table an equal one labels."""
    import pandas as pd

    features = [str(name) for name in table if name not in columns.left_out and name not in key]
    identifiers = _identifiers(table, features, columns.kinds)
    features = [name for name in features if name not in identifiers]
    if lacking := [name for name in features if name not in listed]:
        name = lacking[0]
        raise UsageError(
            f"{names.positives} has no identifier in common with {names.table} and no column {name!r}, so its rows can "
            f"be neither found nor added; name the identifier with --id COLUMN, or leave columns out, as --drop "
            f"{shell_word(name)}"
        )
    if extra := [str(name) for name in listed if name not in table]:
        warned.append(f"columns of {names.positives} alone are left out: {some_of(extra)}")
    cells = pd.DataFrame(_codes(table, listed, features))
    group: Ints = np.asarray(cells.groupby(list(cells.columns), sort=False).ngroup(), dtype=np.int64)
    first, second = group[: len(table)], group[len(table) :]
    times = np.bincount(first, minlength=group.max() + 1)
    before = _before(second)
    differ = np.count_nonzero(times) >= MOSTLY_DIFFERENT * len(table)
    if differ:
        labeled, repeated = np.isin(first, second), before > 0
    else:  # equal rows are many by chance: each of the list stands for one
        most = np.bincount(second, minlength=group.max() + 1)
        labeled = _before(first) < most[first]
        repeated = np.zeros(len(second), dtype=bool)
    here = (times[second] > 0) if differ else before < times[second]
    added = np.flatnonzero(~here & ~repeated)
    about |= {"added": len(added), "equal": int(labeled.sum()), "repeated": int((repeated & ~here).sum())}
    if count := int((repeated & ~here).sum()):
        warned.append(f"{count:,} rows of {names.positives} are equal to another one of them and are left out")
    if labeled.any():
        warned.append(
            f"{int(labeled.sum()):,} rows of {names.table} are equal to rows of {names.positives}; these are labeled "
            "and not added"
        )
    return Listed(labeled, added, list(key), [*key, *identifiers], about, warned)


def _before(group: Ints) -> Ints:
    """Return how many rows above each row (n,) are of its group."""
    import pandas as pd

    return np.asarray(pd.DataFrame({"group": group}).groupby("group").cumcount(), dtype=np.int64)
