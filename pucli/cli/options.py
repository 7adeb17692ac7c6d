"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from pucli.cli import completion
from pucli.core.errors import UsageError, unknown
from pucli.core.processes import number_of_jobs
from pucli.data.reading import normal

LARGEST_SEED = 2**32 - 1  # of the generators of NumPy and scikit-learn


def as_given(context: typer.Context, parameter: Any, value: object) -> str:
    """Return an option with its value as the user gave it, or the environment variable that set it."""
    source = context.get_parameter_source(parameter.name)
    if source is not None and source.name == "ENVIRONMENT":
        return f"{parameter.envvar}={value}"
    names = [name for name in parameter.opts if name.startswith("--")]
    return f"{names[0] if names else parameter.human_readable_name} {value}"


def normal_name(value: str | None) -> str | None:
    """Return the value of an option that names a column in the composed form of Unicode."""
    return None if value is None else normal(value)


def _known_method(value: str) -> str:
    from pucli.methods import get_method

    get_method(value)
    return value


def _known_dataset(value: str | None) -> str | None:
    from pucli.data import dataset_key

    if value is not None:
        dataset_key(value)
    return value


def _known_scenario(value: str) -> str:
    from pucli.data.splits.scenarios import SCENARIOS

    return choice("scenario", value, SCENARIOS)


def _usable_seed(context: typer.Context, parameter: typer.CallbackParam, value: int) -> int:
    if not 0 <= value <= LARGEST_SEED:
        given = as_given(context, parameter, value)
        raise UsageError(f"{given}: a seed is a whole number from 0 to {LARGEST_SEED}.")
    return value


def _usable_jobs(context: typer.Context, parameter: typer.CallbackParam, value: int) -> int:
    number_of_jobs(value, as_given(context, parameter, value))
    return value


def _inner_share(context: typer.Context, parameter: typer.CallbackParam, value: float) -> float:
    if not 0 < value < 1:
        raise UsageError(f"{as_given(context, parameter, f'{value:g}')}: must be above 0 and below 1, e.g. 0.5.")
    return value


def _no_file(context: typer.Context, parameter: typer.CallbackParam, value: Path) -> Path:
    if value.is_file():
        raise UsageError(f"{as_given(context, parameter, value)} is a file; give a folder.")
    return value


MethodName = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        help="Method; `pucli list methods` shows all.",
        autocompletion=completion.methods,
        callback=_known_method,
    ),
]
DatasetName = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        "-d",
        help="Declared data set; `pucli list datasets` shows all.",
        autocompletion=completion.datasets,
        callback=_known_dataset,
    ),
]
DataFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--data",
        metavar="FILE",
        help="Table: csv, tsv, jsonl, parquet, feather, xlsx, ods, arff, mat, libsvm or npz; text may be compressed. "
        "Repeatable. - is stdin.",
    ),
]
Encoding = Annotated[
    str, typer.Option("--encoding", metavar="NAME", help="Text encoding, e.g. cp1252. Default: UTF-8.")
]
Separator = Annotated[
    str, typer.Option("--sep", metavar="CHARACTER", help="Separator, e.g. ';' or '\\t'. Default: inferred.")
]
SkippedRows = Annotated[
    int, typer.Option("--skip-rows", metavar="N", min=0, help="Skip N lines above the header.", show_default=False)
]
HeaderRows = Annotated[
    int | None,
    typer.Option(
        "--header-rows",
        metavar="N",
        min=1,
        help="Join N lines to the names. Default: 1; descriptions below are left out.",
    ),
]
SkippedFooter = Annotated[
    int | None,
    typer.Option("--skip-footer", metavar="N", min=0, help="Leave N lines at the end out. Default: inferred."),
]
Quote = Annotated[
    str, typer.Option("--quote", metavar="NAME", help="double (default), or none: quotes are plain characters.")
]
Sheet = Annotated[str, typer.Option("--sheet", metavar="NAME", help="Sheet of a workbook. Default: the first.")]
Decimal = Annotated[str, typer.Option("--decimal", metavar="SIGN", help="Decimal sign: . or ,. Default: inferred.")]
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", metavar="WORD,WORD...", help="More words for an empty cell, e.g. '-,n.v.'."),
]
Format = Annotated[
    str,
    typer.Option("--format", metavar="NAME", help="Format of a file of another name, e.g. tsv. Default: by its name."),
]
LabelColumn = Annotated[
    str | None, typer.Option("--label", metavar="COLUMN", help="Label column of --data.", callback=normal_name)
]
PositiveValue = Annotated[
    list[str] | None,
    typer.Option(
        "--positive",
        metavar="VALUE",
        help="Label of positives, or a rule: '>0', '>=5', filled (any cell); repeatable. All other rows are "
        "unlabeled. Default, if every row has one of two labels: the larger number, or the word for yes.",
    ),
]
PositivesFrom = Annotated[
    Path | None,
    typer.Option(
        "--positives-from",
        metavar="FILE",
        help="File of the labeled rows, or of their identifiers (one a line, or a column), in place of --label. Joined "
        "by --id, else by the common identifier; without one, its rows are added.",
    ),
]
UnlabeledValue = Annotated[
    str | None, typer.Option("--unlabeled", metavar="VALUE", help="Label of unlabeled rows, if every row has a label.")
]
NegativeValue = Annotated[
    str | None, typer.Option("--negative", metavar="VALUE", help="Label of known negatives; other rows are unlabeled.")
]
SpreadsheetSafe = Annotated[
    bool,
    typer.Option(
        "--spreadsheet-safe", help="In CSV, put an apostrophe before texts that a spreadsheet would run as formulas."
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="K=V",
        help="Parameter of the method; repeatable.",
        autocompletion=completion.parameters,
    ),
]
Scenario = Annotated[
    str,
    typer.Option(
        "--scenario",
        help="case-control: the unlabeled rows are a sample of their own; class prior and counts are of them. "
        "single-training-set: some positives of one sample are labeled; class prior and counts are of all its rows.",
        autocompletion=completion.completer("case-control", "single-training-set"),
        callback=_known_scenario,
    ),
]
LabelFrequency = Annotated[
    float,
    typer.Option(
        "--label-frequency",
        help="With --dataset: share of the training positives that are labeled.",
        callback=_inner_share,
    ),
]
TrueLabelFrequency = Annotated[
    float,
    typer.Option("--label-frequency", help="Share of the training positives that are labeled.", callback=_inner_share),
]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.", envvar="PUCLI_SEED", callback=_usable_seed)]
SplitFile = Annotated[Path | None, typer.Option("--split", help="With --dataset: splits from `pucli split`.")]
Repeat = Annotated[int, typer.Option("--repeat", help="Split number in --split, from 0.", min=0)]
RowLimit = Annotated[
    int | None,
    typer.Option("--rows", metavar="N", min=2, help="Train on at most N random rows, up to N/4 of them labeled."),
]
Standardize = Annotated[
    bool, typer.Option("--standardize/--raw", help="Scale features to zero mean and unit variance.")
]
Folds = Annotated[int, typer.Option("--cv", help="Folds of the cross-validation.", min=2)]
Score = Annotated[
    str | None,
    typer.Option(
        "--score",
        help="Score to maximize: pu-auc, f1, puf, puf-pooled or puf-lower-1se.",
        autocompletion=completion.scores,
        show_default="pu-auc",
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--n-jobs", "-j", help="Worker processes; -1 for all cores.", envvar="PUCLI_N_JOBS", callback=_usable_jobs
    ),
]
ExperimentName = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="Name (`pucli list experiments`) or a .yaml file.",
        autocompletion=completion.experiments,
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        "--profile",
        help="Declared size of the run: smoke, quick or full.",
        envvar="PUCLI_PROFILE",
        autocompletion=completion.profiles,
        show_default="full",
    ),
]
ModelOut = Annotated[Path | None, typer.Option("--model", help="Save the model to this file, e.g. bought.model.")]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", "-m", help="Only this method; repeatable.", autocompletion=completion.columns),
]
Datasets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset", "-d", help="Only this data set; repeatable.", autocompletion=completion.experiment_datasets
    ),
]
Results = Annotated[
    Path,
    typer.Option(
        "--results", metavar="DIR", help="Folder of all results.", envvar="PUCLI_RESULTS_DIR", callback=_no_file
    ),
]
AllowChanges = Annotated[
    bool,
    typer.Option(
        "--allow-changes", help="Overwrite a committed table even if pucli's own files have uncommitted changes."
    ),
]
Mirror = Annotated[
    str | None,
    typer.Option("--mirror", metavar="DIR|URL", help="Take data files from here first.", envvar="PUCLI_MIRROR"),
]
ColumnKinds = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="COLUMN=KIND",
        help="Kind of a column: number, category, yes/no, date, text, identifier or constant; repeatable.",
    ),
]
Drop = Annotated[list[str] | None, typer.Option("--drop", metavar="COLUMN", help="Leave a column out; repeatable.")]
Only = Annotated[list[str] | None, typer.Option("--only", metavar="COLUMN", help="Use only this column; repeatable.")]
Ids = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Identifier: copied to the output, not a feature; repeatable. Default: inferred; '' for none.",
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="Column of groups, which no fold or split divides, e.g. the customer; LON,LAT,75km: blocks; repeatable.",
    ),
]
Columns = Annotated[bool, typer.Option("--columns", help="Only show how the columns of --data are read.")]


def choice(kind: str, value: str, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`."""
    choices = list(choices)
    if value not in choices:
        raise unknown(kind, value, choices)
    return value
