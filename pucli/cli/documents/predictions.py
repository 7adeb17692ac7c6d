"""Documents of the commands that apply a model, judge it or show it."""

from __future__ import annotations

from typing import Literal, NotRequired

from pydantic import ConfigDict
from typing_extensions import TypedDict

from pucli.cli.documents.parts import Counts, Interval, OpenInterval, Scores


class _Predicted(TypedDict):
    model: str
    data: str | list[str]
    rows: int
    written: int


class OnnxInput(TypedDict):
    """A column of the file: its type, and what its cells are."""

    name: str
    type: str
    cells: str


class Export(TypedDict):
    """The inputs of an ONNX file, and the types of its outputs by name."""

    model: str
    onnx: str
    bytes: int
    inputs: list[OnnxInput]
    outputs: dict[str, str]


class NewShare(TypedDict):
    """With --adapt: the share of positives of the file, and whether more has changed."""

    verdict: Literal["same", "prior", "more", "untested"]
    prior: Interval


class Prediction(TypedDict):
    """A row and its prediction, without a score for more than two classes; further keys are columns of the file."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]
    row: int
    prediction: str
    score: NotRequired[float | None]
    cluster: NotRequired[int]
    probability: NotRequired[float | None]
    probability_low: NotRequired[float | None]
    probability_high: NotRequired[float | None]
    why: NotRequired[str | None]


class Density(TypedDict):
    """A row and its log-likelihood; further keys are its filled cells."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]
    row: int
    log_likelihood: float | None


class _Labels(_Predicted):
    counts: Counts
    shift: NotRequired[NewShare]


class Predictions(_Labels):
    """Predictions, printed."""

    file: None
    predictions: list[Prediction]


class WrittenPredictions(_Labels):
    """Predictions, written to a file with --out."""

    file: str


class _Densities(_Predicted):
    counts: None


class Densities(_Densities):
    """Log-likelihoods, printed."""

    file: None
    predictions: list[Density]


class WrittenDensities(_Densities):
    """Log-likelihoods, written to a file with --out."""

    file: str


class Shift(TypedDict):
    """The share of positives of a new file, and whether more than that share has changed."""

    model: str
    data: str | list[str]
    rows: int
    verdict: Literal["same", "prior", "more", "untested"]
    prior: Interval
    training_prior: Interval
    p_same: float | None
    p_only_prior: float | None
    columns: list[str]


ToReview = TypedDict(
    "ToReview",
    {
        "model": str | None,
        "data": str | list[str] | None,
        "scored": str | None,
        "file": str,
        "for": str,
        "unlabeled": int,
        "called": int,
        "rows": int,
        "seed": int,
    },
)
ToReview.__doc__ = "Rows to look at, written to a file."


class Answers(TypedDict):
    """What the answers say; `precision` is null without a random sample of the called rows, `prior` of all."""

    answers: str | list[str]
    rows: int
    answered: int
    positive: int
    called: int | None
    precision: Interval | None
    unlabeled: int | None
    prior: Interval | None
    last_rows: int
    last: Interval | None
    at_least: float | None
    decided: bool | None
    answers_needed: int | None


class Evaluate(TypedDict):
    """Scores of a model, and the labels that each of them needs."""

    model: str
    method: str
    data: str
    labels: Literal["true", "pu"]
    rows: int
    positive_rows: int | None
    scores: Scores
    needs: dict[str, str]


class ModelColumn(TypedDict):
    """A column of the training file and its encoding."""

    column: str
    kind: str
    encoded: str


class Show(TypedDict):
    """What a model file holds."""

    model: str
    method: str
    source: str
    kind: str
    trained_on: str | None
    label: str | None
    classes: dict[str, str]
    ids: list[str]
    features: int
    columns: list[ModelColumn]
    params: dict[str, bool | int | float | str]
    threshold: float | None
    class_prior: OpenInterval | None
    estimates: dict[str, OpenInterval]
    limits: list[str]
    versions: dict[str, str]
    card: str | None
