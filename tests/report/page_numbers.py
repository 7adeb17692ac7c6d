"""Committed tables and cells as frames."""

import functools

import pandas as pd

from tests.helpers import ROOT

RESULTS = ROOT / "results"


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
    frame = pd.read_csv(RESULTS / name / "cells.csv.gz", low_memory=False)
    frame[["variant", "flags"]] = frame[["variant", "flags"]].astype(object).fillna("")
    frame["column"] = columns_of(frame)
    return frame
