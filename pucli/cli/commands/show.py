"""``pucli show``: content of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pucli.cli.output import Output, output_file
from pucli.core.errors import UsageError, check_model_file

EXAMPLES = """
pucli show bought.model
pucli show bought.model --card bought.md
"""


def command(
    out: Output,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file of `pucli auto` or `pucli train`.")],
    card: Annotated[
        Path | None, typer.Option("--card", help="Write the same as a Markdown page, e.g. bought.md.")
    ] = None,
) -> None:
    """Show what a model file holds.

    `pucli show` prints the method, columns and their kinds, threshold, class prior, estimates, limits and versions.
    """
    check_model_file(model)
    from pucli.cli.text.show import column_rows, facts, model_card, page_of
    from pucli.core.atomic_files import replacing
    from pucli.models.saved import load_model

    output_file("--card", card, model)
    if card is not None and card.suffix.lower() not in ("", ".md", ".txt"):
        raise UsageError(f"--card {card}: the page is written as Markdown; use the extension .md.")
    answer = model_card(model, load_model(model), card)
    out.document(answer)
    out.fields(facts(answer))
    if rows := column_rows(answer):
        out.text()
        out.table(["column", "kind", "encoding"], rows)
    out.text()
    for text in answer.limits:
        out.text(text)
    if card is not None:
        with replacing(card) as partial:
            partial.write_text(page_of(answer), encoding="utf-8", errors="backslashreplace")
        out.text(f"written to {card}")
