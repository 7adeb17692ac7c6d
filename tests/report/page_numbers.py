"""What the sentences of results/README.md are checked with: committed tables and cells, and counts of them in words."""

import functools

import pandas as pd

from tests.helpers import ROOT

RESULTS = ROOT / "results"
PAGE = (RESULTS / "README.md").read_text(encoding="utf-8")
HALF, QUARTER = "label_frequency=0.5", "label_frequency=0.25"


def columns_of(frame):
    return [f"{m}/{v}" if v else m for m, v in zip(frame["method"], frame["variant"], strict=True)]


@functools.cache
def table(name, metric=""):
    frame = pd.read_csv(RESULTS / name / "table.csv", keep_default_na=False)
    for column in ("obtained_mean", "obtained_sd", "published_mean", "published_sd"):
        frame[column] = pd.to_numeric(frame[column], errors="coerce")
    frame["column"] = columns_of(frame)
    return frame[frame["metric"].str.startswith(metric)]


@functools.cache
def cells(name):
    frame = pd.read_csv(RESULTS / name / "cells.csv", low_memory=False)
    frame[["variant", "flags"]] = frame[["variant", "flags"]].astype(object).fillna("")
    frame["column"] = columns_of(frame)
    return frame


def mean(name, column, setting="", *, of="obtained", metric="f1", published_only=False):
    rows = table(name, metric)
    rows = rows[(rows["column"] == column) & rows["setting"].str.startswith(setting)]
    rows = rows[rows["setting"] == setting] if setting else rows
    if published_only:
        sets = table(name, metric).query("published_mean.notna()", engine="python")["dataset"].unique()
        rows = rows[rows["dataset"].isin(sets)]
    return rows[f"{of}_mean"].mean()


def verdicts(name, column, metric="f1"):
    rows = table(name, metric)
    return rows[rows["column"] == column]["verdict"].str.partition(":")[0].value_counts()


def counted(name, column, metric="f1"):
    """The counts of a column in words, in the order of the verdicts."""
    counts = verdicts(name, column, metric)
    order = ("reproduced", "reproduced by a variant", "better", "worse", "inconclusive", "degenerate")
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in order if verdict in counts)


def ahead(name, a, b):
    rows = pd.read_csv(RESULTS / name / "comparisons.csv")
    rows = rows[(rows["a"] == a) & (rows["b"] == b)]
    return int((rows["mean_difference"] > 0).sum()), len(rows), int((rows["p_adjusted"] < 0.05).sum())


def wide(name, metric="f1", index=("dataset", "setting")):
    return table(name, metric).pivot_table(index=list(index), columns="column", values="obtained_mean", observed=True)


def listed(names):
    return ", ".join(names[:-1]) + f" and {names[-1]}"
