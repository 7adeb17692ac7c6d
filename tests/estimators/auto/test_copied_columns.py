"""An exact copy of a column is left out with a warning, and the order of columns moves scores by rounding alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pucli import AutoPU
from pucli.estimators.auto.random_labeling import labeling_of
from pucli.solvers.ensemble.members import MEMBERS
from tests.solvers.ensemble.helpers import two_clouds

X, S, TRUTH = two_clouds(140, labeled=50)


@pytest.mark.slow  # two fits of the whole ensemble
def test_exact_copies_of_columns_change_no_bit() -> None:
    plain = AutoPU().fit(X, S)
    wide = np.hstack([X[:, :1], X])
    with pytest.warns(UserWarning, match=r"left out columns that are exact copies of others: 1 of 0\."):
        model = AutoPU().fit(wide, S)
    np.testing.assert_array_equal(model.held_out_, plain.held_out_)
    np.testing.assert_array_equal(model.decision_function(wide), plain.decision_function(X))
    assert model.n_features_in_ == X.shape[1] + 1 and model.estimates_ == plain.estimates_
    assert labeling_of(model, wide, S, 0).p_value == labeling_of(plain, X, S, 0).p_value


def test_copies_in_a_table_are_named_whatever_their_kind() -> None:
    frame = pd.DataFrame(X, columns=list("abcd")[: X.shape[1]]).assign(town=np.resize(["Ulm", "Bonn", "Pisa"], len(X)))
    few = MEMBERS[:2]
    plain = AutoPU(members=few).fit(frame, S)
    twice = frame.assign(a2=frame["a"], place=frame["town"])
    with pytest.warns(UserWarning, match="'a2' of 'a', 'place' of 'town'"):
        model = AutoPU(members=few).fit(twice, S)
    np.testing.assert_array_equal(model.held_out_, plain.held_out_)


def test_features_with_one_value_in_half_of_the_rows_are_kept_as_they_may_be_levels_or_words() -> None:
    word = np.where(np.arange(len(X)) % 3, 0.0, X[:, 0])
    twice = np.column_stack([X, TRUTH, ~TRUTH, TRUTH, word, word]).astype(float)
    assert len(AutoPU(members=MEMBERS[:1]).fit(twice, S)._columns) == X.shape[1] + 5


@pytest.mark.slow  # two fits of the whole ensemble
def test_the_order_of_columns_changes_nothing_beyond_rounding() -> None:
    plain, turned = AutoPU().fit(X, S), AutoPU().fit(X[:, ::-1], S)
    np.testing.assert_allclose(turned.held_out_, plain.held_out_, rtol=0, atol=1e-9)
