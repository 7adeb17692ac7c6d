"""What the notes say of printed figures at the F1 of calling every row positive, and of the author's split."""

import re

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.helpers import ROOT
from tests.report.page_numbers import table

NOTES = (ROOT / "results" / "author-3.3" / "notes.md").read_text(encoding="utf-8")
NEAR = 0.6  # points


def printed():
    """Return the printed figures of tables 3.3, 4.4 and of CPB-GLPUAL, with F1 of all rows called positive.

    `whole` is that F1 at the share of positives of the whole set, `stated` at that of test rows of the stated split.
    """
    declared = yaml.safe_load((ROOT / "datasets.yaml").read_text(encoding="utf-8"))
    found = []
    for name in ("table-3.3", "table-4.4", "table-5.3"):
        rows = table(name, "f1").drop_duplicates(["dataset", "setting", "method"])
        for row in rows.itertuples():
            if np.isnan(row.published_mean) or (name == "table-5.3" and row.method != "cpb-glpual"):
                continue
            counts = declared[row.dataset]["published"]
            frequency = float(row.setting.partition("=")[2])
            left = counts["positive"] * (1 - 0.7 * frequency / (1 - 0.3 * frequency))
            whole, stated = (200 * p / (2 * p + counts["negative"]) for p in (counts["positive"], left))
            found.append((row.dataset, row.setting, row.method, row.published_mean, whole, stated))
    return pd.DataFrame(found, columns=["dataset", "setting", "method", "mean", "whole", "stated"])


def test_printed_figures_at_the_share_of_the_whole_set_are_as_many_as_the_notes_say():
    rows = printed()
    near = {name: int(((rows["mean"] - rows[name]).abs() <= NEAR).sum()) for name in ("whole", "stated")}
    assert f"{near['whole']} of {len(rows)} printed figures" in NOTES and f"{near['stated']} at that of" in NOTES
    # two shares of the same set are never as near to each other, so that no figure counts for both
    assert (rows["whole"] - rows["stated"]).min() > 2 * NEAR


@pytest.mark.slow
@pytest.mark.parametrize(("dataset", "value"), [("hd", 71.6), ("ld", 59.0), ("enb", 66.7), ("ssmcr", 87.8)])
def test_the_f1_of_calling_everything_positive(dataset, value):
    rows = printed()
    assert round(rows.loc[rows["dataset"] == dataset, "whole"].iloc[0], 1) == value
    assert re.search(rf"\b{value}\b", NOTES)


def test_dropped_shares_by_the_authors_code_are_those_of_the_notes():
    rows = table("author-raw-4.4", "irrelevant_zeroed")
    # data chosen with the print in view count in no mean
    rows = rows[rows["published_mean"].notna() & (rows["variant"] != "") & ~rows["dataset"].str.endswith("-script")]
    for variant, own in rows.groupby("variant"):
        apart = (own["obtained_mean"] - own["published_mean"]).abs().mean()
        assert f"| {variant} | {own['obtained_mean'].mean():.0f} | {apart:.0f} |" in NOTES
    own = rows[rows["variant"] == "code-5"]
    assert f"correlation {np.corrcoef(own['obtained_mean'], own['published_mean'])[0, 1]:.2f}" in NOTES


def test_what_the_notes_say_of_all_rows_of_wifi():
    rows = table("author-wifi", "f1").set_index(["column", "setting"])["obtained_mean"].round(1)
    at = ["label_frequency=0.5", "label_frequency=0.25"]
    for column in ("upu", "nnpu", "cpb-glpual/penalty-1"):
        assert " and ".join(f"{rows[column, place]:.1f}" for place in at) in NOTES
    for name, column in (("table-3.3", "upu"), ("table-3.3", "nnpu"), ("table-5.3", "cpb-glpual/thesis")):
        printed = (
            table(name, "f1").query("dataset == 'wifi'").set_index(["column", "setting"])["published_mean"].round(1)
        )
        assert " and ".join(f"{printed[column, place]:.1f}" for place in at) in NOTES


def test_what_the_notes_say_of_the_literal_prior():
    rows = table("odds-5.3", "f1").dropna(subset=["obtained_mean", "published_mean"])
    apart = (rows["obtained_mean"] - rows["published_mean"]).abs().groupby(rows["column"]).mean().round(1)
    text = NOTES.partition("**The literal prior**")[2].partition("**All rows")[0]
    for column in ("cpb-glpual/odds", "cpb-glpual/share", "upu/odds", "nnpu/odds"):
        assert f"{apart[column]:.1f}" in text
