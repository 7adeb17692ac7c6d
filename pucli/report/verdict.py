"""Does an obtained mean agree with a published one?

Reproduced: the published mean lies within two standard errors of the difference, sqrt(s_o^2 / n_o + s_p^2 / n_p), and
half a unit of its last printed digit. Otherwise the obtained mean is better or worse, or simply not reproduced where
the metric has no better side or no repeat gave a value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pucli.metrics import get_metric

REPRODUCED = "reproduced"
BY_VARIANT = "reproduced by a variant"
BETTER = "better"
WORSE = "worse"
NOT_REPRODUCED = "not reproduced"
NOT_RUN = "not run"
VERDICTS = (REPRODUCED, BY_VARIANT, BETTER, WORSE, NOT_REPRODUCED, NOT_RUN)

STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class Sample:
    """Mean and sample standard deviation of `n` repeats; `sd` NaN where it is not known."""

    mean: float
    sd: float
    n: int


def judge(obtained: Sample, published: Sample, metric: str, *, rounding: float = 0.0) -> tuple[str, float, str]:
    """Return the verdict, the difference in published standard deviations (NaN if there is none), and a remark.

    A standard deviation that is missing on one side (a single repeat, none printed) is taken from the other side, and
    the remark says so; it also says where a difference is within the errors only by a spread wider than the published
    one. `rounding` is half a unit of the last digit of the published mean.
    """
    difference = obtained.mean - published.mean
    in_sd = difference / published.sd if published.sd > 0 else (0.0 if abs(difference) <= rounding else math.nan)
    if obtained.n == 0 or math.isnan(obtained.mean):
        return NOT_REPRODUCED, math.nan, "no repeat gave a value"
    s_o, s_p, remark = obtained.sd, published.sd, ""
    if math.isnan(s_o) and not math.isnan(s_p):
        s_o, remark = s_p, "one repeat: published sd assumed"
    elif math.isnan(s_p) and not math.isnan(s_o):
        s_p, remark = s_o, "no published sd: obtained sd assumed"
    elif math.isnan(s_o):
        s_o = s_p = 0.0
        remark = "no sd on either side"
    error = math.sqrt(s_o**2 / obtained.n + s_p**2 / max(published.n, 1))
    if abs(difference) <= STANDARD_ERRORS * error + rounding:
        as_published = math.sqrt(s_p**2 / obtained.n + s_p**2 / max(published.n, 1))
        if abs(difference) > STANDARD_ERRORS * as_published + rounding:
            wider = f"{s_o / s_p:.1f} times" if s_p > 0 else "more than"
            remark = f"within the errors only because the repeats spread {wider} the published sd"
        return REPRODUCED, in_sd, remark
    better = get_metric(metric).better
    if better is None:
        return NOT_REPRODUCED, in_sd, remark
    return (BETTER if (difference > 0) == (better == "higher") else WORSE), in_sd, remark
