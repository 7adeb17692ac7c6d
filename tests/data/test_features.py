"""The standardizer: training rows alone decide, constants carry nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pucli.data.features import Standardizer, is_constant


@parametrize_with_checks([Standardizer()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_training_rows_get_mean_zero_and_deviation_one():
    X = np.random.default_rng(0).normal(5, 3, (50, 3))
    Z = Standardizer().fit_transform(X)
    assert Z.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert Z.std(axis=0) == pytest.approx(1)
    assert pytest.approx(StandardScaler().fit_transform(X)) == Z


def test_a_feature_constant_in_training_is_zero_everywhere():
    """0.1 + 0.2 is not exact in binary: its mean over 50 rows differs from it, its deviation is not zero."""
    train = np.random.default_rng(0).normal(size=(50, 3))
    train[:, 1] = 0.1 + 0.2
    scaler = Standardizer().fit(train)
    for values in (0.0, 3.0, -8.0):
        test = np.full((4, 3), values)
        assert not scaler.transform(test)[:, 1].any()
    assert not scaler.transform(train)[:, 1].any()
    assert np.count_nonzero(is_constant(train)) == 1
    empty = Standardizer().fit(csr_array([[3.0, 0.0], [4.0, 0.0]])).transform(csr_array([[5.0, 7.0]]))
    np.testing.assert_allclose(empty.toarray(), [[5.0 / np.sqrt(12.5), 0.0]])


@given(arrays(float, (6, 2), elements=st.floats(-1e6, 1e6)), arrays(float, (3, 2), elements=st.floats(-1e6, 1e6)))
@pytest.mark.slow
def test_rows_are_transformed_one_by_one(train, test):
    """A row's values do not depend on the rows that are transformed with it, and never on those seen after fitting."""
    scaler = Standardizer().fit(train)
    together = scaler.transform(test)
    alone = np.vstack([scaler.transform(row[None]) for row in test])
    assert np.array_equal(together, alone)


def test_missing_values_are_left_out_and_stay_missing():
    X = np.array([[1.0, 4.0, np.nan], [np.nan, 4.0, np.nan], [3.0, np.nan, np.nan]])
    scaler = Standardizer().fit(X)
    assert np.array_equal(scaler.transform(X), [[-1, 0, np.nan], [np.nan, 0, np.nan], [1, np.nan, np.nan]], True)
    assert np.array_equal(scaler.inverse_transform(scaler.transform(X)), X, equal_nan=True)


def test_inputs_are_not_changed():
    X = np.arange(12.0).reshape(4, 3)
    X.setflags(write=False)
    scaler = Standardizer().fit(X)
    assert scaler.transform(X) is not X
    with pytest.raises(ValueError, match="features"):
        scaler.transform(X[:, :2])
