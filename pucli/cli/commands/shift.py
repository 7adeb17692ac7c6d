"""``pucli shift``: compare new rows with those of training, and estimate their class prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pucli.cli.output import Output
from pucli.cli.row_options import ModelFile, NewFiles, UsualReading, check_there
from pucli.cli.terminal import percent, span
from pucli.core.errors import UsageError, shell_word

if TYPE_CHECKING:
    from pucli.models.shift import Shift

EXAMPLES = """
pucli shift next_year.csv --model bought.model
pucli predict next_year.csv --model bought.model --adapt --out scored.csv
"""
# Columns that are named.
MOST_NAMED = 5


def command(out: Output, model: ModelFile, data: NewFiles, reading: UsualReading) -> None:
    """Estimate the class prior of a new file: its share of positives.

    `pucli shift` estimates it by maximum likelihood from held-out scores of training and the scores of the file
    (Qin 1999) or, for models that keep no held-out scores, from probabilities (Saerens, Latinne, Decaestecker 2002).
    Its 90% interval holds if nothing else has changed. Each column is tested for other changes; combinations of
    columns are not. `pucli predict --adapt` adapts probabilities and threshold to it.
    """
    check_there(*data, model=model)
    from pucli.data.files.tables import title_of
    from pucli.models.saved import load_model
    from pucli.models.shift import ShiftAnswer, shift_of

    saved = load_model(model)
    if saved.metadata.get("kind") != "pu":
        raise UsageError(
            f"`pucli shift` needs a model of labeled positives and unlabeled rows; {saved.method} is none."
        )
    found = shift_of(saved, data, saved.reading.over(reading.reading(data)))
    out.document(ShiftAnswer(**vars(found), model=model, data=data[0] if len(data) == 1 else data))
    population = "all rows" if saved.metadata.get("denominator") == "all" else "the unlabeled rows"
    for line in _lines(found, title_of(data), population):
        out.text(line)
    for line in found.remarks:
        out.warn(line)
    if found.verdict == "more":
        without = " ".join(f"--drop {shell_word(name)}" for name in found.columns)
        instead = f", or without what changed ({without})" if len(found.columns) <= MOST_NAMED else ""
        out.warn(
            f"more than the class prior has changed: do not rely on this estimate; train again on such rows{instead}."
        )
    out.remark("The class prior holds if nothing else has changed; combinations of columns are not tested.")


def _lines(found: Shift, title: str, population: str) -> list[str]:
    """Return the printed lines."""
    said = {
        "same": "none found in single columns",
        "prior": "only the class prior, as far as single columns show",
        "more": f"more than the class prior: {_named(found.columns)}",
        "untested": "not tested; this model keeps no distribution of its columns",
    }[found.verdict]
    tests = {"same": found.p_same, "prior": found.p_only_prior, "more": found.p_only_prior}
    p = tests.get(found.verdict)
    old, new = found.training_prior, found.prior
    return [
        f"class prior  {_share(new.value, new.low, new.high)} of {found.rows:,} rows of {title}",
        f"in training  {_share(old.value, old.low, old.high)} of {population}",
        f"change       {said}" + ("" if p is None else f" (p {_p(p)})"),
    ]


def _share(value: float, low: float, high: float) -> str:
    return f"{percent(value)}% ({span(low, high)})"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.2g}"


def _named(columns: tuple[str, ...]) -> str:
    rest = len(columns) - MOST_NAMED
    return ", ".join(columns[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
