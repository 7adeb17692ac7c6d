"""Both routes give the same choice; rules and ties are what they say; labels of unlabeled rows are never seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from pucli.core.errors import UsageError
from pucli.estimators.global_local.glpual import GLLC
from pucli.methods import METHODS, estimator_class, get_method
from pucli.metrics.classification import f1
from pucli.tuning import tune
from pucli.tuning.folds import pu_folds
from pucli.tuning.grids import SERIES, expand, regularization_key
from pucli.tuning.inputs import in_population, share_of_positives
from pucli.tuning.notes import degenerate
from pucli.tuning.paths import glpual as path_module
from pucli.tuning.scorers import PointScores, Rule, choose, estimated_f1, most_f1, score_counts
from tests.helpers import examples

ORDER = get_method("glpual").regularization


def rule(name="puf", denominator="unlabeled"):
    return Rule(name, denominator, ORDER)


GRID = {"lam": [0.01, 1.0, 100.0], "sigma": [0.1, 10.0], "c_u": [0.5, 0.1, 0.01]}


def pu_data(seed=0, n=120, m=3, n_p=24):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    X[: n // 2] += 1.2
    s = np.zeros(n, dtype=int)
    s[rng.choice(n // 2, n_p, replace=False)] = 1
    return X, s


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf", "width": 1.0}, {"kernel": "rbf", "form": "thesis"}], ids=str)
@pytest.mark.parametrize("method", ["glpual", "gllc"])
@pytest.mark.parametrize("rule", ["puf", "puf-lower-1se"])
@pytest.mark.slow
def test_path_and_generic_routes_make_the_same_choice(method, params, rule):
    X, s = pu_data()
    grid = {**GRID, "width": [0.7, 2.0]} if params else GRID
    options = {"params": params, "grid": grid, "rule": rule, "greedy_step": 0.1, "seed": 3, "cv_repeats": 2}
    generic = tune(method, X, s, route="generic", **options)
    cache: dict = {}
    path = tune(method, X, s, route="path", cache=cache, **options)
    assert generic.params == path.params and generic.score == path.score
    assert len(generic.trials) == len(path.trials)
    for column, values in generic.trials.columns.items():
        np.testing.assert_array_equal(path.trials.columns[column], values, err_msg=column)


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf"}], ids=str)
@pytest.mark.slow
def test_path_of_the_prior_based_method_makes_the_same_choice(params):
    X, s = pu_data()
    grid = {"lam": [0.001, 0.1, 1.0], "sigma": [0.1, 10.0], **({"width": [0.7, 2.0]} if params else {})}
    options = {"params": {"prior": 0.4, **params}, "grid": grid, "rule": "puf-lower-1se", "seed": 3, "cv_repeats": 2}
    generic = tune("cpb-glpual", X, s, route="generic", **options)
    path = tune("cpb-glpual", X, s, route="path", **options)
    assert generic.params == path.params and len(generic.trials) == len(path.trials) == (12 if params else 6)
    for column, values in generic.trials.columns.items():
        np.testing.assert_array_equal(path.trials.columns[column], values, err_msg=column)
    estimated = tune("cpb-glpual", X, s, route="path", **{**options, "params": params})  # once for all fits
    assert 0.0 < estimated.params["prior"] < 1.0


@pytest.mark.slow
def test_large_feature_path_equals_the_compiled_one(monkeypatch):
    X, s = pu_data(1, m=5)
    compiled = tune("glpual", X, s, grid=GRID, seed=1)
    monkeypatch.setattr(path_module, "SMALL_FEATURES", 0)
    lapack = tune("glpual", X, s, grid=GRID, seed=1)
    np.testing.assert_array_equal(
        compiled.trials.columns["positive_unlabeled"], lapack.trials.columns["positive_unlabeled"]
    )


@pytest.mark.slow
def test_a_shared_cache_does_not_change_the_results():
    X, s = pu_data(2)
    options = {"params": {"kernel": "rbf"}, "grid": {**GRID, "width": [0.7, 2.0]}, "greedy_step": 0.1, "seed": 5}
    cache: dict = {}
    together = [tune(m, X, s, cache=cache, **options) for m in ("glpual", "gllc")]
    alone = [tune(m, X, s, **options) for m in ("glpual", "gllc")]
    for a, b in zip(together, alone, strict=True):
        assert a.params == b.params
        for column, values in b.trials.columns.items():
            np.testing.assert_array_equal(a.trials.columns[column], values, err_msg=column)


@pytest.mark.slow
@pytest.mark.parametrize("params", [{}, {"kernel": "rbf"}, {"kernel": "rbf", "form": "thesis"}], ids=str)
def test_two_processes_give_the_result_of_one(params):
    X, s = pu_data(6)
    options = {"params": params, "grid": GRID, "greedy_step": 0.1, "seed": 2, "cv_repeats": 2}
    calls = []
    one = tune("glpual", X, s, **options)
    two = tune("glpual", X, s, n_jobs=2, progress=lambda done, total: calls.append((done, total)), **options)
    of_grid = len(expand(GRID))
    assert calls == [(of_grid * folds // 8, of_grid) for folds in range(1, 9)]  # two cross-validations of four folds
    assert one.params == two.params and one.score == two.score
    for column, values in one.trials.columns.items():
        np.testing.assert_array_equal(two.trials.columns[column], values, err_msg=column)


@given(seed=st.integers(0, 10_000), n_p=st.integers(4, 30), n_u=st.integers(4, 60), folds=st.integers(2, 4))
@examples(30)
def test_folds_partition_and_deal_evenly(seed, n_p, n_u, folds):
    s = np.random.default_rng(seed).permutation(np.r_[np.ones(n_p), np.zeros(n_u)])
    for repeat in pu_folds(s, folds, seed, repeats=2):
        assert sorted(np.concatenate([valid for _, valid in repeat]).tolist()) == list(range(n_p + n_u))
        for train, valid in repeat:
            assert not set(train) & set(valid) and len(train) + len(valid) == n_p + n_u
            assert n_p // folds <= s[valid].sum() <= -(-n_p // folds)
    again = pu_folds(s, folds, seed, repeats=2)
    assert np.array_equal(again[1][0][1], pu_folds(s, folds, seed, repeats=2)[1][0][1])
    assert len(again) == 2


def test_too_few_labeled_rows_for_the_folds():
    with pytest.raises(UsageError, match=r"3 labeled rows cannot fill 4 folds.*cv=3"):
        pu_folds(np.r_[np.ones(3), np.zeros(20)], 4, 0)


def counts_of(rows):
    return np.array(rows, dtype=np.int64)[:, None, :, :]


def test_puf_is_the_printed_formula():
    counts = counts_of([[[8, 10, 20, 100], [6, 10, 10, 100]]])
    by_fold = score_counts(counts, rule())
    assert np.isclose(by_fold.score[0], np.mean([0.8**2 / 0.2, 0.6**2 / 0.1]))
    assert np.isclose(score_counts(counts, rule("puf-pooled")).score[0], 0.7**2 / 0.15)
    assert np.isclose(score_counts(counts, rule("puf-pooled", "all")).score[0], 0.7**2 / (44 / 220))


def test_puf_of_constant_predictors():
    counts = counts_of([[[0, 5, 0, 50]], [[5, 5, 50, 50]]])
    scores = score_counts(counts, rule())
    np.testing.assert_allclose(scores.score, [0.0, 1.0])
    assert scores.constant.all()


@pytest.mark.parametrize("name", ["puf", "puf-pooled"])
def test_a_model_that_finds_no_unlabeled_positive_scores_zero(name):
    counts = counts_of([[[2, 5, 0, 50]]])
    assert score_counts(counts, rule(name)).score[0] == 0.0
    assert score_counts(counts, rule(name, "all")).score[0] > 0.0


@given(order=st.permutations(range(6)))
def test_ties_go_to_the_more_regularized_point_in_any_order(order):
    points = [{"lam": lam, "c_u": c_u} for lam in (0.1, 1.0, 10.0) for c_u in (0.5, 0.01)]
    points = [points[i] for i in order]
    flat = PointScores(np.ones(6), np.zeros(6), np.zeros(6, bool))
    assert points[choose(points, flat, rule())] == {"lam": 10.0, "c_u": 0.01}
    assert regularization_key({"width": 3.0}, ORDER) < regularization_key({"width": 1.0}, ORDER)


def test_the_lower_bound_rule_takes_the_strongest_ridge_within_the_error():
    points = [{"lam": v} for v in (0.1, 1.0, 10.0, 100.0, 1000.0)]
    scores = PointScores(
        score=np.array([2.0, 1.9, 1.85, 1.99, 9.0]),
        standard_error=np.array([0.1, 0.1, 0.1, 0.1, 8.5]),
        constant=np.array([False, False, False, True, False]),
    )
    assert (
        choose(points, scores, rule("puf-lower-1se")) == 1
    )  # bounds 1.9, 1.8, 1.75: the third is too far, the fifth luck
    assert choose(points, scores, rule("puf-pooled")) == 4


def test_edges_and_one_class_choices_are_noted():
    X, s = pu_data(3)
    result = tune("glpual", X, s, grid={"lam": [1e6, 1e7, 1e8]}, params={"c_u": 100.0}, rule="puf")
    assert any("lam" in note and "edge of its grid" in note for note in result.notes)
    assert any("one class only" in note for note in result.notes)


def test_progress_counts_the_points_of_the_grid():
    X, s = pu_data(3)
    calls = []
    tune("glpual", X, s, grid={"lam": [0.1, 1.0, 10.0]}, route="generic", progress=lambda *at: calls.append(at))
    assert calls == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("counts", "note"),
    [
        ([8, 10, 30, 100], None),
        ([0, 10, 0, 100], "one class only"),
        ([10, 10, 100, 100], "one class only"),
        ([8, 10, 0, 100], "nearly no row positive: 0 % of the unlabeled and 80 %"),
        ([0, 10, 30, 100], "nearly no row positive: 30 % of the unlabeled and 0 %"),
        ([9, 10, 100, 100], "nearly every row positive"),
    ],
)
def test_a_degenerate_choice_is_noted(counts, note):
    notes = degenerate(np.array(counts))
    assert len(notes) == (note is not None) and all(note in text for text in notes)


def test_greedy_never_lowers_the_score_and_keeps_every_trial():
    X, s = pu_data(4)
    grid_only = tune("glpual", X, s, grid=GRID, seed=9, rule="puf", cv_repeats=1)
    refined = tune("glpual", X, s, grid=GRID, seed=9, rule="puf", cv_repeats=1, greedy_step=0.1)
    assert refined.score >= grid_only.score
    stages = [trial["stage"] for trial in refined.trials]
    assert stages.count("grid") == 18 and stages.count("greedy") >= 6
    assert refined.n_fits == 4 * len(refined.trials)
    best = max(refined.trials, key=lambda t: t["score"])
    assert np.isclose(best["score"], refined.score)


@pytest.mark.slow
def test_refinement_changes_the_declared_parameters_in_any_notation():
    X, s = pu_data(4)
    moved = {}
    for values in ([1, 10], [1.0, 10.0]):
        result = tune("glpual", X, s, grid={"lam": values}, params={"c_u": 0.5}, seed=9, greedy_step=0.1)
        moved[type(values[0])] = [trial["params"]["lam"] for trial in result.trials if trial["stage"] == "greedy"]
    assert moved[int] == moved[float] and len(moved[int]) >= 2
    chosen = tune("glpual", X, s, grid={"lam": [1, 10]}, params={"c_u": 0.5}, seed=9).params["lam"]
    assert {chosen * 1.1, chosen * 0.9} <= set(moved[int])  # up and down, by the whole step


def test_values_that_stay_on_the_grid_are_not_moved():
    X, s = pu_data(4)
    grid = {"lam": [1.0, 10.0], "c_u": [0.5, 0.1]}
    result = tune("glpual", X, s, grid=grid, seed=9, greedy_step=0.1, stay_on_grid={"lam": [1.0, 10.0]})
    refined = [trial["params"] for trial in result.trials if trial["stage"] == "greedy"]
    assert {point["lam"] for point in refined} <= {1.0, 10.0} and len({point["c_u"] for point in refined}) >= 2


def test_every_parameter_of_a_default_grid_has_its_place_in_the_order_of_regularization():
    for method in METHODS.values():
        if method.kind == "pu":
            assert set(method.grid) <= set(method.regularization), method.name
            assert set(method.refine) <= set(estimator_class(method)._get_param_names()), method.name
            assert method.path == "" or method.refine, method.name


def test_named_series_are_the_thesis_grids():
    assert len(SERIES["decades"]) == 9 and len(SERIES["fives"]) == 20 and len(SERIES["hundredths"]) == 50
    assert len(expand({"lam": "fives", "sigma": "fives", "c_u": "hundredths"})) == 20_000
    np.testing.assert_allclose(SERIES["decades"], np.logspace(-4, 4, 9))
    tenths = [0.1, 0.2, 0.3, 0.4, 0.5]
    np.testing.assert_allclose(SERIES["fives"], sorted(10**k * value for k in range(4) for value in tenths))
    np.testing.assert_allclose(SERIES["hundredths"], np.arange(0.01, 0.505, 0.01))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "pfu"}, "unknown score 'pfu'; did you mean 'puf'"),
        ({"grid": {"lamb": [1.0]}}, "unknown parameter 'lamb' of glpual; did you mean 'lam'"),
        ({"grid": {"lam": "decade"}}, "unknown grid series 'decade'; did you mean 'decades'"),
        ({"grid": {"lam": []}}, "grid of 'lam' is empty"),
        ({"denominator": "al"}, "unknown denominator"),
        ({"route": "pat"}, "unknown route"),
        ({"route": "path", "params": {"solver": "admm"}}, "no path-wise route"),
    ],
)
def test_wrong_options_are_named(options, message):
    X, s = pu_data(5)
    with pytest.raises(UsageError, match=message):
        tune("glpual", X, s, **options)


def test_the_estimated_f1_is_that_of_the_counts_and_the_prior():
    counts = np.array([[[[6, 10, 20, 100], [8, 10, 10, 100]]]])
    by = Rule("f1", "unlabeled", {}, prior=0.25)
    assert score_counts(counts, by).score[0] == pytest.approx(2 * 0.25 * 0.7 / (0.15 + 0.25))
    by = by._replace(denominator="all")
    assert score_counts(counts, by).score[0] == pytest.approx(2 * 0.25 * 0.7 / (44 / 220 + 0.25))


def test_no_f1_above_what_the_recall_allows_is_told():
    counts = np.array([6, 10, 2, 100])
    assert estimated_f1(counts, Rule("f1", "unlabeled", {}, prior=0.5)) > 1.0
    assert most_f1(counts) == pytest.approx(2 * 0.6 / 1.6)
    assert most_f1(np.zeros(4)) == 0.0


@pytest.mark.parametrize("rule", ["f1", "pu-auc"])
def test_a_prior_that_is_too_high_is_told(monkeypatch, rule):
    X, s = pu_data(6)
    monkeypatch.setattr("pucli.tuning.search.share_of_positives", lambda *_, **__: 0.9)
    found = tune("gllc", X, s, grid={"lam": [0.1, 1.0]}, rule=rule)
    assert found.f1 <= 1.0 and any("is too high for these rows" in note for note in found.notes)


@pytest.mark.slow
def test_the_estimated_f1_chooses_with_a_prior_that_the_rows_give():
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.5
    X = rng.normal(size=(400, 2)) + 3.0 * y[:, None]
    s = y & (rng.random(400) < 0.4)
    hidden = y[~s].mean()
    found = share_of_positives(X, s, 0)
    assert abs(found - hidden) < 0.1 and abs(in_population(found, s, "all") - 0.5) < 0.1
    assert share_of_positives(sparse.csr_array(X), s, 0) == found
    chosen = tune("gllc", X, s.astype(int), grid={"c_u": [1e-4, 0.1, 100.0]}, rule="f1", cv_repeats=2)
    model = GLLC(**chosen.params).fit(X, s)
    assert f1(y, model.predict(X), True) > 0.9
    assert 0.8 < chosen.score <= 1.0
