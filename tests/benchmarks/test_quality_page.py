"""The numbers of the section on AutoPU in results/README.md, computed from the committed tables."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from tests.helpers import ROOT

BENCH = ROOT / "results" / "bench"
PAGE = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
SECTION = " ".join(PAGE.partition("## AutoPU: how good")[2].partition("\n## ")[0].split())


def rows(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((BENCH / f"{name}.json").read_text(encoding="utf-8"))["rows"]
    return found


def of(method: str, column: str, labelling: str = "case-control") -> list[str]:
    """Return the values at both frequencies on all tasks as the page writes them."""
    lines = [r for r in rows("quality-full") if (r["tasks"], r["labelling"], r["method"]) == ("all", labelling, method)]
    return [f"{line[column]:.3f}".removeprefix("0") for line in lines]


@pytest.mark.parametrize(
    ("method", "column"),
    [
        ("auto", "F1"),
        ("auto", "AUC"),
        ("auto", "prior error"),
        ("SVC, unlabeled as negative", "F1"),
        ("SVC, true prior", "F1"),
        ("auto, true prior", "F1"),
        ("no hidden positives", "F1"),
        ("no hidden positives", "AUC"),
        ("pulearn bagging", "F1"),
        ("true labels", "F1"),
    ],
)
@pytest.mark.slow
def test_a_pair_of_figures_is_that_of_the_table(method: str, column: str) -> None:
    assert " and ".join(of(method, column)) in SECTION


def test_labels_in_one_sample_are_reported_too() -> None:
    f1, ranking, error = (of("auto", column, "single-training-set") for column in ("F1", "AUC", "prior error"))
    kept = [
        r["kept"].split(", ")[1].split()[1].removeprefix("0")
        for r in rows("quality-full")
        if (r["tasks"], r["method"], r["labelling"]) == ("all", "auto", "single-training-set")
    ]
    assert f"an F1 of {' and '.join(f1)} and an AUC of {' and '.join(ranking)}" in SECTION
    assert f"(recall {' and '.join(kept)}), but the error of the prior at 0.25 is {error[0]}" in SECTION
    assert float(error[0]) > 0.06 > float(error[1])
    worst = [value.replace("-0", "") for value in of("auto", "worst to SVC", "single-training-set")]
    assert f"on the worst task, shuttle5, F1 is {worst[0]} and {worst[1]} below" in SECTION


@pytest.mark.parametrize(("column", "targets"), [("AUC", (0.915, 0.93)), ("F1", (0.775, 0.79))])
def test_the_share_of_what_is_possible_that_the_targets_ask_for(column: str, targets: tuple[float, float]) -> None:
    auto, possible = (
        [
            line[column]
            for line in rows("quality-full")
            if (line["tasks"], line["labelling"], line["method"]) == ("all", "case-control", method)
        ]
        for method in ("auto", "no hidden positives")
    )
    shares = [100 * (t - a) / (p - a) for t, a, p in zip(targets, auto, possible, strict=True)]
    assert f"{shares[0]:.0f} and {shares[1]:.0f} % of the {column}" in SECTION


@pytest.mark.slow
def test_the_best_of_the_other_libraries_is_named() -> None:
    for k in range(2):
        others = {
            name: of(name, "F1")[k] for name in ("pulearn bagging", "pulearn Elkan-Noto", "pu-toolbox uPU, tuned")
        }
        others["LightGBM"] = of("LightGBM, unlabeled as negative", "F1")[k]
        assert max(others, key=lambda name: others[name]) == "pulearn bagging"


def test_the_worst_tasks_are_named() -> None:
    """By how much auto is below the naive SVC there, and at most on the other tasks."""
    cells = pd.DataFrame(json.loads((BENCH / "quality-full.json").read_text(encoding="utf-8"))["cells"])
    cells = cells[(cells.labelling == "case-control") & cells.method.isin(["auto", "SVC, unlabeled as negative"])]
    f1 = cells.groupby(["frequency", "task", "method"]).f1.mean().unstack()
    below = f1["SVC, unlabeled as negative"] - f1["auto"]
    few, half = (below.loc[frequency].sort_values(ascending=False) for frequency in (0.25, 0.5))
    worst, most, others = (f"{value:.3f}".removeprefix("0") for value in (few.iloc[0], half.iloc[0], half.iloc[1]))
    assert f"at 0.25 it is at most {worst} below ({few.index[0]})" in SECTION
    assert f"at 0.5 it is {most} below on {half.index[0]} and at most {others} on the others" in SECTION


def test_the_errors_of_the_prior_are_those_of_the_table() -> None:
    lines = [r for r in rows("prior-full") if r["tasks"] == "all" and "recommended" not in r["estimator"]]
    for frequency in (0.25, 0.5):
        errors = {r["estimator"]: r["error"] for r in lines if r["labelled"] == frequency}
        assert sorted(errors, key=lambda name: errors[name])[:2] == ["auto", "best-bin"]
    said = " and ".join(f"{r['error']:.3f}".removeprefix("0") for r in lines if r["estimator"] == "best-bin")
    assert f"best bins of the same scores, have {said}" in SECTION
    by_score = [r["prior error"] for r in rows("quality-full") if (r["tasks"], r["method"]) == ("all", "auto")]
    biased = sorted(by_score[4:])
    assert f"off by {biased[0]:.2f} to {biased[-1]:.2f}".replace("0.", ".") in SECTION


def test_the_shares_of_intervals_that_hold_are_those_of_the_table() -> None:
    both = [r["kept"].split(", ") for r in rows("quality-full") if (r["tasks"], r["method"]) == ("all", "auto")][:2]
    for low, high in zip(*both, strict=True):
        name, value = low.split()
        written = f"{value.removeprefix('0')} and {high.split()[1].removeprefix('0')}"
        assert f"{written}" in SECTION, name


def test_published_figures_are_those_of_the_table() -> None:
    lines = [r for r in rows("published") if r["method"] == "auto"]
    for line in lines:
        if (line["protocol"], line["metric"]) == ("PU-Bench", "AUC"):
            continue
        assert f"{line['value']:.3f}".removeprefix("0") in SECTION


def test_figures_of_biased_labels_are_those_of_the_table() -> None:
    lines = [r for r in rows("labelling") if r["tasks"] == "all"]
    for method in ("auto, labelling sar", "auto", "SAR-EM"):
        f1 = [f"{r['F1']:.3f}".removeprefix("0") for r in lines if r["method"] == method]
        assert len(f1) == 5
        told = ", ".join(f1[1:4]) + f" and {f1[4]}"
        assert told in SECTION, method
    random = {r["method"]: f"{r['F1']:.3f}".removeprefix("0") for r in lines if r["labelling"] == "single-training-set"}
    assert f"{random['auto, labelling sar']} against {random['auto']}" in SECTION


def test_what_further_members_would_add_is_that_of_the_table() -> None:
    others = [r for r in rows("members-full") if not r["method"].endswith("(a member)")]
    low, high = (f"{pick(r['change'] for r in others):+.4f}".replace("0.", ".") for pick in (min, max))
    assert f"changes by {low} to {high}" in SECTION
    assert f"up to {max(r['error'] for r in others):.4f}".replace("0.", ".") in SECTION


def test_the_rules_of_choice_compare_as_the_page_says() -> None:
    cells = pd.DataFrame(json.loads((BENCH / "tuning.json").read_text(encoding="utf-8"))["cells"])
    page = " ".join(PAGE.split())

    def written(value: float) -> str:
        return f"{value:.3f}".removeprefix("0")

    means = cells.groupby(["tasks", "rule", "labelled"])[["F1", "AUC"]].mean()
    for rule in cells.rule.unique():
        pairs = [
            "{}, {} ({}, {})".format(
                *(written(means.loc[(half, rule, f), name]) for name in ("F1", "AUC") for f in (0.25, 0.5))
            )
            for half in ("design", "look-once")
        ]
        assert f"| {pairs[0]} | {pairs[1]} |" in page
    default = "pu-auc, twice"
    f1 = cells.groupby(["tasks", "method", "rule"]).F1.mean().unstack()
    best = f1.idxmax(axis=1)
    but = {
        half: [name for name in best.loc[half].index if best[half, name] != default] for half in ("design", "look-once")
    }
    assert but == {"design": ["svc-naive"], "look-once": ["glpual"]}
    for half, name in (("design", "svc-naive"), ("look-once", "glpual")):
        pair = [written(f1.loc[(half, name), rule]) for rule in (default, best[half, name])]
        assert "({}, and {}".format(*pair) in page
    at = cells[(cells.tasks == "look-once") & (cells.method == "glpual") & (cells.labelled == 0.25)]
    loss = at[at.rule == "f1, 3 times"].F1.mean() - at[at.rule == default].F1.mean()
    assert f"loses {written(loss)} to the estimated F1" in page
    seconds = cells.groupby(["tasks", "method", "rule"]).seconds.mean().unstack()
    ratio = seconds[default] / seconds["f1, 3 times"]
    assert f"takes {ratio.min():.2f} to {ratio.max():.2f} of the time".replace("0.", ".") in page


def test_what_advise_says_of_the_methods_of_the_papers() -> None:
    """On how many tasks they have the larger F1, and by how much."""
    from benchmarks.common.quality_methods import OURS
    from pucli.cli.commands.advise import command
    from pucli.models.advice import AHEAD_OF_AUTO

    cells = json.loads((BENCH / "quality-full.json").read_text(encoding="utf-8"))["cells"]
    frame = pd.DataFrame(c for c in cells if c["labelling"] == "case-control" and c["method"] in {"auto", *OURS})
    f1 = frame.groupby(["frequency", "task", "method"]).f1.mean().unstack()
    ahead = f1[list(OURS)].sub(f1["auto"], axis=0)
    better = (ahead > 0).groupby("frequency").sum()
    said = " ".join((command.__doc__ or "").split())
    few = better.loc[0.25].sort_values(ascending=False, kind="stable")
    second = [name for name in OURS if few[name] == few.iloc[1]]
    assert (
        f"on at most {few.iloc[0]} tasks with a quarter of the positives labelled ({few.index[0]} {few.iloc[0]}" in said
    )
    assert f"{', '.join(second[:-1])} and {second[-1]} {few.iloc[1]})" in said
    assert f"and on at most {better.loc[0.5].max()} with half of them" in said
    for name, told in AHEAD_OF_AUTO.items():
        assert told == tuple(better[name])
    assert ahead.stack()[lambda gap: gap > 0].quantile(0.75) < 0.04 and "mostly by less than .04" in said
