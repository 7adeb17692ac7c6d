"""Parameters, rows, labels and classifiers that `CalibratedPU` takes, and those that it refuses."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pucli import BLSSVM, UPU
from pucli.data.features import Standardizer
from pucli.estimators.base.labels import without_negatives
from pucli.metrics import pu_auc_scorer
from pucli.models.calibrated import CalibratedPU

RNG = np.random.default_rng(0)
POSITIVE = np.arange(200) % 5 < 2
X = RNG.normal(size=(200, 3)) + 2.0 * POSITIVE[:, None] * np.array([1.0, 0.5, 0.0])
Y = (POSITIVE & (np.arange(200) % 10 < 5)).astype(int)


def probabilities(model: Any, rows: Any = X, y: Any = Y) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows, y).predict_proba(rows)


@pytest.mark.parametrize("prior", [0, 1, -0.1, 1.5, "0.3", float("nan"), True, [0.3]])
def test_a_prior_that_is_none_is_refused(prior: Any) -> None:
    with pytest.raises(ValueError, match="'prior' parameter"):
        CalibratedPU(BLSSVM(), prior=prior).fit(X, Y)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.float64])
def test_a_prior_of_any_type_of_number_is_used(kind: Any) -> None:
    expected = probabilities(CalibratedPU(BLSSVM(), prior=0.25))
    np.testing.assert_array_equal(probabilities(CalibratedPU(BLSSVM(), prior=kind(0.25))), expected)
    # also that of a classifier within the classifier
    inner = make_pipeline(StandardScaler(), make_pipeline(UPU(prior=kind(0.25), loss="squared")))
    assert CalibratedPU(inner).fit(X, Y).curve_.prior.value == 0.25


def test_seeds() -> None:
    expected = probabilities(CalibratedPU(BLSSVM()))
    np.testing.assert_array_equal(probabilities(CalibratedPU(BLSSVM(), random_state=np.int64(0))), expected)
    for seed in (None, np.random.RandomState(0)):
        assert np.isfinite(probabilities(CalibratedPU(BLSSVM(), random_state=seed))).all()
    with pytest.raises(ValueError, match="'random_state' parameter"):
        CalibratedPU(BLSSVM(), random_state="x").fit(X, Y)


class KnownNegatives(BLSSVM):
    """BLS-SVM that takes a known negative for ten unlabeled rows."""

    def __init__(self, neg_label: Any = None, pos_label: Any = None) -> None:
        super().__init__(pos_label=pos_label)
        self.neg_label = neg_label

    def fit(self, X: Any, y: Any) -> Any:
        labels, negative = without_negatives(y, self.neg_label, self.pos_label)
        return super().fit(X, labels, sample_weight=np.where(negative, 10.0, 1.0))


def test_known_negatives_train_the_folds_and_are_no_sample_of_the_population() -> None:
    known = np.flatnonzero(~POSITIVE)[:60]
    rest = np.setdiff1d(np.flatnonzero(Y == 0), known)
    found = {}
    for unlabeled, negative in ((0, -1), (-1, 0), (0, 2)):
        y = np.where(Y == 1, 1, unlabeled)
        y[known] = negative
        model = CalibratedPU(KnownNegatives(neg_label=negative, pos_label=1), prior=0.5)
        found[negative] = probabilities(model, X, y)[:, 1]
    assert roc_auc_score(POSITIVE[rest], found[-1][rest]) > 0.85
    assert abs(found[-1][rest].mean() - 0.5) < 0.1
    np.testing.assert_array_equal(found[0], found[-1])
    np.testing.assert_array_equal(found[2], found[-1])


@pytest.mark.parametrize("form", [csr_array, coo_array])
def test_sparse_rows(form: Any) -> None:
    expected = probabilities(CalibratedPU(BLSSVM(), prior=0.4))
    np.testing.assert_allclose(probabilities(CalibratedPU(BLSSVM(), prior=0.4), form(X)), expected, atol=1e-9)
    model = make_pipeline(StandardScaler(with_mean=False), BLSSVM())
    np.testing.assert_allclose(
        probabilities(CalibratedPU(model, prior=0.4), form(X)), probabilities(CalibratedPU(model, prior=0.4)), atol=1e-9
    )


def test_columns_that_a_pipeline_takes_by_name() -> None:
    table = pd.DataFrame(X, columns=list("abc")).assign(town=np.where(RNG.random(200) < 0.5, "Ulm", "Bonn"))
    by_name = make_column_transformer((OneHotEncoder(), ["town"]), (StandardScaler(), ["a", "b"]))
    model = CalibratedPU(make_pipeline(by_name, BLSSVM()), prior=0.4)
    found = probabilities(model, table)[:, 1]
    assert roc_auc_score(POSITIVE, found) > 0.85 and model.feature_names_in_.tolist() == ["a", "b", "c", "town"]
    np.testing.assert_array_equal(model.predict_proba(table[["town", "c", "b", "a"]])[:, 1], found)
    frame = table[["a", "b", "c"]]
    polars = pytest.importorskip("polars").from_pandas(frame)
    expected = probabilities(CalibratedPU(make_pipeline(Standardizer(), BLSSVM()), prior=0.4), frame)
    for rows in (polars, polars.lazy()):
        found = probabilities(CalibratedPU(make_pipeline(Standardizer(), BLSSVM()), prior=0.4), rows)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_classifiers_without_decision_function_and_within_a_search() -> None:
    forest = CalibratedPU(RandomForestClassifier(30, min_samples_leaf=5, random_state=0), prior=0.25)
    assert roc_auc_score(POSITIVE, probabilities(forest)[:, 1]) > 0.85
    search = GridSearchCV(BLSSVM(pos_label="fraud"), {"c_u": [0.1, 0.5]}, scoring=pu_auc_scorer, cv=2)
    model = CalibratedPU(search, prior=0.25)
    found = probabilities(model, X, np.where(Y == 1, "fraud", "legit"))
    assert model.classes_.tolist() == ["legit", "fraud"] and roc_auc_score(POSITIVE, found[:, 1]) > 0.85
    with pytest.raises(ValueError, match="'estimator' parameter"):
        CalibratedPU(None).fit(X, Y)


class Silent(ClassifierMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> Any:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.repeat(self.classes_[:1], len(X))


def test_what_cannot_be_calibrated_leaves_the_model_as_it_was() -> None:
    with pytest.raises(NotFittedError):
        CalibratedPU(BLSSVM()).predict_proba(X)
    with pytest.raises(ValueError, match="has no scores"):
        CalibratedPU(Silent()).fit(X, Y)
    model = CalibratedPU(BLSSVM(), prior=0.4)
    before = probabilities(model)
    few = np.append(np.flatnonzero(Y == 1)[:2], np.flatnonzero(Y == 0))
    for rows, y in ((X[:, :2], np.zeros(200)), (X[few] + 5.0, Y[few])):
        with pytest.raises(ValueError, match=r"one class|too few"):
            model.fit(rows, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.n_features_in_ == 3
