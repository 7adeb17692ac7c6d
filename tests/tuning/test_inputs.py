"""`tune` reads labels as the estimators do, and says which name it wants for an estimator."""

import numpy as np
import pandas as pd
import pytest

from pucli import GLPUAL, tune
from pucli.errors import UsageError

GRID = {"lam": [0.1, 10.0]}
X = np.vstack([np.random.default_rng(0).normal(1, 1, (40, 2)), np.random.default_rng(1).normal(-1, 1, (80, 2))])
S = np.arange(120) < 25


@pytest.mark.parametrize(
    ("yes", "no", "params"),
    [("yes", "unlabeled", {}), (2, 1, {}), (1, -1, {}), (True, False, {}), ("a", "b", {"pos_label": "a"})],
)
def test_labels_of_any_form_give_the_choice_of_one_and_zero(yes, no, params):
    plain, other = (tune("glpual", X, s, grid=GRID) for s in (S.astype(int), np.where(S, 1, 0)))
    labels = pd.Series([yes if s else no for s in S])
    found = tune("glpual", pd.DataFrame(X), labels, grid=GRID, params=params)
    assert found.score == plain.score == other.score
    assert found.params == {**params, **plain.params}
    assert GLPUAL(**found.params).fit(X, labels).classes_[1] == yes


def test_an_estimator_is_refused_with_the_name_to_give():
    with pytest.raises(UsageError, match=r"tune\('glpual', X, y\)"):
        tune(GLPUAL(), X, S)


@pytest.mark.parametrize("labels", [np.arange(120) % 3, np.full(120, "yes")])
def test_labels_that_are_not_two_are_refused(labels):
    with pytest.raises(UsageError, match="give two"):
        tune("glpual", X, labels, grid=GRID)
