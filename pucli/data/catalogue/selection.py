"""Conversion of the table of a declared data set to (X, y): selection of rows and classes, encoding of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.errors import RunError
from pucli.data.columns.cells import cell_text, texts_of, to_numbers, trimmed
from pucli.data.labels import LABEL
from pucli.data.splits.groups import row_groups

if TYPE_CHECKING:
    import pandas as pd

    from pucli.data.schema import Column, Entry, Features, RowSelection, Sort, Target


class Selected(NamedTuple):
    """Features and labels."""

    X: Floats  # (n, m), features
    y: Ints  # +1 and -1, or the class if no class is declared positive
    classes: AnyArray  # the class in the source
    feature_names: list[str]  # m names
    notes: list[str]  # missing values that were replaced or dropped
    groups: Ints | None = None  # (n,), group of each row, if the entry declares groups


def columns_needed(entry: Entry) -> set[Column] | None:
    """Return the columns that the entry uses, or None if it may use any column."""
    if entry.features.take is None or entry.target.column is None:
        return None
    sort = set() if entry.rows.sort is None else {entry.rows.sort.column}
    return {*entry.features.take, entry.target.column, *entry.group_columns} | sort


def select(frame: pd.DataFrame, entry: Entry) -> Selected:
    """Return features, labels and notes for the table of a declared data set."""
    target = LABEL if entry.target.column is None else entry.target.column
    frame = _keep_rows(frame.reset_index(drop=True), entry.rows)
    label = _labels(_column(frame, target), entry.target)
    keep = _wanted_classes(label, entry.target)
    frame, label = frame[keep], label[keep]
    if entry.rows.take is not None:
        keep = _first_of_each(label, {str(value): count for value, count in entry.rows.take.items()})
        frame, label = frame[keep], label[keep]
    named = [_found(frame, name) for name in entry.group_columns]
    features = frame.drop(columns=[target, *named])
    if entry.features.take is not None:
        features = frame[[_found(frame, name) for name in entry.features.take]]
    features = features.drop(columns=[_found(frame, name) for name in entry.features.drop])
    features, present, notes = _encode(features, entry.features)
    label = label[present]
    groups = row_groups(frame[present], named) if named else None
    X = features.to_numpy(dtype=np.float64)
    classes = _numbers_if_integers(label)
    y = _plus_minus(label, classes, entry.target)
    return Selected(np.ascontiguousarray(X), y, classes, [str(name) for name in features.columns], notes, groups)


def _keep_rows(frame: pd.DataFrame, rows: RowSelection) -> pd.DataFrame:
    frame = frame.iloc[rows.drop_first :]
    if rows.without:
        frame = frame[~frame.isin(rows.without).any(axis=1)]
    if rows.first is not None:
        frame = frame.iloc[: rows.first]
    if rows.sort is not None:
        frame = frame.iloc[_order(_column(frame, rows.sort.column), rows.sort)]
    if rows.slices is not None:
        frame = frame.iloc[np.concatenate([np.arange(start - 1, stop) for start, stop in rows.slices])]
    return frame


def _order(column: pd.Series, sort: Sort) -> Ints:
    """Return the stable order of a text column; rows with equal keys keep their order in both directions."""
    import pandas as pd

    codes, values = pd.factorize(column)
    keys = [str(value).casefold() if sort.ignore_case else str(value) for value in values]
    rank = {key: position for position, key in enumerate(sorted(set(keys)))}
    ranks = np.array([rank[key] for key in keys])[codes]
    return np.argsort(-ranks if sort.order == "descending" else ranks, kind="stable")


ABOVE, NOT_ABOVE = "above", "not above"


def _labels(column: pd.Series, target: Target) -> AnyArray:
    """Return the classes (n,) as text: those of the column, or whether its numbers are above a quantile."""
    if target.above is None:
        return class_text(column)
    numbers = _to_numbers(column).to_numpy()
    return np.where(numbers > np.quantile(numbers, target.above), ABOVE, NOT_ABOVE).astype(object)


def class_text(column: pd.Series) -> AnyArray:
    """Return labels as text (n,): integers without a decimal point, text without surrounding blanks."""
    if column.dtype.kind in "iufb":
        values = column.to_numpy()
        unique, inverse = np.unique(values, return_inverse=True)
        return np.array([str(int(v)) if float(v).is_integer() else str(v) for v in unique], dtype=object)[inverse]
    cells = column.tolist()
    if set(map(type, cells)) == {str}:
        unique, inverse = np.unique(np.array(cells, dtype=object), return_inverse=True)
        return np.array(texts_of(unique.tolist()), dtype=object)[inverse]
    return np.array([cell_text(value) if isinstance(value, bytes) else trimmed(str(value)) for value in cells], object)


def _wanted_classes(label: AnyArray, target: Target) -> Bools:
    present = set(label)
    wanted = [str(value) for value in [*(target.positive or []), *(target.negative or [])]]
    for value in wanted:
        if value not in present:
            raise RunError(f"target: no row has class {value!r}; classes: {', '.join(sorted(present))}")
    if target.negative is None:
        return np.ones(len(label), dtype=bool)
    return np.isin(label, np.array(wanted, dtype=object))


def _first_of_each(label: AnyArray, counts: dict[str, object]) -> Bools:
    """Return the mask of the first `counts` rows of each class, in the order of the table."""
    keep = np.zeros(len(label), dtype=bool)
    for value, count in counts.items():
        places = np.flatnonzero(label == value)
        if isinstance(count, int):
            if len(places) < count:
                raise RunError(
                    f"rows.take: {count} rows of class {value!r} are declared, but there are only {len(places)}"
                )
            places = places[:count]
        keep[places] = True
    return keep


def _encode(frame: pd.DataFrame, spec: Features) -> tuple[pd.DataFrame, Bools, list[str]]:
    """Return the numeric table, the mask of the rows kept, and notes."""
    import pandas as pd

    notes: list[str] = []
    present = np.ones(len(frame), dtype=bool)
    hot = [name for name in frame.columns if not _is_number(frame[name])] if spec.one_hot == "text" else spec.one_hot
    hot = list(frame.columns) if hot == "all" else [_found(frame, name) for name in hot]
    codes = {_found(frame, name) for name in spec.codes}
    fill = {_found(frame, name): how for name, how in spec.fill.items()}
    parts = []
    for name in frame.columns:
        column = frame[name]
        if name in hot:
            values = class_text(column)
            for value in sorted(set(values)):
                parts.append(pd.Series((values == value).astype(float), name=f"{name}={value}", index=frame.index))
            continue
        if name in codes:
            column = _rank_codes(column)
        elif spec.values and not _is_number(column):
            column = column.map(lambda cell: spec.values.get(str(cell).strip(), cell))
        numbers = _to_numbers(column)
        missing = numbers.isna().to_numpy()
        if missing.any():
            how = fill.get(name)
            if how is None:
                raise RunError(f"column {name!r}: {missing.sum()} missing values; declare 'features.fill'")
            notes.append(f"{missing.sum()} missing values of {name} {_FILLED[how]}")
            if how == "drop":
                present &= ~missing
            else:
                numbers = numbers.fillna(numbers.median() if how == "median" else 0.0)
        parts.append(numbers.rename(name))
    return pd.concat(parts, axis=1)[present], present, notes


_FILLED = {"median": "replaced by the median", "zero": "replaced by 0", "drop": "dropped with their rows"}


def _is_number(column: pd.Series) -> bool:
    return column.dtype.kind in "iufb"


def _rank_codes(column: pd.Series) -> pd.Series:
    """Return the rank (from 1) of each value among the sorted distinct texts, case last, as R sorts; dates as ISO text.

    A missing value is an empty text.
    """
    if column.dtype.kind == "M":
        column = column.dt.strftime("%Y-%m-%d %H:%M:%S")
    texts = column.astype(str).where(column.notna(), "")
    values = sorted(set(texts), key=lambda text: (text.casefold(), text))
    return texts.map({text: float(rank) for rank, text in enumerate(values, start=1)}).astype(float)


def _to_numbers(column: pd.Series) -> pd.Series:
    numbers = to_numbers(column).astype(np.float64)
    wrong = numbers.isna().to_numpy() & column.notna().to_numpy()
    if wrong.any():
        cell = column.to_numpy()[wrong][0]
        raise RunError(f"column {column.name!r}: {cell!r} is not a number; declare 'features.codes' or 'one_hot'")
    return numbers


def _plus_minus(label: AnyArray, classes: AnyArray, target: Target) -> Ints:
    declared = target.positive if target.above is None else [ABOVE]
    if declared is None:
        return classes if classes.dtype.kind == "i" else np.unique(classes, return_inverse=True)[1].astype(np.int64)
    positive = np.isin(label, np.array([str(value) for value in declared], dtype=object))
    return np.where(positive, 1, -1).astype(np.int64)


def _numbers_if_integers(label: AnyArray) -> AnyArray:
    unique, inverse = np.unique(label.astype(str), return_inverse=True)
    try:
        return np.array([int(value) for value in unique], dtype=np.int64)[inverse]
    except ValueError:
        return unique[inverse]


def _found(frame: pd.DataFrame, name: Column) -> Column:
    if name not in frame.columns:
        raise RunError(f"no column {name!r}; columns: {', '.join(map(str, frame.columns))}")
    return name


def _column(frame: pd.DataFrame, name: Column) -> pd.Series:
    return frame[_found(frame, name)]
