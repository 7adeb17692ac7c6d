"""Where `auto` stands beside the public tables: first, level or behind, and by how much.

Each row compares `auto` with the best of the others by their means; of a measure that is better if small, the
difference is the other minus `auto`, so that a positive one is good. Its standard error is that of the paired
differences over data sets (n of them), of PU-Bench, which prints means and spreads alone, that of two means of `n`
runs, of `auto` within label frequencies. Nothing is measured here: the rows are read from `results` and
`experiments/published`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.common.result_files import explained, read_results
from benchmarks.common.timing import Progress, silent
from pucli.data.files.readers import read_csv

COLUMNS = ("table", "measure", "auto", "best_other", "other", "difference", "standard_error", "n")
PRINTED_RUNS = 30  # of each figure of PU-Bench's fork
PU_BENCH = {"auc": "AUC", "average_precision": "AP", "f1": "F1", "calibration_error": "ECE"}
PUICL = {
    "auc": "AUC",
    "outlier_average_precision": "AP of the negatives",
    "balanced_accuracy": "balanced accuracy",
    "outlier_fpr_80": "false-positive rate at recall .80",
    "outlier_fpr_90": "false-positive rate at recall .90",
    "outlier_fpr_95": "false-positive rate at recall .95",
}
ORACLES = ("Oracle-PN", "true labels", "SVC, true prior", "auto, true prior")


def run(
    progress: Progress = silent, *, results: Path = Path("results"), published: Path = Path("experiments/published")
) -> dict[str, Any]:
    """Return the table of benchmark `public`, whose rows are its standing as well."""
    rows = [
        *_pu_bench(_cells(results / "pu-bench"), read_csv(published / "pu-bench-fork.csv")),
        *_puicl(_cells(results / "puicl"), read_csv(published / "puicl-tasks.csv")),
        *_pulsnar(_cells(results / "pulsnar"), read_csv(published / "pulsnar.csv")),
        *_own(results / "bench"),
    ]
    progress(1, 1)
    return {"title": "Where auto stands", "about": explained(__doc__),
            "columns": COLUMNS, "rows": rows, "standing": rows}  # fmt: skip


def _cells(folder: Path) -> pd.DataFrame:
    """Return the finished runs of `auto` of an experiment."""
    cells = read_csv(folder / "cells.csv.gz")
    return cells[(cells["method"] == "auto") & (cells["status"] == "done")]


def paired(table: str, measure: str, auto: pd.Series, name: str, other: pd.Series, *, low: bool) -> dict[str, Any]:
    """Return the row of figures that are paired by their index; clusters of the first level of an index count once."""
    gain = ((other - auto) if low else (auto - other)).dropna()
    apart = (gain - gain.mean()).groupby(level=0).sum()
    error = (apart**2).sum() ** 0.5 / len(gain) * (len(apart) / (len(apart) - 1)) ** 0.5
    figures = {"auto": auto[gain.index].mean(), "best_other": name, "other": other[gain.index].mean()}
    return {"table": table, "measure": measure, **figures, "difference": gain.mean(), "standard_error": error,
            "n": len(apart)}  # fmt: skip


def _pu_bench(cells: pd.DataFrame, printed: pd.DataFrame) -> list[dict[str, Any]]:
    found = []
    cells = cells[cells["setting"].str.contains('"scar"')]
    for dataset, own in cells.groupby("dataset", sort=False):
        for metric, measure in PU_BENCH.items():
            low = measure == "ECE"
            others = printed[(printed["dataset"] == dataset) & (printed["metric"] == measure)]
            others = others[~others["method"].isin(ORACLES)].sort_values("value", ascending=low, kind="stable")
            best, auto = others.iloc[0], own[metric].mean()
            runs = own.groupby("setting")[metric]  # label frequencies are fixed: their spread is no error
            error = ((runs.var() * runs.size()).sum() / len(own) ** 2 + best["sd"] ** 2 / PRINTED_RUNS) ** 0.5
            figures = {"auto": auto, "best_other": best["method"], "other": best["value"]}
            gain = {"difference": (best["value"] - auto) * (1 if low else -1), "standard_error": error, "n": len(own)}
            found.append({"table": f"PU-Bench, {dataset}", "measure": measure, **figures, **gain})
    return found


def _puicl(cells: pd.DataFrame, printed: pd.DataFrame) -> list[dict[str, Any]]:
    own = cells.set_index(["dataset", "repeat"])
    other = printed.set_index(["dataset", "task"]).rename_axis(["dataset", "repeat"])
    return [
        paired("PUICL, 13 sets", measure, own[metric], "PUICL", other[metric], low="fpr" in metric)
        for metric, measure in PUICL.items()
    ]


def _pulsnar(cells: pd.DataFrame, printed: pd.DataFrame) -> list[dict[str, Any]]:
    own, found = cells.groupby("dataset")["prior_error"].mean(), []
    for name, labels in (("PULSCAR", "at random"), ("PULSNAR", "by class")):
        other = printed[printed["method"] == name].set_index("dataset")["prior_error_mean"]
        table = f"PULSNAR, labels {labels}, {len(other)} sets"
        found.append(paired(table, "error of the class prior", own, name, other, low=True))
    return found


def _own(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of the project's own comparisons, of all tables and of those that no default was chosen on."""
    found = []
    real = pd.DataFrame(read_results(folder, "real_tables")["rows"]).rename(columns={"frequency": "share"})
    quality = pd.DataFrame(read_results(folder, "quality")["cells"]).rename(
        columns={"task": "table", "frequency": "share", "auc": "AUC", "ap": "AP", "f1": "F1"}
    )
    quality = quality[quality["labeling"] == "case-control"]
    for title, own, cells in (("real tables", "pucli auto", real), ("small tasks", "auto", quality)):
        for measure in ("AUC", "AP", "F1"):
            if measure not in cells:
                continue
            wide = cells.pivot_table(index=["table", "share"], columns="method", values=measure)
            rivals = wide.drop(columns=[own, *(name for name in ORACLES if name in wide)])
            rivals = rivals.loc[:, rivals.notna().sum() == len(wide)]
            best = str(rivals.mean().idxmax())
            found.append(paired(f"own {title}, {len(wide)} rows", measure, wide[own], best, rivals[best], low=False))
    return found
