"""Next steps after `pucli auto`, and the files that it wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pucli.core.errors import shell_word

if TYPE_CHECKING:
    from pucli.models.auto.summary import AutoAnswer

# Flagged rows to check by hand: their share of positives is then known to within 15 points, with 90 % confidence.
CHECKED = 30


def next_steps(answer: AutoAnswer, verbose: bool) -> list[str]:
    """Return what to do next, the most useful first."""
    flagged, kept, blocks = answer.called_positive, answer.model, answer.blocks is not None
    steps = []
    files = {"--scored": "all rows", "--report": "page", "--model": "keeps the model"}
    missing = [f"{option} FILE ({what})" for option, what in files.items() if getattr(answer, option[2:]) is None]
    add = [f"add {', '.join(missing)}"] if missing and not blocks else []
    if flagged > CHECKED and (answer.scored is not None or blocks):
        steps.append(f"pucli review {_flagged_rows(answer)} --for precision --rows {CHECKED} --out sample.csv")
    elif flagged > CHECKED:
        steps, add = add, []
    elif flagged:
        steps.append(f"check the flagged {'rows' if flagged > 1 else 'row'} by hand: it tells the precision")
    else:
        steps.append("look at the top rows; --top 20 flags as many")
    if kept:
        steps.append(f"score new rows: pucli predict --model {shell_word(kept)} --data new.csv")
    elif blocks:
        steps.append("add --model FILE to keep the model")
    return [*steps, *add, *([] if verbose else ["all estimates, limits and models: --verbose"])]


def _flagged_rows(answer: AutoAnswer) -> str:
    """Return the options of `pucli review` that name the flagged rows."""
    if answer.blocks is not None:
        return f"--model {shell_word(answer.model or 'MODEL')} --data FILE"
    return f"--scored {shell_word(answer.scored)}"


def written_files(answer: AutoAnswer) -> list[str]:
    """Return the files that `pucli auto` wrote, each with what it is."""
    notes = {"scored": " (most likely first)", "report": " (open it in a browser)"}
    named = [
        f"{path}{notes.get(name, '')}" for name in ("model", "scored", "report") if (path := getattr(answer, name))
    ]
    paths = answer.predictions
    return [*named, *([f"{len(paths)} files in {Path(paths[0]).parent}"] if paths else [])]
