"""Parts that documents of several commands share."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from pydantic import ConfigDict
from typing_extensions import TypedDict

Counts = dict[str, int]
Parameters = dict[str, Any]
Scores = dict[str, float | None]


class Interval(TypedDict):
    """A value with its interval, of 90 % unless a confidence was given."""

    value: float
    low: float
    high: float


class OpenInterval(TypedDict):
    """A value with its 90 % interval; the value is null where the rows do not determine it."""

    value: float | None
    low: float
    high: float


class Groups(TypedDict):
    """Columns whose values keep rows together, and the number of groups."""

    columns: list[str]
    number: int


class Source(TypedDict):
    """The rows that a model learned from: a file, or a declared data set and its split."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]
    file: NotRequired[str]
    files: NotRequired[list[str]]
    label: NotRequired[str]
    positive: NotRequired[str | None]
    negative: NotRequired[str]
    groups: NotRequired[Groups]
    rows_drawn: NotRequired[int]
    rows_sha256: NotRequired[str]
    labels_sha256: NotRequired[str]
    dataset: NotRequired[str]
    content_sha256: NotRequired[str]
    scenario: NotRequired[str]
    label_frequency: NotRequired[float]
    seed: NotRequired[int]
    repeat: NotRequired[int]
    split_file: NotRequired[str]


class Column(TypedDict):
    """How a column of a file is used; `read` is the share of its cells that could be read as its kind."""

    column: str
    kind: str
    empty: int
    distinct: int | None
    read: float | None
    not_read: str | None
    encoded: str
    features: int
    note: str


class Columns(TypedDict):
    """With --columns: how the columns of a file would be used; nothing is trained."""

    data: str
    rows: int
    features: int
    columns: list[Column]


class Failure(TypedDict):
    """An error."""

    kind: Literal["usage", "run", "interrupted", "defect", "help"]
    message: str
    exit_code: int


class Error(TypedDict):
    """What any command prints with --json if it fails; further keys are results known before Ctrl-C."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]
    error: Failure
