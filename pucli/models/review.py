"""Rows to check by hand, and precision and class prior by their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from pucli.core.arrays import Bools
from pucli.core.errors import UsageError, warn_user
from pucli.core.seeding import stream
from pucli.data.columns.cells import to_numbers
from pucli.data.columns.drift import DriftCounter
from pucli.data.files.table import Table
from pucli.data.files.tables import open_table
from pucli.data.labels import NO, YES
from pucli.data.reading import Reading
from pucli.data.rows.blocks import read_blocks
from pucli.data.rows.label_column import LabelColumn
from pucli.data.rows.row_hashes import KnownRows, RowCounter
from pucli.data.rows.scored_rows import positives_of
from pucli.models.prediction import check_ids, predicted_blocks
from pucli.solvers.prior.review import Share, share_of, share_of_parts, wilson

if TYPE_CHECKING:
    from pucli.models.saved import SavedModel

OWN = ("row", "score", "flagged", "flagged_rows", "drawn", "answer")
"""Columns of a file of rows to check, besides identifiers."""
WHOLE = "unlabeled_rows"
"""One more column of rows that were drawn from all unlabeled ones."""
_YES, _NO = YES | {"1.0"}, NO | {"0.0"}
# The last third of the rows by descending score shows the share of positives among the next rows.
LAST = 3
# Standard errors from which on the mean rank of the answered rows is no chance.
CHOSEN = 3.3


class Draw(NamedTuple):
    """Rows to check by hand."""

    rows: pd.DataFrame  # the columns of `OWN` and identifiers
    # numbers of rows of the file that are not labeled, and of those that the model flags
    unlabeled: int
    flagged: int
    trained: KnownRows | None = None  # rows of the file that the model was trained on, if there are some
    warnings: tuple[str, ...] = ()  # cells that were not read as in training, by column


def draw(
    saved: SavedModel,
    path: Path | Sequence[Path],
    count: int,
    goal: str,
    seed: int,
    *,
    how: Reading | None = None,
    ids: Sequence[str] | None = None,
) -> Draw:
    """Return rows to check: those with the highest scores, or a random sample of the flagged rows, or of all.

    With the same seed, more rows contain the fewer ones, in the same order.
    """
    found = saved.metadata.get("found_ids", ()) if ids is None else ()
    carried = [*saved.metadata.get("id_columns", ()), *found] if ids is None else list(ids)
    check_ids(carried, (*OWN, WHOLE))
    label = saved.metadata.get("label_column")
    marks = [label] if label and label not in carried else []
    trained, tally = RowCounter(saved.metadata.get("data", {})), DriftCounter()
    named = [*carried, *marks]
    optional = [*found, *marks]
    blocks = list(predicted_blocks(saved, path, how=how, ids=named, optional=optional, tally=tally, trained=trained))
    rows = pd.concat(blocks, ignore_index=True) if blocks else pd.DataFrame()
    if "score" not in rows:
        raise UsageError(f"`pucli review` needs rows and a model with scores of two classes; {saved.method} gave none.")
    if label in rows:
        rows = rows[~_known(rows[label], saved.metadata)]
    return sample_of(rows, carried, count, goal, seed)._replace(trained=trained.found(), warnings=tuple(tally.lines()))


def _known(cells: pd.Series, about: Mapping[str, Any]) -> Bools:
    """Return which rows (n,) their label marks as positive or as a known negative, in any spelling."""
    filled = cells.where(cells.notna() & (cells.astype(str).str.strip() != ""))
    labels = LabelColumn.of("", filled, str)
    known = [*positives_of(about), about.get("data", {}).get("negative")]
    found = np.zeros(len(cells), dtype=bool)
    for word in known:
        if word is not None and (rows := labels.rows_of(str(word))) is not None:
            found |= rows
    return found


def draw_scored(path: Path, count: int, goal: str, seed: int) -> Draw:
    """Return rows to check from the file of `pucli auto --scored`, with held-out scores."""
    needed = ("row", "labeled", "score")
    header = list(open_table(path, None).frame.columns)
    if header[0] != "row" or not {*needed} <= {*header}:
        raise UsageError(
            f"{path} is no file of `pucli auto --scored`, which begins with the column row and has labeled and score."
        )
    carried = header[1 : header.index("labeled")]
    check_ids(carried, (*OWN, WHOLE))
    names = [*needed, *carried]
    parts = [block.frame for block in read_blocks(path, names, as_text=names, keep=names)]
    rows = pd.concat(parts, ignore_index=True)
    rows["score"] = to_numbers(rows["score"].astype(str).str.replace(",", "."))
    if not np.isfinite(rows["score"]).all():
        raise UsageError(f"{path}: column score has cells that are no numbers, so that `pucli auto` did not write it.")
    labeled = rows["labeled"].astype(str).str.strip().str.casefold()
    unlabeled = labeled.isin(_NO)
    if len(rows) and not unlabeled.any():
        raise UsageError(f"{path}: column labeled is 0 in no row, e.g. {labeled.iloc[0]!r}; write it as it was.")
    return sample_of(rows[unlabeled], carried, count, goal, seed)


def sample_of(rows: pd.DataFrame, carried: Sequence[str], count: int, goal: str, seed: int) -> Draw:
    """Return rows to check, as `draw` does."""
    rows = rows.assign(flagged=np.where(rows["score"] > 0.0, "yes", "no"))
    flagged = rows[rows["flagged"] == "yes"]
    if goal == "positives":
        chosen = rows.iloc[np.argsort(-rows["score"].to_numpy(), kind="stable")[:count]].assign(drawn=1.0)
    elif goal == "prior":
        chosen = _of_both(flagged, rows[rows["flagged"] == "no"], count, seed).assign(**{WHOLE: len(rows)})
    elif flagged.empty:
        raise UsageError("no row is flagged, so there is no precision; --for positives lists the top rows.")
    else:
        order = stream(seed, "review").permutation(len(flagged))[:count]
        chosen = flagged.iloc[order].assign(drawn=len(order) / len(flagged))
    names = ["row", *carried, *OWN[1:-1], *({WHOLE} & {*chosen}), OWN[-1]]
    kept = chosen.assign(flagged_rows=len(flagged), answer="")[names]
    return Draw(kept.reset_index(drop=True), len(rows), len(flagged))


def _of_both(flagged: pd.DataFrame, others: pd.DataFrame, count: int, seed: int) -> pd.DataFrame:
    """Return a random sample of the flagged rows and one of all others, half of `count` each, in turn."""
    half = min(len(flagged), max(count // 2, count - len(others)))
    drawn = []
    for rows, size, words in ((flagged, half, ()), (others, min(len(others), count - half), ("others",))):
        order = stream(seed, "review", *words).permutation(len(rows))[:size]
        drawn.append(rows.iloc[order].assign(drawn=size / max(len(rows), 1), turn=np.arange(size)))
    return pd.concat(drawn).sort_values("turn", kind="stable")


@dataclass(frozen=True)
class Answers:
    """Results of the answers."""

    # numbers of rows of the file, of answers, and of positive ones
    rows: int
    answered: int
    positive: int
    flagged: int  # number of rows that the model flags
    # share of positives among the flagged rows; None if only some were checked, and these were not a random sample
    precision: Share | None
    unlabeled: int | None  # number of all unlabeled rows, of which a random sample was drawn; None if none was
    prior: Share | None  # share of positives among them
    last: Share | None  # share of positives among the last third of the highest rows by score
    last_rows: int  # number of rows in that third


@dataclass(frozen=True)
class ReadBack(Answers):
    """What the answers say; `precision` is None without a random sample of the flagged rows, `prior` of all."""

    answers: Path | list[Path]
    at_least: float | None
    decided: bool | None  # whether the wanted share is reached; None if it is open
    answers_needed: int | None


def read_answers(paths: Sequence[Path]) -> Answers:
    """Return the results of the answers in one or more files of `draw`, all of the same model and data."""
    return answers_of(_tables(paths), str(paths[0]))


def holds_answers(path: Path) -> bool:
    """Return whether a file has filled cells in a column answer, or has that column and cannot be read."""
    try:
        blocks = read_blocks(path, ("answer",), as_text=("answer",), keep=("answer",))
        return any(block.frame["answer"].fillna("").astype(str).str.strip().ne("").any() for block in blocks)
    except UsageError:
        with path.open("rb") as file:
            return b"answer" in file.readline(10_000)


def answers_of(tables: Sequence[pd.DataFrame], name: str) -> Answers:
    """Return the results of answered rows of `sample_of`, with "yes", "no" or "" as answers; messages say `name`."""
    samples = [_as_sample(one.reindex(columns=[*OWN, WHOLE])) for one in tables]
    table = _joined(pd.concat(samples, ignore_index=True))
    answered = table[table["answer"] != ""]
    if answered.empty:
        raise UsageError(f"{name}: no row has an answer; write yes or no into the column answer.")
    sure = table[table["drawn"] >= 1.0].sort_values("score", ascending=False, kind="stable")
    open_rows, sampled = sure[sure["answer"] == ""], bool((answered["drawn"] < 1.0).any())
    if sampled and len(open_rows):
        raise UsageError(
            f"row {open_rows['row'].iloc[0]} of those with the highest scores has no answer; with a random sample "
            "beside them, each needs one."
        )
    yes = answered["flagged"] == "yes"
    flagged, others, of = answered[yes], answered[~yes], int(table["flagged_rows"].iloc[0])
    left = None if table[WHOLE].isna().all() else int(table[WHOLE].max()) - of
    for mine, what, column, most in ((flagged, "flagged", "flagged_rows", of), (others, "other", WHOLE, left)):
        if most is not None and len(mine) > most:
            raise UsageError(
                f"{name}: {len(mine)} {what} rows have an answer, of {most} by {column}; restore the column."
            )
    _warn_of_gaps(samples)
    _warn_if_chosen(table[table["drawn"] < 1.0])
    precision = None
    if len(flagged) and (sampled or len(flagged) >= of):
        precision = share_of(_positive(flagged), flagged["drawn"].to_numpy(), of)
    prior, parts = None, [] if precision is None else [(precision, of)]
    if left is not None and (len(others) or not left) and (parts or not of):
        parts += [(share_of(_positive(others), others["drawn"].to_numpy(), left), left)] if left else []
        prior = share_of_parts(parts)
    sure = sure[sure["answer"] != ""]
    last_rows = -(-len(sure) // LAST)
    tail = _positive(sure.tail(last_rows)) if last_rows else None
    last = None if tail is None else wilson(float(tail.mean()), len(tail))
    whole = None if left is None else left + of
    counts = len(table), len(answered), int(_positive(answered).sum()), of
    return Answers(*counts, precision, whole, prior, last, last_rows)


def _warn_of_gaps(samples: Sequence[pd.DataFrame]) -> None:
    """Warn if rows of a random sample were passed over: those that are hard to tell are not like the others."""
    passed = 0
    for sample in samples:
        for _, part in sample[sample["drawn"] < 1.0].groupby("flagged"):
            answered = np.flatnonzero(part["answer"] != "")
            passed += int(answered[-1]) + 1 - len(answered) if len(answered) else 0
    if passed:
        those = "row has" if passed == 1 else "rows have"
        warn_user(
            f"{passed:,} {those} no answer above the last that has one: the share is wrong if these are harder to "
            "tell, or of another class; answer them"
        )


def _warn_if_chosen(rows: pd.DataFrame) -> None:
    """Warn if the answered rows of a random sample differ in their scores from the others, by a rank-sum test."""
    for flagged, part in rows.groupby("flagged"):
        answered = np.asarray(part["answer"] != "")
        n, of = int(answered.sum()), len(part)
        if 0 < n < of:
            mean = float(part["score"].rank()[answered].mean())
            if abs(mean - (of + 1) / 2) > CHOSEN * np.sqrt((of + 1) * (of - n) / (12 * n)):
                much = "high" if mean > (of + 1) / 2 else "low"
                warn_user(
                    f"the {'flagged' if flagged == 'yes' else 'other'} rows with an answer have {much}er scores than "
                    f"those without: they are no random sample, and the share is likely too {much}; answer the others"
                )


def _joined(table: pd.DataFrame) -> pd.DataFrame:
    """Return one line for each row, in the order of the files."""
    if max(table["flagged_rows"].nunique(), table[WHOLE].nunique()) > 1:
        raise UsageError("the files of --answers are of different models or data; read each alone.")
    different = table[table["answer"] != ""].groupby("row", sort=False)["answer"].nunique()
    if (different > 1).any():
        raise UsageError(f"row {different.idxmax()} has two answers, yes and no; keep one.")
    return table.groupby("row", sort=False, as_index=False).max()  # "" is less than "no" and "yes"


def _positive(rows: pd.DataFrame) -> Bools:
    return np.asarray(rows["answer"] == "yes", dtype=bool)


def _as_sample(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a file, with the share that is answered as chance if they are all flagged ones, shuffled.

    Each of these was drawn with certainty, but the answered ones, from the top down, are a random sample. So are those
    of the flagged and of the other rows of a sample of all rows.
    """
    if rows[WHOLE].notna().any():
        return rows.assign(drawn=rows["drawn"] * (rows["answer"] != "").groupby(rows["flagged"]).transform("mean"))
    whole = (
        (rows["flagged"] == "yes").all() and (rows["drawn"] >= 1.0).all() and len(rows) == rows["flagged_rows"].max()
    )
    answered = float((rows["answer"] != "").mean())
    if not whole or not 0.0 < answered < 1.0 or rows["score"].is_monotonic_decreasing:
        return rows
    return rows.assign(drawn=answered)


def _refuse_others(path: Path, block: Table, cells: pd.Series, fits: Bools) -> None:
    """Raise UsageError with the first cell that does not fit."""
    if not fits.all():
        bad = int(np.argmin(fits))
        raise UsageError(
            f"{path}, {block.place(bad)}: {cells.name} {cells.iloc[bad]!r} is not what `pucli review` writes there; "
            "restore the cell."
        )


def _tables(paths: Sequence[Path]) -> list[pd.DataFrame]:
    """Return the columns of `OWN` of all files, answers as "yes", "no" or ""."""
    parts = []
    for path in paths:
        blocks: list[pd.DataFrame] = []
        names = (*OWN, WHOLE)
        for block in read_blocks(path, names, as_text=names, keep=names, optional=[WHOLE]):
            frame = block.frame.astype(object).where(block.frame.notna(), "").astype(str)
            frame = frame.apply(lambda cells: cells.str.strip())
            for name in ("score", "drawn", "flagged_rows", WHOLE):
                numbers = to_numbers(frame[name].str.replace(",", "."))
                fits = np.isfinite(numbers) & ((name != "drawn") | ((numbers > 0.0) & (numbers <= 1.0)))
                fits |= (name == WHOLE) & np.asarray(frame[name] == "")
                _refuse_others(path, block, frame[name], fits)
                frame[name] = numbers
            words = frame["answer"].str.lower()
            known = words.isin(_YES) | words.isin(_NO) | (words == "")
            if not known.all():
                wrong = int(np.flatnonzero(~known)[0])
                raise UsageError(
                    f"{path}, {block.place(wrong)}: answer {frame['answer'].iloc[wrong]!r}: write yes or no, or leave "
                    "it empty."
                )
            frame["answer"] = np.where(words.isin(_YES), "yes", np.where(words.isin(_NO), "no", ""))
            flagged = frame["flagged"].str.lower()
            _refuse_others(path, block, frame["flagged"], np.asarray(flagged.isin(_YES) | flagged.isin(_NO)))
            frame["flagged"] = np.where(flagged.isin(_YES), "yes", "no")
            blocks.append(frame)
        if blocks:
            parts.append(pd.concat(blocks, ignore_index=True))
    if not parts or not sum(map(len, parts)):
        raise UsageError(f"{paths[0]}: there are no rows.")
    return parts
