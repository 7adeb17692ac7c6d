"""Cross-validation after training: noise is noticed, a useful model is not warned of."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.estimators import GLPUAL
from pucli.estimators.unbiased.naive_svc import NaiveSVC
from pucli.estimators.unbiased.upu import UPU
from pucli.models import validation
from pucli.models.saved import make_pipeline
from pucli.models.validation import (
    FOLDS,
    MOST_LABELED,
    MOST_UNLABELED,
    HeldOutResults,
    HeldOutScores,
    _kept,
    held_out,
    held_out_classes,
    held_out_scores,
    judged,
)


def clouds(n: int, apart: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows (n, 3) of two clouds and whether they are labeled: a quarter of the first half."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[: n // 2] += apart
    return X, np.arange(n) < n // 8


@pytest.mark.parametrize("estimator", [GLPUAL(), NaiveSVC(random_state=0)])
@pytest.mark.slow
def test_noise_is_noticed_although_the_training_rows_look_well(estimator) -> None:
    noticed = 0
    for seed in range(12):
        X, labeled = clouds(400, apart=0.0, seed=seed)
        model = make_pipeline(estimator, standardize=True).fit(X, labeled.astype(int))
        found = held_out(model, X, labeled, seed=seed)
        assert found is not None
        noticed += "may be useless" in found.warning
    assert noticed >= 10


def test_a_useful_model_is_not_warned_of() -> None:
    X, labeled = clouds(400, apart=1.5)
    model = make_pipeline(GLPUAL(), standardize=True).fit(X, labeled.astype(int))
    found = held_out(model, X, labeled, seed=0)
    assert found is not None
    assert found.warning == ""
    assert found.recall > 0.8 > found.share
    assert found == held_out(model, X, labeled, seed=0)


@pytest.mark.slow
def test_every_fold_takes_the_prior_of_the_model(monkeypatch) -> None:
    X, labeled = clouds(400, apart=1.5)
    model = make_pipeline(UPU(loss="squared", random_state=0), standardize=True).fit(X, labeled.astype(int))
    priors = []
    fit = UPU.fit

    def noted(self, X, y, groups=None):
        priors.append(fit(self, X, y, groups).prior_)
        return self

    monkeypatch.setattr(UPU, "fit", noted)
    found = held_out(model, X, labeled, seed=0)
    assert found is not None and found.prior == model[-1].prior_
    assert priors == [model[-1].prior_] * FOLDS
    assert found.pu_auc_sd > 0 and found.recall_sd > 0 and found.share_sd > 0
    assert model[-1].prior is None


def test_the_ridge_of_an_average_is_that_of_the_model() -> None:
    X, labeled = clouds(400, apart=1.5)
    model = UPU(loss="squared", prior=0.3, random_state=0).fit(X, labeled.astype(int))
    assert _kept(model, 0.3) == {"prior": 0.3, "lam": model.lam_}
    assert _kept(GLPUAL().fit(X, labeled.astype(int)), None) == {}


def test_a_cut_that_finds_no_more_than_it_takes_is_noticed() -> None:
    assert "threshold" in HeldOutResults(recall=0.56, share=0.48, pu_auc=0.8, labeled=100, unlabeled=400).warning
    assert HeldOutResults(recall=0.7, share=0.48, pu_auc=0.8, labeled=100, unlabeled=400).warning == ""


@pytest.mark.slow
def test_large_tables_are_sampled_and_small_ones_are_left() -> None:
    X, labeled = clouds(8000, apart=1.5)
    model = make_pipeline(NaiveSVC(kernel="linear"), standardize=True)
    found = held_out(model, X, labeled, seed=0)
    assert found is not None
    assert (found.labeled, found.unlabeled) == (MOST_LABELED, MOST_UNLABELED)
    weighed = make_pipeline(NaiveSVC(kernel="linear", C=0.01), standardize=True)
    assert held_out(weighed, X, labeled, seed=0) is None
    fewer = held_out(weighed, X[:4000], labeled[:4000], seed=0)
    assert fewer is not None and fewer.labeled + fewer.unlabeled == 4000
    few = np.arange(400) < FOLDS - 1
    assert held_out(model, X[:400], few, seed=0) is None


def test_recall_and_share_are_means_over_folds_of_labeled_and_of_unlabeled_rows() -> None:
    labeled = np.tile(np.arange(10) < 2, FOLDS)
    fold = np.repeat(np.arange(FOLDS), 10)
    scores = np.where(labeled, 1.0, -1.0)
    scores[(fold == 0) & labeled] = [-0.5, 0.5]  # recall .5 in one fold, 1 in the others
    scores[(fold == 1) & ~labeled] = [0.25] * 4 + [-1.0] * 4  # share .5 in one fold, 0 in the others
    found = judged(HeldOutScores(np.arange(len(fold)), labeled, fold, scores, None))
    recalls, shares = [0.5, *[1.0] * (FOLDS - 1)], [0.5, *[0.0] * (FOLDS - 1)]
    assert found.recall == pytest.approx(np.mean(recalls)) and found.share == pytest.approx(np.mean(shares))
    assert found.recall_sd == pytest.approx(np.std(recalls, ddof=1))
    assert found.share_sd == pytest.approx(np.std(shares, ddof=1))


@pytest.mark.parametrize("grouped", [False, True])
def test_no_fold_of_two_classes_trains_on_the_rows_or_the_groups_that_it_scores(monkeypatch, grouped) -> None:
    X = np.arange(60.0)[:, None]
    y, labeled = np.where(np.arange(60) < 40, np.arange(60) % 2, -1), np.arange(60) < 40
    # of both classes; the last ten unlabeled rows belong to groups of labeled ones
    groups = np.r_[np.arange(50) // 2, np.arange(10)] if grouped else None
    of_row = np.arange(60) if groups is None else groups
    held = []

    def noted(pipeline, kept, train, y, test):
        rows, scored = train.ravel().astype(int), test.ravel().astype(int)
        assert not set(of_row[rows]) & set(of_row[scored])
        # all other unlabeled rows train in every fold
        assert set(rows) >= {row for row in range(40, 60) if of_row[row] not in of_row[scored]}
        held.extend(scored)
        return test[:, 0]

    monkeypatch.setattr(validation, "_scores", noted)
    found = held_out_classes([GLPUAL()], X, y, labeled, seed=0, groups=groups)
    assert found is not None and sorted(held) == list(range(40))
    np.testing.assert_array_equal(found[0], np.arange(40.0))
    np.testing.assert_array_equal(found[1], np.arange(40) % 2 == 1)


def test_too_few_groups_of_a_kind_give_no_held_out_scores() -> None:
    X, labeled = clouds(400, apart=1.5)
    model = make_pipeline(NaiveSVC(kernel="linear"), standardize=True)
    groups = np.where(labeled, np.arange(400) % (FOLDS - 1), np.arange(400))
    assert held_out_scores(model, X, labeled, 0, groups) is None
    assert held_out_scores(model, X, labeled, 0, np.where(labeled, np.arange(400) % FOLDS, np.arange(400))) is not None


def test_known_negatives_train_with_their_label_and_are_not_scored(monkeypatch) -> None:
    X = np.arange(60.0)[:, None]
    labeled, negative = np.arange(60) < 12, np.arange(60) >= 48

    def noted(pipeline, kept, train, y, test, params):
        np.testing.assert_array_equal(y, np.where(train < 12, 1, np.where(train >= 48, -1, 0)).ravel())
        return test[:, 0]

    monkeypatch.setattr(validation, "_scores", noted)
    found = held_out_scores([GLPUAL()], X, labeled, 0, negative=negative)
    np.testing.assert_array_equal(found.rows, np.arange(48))
    np.testing.assert_array_equal(found.labeled, np.arange(48) < 12)
    np.testing.assert_array_equal(found.scores, np.arange(48.0))
