"""PUF and PU-AUC as scorers of scikit-learn."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import f1_score, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pucli.core.errors import UsageError
from pucli.estimators import BLSSVM, AutoPU
from pucli.metrics import METRICS, pu_auc_scorer, pu_counts, puf, puf_score, puf_scorer, scorer
from pucli.metrics.ranking import pu_auc

routes_to_scorers = pytest.mark.skipif(
    sklearn.__version__ == "1.6.0", reason="scikit-learn 1.6.0 hands no weights to a dictionary of scorers"
)


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    truth = np.arange(90) < 45
    X = rng.normal(size=(90, 2)) + truth[:, None]
    return X, np.where(np.arange(90) < 25, "yes", "unlabeled")


def test_the_scorers_are_the_metrics(rows):
    X, y = rows
    model = BLSSVM().fit(X, y)
    labeled = y == "yes"
    counts = pu_counts(labeled, model.predict(X), "yes")
    assert puf_scorer(model, X, y) == puf(counts, "unlabeled")
    assert partial(puf_scorer, denominator="all")(model, X, y) == puf(counts, "all")
    assert pu_auc_scorer(model, X, y) == pytest.approx(pu_auc(model.decision_function(X), labeled), abs=1e-12)


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


@pytest.mark.parametrize("scorer", [puf_scorer, pu_auc_scorer])
@pytest.mark.parametrize("kind", [slice(5), slice(-5, None)])
def test_rows_of_one_kind_have_no_score_and_it_is_said(rows, scorer, kind):
    X, y = rows
    model = BLSSVM().fit(X, y)
    with pytest.warns(UndefinedMetricWarning, match="of 5 rows are labeled positives"):
        assert np.isnan(scorer(model, X[kind], y[kind]))


@pytest.mark.parametrize("scorer", [puf_scorer, pu_auc_scorer])
@pytest.mark.parametrize(
    ("labels", "named"),
    [
        ((1, 0), "label 0, but the classifier was fitted to 'unlabeled' and 'yes'"),
        (("yes", "no"), "label 'no'"),
        (("yes", None), "lacks the label of row 25"),
    ],
)
def test_labels_that_the_classifier_does_not_have_are_refused(rows, scorer, labels, named):
    X, y = rows
    model = BLSSVM().fit(X, y)
    with pytest.raises(UsageError, match=named):
        scorer(model, X, np.array([labels[int(label != "yes")] for label in y], dtype=object))


def test_known_negatives_count_as_unlabeled(rows):
    X, y = rows
    y = np.where(y == "yes", 1, 0)
    y[-3:] = -1
    model = make_pipeline(StandardScaler(), AutoPU(neg_label=-1)).fit(X, y)
    assert puf_scorer(model, X, y) == puf_scorer(model, X, np.maximum(y, 0))


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@routes_to_scorers
@pytest.mark.parametrize("scorer", [puf_scorer, pu_auc_scorer])
def test_weights_reach_the_scorer_by_metadata_routing_and_count_as_copies(rows, scorer, routing):
    X, y = rows
    weight = np.arange(len(y)) % 3 + 1.0
    asks = pickle.loads(pickle.dumps(scorer.set_score_request(sample_weight=True)))
    model = BLSSVM().set_fit_request(sample_weight=False)
    how = {"cv": [(np.arange(90), np.arange(90))], "params": {"sample_weight": weight}, "error_score": "raise"}
    scores = cross_validate(model, X, y, scoring={"pu": asks}, **how)["test_pu"]
    copies = np.repeat(np.arange(90), weight.astype(int))
    assert scores[0] == pytest.approx(scorer(BLSSVM().fit(X, y), X[copies], y[copies]), abs=1e-12)
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
        cross_validate(model, X, y, scoring=scorer, **how)


@pytest.mark.parametrize("enabled", [False, pytest.param(True, marks=routes_to_scorers)])
@pytest.mark.parametrize("scorer", [puf_scorer, pu_auc_scorer, partial(puf_scorer, denominator="all")])
def test_scikit_learns_tools_take_the_scorers_with_metadata_routing_and_without(rows, scorer, enabled):
    with sklearn.config_context(enable_metadata_routing=enabled):
        alone = cross_validate(BLSSVM(c_u=0.1), *rows, scoring=scorer, cv=3, error_score="raise")["test_score"]
        search = GridSearchCV(BLSSVM(), {"c_u": [0.1]}, scoring={"a": scorer, "b": puf_scorer}, refit="a", cv=3)
        assert search.fit(*rows).best_score_ == alone.mean()


@routes_to_scorers
def test_a_search_weighs_the_score_as_the_fit(rows):
    X, y = rows
    weight = np.arange(len(y)) % 2 + 1.0
    folds = [(np.arange(90), np.arange(90))]
    search = GridSearchCV(BLSSVM(), {"c_u": [0.1]}, scoring={"puf": puf_scorer}, refit="puf", cv=folds)
    search.fit(X, y, sample_weight=weight)
    assert search.best_score_ == puf_scorer(search.best_estimator_, X, y, sample_weight=weight)


def test_puf_of_labels_is_that_of_the_counts():
    y, found = ["P", "P", "U", "U", "U"], ["P", "U", "P", "U", "U"]
    counts = pu_counts(np.array(y) == "P", found, "P")
    assert puf_score(y, found, pos_label="P") == puf(counts, "unlabeled") == 0.75
    assert puf_score(y, found, pos_label="P", denominator="all") == puf(counts, "all")
    with pytest.raises(ValueError, match="take two labels"):
        puf_score([1, 0, 2], [1, 0, 0])
    with pytest.raises(ValueError, match="'yes' is not a label"):
        puf_score(y, found, pos_label="yes")


def test_words_have_the_meaning_that_they_have_for_the_classifiers():
    """The last word in sorted order was taken: "unlabeled" of "fraud" and "unlabeled"."""
    for yes, no in (("fraud", "unlabeled"), ("P", "U"), ("yes", "no"), ("churned", "not churned"), ("1", "0")):
        y, found = [yes, yes, no, no, no], [yes, no, yes, no, no]
        assert puf_score(y, found) == puf_score(y, found, pos_label=yes) == 0.75
    with pytest.raises(ValueError, match=r"'fraud' and 'legit', and the words do not show .* set pos_label"):
        puf_score(["fraud", "legit"], ["fraud", "fraud"])


@pytest.mark.slow
def test_a_threshold_for_reversed_words(rows):
    """`TunedThresholdClassifierCV` tells a scorer neither the classes nor which of them is positive."""
    X, y = rows
    told = BLSSVM(pos_label="fraud")
    how = {"response_method": "decision_function"}
    expected = TunedThresholdClassifierCV(BLSSVM(), scoring=puf_scorer, **how).fit(X, (y == "yes").astype(int))
    with pytest.warns(UserWarning, match="sorted order"):
        found = TunedThresholdClassifierCV(told, scoring=puf_scorer, **how).fit(X, np.where(y == "yes", "fraud", y))
    assert found.best_threshold_ == expected.best_threshold_
    words = np.where(y == "yes", "fraud", "legit")
    with pytest.raises(ValueError, match="set pos_label"), pytest.warns(UserWarning, match="sorted order"):
        TunedThresholdClassifierCV(told, scoring=puf_scorer, **how).fit(X, words)
    scorer = make_scorer(puf_score, pos_label="fraud")
    with pytest.warns(UserWarning, match="sorted order"):
        found = TunedThresholdClassifierCV(told, scoring=scorer, **how).fit(X, words)
    assert found.best_threshold_ == expected.best_threshold_


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_that_are_none_are_refused(rows, weight):
    X, y = rows
    weights = np.append(weight, np.ones(89))
    for score in (
        lambda: puf_score(y, y, sample_weight=weights),
        lambda: pu_auc_scorer(BLSSVM().fit(X, y), X, y, sample_weight=weights),
    ):
        with pytest.raises(ValueError, match="sample_weight takes finite numbers from zero on; row 0 has"):
            score()


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
    thresholds = [
        TunedThresholdClassifierCV(BLSSVM(), scoring=how, response_method="decision_function").fit(X, y).best_threshold_
        for how in (scorer, reference)
    ]
    assert thresholds[0] == thresholds[1]


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    truth = np.arange(300) < 120
    X = rng.normal(size=(300, 2)) + 2.0 * truth[:, None]
    return X, (np.arange(300) < 60).astype(int), truth.astype(int)


@pytest.mark.filterwarnings("ignore")
def test_every_metric_that_predictions_allow_has_a_scorer(numbers):
    X, s, truth = numbers
    model = BLSSVM().fit(X, s)
    model.prior_ = 0.25
    found = {}
    for name, metric in METRICS.items():
        of_predictions = metric.function is not None and not {
            "reference", "generated", "mode_counts", "signs", "unlabeled_signs"
        } & set(metric.needs)  # fmt: skip
        if not of_predictions:
            with pytest.raises(UsageError, match="is measured by an experiment"):
                scorer(name)
        elif "log_density" not in metric.needs:
            found[name] = scorer(name)(model, X, s if {"labeled", "counts"} & set(metric.needs) else truth)
    assert {"f1", "auc", "pu_auc", "puf", "brier", "lift@1%", "boyce_labeled", "proxy_accuracy"} <= found.keys()
    assert np.isfinite(list(found.values())).all() and found["brier"] < 0.0 < found["f1"]
    assert found["pu_auc"] == pu_auc_scorer(model, X, s) and found["f1"] == pytest.approx(
        f1_score(truth, model.predict(X))
    )
    assert scorer("lift@5%")(model, X, truth) > 1.0 and repr(scorer("f1")) == "scorer('f1')"
    with pytest.raises(UsageError, match="unknown metric 'pu_auk'"):
        scorer("pu_auk")


def test_a_search_by_several_scorers_runs_in_processes(numbers):
    X, s, _ = numbers
    scoring = {name: scorer(name) for name in ("pu_auc", "recall_labeled@10%")}
    found = cross_validate(BLSSVM(), X, s, scoring=scoring, cv=3, n_jobs=2)
    assert found["test_pu_auc"].min() > 0.6 and found["test_recall_labeled@10%"].min() > 0.0
