"""Verdicts: equivalence within a margin, the better side of each metric, models that predict one class."""

import math

import numpy as np
import pytest
from scipy import stats

from pucli.report.tables.causes import CAUSES, automatic_cause
from pucli.report.tables.published import read_published, setting_key
from pucli.report.tables.samples import Samples
from pucli.report.tables.verdict import BY_VARIANT, COMPARED, FEWEST_REPEATS, VERDICTS, MeanAndSd, judge
from pucli.runner import load_experiment, plan
from pucli.runner.experiment import Cause, Verdict, base_name
from tests.helpers import ROOT

# its records are given, so that there is one repeat, and all of its published figures are those of other methods
ONE_REPEAT = "disdat-swi"


def verdict(obtained, published, metric="f1", **more):
    return judge(MeanAndSd(*obtained), MeanAndSd(*published), metric, **more).verdict


def test_beyond_two_standard_errors_the_verdict_is_better_or_worse():
    # standard error of the difference sqrt(3^2/9 + 4^2/4) = sqrt(5)
    outside = 2 * math.sqrt(5) + 0.1
    there = (50, 4, 4)
    assert verdict((50 + outside, 3, 9), there) == "better"
    assert verdict((50 - outside, 3, 9), there) == "worse"
    for metric, less in (("seconds", "better"), ("error", "better"), ("nmi", "worse"), ("log_likelihood", "worse")):
        assert verdict((50 - outside, 3, 9), there, metric) == less
    assert verdict((50 - outside, 3, 9), there, "objective") == "not reproduced"  # no better side
    found = judge(MeanAndSd(42, 3, 9), MeanAndSd(50, 4, 4), "f1")
    assert found.difference_in_sd == pytest.approx(-2)
    assert found.difference_in_errors == pytest.approx(-8 / math.sqrt(5))


def test_the_interval_is_that_of_welch():
    rng = np.random.default_rng(0)
    a, b = rng.normal(50, 3, 9), rng.normal(51, 4, 5)
    found = judge(MeanAndSd(a.mean(), a.std(ddof=1), 9), MeanAndSd(b.mean(), b.std(ddof=1), 5), "f1")
    expected = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.90)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_a_verdict_of_reproduced_needs_precision():
    assert verdict((80.5, 2, 10), (80, 2, 10)) == "reproduced"
    assert verdict((68.0, 37.4, 5), (96.41, 1.43, 5)) == "inconclusive"
    assert verdict((80.0, 20, 10), (80, 2, 10)) == "inconclusive"  # equal means, nothing known
    # the margin is 5 points: 4 +- 0.9 is within it, and 2 standard errors are 5.1 there
    assert verdict((84.0, 1.0, 100), (80, 1.0, 100)) == "better"
    # more noise never turns another verdict into "reproduced"
    for difference in (0, 1, 3, 6):
        judged = [verdict((80 + difference, sd, 10), (80, 1, 10)) for sd in (0.5, 1, 2, 4, 8, 16, 32)]
        first_wide = judged.index("inconclusive") if "inconclusive" in judged else len(judged)
        assert all(v == "inconclusive" for v in judged[first_wide:])


def test_margins_are_those_of_the_metric():
    assert verdict((0.82, 0.01, 10), (0.80, 0.05, 10), "nmi") == "reproduced"
    assert verdict((0.82, 0.01, 10), (0.80, 0.2, 10), "nmi") == "inconclusive"
    assert verdict((1210.0, 40, 10), (1224, 30, 10), "log_likelihood") == "reproduced"  # 5 % of 1224
    assert verdict((-7.3, 0.9, 10), (-7.5, 0.9, 10), "log_likelihood") == "inconclusive"  # 5 % of 7.5
    # an interval up to 3.55: 5 % of the published figure are 3.50, and those of the obtained one would be 3.60
    assert verdict((71.9, math.sqrt(500), 1000), (70, math.sqrt(500), 1000), "log_likelihood") == "inconclusive"


def test_half_a_unit_of_the_last_printed_digit_widens_the_margin():
    alike = (80.0, 6.8, 10), (80.0, 6.8, 10)  # an interval of -5.3 to 5.3, and a margin of 5
    assert verdict(*alike) == "inconclusive"
    assert verdict(*alike, rounding=0.5) == "reproduced"


def test_models_that_predict_one_class_reproduce_nothing():
    found = judge(MeanAndSd(50.2, 1, 10), MeanAndSd(50, 1, 10), "f1", one_class=5)
    assert found.verdict == "degenerate" and "one class predicted in 5 of 10 repeats" in found.remark
    assert verdict((50.2, 1, 10), (50, 1, 10), one_class=4) == "reproduced"
    assert verdict((0.0, 0.0, 10), (0.0, 0.0, 10), one_class=10) == "degenerate"


def test_a_missing_standard_deviation_is_replaced_by_the_other_with_a_note():
    found = judge(MeanAndSd(53, math.nan, 1), MeanAndSd(50, 4, 10), "f1", random=False)
    assert found.verdict == "inconclusive" and "published sd assumed" in found.remark
    found = judge(MeanAndSd(53, 1, 10), MeanAndSd(50, math.nan, 10), "f1")
    assert found.verdict == "better" and math.isnan(found.difference_in_sd) and "obtained sd assumed" in found.remark
    # of one repeat, 53 and 50 are as near as two draws are
    once = judge(MeanAndSd(53, 2, 10), MeanAndSd(50, math.nan, 1), "f1")
    assert once.verdict == "inconclusive" and once.remark == "no published sd: obtained sd assumed, and one repeat"
    assert judge(MeanAndSd(53, 2, 10), MeanAndSd(50, math.nan, 10), "f1").verdict == "better"
    assert judge(MeanAndSd(50.5, 1, 10), MeanAndSd(50, math.nan, 1), "f1").verdict == "reproduced"
    assert verdict((math.nan, math.nan, 0), (50, 4, 10)) == "not reproduced"
    # 0.00 +- 0.00 on both sides, as printed for one published cell
    found = judge(MeanAndSd(0.004, 0, 10), MeanAndSd(0, 0, 10), "f1", rounding=0.005)
    assert (found.verdict, found.difference_in_sd) == ("reproduced", 0.0)
    assert verdict((0.2, 0, 10), (0, 0, 10), rounding=0.005) == "better"


def test_every_disagreement_has_a_named_cause():
    for given in [*VERDICTS, f"{BY_VARIANT}: rkhs"]:
        for flags in np.ndindex(2, 2):
            reduced, fewer = map(bool, flags)
            cause = automatic_cause(given, reduced=reduced, fewer_repeats=fewer)
            assert (cause == "") == (given in ("reproduced", "not judged", COMPARED, "not run")) and (
                not cause or cause in CAUSES
            )
    assert automatic_cause("worse", reduced=False, fewer_repeats=False) == "unexplained"


def test_declared_words_are_those_of_the_report():
    assert set(Verdict.__args__) == set(VERDICTS)
    assert set(Cause.__args__) <= set(CAUSES)


def test_fewer_than_three_repeats_are_not_judged():
    """Unless the experiment has no randomness: then one repeat is all that there is to know."""
    for n in (1, 2):
        found = judge(MeanAndSd(80.5, 2.0, n), MeanAndSd(80.0, 2.0, 10), "f1")
        assert found.verdict == "not judged" and found.remark.startswith(f"{n} repeat")
        assert verdict((60.0, 1.0, n), (80.0, 1.0, 10)) == "not judged"
    assert verdict((80.5, 2.0, 3), (80.0, 2.0, 10)) != "not judged"
    assert verdict((80.0, math.nan, 1), (80.0, math.nan, 1), random=False) == "reproduced"
    assert automatic_cause("not judged", reduced=True, fewer_repeats=True) == ""


PUBLISHED = [
    path.stem for path in sorted((ROOT / "experiments").glob("*.yaml")) if "\npublished:" in path.read_text("utf-8")
]


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_quick_profile_ends_in_a_verdict(name):
    """Some published figure has three repeats there, of the method itself where any was published."""
    experiment = load_experiment(name, check_methods=False)
    samples = Samples.of(experiment, plan(experiment, "quick"), {})
    figures = read_published(experiment, samples.parameters)
    own = [figure for figure in figures if not figure.other] or figures
    places = {(f.dataset, setting_key(dict(f.setting), samples.keys), f.method, f.metric) for f in own}
    judged = [
        (dataset, setting, column, metric)
        for (dataset, setting, column), cells in samples.cells.items()
        for metric in experiment.metrics
        if len(cells) >= FEWEST_REPEATS and (dataset, setting, base_name(column), metric) in places
    ]
    assert judged or (name == ONE_REPEAT and all(figure.other for figure in figures))
