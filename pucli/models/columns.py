"""How the columns of a file are used."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pucli.data.columns.encoder import TableEncoder


@dataclass(frozen=True)
class UsedColumn:
    """How a column of a file is used."""

    column: str
    kind: str
    empty: int  # number of empty cells
    distinct: int | None
    read: float | None  # share of its cells that could be read as its kind
    not_read: str | None  # the first other one
    encoded: str
    features: int
    note: str


@dataclass(frozen=True)
class Columns:
    """With --columns: how the columns of a file would be used; nothing is trained."""

    data: Path
    rows: int
    features: int
    columns: list[UsedColumn]


def column_records(encoder: TableEncoder) -> list[UsedColumn]:
    """Return one record per column: its kind, its encoding and remarks about it."""
    return [
        UsedColumn(
            column.name,
            column.kind,
            column.n_empty,
            column.n_distinct,
            column.share_read,
            column.unread or None,
            one.how(),
            len(one.features),
            column.warning or column.remark,
        )
        for column, one in zip(encoder.columns_, encoder.encoders_, strict=True)
    ]
