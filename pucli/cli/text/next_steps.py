"""Next steps after `pucli auto`, and the files that it wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pucli.core.errors import shell_word

if TYPE_CHECKING:
    from pucli.models.auto.summary import AutoAnswer

# Called rows to check by hand: their share of positives is then known to within 15 points, with 90 % confidence.
CHECKED = 30


def next_steps(answer: AutoAnswer, verbose: bool) -> list[str]:
    """Return what to do next, the most useful first."""
    called, kept = answer.called_positive, answer.model
    steps = []
    if called > CHECKED:
        steps.append(
            f"check {CHECKED} random called rows by hand, which tells the precision: pucli review "
            f"{_called_rows(answer)} --for precision --rows {CHECKED} --out sample.csv"
        )
    elif called:
        steps.append(f"check the called {'rows' if called > 1 else 'row'} by hand: it tells the precision")
    else:
        steps.append("no row is called; --recall 0.9 or --top 20 lowers the threshold")
    if kept:
        steps.append(f"score new rows: pucli predict --model {shell_word(kept)} --data new.csv")
    files = {"--model": "keeps the model", "--report": "page", "--scored": "all rows"}
    missing = [f"{option} FILE ({what})" for option, what in files.items() if getattr(answer, option[2:]) is None]
    blocks = answer.blocks is not None
    if missing and not blocks:
        steps.append(f"add {', '.join(missing)}")
    elif blocks and not kept:
        steps.append("add --model FILE to keep the model")
    return [*steps, *([] if verbose else ["see all estimates, limits and members: --verbose"])]


def _called_rows(answer: AutoAnswer) -> str:
    """Return the options of `pucli review` that name the called rows."""
    if answer.blocks is not None:
        return f"--model {shell_word(answer.model or 'MODEL')} --data FILE"
    return f"--scored {shell_word(answer.scored or 'FILE')}"


def written_files(answer: AutoAnswer) -> list[str]:
    """Return the files that `pucli auto` wrote, each with what it is."""
    notes = {"scored": " (likeliest first)", "report": " (open it in a browser)"}
    named = [
        f"{path}{notes.get(name, '')}" for name in ("model", "scored", "report") if (path := getattr(answer, name))
    ]
    paths = answer.predictions
    return [*named, *([f"{len(paths)} files in {Path(paths[0]).parent}"] if paths else [])]
