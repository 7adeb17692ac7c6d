"""Labels that say that nobody has labeled the row are no class, also for scikit-learn's method and for clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.semi_supervised

from pucli.estimators.semi_supervised.constrained_kmeans import ConstrainedKMeans
from pucli.estimators.semi_supervised.label_spreading import LabelSpreading

rng = np.random.default_rng(0)
Y = np.where(np.arange(40) % 4 < 2, -1, np.arange(40) % 2)
X = rng.normal(size=(40, 2)) + 2.0 * (np.arange(40) % 2)[:, None]
ESTIMATORS = [LabelSpreading, ConstrainedKMeans]


@pytest.mark.parametrize("words", [["no", "yes", "unlabeled"], ["no", "yes", "-1"]])
def test_words_for_unlabeled_rows_are_no_third_class(words: list[str]) -> None:
    model = LabelSpreading().fit(pd.DataFrame(X, columns=["a", "b"]), np.array(words)[Y])
    plain = sklearn.semi_supervised.LabelSpreading().fit(X, Y)
    assert model.classes_.tolist() == ["no", "yes"] and model.feature_names_in_.tolist() == ["a", "b"]
    assert (model.predict(pd.DataFrame(X, columns=["a", "b"])) == "yes").tolist() == (plain.predict(X) == 1).tolist()
    assert (model.transduction_ == "yes").tolist() == (plain.transduction_ == 1).tolist()
    free = [ConstrainedKMeans(random_state=0).fit(X, y).labels_.tolist() for y in (Y, np.array(words)[Y])]
    assert free[0] == free[1]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (np.where(Y == -1, None, Y), "Input y contains NaN: 20 labels are missing"),
        (np.where(Y == -1, np.nan, Y), "Input y contains NaN: 20 labels are missing"),
        (np.array(["a", "b", "unknown"])[Y], "row 0 has the label 'unknown'"),
        (np.array(["a", "b", ""])[Y], "row 0 has the label ''"),
        (Y[:30], "inconsistent numbers of samples"),
    ],
)
def test_labels_that_are_no_class_are_refused(estimator: Any, labels: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        estimator().fit(X, labels)


def test_label_spreading_needs_two_classes() -> None:
    with pytest.raises(ValueError, match="all 40 rows are unlabeled"):
        LabelSpreading().fit(X, np.full(40, -1))
    with pytest.raises(ValueError, match="only one class is present"):
        LabelSpreading().fit(X, np.where(Y == 1, 1, -1))


def test_rows_that_no_label_reaches_are_counted() -> None:
    model = LabelSpreading().fit(X, Y)
    with pytest.warns(UserWarning, match="2 of 40 rows are so far from all training rows"):
        found = model.predict_proba(np.vstack([X[:38], X[:2] + 1e3]))
    assert np.isnan(found[38:]).all() and np.isfinite(found[:38]).all()
    with pytest.raises(ValueError, match="row 0 and feature 0 whose square overflows"):
        model.predict_proba([[1e300, 0.0]])
