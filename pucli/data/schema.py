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

    url: str = Field(
        description="address of the file or of an archive, or a path relative to the folder of the catalogue"
    )
    member: str | None = Field(default=None, description="name of the file in the archive (zip, tar)")

    @model_validator(mode="before")
    @classmethod
    def _plain_address(cls, value: Any) -> Any:
        return {"url": value} if isinstance(value, str) else value


class DeclaredFormat(_Declared):
    """Format of a file; columns without a header are numbered from 0.

    Files of kind idx are joined by columns (images and labels), files of any other kind by rows.
    """

    kind: Literal["table", "excel", "arff", "mat", "idx"] = Field(
        default="table", description="format of the file; text is a table"
    )
    separator: Literal["comma", "tab", "blank", "semicolon"] = Field(
        default="comma", description="separator of a table"
    )
    header: Literal["none", "first"] = Field(
        default="first", description="whether the first line names the columns; without it they are numbered from 0"
    )
    skip: int = Field(default=0, description="number of lines above the header")
    columns: list[StrictStr] | None = Field(default=None, description="names of the columns, where the file has none")
    sheet: str | None = Field(default=None, description="sheet of a workbook; by default the first")
    features: str = Field(default="X", description="variable of a MATLAB file that holds the features")
    labels: str = Field(default="labels", description="variable of a MATLAB file that holds the labels")


class File(_Declared):
    """A file to download, and its other packagings."""

    name: FileName = Field(description="name of the file in the cache")
    sha256: Sha256 | None = Field(
        default=None,
        description="SHA-256 of the uncompressed content; where no copy was at hand, `content_sha256` of the entry",
    )
    bytes: int | None = Field(default=None, ge=1, description="size of the uncompressed content")
    mirrors: list[Mirror] = Field(default=[], description="addresses, in the order of trial")
    reader: DeclaredFormat | None = Field(default=None, description="format, if it differs from that of the entry")
    alternatives: list[File] = Field(default=[], description="other packagings of the same rows")

    def packagings(self) -> list[File]:
        """Return this file and its alternatives in the order of trial."""
        return [self, *self.alternatives]


class Target(_Declared):
    """The label column and its classes."""

    column: Column | None = Field(default=None, description="label column")
    above: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="rows are positive whose label, a number, is above this quantile of the column",
    )
    positive: list[Value] | None = Field(
        default=None, description="classes that become +1; without them the data set has several classes"
    )
    negative: list[Value] | None = Field(
        default=None, description="classes that become -1; by default all others. Rows of further classes are dropped"
    )


class Sort(_Declared):
    """The order of rows by a text column."""

    column: Column = Field(description="column of texts by which the rows are sorted")
    order: Literal["ascending", "descending"] = Field(default="ascending", description="direction")
    ignore_case: bool = Field(default=False, description="whether A and a are the same")


class RowSelection(_Declared):
    """Selection of rows, applied in the order of the fields."""

    drop_first: int = Field(default=0, description="number of rows to leave out at the top")
    without: list[StrictStr] = Field(
        default=[], description="cells, such as a sign for a missing value; rows that have one are left out"
    )
    first: int | None = Field(default=None, description="number of rows to keep")
    sort: Sort | None = Field(default=None, description="order of the rows")
    slices: list[tuple[int, int]] | None = Field(
        default=None, description="rows to keep, counted from 1, both ends included"
    )
    take: dict[Value, StrictInt | Literal["all"]] | None = Field(
        default=None, description="class -> number of its first rows to keep, or all"
    )


class Features(_Declared):
    """Selection and encoding of columns."""

    take: list[Column] | None = Field(default=None, description="columns to take; by default all but the label")
    drop: list[Column] = Field(default=[], description="columns to leave out")
    codes: list[Column] = Field(
        default=[],
        description="columns of texts: each becomes its rank among the sorted values, as in R's data.matrix",
    )
    one_hot: list[Column] | Literal["all", "text"] = Field(
        default=[], description="columns with one 0/1 feature for each value"
    )
    values: dict[str, float] = Field(default={}, description="cell -> number that replaces it, before all else")
    fill: dict[Column, Literal["median", "zero", "drop"]] = Field(
        default={}, description="column -> replacement of a missing number"
    )


class PublishedCounts(_Declared):
    """Counts stated by the publication, after the selection of rows, classes and columns."""

    positive: int | None = Field(default=None, description="number of positives")
    negative: int | None = Field(default=None, description="number of negatives")
    rows: int | None = Field(default=None, description="number of rows")
    features: int | None = Field(default=None, description="number of features")


class Entry(_Declared):
    """A data set. Exactly one of `files`, `sklearn` and `generator` declares its origin."""

    like: str | None = Field(default=None, description="entry of the same file whose keys hold where not given here")
    name: str | None = Field(default=None, description="name in tables")
    title: str = Field(description="name in full")
    page: str | None = Field(default=None, description="page of the source")
    license: str | None = Field(default=None, description="license of the data")
    folder: Folder | None = Field(
        default=None, description="folder of the files in the cache; by default uci/ and the key of the entry"
    )
    files: list[File] = Field(default=[], description="files to download")
    sklearn: Literal["breast_cancer", "wine", "iris", "digits", "make_classification"] | None = Field(
        default=None, description="data set that comes with scikit-learn, or that its make_classification draws"
    )
    generator: str | None = Field(
        default=None, description="generator of `pucli.data.catalogue.generators` or of a plug-in"
    )
    parameters: dict[str, int | float] = Field(
        default={}, description="parameters of the generator or of make_classification"
    )
    reader: DeclaredFormat = Field(default=DeclaredFormat(), description="format of the files")
    target: Target = Field(default=Target(), description="label column and classes")
    rows: RowSelection = Field(default=RowSelection(), description="rows to take")
    features: Features = Field(default=Features(), description="columns to take, and their encoding")
    groups: Column | list[Column] | None = Field(
        default=None,
        description="columns whose equal cells mark rows that stay on one side of each split and fold; features if "
        "`features.take` names them",
    )
    prior: float | None = Field(default=None, gt=0, lt=1, description="class prior that the publication gives")
    selection: Literal["known", "guessed", "chosen with the print in view"] = Field(
        default="known",
        description="whether the source states the selection of rows and columns; what was chosen with the printed "
        "figures in view is counted apart",
    )
    note: str = Field(default="", description="remark, such as the reason for a guessed selection")
    content_sha256: Sha256 | None = Field(default=None, description="SHA-256 of the rows after reading")
    published: PublishedCounts = Field(
        default=PublishedCounts(), description="counts that the publication states, after the selection"
    )

    @model_validator(mode="after")
    def _one_origin(self) -> Entry:
        origins = [name for name in ("files", "sklearn", "generator") if getattr(self, name)]
        if len(origins) != 1:
            raise ValueError(f"needs exactly one of 'files', 'sklearn', 'generator'; has {origins or 'none'}")
        if self.parameters and not self.generator and self.sklearn != "make_classification":
            raise ValueError("'parameters' needs a 'generator', or 'sklearn: make_classification'")
        if self.groups is not None and self.generator:
            raise ValueError("'groups' names columns of a file; a generated data set has none")
        if self.selection != "known" and not self.note:
            raise ValueError("a guessed or chosen selection needs a 'note' with the reason")
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
