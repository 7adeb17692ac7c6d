"""The declared experiment: what the keys of a file in `experiments/` mean.

The models forbid unknown keys; `pucli.runner.loading` turns their complaints into messages with the path of the key
and the nearest right one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Verdict = Literal[
    "reproduced",
    "reproduced by a variant",
    "better",
    "worse",
    "inconclusive",
    "degenerate",
    "not reproduced",
    "not run",
]
Cause = Literal[
    "data selection guessed",
    "form of the method",
    "tuning noise",
    "scoring",
    "not stated in print",
    "print contradicts itself",
    "cannot be produced as described",
]

# As a method's `prior`: the share of positives among the unlabeled rows of each split, which the experiment knows.
TRUE_PRIOR = "true"


class Strict(BaseModel):
    """A declared section: unknown keys are errors, and numbers are not made from text."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Source(Strict):
    """Where the experiment was published."""

    document: str
    table: str = ""
    section: str = ""


class Data(Strict):
    """The data sets of an experiment: declared ones by `names`, or one generator with `parameters`."""

    names: list[str] = Field(default=[], description="data sets of datasets.yaml")
    generate: str = Field(default="", description="a generated data set of datasets.yaml, drawn anew for each repeat")
    parameters: dict[str, Any] = Field(
        default={}, description="of the generator; a list is a scenario parameter: one setting for each value"
    )
    standardise: Literal["train", "none"] = Field(
        default="train", description="train: mean and standard deviation of the training rows; none: as they come"
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Data:
        if bool(self.names) == bool(self.generate):
            raise ValueError("give either names (declared data sets) or generate (a generated one)")
        if self.parameters and not self.generate:
            raise ValueError("parameters belong to generate; declared data sets take none")
        if len(set(self.names)) < len(self.names):
            raise ValueError("a data set is named twice")
        return self


class SplitPlan(Strict):
    """How rows are divided, and how often."""

    scenario: str = Field(default="case-control", description="case-control or single-training-set")
    label_frequencies: list[float] = Field(default=[], description="one setting for each")
    repeats: int = Field(ge=1)
    seed: int = Field(ge=0)
    unlabeled_train: float | None = Field(
        default=None, gt=0, lt=1, description="case-control: fraction of the unlabeled rows that is for training"
    )
    train: float | None = Field(
        default=None, gt=0, lt=1, description="single-training-set: fraction of the rows that is for training"
    )


class Greedy(Strict):
    """Refinement after the grid: each parameter in turn up and down by `step`, until nothing improves."""

    step: float = Field(gt=0, lt=1)


class TuningOverride(Strict):
    """Tuning settings that one method has different from the rest."""

    folds: int | None = Field(default=None, ge=2)
    cv_repeats: int | None = Field(default=None, ge=1)
    score: str | None = None
    denominator: Literal["unlabeled", "all"] | None = None
    greedy: Greedy | Literal[False] | None = Field(default=None, description="{step: 0.1}, or false for none")
    stay_on_grid: dict[str, list[Any]] = Field(
        default={}, description="parameter -> values of its grid that the refinement does not move"
    )
    route: Literal["auto", "generic", "path"] | None = None


class Tuning(Strict):
    """How hyper-parameters are chosen; validation rows only, labelled or unlabeled, never their true labels."""

    folds: int = Field(default=4, ge=2)
    cv_repeats: int = Field(default=1, ge=1)
    score: str = Field(default="puf", description="the selection rule, a name of pucli.tuning.RULES")
    denominator: Literal["unlabeled", "all"] | None = Field(
        default=None, description="of PUF; by the scenario when omitted (case-control: unlabeled, else all)"
    )
    greedy: Greedy | Literal[False] = False
    route: Literal["auto", "generic", "path"] = "auto"


class MethodEntry(Strict):
    """One column of the table. Keys that are not listed here are parameters of the method."""

    model_config = ConfigDict(extra="allow", strict=True)

    method: str = Field(description="a name of `pucli list methods`, or module:Class, also under the key estimator")
    grid: dict[str, Any] | None = Field(default=None, description="parameter -> values; the method's own when omitted")
    coarse_grid: dict[str, Any] | None = Field(default=None, description="the grid of profiles with `grid: coarse`")
    tuning: TuningOverride = TuningOverride()
    published: str = Field(
        default="", description="the method's name in the published table, if the column has another"
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
        """Constructor parameters that this entry fixes."""
        return dict(self.model_extra or {})


class Published(Strict):
    """A file of published figures and the meaning of its columns."""

    file: str = Field(description="under experiments/published, or a path relative to the experiment file")
    dataset: str = Field(default="dataset", description="column of the data set's name; not needed with one data set")
    method: str = "method"
    metric: str = Field(default="f1", description="which of our metrics the figures are")
    mean: str = Field(default="", description="column of the mean; <metric>_mean or mean when omitted")
    sd: str = Field(default="", description="column of the standard deviation; <metric>_sd or sd when omitted")
    percent: bool = Field(default=True, description="whether the figures are per cent of what the metric is")
    repeats: int | None = Field(default=None, ge=1, description="behind a published mean; those declared when omitted")
    rename: dict[str, str] = Field(default={}, description="data set or method in the file -> name here")


class KnownNote(Strict):
    """A known explanation; it is printed beside the cells that it fits."""

    text: str
    dataset: str | None = None
    setting: dict[str, Any] = {}
    method: str | None = Field(default=None, description="a column; or what stands before the / of several")
    metric: str | None = None
    verdicts: list[Verdict] = Field(default=[], description="only beside these verdicts; always when empty")
    cause: Cause | None = Field(default=None, description="why the figures disagree; the text is the evidence")


class FigureSpec(Strict):
    """A declared figure."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="file name without ending")
    kind: Literal["paired-difference"] = Field(
        description="paired-difference: box plots of a - b over repeats, a box for each data set, sorted by median"
    )
    a: str
    b: str
    metric: str = "f1"
    setting: dict[str, Any] = Field(default={}, description="which setting, if there are several")
    title: str = ""


class Profile(Strict):
    """What a profile changes. An empty one is the whole experiment."""

    description: str = ""
    data: list[str] | None = None
    parameters: dict[str, Any] = {}
    label_frequencies: list[float] | None = Field(default=None, min_length=1)
    repeats: int | None = Field(default=None, ge=1)
    grid: Literal["coarse", "full"] = "full"
    methods: list[str] | None = None
    folds: int | None = Field(default=None, ge=2)
    cv_repeats: int | None = Field(default=None, ge=1)
    greedy: bool = Field(default=True, description="false leaves the greedy refinement out")
    stay_on_grid: dict[str, list[Any]] = Field(
        default={}, description="parameter -> values of a grid that the refinement does not move, for every method"
    )
    options: dict[str, Any] = {}


class Experiment(Strict):
    """One file of `experiments/`."""

    title: str
    source: Source | None = None
    protocol: str = Field(default="pu", description="a name of `pucli list protocols`")
    data: Data
    split: SplitPlan
    tuning: Tuning = Tuning()
    methods: dict[str, MethodEntry] = Field(
        min_length=1, description="column -> method; a column `name/variant` is a variant of `name`"
    )
    defaults: dict[str, dict[str, Any]] = Field(
        default={},
        description="method -> parameters that its columns have unless they set or tune them",
    )
    primary: dict[str, str] = Field(
        default={}, description="name -> column of the variant that stands for it; the first one when omitted"
    )
    metrics: list[str] = Field(default=["f1"], min_length=1, description="what the table shows")
    published: list[Published] = []
    comparisons: list[list[str]] | None = Field(default=None, description="pairs of columns to test; all when omitted")
    notes: list[KnownNote] = []
    figures: list[FigureSpec] = []
    options: dict[str, Any] = Field(default={}, description="what the protocol takes beyond all this")
    reuses: list[str] = Field(
        default=[], description="experiments whose finished cells count here too, where all their settings agree"
    )
    profiles: dict[str, Profile] = Field(default={"full": Profile()})

    # set by the loader: file name without ending, and the file
    _name: str = ""
    _path: Path | None = None

    @property
    def name(self) -> str:
        """Name on the command line."""
        return self._name

    @property
    def path(self) -> Path | None:
        """The declared file, None for an experiment made in Python."""
        return self._path

    @field_validator("published", mode="before")
    @classmethod
    def _published_as_list(cls, value: Any) -> Any:
        items = value if isinstance(value, list) else [value]
        return [{"file": item} if isinstance(item, str) else item for item in items]

    @model_validator(mode="after")
    def _references(self) -> Experiment:
        """Every column that is mentioned exists."""
        for pair in self.comparisons or []:
            if len(pair) != 2:
                raise ValueError(f"comparisons: each is a pair of columns, got {pair}")
        mentioned = [column for pair in self.comparisons or [] for column in pair]
        mentioned += [column for figure in self.figures for column in (figure.a, figure.b)]
        mentioned += list(self.primary.values())
        mentioned += [column for profile in self.profiles.values() for column in profile.methods or []]
        for column in mentioned:
            if column not in self.methods:
                raise ValueError(f"unknown column {column!r}; there are {', '.join(self.methods)}")
        bases = [base_name(column) for column in self.methods]
        for number, note in enumerate(self.notes):
            if note.dataset is not None and note.dataset not in self.dataset_names:
                raise ValueError(f"notes.{number}.dataset: {note.dataset!r} is not a data set of this experiment")
            if note.method is not None and note.method not in [*self.methods, *bases]:
                raise ValueError(f"notes.{number}.method: {note.method!r} is not a method of this experiment")
        used = dict.fromkeys(entry.method for entry in self.methods.values())
        for method in self.defaults:
            if method not in used:
                raise ValueError(f"defaults.{method}: no column has this method; there are {', '.join(used)}")
        for base, column in self.primary.items():
            if base_name(column) != base:
                raise ValueError(f"primary.{base}: {column!r} is not a variant of {base}")
        for name, profile in self.profiles.items():
            for dataset in profile.data or []:
                if dataset not in self.data.names:
                    raise ValueError(f"profiles.{name}.data: {dataset!r} is not among data.names")
            for parameter in profile.parameters:
                if parameter not in self.data.parameters:
                    raise ValueError(f"profiles.{name}.parameters: {parameter!r} is not among data.parameters")
        self.profiles.setdefault("full", Profile())
        return self

    @property
    def dataset_names(self) -> list[str]:
        """Data sets of the experiment, declared or generated."""
        return self.data.names or [self.data.generate]

    def primary_column(self, base: str) -> str:
        """Column of the variant that stands for `base` in the table."""
        return self.primary.get(base) or next(column for column in self.methods if base_name(column) == base)


def base_name(column: str) -> str:
    """Return the part of a column's name before the slash."""
    return column.partition("/")[0]


def variant_name(column: str) -> str:
    """Return the part of a column's name after the slash, "" if there is none."""
    return column.partition("/")[2]
