"""``pucli advise``: which method of the GLPUAL family suits a data set, and why (Wang 2024, Figure 6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pucli.cli.output import Output
from pucli.cli.row_options import FileRows
from pucli.cli.terminal import many
from pucli.core.errors import UsageError

if TYPE_CHECKING:
    from pucli.models.advice import Advice

EXAMPLES = """
pucli advise customers.csv --label bought --positive yes
pucli advise customers.csv --label bought --positive yes --prior 0.2
"""


def command(
    out: Output,
    where: FileRows,
    prior: Annotated[
        float | None,
        typer.Option("--prior", help="Class prior (share of positives among unlabeled rows), if you know it."),
    ] = None,
) -> None:
    """Suggest a method of the GLPUAL family.

    `pucli advise` follows the flowchart of the GLPUAL thesis: are the positives in two parts around the negatives, are
    there many irrelevant features, is the class prior known? It answers from labeled and unlabeled rows alone.

    `pucli auto` needs neither method nor class prior, and is at least as good on most tables: on the 32 tasks of
    benchmark `quality`, a method of the family at its defaults has the larger F1 on at most 6.
    """
    from pucli.cli.text.columns import rows_to_learn_from, show_columns
    from pucli.data.rows.training_rows import FEW_LABELED
    from pucli.models.advice import AdviceAnswer, advise

    where.check_given()
    if where.columns:
        show_columns(out, where.source)
        return
    if prior is not None and not 0 < prior < 1:
        raise UsageError(f"--prior must be above 0 and below 1, not {prior}; `pucli prior` estimates it.")
    why = "`pucli advise` uses labeled positives and unlabeled rows alone"
    rows = rows_to_learn_from(out, "pu", where.source, without_negatives=why)
    try:
        found = advise(rows.X, rows.labeled, prior, where.seed, rows.feature_names)
    except ValueError as error:
        raise UsageError(f"{rows.title}: {error}") from error
    if rows.n_labeled < FEW_LABELED:
        out.warn(f"with {many(rows.n_labeled, 'labeled row')} the answers are little more than guesses.")
    next_command = f"pucli tune --method {found.method} {where.words}{_settings(found)}"
    out.document(AdviceAnswer(**vars(found), data=rows.about, prior=prior, command=next_command))
    out.text(f"{found.method}: {next_command}")
    for reason in found.reasons:
        out.text(f"- {reason}")


def _settings(found: Advice) -> str:
    return "".join(
        [f" --param {key}={value}" for key, value in found.params.items()]
        + [f" --grid {key}={values}" for key, values in found.grid.items()]
    )
