"""What the estimators say: of empty cells what to do, of a degenerate model its shares."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from pucli import GLPUAL
from pucli.data import TableEncoder
from pucli.data.encode.standardise import Standardiser
from pucli.estimators.base.pu import degeneracy
from pucli.estimators.semi_supervised.laplacian_svm import LaplacianSVM
from pucli.estimators.semi_supervised.low_density import LowDensitySeparation

X = np.random.default_rng(0).normal(size=(40, 2))
HOLED = np.where(X > 1, np.nan, X)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_labels_are_counted_and_the_remedy_works(missing):
    y = pd.Series(["yes"] * 10 + [missing] * 30, dtype=object)
    with pytest.raises(ValueError, match=r"y contains NaN: 30 labels are missing, the first in row 10.*astype"):
        GLPUAL().fit(X, y)
    assert GLPUAL().fit(X, (y == "yes").fillna(False).astype(int)).classes_.tolist() == [0, 1]


@pytest.mark.parametrize(("kind", "rest"), [(GLPUAL, 0), (LaplacianSVM, -1)])
def test_empty_cells_are_refused_and_the_remedy_works(kind, rest):
    y = np.r_[np.ones(10), np.full(10, 2 if rest else 0), np.full(20, rest)].astype(int)
    said = f"X contains NaN: {kind.__name__} takes no empty cells.*TableEncoder"
    with pytest.raises(ValueError, match=said):
        kind().fit(HOLED, y)
    with pytest.raises(ValueError, match=said):
        kind().fit(X, y).predict(HOLED)
    assert len(make_pipeline(TableEncoder(), Standardiser(), kind()).fit(HOLED, y).predict(HOLED)) == 40


@pytest.mark.parametrize("kind", [LaplacianSVM, LowDensitySeparation])
def test_features_of_very_different_size_are_named_where_distances_are_taken(kind, recwarn):
    y = np.r_[np.ones(10), np.full(10, 2), np.full(20, -1)].astype(int)
    kind().fit(X, y)
    assert not [one for one in recwarn if "varies" in str(one.message)]
    with pytest.warns(UserWarning, match=r"varies [\de+]+ times as much.*scale the features"):
        kind().fit(X * [1.0, 1e7], y)


def test_shares_of_a_degenerate_model_are_plain_numbers():
    assert "0 % of the unlabeled and 100 % of the labelled" in degeneracy(0.0, 1.0)
    assert "give the class prior" in degeneracy(0.0, 0.0)
    known = degeneracy(0.0, 0.0, prior_given=True)
    assert "give the class prior" not in known and "The class prior was given" in known
