"""Tables as they come from their sources: from the file to scored rows in two commands, compared with LightGBM.

Of each table 30 % of the rows are kept for testing. Of the positives among the others every second one keeps its label;
the label cell of every other row is emptied. `pucli auto` and `pucli predict` get these files and nothing else: text
columns, separators and empty cells are those of the source. LightGBM gets the same rows with its own handling of
categories, takes unlabeled rows for negatives, and calls as many test rows positive as the true share says, which
`pucli auto` is not told.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common.timing import Progress, reporter
from pucli.core.arrays import AnyArray, Bools
from pucli.core.errors import UsageError
from pucli.core.seeding import stream

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("table", "rows", "columns", "method", "F1", "AUC", "share", "cpu seconds", "memory", "note")
TEST_SHARE, LABEL_FREQUENCY = 0.3, 0.5


@dataclass(frozen=True)
class RawTable:
    """A file below the data folder, its separator, header and label column, and the label of the positives."""

    name: str
    file: str
    separator: str
    header: bool
    label: str
    positive: str

    def read(self, path: Path) -> pd.DataFrame:
        """Return all cells as text."""
        import pandas as pd

        separator = {" ": r"\s+", ",": r",\s*"}.get(self.separator, self.separator)
        frame: pd.DataFrame = pd.read_csv(
            path, sep=separator, header=0 if self.header else None, dtype=str, keep_default_na=False, engine="python"
        )
        return frame if self.header else frame.set_axis([str(i + 1) for i in range(frame.shape[1])], axis=1)

    def write(self, frame: pd.DataFrame, path: Path) -> None:
        """Write rows in the format of the source."""
        frame.to_csv(path, sep=self.separator, header=self.header, index=False)


TABLES = (
    RawTable("bank-marketing", "uci/bank-marketing/bank-additional-full.csv", ";", True, "y", "yes"),
    RawTable("adult", "uci/adult/adult.data", ",", False, "15", ">50K"),
    RawTable("german", "uci/german/german.data", " ", False, "21", "2"),
    RawTable("mushroom", "uci/mushroom/agaricus-lepiota.data", ",", False, "1", "p"),
    RawTable(
        "sepsis",
        "uci/ssmcr/s41598-020-73558-3_sepsis_survival_study_cohort.csv",
        ",",
        True,
        "hospital_outcome_1alive_0dead",
        "0",
    ),
)


def run(progress: Progress | None = None, *, folder: Path | None = None, seed: int = 7) -> dict[str, Any]:
    """Return the table of benchmark `raw_tables`.

    The files lie in `folder`, in the folder that PUCLI_QUALITY_DATA names, or in ../shared/data.
    """
    folder = folder or Path(os.environ.get("PUCLI_QUALITY_DATA", "../shared/data"))
    at_hand = [table for table in TABLES if (folder / table.file).is_file()]
    if not at_hand:
        raise UsageError(f"{folder}: none of the files is there; set PUCLI_QUALITY_DATA to their folder.")
    report = reporter(progress)
    rows: list[dict[str, Any]] = []
    for step, table in enumerate(at_hand):
        rows += _results(table, table.read(folder / table.file), seed)
        report(step + 1, len(at_hand))
    return {
        "title": "Tables from their sources, without preparation: pucli auto and predict, and LightGBM",
        "columns": COLUMNS,
        "rows": rows,
    }


def _results(table: RawTable, frame: pd.DataFrame, seed: int) -> list[dict[str, Any]]:
    """Return the rows of one table: a record for each method."""
    random = stream(seed, "raw tables", table.name)
    positive = (frame[table.label] == table.positive).to_numpy()
    test = random.random(len(frame)) < TEST_SHARE
    labelled = ~test & positive & (random.random(len(frame)) < LABEL_FREQUENCY)
    # blanks cannot separate an empty cell
    given = frame.assign(**{table.label: np.where(labelled, table.positive, "?" if table.separator == " " else "")})
    first = {"table": table.name, "rows": int(np.sum(~test)), "columns": frame.shape[1] - 1}
    found = [{**first, **_two_commands(table, given[~test], given[test], positive[test])}]
    try:
        found.append({**first, **_lightgbm(table, frame, labelled, positive, test)})
    except ImportError:
        found.append({**first, "method": "lightgbm", "note": "not installed"})
    return found


def _two_commands(table: RawTable, train: pd.DataFrame, test: pd.DataFrame, truth: Bools) -> dict[str, Any]:
    """Run `pucli auto` and `pucli predict` on files as a user does."""
    import pandas as pd

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        suffix = Path(table.file).suffix
        table.write(train, place / f"train{suffix}")
        table.write(test.drop(columns=table.label) if table.header else test, place / f"test{suffix}")
        commands = [
            ["auto", "--data", f"train{suffix}", "--label", table.label, "--positive", table.positive],
            ["predict", "--model", "model", "--data", f"test{suffix}", "--out", "scored.csv"],
        ]
        commands[0] += ["--model", "model", "--json"]
        before = _seconds_of_children()
        for command in commands:
            done = subprocess.run(
                [sys.executable, "-m", "pucli", *command], cwd=place, capture_output=True, text=True, check=False
            )
            if done.returncode:
                reason = json.loads(done.stdout)["error"]["message"] if command[0] == "auto" else done.stderr.strip()
                return {"method": "pucli auto", "note": f"`pucli {command[0]}`: {reason}"}
            if command[0] == "auto":
                document = json.loads(done.stdout)
        seconds = _seconds_of_children() - before
        scored = pd.read_csv(place / "scored.csv", dtype={"prediction": str})
    called = (scored["prediction"] == table.positive).to_numpy()
    prior = document["estimates"]["prior"]
    note = f"prior {prior['value']:.3f}, interval [{prior['low']:.3f}, {prior['high']:.3f}]"
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return {
        "method": "pucli auto",
        **_judged(scored["score"].to_numpy(), called, truth),
        "cpu seconds": seconds,
        "memory": f"{memory / 1e6:.0f} MB",
        "note": note,
    }


def _seconds_of_children() -> float:
    """Return the processor seconds of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _lightgbm(table: RawTable, frame: pd.DataFrame, labelled: Bools, positive: Bools, test: Bools) -> dict[str, Any]:
    """Return naive LightGBM, cut at the true share of positives."""
    import pandas as pd
    from lightgbm import LGBMClassifier

    features = frame.drop(columns=table.label)
    for name in features:
        values = pd.to_numeric(features[name], errors="coerce")
        features[name] = values if values.notna().mean() > 0.5 else features[name].astype("category")
    features.columns = [f"x{i}" for i in range(features.shape[1])]
    started = time.process_time()
    model = LGBMClassifier(class_weight="balanced", random_state=0, verbose=-1, n_jobs=1)
    scores = np.asarray(model.fit(features[~test], labelled[~test]).predict_proba(features[test]))[:, 1]
    seconds = time.process_time() - started
    cut = np.quantile(scores, 1.0 - positive[test].mean())
    note = "cut at the true share"
    return {"method": "lightgbm", **_judged(scores, scores > cut, positive[test]), "cpu seconds": seconds, "note": note}


def _judged(scores: AnyArray, called: Bools, truth: Bools) -> dict[str, float]:
    from sklearn.metrics import f1_score, roc_auc_score

    return {
        "F1": float(f1_score(truth, called)),
        "AUC": float(roc_auc_score(truth, scores)),
        "share": float(called.mean()),
    }
