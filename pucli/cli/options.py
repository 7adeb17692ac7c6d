"""Options that several commands share, and the reading of ``K=V``."""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import completion
from pucli.errors import UsageError, unknown

if TYPE_CHECKING:
    from pucli.cli.output import Output
    from pucli.data.training_rows import RowSource

MethodName = Annotated[
    str,
    typer.Option("--method", "-m", help="Method; `pucli list methods` shows all.", autocompletion=completion.methods),
]
DatasetName = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        "-d",
        help="Declared data set; `pucli list datasets` shows all.",
        autocompletion=completion.datasets,
        show_default=False,
    ),
]
DataFile = Annotated[
    Path | None,
    typer.Option(
        "--data", help="Your own file: csv, tsv, parquet, xlsx, arff, mat, libsvm or npz.", show_default=False
    ),
]
LabelColumn = Annotated[str | None, typer.Option("--label", help="Label column of --data.", show_default=False)]
PositiveValue = Annotated[
    str | None,
    typer.Option(
        "--positive",
        help="Value in the label column that marks positives, all other rows are unlabeled; default the greater of two "
        "numbers, or of two words the one that means yes.",
        show_default=False,
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="K=V",
        help="Parameter of the method; repeat for more.",
        autocompletion=completion.parameters,
        show_default=False,
    ),
]
Scenario = Annotated[
    str,
    typer.Option(
        "--scenario",
        help="How labels come about: case-control or single-training-set.",
        autocompletion=completion.words("case-control", "single-training-set"),
    ),
]
LabelFrequency = Annotated[
    float,
    typer.Option("--label-frequency", help="With --dataset: share of the training positives that is labelled."),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.", envvar="PUCLI_SEED")]
SplitFile = Annotated[
    Path | None, typer.Option("--split", help="With --dataset: a file of `pucli split`.", show_default=False)
]
Repeat = Annotated[int, typer.Option("--repeat", help="Which repeat of --split, from 0.")]
RowLimit = Annotated[
    int | None,
    typer.Option(
        "--rows",
        metavar="N",
        min=2,
        help="Train on N random rows where there are more; labelled ones are kept up to a quarter of N.",
        show_default=False,
    ),
]
Standardise = Annotated[
    bool,
    typer.Option("--standardise/--raw", help="Scale features to zero mean and unit variance."),
]
Folds = Annotated[int, typer.Option("--cv", help="Folds of the cross-validation.", min=2)]
Score = Annotated[
    str,
    typer.Option("--score", help="Rule of choice: puf, puf-pooled or puf-lower-1se.", autocompletion=completion.scores),
]
Jobs = Annotated[int, typer.Option("--n-jobs", "-j", help="Worker processes; -1 for all cores.", envvar="PUCLI_N_JOBS")]
ExperimentName = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="Name (`pucli list experiments`) or a .yaml file.",
        autocompletion=completion.experiments,
    ),
]
Profile = Annotated[
    str,
    typer.Option(
        "--profile",
        help="Size of the run: smoke, quick, full, as declared.",
        envvar="PUCLI_PROFILE",
        autocompletion=completion.profiles,
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "-m",
        help="Only this method; repeat for more.",
        autocompletion=completion.columns,
        show_default=False,
    ),
]
Datasets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset",
        "-d",
        help="Only this data set; repeat for more.",
        autocompletion=completion.experiment_datasets,
        show_default=False,
    ),
]
Catalogue = Annotated[
    Path | None,
    typer.Option(
        "--datasets",
        metavar="FILE",
        help="A further catalogue, in the form of datasets.yaml; one beside EXPERIMENT.yaml is taken by itself.",
        show_default=False,
    ),
]
Results = Annotated[
    Path, typer.Option("--results", help="Folder of all results.", envvar="PUCLI_RESULTS_DIR", show_default=True)
]
AllowChanges = Annotated[
    bool,
    typer.Option("--allow-changes", help="Write over a committed table although pucli's own files differ from it."),
]
Mirror = Annotated[
    str | None,
    typer.Option("--mirror", help="Folder or address to take data files from first.", envvar="PUCLI_MIRROR"),
]
ColumnKinds = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="COLUMN=KIND",
        help="Take a column as number, category, yes/no, date, text, identifier or constant; repeat for more.",
        show_default=False,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Leave a column out; repeat for more.", show_default=False),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="COLUMN", help="Use this column and no other; repeat for more.", show_default=False),
]
Ids = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="A column that names the row: no feature, carried to the predictions; repeat for more.",
        show_default=False,
    ),
]
Columns = Annotated[
    bool, typer.Option("--columns", help="Show what the columns of --data are taken for, and do nothing else.")
]
Offline = Annotated[bool, typer.Option("--offline", help="Never use the network.", envvar="PUCLI_OFFLINE")]


@dataclass(frozen=True)
class Rows:
    """The options that name the rows to learn from; their meaning stands in `pucli.data.training_rows.RowSource`."""

    dataset: DatasetName = None
    data: DataFile = None
    label: LabelColumn = None
    positive: PositiveValue = None
    scenario: Scenario = "case-control"
    label_frequency: LabelFrequency = 0.5
    seed: Seed = 0
    split: SplitFile = None
    repeat: Repeat = 0
    rows: RowLimit = None
    mirror: Mirror = None
    offline: Offline = False
    kinds: ColumnKinds = None
    drop: Drop = None
    only: Only = None
    ids: Ids = None
    columns: Columns = False

    @property
    def source(self) -> RowSource:
        """The same for the reader of the rows."""
        from pucli.data.own_file import ColumnChoice
        from pucli.data.training_rows import RowSource

        choice = ColumnChoice(column_kinds(self.kinds), self.drop or (), self.only or (), self.ids or ())
        own = ("kinds", "drop", "only", "ids", "columns")
        return RowSource(**{name: value for name, value in vars(self).items() if name not in own}, choice=choice)

    @property
    def words(self) -> str:
        """The options that give the same rows again, as a shell reads them; data files are in the cache by now."""
        single = (
            "dataset",
            "data",
            "label",
            "positive",
            "split",
            "repeat",
            "scenario",
            "label_frequency",
            "seed",
            "rows",
        )
        words: list[str] = []
        for name in single:
            value = getattr(self, name)
            if value != getattr(type(self), name):
                words += [f"--{name.replace('_', '-')}", shlex.quote(str(value))]
        for option, values in (("as", self.kinds), ("drop", self.drop), ("only", self.only), ("id", self.ids)):
            for value in values or ():
                words += [f"--{option}", shlex.quote(value)]
        return " ".join(words)


def scalar(text: str) -> Any:
    """Return the YAML scalar in `text`: a number, true, false, null or text. ``1e-3`` is a number here."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    import yaml

    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return value if isinstance(value, (bool, type(None))) else text


def assignments(option: str, items: Iterable[str]) -> dict[str, str]:
    """Return the ``K=V`` items of an option as a dict of texts."""
    result: dict[str, str] = {}
    for item in items:
        key, sign, value = item.partition("=")
        if not sign or not key.strip():
            raise UsageError(f"{option} {item}: write it as NAME=VALUE, e.g. {option} lam=0.1.")
        if key.strip() in result:
            raise UsageError(f"{option} {key.strip()} is given twice; keep one.")
        result[key.strip()] = value.strip()
    return result


def column_kinds(items: Sequence[str] | None) -> dict[str, str]:
    """Return the ``COLUMN=KIND`` items of --as; the name of a column may have an equals sign."""
    found: dict[str, str] = {}
    for item in items or ():
        name, sign, kind = item.rpartition("=")
        if not sign or not name:
            raise UsageError(f"--as {item}: write it as COLUMN=KIND, e.g. --as zip=category.")
        found[name] = kind.strip()
    return found


def method_parameters(method: str, items: Sequence[str] | None) -> dict[str, Any]:
    """Return the parsed ``--param`` items, each checked to be a parameter of `method`."""
    given = assignments("--param", items or ())
    check_names(method, given)
    return {key: _value(method, key, value) for key, value in given.items()}


def method_grid(method: str, items: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the parsed ``--grid K=v1,v2`` items, None if there are none. A single word may name a series."""
    given = assignments("--grid", items or ())
    if not given:
        return None
    check_names(method, given)
    grid: dict[str, Any] = {}
    for key, text in given.items():
        values = [_value(method, key, v.strip()) for v in text.split(",") if v.strip()]
        if not values:
            raise UsageError(f"--grid {key}= has no value; write it as --grid {key}=0.1,1,10.")
        grid[key] = text if _names_series(text) else values
    return grid


def _value(method: str, name: str, text: str) -> Any:
    """Return the value in `text` in the form of the parameter's default.

    ``lam=1`` is a real number where the default is one; ``hidden=64,64`` and ``hidden=64`` are tuples where it is one.
    """
    import inspect

    from pucli.models import estimator_of

    default = inspect.signature(estimator_of(method)).parameters[name].default
    if isinstance(default, tuple):
        return tuple(scalar(part.strip()) for part in text.strip("()[]").split(",") if part.strip())
    value = scalar(text)
    return float(value) if isinstance(default, float) and type(value) is int else value


def _names_series(text: str) -> bool:
    from pucli.tuning.grids import SERIES

    return text in SERIES


def check_names(method: str, names: Iterable[str]) -> None:
    """Raise UsageError for a name that is no parameter of `method`; the nearest ones are suggested."""
    from pucli.models import estimator_of

    known = estimator_of(method)._get_param_names()
    for name in names:
        if name not in known:
            raise unknown(f"parameter of {method}", name, known)


def choice(kind: str, value: str, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`, else raise UsageError with the nearest ones."""
    choices = list(choices)
    if value not in choices:
        raise unknown(kind, value, choices)
    return value


def warn_of_prior(out: Output, method: str, given: Container[str], estimate: float | None = None) -> None:
    """Warn of a class prior that the user did not choose."""
    from pucli.models import prior_remark

    remark = prior_remark(method, given, estimate)
    if remark:
        out.warn(f"{remark}; `pucli prior` estimates it, --param prior=VALUE sets it.")


def output_file(option: str, path: Path | None, *inputs: Path | None) -> None:
    """Raise UsageError if `path`, the value of `option`, cannot be written or is a file that is read here.

    Called before any work, so that no result is lost for want of a place.
    """
    if path is None:
        return
    for source in inputs:
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise UsageError(f"{option} {path} would replace {source}, which is read here; give another name.")
    from pucli.data.atomic import check_output

    check_output(path, option)


def output_folder(option: str, path: Path) -> None:
    """Raise UsageError if `path`, the value of `option`, is no folder that can be written."""
    from pucli.data.atomic import check_folder

    check_folder(path, option)
