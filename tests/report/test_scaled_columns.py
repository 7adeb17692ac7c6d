"""Table 4.4 of Wang 2024: which printed figures of uPU and nnPU are those of table 3.3 times one factor."""

import pandas as pd

from pucli.runner import load_experiment
from tests.helpers import ROOT

HALF_DIGIT = 0.005


def both_tables():
    """Return the rows that both tables print, with a spread in both and another mean."""
    place = ["dataset", "label_frequency", "method"]
    first, second = (
        pd.read_csv(ROOT / "experiments" / "published" / f"table-{number}.csv").assign(
            f1_mean=lambda rows: pd.to_numeric(rows["f1_mean"], errors="coerce")
        )
        for number in ("3.3", "4.4")
    )
    rows = first.merge(second, on=place, suffixes=("", "_later")).dropna()
    return rows[(rows["f1_sd"] > 0) & (rows["f1_sd_later"] > 0) & (rows["f1_mean"] != rows["f1_mean_later"])]


def has_one_factor(row):
    """Return whether one factor gives both printed numbers, as rounded."""
    pairs = [(row.f1_mean, row.f1_mean_later), (row.f1_sd, row.f1_sd_later)]
    low = max((new - HALF_DIGIT) / (old + HALF_DIGIT) for old, new in pairs)
    high = min((new + HALF_DIGIT) / (old - HALF_DIGIT) for old, new in pairs)
    return low <= high


def test_the_notes_name_the_scaled_rows_and_no_others():
    rows = both_tables()
    scaled = {
        (row.dataset.lower(), row.method.lower(), row.label_frequency): row.f1_mean_later / row.f1_mean
        for row in rows.itertuples()
        if has_one_factor(row)
    }
    declared = {
        (note.dataset, note.method, note.setting["label_frequency"]): note.text
        for note in load_experiment("table-4.4", check_methods=False).notes
        if "times" in note.text
    }
    assert declared.keys() == scaled.keys() and {method for _, method, _ in scaled} == {"upu", "nnpu"}
    assert all(f"times {factor:.3f}" in declared[place] for place, factor in scaled.items())


def test_near_factors_are_as_many_as_the_notes_say():
    rows = both_tables()
    ratio = (rows["f1_sd_later"] / rows["f1_sd"]) / (rows["f1_mean_later"] / rows["f1_mean"])
    near = (ratio - 1).abs() < 0.01
    ours = rows["method"] == "GLPUAL"
    assert (near[~ours].sum(), (~ours).sum(), near[ours].sum()) == (16, 49, 0)
