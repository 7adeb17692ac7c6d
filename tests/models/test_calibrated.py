"""Probabilities of PU classifiers in Python are those of the commands, and mean what they say."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from pucli import BLSSVM, GLPUAL, AutoPU
from pucli.data import TableEncoder
from pucli.data.features import Standardizer
from pucli.estimators.base.pu import has_own_probabilities
from pucli.methods import METHODS, estimator_class
from pucli.models.calibrated import CalibratedPU
from pucli.models.fitting import taken_groups
from pucli.models.saved import SavedModel, load_model, save_model

RNG = np.random.default_rng(0)
POSITIVE = np.append(np.ones(100, dtype=bool), RNG.random(500) < 0.4)
X = RNG.normal(size=(600, 2)) + 2.0 * POSITIVE[:, None]
Y = (np.arange(600) < 100).astype(int)


@pytest.mark.parametrize("estimator", [BLSSVM(), make_pipeline(Standardizer(), GLPUAL())], ids=["alone", "pipeline"])
def test_the_mean_probability_of_a_score_is_the_share_of_positives(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CalibratedPU(estimator, prior=0.4).fit(X, Y)
    found = model.predict_proba(X[100:])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert ((found >= 0.0) & (found <= 1.0)).all()
    assert abs(found[:, 1].mean() - POSITIVE[100:].mean()) < 0.06
    assert np.mean((found[:, 1] - POSITIVE[100:]) ** 2) < 0.1
    assert np.all(np.diff(found[np.argsort(model.decision_function(X[100:])), 1]) >= 0.0)


def test_words_and_cross_validation() -> None:
    by_number = CalibratedPU(BLSSVM(), prior=0.4).fit(X, Y).predict_proba(X)
    words = np.where(Y == 1, "fraud", "legit")
    with pytest.warns(UserWarning, match="sorted order"):
        by_word = CalibratedPU(BLSSVM(pos_label="fraud"), prior=0.4).fit(X, words)
    assert by_word.classes_.tolist() == ["legit", "fraud"]
    np.testing.assert_array_equal(by_word.predict_proba(X), by_number)
    found = cross_val_predict(CalibratedPU(BLSSVM(), prior=0.4), X, Y, method="predict_proba", cv=3)
    assert found.shape == (600, 2) and np.mean((found[100:, 1] - POSITIVE[100:]) ** 2) < 0.12


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="3 labeled and 597 unlabeled rows are too few"):
        CalibratedPU(BLSSVM()).fit(X, (np.arange(600) < 3).astype(int))


class Recording(BLSSVM):
    fits: ClassVar[list[Any]] = []

    def fit(self, X: Any, y: Any) -> Any:
        self.fits.append(X[:, 0])
        return super().fit(X, y)


def test_rows_of_a_group_are_on_one_side_of_every_fold() -> None:
    groups = np.append(np.arange(100) // 5, 20 + np.arange(500) % 97)
    rows = np.column_stack([groups / 100, X])
    Recording.fits.clear()
    model = CalibratedPU(make_pipeline(Recording()), prior=0.4).fit(rows, Y, groups=np.array([f"g{g}" for g in groups]))
    assert len(Recording.fits) == 5 and model.predict_proba(rows).shape == (600, 2)
    whole = np.unique(rows[:, 0], return_counts=True)
    for fitted in Recording.fits[1:]:
        inside = np.isin(whole[0], fitted)
        assert 0 < inside.sum() < len(inside)
        np.testing.assert_array_equal(np.unique(fitted, return_counts=True)[1], whole[1][inside])
    with pytest.raises(ValueError, match="or fill too few groups"):
        CalibratedPU(BLSSVM()).fit(rows, Y, groups=np.arange(600) % 3)


def test_groups_reach_the_folds_of_the_prior_and_of_a_classifier_that_makes_some(monkeypatch: Any) -> None:
    from pucli.models import calibration

    homes: list[Any] = []
    real = calibration.ridge_scores
    monkeypatch.setattr(calibration, "ridge_scores", lambda *a: homes.append(a[3]) or real(*a))
    groups = np.arange(600) % 50
    CalibratedPU(BLSSVM()).fit(X, Y, groups=groups)
    CalibratedPU(BLSSVM()).fit(X, Y)
    assert homes[0].shape == (600,) and homes[1] is None
    assert all(len(np.unique(homes[0][groups == group])) == 1 for group in range(50))
    assert taken_groups(make_pipeline(Standardizer(), AutoPU()), groups)["autopu__groups"] is groups
    assert taken_groups(BLSSVM(), groups) == {}


PU = [name for name, method in METHODS.items() if method.kind == "pu"]


@pytest.mark.parametrize(
    ("name", "held_out"),
    [(name, held_out) for name in PU for held_out in (False, True) if name != "auto" or not held_out],
)
def test_every_pu_method_has_probabilities(name: str, held_out: bool) -> None:
    kind = estimator_class(METHODS[name])
    quick = {"prior": 0.4, "n_epochs": 50, "random_state": 0}
    given = {key: value for key, value in quick.items() if key in kind().get_params()}
    model = CalibratedPU(kind(**given), prior=0.4) if held_out else kind(**given)
    few = np.r_[0:40, 100:220]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.fit(X[few], Y[few]).predict_proba(X[220:])[:, 1]
    assert roc_auc_score(POSITIVE[220:], found) > 0.9
    assert abs(found.mean() - POSITIVE[220:].mean()) < 0.15


def test_probabilities_by_training_scores_run_wherever_scikit_learn_asks_for_them(tmp_path) -> None:
    found = cross_val_predict(BLSSVM(), X, Y, method="predict_proba", cv=3)
    assert found.shape == (600, 2) and np.mean((found[100:, 1] - POSITIVE[100:]) ** 2) < 0.12
    pipeline = make_pipeline(Standardizer(), BLSSVM()).fit(X, Y)
    before = {name: np.copy(value) for name, value in vars(pipeline[-1]).items() if isinstance(value, np.ndarray)}
    found = pipeline.predict_proba(X)
    assert before.keys() == {name for name, value in vars(pipeline[-1]).items() if isinstance(value, np.ndarray)}
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.all(np.diff(found[np.argsort(pipeline.decision_function(X)), 1]) >= 0.0)
    assert not has_own_probabilities(pipeline) and has_own_probabilities(AutoPU())
    path = save_model(tmp_path / "a.model", SavedModel(pipeline, "blssvm", ["a", "b"]))
    np.testing.assert_array_equal(load_model(path).pipeline.predict_proba(X), found)
    del pipeline[-1].labeled_scores_  # as in a model of blocks
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'"):
        pipeline.predict_proba(X)
    with pytest.raises(AttributeError, match=r"'BLSSVM' object has no attribute 'classes_'$"):
        _ = BLSSVM().classes_


@pytest.mark.parametrize("kind", ["ElkanotoPuClassifier", "BaggingPuClassifier"])
def test_pulearn_takes_it(kind: str) -> None:
    pulearn = pytest.importorskip("pulearn")
    given = {"hold_out_ratio": 0.2} if kind == "ElkanotoPuClassifier" else {"n_estimators": 2}
    model = getattr(pulearn, kind)(CalibratedPU(BLSSVM(), prior=0.4), **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.fit(X, np.where(Y == 1, 1, -1)).predict_proba(X)
    assert roc_auc_score(POSITIVE[100:], found[100:, 1]) > 0.9


@pytest.mark.slow
def test_a_table_encoder_in_a_pipeline_and_labels_in_a_column() -> None:
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "town": np.where(POSITIVE, "Ulm", "Bonn")})
    model = CalibratedPU(make_pipeline(TableEncoder(), BLSSVM())).fit(table, Y)
    encoded = TableEncoder().fit_transform(table)
    expected = CalibratedPU(BLSSVM()).fit(encoded, Y).predict_proba(encoded)
    np.testing.assert_allclose(model.predict_proba(table.iloc[:, [2, 0, 1]]), expected)
    with pytest.warns(UserWarning, match="column-vector"):
        column = CalibratedPU(BLSSVM()).fit(encoded, Y[:, None])
    np.testing.assert_array_equal(column.predict_proba(encoded), expected)
