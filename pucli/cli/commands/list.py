"""``pucli list``: what there is, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import completion
from pucli.cli.output import Output
from pucli.errors import UsageError, unknown

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
            metavar="datasets|methods|experiments|metrics",
            help="What to list.",
            autocompletion=completion.words("datasets", "methods", "experiments", "metrics"),
        ),
    ],
) -> None:
    """List the data sets, methods, experiments or metrics."""
    listings = {"datasets": _datasets, "methods": _methods, "experiments": _experiments, "metrics": _metrics}
    if what not in listings:
        raise unknown("listing", what, listings)
    columns, rows = listings[what]()
    out.document({what: [dict(zip(columns, row, strict=True)) for row in rows]})
    out.table(columns, rows)


# Labels that a method of each kind learns from.
LABELS = {
    "pu": "labelled positives, unlabeled rows",
    "semi-supervised": "labelled rows of each class",
    "density": "no labels",
    "clustering": "no labels",
}


def _methods() -> tuple[list[str], list[list[Any]]]:
    from pucli.methods import METHODS

    return ["name", "kind", "needs", "source"], [
        [method.name, method.kind, "; ".join(_needs(method)), method.source] for method in METHODS.values()
    ]


def _needs(method: Method) -> Iterator[str]:
    yield LABELS[method.kind]
    if method.prior:
        yield f"class prior ({method.prior})"
    if method.extra:
        yield f"pucli[{method.extra}]"


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
