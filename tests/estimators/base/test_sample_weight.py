"""Weights of rows: an integer is the number of times that a row is there."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import has_fit_parameter

from pucli.estimators import BLSSVM, BSVM
from pucli.methods import METHODS, estimator_class
from tests.helpers import ROOT
from tests.oracles import clarabel, problem

FORMS = [BLSSVM(), BLSSVM(kernel="rbf", width=2.0), BSVM(tol=1e-9), BSVM(kernel="rbf", width=2.0, tol=1e-9)]


def rows(seed=0):
    X, y = problem(seed)
    return X, y, np.random.default_rng(seed).integers(0, 4, len(y))


@pytest.mark.parametrize("model", FORMS, ids=repr)
def test_integer_weights_are_repeated_rows(model):
    X, y, weights = rows()
    by_weight = model.fit(X, y, sample_weight=weights).decision_function(X)
    certificate = model.objective_, model.lam_, model.c_u_
    repeated = model.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).decision_function(X)
    assert np.allclose(by_weight, repeated, atol=1e-4)
    assert np.allclose(certificate, (model.objective_, model.lam_, model.c_u_), rtol=1e-8)


@pytest.mark.parametrize("model", FORMS, ids=repr)
def test_equal_weights_are_none(model):
    X, y, _ = rows()
    plain = model.fit(X, y).decision_function(X)
    assert np.allclose(model.fit(X, y, sample_weight=np.ones(len(y))).decision_function(X), plain, atol=1e-9)


@pytest.mark.parametrize("squares", [True, False])
def test_the_optimum_is_that_of_clarabel(squares):
    import cvxpy as cp

    X, y, _ = rows(3)
    weights = 10.0 ** np.random.default_rng(3).uniform(-2, 2, len(y))
    chosen = BLSSVM(lam=0.7, c_p=2.0, c_u=0.5) if squares else BSVM(lam=0.7, c_p=2.0, c_u=0.5, tol=1e-8)
    model = chosen.fit(X, y, sample_weight=weights)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    margin = 1.0 - cp.multiply(np.where(y == 1, 1.0, -1.0), X @ w + b)
    losses = cp.square(margin) if squares else cp.pos(margin)
    least = clarabel(0.35 * cp.sum_squares(w) + cp.sum(cp.multiply(weights * np.where(y == 1, 2.0, 0.5), losses)))
    assert model.objective_ - model.dual_gap_ - 1e-7 * least <= least <= model.objective_ + 1e-7 * least


def test_weights_that_are_none_are_refused():
    X, y, _ = rows()
    for wrong in (-np.ones(len(y)), np.full(len(y), np.nan), np.ones(3), np.where(y == 1, 0.0, 1.0)):
        with pytest.raises(ValueError):
            BLSSVM().fit(X, y, sample_weight=wrong)


def test_a_search_passes_weights_on():
    X, y, weights = rows()
    search = GridSearchCV(BLSSVM(), {"lam": [0.1, 10.0]}, scoring="roc_auc", cv=2)
    assert search.fit(X, y, sample_weight=weights + 1.0).best_params_["lam"] in (0.1, 10.0)


def test_which_methods_take_weights():
    taking = {name for name, method in METHODS.items() if has_fit_parameter(estimator_class(method), "sample_weight")}
    assert taking == {"bsvm", "blssvm"}
    reasons = (ROOT / "docs" / "how_to" / "python.md").read_text().split("for these reasons")[1]
    named = {word for part in re.findall(r"\*\*(.*?):", reasons, re.S) for word in re.findall(r"`([a-z-]+)`", part)}
    assert named and not taking & named and named <= set(METHODS)
