"""A column that is the same in all rows changes nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pucli import AutoPU
from pucli.core.saved_state import StateError, check_state
from pucli.estimators.auto.random_labeling import labeling_of
from pucli.models.saved import SavedModel, load_model, make_pipeline, save_model
from pucli.solvers.ensemble.class_prior import hidden_share_of
from pucli.solvers.ensemble.members import MEMBERS
from tests.solvers.ensemble.helpers import two_clouds

# Columns 0, 2 and 6 are constant.
PLACES, VALUES = [0, 1, 4], [5.0, -0.1, 0.0]


def with_constants(X: np.ndarray) -> np.ndarray:
    return np.insert(X, PLACES, VALUES, axis=1)


@pytest.mark.slow  # fits of a small and of a middle table, which have other members each
@pytest.mark.parametrize("n", [140, 850])
def test_constant_columns_change_no_bit(n: int, tmp_path: Path) -> None:
    X, s, _ = two_clouds(n, labeled=50)
    wide = with_constants(X)
    plain, model = AutoPU().fit(X, s), AutoPU().fit(wide, s)
    assert model.n_features_in_ == 7
    np.testing.assert_array_equal(model.decision_function(wide), plain.decision_function(X))
    np.testing.assert_array_equal(model.held_out_, plain.held_out_)
    assert model.estimates_ == plain.estimates_ and model.leaderboard_ == plain.leaderboard_
    assert model.positive_share_ == plain.positive_share_
    other = wide + np.where(np.ptp(wide, axis=0) == 0.0, 3.0, 0.0)  # other cells where training had one value
    np.testing.assert_array_equal(model.predict(other), plain.predict(X))
    test, of_plain = labeling_of(model, wide, s, 0), labeling_of(plain, X, s, 0)
    assert (test.p_value, test.difference) == (of_plain.p_value, of_plain.difference)
    assert test.feature == [1, 3, 4, 5][of_plain.feature]
    save_model(tmp_path / "m", SavedModel(make_pipeline(model, standardize=False), "auto", list("abcdefg"), {}))
    loaded = load_model(tmp_path / "m").pipeline
    np.testing.assert_array_equal(loaded.decision_function(wide), plain.decision_function(X))


@pytest.mark.slow
def test_constant_columns_change_no_estimate_of_the_class_prior() -> None:
    X, s, _ = two_clouds(120, labeled=40)
    assert hidden_share_of(with_constants(X), s, 0) == hidden_share_of(X, s, 0)


def test_rows_without_any_column_that_varies_are_not_ranked() -> None:
    X, s = np.full((40, 3), 2.0), np.arange(40) < 12
    with pytest.warns(UserWarning):
        model = AutoPU(members=MEMBERS[:1]).fit(X, s)
    assert len(np.unique(model.decision_function(np.eye(3)))) == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_order_of_columns_that_are_not_there_is_no_model() -> None:
    X, s, _ = two_clouds(60, labeled=20)
    for columns in ([1, 3, 4, 7], [1, 3, 4, 4], [1, 3, 4]):
        model = AutoPU(members=MEMBERS[:1]).fit(with_constants(X), s)
        model.set_params(members=None)._columns = np.array(columns)
        with pytest.raises(StateError):
            check_state(model, "auto", {"m": 7})
    del model._columns
    with pytest.raises(StateError, match="4 features instead of 7"):
        check_state(model, "auto", {"m": 7})
