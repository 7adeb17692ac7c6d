"""``pucli list``: list data sets, methods, experiments or metrics."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import completion
from pucli.cli.output import Output
from pucli.core.errors import UsageError, unknown

if TYPE_CHECKING:
    from pucli.methods import Method as Declared

EXAMPLES = """
pucli list datasets
pucli list methods
pucli list experiments --json
"""


@dataclass(frozen=True)
class Titled:
    """A declared experiment."""

    name: str
    title: str


@dataclass(frozen=True)
class ListedDataset(Titled):
    """A declared data set."""

    license: str | None


@dataclass(frozen=True)
class ListedMethod:
    """A method: what it learns from, how far it scales, its rank in committed tables, and when to use it."""

    name: str
    kind: str
    needs: str
    rows: str
    place: str
    use_it_when: str
    source: str


@dataclass(frozen=True)
class ListedMetric:
    """A metric; `better` is "" where neither side is better."""

    name: str
    unit: str
    better: str
    description: str


@dataclass(frozen=True)
class Protocol:
    """A protocol of experiments."""

    name: str
    description: str


@dataclass(frozen=True)
class Datasets:
    """`pucli list datasets`."""

    datasets: list[ListedDataset]


@dataclass(frozen=True)
class Methods:
    """`pucli list methods`."""

    methods: list[ListedMethod]


@dataclass(frozen=True)
class Experiments:
    """`pucli list experiments`."""

    experiments: list[Titled]


@dataclass(frozen=True)
class Metrics:
    """`pucli list metrics`."""

    metrics: list[ListedMetric]


@dataclass(frozen=True)
class Protocols:
    """`pucli list protocols`."""

    protocols: list[Protocol]


def command(
    out: Output,
    what: Annotated[
        str,
        typer.Argument(
            metavar="datasets|methods|experiments|metrics|protocols",
            help="What to list.",
            autocompletion=completion.completer("datasets", "methods", "experiments", "metrics", "protocols"),
        ),
    ],
) -> None:
    """List data sets, methods, experiments, metrics or protocols.

    The lists include those of installed packages. A terminal wraps long lines; in a file or a pipe, each entry is one
    line of any length, for grep and cut.
    """
    listings: dict[str, Callable[[], Any]] = {
        "datasets": _datasets,
        "methods": _methods,
        "experiments": _experiments,
        "metrics": _metrics,
        "protocols": _protocols,
    }
    if what not in listings:
        raise unknown("listing", what, listings)
    answer = listings[what]()
    out.document(answer)
    listed = getattr(answer, what)
    columns = [one.name for one in fields(listed[0]) if not (what == "methods" and one.name in ONLY_JSON)]
    rows = [[getattr(one, name) for name in columns] for one in listed]
    out.table([name.replace("_", " ") for name in columns], rows)
    if what == "methods":
        out.remark(
            "place: share of the other methods' columns that are better, mean over the rankings of the committed "
            "results, from 0 (always first) to 1 (always last); in brackets, their number. --json adds what each "
            "method needs, the rows it was measured with, and its source."
        )


# columns of the methods that are left out on a screen
ONLY_JSON = ("needs", "rows", "source")
# The labels from which each kind of method learns.
LABELS = {
    "pu": "labeled positives, unlabeled rows",
    "semi-supervised": "labeled rows of each class",
    "density": "no labels",
    "clustering": "no labels",
}


def _methods() -> Methods:
    from pucli.methods import all_methods
    from pucli.report.tables.standing import Standing, read_standings

    known = read_standings()
    rows = []
    for method in all_methods().values():
        own = known.get(method.name, Standing(method.name))
        scale = f"{own.rows:,} in {own.seconds:g} s" if own.rows else method.tried or "not measured"
        place = f"{own.place:.2f} ({own.rankings})" if own.rankings else "not ranked"
        rows.append(
            ListedMethod(
                method.name, method.kind, "; ".join(_needs(method)), scale, place, method.when or "", _source(method)
            )
        )
    return Methods(rows)


def _source(method: Declared) -> str:
    return f"{method.source} [{method.origin}]" if method.origin else method.source


def _protocols() -> Protocols:
    from pucli.runner.cells import protocol_module, protocol_names

    rows = []
    for name, package in protocol_names().items():
        first = (inspect.getdoc(protocol_module(name)) or "").partition("\n\n")[0].replace("\n", " ")
        rows.append(Protocol(name, f"{first} [{package}]" if package else first))
    return Protocols(rows)


def _needs(method: Declared) -> Iterator[str]:
    yield LABELS[method.kind]
    if method.prior:
        yield f"class prior ({method.prior})"
    if method.extra:
        yield f"{method.package or 'pucli'}[{method.extra}]"


def _metrics() -> Metrics:
    from pucli.metrics import all_metrics

    return Metrics(
        [ListedMetric(one.name, one.unit, one.better or "", one.description) for one in all_metrics().values()]
    )


def _datasets() -> Datasets:
    from pucli.data import dataset_entry, dataset_names

    entries = {name: dataset_entry(name) for name in dataset_names()}
    return Datasets([ListedDataset(name, entry.title, entry.license) for name, entry in entries.items()])


def _experiments() -> Experiments:
    from pucli.runner import experiment_names, load_experiment

    rows = []
    for name in experiment_names():
        try:
            rows.append(Titled(name, load_experiment(name, check_methods=False).title))
        except UsageError as error:  # a mistake in one file must not hide the others
            rows.append(Titled(name, f"(cannot be used: {error})"))
    return Experiments(rows)
