"""Fitting the encoder of one column on its training cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pucli.data.encode.column_encoders import EMPTY, Category, ColumnEncoder, Number, Unused, YesNo, formed
from pucli.data.encode.columns import yes_value
from pucli.data.encode.date_encoder import Date, date_parts
from pucli.data.encode.kinds.column import Column
from pucli.data.encode.text_encoder import Text
from pucli.data.frames import coded, dates, numbers, parsed_numbers, zoned
from pucli.data.labels import NO, YES

if TYPE_CHECKING:
    import pandas as pd


def fit_column(cells: pd.Series, column: Column, *, max_categories: int, max_words: int) -> ColumnEncoder:
    """Return the encoder of one column, fitted on its training cells.

    Parameters
    ----------
    cells : pandas.Series
        The cells of the training rows.
    column : Column
        Description of the column.
    max_categories : int
        Number of values of a category with their own feature: the most frequent ones, ties in alphabetical order.
    max_words : int
        Number of words of a text with a feature: the most frequent ones.
    """
    name, kind = column.name, column.kind
    if kind == "identifier":
        return Unused(name, kind)
    if kind == "constant":  # a constant number is kept: it is harmless, and a numeric file stays unchanged
        values = numbers(cells)[0]
        plain = len(values) > 0 and bool(np.isfinite(values).all())
        return (
            Number(name, kind, float(values[0]), indicator=False)
            if plain
            else Unused(name, kind if column.n_distinct else EMPTY)
        )
    if kind == "date":
        return _fit_date(cells, column)
    if kind == "number" or (kind == "yes/no" and not column.values):
        values = formed(cells, column.decimal, column.unit)[0]
        fill = _median(values) if kind == "number" else float(np.nanmean(values) > 0.5)
        return Number(name, kind, fill, bool(np.isnan(values).any()), *_ends(values), column.decimal, column.unit)
    codes, texts = coded(cells)
    if kind == "text":
        return _fit_text(column, codes, texts, max_words)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    if kind == "category":
        ranked = sorted(range(len(texts)), key=lambda i: (-counts[i], texts[i]))
        kept = _in_order([texts[i] for i in ranked[:max_categories]])
        return Category(name, kind, kept, len(texts) - len(kept), bool((codes < 0).any()))
    if len(texts) < 2:
        return YesNo(name, kind, texts[0] if texts else "yes", "", 0.0, indicator=False)
    if len(texts) > 2:
        return _fit_words(column, codes, texts)
    yes = yes_value(texts)
    no = texts[1 - texts.index(yes)]
    fill = float(counts[texts.index(yes)] > counts[texts.index(no)])
    return YesNo(name, kind, yes, no, fill, bool((codes < 0).any()))


def _fit_words(column: Column, codes: np.ndarray, texts: Sequence[str]) -> YesNo:
    """Return the encoder of several words for yes and no; each is named by the most frequent word."""
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    ranked = [texts[i] for i in np.argsort(-counts, kind="stable")]
    yes, no = (next(text for text in ranked if text.casefold() in words) for words in (YES, NO))
    positive = sum(int(n) for text, n in zip(texts, counts, strict=True) if text.casefold() in YES)
    fill = float(2 * positive > counts.sum())
    return YesNo(column.name, column.kind, yes, no, fill, bool((codes < 0).any()), any_word=True)


def _fit_date(cells: pd.Series, column: Column) -> Date:
    days, _ = dates(cells, column.written, column.serials)
    present = days[~np.isnan(days)]
    parts = [part for part, values in date_parts(present).items() if len(np.unique(values)) > 1]
    empty = len(present) < len(days)
    share = float(np.mean(zoned(cells)[~np.isnan(days)])) if len(present) else -1.0
    return Date(
        column.name,
        column.kind,
        column.written,
        parts,
        _median(days),
        empty,
        *_ends(days),
        zoned=share,
        serials=column.serials,
    )


def _ends(values: np.ndarray) -> tuple[float, float, int]:
    """Return the least and the largest of the finite values (n,), and their number; zeros if there are none."""
    filled = values[np.isfinite(values)]
    return (float(filled.min()), float(filled.max()), len(filled)) if len(filled) else (0.0, 0.0, 0)


def _fit_text(column: Column, codes: np.ndarray, texts: Sequence[str], max_words: int) -> ColumnEncoder:
    from sklearn.feature_extraction.text import TfidfVectorizer

    cells = [texts[code] for code in codes[codes >= 0].tolist()]
    for least in (2, 1):
        try:
            fitted = TfidfVectorizer(max_features=max_words, min_df=least).fit(cells)
        except ValueError:  # no word is frequent enough
            continue
        words = [str(word) for word in fitted.get_feature_names_out()]
        return Text(column.name, column.kind, words, fitted.idf_.tolist(), len(cells) < len(codes))
    return Unused(column.name, column.kind)


def _median(values: np.ndarray) -> float:
    present = values[np.isfinite(values)]
    return float(np.median(present)) if len(present) else 0.0


def _in_order(values: Sequence[str]) -> list[str]:
    """Return the values sorted as numbers if all are numbers, otherwise as text."""
    as_number = parsed_numbers(values)
    return sorted(values) if np.isnan(as_number).any() else [values[i] for i in np.argsort(as_number, kind="stable")]
