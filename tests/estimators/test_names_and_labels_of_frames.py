"""Frames whose columns have no text for a name, and labels that have no order."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from pucli.estimators import BLSSVM, CPLS, Classtering

RNG = np.random.default_rng(0)
Y = (np.arange(60) < 15).astype(int)
X = RNG.normal(size=(60, 3)) + 2.0 * (np.arange(60) < 30)[:, None] * np.array([1.0, 0.0, -1.0])


@pytest.mark.parametrize(
    "names", [pd.MultiIndex.from_product([["g"], ["a", "b", "c"]]), [7, 8, 9], [0, "b", 2.5], [2, 0, 1]]
)
def test_columns_in_another_order_are_not_taken_by_position(names: object) -> None:
    frame = pd.DataFrame(X).set_axis(names, axis=1)
    model = BLSSVM().fit(frame, Y)
    assert (model.predict(frame) == BLSSVM().fit(X, Y).predict(X)).all()
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame.iloc[:, [1, 0, 2]])


def test_numbered_columns_in_another_order_are_refused() -> None:
    frame = pd.DataFrame(X)
    model = BLSSVM().fit(frame, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (model.predict(X) == model.predict(frame)).all()
    with pytest.raises(
        ValueError, match="the columns are numbered 2, 0, 1, and the model was fitted to columns without"
    ):
        model.predict(frame[[2, 0, 1]])
    assert (model.fit(frame[[2, 0, 1]], Y).predict(frame[[2, 0, 1]]) == BLSSVM().fit(X, Y).predict(X)).all()


def test_one_column_alone_and_no_column_are_named() -> None:
    with pytest.raises(ValueError, match="2-dimensional"):
        BLSSVM().fit(pd.Series(X[:, 0]), Y)
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        BLSSVM().fit(pd.DataFrame(index=range(60)), Y)


def test_labels_without_a_greater_one_are_refused() -> None:
    days = np.where(Y, np.datetime64("2024-01-01"), np.datetime64("2025-01-01"))
    with pytest.raises(ValueError, match="set pos_label"):
        BLSSVM().fit(X, days)
    mixed = np.array([1 if one else "u" for one in Y], dtype=object)
    with pytest.raises(ValueError, match="both words and numbers as labels, such as 'u' and 1"):
        BLSSVM().fit(X, mixed)


@pytest.mark.parametrize("kind", [CPLS, Classtering])
@pytest.mark.parametrize("missing", ["float", "Int64", "words"])
def test_missing_labels_say_how_to_mark_unlabeled_rows(kind: type, missing: str) -> None:
    y = pd.Series(np.where(np.arange(60) % 3, None, Y))
    labels = {"float": y.astype(float), "Int64": y.astype("Int64"), "words": y.map({0: "no", 1: "yes"})}[missing]
    with pytest.raises(ValueError, match=r"40 labels are missing, the first in row 1\. Mark unlabeled rows by -1"):
        kind().fit(X, labels)


@pytest.mark.parametrize("kind", [CPLS, Classtering])
def test_words_among_numbers_are_no_classes(kind: type) -> None:
    with pytest.raises(ValueError, match=r"words and numbers as labels, such as '1' and 0\. Give all classes as words"):
        kind().fit(X, np.array([-1 if row % 2 else "1" if row % 3 else 0 for row in range(60)], dtype=object))
    words = np.array([-1 if row % 2 else "yes" if row % 3 else "no" for row in range(60)], dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert kind().fit(X, words).classes_.tolist() == ["no", "yes"]
