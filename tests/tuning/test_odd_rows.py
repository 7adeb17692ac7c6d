"""`tune` and the estimate of the class prior name rows, labels and groups that they cannot take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from pucli import GLPUAL, AutoPU, tune
from pucli.core.errors import UsageError
from pucli.data.splits.groups import group_numbers
from pucli.solvers.prior.estimate import estimate_prior

RNG = np.random.default_rng(0)
S = (np.arange(90) % 3 == 0).astype(int)
X = RNG.normal(size=(90, 2)) + 2.0 * S[:, None]
HOLED = np.where(np.arange(180).reshape(90, 2) == 15, np.nan, X)
GRID: dict[str, Any] = {"lam": [0.1, 1.0]}


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (HOLED, S, "row 7, feature 1 is empty or infinite"),
        (np.ma.masked_array(X, mask=np.isnan(HOLED)), S, "row 7, feature 1 is empty or infinite"),
        (csr_array(np.where(np.isnan(HOLED), np.inf, HOLED)), S, "row 7, feature 1 is empty or infinite"),
        (X[:, 0], S, "have the shape"),
        (X, S[:-1], "89 labels for 90 rows"),
        (X, np.where(S == 1, 1, None), "60 labels are missing, the first in row 1"),
        (X, pd.Series(S, dtype="Int64").where(S == 1), "60 labels are missing, the first in row 1"),
        (pd.DataFrame({"a": X[:, 0], "town": "Ulm"}), S, "column 'town' holds 'Ulm'"),
    ],
)
def test_rows_and_labels_that_tune_refuses(rows: Any, labels: Any, message: str) -> None:
    with pytest.raises((UsageError, ValueError), match=message):
        tune("blssvm", rows, labels, grid=GRID)


def test_a_prior_is_not_estimated_from_holes() -> None:
    with pytest.raises(ValueError, match="row 7, feature 1 is empty or infinite"):
        estimate_prior(HOLED, S == 1)


@pytest.mark.slow
def test_a_missing_group_joins_nothing() -> None:
    given = np.arange(90) // 3
    for missing in (np.where(given == 4, np.nan, given), np.where(given == 4, None, given)):
        found = group_numbers(missing, 90)
        assert len(set(found.tolist())) == 32 and len(set(found[12:15].tolist())) == 3
        model = AutoPU().fit(X, S, groups=missing)
        assert model.prior_ == AutoPU().fit(X, S, groups=found).prior_
    assert group_numbers([3, 1, 3], 3).tolist() == [1, 0, 1]
    for wrong in (given[:10], np.column_stack([given, given])):
        with pytest.raises(ValueError, match=r"groups has the shape .*; give one group for each of the 90 rows"):
            AutoPU().fit(X, S, groups=wrong)


@pytest.mark.parametrize("width", [1e-300, 1e300])
def test_parameters_beyond_double_precision_are_named(width: float) -> None:
    with pytest.raises(ValueError, match="Choose a width"):
        GLPUAL(kernel="rbf", width=width).fit(X, S)
