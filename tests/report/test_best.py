"""Which method is best on a data set: ties, noise, and fits that two tables share."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from pucli.report.site.best import best_on, lead

METHODS = {"glpual/thesis": "glpual", "glpual/rkhs": "glpual", "svc-naive": "svc-naive", "nnpu": "nnpu"}


def row(column, mean, *, setting="half", sd=2.0, repeats=16, metric="f1"):
    return SimpleNamespace(
        dataset="wifi", setting=setting, column=column, metric=metric, obtained_mean=mean, obtained_sd=sd,
        repeats=repeats,
    )  # fmt: skip


def table(name, rows, *, reuses=(), protocol="pu"):
    experiment = SimpleNamespace(
        name=name,
        protocol=protocol,
        metrics=["f1"],
        reuses=list(reuses),
        methods={column: SimpleNamespace(method=method) for column, method in METHODS.items()},
    )
    return experiment, SimpleNamespace(name=name, rows=rows)


@pytest.mark.parametrize(
    ("second", "beyond"),
    # sixteen repeats of standard deviation 2: the standard error of the difference is 0.71
    [(88.4, True), (88.7, False)],
)
def test_a_lead_exceeds_noise_beyond_two_standard_errors(second, beyond):
    rows = [row("glpual/thesis", 90.0), row("glpual/rkhs", 89.9), row("svc-naive", second)]
    found = lead(rows, [METHODS[one.column] for one in rows])
    assert found.next.column == "svc-naive"  # the next method, not the next variant
    assert found.beyond_noise == beyond
    assert ("beyond noise" in found.words) == beyond


def test_the_best_error_is_the_smallest():
    rows = [row("nnpu", 20.0, metric="error"), row("svc-naive", 10.0, metric="error")]
    assert lead(rows, ["nnpu", "svc-naive"]).best.column == "svc-naive"


def test_what_cannot_be_compared_is_no_lead():
    assert lead([], []) is None
    assert not lead([row("nnpu", 90.0)], ["nnpu"]).beyond_noise
    alone = [row("nnpu", 90.0, sd=math.nan, repeats=1), row("svc-naive", 10.0, sd=math.nan, repeats=1)]
    assert not lead(alone, ["nnpu", "svc-naive"]).beyond_noise


def test_fits_that_two_tables_share_count_once():
    first = table("a", [row("svc-naive", 94.9), row("glpual/thesis", 90.0), row("nnpu", math.nan)])
    again = table("b", [row("svc-naive", 94.9), row("nnpu", 50.0)], reuses=["a"])
    alone = table("b", [row("svc-naive", 94.9), row("nnpu", 50.0)])
    assert (best_on([first, alone], "wifi").settings, best_on([first, again], "wifi").settings) == (2, 1)
    found = best_on([first, again], "wifi")
    assert found.counts == {"svc-naive": 1} and found.clear == {"svc-naive": 1} and "count once" in found.sentence


def test_a_tie_and_noise_are_said():
    rows = [
        row("svc-naive", 90.0),
        row("nnpu", 89.9),
        row("svc-naive", 80.0, setting="q"),
        row("nnpu", 81.0, setting="q"),
    ]
    found = best_on([table("a", rows)], "wifi")
    assert found.sentence.startswith("A tie: svc-naive and nnpu each have the best mean in 1 of 2 settings.")
    assert "all may be noise" in found.sentence
    assert found.short == "svc-naive 1, nnpu 1 of 2; all within noise"


def test_ceilings_and_settings_with_one_method_do_not_count():
    ceiling = table("c", [row("svc-naive", 90.0), row("nnpu", 80.0)], protocol="pu_ceiling")
    single = table("d", [row("glpual/thesis", 90.0), row("glpual/rkhs", 80.0)])
    found = best_on([ceiling, single], "wifi")
    assert (found.settings, found.sentence, found.short) == (0, "", "")
