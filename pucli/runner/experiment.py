"""The schema of declared experiments, which are the files in `experiments/`.

Unknown keys are forbidden; `pucli.runner.loading` turns validation errors into messages with the path of the key and
the nearest valid key.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

Verdict = Literal[
    "reproduced",
    "reproduced by a variant",
    "agrees, but as often with another print",
    "better",
    "worse",
    "inconclusive",
    "not judged",
    "degenerate",
    "not reproduced",
    "compared with another method",
    "not run",
]
Cause = Literal[
    "data selection guessed",
    "form of the method",
    "another protocol",
    "another machine",
    "tuning noise",
    "scoring",
    "not stated in print",
    "print contradicts itself",
    "cannot be produced as described",
    "unexplained",
]


def _once(values: list[Any]) -> list[Any]:
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"{value} is named twice")
    return values


Names = Annotated[list[str], AfterValidator(_once)]
# above, every positive would be labeled, and at 0 none
LabelFrequencies = Annotated[list[Annotated[float, Field(gt=0, lt=1)]], AfterValidator(_once)]
# it names a folder of the results, and leads to no other
EXPERIMENT_NAME = r"^\w[^/\\\x00-\x1f\x7f]*$"
ExperimentName = Annotated[str, Field(pattern=EXPERIMENT_NAME)]

# Values of the parameter `prior`: the share of positives among the unlabeled rows of each split, and the number of
# positives divided by that of negatives there.
TRUE_PRIOR = "true"
TRUE_ODDS = "odds"


class Strict(BaseModel):
    """Declared section in which unknown keys are errors and text is not converted to numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Publication(Strict):
    """Publication of the experiment."""

    document: str = Field(description="publication")
    table: str = Field(default="", description="number of the table or figure")
    section: str = Field(default="", description="section that describes it")
    part: str = Field(default="", description='how much of what was published is declared here, e.g. "3 of 14 sets"')


class Data(Strict):
    """Data sets of an experiment: declared ones by `names`, or one generator with `parameters`."""

    names: Names = Field(default=[], description="data sets of datasets.yaml")
    generate: str = Field(default="", description="a generated data set of datasets.yaml, drawn again for each repeat")
    parameters: dict[str, Any] = Field(
        default={}, description="parameters of the generator; a list is a scenario parameter with one setting per value"
    )
    standardize: Literal["train", "none"] = Field(
        default="train",
        description="train: by mean and standard deviation of the training rows; none: not standardized",
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Data:
        if bool(self.names) == bool(self.generate):
            raise ValueError("give either names (declared data sets) or generate (a generated data set)")
        if self.parameters and not self.generate:
            raise ValueError("parameters need generate; declared data sets have none")
        return self


class SplitPlan(Strict):
    """Splitting of the rows and number of repeats."""

    scenario: str = Field(default="case-control", description="case-control or single-training-set")
    labeling: str = Field(
        default="scar",
        description="which positives are labeled (protocol pu): scar, sar-feature, sar-score, sar-lbe-a, sar-lbe-b or "
        "sar-pusb",
    )
    label_frequencies: LabelFrequencies = Field(default=[], description="label frequencies, with one setting for each")
    repeats: int = Field(ge=1, le=100_000, description="number of splits")
    seed: int = Field(ge=0, description="seed of all splits")
    unlabeled_train: float | None = Field(
        default=None, gt=0, lt=1, description="case-control: fraction of the unlabeled rows used for training"
    )
    train: float | None = Field(
        default=None, gt=0, lt=1, description="single-training-set: fraction of the rows used for training"
    )
    labeled: Literal["training", "all"] = Field(
        default="training",
        description="single-training-set (protocol pu): the label frequency is that of the training positives, or that "
        "of all positives, labeled before the training rows are drawn",
    )


class Greedy(Strict):
    """Refinement after the grid: move each parameter in turn up and down by `step` until nothing improves."""

    step: float = Field(gt=0, lt=1, description="share of its value by which a parameter is moved")


class TuningOverride(Strict):
    """Tuning settings of a method that differ from those of the experiment."""

    cv_repeats: int | None = Field(default=None, ge=1, description="number of divisions into folds")
    score: str | None = Field(default=None, description="selection rule")
    greedy: Greedy | Literal[False] | None = Field(default=None, description="{step: 0.1}, or false for none")
    stay_on_grid: dict[str, list[Any]] = Field(
        default={}, description="parameter -> values of its grid that the refinement keeps"
    )
    route: Literal["auto", "generic", "path"] | None = Field(
        default=None,
        description="path: paths of solutions; generic: a fit for each point; auto: paths if the method has them",
    )
    score_error: float = Field(
        default=0.0,
        ge=0,
        description="largest root mean square error of the scores of tuning fits, against those of the minimum",
    )


class Tuning(Strict):
    """Choice of parameters on labeled and unlabeled validation rows, without true labels."""

    folds: int = Field(default=4, ge=2, description="number of folds")
    cv_repeats: int = Field(default=1, ge=1, description="number of divisions into folds")
    score: str = Field(default="puf", description="selection rule, a name of pucli.tuning.RULES")
    denominator: Literal["unlabeled", "all"] | None = Field(
        default=None, description="denominator of PUF; default by scenario (case-control: unlabeled, otherwise all)"
    )
    greedy: Greedy | Literal[False] = Field(
        default=False, description="refinement after the grid: {step: 0.1}, or false for none"
    )
    route: Literal["auto", "generic", "path"] = Field(
        default="auto",
        description="path: paths of solutions; generic: a fit for each point; auto: paths if the method has them",
    )


class MethodEntry(Strict):
    """A column of the table. All other keys are parameters of the method."""

    model_config = ConfigDict(extra="allow", strict=True)

    method: str = Field(description="a name of `pucli list methods`, or module:Class; the key may also be estimator")
    grid: dict[str, Any] | None = Field(
        default=None, description="parameter -> values; by default the grid of the method"
    )
    coarse_grid: dict[str, Any] | None = Field(default=None, description="the grid of profiles with `grid: coarse`")
    tuning: TuningOverride = Field(
        default=TuningOverride(), description="settings that differ from those of the experiment"
    )

    @model_validator(mode="before")
    @classmethod
    def _estimator_is_the_method(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "method" in value or "estimator" not in value:
            return value
        if not isinstance(value["estimator"], str) or ":" not in value["estimator"]:
            raise ValueError(f"estimator: write it as module:Class, got {value['estimator']!r}")
        return {"method": value["estimator"], **{key: item for key, item in value.items() if key != "estimator"}}

    @property
    def params(self) -> dict[str, Any]:
        """Return the constructor parameters that this entry fixes."""
        return dict(self.model_extra or {})


class PublishedFigures(Strict):
    """A file of published figures and the meaning of its columns."""

    file: str = Field(description="under experiments/published, or a path relative to the experiment file")
    dataset: str = Field(default="dataset", description="column of the data set names; not needed with one data set")
    method: str = Field(default="method", description="column of the method names")
    metric: str = Field(default="f1", description="metric of the figures")
    mean: str = Field(default="", description="column of the mean; by default <metric>_mean or mean")
    sd: str = Field(default="", description="column of the standard deviation; by default <metric>_sd or sd")
    percent: bool = Field(default=True, description="whether the figures are in per cent")
    repeats: int | None = Field(
        default=None, ge=1, description="number of repeats behind a published mean; by default those declared"
    )
    rename: dict[str, str] = Field(default={}, description="data set or method in the file -> name here")
    others: list[str] = Field(
        default=[],
        description="methods here, by the part of the column before the /, beside which the figures are those of "
        'another method: they are "compared with another method", and count as no published figures',
    )


class KnownNote(Strict):
    """A known explanation, printed beside the figures to which it applies."""

    text: str = Field(description="the explanation")
    dataset: str | None = Field(default=None, description="only for this data set")
    setting: dict[str, Any] = Field(default={}, description="only for this setting")
    method: str | None = Field(default=None, description="a column, or the part before the / of several columns")
    metric: str | None = Field(default=None, description="only for this metric")
    verdicts: list[Verdict] = Field(default=[], description="only beside these verdicts; by default all")
    cause: Cause | None = Field(default=None, description="cause of the disagreement; the text is the evidence")


class FigureSpec(Strict):
    """A declared figure."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="file name without extension")
    kind: Literal["paired-difference", "seconds-by-rows"] = Field(
        description="paired-difference: box plots of a - b over repeats, one box per data set, sorted by median; "
        "seconds-by-rows: median seconds of a cell against the rows of its data set, a line for each column"
    )
    a: str = Field(default="", description="paired-difference: column of the first method")
    b: str = Field(default="", description="paired-difference: column of the second method")
    metric: str = Field(default="f1", description="metric that is drawn")
    setting: dict[str, Any] = Field(default={}, description="the setting, if there are several")
    title: str = Field(default="", description="title; by default the name")

    @model_validator(mode="after")
    def _check_columns(self) -> FigureSpec:
        if bool(self.a and self.b) != (self.kind == "paired-difference") or bool(self.a) != bool(self.b):
            raise ValueError("a figure of the kind paired-difference needs both a and b, others neither")
        return self


class Profile(Strict):
    """Changes made by a profile. An empty profile is the whole experiment."""

    description: str = Field(default="", description="the profile in words")
    data: Names | None = Field(default=None, description="data sets; by default all")
    parameters: dict[str, Any] = Field(default={}, description="parameter of the generator -> value")
    label_frequencies: LabelFrequencies | None = Field(default=None, min_length=1, description="by default all")
    repeats: int | None = Field(default=None, ge=1, description="number of splits")
    grid: Literal["coarse", "full"] = Field(default="full", description="coarse: the coarse grids of the methods")
    methods: Names | None = Field(default=None, description="columns; by default all")
    folds: int | None = Field(default=None, ge=2, description="number of folds")
    cv_repeats: int | None = Field(default=None, ge=1, description="number of divisions into folds")
    greedy: bool = Field(default=True, description="false omits the greedy refinement")
    stay_on_grid: dict[str, list[Any]] = Field(
        default={}, description="parameter -> values of a grid that the refinement keeps, for every method"
    )
    options: dict[str, Any] = Field(default={}, description="options of the protocol that differ")


class Experiment(Strict):
    """A declared experiment, which is a file in `experiments/`."""

    title: str = Field(description="title of the table, in one line")
    source: Publication | None = Field(default=None, description="publication")
    protocol: str = Field(default="pu", description="a name of `pucli list protocols`")
    data: Data = Field(description="data sets")
    split: SplitPlan = Field(description="splitting of the rows")
    tuning: Tuning = Field(default=Tuning(), description="choice of parameters")
    methods: dict[str, MethodEntry] = Field(
        min_length=1, description="column -> method; a column `name/variant` is a variant of `name`"
    )
    defaults: dict[str, dict[str, Any]] = Field(default={}, description="method -> default parameters of its columns")
    primary: dict[str, str] = Field(
        default={}, description="name -> column of the variant that represents it; by default the first"
    )
    metrics: Names = Field(default=["f1"], min_length=1, description="metrics of the table")
    published: list[PublishedFigures] = Field(default=[], description="published figures, or the names of their files")
    comparisons: list[list[str]] | None = Field(default=None, description="pairs of columns to test; by default all")
    notes: list[KnownNote] = Field(default=[], description="known explanations")
    figures: list[FigureSpec] = Field(default=[], description="figures")
    options: dict[str, Any] = Field(default={}, description="options of the protocol")
    variants: dict[str, list[ExperimentName]] = Field(
        default={},
        description="name -> experiments that run the table under another protocol; a figure that only they reproduce "
        'is "reproduced by a variant: NAME" if the method agrees more often with its own print than with any other',
    )
    random: bool = Field(default=True, description="whether repeats differ; if not, one repeat is enough for a verdict")
    reuses: list[ExperimentName] = Field(
        default=[],
        description="experiments whose finished cells are reused here if everything that determines them agrees",
    )
    profiles: dict[str, Profile] = Field(
        default={"full": Profile()}, description="name -> changes; `full` is the whole experiment"
    )

    # set by the loader: file name without extension, and the file
    _name: str = ""
    _path: Path | None = None

    @property
    def name(self) -> str:
        """Return the name on the command line."""
        return self._name

    @property
    def path(self) -> Path | None:
        """Return the declared file, or None for an experiment made in Python."""
        return self._path

    @field_validator("title")
    @classmethod
    def _one_line(cls, value: str) -> str:
        """Take line ends and control characters out of a title, which stands in pages, tables and on the terminal."""
        return " ".join("".join(c if c.isprintable() else " " for c in value).split())

    @field_validator("methods")
    @classmethod
    def _printable(cls, value: dict[str, MethodEntry]) -> dict[str, MethodEntry]:
        for name in value:
            if not name.isprintable() or not name.strip():
                raise ValueError(f"the name of a column, {name!r}, has a line end or a control character")
        return value

    @field_validator("published", mode="before")
    @classmethod
    def _published_as_list(cls, value: Any) -> Any:
        items = value if isinstance(value, list) else [value]
        return [{"file": item} if isinstance(item, str) else item for item in items]

    @model_validator(mode="after")
    def _references(self) -> Experiment:
        """Check that everything mentioned exists."""
        self._check_columns()
        self._check_notes()
        self._check_profiles()
        self.profiles.setdefault("full", Profile())
        return self

    def _check_columns(self) -> None:
        for pair in self.comparisons or []:
            if len(pair) != 2:
                raise ValueError(f"comparisons: expected pairs of columns, got {pair}")
        mentioned = [column for pair in self.comparisons or [] for column in pair]
        mentioned += [column for figure in self.figures for column in (figure.a, figure.b) if column]
        mentioned += list(self.primary.values())
        mentioned += [column for profile in self.profiles.values() for column in profile.methods or []]
        for column in mentioned:
            if column not in self.methods:
                raise ValueError(f"unknown column {column!r}; there are {', '.join(self.methods)}")
        used = dict.fromkeys(entry.method for entry in self.methods.values())
        for method in self.defaults:
            if method not in used:
                raise ValueError(f"defaults.{method}: no column has this method; there are {', '.join(used)}")
        for base, column in self.primary.items():
            if base_name(column) != base:
                raise ValueError(f"primary.{base}: {column!r} is not a variant of {base}")

    def _check_notes(self) -> None:
        bases = [base_name(column) for column in self.methods]
        for number, note in enumerate(self.notes):
            if note.dataset is not None and note.dataset not in self.dataset_names:
                raise ValueError(f"notes.{number}.dataset: {note.dataset!r} is not a data set of this experiment")
            if note.method is not None and note.method not in [*self.methods, *bases]:
                raise ValueError(f"notes.{number}.method: {note.method!r} is not a method of this experiment")

    def _check_profiles(self) -> None:
        for name, profile in self.profiles.items():
            for dataset in profile.data or []:
                if dataset not in self.data.names:
                    raise ValueError(f"profiles.{name}.data: {dataset!r} is not among data.names")
            for parameter in profile.parameters:
                if parameter not in self.data.parameters:
                    raise ValueError(f"profiles.{name}.parameters: {parameter!r} is not among data.parameters")

    @property
    def dataset_names(self) -> list[str]:
        """Return the data sets of the experiment, declared or generated."""
        return self.data.names or [self.data.generate]

    def primary_column(self, base: str) -> str:
        """Return the column of the variant that represents `base` in the table."""
        return self.primary.get(base) or next(column for column in self.methods if base_name(column) == base)


def column_name(base: str, variant: str) -> str:
    """Return the name of a column from its parts before and after the slash."""
    return f"{base}/{variant}" if variant else base


def base_name(column: str) -> str:
    """Return the part of a column name before the slash."""
    return column.partition("/")[0]


def variant_name(column: str) -> str:
    """Return the part of a column name after the slash, or "" if there is none."""
    return column.partition("/")[2]
