"""Detection of columns that may leak the label. A warning names them; they are used all the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.data.columns.cells import ColumnCells, TableColumns
from pucli.data.columns.kinds import Column

if TYPE_CHECKING:
    import pandas as pd

TELLING = 0.995  # minimum area under the ROC curve for a single column to be a suspected label leak
TELLING_SHARE = 0.8  # minimum difference of two shares (filled cells, cells with a word) for a suspected label leak
MOST_WORDS = 2000  # maximum number of words of a text column that are looked at
JUDGED = 20_000  # maximum number of labeled and of other rows used to look for label leaks


# A value that at least a share LEAST_SHARE of the labeled rows has is suspected if no other row has it, although SURE
# of them would have it if a share HIDDEN of them were like the labeled ones.
LEAST_SHARE, HIDDEN, SURE = 0.2, 0.05, 5.0


def leak_warnings(
    table: pd.DataFrame | TableColumns, labeled: np.ndarray, columns: Sequence[Column], hidden: bool = False
) -> tuple[str, ...]:
    """Return a warning for each column of training rows that probably leaks the label."""
    return tuple(f"column {name!r} {text}" for name, text in leaks(table, labeled, columns, hidden).items())


def leaks(
    table: pd.DataFrame | TableColumns, labeled: np.ndarray, columns: Sequence[Column], hidden: bool = False
) -> dict[str, str]:
    """Find columns that probably leak the label."""
    labeled = np.asarray(labeled, dtype=bool)
    if not 10 <= labeled.sum() <= len(labeled) - 10:
        return {}
    rows = _sample(labeled)
    if len(rows) < len(labeled):
        frame = table.frame if isinstance(table, TableColumns) else table
        table, labeled = frame.iloc[rows], labeled[rows]
    cells_of = table if isinstance(table, TableColumns) else TableColumns(table)
    found = {
        column.name: _leak(cells_of[column.name], column, labeled, hidden)
        for column in columns
        if column.kind not in {"constant", "identifier"}
    }
    return {name: f"{text} it may leak the label (--drop)" for name, text in found.items() if text}


def _leak(cells: ColumnCells, column: Column, labeled: np.ndarray, hidden: bool) -> str:
    """Return how a column tells the labeled rows from the others; "" if it does not."""
    if column.n_empty:
        filled = ~_empty(cells, column)
        shares = filled[labeled].mean(), filled[~labeled].mean()
        one_sided = _one_sided(filled, labeled) or _one_sided(~filled, labeled)
        if abs(shares[0] - shares[1]) >= TELLING_SHARE or one_sided:
            return (
                f"is filled for {100 * shares[0]:.0f} % of the labeled and {100 * shares[1]:.0f} % of the other rows:"
            )
    if column.kind == "text":
        word = _revealing_word(cells, labeled)
        if word:
            return f"has the word {word!r} where rows are labeled:"
    ranks = None
    if column.kind in {"category", "yes/no"}:
        value, *percent = _revealing_value(cells, labeled)
        if value:
            return f"is {value!r} in {percent[0]} % of the labeled and {percent[1]} % of the other rows:"
        ranks = _rates(cells, labeled)
    if column.kind != "text" and _separates(cells, column, labeled, ranks):
        return "separates the labeled rows from the others by itself:"
    own = _labeled_only(cells, column, labeled) if hidden else ""
    return own and (
        f"{own} of the labeled and in none of the {np.count_nonzero(~labeled)} other rows: nearly no positives are "
        "hidden among these, or"
    )


def _separates(
    cells: ColumnCells, column: Column, labeled: np.ndarray, ranks: tuple[np.ndarray, np.ndarray] | None
) -> bool:
    """Return whether a column alone ranks nearly all labeled rows on one side; `ranks` of categories, or None."""
    if ranks is None:
        values, judged = _ordered(cells, column), np.ones(len(labeled), dtype=bool)
    else:
        values, judged = ranks
    present = judged & ~np.isnan(values)
    return bool(present[labeled].sum() >= 10 and _reveals_label(values[present], labeled[present]))


def _labeled_only(cells: ColumnCells, column: Column, labeled: np.ndarray) -> str:
    """Return a value, a word or a range that many labeled rows have and no other row, as a text; "" if none."""
    if column.kind == "text":
        texts, there = _words(cells)
        in_rows = [np.asarray(there[kind].sum(axis=0)).ravel() for kind in (labeled, ~labeled)]
        named = [f"has the word {text!r} in" for text in texts]
    elif column.kind in {"category", "yes/no"}:
        codes, texts = cells.coded
        in_rows = [np.bincount(codes[kind & (codes >= 0)], minlength=len(texts)) for kind in (labeled, ~labeled)]
        named = [f"is {text!r} in" for text in texts]
    else:
        values = _ordered(cells, column)
        others = values[~labeled & ~np.isnan(values)]
        if not len(others):
            return ""
        own = values[labeled]
        in_rows = [np.array([np.sum(own > others.max()), np.sum(own < others.min())]), np.zeros(2)]
        named = ["is greater than elsewhere in", "is smaller than elsewhere in"]
    if not named:
        return ""
    share = in_rows[0] / labeled.sum()
    enough = (in_rows[0] >= 10) & (share >= LEAST_SHARE) & (HIDDEN * np.sum(~labeled) * share >= SURE)
    best = int(np.argmax(share * (enough & (in_rows[1] == 0))))
    return f"{named[best]} {100 * share[best]:.0f} %" if enough[best] and in_rows[1][best] == 0 else ""


def _words(cells: ColumnCells) -> tuple[list[str], Any]:
    """Return the frequent words of texts, and which text has which as a sparse matrix."""
    from sklearn.feature_extraction.text import CountVectorizer

    words = CountVectorizer(binary=True, max_features=MOST_WORDS)
    try:
        there = words.fit_transform(cells.series.fillna("").astype(str))
    except ValueError:  # no words
        return [], np.zeros((len(cells.series), 0))
    return [str(word) for word in words.get_feature_names_out()], there


def _revealing_word(cells: ColumnCells, labeled: np.ndarray) -> str:
    """Return a word that nearly all rows of one kind have and nearly none of the other, or ""."""
    words, there = _words(cells)
    if not words:
        return ""
    shares = [np.asarray(there[kind].mean(axis=0)).ravel() for kind in (labeled, ~labeled)]
    difference = np.abs(shares[0] - shares[1])
    best = int(difference.argmax())
    return words[best] if difference[best] >= TELLING_SHARE else ""


def _revealing_value(cells: ColumnCells, labeled: np.ndarray) -> tuple[str, int, int]:
    """Return a value that one kind of rows has and the other has not, and its percentages in both; "" if none."""
    codes, texts = cells.coded
    counts = [np.bincount(codes[kind & (codes >= 0)], minlength=len(texts)) for kind in (labeled, ~labeled)]
    shares = [count / max(kind.sum(), 1) for count, kind in zip(counts, (labeled, ~labeled), strict=True)]
    difference = np.abs(shares[0] - shares[1])
    if not len(texts) or difference.max() < TELLING_SHARE:
        return "", 0, 0
    best = int(difference.argmax())
    return texts[best], round(100 * shares[0][best]), round(100 * shares[1][best])


def _sample(labeled: np.ndarray) -> np.ndarray:
    """Return the numbers of at most `JUDGED` labeled and `JUDGED` other rows, drawn with a fixed seed."""
    random = np.random.default_rng(0)
    sides = [np.flatnonzero(labeled), np.flatnonzero(~labeled)]
    drawn = [random.choice(side, JUDGED, replace=False) if len(side) > JUDGED else side for side in sides]
    return np.sort(np.concatenate(drawn))


def _empty(cells: ColumnCells, column: Column) -> np.ndarray:
    return np.isnan(_ordered(cells, column)) if column.kind in {"number", "date"} else cells.coded[0] < 0


def _ordered(cells: ColumnCells, column: Column) -> np.ndarray:
    return cells.days(column.written)[0] if column.kind == "date" else cells.numbers[0]


def _rates(cells: ColumnCells, labeled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of labeled rows for each cell's value, computed on half of the rows, and the other half."""
    codes, texts = cells.coded
    codes = np.where(codes < 0, len(texts), codes)
    learn = np.random.default_rng(0).random(len(codes)) < 0.5
    total = np.bincount(codes[learn], minlength=len(texts) + 1)
    positive = np.bincount(codes[learn & labeled], minlength=len(texts) + 1)
    base = labeled[learn].mean() if learn.any() else 0.0
    return ((positive + base) / (total + 1.0))[codes], ~learn


def _one_sided(filled: np.ndarray, labeled: np.ndarray) -> bool:
    """Return whether at least ten cells are filled and all belong to labeled rows, which are the minority."""
    return bool(filled.sum() >= 10 and labeled[filled].all() and labeled.mean() < 0.5)


def _reveals_label(values: np.ndarray, labeled: np.ndarray) -> bool:
    own, others = values[labeled], np.sort(values[~labeled])
    if not len(own) or not len(others):
        return False
    twice = others.searchsorted(own).sum() + others.searchsorted(own, side="right").sum()
    area = twice / (2.0 * len(own) * len(others))
    return bool(max(area, 1 - area) >= TELLING)
