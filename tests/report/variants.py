"""Runs of variants held against the published figures of a table: which of its rows would they give?"""

import json

import pandas as pd

from pucli.report.tables.verdict import MeanAndSd, judge
from tests.report.page_numbers import cells, table


def one_class_of(name):
    """Return the number of repeats that predict one class, by data set, setting and column."""
    frame = cells(name)
    settings = pd.DataFrame([json.loads(text) for text in frame["setting"]])
    shown = [key for key in settings if settings[key].nunique() > 1]  # as tables name them
    frame = frame.assign(
        one=frame["flags"].str.contains("one class"),
        place=[", ".join(f"{key}={row[key]:g}" for key in shown) for row in settings.to_dict("records")],
    )
    return frame.groupby(["dataset", "place", "column"])["one"].sum()


def judged(name, variant, *, reading=""):
    """Return the rows of the table `name` that the experiment `variant` has, with its verdict on them.

    Columns are those of the variant; a column `method/x` stands for the row `method/x`, or else `method`. Settings of
    the variant that end in ", reading" stand for those without this end.
    """
    rows = table(name, "f1").set_index(["dataset", "setting", "column"])
    one, found = one_class_of(variant), []
    ending = f", {reading}" if reading else ""
    for row in table(variant, "f1").itertuples():
        if not row.setting.endswith(ending):
            continue
        setting = row.setting.removesuffix(ending)
        place = (row.dataset, setting, row.column)
        if place not in rows.index:
            place = (row.dataset, setting, row.method)
        if place not in rows.index or pd.isna(rows.loc[place, "published_mean"]):
            continue
        there = rows.loc[place]
        repeats = int(str(row.repeats).split("/")[0])
        verdict = judge(
            MeanAndSd(row.obtained_mean, row.obtained_sd, repeats),
            MeanAndSd(there["published_mean"], there["published_sd"], repeats),
            "f1",
            rounding=0.005,
            one_class=int(one[row.dataset, row.setting, row.column]),
        ).verdict
        found.append((*place, row.column, row.obtained_mean, there["verdict"], there["cause"], verdict))
    names = ["dataset", "setting", "column", "variant", "mean", "verdict", "cause", "agrees"]
    frame = pd.DataFrame(found, columns=names)
    return frame.assign(agrees=frame["agrees"] == "reproduced", disagreed=frame["verdict"].isin(["better", "worse"]))


def other_starts(number):
    """Return the published figures of a table of USMO with their verdicts, and those of another start.

    A row for each figure and start: `verdict` is that of the table, `agrees` whether the other start reproduces it.
    """
    shown, found = table(f"usmo-table-{number}", "f_published").set_index(["dataset", "method"]), []
    one = one_class_of(f"usmo-starts-{number}")
    for row in table(f"usmo-starts-{number}", "f_published").itertuples():
        there = shown.loc[(row.dataset, row.method)]
        own = MeanAndSd(row.obtained_mean, row.obtained_sd, int(row.repeats))
        published = MeanAndSd(there["published_mean"], float("nan"), 1)
        constant = int(one[row.dataset, row.setting, row.column])
        verdict = judge(own, published, "f_published", rounding=0.05, one_class=constant).verdict
        found.append(
            (row.dataset, row.method, row.variant, row.obtained_mean, there["verdict"], verdict == "reproduced")
        )
    return pd.DataFrame(found, columns=["dataset", "method", "start", "mean", "verdict", "agrees"])
