"""PUF and PU-AUC as scorers of scikit-learn."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pucli.core.errors import UsageError
from pucli.estimators import BLSSVM
from pucli.metrics import pu_auc_scorer, pu_counts, puf, puf_scorer
from pucli.metrics.ranking import pu_auc


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    truth = np.arange(90) < 45
    X = rng.normal(size=(90, 2)) + truth[:, None]
    return X, np.where(np.arange(90) < 25, "yes", "unlabeled")


def test_the_scorers_are_the_metrics(rows):
    X, y = rows
    model = BLSSVM().fit(X, y)
    labelled = y == "yes"
    counts = pu_counts(labelled, model.predict(X), "yes")
    assert puf_scorer(model, X, y) == puf(counts, "unlabeled")
    assert partial(puf_scorer, denominator="all")(model, X, y) == puf(counts, "all")
    assert pu_auc_scorer(model, X, y) == pytest.approx(pu_auc(model.decision_function(X), labelled), abs=1e-12)


@pytest.mark.parametrize("scorer", [puf_scorer, pu_auc_scorer])
def test_a_grid_search_over_a_pipeline(rows, scorer):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), BLSSVM()),
        {"blssvm__c_u": [0.1, 0.5]},
        scoring=scorer,
        cv=3,
        error_score="raise",
    ).fit(*rows)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_rows_of_one_kind_have_no_score(rows):
    X, y = rows
    model = BLSSVM().fit(X, y)
    assert np.isnan(pu_auc_scorer(model, X[:5], y[:5])) and np.isnan(puf_scorer(model, X[-5:], y[-5:]))


def test_three_classes_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(UsageError, match="two classes"):
        puf_scorer(GaussianNB().fit(X, np.arange(30) % 3), X, np.arange(30) % 3)


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("scorer", [puf_scorer, pu_auc_scorer])
@pytest.mark.slow
def test_the_threshold_is_that_of_a_scorer_of_scikit_learn(rows, scorer, words):
    X, y = rows
    y = y if words else (y == "yes").astype(int)
    positive = "yes" if words else 1
    reference = make_scorer(
        (lambda true, found: puf(pu_counts(true == positive, found, positive), "unlabeled"))
        if scorer is puf_scorer
        else (lambda true, found: roc_auc_score(true == positive, found == positive))
    )
    cuts = [
        TunedThresholdClassifierCV(BLSSVM(), scoring=how, response_method="decision_function").fit(X, y).best_threshold_
        for how in (scorer, reference)
    ]
    assert cuts[0] == cuts[1]
