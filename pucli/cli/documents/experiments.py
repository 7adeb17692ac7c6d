"""Documents of the commands for experiments, data sets and files to start from."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from pucli.cli.documents.parts import Counts


class Dataset(TypedDict):
    """A declared data set."""

    name: str
    title: str
    licence: str | None


class Datasets(TypedDict):
    """`pucli list datasets`."""

    datasets: list[Dataset]


Method = TypedDict(
    "Method", {"name": str, "kind": str, "needs": str, "rows": str, "place": str, "use it when": str, "source": str}
)
Method.__doc__ = "A method: what it learns from, how far it scales, its rank in committed tables, and when to use it."


class Methods(TypedDict):
    """`pucli list methods`."""

    methods: list[Method]


class Titled(TypedDict):
    """A declared experiment."""

    name: str
    title: str


class Experiments(TypedDict):
    """`pucli list experiments`."""

    experiments: list[Titled]


class Metric(TypedDict):
    """A metric; `better` is "" where neither side is better."""

    name: str
    unit: str
    better: str
    description: str


class Metrics(TypedDict):
    """`pucli list metrics`."""

    metrics: list[Metric]


class Protocol(TypedDict):
    """A protocol of experiments."""

    name: str
    description: str


class Protocols(TypedDict):
    """`pucli list protocols`."""

    protocols: list[Protocol]


class Fetched(TypedDict):
    """A data set in the cache; `files` is empty if a library has it."""

    name: str
    origin: str
    files: list[str]


class NotFetched(TypedDict):
    """A data set that could not be fetched, and why."""

    name: str
    message: str


class Fetch(TypedDict):
    """Data sets in the cache, those that could not be fetched (exit code 1), and, without a name, those not there."""

    fetched: list[Fetched]
    failed: list[NotFetched]
    missing: list[str]


class Part(TypedDict):
    """Numbers of rows of one split."""

    repeat: int
    labelled: int
    unlabeled: int
    test: int


class Split(TypedDict):
    """Splits of a data set, written to a file; `groups` is there if the data set has groups."""

    file: str
    dataset: str
    scenario: str
    label_frequency: float
    seed: int
    labelling: str
    groups: NotRequired[int]
    splits: list[Part]


class Run(TypedDict):
    """Cells that were planned, done before, run now, failed, and left."""

    experiment: str
    profile: str
    folder: str
    total: int
    already_done: int
    ran: int
    failed: int
    seconds: float
    errors: list[str]
    left: int
    unavailable: list[NotFetched]


class Cells(TypedDict):
    """Numbers of cells."""

    total: int
    done: int
    failed: int
    missing: int


class Row(TypedDict):
    """A published or obtained figure in the unit of its metric; null where there is none."""

    dataset: str
    setting: str
    method: str
    variant: str
    metric: str
    obtained_mean: float | None
    obtained_sd: float | None
    puf_mean: float | None
    puf_sd: float | None
    repeats: int
    expected_repeats: int
    failed: int
    flagged: int
    published_mean: float | None
    published_sd: float | None
    difference_in_sd: float | None
    difference_in_errors: float | None
    difference_low: float | None
    difference_high: float | None
    verdict: str
    cause: str
    note: str
    primary: bool
    column: str


class SummaryLine(TypedDict):
    """Means over the rows of a column, and counts of their verdicts."""

    column: str
    setting: str
    metric: str
    rows: int
    published_mean: float | None
    obtained_mean: float | None
    verdicts: Counts
    flagged: int


class Comparison(TypedDict):
    """Wilcoxon signed-rank test of two columns over the repeats."""

    dataset: str
    setting: str
    a: str
    b: str
    metric: str
    n: int
    mean_difference: float | None
    median_difference: float | None
    wins: int
    ties: int
    losses: int
    statistic: float | None
    p: float | None
    p_adjusted: float | None


class Ranking(TypedDict):
    """Average ranks of columns over data sets or settings, with the test of whether they differ."""

    blocks: str
    setting: str
    metric: str
    n: int
    columns: list[str]
    means: list[float | None]
    ranks: list[float | None]
    statistic: float | None
    p: float | None
    test: str
    critical_difference: float | None
    alpha: float
    pairwise_p: list[list[float | None]]


class Report(TypedDict):
    """The table of an experiment."""

    experiment: str
    title: str
    source: str
    profile: str
    reductions: list[str]
    cells: Cells
    flags: Counts
    errors: list[str]
    remarks: list[str]
    verdicts: Counts
    causes: Counts
    rows: list[Row]
    summary: list[SummaryLine]
    comparisons: list[Comparison]
    rankings: list[Ranking]
    folder: str
    figures: list[tuple[str, str]]
    kept: list[str]
    files: list[str]


class OneReport(TypedDict):
    """The table of one experiment, and the number of its figures with each verdict."""

    verdicts: Counts
    report: Report


class AllReports(TypedDict):
    """`pucli report --all`."""

    reports: list[Report]


class Reproduce(OneReport):
    """The table after a run; `run` is missing with --collect or --merge, `imported` without --merge."""

    run: NotRequired[Run]
    imported: NotRequired[int]


class _Column(TypedDict):
    dataset: str
    method: str
    cells: int
    done: int
    failed: int
    left: int


class Planned(_Column):
    """Cells of a column on a data set, and what is left of them."""

    fits: int
    seconds: float | None


class Download(TypedDict):
    """A file that the cache lacks; `bytes` is null if its size is not declared."""

    dataset: str
    file: str
    bytes: int | None


class DryRun(TypedDict):
    """`pucli reproduce --dry-run`: what would run; `seconds` is null if no similar cell has run."""

    experiment: str
    profile: str
    reductions: list[str]
    folder: str
    total: int
    done: int
    failed: int
    left: int
    fits: int
    fits_at_least: bool
    seconds: float | None
    seconds_known_for: int
    n_jobs: int
    rows: list[Planned]
    downloads: list[Download]


class Stage(_Column):
    """Cells of a column on a data set."""

    seconds: float


class Reason(TypedDict):
    """Why cells failed."""

    reason: str
    cells: list[str]


class Status(TypedDict):
    """Finished, failed and remaining cells of an experiment."""

    experiment: str
    profile: str
    folder: str
    total: int
    done: int
    failed: int
    left: int
    seconds: float
    seconds_left: float | None
    last: str
    rows: list[Stage]
    failures: list[Reason]
    flags: Counts


class Site(TypedDict):
    """Pages that were written."""

    folder: str
    pages: int
    files: int
    bytes: int


class New(TypedDict):
    """Files that were written, and commands to go on with."""

    folder: str
    files: list[str]
    next: list[str]
