"""The encoder of tables with columns of every kind into a numeric feature matrix, and back from features to cells.

Unlike a ColumnTransformer, which can only be pickled, its fitted state is plain data. A model file therefore runs no
code when it is opened and does not depend on the version of scikit-learn. Where the two overlap, they agree to the last
bit (see the tests).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pucli.core.arrays import Floats
from pucli.core.saved_state import Array, Each, Flag, Nested, Optional, Parts, State, StateError, Unsaved
from pucli.data.columns.cells import ColumnCells, TableColumns, TableError, as_frame, missing_columns, shortest
from pucli.data.columns.drift import DriftCounter, ReferenceShares
from pucli.data.columns.encoders import (
    EMPTY,
    OTHER,
    Category,
    ColumnEncoder,
    Date,
    Number,
    Text,
    Unused,
    YesNo,
    encoder_of_state,
    encoder_state,
    fit_column,
)
from pucli.data.columns.kinds import Column, column_kinds
from pucli.data.table_libraries import is_table

SHOWN = 3  # columns that a warning names
# Options of commands in messages, and what stands for them in Python.
FOR_PYTHON = {
    "--as COLUMN=": "kinds: COLUMN=",
    "--decimal ": "decimal=",
    "--missing ": "na_values of pandas ",
    " (--drop)": "",
    " (--drop or --id)": "",
}


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode columns of numbers, categories, yes/no, dates and text as features.

    Numbers are unchanged. Each frequent value of a category has a 0/1 feature. Dates become days and the sine and
    cosine of month, weekday and hour. Text becomes the tf-idf of its frequent words. An empty cell is filled (with the
    median of a number) and marked by an indicator feature. Identifiers and constants are left out.

    Everything is learned from the rows given to `fit`; labels are never used. In new rows, columns are found by name,
    so they may be in another order, among other columns, and of other types. Values not seen in training are counted
    and reported in one warning. To combine the encoder with a method::

        make_pipeline(TableEncoder(), StandardScaler(), GLPUAL())

    Parameters
    ----------
    kinds : dict of column name to kind, default=None
        Kinds that override the inferred ones: "number", "category", "yes/no", "date", "text", "identifier" or
        "constant"; "date:%d/%m/%Y" names the format of the dates as well.
    max_categories : int, default=40
        Number of values of a category with their own feature; the rarer values share one.
    max_words : int, default=100
        Number of words of a text column with their own feature.
    decimal : str, default=""
        Decimal sign of numbers in text columns, "." or ","; "" infers it from each column.

    Attributes
    ----------
    columns_ : list of Column
        Description of each column, with remarks and warnings. Not kept in a model file.
    encoders_ : list of ColumnEncoder
        Encoder of each column.
    n_features_in_ : int
    feature_names_in_ : (n_features_in_,) array of object
        Names of the columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from pucli.data import TableEncoder
    >>> table = pd.DataFrame({"age": [31, None, 52], "job": ["cook", "nurse", "cook"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age is empty', 'job=nurse']
    """

    saved_state: ClassVar[State] = {
        "encoders_": Each(Nested()),
        "sparse_": Flag(),
        "usual_": Optional(Parts(*[Array("features", "points", finite=False)] * 3)),
        "columns_": Unsaved(),
        "origin": Unsaved(),
    }
    # The model file from which the encoder was loaded, for the error about a missing column.
    origin: str = ""

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        *,
        max_categories: int = 40,
        max_words: int = 100,
        decimal: str = "",
    ) -> None:
        self.kinds = kinds
        self.decimal = decimal
        self.max_categories = max_categories
        self.max_words = max_words

    def _check_saved(self, where: str, sizes: Mapping[str, int]) -> None:
        """Raise StateError unless the parts fit together."""
        names = list(getattr(self, "feature_names_in_", ()))
        if not names or not (self.sparse_ or names == [encoder.name for encoder in self.encoders_]):
            raise StateError(f"{where}.feature_names_in_ does not name the columns of the encoders")
        if sizes.get("features", len(self.get_feature_names_out())) != len(self.get_feature_names_out()):
            raise StateError(f"{where}.usual_ is not that of the features")
        for encoder in self.encoders_:
            if isinstance(encoder, Text) and len(encoder.words) != len(encoder.weights):
                raise StateError(f"{where} has not one weight for each word of {encoder.name!r}")

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Fit the encoding to training rows.

        Parameters
        ----------
        X : table (n, m)
            A pandas, polars or Arrow table, an array, or a sparse matrix, which is left unchanged.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        TableError
            There are no rows, or no column has features.

        Warns
        -----
        UserWarning
            A column is left out, or may be read otherwise than it is meant.
        """
        self.learn(X)
        told = [f"column {column.name!r} {column.warning}" for column in self.columns_ if column.warning]
        if told:
            more = f"; and {len(told) - SHOWN} more, see columns_" if len(told) > SHOWN else ""
            text = "; ".join(told[:SHOWN]) + more
            warnings.warn(for_python(text), stacklevel=2)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit the encoding and encode the same rows, which are read once, as a stream of batches must be."""
        X = as_frame(X) if is_table(X) else X
        tally = DriftCounter(training=True)
        Z = self.fit(X, y).transform(X, tally)
        _tell(tally)
        return Z

    def learn(self, X: Any) -> TableEncoder:
        """Fit the encoding as `fit` does, with the warnings in `columns_` alone."""
        if scipy.sparse.issparse(X):
            self._keep_sparse([f"x{i}" for i in range(X.shape[1])])
            return self
        columns = X if isinstance(X, TableColumns) else TableColumns(as_frame(X))
        frame = columns.frame
        if len(frame) == 0:
            raise TableError("Found array with 0 sample(s): there are no rows to learn the columns from")
        if frame.shape[1] == 0:
            raise TableError(f"Found array with 0 feature(s) (shape={frame.shape}) while a minimum of 1 is required.")
        self.columns_: list[Column] = column_kinds(columns, self.kinds, self.decimal)
        limits = {"max_categories": self.max_categories, "max_words": self.max_words}
        self.encoders_: list[ColumnEncoder] = [
            fit_column(columns[column.name], column, **limits) for column in self.columns_
        ]
        self.sparse_ = False
        self.n_features_in_ = frame.shape[1]
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        return self

    def transform(self, X: Any, tally: DriftCounter | None = None) -> Any:
        """Encode rows.

        Parameters
        ----------
        X : table (n, m), as for `fit`
            TableColumns are found by name, or by position in an array. TableColumns unknown to `fit` are ignored.
        tally : DriftCounter, optional
            Counter of cells not seen in training; without it, they are reported in a warning.

        Returns
        -------
        Z : (n, k) float64 array, or the sparse matrix X

        Raises
        ------
        TableError
            A training column is missing, or a number is infinite.
        """
        check_is_fitted(self, "encoders_")
        if self.sparse_ or scipy.sparse.issparse(X):
            return self._same_sparse(X)
        columns = self._found(X)
        frame = columns.frame
        counted = DriftCounter() if tally is None else tally
        Z = np.empty((len(frame), sum(len(encoder.features) for encoder in self.encoders_)))
        start = 0
        for encoder in self.encoders_:
            stop = start + len(encoder.features)
            if stop > start or encoder.name in frame.columns:
                encoder.encode(columns[encoder.name], Z[:, start:stop], counted)
            start = stop
        usual = getattr(self, "usual_", None)
        if usual is not None:
            named = [(encoder.name, feature) for encoder in self.encoders_ for feature in encoder.features]
            counted.add_usual(named, Z, ReferenceShares(*usual))
        if tally is None:
            _tell(counted)
        return Z

    def remember(self, Z: Any, unlabeled: np.ndarray) -> None:
        """Remember how the features of the training rows are distributed; `transform` reports rows unlike them.

        Parameters
        ----------
        Z : array of shape (n, k)
            Encoded training rows.
        unlabeled : array of bool, shape (n,)
            Those that are not labeled positives.
        """
        self.usual_: tuple[np.ndarray, ...] | None = None if self.sparse_ else tuple(ReferenceShares.of(Z, unlabeled))

    def _same_sparse(self, X: Any) -> Any:
        if not (self.sparse_ and scipy.sparse.issparse(X)):
            raise TableError("fit and transform must both be given a sparse matrix or both a table")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(self._other_width(X.shape[1]))
        return X

    def _found(self, X: Any) -> TableColumns:
        """Return the columns of X that are known from `fit`."""
        if not isinstance(X, TableColumns) and not is_table(X):
            frame = as_frame(X)
            if frame.shape[1] != self.n_features_in_:
                raise ValueError(self._other_width(frame.shape[1]))
            return TableColumns(frame.set_axis(list(self.feature_names_in_), axis=1))
        columns = X if isinstance(X, TableColumns) else TableColumns(as_frame(X))
        there = columns.frame.columns
        missing = [name for name in self.needed if name not in there]
        if missing:
            raise TableError(missing_columns(missing, list(there), self.needed) + self.origin)
        return columns

    def _other_width(self, width: int) -> str:
        kind = type(self).__name__
        return f"X has {width} features, but {kind} is expecting {self.n_features_in_} features as input"

    @property
    def needed(self) -> list[str]:
        """Return the names of the columns with features; new rows need no other columns."""
        return [encoder.name for encoder in self.encoders_ if not isinstance(encoder, Unused)]

    @property
    def empty_in_training(self) -> set[str]:
        """Return the names of the columns of which every training cell was empty; new rows may hold something there."""
        return {one.name for one in self.encoders_ if isinstance(one, Unused) and one.kind == EMPTY}

    @property
    def read_as_text(self) -> list[str]:
        """Return the names of the columns whose cells should be read as text ("007" is not 7)."""
        return [encoder.name for encoder in self.encoders_ if encoder.reads_text]

    @property
    def formed(self) -> tuple[str, ...]:
        """Return the names of the columns of numbers in a form of their own: in text files, 1.234 may be 1234."""
        return tuple(one.name for one in self.encoders_ if isinstance(one, Number) and one.decimal)

    def written_with(self, decimal: str) -> TableEncoder:
        """Return the encoder for new rows whose text cells have this decimal sign; "" is that of the training rows."""
        if not decimal or self.sparse_:
            return self
        other = copy.copy(self)
        other.origin = self.origin
        other.encoders_ = [
            replace(encoder, decimal=decimal) if isinstance(encoder, Number) else encoder for encoder in self.encoders_
        ]
        return other

    @property
    def is_plain(self) -> bool:
        """Return whether every feature is an unchanged numeric column, so that `transform` only copies."""
        return all(type(encoder).__name__ == "Number" and len(encoder.features) == 1 for encoder in self.encoders_)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the k features, shape (k,)."""
        check_is_fitted(self, "encoders_")
        if self.sparse_:
            return self.feature_names_in_
        return np.array([name for encoder in self.encoders_ for name in encoder.features], dtype=object)

    @classmethod
    def of_sparse(cls, names: Sequence[str]) -> TableEncoder:
        """Return an encoder that leaves sparse rows with these features unchanged."""
        encoder = cls()
        encoder._keep_sparse(names)
        return encoder

    def _keep_sparse(self, names: Sequence[str]) -> None:
        self.columns_, self.encoders_, self.sparse_ = [], [], True
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)

    @classmethod
    def of_numbers(cls, names: Sequence[str]) -> TableEncoder:
        """Return the encoder of a numeric table without empty cells, for models saved without an encoder."""
        encoder = cls()
        encoder.columns_, encoder.sparse_ = [], False
        encoder.encoders_ = [Number(name, "number", fill=float("nan"), indicator=False) for name in names]
        encoder.n_features_in_ = len(names)
        encoder.feature_names_in_ = np.array(names, dtype=object)
        return encoder

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that is kept in a model file, which consists of JSON values and arrays."""
        state = dict(super().__getstate__())
        for name in ("columns_", "origin"):
            state.pop(name, None)
        if "encoders_" in state:
            state["encoders_"] = [encoder_state(encoder) for encoder in state["encoders_"]]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state returned by `__getstate__`."""
        state = {name: value for name, value in state.items() if name not in ("columns_", "origin")}
        if "encoders_" in state:
            state["encoders_"] = [encoder_of_state(item) for item in state["encoders_"]]
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags


def for_python(text: str) -> str:
    """Return a message that names options of commands with the parameters of `TableEncoder` and pandas in their place.

    Examples
    --------
    >>> for_python("leave the column out (--drop), or --as COLUMN=category")
    'leave the column out, or kinds: COLUMN=category'
    """
    for option, parameter in FOR_PYTHON.items():
        text = text.replace(option, parameter)
    return text


def _tell(tally: DriftCounter) -> None:
    """Warn about unusual cells."""
    if lines := tally.lines():
        warnings.warn(for_python("; ".join(lines)), stacklevel=3)


WORDS = 3
# Typical values of a category; the others are rarer.
LONGEST = 30


def spans(encoder: TableEncoder) -> Iterator[tuple[ColumnEncoder, slice]]:
    """Yield each column of a table that has features, and where these are."""
    start = 0
    for column in encoder.encoders_:
        stop = start + len(column.features)
        if stop > start:
            yield column, slice(start, stop)
        start = stop


def cell(column: ColumnEncoder, features: Floats) -> str:
    """Return the cell that has these features (k,) of one row.

    Examples
    --------
    >>> import pandas as pd
    >>> from pucli.data import TableEncoder
    >>> encoder = TableEncoder().fit(pd.DataFrame({"job": ["cook", "nurse", "cook", "nurse"]}))
    >>> [cell(column, encoder.transform([["nurse"]])[0][place]) for column, place in spans(encoder)]
    ['nurse']
    """
    if getattr(column, "indicator", False) and features[-1] > 0.5:
        return EMPTY
    match column:
        case Number():
            text = shortest(float(features[0]))
        case YesNo():
            text = column.yes if features[0] > 0.5 else column.no or EMPTY
        case Category():
            named = [*column.values, *[OTHER] * (column.others > 0)]
            found = features[: len(named)]
            text = named[int(np.argmax(found))] if len(named) and found.max() > 0.5 else OTHER
        case Date():
            text = day(float(features[0]))
        case Text():
            weights = features[: len(column.words)]
            words = [column.words[j] for j in np.argsort(-weights, kind="stable")[:WORDS] if weights[j] > 0.0]
            text = ", ".join(words) or "no frequent word"
        case _:
            text = ""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def usual_cell(column: ColumnEncoder, place: slice, usual: ReferenceShares) -> Floats:
    """Return the features (k,) of the usual cell of a column: the median, or the most frequent value."""
    features: Floats = np.zeros(len(column.features))
    middle = usual.points[place, usual.points.shape[1] // 2]
    match column:
        case Date():
            features = features_of_days(column, middle[:1])[0]
        case Category():
            features[np.argmax(_shares(place, usual))] = 1.0
        case Number() | YesNo():
            features[0] = middle[0]
        case _:  # the words of a text
            features[:] = middle
    return features


def features_of_days(column: Date, days: Floats) -> Floats:
    """Return the features of dates, (n, k), from days since 1970-01-01."""
    import pandas as pd

    out = np.zeros((len(days), len(column.features)))
    column.encode(ColumnCells(pd.Series(np.round(days * 86_400).astype("datetime64[s]"))), out, DriftCounter())
    return out


def day(days: float, form: str = "") -> str:
    """Return the date of days since 1970-01-01, in the `form` of strftime; by default with the time if not midnight.

    Examples
    --------
    >>> day(20_000.0), day(20_000.5), day(20_000.0, "%Y-%m")
    ('2024-10-04', '2024-10-04 12:00', '2024-10')
    """
    try:
        when = datetime.fromtimestamp(round(days * 86_400), UTC)
    except (OverflowError, OSError, ValueError):
        return shortest(days)
    return when.strftime(form or ("%Y-%m-%d" if (when.hour, when.minute) == (0, 0) else "%Y-%m-%d %H:%M"))


def _shares(place: slice, usual: ReferenceShares) -> Floats:
    """Return the share of the unlabeled training rows in which each 0/1 feature is 1."""
    zero = usual.points[place] < 0.5
    ones: Floats = 1.0 - np.where(zero, usual.shares[place], 0.0).max(axis=1)
    return ones
