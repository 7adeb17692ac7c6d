"""What the estimators say: of empty cells what to do, of a degenerate model its shares."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from pucli import BLSSVM, CPBGLPUAL, CPLS, DRESS, EKFGLPUAL, GLPUAL, USMO, AutoPU, ElasticGLPUAL, NaiveSVC, RampPU
from pucli.core.errors import DegenerateModelWarning, UsageError
from pucli.data import TableEncoder
from pucli.data.features import Standardizer
from pucli.estimators.base.pu import degeneracy
from pucli.estimators.semi_supervised.label_spreading import LabelSpreading
from pucli.estimators.semi_supervised.laplacian_svm import LaplacianSVM
from pucli.estimators.semi_supervised.low_density import LowDensitySeparation
from pucli.solvers.ensemble.members import MEMBERS

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
    assert len(make_pipeline(TableEncoder(), Standardizer(), kind()).fit(HOLED, y).predict(HOLED)) == 40


@pytest.mark.parametrize("kind", [LaplacianSVM, LowDensitySeparation])
def test_features_of_very_different_size_are_named_where_distances_are_taken(kind, recwarn):
    y = np.r_[np.ones(10), np.full(10, 2), np.full(20, -1)].astype(int)
    kind().fit(X, y)
    assert not [one for one in recwarn if "varies" in str(one.message)]
    with pytest.warns(UserWarning, match=r"varies [\de+]+ times as much.*scale the features"):
        kind().fit(X * [1.0, 1e7], y)


def test_shares_of_a_degenerate_model_are_plain_numbers():
    assert "0 % of the unlabeled and 100 % of the labeled" in degeneracy(0.0, 1.0)
    assert "give the class prior" in degeneracy(0.0, 0.0)
    known = degeneracy(0.0, 0.0, prior_given=True)
    assert "give the class prior" not in known and "The class prior was given" in known


KINDS = [USMO, RampPU, NaiveSVC, CPBGLPUAL, ElasticGLPUAL, EKFGLPUAL, lambda: BLSSVM(kernel="rbf")]


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_and_penalties_of_pu_methods_name_features_of_very_different_size(kind):
    s = (np.arange(40) < 10).astype(int)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kind().fit(X, s)
        assert not [one for one in told if "varies" in str(one.message)]
        kind().fit(X * [1.0, 1e7], s)
    assert [one.filename for one in told if "scale the features" in str(one.message)] == [__file__]


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        (CPLS, np.ones((40, 2))),
        (DRESS, X * 1e-8),
        (LaplacianSVM, np.ones((40, 2))),
        (LowDensitySeparation, np.ones((40, 2))),
        (LabelSpreading, np.ones((40, 2))),
    ],
)
def test_a_semi_supervised_model_that_predicts_one_class_says_so(kind, rows, recwarn):
    y = np.where(np.arange(40) < 20, np.arange(40) % 2, -1)
    kind().fit(X + 3.0 * (np.arange(40) % 2)[:, None], y)
    assert not [one for one in recwarn if "has not learned" in str(one.message)]
    with pytest.warns(DegenerateModelWarning, match=r"has not learned: it predicts \d for all labeled rows, of 2 cla"):
        kind().fit(pd.DataFrame(rows, columns=["a", "b"]), y)


def test_label_spreading_says_that_distances_far_from_zero_are_rounded():
    y = np.where(np.arange(40) < 20, np.arange(40) % 2, -1)
    with pytest.warns(UserWarning, match="subtract the means"):
        LabelSpreading().fit(X + 1e9, y)


@pytest.mark.parametrize("kind", [LaplacianSVM, LabelSpreading])
def test_a_model_does_not_change_with_the_rows_of_its_user(kind):
    rows, y = X.copy(), np.where(np.arange(40) < 20, np.arange(40) % 2, -1)
    model = kind().fit(rows, y)
    before = model.predict_proba(X) if kind is LabelSpreading else model.decision_function(X)
    rows[:] = 7.0
    after = model.predict_proba(X) if kind is LabelSpreading else model.decision_function(X)
    np.testing.assert_array_equal(after, before)


def test_warnings_of_columns_name_what_python_has_in_place_of_options(recwarn):
    s = (np.arange(40) < 10).astype(int)
    table = pd.DataFrame(X, columns=["a", "b"]).assign(c=np.where(np.arange(40) == 5, np.inf, X[:, 0]))
    table["day"] = 45000 + np.arange(40) % 30
    AutoPU(members=MEMBERS[:1]).fit(table.rename(columns={"day": "start date"}), s)
    with pytest.raises(UsageError, match="kinds: a=number:x: only dates"):
        TableEncoder({"a": "number:x"}).fit(table)
    told = " ".join(str(one.message) for one in recwarn)
    assert "kinds: COLUMN=date" in told and "na_values of pandas inf" in told and "--" not in told
