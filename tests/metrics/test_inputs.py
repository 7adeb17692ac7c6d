"""The public metrics take arrays, lists and pandas alike, and refuse what they cannot mean in one line."""

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.metrics import (
    adjust_p_values,
    classification_scores,
    compute,
    corrected_resampled_t,
    friedman_nemenyi,
    get_metric,
    holm_adjusted,
    in_group_proportion,
    pu_counts,
    puf,
    wilcoxon_paired,
)
from pucli.metrics.classification import f1
from pucli.metrics.probabilities import calibration_error
from pucli.metrics.pu import proxy_accuracy
from pucli.metrics.ranking import likely_negative_auc
from pucli.metrics.top import bedroc, precision_at

TRUTH, FOUND = np.array([1, 1, 0, 0, 1, 0]), np.array([1, 0, 0, 1, 1, 0])
DECISION = np.array([0.9, 0.2, 0.3, 0.8, 0.7, 0.1])


def series(values, **how):
    return pd.Series(values, index=[9, 3, 7, 3, 2, 1], **how)


def words(values):
    return np.where(np.asarray(values) == 1, "yes", "no")


@pytest.mark.parametrize(
    "form",
    [
        list,
        series,
        lambda v: series(v, dtype="Int64"),
        lambda v: v[:, None],
        lambda v: pd.DataFrame({"y": v}),
        lambda v: v.astype(bool),
        words,
        lambda v: list(words(v)),
        lambda v: words(v).astype(object),
        lambda v: series(words(v), dtype="category"),
        lambda v: series(words(v), dtype="string"),
    ],
)
def test_labels_of_any_form_have_the_metrics_of_the_plain_ones(form):
    plain = classification_scores(TRUTH, FOUND, DECISION, probability=DECISION)
    assert classification_scores(form(TRUTH), form(FOUND), series(DECISION), probability=list(DECISION)) == plain


Y = TRUTH == 1
REFUSED = {
    "missing label": (lambda: classification_scores([1.0, np.nan], [1, 0]), "y_true lacks the label of row 1"),
    "missing word": (lambda: classification_scores(["a", None], ["a", "b"]), "y_true lacks the label of row 1"),
    "NA": (
        lambda: pu_counts(series([1, None, 0, 0, 0, 0], dtype="Int64"), FOUND, 1),
        "labeled lacks the label of row 1",
    ),
    "empty": (lambda: classification_scores([], []), "same length above zero, got 0 and 0"),
    "lengths": (lambda: classification_scores(TRUTH, FOUND[:4]), "same length above zero, got 6 and 4"),
    "lengths of PU": (lambda: pu_counts(Y, FOUND[:4], 1), "same length, got 6 and 4"),
    "lengths of scores": (lambda: compute({"labeled": Y, "decision": DECISION[:4]}), "same length, got 6 and 4"),
    "lengths of probabilities": (
        lambda: compute({"truth": TRUTH, "probability": DECISION[:4], "positive": 1}),
        "same length above zero, got 6 and 4",
    ),
    "columns": (
        lambda: classification_scores(TRUTH, np.eye(6)[:, :2]),
        r"shape \(6, 2\). Of predict_proba, give the col",
    ),
    "one value": (lambda: classification_scores(1, 0), "y_true takes one value for each row, .* got one int"),
    "nothing": (lambda: wilcoxon_paired(None, [1.0]), "a takes one value for each row, .* got nothing"),
    "generator": (lambda: classification_scores((i for i in TRUTH), FOUND), "got one generator"),
    "words and numbers": (
        lambda: classification_scores(words(TRUTH), FOUND),
        "labels such as 'yes', but y_pred such as 1",
    ),
    "scores as labels": (lambda: classification_scores(DECISION, FOUND), "takes labels, and 0.9 is a score"),
    "positive": (lambda: classification_scores(TRUTH, FOUND, positive="yes"), "'yes', which is no label: .* are 0, 1"),
    "positive of PU": (lambda: pu_counts(Y, words(FOUND), 1), "1, which is no label: the labels are 'no', 'yes'"),
    "words as marks": (lambda: pu_counts(words(TRUTH), words(FOUND), "yes"), "y == 'yes'"),
    "minus one as marks": (lambda: pu_counts(2 * TRUTH - 1, FOUND, 1), "True for labeled positives .* got -1"),
    "words as scores": (
        lambda: classification_scores(TRUTH, FOUND, words(TRUTH)),
        "decision takes numbers, and 'yes' is",
    ),
    "dates": (lambda: wilcoxon_paired(pd.to_datetime(TRUTH), FOUND), "a takes numbers"),
    "labels for counts": (lambda: puf(TRUTH, FOUND), r"got int64 of shape \(6,\). For labels take puf_score"),
    "four labels for counts": (lambda: puf(TRUTH[:4], FOUND[:4]), '"unlabeled" or "all"; got one ndarray'),
    "words for counts": (lambda: puf(words(TRUTH), words(FOUND)), "four numbers that pu_counts"),
    "denominator": (lambda: puf([1, 2, 3, 4], "labeled"), "'labeled'"),
    "two samples": (
        lambda: corrected_resampled_t([0.1, 0.2], [0.1, 0.3]),
        "got one list. Of two samples, give the diff",
    ),
    "share": (lambda: corrected_resampled_t([0.1, 0.2], -1.0), "got -1.0"),
    "one sample": (lambda: friedman_nemenyi(DECISION), r"shape \(data sets, methods\)"),
    "words for a matrix": (lambda: friedman_nemenyi([["a", "b"]]), "matrix takes numbers, and 'a' is none"),
    "p above one": (lambda: adjust_p_values([0.5, 5.0]), "between 0 and 1; got 5"),
    "p above one, Holm": (lambda: holm_adjusted([0.5, 5.0]), "between 0 and 1; got 5"),
    "one column": (lambda: in_group_proportion(DECISION, TRUTH), r"shape \(n, m\); got shape \(6,\)"),
    "one row": (lambda: in_group_proportion([[1.0]], [0]), "at least two rows"),
    "missing coordinate": (lambda: in_group_proportion([[1.0], [np.nan]], [0, 1]), "finite numbers"),
    "scores as probabilities": (
        lambda: classification_scores(TRUTH, FOUND, probability=DECISION * 100),
        "probability takes numbers between 0 and 1; row 0 has 90",
    ),
    "scores as probabilities in bins": (lambda: calibration_error(TRUTH, -DECISION, 1), "row 0 has -0.9"),
    "a list as positive": (lambda: pu_counts(Y, FOUND, [1]), r"positive takes one label; got \[1\]"),
    "no positive": (lambda: f1(TRUTH, FOUND, None), "positive takes one label; got None"),
    "words among numbers": (
        lambda: f1(np.array([1, "1", 0], object), np.array([1, 1, 0], object), 1),
        "truth has both words and numbers as labels, such as '1' and 1",
    ),
    "too many for a count": (lambda: puf([5, 2, 3, 4], "all"), "more rows predicted positive than rows of their kind"),
    "a count below zero": (lambda: puf([-1, 2, 3, 4], "all"), "or a number below zero"),
    "a prior above one": (lambda: proxy_accuracy([1, 2, 3, 4], "all", 2.0), "prior takes numbers between 0 and 1"),
    "a prior in per cent": (lambda: likely_negative_auc(Y, DECISION, DECISION, 30.0), "prior .* has 30"),
    **{
        f"place {place}": (lambda place=place: precision_at(TRUTH, DECISION, 1, place), "a place is a number of rows")
        for place in ("0", "-5", "0%", "200%", "1.5", "abc", None)
    },
    **{
        f"alpha {alpha}": (lambda alpha=alpha: bedroc(TRUTH, DECISION, 1, alpha), "alpha takes a number above 0")
        for alpha in ("0", "-20", "nan", "inf", None)
    },
    "clusters": (lambda: in_group_proportion([[1.0], [2.0]], [0]), "same length above zero, got 2 and 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_metric_can_mean_is_refused_in_one_line(case):
    call, named = REFUSED[case]
    with pytest.raises(ValueError, match=named) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_metric_has_a_name():
    with pytest.raises(UsageError, match="called by a name such as 'f1'; got one NoneType"):
        get_metric(None)
