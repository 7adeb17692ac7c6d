"""Options that name rows of a file or a data set, as one parameter of a command."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, get_args

import typer
from typer.models import ArgumentInfo

from pucli.cli import completion
from pucli.cli import options as opt
from pucli.cli.assignments import column_kinds
from pucli.cli.output import Output
from pucli.core.errors import UsageError, check_model_file, missing_file, shell_word
from pucli.data.reading import Reading, normal

if TYPE_CHECKING:
    from pucli.data.rows.training_rows import RowSource
    from pucli.data.rows.user_file import ColumnChoice


# Declared data set that comes with scikit-learn, for a command that is given no rows.
EXAMPLE = "breast-cancer"
OWN_TABLE = "--data FILE --label COLUMN --positive VALUE"
ModelFile = Annotated[Path, typer.Option("--model", help="Model file, from --model of `pucli auto` or `pucli train`.")]
NewFiles = Annotated[
    list[Path],
    typer.Option(
        "--data", metavar="FILE", help="File with the columns of the model; others are ignored. Repeatable. - is stdin."
    ),
]
# Reading options that only some commands have.
RARE_READING = frozenset({"skip-rows", "header-rows", "skip-footer", "quote"})
# The first argument of a command that takes rows.
TABLE = "table"
TableFile = Annotated[str | None, typer.Argument(metavar="FILE", help="The rows, as --data FILE; - is stdin.")]
TableOrName = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE|NAME",
        help="The rows: a file, as --data FILE, or a declared data set, as --dataset NAME.",
        autocompletion=completion.datasets,
    ),
]


def with_first_argument(parameters: Sequence[inspect.Parameter]) -> list[inspect.Parameter]:
    """Return the parameters of a command; one with --data and no argument of its own takes the rows as an argument."""
    names = {parameter.name for parameter in parameters}
    own = any(isinstance(part, ArgumentInfo) for one in parameters for part in get_args(one.annotation))
    if "data" not in names or own:
        return list(parameters)
    kind = TableOrName if "dataset" in names else TableFile
    table = inspect.Parameter(TABLE, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
    return [table, *(one.replace(default=None) if one.name == "data" else one for one in parameters)]


def take_first_argument(options: dict[str, Any], *, needs_file: bool) -> None:
    """Replace the first argument in the values of the options by --data or --dataset, whichever it names."""
    table = options.pop(TABLE)
    if table is not None and "dataset" in options and _is_declared(table):
        if options["dataset"] is not None:
            raise UsageError(f"{table} and --dataset {options['dataset']} both name rows; keep one.")
        options["dataset"] = table
    elif table is not None:
        options["data"] = [Path(table), *(options["data"] or ())]
    if needs_file and not options["data"]:
        raise UsageError("no rows given; give the FILE as first argument or as --data FILE.")


def check_there(*files: Path | None, model: Path | None = None) -> None:
    """Raise UsageError, before packages are loaded, for files that do not exist; patterns and addresses pass."""
    if model is not None:
        check_model_file(model)
    for path in files:
        if path is not None and not re.search(r"^-$|[*?\[]|:/", str(path)):
            try:
                path.stat()
            except FileNotFoundError:
                raise missing_file(path) from None
            except (OSError, ValueError):  # its reader says why
                continue


def is_table(word: str) -> bool:
    """Return whether the first of several arguments is a file; the name of a method is none."""
    from pucli.methods import all_methods

    return word not in all_methods() and (word == "-" or Path(word).suffix != "" or Path(word).is_file())


def _is_declared(table: str) -> bool:
    """Return whether the first argument is a declared data set; raise UsageError for a bare word that is nothing."""
    from pucli.data import dataset_key

    is_file = Path(table).is_file()
    try:
        dataset_key(table)
    except UsageError:
        if table != "-" and Path(table).name == table and not Path(table).suffix and not Path(table).exists():
            raise
        return False
    if is_file:
        raise UsageError(
            f"{table} is both a file in this folder and a declared data set; give --data {shell_word(table)} or "
            f"--dataset {shell_word(table)}."
        )
    return True


@dataclass(frozen=True)
class UsualReading:
    """Options that files of every kind need; a model keeps the others. See `pucli.data.reading.Reading`."""

    encoding: opt.Encoding = ""
    sep: opt.Separator = ""
    sheet: opt.Sheet = ""
    decimal: opt.Decimal = ""
    missing: opt.Missing = None
    format: opt.Format = ""

    def reading(self, files: Sequence[Path]) -> Reading:
        """Return the options as a `Reading`; raise UsageError for one that does not apply to any of the files."""
        from pucli.data.files.tables import check_applies

        words = [word.strip() for item in self.missing or () for word in item.split(",")]
        given = {name: value for name, value in vars(self).items() if name in Reading.__dataclass_fields__}
        found = Reading(**given | {"separator": self.sep, "missing": tuple(filter(None, words))})
        check_applies(found, files)
        return found


@dataclass(frozen=True)
class ReadingOptions(UsualReading):
    """All options for reading a file of the user."""

    skip_rows: opt.SkippedRows = 0
    header_rows: opt.HeaderRows = None
    skip_footer: opt.SkippedFooter = None
    quote: opt.Quote = ""


@dataclass(frozen=True)
class FileRows(ReadingOptions):
    """Options that name training rows in files of the user; see `pucli.data.rows.training_rows.RowSource`."""

    data: opt.DataFiles = None
    label: opt.LabelColumn = None
    positive: opt.PositiveValue = None
    positives_from: opt.PositivesFrom = None
    unlabeled: opt.UnlabeledValue = None
    negative: opt.NegativeValue = None
    scenario: opt.Scenario = "case-control"
    seed: opt.Seed = 0
    rows: opt.RowLimit = None
    kinds: opt.ColumnKinds = None
    drop: opt.Drop = None
    only: opt.Only = None
    ids: opt.Ids = None
    groups: opt.Groups = None

    @property
    def files(self) -> list[Path]:
        """Return the files of --data."""
        return list(self.data or ())

    @property
    def file(self) -> Path | None:
        """Return the first file of --data."""
        return self.files[0] if self.files else None

    def check_given(self, hint: str = "") -> None:
        """Raise UsageError, which ends with `hint`, without --data."""
        if not self.files:
            raise UsageError(f"no rows given; use --data FILE --label COLUMN. {hint}".rstrip())
        self.check_there()

    def check_there(self) -> None:
        """Raise UsageError for files that do not exist."""
        if not Path(self.label or "").is_file():  # else it may be swapped with the rows
            check_there(*self.files, self.positives_from)

    @property
    def source(self) -> RowSource:
        """Return the options as a `RowSource`."""
        from pucli.data.rows.training_rows import RowSource

        own = {"data", "kinds", "drop", "only", "ids", "groups"}
        own |= {part.name for part in fields(ReadingOptions)}
        options = {name: value for name, value in vars(self).items() if name not in own}
        return RowSource(
            **options,
            data=self.file,
            more=self.files[1:],
            choice=column_choice(self.kinds, self.drop, self.only, self.ids, self.groups),
            reading=self.reading(self.files),
        )

    @property
    def words(self) -> str:
        """Return shell options that select the same rows again; data files are already in the cache."""
        single = "dataset label positives_from unlabeled negative split repeat scenario label_frequency seed rows"
        words = [f"--data {shell_word(path)}" for path in self.files]
        for name in single.split():
            value = getattr(self, name, None)
            if value != getattr(type(self), name, None):
                words += [f"--{name.replace('_', '-')}", shell_word(value)]
        named = {
            "positive": self.positive,
            "as": self.kinds,
            "drop": self.drop,
            "only": self.only,
            "id": self.ids,
            "groups": self.groups,
        }
        for option, values in named.items():
            for value in values or ():
                words += [f"--{option}", shell_word(value)]
        words.append(self.reading(self.files).words)
        return " ".join(filter(None, words))


@dataclass(frozen=True)
class RowOptions(FileRows):
    """Options that name training rows in files of the user, or in a declared data set whose labels are hidden."""

    dataset: opt.DatasetName = None
    label_frequency: opt.LabelFrequency = 0.5

    def or_example(self, out: Output, own: str = OWN_TABLE) -> Self:
        """Return the options, which name the example if they name no rows and no column; a remark says so first."""
        named = ("dataset", "label", "positive", "positives_from", "unlabeled", "negative", "split", "data")
        if any(getattr(self, name, None) for name in named):
            return self
        example = replace(self, dataset=EXAMPLE)
        _ = example.source  # an option of reading that is wrong is the only answer
        announce_example(out, own)
        return example


@dataclass(frozen=True)
class SplitRowOptions(RowOptions):
    """Options that name training rows; those of a declared data set may come from a file of splits."""

    split: opt.SplitFile = None
    repeat: opt.Repeat = 0


def announce_example(out: Output, own: str) -> None:
    """Say which rows a command takes that was given none, and which options name the user's own."""
    out.remark(
        f"No rows were given: this is the data set {EXAMPLE}, which comes with scikit-learn. For your own: {own}"
    )


def column_choice(
    kinds: list[str] | None,
    drop: list[str] | None,
    only: list[str] | None,
    ids: list[str] | None,
    groups: list[str] | None = None,
    time: str | None = None,
) -> ColumnChoice:
    """Return the options about columns as a `ColumnChoice`. None stands for an option that was not given."""
    from pucli.data.rows.user_file import ColumnChoice

    out, sole, named, together = (tuple(map(normal, names or ())) for names in (drop, only, ids, groups))
    identifiers, made_of = tuple(filter(None, named)), together
    if together:
        from pucli.data.splits.groups import group_columns

        made_of = group_columns(together)
    return ColumnChoice(column_kinds(kinds), out, sole, identifiers, together, time or "", not named, made_of)
