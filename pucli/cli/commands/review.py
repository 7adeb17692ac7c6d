"""``pucli review``: rows to check by hand, and precision and class prior by the answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pucli.cli import completion
from pucli.cli.options import Seed, SpreadsheetSafe, choice
from pucli.cli.output import Output, output_file
from pucli.cli.row_options import UsualReading, check_there
from pucli.cli.terminal import many, percent, span
from pucli.core.errors import UsageError, shell_word

if TYPE_CHECKING:
    from pucli.models.review import Answers, Draw
    from pucli.solvers.prior.review import Share

GOALS = ("positives", "precision", "prior")
EXAMPLES = """
pucli review --scored ranked.csv --rows 30 --for precision --out sample.csv
pucli review new.csv --model bought.model --rows 50 --out look.csv
pucli review new.csv --model bought.model --rows 50 --for precision --out sample.csv
pucli review --scored ranked.csv --rows 100 --for prior --out both.csv
pucli review --answers sample.csv
pucli review --answers sample.csv --at-least 0.7
"""


@dataclass(frozen=True)
class ToReview:
    """Rows to check, written to a file."""

    model: Path | None
    data: Path | list[Path] | None
    scored: Path | None
    file: Path
    goal: str  # of --for
    unlabeled: int
    flagged: int
    rows: int
    seed: int


class Wanted(NamedTuple):
    """Rows to draw: how many, for what, and the seed."""

    rows: int
    goal: str
    seed: int


def command(  # noqa: PLR0913
    out: Output,
    reading: UsualReading,
    model: Annotated[
        Path | None, typer.Option("--model", help="Model file, from --model of `pucli auto` or `pucli train`.")
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", metavar="FILE", help="File with the columns of the model. Repeatable."),
    ] = None,
    scored: Annotated[
        Path | None,
        typer.Option(
            "--scored", metavar="FILE", help="In place of --model and --data: the file of `pucli auto --scored`."
        ),
    ] = None,
    destination: Annotated[Path | None, typer.Option("--out", "-o", help="Write the rows to this .csv file.")] = None,
    count: Annotated[int, typer.Option("--rows", metavar="N", help="Number of rows to check.", min=1)] = 50,
    goal: Annotated[
        str,
        typer.Option(
            "--for",
            help="positives: the rows with the highest scores. precision: a random sample of the flagged rows. "
            "prior: half of those, half of the others.",
            autocompletion=completion.completer(*GOALS),
        ),
    ] = GOALS[0],
    ids: Annotated[
        list[str] | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Column to copy; repeatable. Default: the identifiers of training; '' for none.",
        ),
    ] = None,
    seed: Seed = 0,
    answers: Annotated[
        list[Path] | None,
        typer.Option(
            "--answers", metavar="FILE", help="Read the rows back, with yes or no in the column answer. Repeatable."
        ),
    ] = None,
    at_least: Annotated[
        float | None,
        typer.Option(
            "--at-least",
            metavar="SHARE",
            help="With --answers: say whether at least this share is positive, or how many more answers tell.",
        ),
    ] = None,
    safe: SpreadsheetSafe = False,
) -> None:
    """Choose rows to check by hand, and read the answers back.

    --out FILE writes a CSV with the number of each row, its identifiers, its score, whether the model flags
    it, the probability with which it was drawn, and an empty column answer. Rows that the label column marks as
    positive or as known negatives are left out. With the same seed, a larger --rows contains the rows of a smaller one,
    in the same order.

    --answers FILE prints the share of positives with a 90% interval: among the flagged rows (files of --for
    precision, a random sample), also among all unlabeled rows (--for prior), or among the rows with the highest scores
    (--for positives). It takes files of several kinds together. An empty answer means not checked. Answer a
    random sample from the top down, so that the answered rows are a random sample as well.
    """
    if at_least is not None and not 0.0 < at_least < 1.0:
        raise UsageError(f"--at-least {at_least:g}: must be between 0 and 1, e.g. 0.7 for 70%.")
    if answers:
        if model is not None or data or scored is not None or destination is not None:
            raise UsageError("--answers reads rows back; leave out --model, --data, --scored and --out.")
        if (count, goal, seed, ids, safe) != (50, GOALS[0], 0, None, False):
            raise UsageError("--answers reads rows back; leave out --rows, --for, --seed, --id and --spreadsheet-safe.")
        _read_back(out, answers, at_least)
        return
    if scored is not None and ids is not None:
        raise UsageError("--id is for --model and --data; the identifiers of --scored are copied as they are.")
    if destination is None or (scored is None) == (model is None or not data) or (scored and (model or data)):
        raise UsageError(
            "`pucli review` needs --out FILE.csv and either --model with --data, or the file of `auto` as --scored; or "
            "--answers FILE."
        )
    if at_least is not None:
        raise UsageError("--at-least is for --answers FILE.")
    choice("value of --for", goal, GOALS)
    check_there(scored, *(data or ()), model=model)
    output_file("--out", destination, *(data or ()), *filter(None, [model, scored]))
    if destination.suffix.lower() != ".csv":
        raise UsageError(f"--out {destination}: rows to check are written as CSV; use the extension .csv.")
    _keep_answers(destination)
    wanted = Wanted(count, goal, seed)
    if scored is not None:
        from pucli.models.review import draw_scored

        found = draw_scored(scored, *wanted)
    elif model is not None and data:
        found = _of_model(out, model, data, reading, wanted, ids)
    _write(out, found, destination, wanted, {"model": model, "data": data or [], "scored": scored}, safe=safe)


def _keep_answers(destination: Path) -> None:
    """Raise UsageError if answers would be lost."""
    from pucli.models.review import holds_answers

    if destination.is_file() and holds_answers(destination):
        raise UsageError(
            f"--out {destination} holds answers, which would be lost; give another file, or read them by "
            f"`pucli review --answers {shell_word(destination)}`."
        )


def _of_model(
    out: Output, model: Path, data: list[Path], reading: UsualReading, wanted: Wanted, ids: list[str] | None
) -> Draw:
    """Return rows to check, scored by a model."""
    from pucli.data.reading import normal
    from pucli.models.review import draw
    from pucli.models.saved import load_model

    saved = load_model(model)
    carried = None if ids is None else [normal(name) for name in ids if name]
    found = draw(saved, data, *wanted, how=saved.reading.over(reading.reading(data)), ids=carried)
    for line in found.warnings:
        out.warn(line)
    if found.trained is not None:
        out.warn(
            f"{found.trained} that the model was trained on: their scores are not held out, so that other rows may be "
            "flagged than `pucli auto` counted; take its file: --scored FILE in place of --model and --data."
        )
    return found


def _write(out: Output, found: Draw, destination: Path, wanted: Wanted, source: dict[str, Any], *, safe: bool) -> None:
    """Write rows to check, and say what to do with them."""
    from pucli.core.atomic_files import replacing
    from pucli.data.files.writers import open_writer

    with replacing(destination) as partial, open_writer(partial, safe=safe) as writer:
        writer.write(found.rows)
    written, data = len(found.rows), source["data"]
    source |= {"data": data[0] if len(data) == 1 else data or None, "file": destination, "goal": wanted.goal}
    out.document(ToReview(**source, unlabeled=found.unlabeled, flagged=found.flagged, rows=written, seed=wanted.seed))
    total = many(found.unlabeled, "unlabeled row")
    of = f"{written:,} of the {found.flagged:,} flagged rows, drawn at random ({found.unlabeled:,} unlabeled in all)"
    if wanted.goal == "positives":
        of = f"the {written:,} with the highest scores of {total}" if written > 1 else f"the top row of {total}"
    elif wanted.goal == "prior":
        of = f"{written:,} of {total}, drawn at random: {int((found.rows['flagged'] == 'yes').sum()):,} of the "
        of += f"{found.flagged:,} flagged ones, the others of the rest"
    elif written == found.flagged:
        of = f"all {many(written, 'flagged row')}, in random order ({found.unlabeled:,} unlabeled in all)"
    out.text(f"rows     {of}")
    out.text(f"written  {destination}")
    out.text(
        "next     fill the column answer with yes or no from the top down, then: pucli review --answers "
        f"{shell_word(destination)}"
    )


def _read_back(out: Output, paths: list[Path], at_least: float | None) -> None:
    """Print the results of the answers."""
    from pucli.models.review import ReadBack, read_answers

    found = read_answers(paths)
    decided, needed = _decision(found, at_least)
    read: dict[str, Any] = {"answers": paths[0] if len(paths) == 1 else paths, "at_least": at_least}
    out.document(ReadBack(**vars(found), **read, decided=decided, answers_needed=needed))
    for name, text in _lines(found, at_least, decided, needed):
        out.text(f"{name:<11}{text}")


def _decision(found: Answers, at_least: float | None) -> tuple[bool | None, int | None]:
    """Return whether the wanted share is reached (None: open), and about how many answers in all would tell."""
    from pucli.solvers.prior.review import answers_needed

    of = found.precision or found.last
    if at_least is None or of is None:
        return None, None
    whole = found.flagged if found.precision is not None else None
    if of.low <= at_least <= of.high and of.low != of.high:
        return None, answers_needed(of, found.answered if whole else found.last_rows, at_least, whole)
    return of.value >= at_least, None


def _lines(found: Answers, at_least: float | None, decided: bool | None, needed: int | None) -> list[tuple[str, str]]:
    """Return the lines of the answer, each a name and a text."""
    said: list[tuple[str, Any]] = [
        ("answers", f"{found.answered:,} of {many(found.rows, 'row')}; {found.positive:,} positive; 90% intervals")
    ]
    if found.precision is not None:
        about, low, high = (round(found.flagged * end) for end in vars(found.precision).values())
        ends = f" ({low:,} to {high:,})" if low < high else ""
        said += [
            ("precision", f"{_percent(found.precision)} of the flagged rows are positive"),
            ("positives", f"{about:,} of the {found.flagged:,} flagged rows{ends}"),
        ]
    if found.prior is not None and found.unlabeled is not None:
        about, low, high = (round(found.unlabeled * end) for end in vars(found.prior).values())
        all_rows = f"the {found.unlabeled:,} unlabeled rows are positive: {about:,} ({low:,} to {high:,})"
        said.append(("prior", f"{_percent(found.prior)} of {all_rows}"))
    if found.precision is None and found.last is not None:
        said.append(("precision", "not known: no random sample of the flagged rows (--for precision)"))
    if found.last is not None:
        last = f"the last {found.last_rows:,} by score are" if found.last_rows > 1 else "the last row by score is"
        said.append(("last", f"{_percent(found.last)} of {last} positive"))
    if at_least is None:
        return said
    of = "the flagged rows" if found.precision is not None else "the next rows seem to"
    if decided is None:
        more = "answers cannot tell"
        if needed is not None:
            more = f"about {many(max(1, needed - found.answered), 'more answer')} would tell"
        said.append(("decision", f"at least {100 * at_least:.3g}% is open; {more}"))
    else:
        verb = "reach" if decided else "stay below"
        said.append(("decision", f"{of} {verb} {100 * at_least:.3g}%; more answers hardly matter"))
    return said


def _percent(share: Share) -> str:
    if share.low == share.high:
        return f"{percent(share.value)}% (all checked)"
    return f"{percent(share.value)}% ({span(share.low, share.high)})"
