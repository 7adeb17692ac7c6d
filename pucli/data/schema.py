"""The schema of an entry of `datasets.yaml`: its files, how they are read, and the rows, classes and columns taken."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, model_validator

Value = StrictInt | StrictStr
Column = StrictInt | StrictStr
FileName = Annotated[str, Field(pattern=r"^[^/\\\x00]*[^/\\\x00.][^/\\\x00]*$")]  # no path, not "." or ".."
Folder = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Declared(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Mirror(_Declared):
    """Address of a file, or of an archive (zip, tar) that contains the file under the name `member`.

    Paths are relative to the folder of the catalogue.
    """

    url: str
    member: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _plain_address(cls, value: Any) -> Any:
        return {"url": value} if isinstance(value, str) else value


class Reader(_Declared):
    """Format of a file; columns without a header are numbered from 0.

    Files of kind idx are joined by columns (images and labels), files of any other kind by rows.
    """

    kind: Literal["table", "excel", "arff", "mat", "idx"] = "table"
    separator: Literal["comma", "tab", "blank", "semicolon"] = "comma"
    header: Literal["none", "first"] = "first"
    skip: int = 0
    columns: list[StrictStr] | None = None
    sheet: str | None = None
    features: str = "X"
    labels: str = "labels"


class File(_Declared):
    """A file: the SHA-256 of its uncompressed content, its addresses in the order of trial, and other packagings.

    `sha256` may be missing only if no copy was available to compute it; the `content_sha256` of the entry is then
    checked instead.
    """

    name: FileName
    sha256: Sha256 | None = None
    mirrors: list[Mirror] = []
    reader: Reader | None = None
    alternatives: list[File] = []

    def packagings(self) -> list[File]:
        """Return this file and its alternatives in the order of trial."""
        return [self, *self.alternatives]


class Target(_Declared):
    """The label column and its classes. `positive` becomes +1 and `negative` -1; all other rows are dropped.

    Without `positive`, the data set is multi-class. Without `negative`, all other classes are negative. `above`: the
    positives are the rows whose label, a number, is above this quantile of the column.
    """

    column: Column | None = None
    above: float | None = Field(default=None, gt=0, lt=1)
    positive: list[Value] | None = None
    negative: list[Value] | None = None


class Sort(_Declared):
    """The order of rows by a text column."""

    column: Column
    order: Literal["ascending", "descending"] = "ascending"
    ignore_case: bool = False


class Rows(_Declared):
    """Selection of rows, applied in the order of the fields. Slices count rows from 1 and include both ends.

    `without`: cells, such as a sign for a missing value; a row that has one of them is left out.
    """

    drop_first: int = 0
    without: list[StrictStr] = []
    first: int | None = None
    sort: Sort | None = None
    slices: list[tuple[int, int]] | None = None
    take: dict[Value, StrictInt | Literal["all"]] | None = None


class Features(_Declared):
    """Selection and encoding of columns.

    The features are `take` (default: all but the label) without `drop`. `values`: cells to replace first. `codes`: text
    columns to replace by the rank of each value among the sorted distinct values of the selected rows, as in R's
    data.matrix. `one_hot`: columns with one 0/1 feature per value. `fill`: the replacement of a missing number.
    """

    take: list[Column] | None = None
    drop: list[Column] = []
    codes: list[Column] = []
    one_hot: list[Column] | Literal["all", "text"] = []
    values: dict[str, float] = {}
    fill: dict[Column, Literal["median", "zero", "drop"]] = {}


class Published(_Declared):
    """Counts stated by the publication, after the selection of rows, classes and columns."""

    positive: int | None = None
    negative: int | None = None
    rows: int | None = None
    features: int | None = None


class Entry(_Declared):
    """A data set. Exactly one of `files`, `sklearn` and `generator` declares its origin.

    `groups`: columns whose equal cells mark rows that belong together. Rows of one group are never on both sides of a
    split or a fold; the columns are no features unless `features.take` names them.
    """

    like: str | None = Field(default=None, description="entry of the same file whose keys hold where not given here")
    name: str | None = None
    title: str
    page: str | None = None
    licence: str | None = None
    folder: Folder | None = None
    files: list[File] = []
    sklearn: Literal["breast_cancer", "wine", "iris", "digits"] | None = None
    generator: str | None = None
    parameters: dict[str, int | float] = {}
    reader: Reader = Reader()
    target: Target = Target()
    rows: Rows = Rows()
    features: Features = Features()
    groups: Column | list[Column] | None = None
    prior: float | None = Field(default=None, gt=0, lt=1)
    selection: Literal["known", "guessed"] = "known"
    note: str = ""
    content_sha256: Sha256 | None = None
    published: Published = Published()

    @model_validator(mode="after")
    def _one_origin(self) -> Entry:
        origins = [name for name in ("files", "sklearn", "generator") if getattr(self, name)]
        if len(origins) != 1:
            raise ValueError(f"needs exactly one of 'files', 'sklearn', 'generator'; has {origins or 'none'}")
        if self.groups is not None and self.generator:
            raise ValueError("'groups' names columns of a file; a generated data set has none")
        if self.selection == "guessed" and not self.note:
            raise ValueError("a guessed selection needs a 'note' with the reason for the guess")
        if self.target.negative and not self.target.positive:
            raise ValueError("'target.negative' needs 'target.positive'")
        if self.target.above is not None and self.target.positive:
            raise ValueError("'target.above' and 'target.positive' exclude each other")
        for file in self.files:
            for packaging in file.packagings():
                if packaging.sha256 is None and self.content_sha256 is None:
                    raise ValueError(f"file {packaging.name!r} has no 'sha256'; declare 'content_sha256' instead")
        return self

    @property
    def group_columns(self) -> list[Column]:
        """Return the columns that identify groups."""
        return self.groups if isinstance(self.groups, list) else [] if self.groups is None else [self.groups]

    @property
    def origin(self) -> str:
        """Return the origin: "download", "scikit-learn" or "generated"."""
        return "download" if self.files else "scikit-learn" if self.sklearn else "generated"
