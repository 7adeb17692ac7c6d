"""Verdicts on the agreement of an obtained and a published mean, based on equivalence tests.

Let d be the obtained minus the published mean, s = sqrt(s_o^2 / n_o + s_p^2 / n_p) its standard error, and d -+ t s its
90 % confidence interval, where t is the 95 % quantile of Student's distribution (degrees of freedom by Welch and
Satterthwaite). Two one-sided tests at the 5 % level compare this interval with a margin (Schuirmann 1987), which is
that of the metric (`pucli.metrics.registry`). Half a unit of the last printed digit is always allowed.

    reproduced      |d| <= 2 s, and the interval lies within the margin
    inconclusive    |d| <= 2 s, but the interval is too wide to tell
    better, worse   |d| > 2 s, according to the better side of the metric
    not reproduced  |d| > 2 s and the metric has no better side, or no repeat gave a value
    degenerate      at least half of the repeats predict one class only, whatever the figures
    not judged      fewer than three repeats gave a value, and the experiment has randomness

A figure that only another variant of the method or protocol reproduces is "reproduced by a variant" if the method
agrees with its own print more often than with any other (`pucli.report.tables.controls`), and else "agrees, but as
often with another print". A figure of another method is neither reproduced nor missed: `beside` makes it "compared
with another method".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from pucli.metrics import get_metric

REPRODUCED = "reproduced"
BY_VARIANT = "reproduced by a variant"
AS_OFTEN = "agrees, but as often with another print"
BETTER = "better"
WORSE = "worse"
INCONCLUSIVE = "inconclusive"
DEGENERATE = "degenerate"
NOT_REPRODUCED = "not reproduced"
NOT_JUDGED = "not judged"
COMPARED = "compared with another method"
NOT_RUN = "not run"


class VerdictStyle(NamedTuple):
    """How a verdict is explained and marked: in figures by marker and color, on the terminal by a style of Rich."""

    sign: str
    latex: str
    marker: str
    color: str
    style: str
    meaning: str = ""
    short: str = ""


STYLES = {
    REPRODUCED: VerdictStyle("=", "=", "o", "green", "green",
                     "within two standard errors, and the interval of the difference is within the margin of the "
                     "metric"),
    BY_VARIANT: VerdictStyle("≈", "v", "D", "green", "green",
                     "this variant of the method does not agree with the published figure, but the named one does",
                     "by a variant"),
    AS_OFTEN: VerdictStyle("~", "a", "d", "gray", "yellow",
                     "the named variant or protocol agrees with the published figure, but in this table its method "
                     "agrees as often with figures that are not its own", "as often with another"),
    BETTER: VerdictStyle("▲", "+", "^", "blue", "cyan", "more than two standard errors better than published"),
    WORSE: VerdictStyle("▼", "-", "v", "red", "red", "more than two standard errors worse than published"),
    INCONCLUSIVE: VerdictStyle("?", "?", "s", "gray", "yellow",
                       "within two standard errors, but the interval is too wide to tell"),
    DEGENERATE: VerdictStyle("◌", "1", "x", "gray", "yellow",
                     "at least half of the models predict one class only; such a figure reproduces nothing"),
    NOT_REPRODUCED: VerdictStyle("≠", "n", "P", "red", "yellow",
                         "no repeat gave a value, or the metric has no better side", "differs"),
    NOT_JUDGED: VerdictStyle("·", "o", ".", "gray", "", "fewer than three repeats"),
    COMPARED: VerdictStyle("↔", "c", "*", "gray", "dim", "the published figure is that of another method", "compared"),
    NOT_RUN: VerdictStyle("–", "", "", "gray", "dim"),
}  # fmt: skip
VERDICTS = tuple(STYLES)
# repeats without which a mean of random values is not judged
FEWEST_REPEATS = 3

STANDARD_ERRORS = 2.0
# level of the two one-sided tests; the confidence level of the interval is 1 - 2 LEVEL
LEVEL = 0.05
# minimum share of repeats with one predicted class for a row to be degenerate
DEGENERATE_SHARE = 0.5


@dataclass(frozen=True)
class MeanAndSd:
    """Mean and sample standard deviation of `n` repeats; `sd` is NaN if unknown."""

    mean: float
    sd: float
    n: int


@dataclass(frozen=True)
class Judgment:
    """Result of `judge`."""

    verdict: str  # one of `VERDICTS`
    # obtained minus published mean, in published standard deviations; NaN without one
    difference_in_sd: float = math.nan
    # the same in standard errors of the difference, by which verdicts are given; NaN without any spread
    difference_in_errors: float = math.nan
    # confidence interval of the difference, in the unit of the means; NaN if there is none
    low: float = math.nan
    high: float = math.nan
    remark: str = ""


def judge(
    obtained: MeanAndSd,
    published: MeanAndSd,
    metric: str,
    *,
    rounding: float = 0.0,
    one_class: int = 0,
    random: bool = True,
) -> Judgment:
    """Return the verdict on an obtained mean; see the module docstring.

    Examples
    --------
    >>> judge(MeanAndSd(80.5, 2.0, 10), MeanAndSd(80.0, 2.0, 10), "f1").verdict
    'reproduced'
    >>> judge(MeanAndSd(68.0, 37.4, 5), MeanAndSd(96.4, 1.4, 5), "f1").verdict
    'inconclusive'
    """
    if obtained.n == 0 or math.isnan(obtained.mean):
        return Judgment(NOT_REPRODUCED, remark="no repeat gave a value")
    difference = obtained.mean - published.mean
    in_sd = difference / published.sd if published.sd > 0 else (0.0 if abs(difference) <= rounding else math.nan)
    obtained, published, remark = _with_spreads(obtained, published)
    variances = obtained.sd**2 / obtained.n, published.sd**2 / max(published.n, 1)
    error = math.sqrt(sum(variances))
    in_errors = difference / error if error > 0 else math.nan
    half = _quantile(variances, (obtained.n, published.n)) * error
    low, high = difference - half, difference + half
    margin = get_metric(metric).margin_at(published.mean) + rounding
    better = get_metric(metric).better
    if random and obtained.n < FEWEST_REPEATS:
        counted = f"{obtained.n} repeat{'s' * (obtained.n > 1)}, {FEWEST_REPEATS} are needed"
        return Judgment(NOT_JUDGED, in_sd, in_errors, low, high, "; ".join(filter(None, [counted, remark])))
    if one_class >= DEGENERATE_SHARE * obtained.n:
        remark = "; ".join(filter(None, [f"one class predicted in {one_class} of {obtained.n} repeats", remark]))
        verdict = DEGENERATE
    elif abs(difference) > STANDARD_ERRORS * error + rounding:
        verdict = NOT_REPRODUCED if better is None else BETTER if (difference > 0) == (better == "higher") else WORSE
    else:
        verdict = REPRODUCED if max(-low, high) <= margin else INCONCLUSIVE
    return Judgment(verdict, in_sd, in_errors, low, high, remark)


def beside(judged: Judgment) -> Judgment:
    """Return the judgment of a figure that is one of another method, e.g. "compared with another method: better"."""
    return replace(judged, verdict=f"{COMPARED}: {'equal' if judged.verdict == REPRODUCED else judged.verdict}")


def plain(verdict: str) -> str:
    """Return a verdict without what follows a colon: the variant that agrees, or how another method compares."""
    return verdict.partition(":")[0]


def in_words(verdict: str) -> str:
    """Return a verdict whose subject is the variant that agrees: `rkhs agrees, but as often with another print`."""
    kind, _, names = verdict.partition(": ")
    verb = "agree" if ", " in names else "agrees"
    return f"{names} {verb}{kind.removeprefix('agrees')}" if kind == AS_OFTEN and names else verdict


def counted(verdicts: Iterable[str]) -> dict[str, int]:
    """Return the number of each verdict, whichever variant it names, in the order of `VERDICTS`."""
    counts = Counter(map(plain, verdicts))
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def _with_spreads(obtained: MeanAndSd, published: MeanAndSd) -> tuple[MeanAndSd, MeanAndSd, str]:
    """Return both samples with standard deviations, and the assumption made."""
    if math.isnan(obtained.sd) and math.isnan(published.sd):
        return replace(obtained, sd=0.0), replace(published, sd=0.0), "no sd on either side"
    if math.isnan(obtained.sd):
        return replace(obtained, sd=published.sd), published, "one repeat: published sd assumed"
    if math.isnan(published.sd):
        remark = "no published sd: obtained sd assumed" + (", and one repeat" if published.n == 1 < obtained.n else "")
        return obtained, replace(published, sd=obtained.sd), remark
    return obtained, published, ""


def _quantile(variances: tuple[float, float], repeats: tuple[int, int]) -> float:
    """Return the upper `LEVEL` quantile of Student's distribution for the variances of two means; 0 if both are 0."""
    from scipy.special import stdtrit

    total = sum(variances)
    if total == 0:
        return 0.0
    # a sample of one repeat has the standard deviation of the other, and no degrees of freedom of its own
    own = [v**2 / (n - 1) for v, n in zip(variances, repeats, strict=True) if n > 1]
    freedom = total**2 / sum(own) if sum(own) > 0 else max(1.0, max(repeats) - 1.0)
    return float(stdtrit(freedom, 1 - LEVEL))
