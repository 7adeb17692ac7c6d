"""Documents of the commands that learn from rows."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from pucli.cli.documents.parts import Column, Interval, Parameters, Scores, Source


class Estimate(Interval):
    """An estimate; if `known` is false, the rows do not determine it, and its value must not be reported."""

    known: bool


class Cut(TypedDict):
    """The threshold of the score, the share of rows above it, and what it was chosen for."""

    value: float
    share: float
    goal: Literal["f1", "recall", "precision", "share", "top"]
    wanted: float | None
    why: str


class Estimates(TypedDict):
    """Estimates from held-out rows: shares, and AUC, of positives and negatives."""

    prior: Estimate
    share: Estimate
    recall: Estimate
    precision: Estimate
    f1: Estimate
    auc: Estimate


class FirstRows(TypedDict):
    """What the `rows` rows with the highest scores hold, where positives are rare."""

    rows: int
    positives: Interval
    precision: Interval
    recall: Interval
    lift: Interval


class IfPrior(TypedDict):
    """Unlabeled rows called, recall and precision if the class prior is at an end of its interval."""

    prior: float
    called: int
    recall: float
    precision: float


class IfOdds(TypedDict):
    """Bounds if the odds of being labelled differ between positives, and the odds ratios at which conclusions tip."""

    odds_ratio: float
    recall: Interval
    lift: Interval | None
    precision: Interval
    recall_half: float | None
    lift_one: float | None
    prior: NotRequired[Interval]
    ahead: int
    called: NotRequired[int]


class GivenPrior(TypedDict):
    """What follows from a known number of positives, and whether it lies in the interval of the estimate."""

    expected: int
    prior: float
    called: int
    recall: float
    precision: float
    fits: bool | None


class Member(TypedDict):
    """A member of the ensemble, the ensemble itself or the naive SVC, on held-out rows."""

    name: str
    pu_auc: float
    auc: float | None
    f1: float | None
    parameters: Parameters


class RandomLabelling(TypedDict):
    """The test of whether the labelled rows are a random sample of the positives."""

    p_value: float | None
    random: bool
    differs_most: str
    difference: float | None
    verdict: str


class _Ensemble(TypedDict):
    data: Source
    notes: list[str]
    seconds: float
    rows: int
    labelled: int
    unlabeled: int
    few_labelled: bool
    known_negatives: int
    negatives: Literal["biased", "random"]
    scenario: Literal["case-control", "single-training-set"]
    labelling: Literal["scar", "sar"]
    called_positive: int
    threshold: Cut
    estimates: Estimates
    first: list[FirstRows]
    if_prior: list[IfPrior]
    if_odds: IfOdds | None
    leaderboard: list[Member]
    random_labelling: RandomLabelling
    leaks: list[str]
    repeated: str
    sound: bool
    ranks: bool
    seed: int
    expected: int | None
    model: str | None
    report: str | None
    scored: str | None


class Auto(_Ensemble):
    """The ensemble of `pucli auto`."""

    duplicate_rows: int
    command: str


class AutoInBlocks(_Ensemble):
    """The ensemble of `pucli auto --backend dask`."""

    blocks: int
    predictions: list[str]


class HeldOut(TypedDict):
    """A model on rows that it was not trained on: shares of rows called positive, and PU-AUC."""

    recall: float | None
    share: float
    pu_auc: float | None
    labelled: int
    unlabeled: int
    recall_sd: float | None
    share_sd: float | None
    pu_auc_sd: float | None
    prior: float | None


class Prior(TypedDict):
    """The class prior on which probabilities rest, with its 90 % interval."""

    prior: float
    prior_low: float
    prior_high: float


class Train(TypedDict):
    """A trained model; density models have no `labelled` and `unlabeled`, and few fits have `known_negatives`."""

    method: str
    params: Parameters
    data: Source
    rows: int
    labelled: NotRequired[int]
    unlabeled: NotRequired[int]
    known_negatives: NotRequired[int]
    features: int
    columns: list[Column] | None
    missing_cells: int
    constant_features: list[str]
    duplicate_rows: int
    standardised: bool
    objective: float | None
    dual_gap: float | None
    residual: float | None
    n_iter: int | None
    converged: bool | None
    guarantee: str | None
    improvement: float | None
    pattern: str | None
    n_complete: int | None
    prior: float | None
    n_components: int | None
    positive_share: float | None
    labelled_recall: float | None
    graph_recall: float | None
    kernel_residual: float | None
    seconds: float
    test: Scores | None
    model: str | None
    notes: list[str]
    held_out: HeldOut | None
    probability: Prior | None


class TrainInBlocks(TypedDict):
    """A model of `pucli train --backend dask`."""

    method: str
    rows: int
    labelled: int
    unlabeled: int
    blocks: int
    features: int
    params: Parameters
    lam: float
    c_u: float
    objective: float
    dual_gap: float
    positive_share: float
    labelled_recall: float
    prior: float
    threshold: float
    seconds: float
    model: str | None
    predictions: list[str]


class Tune(TypedDict):
    """Chosen parameters, and the score by which they were chosen, without true labels; `rule` is its name.

    `rule_of_thesis` is the rule of the GLPUAL thesis.
    """

    method: str
    data: Source
    params: Parameters
    chosen: Parameters
    rule: str
    rule_of_thesis: str
    score: float | None
    score_se: float | None
    f1: float | None
    points: int
    fits: int
    seconds: float
    notes: list[str]
    interrupted: str | None
    trials: str | None


class PriorEstimate(TypedDict):
    """The share of positives among unlabeled rows by one estimator."""

    prior: float
    low: float
    high: float
    confidence: float
    method: str
    replicates: int


class Priors(TypedDict):
    """Estimates of the class prior; `share_in_test_set` is the truth where the data set declares it."""

    data: Source
    labelled: int
    unlabeled: int
    estimates: list[PriorEstimate]
    disagreement: float
    reliable: bool
    if_prior: list[IfPrior]
    if_odds: IfOdds | None
    given: GivenPrior | None
    share_in_test_set: NotRequired[float]
    labelled_used: int
    unlabeled_used: int


class Advise(TypedDict):
    """The method of the GLPUAL family that the flowchart of the thesis names, and why."""

    data: Source
    trifurcated: bool
    silhouette: float | None
    between: float | None
    irrelevant: list[str]
    prior: float | None
    method: str
    params: dict[str, str]
    grid: dict[str, str]
    reasons: list[str]
    command: str


class Values(TypedDict):
    """The metric of each method on each split of a data set, in the unit of the metric."""

    data: str
    values: dict[str, list[float | None]]


class Pair(TypedDict):
    """Two methods: on how many splits or data sets the first is better, equal and worse, and how sure."""

    a: str
    b: str
    wins: int
    ties: int
    losses: int
    difference: float | None
    p: float | None
    of_use: bool
    differ: bool


class Compare(TypedDict):
    """Methods on the same splits; `differ` says which differences are no chance."""

    metric: str
    methods: list[str]
    scores: list[Values]
    blocks: str
    test: str
    pairs: list[Pair]
    ranking: dict[str, Any] | None
    verdict: list[str]
    made: list[str]
