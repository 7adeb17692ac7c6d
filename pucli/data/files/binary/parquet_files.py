"""Parquet and Feather files as tables or blocks: what pandas calls the index is a column like the others."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.core.errors import UsageError, shell_word
from pucli.data.columns.cells import TableError
from pucli.data.files.table import Table
from pucli.data.files.table_size import check_columnar, check_fits, checked_names, text_bytes
from pucli.data.files.text.records import note
from pucli.data.ids import with_ids
from pucli.data.reading import Reading

if TYPE_CHECKING:
    import pandas as pd

_LATEST = {"s": 8_213_000_000_000, "ms": 8_213_000_000_000_000}  # since 1970, in the year 262,000
EXACT = 2**53  # largest integer up to which all are floats
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


class _RangeIndex(NamedTuple):
    """An index of equally spaced integers, which has no column in the file."""

    name: str
    start: int
    step: int


def parquet_columns(schema: Any, wanted: Collection[str] = ()) -> list[str]:
    """Return the columns of a file with an Arrow schema.

    An index without a name is a column only if it is `wanted`.
    """
    names = [name for name in schema.names if name in wanted or not _UNNAMED_INDEX.fullmatch(name)]
    counted = _counted_index(schema)
    return [*names, counted.name] if counted is not None and counted.name not in names else names


def _counted_index(schema: Any) -> _RangeIndex | None:
    try:
        about = json.loads(schema.metadata[b"pandas"])["index_columns"]
        [index] = [one for one in about if isinstance(one, dict) and one.get("kind") == "range"]
        return _RangeIndex(index["name"], int(index["start"]), int(index["step"])) if index["name"] else None
    except (KeyError, TypeError, ValueError):  # not written by pandas
        return None


def parquet_file(path: Path, **options: Any) -> Any:
    """Return an opened Parquet file, whose name need not be text, as Arrow demands."""
    import pyarrow as pa
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(pa.OSFile(os.fsencode(path)), **options)


def read_parquet(path: Path, wanted: Collection[str], ids: Collection[str]) -> pd.DataFrame:
    """Read a Parquet file."""
    import pandas as pd

    with parquet_file(path) as file:
        names = _checked_names(path, file.schema_arrow, wanted)
        left_out = [name for name in file.schema_arrow.names if name not in names]
        if left_out:
            name = shell_word(left_out[0])
            note(f"{path}: the index without a name is left out; --id {name} copies it to the predictions")
        _check_size(path, file, names)
        parts = list(_blocks(file, names, ids, None))
    return parts[0] if parts else pd.DataFrame(columns=names)


def read_parquet_blocks(path: Path, needed: Sequence[str], ids: Collection[str], rows: int) -> Iterator[pd.DataFrame]:
    """Read columns of a Parquet file in blocks of rows."""
    import pandas as pd

    with parquet_file(path, buffer_size=2**20, pre_buffer=False) as file:
        there = _checked_names(path, file.schema_arrow, needed)
        _check_size(path, file, [name for name in needed if name in there])
        yield pd.DataFrame(columns=there)
        yield from _blocks(file, [name for name in needed if name in there], ids, rows)


def _check_size(path: Path, file: Any, names: Collection[str]) -> None:
    """Raise UsageError if columns unpack to far more than the file: a text is stored once, however often it stands."""
    import pyarrow as pa

    if not path.is_file():
        return
    about = file.metadata
    if sum(about.row_group(group).num_rows for group in range(about.num_row_groups)) != about.num_rows:
        raise UsageError(f"{path} is damaged: its parts have other numbers of rows than the whole; save it again")
    check_columnar(path, about.num_rows, len(names))
    schema = file.schema_arrow
    nested = {name for name in names if name in schema.names and pa.types.is_nested(schema.field(name).type)}
    for leaf in range(about.num_columns) if nested else ():
        if file.schema.column(leaf).path.partition(".")[0] in nested:
            values = sum(about.row_group(group).column(leaf).num_values for group in range(about.num_row_groups))
            check_columnar(path, values, 1)
    texts = [
        name
        for name in names
        if name in schema.names and any(is_text(schema.field(name).type) for is_text in _text_kinds(pa.types))
    ]
    if not texts:
        return
    total = 0.0
    with parquet_file(path, read_dictionary=texts) as again:
        for group in range(about.num_row_groups):
            for name in texts:
                total += text_bytes(again.read_row_group(group, columns=[name]).column(0))
                check_columnar(path, about.num_rows, len(names), total)


def _text_kinds(kinds: Any) -> Sequence[Any]:
    return kinds.is_string, kinds.is_large_string, kinds.is_binary, kinds.is_dictionary


def _checked_names(path: Path, schema: Any, wanted: Collection[str]) -> list[str]:
    names = parquet_columns(schema, wanted)
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise UsageError(f"{path}: two columns are named {twice!r}; rename one of them")
    return names


def _blocks(file: Any, names: Sequence[str], ids: Collection[str], rows: int | None) -> Iterator[pd.DataFrame]:
    """Yield blocks of `rows` rows, or the whole file."""
    import pandas as pd
    import pyarrow as pa

    stored = [name for name in names if name in file.schema_arrow.names]
    counted = _counted_index(file.schema_arrow)
    start = 0

    def frame(part: Any) -> pd.DataFrame:
        nonlocal start
        part.validate(full=True)  # a text may be none
        part = _readable(part)
        found = part.to_pandas(ignore_metadata=True, types_mapper=None)
        exact = {
            name: part.column(name).to_pandas(types_mapper=_exact_type)
            for name in stored
            if pa.types.is_integer(part.schema.field(name).type) and (name in ids or _loses_digits(part.column(name)))
        }
        found = found.assign(**exact) if exact else found
        if counted is not None and counted.name in names and counted.name not in stored:
            found[counted.name] = counted.start + counted.step * np.arange(start, start + len(part))
        start += len(part)
        return with_ids(found[list(names)], ids)

    if rows is None:
        yield frame(file.read(columns=stored))
        return
    kept: list[pd.DataFrame] = []
    for batch in file.iter_batches(batch_size=rows, columns=stored):
        kept.append(frame(pa.Table.from_batches([batch])))
        while sum(map(len, kept)) >= rows:
            whole = kept[0] if len(kept) == 1 else pd.concat(kept, ignore_index=True)
            yield whole.iloc[:rows]
            kept = [whole.iloc[rows:]]
    if sum(map(len, kept)):
        yield pd.concat(kept, ignore_index=True)


def _readable(part: Any) -> Any:
    """Return an Arrow table whose times of day have no nanoseconds; raise TableError for a moment that has no date."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, one in enumerate(part.schema):
        if pa.types.is_time64(one.type) and one.type.unit == "ns":
            cells = part.column(place).cast(pa.time64("us"), safe=False)
            part = part.set_column(place, one.name, cells)
        elif pa.types.is_timestamp(one.type) and one.type.unit in _LATEST:
            ends = pc.min_max(part.column(place).cast(pa.int64()))
            if any(end is not None and abs(end) > _LATEST[one.type.unit] for end in ends.as_py().values()):
                raise TableError(
                    f"column {one.name!r} has times beyond the year 262,000, which no date holds; correct them, or "
                    "leave the column out of the file"
                )
    return part


def _loses_digits(column: Any) -> bool:
    """Return whether integers beside empty cells would become floats that are other numbers."""
    import pyarrow.compute as pc

    if not column.null_count:
        return False
    ends = pc.min_max(column).as_py()
    return ends["min"] is not None and max(-ends["min"], ends["max"]) > EXACT


def _exact_type(kind: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    return pd.UInt64Dtype() if pa.types.is_unsigned_integer(kind) else pd.Int64Dtype()


def feather_table(path: Path) -> Table:
    """Read a Feather or Arrow file as a table."""
    import pyarrow as pa

    with pa.memory_map(os.fsencode(path)) as source:
        if source.read(6) != b"ARROW1":
            source.seek(0)
            if source.read(4) == b"FEA1":
                raise UsageError(
                    f"{path} is a Feather file of version 1, which cannot be checked; save it as version 2"
                )
            source.seek(0)
            content = pa.ipc.open_stream(source).read_all()
        else:
            source.seek(0)
            file = pa.ipc.open_file(source)
            batches, n_rows = [], 0
            for number in range(file.num_record_batches):
                batches.append(file.get_batch(number))
                n_rows += batches[-1].num_rows
                check_columnar(path, n_rows, len(file.schema.names))
                check_fits(path, n_rows * len(file.schema.names))
            content = pa.Table.from_batches(batches, file.schema)
        content.validate(full=True)  # else Arrow trusts lengths, positions of texts and codes of categories
        content = content.rename_columns(checked_names(path, content.column_names))
        check_columnar(path, len(content), content.num_columns, sum(map(text_bytes, content.columns)))
        # identifiers in an index are columns, and integers beside empty cells stay exact
        frame = _readable(content).to_pandas(ignore_metadata=True, integer_object_nulls=True)
    return Table(frame, lambda row: f"row {row + 1}")


def parquet_blocks(path: Path, columns: Any, rows: int, how: Reading) -> Iterator[Table]:
    """Yield some columns of a Parquet file as blocks of rows."""
    blocks = read_parquet_blocks(path, columns.needed, columns.ids, rows)
    empty = Table(next(blocks), lambda row: f"row {row + 1}")
    names = columns.of(path, empty)
    found = False
    for frame in blocks:
        found = True
        yield empty._replace(frame=frame)
    if not found:
        yield empty._replace(frame=empty.frame[names])
