"""AutoPU: scikit-learn's checks, invariances, the distribution of held-out scores, unusual data."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from pucli import AutoPU
from pucli.core.errors import DegenerateModelWarning, UsageError
from pucli.metrics.ranking import auc
from pucli.models.saved import SavedModel, load_model, make_pipeline, save_model
from pucli.solvers.ensemble.estimates import Estimate
from pucli.solvers.ensemble.members import MEMBERS
from tests.solvers.ensemble.helpers import two_clouds

FEW = tuple(member for member in MEMBERS if member.name in ("ridge-laplace", "extra-trees"))


@pytest.fixture(scope="module")
def fitted() -> tuple[AutoPU, np.ndarray, np.ndarray, np.ndarray]:
    X, s, truth = two_clouds()
    return AutoPU().fit(X, s), X, s, truth


EXPECTED = {"check_classifiers_classes": "its labels are 'one' and 'two', of which neither is plainly positive"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([AutoPU()], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_checks(estimator: AutoPU, check: Callable[[AutoPU], None], monkeypatch) -> None:
    """By day with a ridge and trees, as the checks are of the class around the members."""
    monkeypatch.setattr("pucli.estimators.auto.auto_pu.all_members", lambda: FEW)
    check(estimator)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([AutoPU()], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_checks_with_all_members(estimator: AutoPU, check: Callable[[AutoPU], None]) -> None:
    check(estimator)


def test_unlabeled_positives_are_found(fitted) -> None:
    model, X, s, truth = fitted
    scores, predicted = model.decision_function(X)[~s], model.predict(X)[~s]
    hidden = truth[~s]
    assert auc(scores[hidden], scores[~hidden]) > 0.93
    assert 2 * (predicted & hidden).sum() / (predicted.sum() + hidden.sum()) > 0.8
    assert model.prior_interval_[0] <= hidden.mean() <= model.prior_interval_[1]
    assert model.leaderboard_[0]["pu_auc"] >= model.leaderboard_[-1]["pu_auc"]
    (own,) = [line for line in model.leaderboard_ if line["name"] == "ensemble"]
    assert {name: own[name] for name in ("auc", "f1")} == {name: model.estimates_[name].value for name in ("auc", "f1")}


@pytest.mark.slow
def test_the_order_of_the_rows_does_not_matter(fitted) -> None:
    model, X, s, _ = fitted
    order = np.random.default_rng(5).permutation(len(X))
    other = AutoPU().fit(X[order], s[order])
    np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(other.held_out_, model.held_out_[order])


def table_in_another_order(X: np.ndarray, levels: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return orders of rows and of columns, of which the last, the `levels` of a category, stay side by side."""
    first = X.shape[1] - levels
    columns = rng.permutation(first + 1)
    return rng.permutation(len(X)), np.concatenate(
        [[j] if j < first else np.arange(first, X.shape[1]) for j in columns]
    )


@pytest.mark.slow  # fits of small, middle and large tables, which have other members each
@pytest.mark.parametrize("rows", [200, 900, 2200])
def test_the_order_of_rows_and_columns_does_not_matter_to_the_last_bit(rows: int) -> None:
    """Binary columns have the same values as often; only with the other cells of their rows they differ."""
    rng = np.random.default_rng(rows)
    X, s, _ = two_clouds(rows - 60, labeled=60, features=3)
    flags = np.stack([rng.permutation(np.arange(rows) % 2) for _ in range(3)], axis=1)
    X = np.hstack([X, flags, np.eye(5)[rng.integers(0, 5, rows)]])
    order, columns = table_in_another_order(X, 5, rng)
    model, other = AutoPU().fit(X, s), AutoPU().fit(X[np.ix_(order, columns)], s[order])
    np.testing.assert_array_equal(other.decision_function(X[:, columns]), model.decision_function(X))
    np.testing.assert_array_equal(other.held_out_, model.held_out_[order])
    assert other.estimates_ == model.estimates_ and other.leaderboard_ == model.leaderboard_


@pytest.mark.slow
def test_units_and_offsets_of_features_do_not_matter(fitted) -> None:
    model, X, s, _ = fitted
    scale, offset = np.array([1e3, -0.02, 7.0, 1.0]), np.array([0.0, 5.0, -3e4, 1.0])
    other = AutoPU().fit(X * scale + offset, s)
    np.testing.assert_allclose(other.decision_function(X * scale + offset), model.decision_function(X), atol=2e-3)
    assert other.prior_ == pytest.approx(model.prior_, abs=1e-4)


@pytest.mark.slow
def test_the_signs_of_features_do_not_matter_to_the_last_bit(fitted) -> None:
    model, X, s, _ = fitted
    signs = np.array([-1.0, 1.0, -1.0, -1.0])
    other = AutoPU().fit(X * signs, s)
    np.testing.assert_array_equal(other.decision_function(X * signs), model.decision_function(X))
    assert other.estimates_ == model.estimates_


@pytest.mark.parametrize("labeled", [20, 99])
def test_rows_that_are_alike_do_not_seem_to_be_ranked(labeled: int) -> None:
    """Their held-out scores differ between folds, by how many labeled rows these have, but not within a fold."""
    X, s = np.full((199, 2), 3.7), np.arange(199) < labeled
    with pytest.warns(DegenerateModelWarning, match="hardly rank above"):
        model = AutoPU(members=MEMBERS[:4]).fit(X, s)
    assert len(np.unique(model.held_out_)) <= 5
    assert auc(model.held_out_[s], model.held_out_[~s]) <= 0.5


@pytest.mark.slow
def test_few_values_of_a_feature_do_not_tell_the_label() -> None:
    """Of rows with the same features no model can know more than that: the PU-AUC is that of the two values."""
    rng = np.random.default_rng(0)
    s = np.arange(400) < 80
    X = (rng.random(400) < np.where(s, 0.6, 0.5)).astype(float)[:, None]
    model = AutoPU(members=MEMBERS[:2]).fit(X, s)
    assert auc(model.held_out_[s], model.held_out_[~s]) <= auc(X[s, 0], X[~s, 0]) + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("labels", [(-1, 1), (0, 7), (False, True), ("n", "y")])
def test_the_names_of_the_labels_do_not_matter(fitted, labels) -> None:
    _, X, s, _ = fitted
    y = np.array(labels)[s.astype(int)]
    other = AutoPU(members=FEW).fit(X, y)
    same = AutoPU(members=FEW).fit(X, s)
    np.testing.assert_array_equal(other.decision_function(X), same.decision_function(X))
    np.testing.assert_array_equal(other.predict(X) == labels[1], same.predict(X))


@pytest.mark.slow
def test_the_smaller_label_can_mark_the_positives(fitted) -> None:
    _, X, s, _ = fitted
    other = AutoPU(members=FEW, pos_label=0).fit(X, (~s).astype(int))
    same = AutoPU(members=FEW).fit(X, s)
    np.testing.assert_array_equal(other.predict(X) == 0, same.predict(X))
    assert list(other.classes_) == [1, 0]


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_number_of_threads(fitted) -> None:
    model, X, s, _ = fitted
    other = AutoPU(n_jobs=3).fit(X, s)
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    assert other.estimates_ == model.estimates_
    assert np.any(AutoPU(random_state=1).fit(X, s).decision_function(X) != model.decision_function(X))


def test_probabilities_of_a_row_do_not_depend_on_the_other_rows(fitted) -> None:
    model, X, _, _ = fitted
    np.testing.assert_allclose(model.predict_proba(X[:7]), model.predict_proba(X)[:7], atol=1e-12)


@pytest.mark.slow
def test_no_row_has_the_probability_zero_and_few_labeled_rows_exclude_less() -> None:
    least, most = [], []
    for labeled in (20, 60):
        X, s, _ = two_clouds(labeled=labeled, apart=8.0)
        model = AutoPU(members=FEW).fit(X, s)
        far = X.mean(axis=0) - 10.0 * (X[s].mean(axis=0) - X.mean(axis=0))
        p = model.predict_proba(np.vstack([X, far]))[:, 1]
        below = float(np.mean(model.held_out_[~s] < model.held_out_[s].min()))
        assert model.calibration_.of(model.held_out_).min() == 0.0
        assert p.min() == pytest.approx(model.prior_ / ((labeled + 1) * below), rel=1e-9)
        least.append(p.min())
        low, high = model.probability_range(p)
        assert 0.0 <= low[-1] <= p[-1] < high[-1] < 0.5
        most.append(high[-1])
        assert p[:-1][~s].mean() == pytest.approx(model.prior_, abs=0.05)
    assert least[0] > least[1] > 0.0 and most[0] > most[1]


@pytest.mark.slow
def test_labeled_and_hidden_positives_have_the_same_distribution_of_held_out_scores() -> None:
    labeled, hidden = [], []
    for seed in range(12):
        X, s, truth = two_clouds(160, labeled=40, apart=1.5, seed=seed)
        model = AutoPU(members=FEW).fit(X, s)
        labeled.append(model.held_out_[s])
        hidden.append(model.held_out_[truth & ~s])
    assert ks_2samp(np.concatenate(labeled), np.concatenate(hidden)).pvalue > 0.01


def test_the_cut_moves_without_training(fitted) -> None:
    model, X, s, truth = fitted
    wide, narrow = model.with_threshold("recall", 0.9), model.with_threshold("share", 0.05)
    assert wide.threshold_ < model.threshold_ < narrow.threshold_
    assert wide.ensemble_ is model.ensemble_
    assert wide.predict(X)[truth & ~s].mean() >= 0.88
    assert narrow.estimates_["share"].value == pytest.approx(0.05, abs=0.01)
    with pytest.raises(UsageError, match="needs a value"):
        model.with_threshold("recall")


def test_a_recall_that_takes_every_row_keeps_their_order(fitted) -> None:
    model, X, _, _ = fitted
    moved = model.with_threshold("recall", 0.9999)
    scores = moved.decision_function(X)
    assert np.isfinite(scores).all() and (scores > 0).all()
    np.testing.assert_array_equal(
        np.argsort(scores, kind="stable"), np.argsort(model.decision_function(X), kind="stable")
    )
    np.testing.assert_allclose(moved.predict_proba(X), model.predict_proba(X))


def test_of_all_rows_recall_and_lift_are_exactly_one(fitted) -> None:
    every = fitted[0].with_threshold("share", 1.0).estimates_
    assert every["share"] == every["recall"] == every["lift"] == Estimate(1.0, 1.0, 1.0)


@pytest.mark.slow
def test_the_prior_of_a_single_training_set_counts_the_labeled_rows() -> None:
    X, s, truth = two_clouds(400, labeled=80, prior=0.25, apart=4.0)
    sample = AutoPU(scenario="single-training-set", members=FEW).fit(X, s)
    apart = AutoPU(members=FEW).fit(X, s)
    assert sample.prior_ == pytest.approx(truth.mean(), abs=0.08)
    assert apart.prior_ == pytest.approx(truth[~s].mean(), abs=0.08)


@pytest.mark.slow
def test_a_loaded_model_gives_the_same_predictions(fitted, tmp_path: Path) -> None:
    model, X, s, _ = fitted
    pipeline = make_pipeline(clone(model), standardize=False).fit(X, s)
    save_model(tmp_path / "m.model", SavedModel(pipeline, "auto", [f"x{k}" for k in range(X.shape[1])]))
    loaded = load_model(tmp_path / "m.model").estimator
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.with_threshold("share", 0.1).threshold_ == model.with_threshold("share", 0.1).threshold_


def test_an_estimator_with_members_of_ones_own_choice_can_be_pickled() -> None:
    assert [member.name for member in pickle.loads(pickle.dumps(AutoPU(members=MEMBERS))).members] == [
        member.name for member in MEMBERS
    ]


@pytest.mark.parametrize("count", [1, 299])
def test_a_single_row_of_one_kind_is_refused(count: int) -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    with pytest.raises(ValueError, match="at least 2 are needed"):
        AutoPU().fit(X, np.arange(300) < count)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["alike", "constant", "duplicates", "two labeled", "many features", "huge"])
def test_unusual_data_gives_finite_predictions(case: str) -> None:
    X, s, _ = two_clouds(60, labeled=20)
    if case == "alike":
        X = np.ones_like(X)
    elif case == "constant":
        X[:, 1] = 3.0
    elif case == "duplicates":
        X, s = np.repeat(X, 3, axis=0), np.repeat(s, 3)
    elif case == "two labeled":
        s = s & (np.cumsum(s) <= 2)
    elif case == "many features":
        X = np.hstack([X, np.random.default_rng(0).normal(size=(len(X), 2000))])
    else:
        X[:, 0] *= 1e150
    model = AutoPU().fit(X, s)
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    assert 0.0 <= model.prior_ <= 1.0
    assert all(found.low <= found.value <= found.high for found in model.estimates_.values())


def test_an_unknown_scenario_or_labeling_names_the_known_ones() -> None:
    X, s, _ = two_clouds(40, labeled=10)
    with pytest.raises(ValueError, match="case-control"):
        AutoPU(scenario="case").fit(X, s)
    with pytest.raises(ValueError, match="scar"):
        AutoPU(labeling="case-control").fit(X, s)


def test_the_callback_is_called_after_each_member() -> None:
    X, s, _ = two_clouds(60, labeled=20)
    calls: list[tuple[str, int, int]] = []
    AutoPU(members=FEW, callback=lambda *arguments: calls.append(arguments)).fit(X, s)
    assert calls == [("extra-trees", 1, 2), ("ridge-laplace", 2, 2)]  # the last member begins first


@pytest.mark.slow
def test_noise_is_warned_of() -> None:
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(200, 4)), np.arange(200) < 30
    with pytest.warns(DegenerateModelWarning, match="hardly rank above"):
        model = AutoPU().fit(X, s.astype(int))
    assert not model.estimates_["f1"].known


@pytest.mark.parametrize(("goal", "wanted"), [("recall", 1.2), ("share", 0.0), ("top", 10_000), ("precision", None)])
def test_a_value_out_of_range_is_refused_before_training(
    goal: str, wanted: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pucli.estimators.auto.auto_pu.first_fit", lambda *_: pytest.fail("members were trained"))
    X, s, _ = two_clouds(40, labeled=20)
    with pytest.raises(UsageError, match="wanted"):
        AutoPU(goal=goal, wanted=wanted).fit(X, s)


@pytest.mark.slow
def test_a_number_of_rows_that_was_asked_for_is_no_sign_of_a_degenerate_model(recwarn: pytest.WarningsRecorder) -> None:
    X, s, _ = two_clouds(900, labeled=150, apart=1.0)
    model = AutoPU(members=FEW, goal="top", wanted=1).fit(X, s)
    assert model.estimates_["share"].value < 0.005
    assert not [one for one in recwarn if issubclass(one.category, DegenerateModelWarning)]
