"""Scores against scikit-learn, and the tests against worked examples in print."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score, roc_auc_score

from pucli.core.errors import UsageError
from pucli.metrics import (
    METRICS,
    Metric,
    adjust_p_values,
    classification_scores,
    compute,
    friedman_nemenyi,
    get_metric,
    pu_counts,
    puf,
    registry,
    wilcoxon_paired,
)
from pucli.metrics.classification import f_majority, f_of_class, majority_class
from pucli.metrics.density import modes_found, share_near
from pucli.runner.loading import experiment_names, load_experiment
from tests.helpers import examples

# Table 6 of Demsar 2006: AUC of C4.5 with and without tuned parameters m and cf on 14 data sets.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


@examples(30)
@given(st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_scores_agree_with_scikit_learn(n, seed):
    rng = np.random.default_rng(seed)
    y = np.r_[1, -1, rng.choice([-1, 1], n)]
    f = np.round(rng.normal(size=n + 2), 1)  # rounded: ties count half in the AUC
    predicted = np.where(f > 0, 1, -1)
    got = classification_scores(y, predicted, f)
    assert got["f1"] == pytest.approx(f1_score(y, predicted, zero_division=0))
    assert got["precision"] == pytest.approx(precision_score(y, predicted, zero_division=0))
    assert got["recall"] == pytest.approx(recall_score(y, predicted))
    assert got["accuracy"] == pytest.approx(accuracy_score(y, predicted))
    assert got["auc"] == pytest.approx(roc_auc_score(y, f))
    assert got["tp"] + got["fp"] + got["fn"] + got["tn"] == n + 2


def test_scores_at_the_edges():
    nothing = classification_scores([1, 1, -1], [-1, -1, -1])
    assert nothing["f1"] == 0 and nothing["precision"] == 0 and math.isnan(nothing["auc"])
    no_positive = classification_scores([-1, -1], [-1, -1], positive=1)
    assert math.isnan(no_positive["f1"]) and no_positive["accuracy"] == 1
    with pytest.raises(ValueError, match="same length"):
        classification_scores([1, -1], [1])


def test_puf():
    # recall 1/2; a quarter of the unlabeled rows, of all rows predicted positive
    assert puf([1, 2, 2, 8], "unlabeled") == 1.0
    assert puf([1, 2, 1, 6], "all") == 1.0
    assert puf([0, 2, 0, 8], "unlabeled") == 0.0  # nothing is predicted positive
    assert puf([1, 1, 2, 8], "unlabeled") == puf([1, 1, 1, 7], "all") == 4.0  # one labeled row is enough
    assert puf([3, 3, 5, 5], "all") == 1.0  # everything is
    assert math.isnan(puf([0, 0, 1, 2], "unlabeled"))  # no labeled row
    many = puf(np.array([[[1, 2, 2, 8], [0, 2, 0, 8]]]), "unlabeled")
    assert many.shape == (1, 2) and many.tolist() == [[1.0, 0.0]]


def test_puf_of_a_prediction():
    labeled, predictions = [True, True, False, False, False, False], [1, 0, 1, 0, 0, 0]
    assert pu_counts(labeled, predictions, 1).tolist() == [1, 2, 1, 4]
    found = compute({"counts": pu_counts(labeled, predictions, 1), "denominator": "unlabeled"})
    assert found == {"recall_labeled": 0.5, "predicted_positive": pytest.approx(1 / 3), "puf": 1.0}


def test_a_registered_metric_is_computed_if_its_inputs_are_available(monkeypatch):
    share = Metric("share", "predicted positives", lambda predicted, positive: np.mean(predicted == positive),
                   ("predictions", "positive"))  # fmt: skip
    monkeypatch.setattr(registry, "all_metrics", lambda: {**METRICS, "share": share})
    assert classification_scores([1, 1, -1, -1], [1, -1, -1, -1])["share"] == 0.25
    assert set(compute({"truth": [0, 1, 2], "predictions": [0, 1, 1]})) == {"accuracy"}


def test_an_unknown_metric_suggests_the_nearest():
    with pytest.raises(UsageError, match="did you mean 'f1'"):
        get_metric("f11")


def test_every_metric_of_every_experiment_is_registered():
    for name in experiment_names():
        load_experiment(name, check_methods=False)


def test_an_experiment_with_an_unknown_metric_names_key_and_file(tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "title: A\ndata: {names: [seeds]}\nsplit: {repeats: 1, seed: 1}\nmethods: {gllc: {method: gllc}}\n"
        "metrics: [f1, nmy]\n"
    )
    with pytest.raises(UsageError, match=r"mine.yaml: metrics.1: unknown metric 'nmy'; did you mean 'nmi'"):
        load_experiment(tmp_path / "mine.yaml")


def test_margins_are_absolute_or_shares_of_the_published_figure():
    assert get_metric("f1").margin_at(80.0) == 5.0
    assert get_metric("log_likelihood").margin_at(-8.0) == pytest.approx(0.4)


def test_modes_and_near():
    assert modes_found([50, 3, 16, 31, 0]) == 3  # a fair part is 20 rows, a fifth of it 4
    assert share_near([[0.0, 0.0], [0.5, 0.0], [9.0, 9.0]], [[0.0, 0.0], [1.0, 0.0]], 0.1) == pytest.approx(1 / 3)
    # in d dimensions rows of a mode lie about sd sqrt(d) from its center
    drawn = np.random.default_rng(0).normal(size=(2000, 9))
    assert 0.95 < share_near(drawn, np.vstack([np.zeros(9), 100 * np.eye(9)]), 1.0) <= 1.0
    assert share_near(6.0 * drawn, np.vstack([np.zeros(9), 100 * np.eye(9)]), 1.0) < 0.5


@examples(15)
@given(st.lists(st.integers(-3, 3), min_size=2, max_size=7))
def test_wilcoxon_with_ties_agrees_with_scipy(differences):
    test = wilcoxon_paired(differences, np.zeros(len(differences)))
    if any(differences):
        expected = stats.wilcoxon(np.array(differences, float), zero_method="zsplit")
        assert (test.statistic, test.p) == (expected.statistic, pytest.approx(expected.pvalue, abs=1e-14))
    else:
        assert (test.statistic, test.p) == (0.0, 1.0)


def test_wilcoxon_textbook_example():
    # Demsar 2006, section 3.1.3, Table 2: 14 data sets, smaller rank sum R = 12 (zeros split), significant at 0.05
    test = wilcoxon_paired(DEMSAR[:, 1], DEMSAR[:, 0])
    assert test.n == 14 and test.ties == 2 and test.wins == 10 and test.losses == 2
    assert test.statistic == pytest.approx(12)
    assert 0.003 < test.p < 0.05


def test_wilcoxon_exact_small_sample():
    # five positive differences without ties: p = 2 / 2^5
    assert wilcoxon_paired([1, 2, 3, 4, 5], [0, 0, 0, 0, 0]).p == pytest.approx(2 / 32)
    assert wilcoxon_paired([0.1 + 0.2, 1.0], [0.3, 0.0]).ties == 1  # equal but for rounding


def test_wilcoxon_equal_and_missing():
    same = wilcoxon_paired([0.5, 0.25, 0.1], [0.5, 0.25, 0.1])
    assert same.p == 1 and same.ties == 3
    part = wilcoxon_paired([1.0, np.nan, 2.0], [0.0, 1.0, np.nan])
    assert part.n == 1
    assert math.isnan(wilcoxon_paired([np.nan], [1.0]).p)


def test_friedman_nemenyi_demsar_example():
    result = friedman_nemenyi(DEMSAR)
    # printed: average ranks 3.143, 2.000, 2.893, 1.964; chi^2 = 9.28 without the correction for ties; CD = 1.25 at 0.05
    assert result.ranks == pytest.approx([3.143, 2.0, 2.893, 1.964], abs=5e-4)
    assert result.critical_difference == pytest.approx(2.569 * math.sqrt(4 * 5 / (6 * 14)), abs=1e-3)
    assert result.statistic >= 9.28 and result.p < 0.03
    different = np.abs(result.ranks[:, None] - result.ranks) > result.critical_difference
    assert ((result.pairwise_p < 0.05) == different).all()
    assert result.pairwise_p == pytest.approx(result.pairwise_p.T)


def test_friedman_nemenyi_edges():
    tied = friedman_nemenyi(np.ones((4, 3)))
    assert tied.p == 1 and tied.ranks == pytest.approx([2, 2, 2])
    two = friedman_nemenyi([[1.0, 2.0], [1.0, 2.0], [np.nan, 1.0]])
    assert two.n == 2 and math.isnan(two.p) and two.ranks == pytest.approx([2, 1])
    assert friedman_nemenyi([[0.1 + 0.2, 0.3]] * 3).ranks == pytest.approx([1.5, 1.5])  # equal but for rounding
    lower = friedman_nemenyi([[1.0, 2.0, 3.0]], higher_is_better=False)
    assert lower.ranks == pytest.approx([1, 2, 3]) and math.isnan(lower.p)


def test_adjusted_p_values():
    assert adjust_p_values([0.01, 0.02, 0.03]) == pytest.approx([0.03, 0.03, 0.03])
    assert np.isnan(adjust_p_values([np.nan, 0.2])).tolist() == [True, False]


@pytest.mark.parametrize("n_zeros", [2, 5, 8])
def test_zeros_of_a_larger_sample_are_split_between_the_signs(n_zeros):
    """Against the definition: ranks of all absolute differences, half of those of the zeros to each side."""
    rng = np.random.default_rng(n_zeros)
    d = np.r_[np.zeros(n_zeros), rng.normal(0.4, 1.0, 22 - n_zeros)]
    ranks = stats.rankdata(np.abs(d))
    of_zeros = ranks[d == 0].sum() / 2
    test = wilcoxon_paired(d, np.zeros(len(d)))
    plus, minus = ranks[d > 0].sum() + of_zeros, ranks[d < 0].sum() + of_zeros
    assert test.statistic == pytest.approx(min(plus, minus))
    signs = rng.choice([0, 1], size=(100_000, len(d)))
    null = np.where(d == 0, 0, signs * ranks).sum(axis=1) + of_zeros
    middle = ranks.sum() / 2
    simulated = np.mean(np.abs(null - middle) >= abs(plus - middle))
    assert test.p == pytest.approx(simulated, abs=0.03)


@pytest.mark.parametrize(
    ("positive", "negative", "expected"), [(5, 3, 1), (3, 5, -1), (4, 4, -1), (0, 2, -1), (2, 0, 1)]
)
def test_the_majority_class_and_its_f(positive, negative, expected):
    truth = np.repeat([1, -1], [positive, negative])
    assert majority_class(truth) == expected
    rng = np.random.default_rng(0)
    predictions = rng.choice([-1, 1], len(truth))
    f = f1_score(truth == expected, predictions == expected, zero_division=0)
    assert f_majority(truth, predictions) == pytest.approx(100 * f)
    # on the boundary, a row of the other class is a false find, and one of the class itself is missed
    assert f_of_class([1, -1], [1, 0], 1) == pytest.approx(2 / 3) == f_of_class([1, 1], [1, 0], 1)
