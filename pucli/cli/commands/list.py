"""``pucli list``: list data sets, methods, experiments or metrics."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import completion
from pucli.cli.output import Output
from pucli.core.errors import UsageError, unknown

if TYPE_CHECKING:
    from pucli.methods import Method

EXAMPLES = """
pucli list datasets
pucli list methods
pucli list experiments --json
"""


def command(
    out: Output,
    what: Annotated[
        str,
        typer.Argument(
            metavar="datasets|methods|experiments|metrics|protocols",
            help="What to list.",
            autocompletion=completion.words("datasets", "methods", "experiments", "metrics", "protocols"),
        ),
    ],
) -> None:
    """List data sets, methods, experiments, metrics or protocols.

    The lists include those of installed packages. A terminal wraps long lines; in a file or a pipe, each entry is one
    line of any length, for grep and cut.
    """
    listings = {
        "datasets": _datasets,
        "methods": _methods,
        "experiments": _experiments,
        "metrics": _metrics,
        "protocols": _protocols,
    }
    if what not in listings:
        raise unknown("listing", what, listings)
    columns, rows = listings[what]()
    out.document({what: [dict(zip(columns, row, strict=True)) for row in rows]})
    shown = [i for i, name in enumerate(columns) if not (what == "methods" and name in ONLY_JSON)]
    out.table([columns[i] for i in shown], [[row[i] for i in shown] for row in rows])
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
    "pu": "labelled positives, unlabeled rows",
    "semi-supervised": "labelled rows of each class",
    "density": "no labels",
    "clustering": "no labels",
}


def _methods() -> tuple[list[str], list[list[Any]]]:
    from pucli.methods import all_methods
    from pucli.report.tables.standing import Standing, read_standings

    known = read_standings()
    rows = []
    for method in all_methods().values():
        own = known.get(method.name, Standing(method.name))
        scale = f"{own.rows:,} in {own.seconds:g} s" if own.rows else method.tried or "not measured"
        place = f"{own.place:.2f} ({own.rankings})" if own.rankings else "not ranked"
        rows.append(
            [method.name, method.kind, "; ".join(_needs(method)), scale, place, method.when or "", _source(method)]
        )
    return ["name", "kind", "needs", "rows", "place", "use it when", "source"], rows


def _source(method: Method) -> str:
    return f"{method.source} [{method.origin}]" if method.origin else method.source


def _protocols() -> tuple[list[str], list[list[Any]]]:
    from pucli.runner.cells import protocol_module, protocol_names

    rows = []
    for name, package in protocol_names().items():
        first = (inspect.getdoc(protocol_module(name)) or "").partition("\n\n")[0].replace("\n", " ")
        rows.append([name, f"{first} [{package}]" if package else first])
    return ["name", "description"], rows


def _needs(method: Method) -> Iterator[str]:
    yield LABELS[method.kind]
    if method.prior:
        yield f"class prior ({method.prior})"
    if method.extra:
        yield f"{method.package or 'pucli'}[{method.extra}]"


def _metrics() -> tuple[list[str], list[list[Any]]]:
    from pucli.metrics import all_metrics

    return ["name", "unit", "better", "description"], [
        [metric.name, metric.unit, metric.better or "", metric.description] for metric in all_metrics().values()
    ]


def _datasets() -> tuple[list[str], list[list[Any]]]:
    from pucli.data import dataset_entry, dataset_names

    rows = []
    for name in dataset_names():
        entry = dataset_entry(name)
        rows.append([name, entry.title, entry.licence])
    return ["name", "title", "licence"], rows


def _experiments() -> tuple[list[str], list[list[Any]]]:
    from pucli.runner import experiment_names, load_experiment

    rows = []
    for name in experiment_names():
        try:
            rows.append([name, load_experiment(name, check_methods=False).title])
        except UsageError as error:  # a mistake in one file must not hide the others
            rows.append([name, f"(cannot be used: {error})"])
    return ["name", "title"], rows
