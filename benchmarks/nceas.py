"""`auto` on all 226 species of NCEAS, six regions, beside MaxEnt and the published figures of 16 models.

Every species has presence-only records, and a survey of presences and absences that tests and never trains (Elith and
others 2020). The features are those of Valavi and others (2023); ontveg, toxicats, age and calc are categories. One
model of all records predicts all sites of the survey, with a target-group background (sites where any species of the
group was recorded) and with a random one (10,000 places). "blocks" repeats the spatial cross-validation of
Valavi and others for the 171 species that they publish: their blocks, five folds, seed 32, the best of 100 draws, models
trained on the records of four folds, scores of all folds ranked together. R's random numbers are replayed, so folds are
theirs where our counts give their 171 species; seeds 33 to 36 draw anew for every fifth species. Methods: `auto`
(case-control, score for AUC, PRG and Boyce, calibrated probability for COR), MaxEnt (elapid, the features that
maxent.jar takes for as many records, regularization 1, cloglog), ten bags of LightGBM (benchmark `real_tables`) and a
logistic regression of standardized features, their squares and one-hot categories, the background weighted to the
records (C = 1). In blocks the rivals run for every fifth species: printed columns are there for all. Measures: AUC, PRG
(area under the precision-recall-gain curve, as R's prg), COR (Pearson) and the continuous Boyce index, each with the
mean over species; AUC of each region; difference (`auto` minus the method), standard error and Wilcoxon's test are of
AUC, paired by species. Printed figures stand beside all records for lack of others: those are of random folds, with
models of about four fifths of the records. The order of work makes an early stop balanced: species go in steps of
five, first the surveys with target-group background, then every fifth species in blocks and with a random background,
then the others in blocks, with a random background, and the other seeds. All this was fixed before the first result.
"""

from __future__ import annotations

import json
import math
import sqlite3
import struct
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import wilcoxon
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks.common.r_generator import RGenerator
from benchmarks.common.timing import Progress, silent
from benchmarks.public import paired
from benchmarks.real_tables import METHODS as OF_TABLES
from benchmarks.real_tables import Split
from pucli.core.arrays import Bools, Floats, Ints
from pucli.core.errors import UsageError
from pucli.estimators import AutoPU
from pucli.metrics.top import boyce

FEATURES = {
    "AWT": "bc04 bc05 bc06 bc12 bc15 slope topo tri",
    "CAN": "alt asp2 ontprec ontslp onttemp ontveg watdist",
    "NSW": "cti disturb mi rainann raindq rugged soildepth soilfert solrad tempann topo",
    "NZ": "age deficit hillshade mas mat r2pet slope sseas toxicats tseas vpd",
    "SA": "sabio12 sabio15 sabio17 sabio18 sabio2 sabio4 sabio5 sabio6",
    "SWI": "bcc calc ccc ddeg nutri pday precyy sfroyy slope sradyy swb topo",
}
CATEGORIES = ("ontveg", "toxicats", "age", "calc")
GROUPED = ("AWT", "NSW")  # whose surveys are a file for each group of species
SURVEYS, RANDOM, BLOCKS = "all records, target-group", "all records, random background", "blocks, target-group"
FIVE = "blocks, mean of five draws of the folds"
FOLDS, DRAWS, SEED, MORE_SEEDS, STEP = 5, 100, 32, (33, 34, 35, 36), 5
MEASURES = ("AUC", "PRG", "COR", "Boyce")
COLUMNS = (
    *("what", "method", "species", *MEASURES, "difference", "standard error", "Wilcoxon p", *FEATURES, "seconds", "note"),
)
# Means that a preprint of 2026 prints for all species ("A Niche in the Machine", EcoEvoRxiv 11797).
PREPRINT = {"TabPFN, fine-tuned": 0.762, "MaxNet": 0.732, "random forest": 0.727, "BRT": 0.724, "GAM": 0.717}
RELATIVES = {"MaxEnt": "MaxEnt", "logistic, squares": "Lasso", "LightGBM bags": "BRT"}


class Species(NamedTuple):
    """Records, both kinds of background and sites, with x, y and the features, and the sites with the species."""

    name: str
    region: str
    records: pd.DataFrame
    target_group: pd.DataFrame
    random: pd.DataFrame
    sites: pd.DataFrame
    present: Bools


def run(
    progress: Progress = silent,
    *,
    folder: Path = Path("../shared/data/nceas"),
    published: Path = Path("experiments/published/nceas-blockcv.csv.gz"),
    cells: Path = Path("build/nceas.jsonl"),
    species: Sequence[str] = (),
    minutes: float = math.inf,
) -> dict[str, Any]:
    """Return the table of benchmark `nceas`.

    Each finished cell is a line of the file `cells`, which another run takes up; a run ends after `minutes` of
    processor time, and what is left is named.
    """
    folder, cells = Path(folder), Path(cells)
    if not (folder / "AWT_po.csv.gz").is_file():
        raise UsageError(f"{folder}: no file AWT_po.csv.gz; give the folder of the benchmark by --only folder=DIR.")
    printed = pd.read_csv(published).rename(columns={"ROC": "AUC", "species": "name"})
    known = [one for one in all_species(folder) if not species or one.name in species]
    plan = _plan(known, {*printed["name"]})
    cells.parent.mkdir(parents=True, exist_ok=True)
    done = [json.loads(line) for line in cells.read_text().splitlines()] if cells.is_file() else []
    seen = {(one["test"], one["name"], one["seed"], one["method"]) for one in done}
    for number, (test, one, seed, methods) in enumerate(plan, start=1):
        missing = [name for name in methods if (test, one.name, seed, name) not in seen]
        if missing and time.process_time() < 60 * minutes:
            new = list(_cells(test, one, seed, missing, folder))
            with cells.open("a") as file:
                file.writelines(json.dumps(cell) + "\n" for cell in new)
            done += new
        progress(number, len(plan))
    if not done:
        raise UsageError(f"{cells}: no cell is there; give more --only minutes=.")
    return _found(pd.DataFrame(done), plan, printed)


def all_species(folder: Path) -> Iterator[Species]:
    """Yield all species, by region."""
    for region, features in FEATURES.items():
        columns = ["x", "y", *features.split()]
        records, random = (_read(folder / f"{region}_{kind}.csv.gz") for kind in ("po", "bg"))
        for group, of_group in records.groupby("group", sort=False):
            end = f"_{group}" if region in GROUPED else ""
            background = _read(folder / f"tgb_{region}_{group}.csv.gz")
            sites = _read(folder / f"{region}test_env{end}.csv.gz")
            survey = pd.read_csv(folder / f"{region}test_pa{end}.csv.gz")
            if [*sites["siteid"].astype(str)] != [*survey["siteid"].astype(str)]:
                raise UsageError(f"{region}test_pa{end}.csv.gz has other sites than {region}test_env{end}.csv.gz.")
            for name in of_group["spid"].unique():
                own = of_group.loc[of_group["spid"] == name, columns]
                parts = (background[columns], random[columns], sites[columns])
                yield Species(name, region, own, *parts, survey[name].to_numpy() == 1)


def _read(path: Path) -> pd.DataFrame:
    table = pd.read_csv(path)
    for name in set(CATEGORIES) & {*table}:
        table[name] = "level " + table[name].astype(int).astype(str)
    return table


def _plan(known: Sequence[Species], printed: set[str]) -> list[tuple[str, Species, int, tuple[str, ...]]]:
    """Return test, species, seed and methods of each piece of work, in its order."""
    steps = [known[first::STEP] for first in range(STEP)]
    others = [one for step in steps[1:] for one in step]
    auto, every = tuple(METHODS)[:1], tuple(METHODS)
    return [
        *((SURVEYS, one, SEED, every) for one in steps[0] + others),
        *((BLOCKS, one, SEED, every) for one in steps[0] if one.name in printed),
        *((RANDOM, one, SEED, every) for one in steps[0]),
        *((BLOCKS, one, SEED, auto) for one in others if one.name in printed),
        *((RANDOM, one, SEED, every) for one in others),
        *((BLOCKS, one, seed, auto) for seed in MORE_SEEDS for one in steps[0] if one.name in printed),
    ]


def _cells(test: str, one: Species, seed: int, methods: Sequence[str], folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the measures of each method, on the sites of all folds together."""
    rows = pd.concat([one.records, one.random if test == RANDOM else one.target_group, one.sites], ignore_index=True)
    first, kind = len(rows) - len(one.sites), np.zeros(len(rows), dtype=np.int64)
    kind[: len(one.records)] = 1
    kind[first:] = 2 + one.present
    parts = [(np.ones(first, dtype=bool), np.ones(len(one.sites), dtype=bool))]
    if test == BLOCKS:
        fold = block_folds(rows[["x", "y"]].to_numpy(), kind, blocks_of(folder / f"blocks_{one.region}.gpkg"), seed)
        known, asked = fold[:first], fold[first:]
        parts = [((known >= 0) & (known != k), asked == k) for k in range(FOLDS)] if fold.max() >= 0 else []
    features = rows.drop(columns=["x", "y"])
    for name in methods:
        started = time.process_time()
        cell: dict[str, Any] = {"test": test, "name": one.name, "region": one.region, "seed": seed, "method": name}
        scores, chances = np.full((2, len(one.sites)), np.nan)
        try:
            for train, tested in parts:
                taken = np.concatenate([train, tested])
                X, of_sites = features[taken].reset_index(drop=True), np.arange(taken.sum()) >= train.sum()
                split = Split(X, kind[taken] == 3, kind[taken] == 1, of_sites, seed)
                with threadpool_limits(1), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    scores[tested], chances[tested] = METHODS[name](split)
            there = np.isfinite(scores)
            cell |= measures(one.present[there], scores[there], chances[there]) if parts else {"note": "no folds"}
        except ValueError as error:
            cell["note"] = str(error).partition("\n")[0]
        yield cell | {"records": len(one.records), "seconds": time.process_time() - started}


def measures(present: Bools, scores: Floats, chances: Floats) -> dict[str, float]:
    """Return the measures of scores (n,) and probabilities (n,) given which sites have the species."""
    return {
        "AUC": float(roc_auc_score(present, scores)),
        "PRG": gain_area(present, scores),
        "COR": float(np.corrcoef(chances, present)[0, 1]),
        "Boyce": float(boyce(present, scores, True)),
    }


def gain_area(present: Bools, scores: Floats) -> float:
    """Return the area under the precision-recall-gain curve (Flach and Kull 2015) where the recall gain is positive.

    Examples
    --------
    >>> gain_area(np.array([True, True, False, False]), np.array([4.0, 2.0, 3.0, 1.0]))
    0.5
    """
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.diff(scores[order]) != 0.0, True)
    found = np.append(0.0, np.cumsum(present[order])[last])
    false = np.append(0.0, np.cumsum(~present[order])[last])
    positives, negatives = found[-1], false[-1]
    least = positives**2 / len(scores)  # so many found positives have a recall gain of zero
    false = np.append(np.interp(least, found, false), false[found > least])
    found = np.append(least, found[found > least])
    ratio = positives / negatives
    return float(np.trapezoid(1.0 - ratio * false / found, 1.0 - ratio * (positives - found) / found))


def blocks_of(path: Path) -> Floats:
    """Return least and largest x, least and largest y of each block of a GeoPackage, shape (b, 4)."""
    with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as base:
        table = base.execute("select table_name from gpkg_contents").fetchone()[0]
        shapes = base.execute(f'select geom from "{table}" order by rowid').fetchall()
    return np.array([struct.unpack_from("<4d", shape, 8) for (shape,) in shapes])


def block_folds(places: Floats, kind: Ints, blocks: Floats, seed: int) -> Ints:
    """Return the fold (n,) of the rows at places (n, 2), -1 outside the blocks (b, 4) or if a fold has too few rows.

    The kinds are 0 for background, 1 for a record, 2 for a site without and 3 for one with the species. The rule is
    that of `spatial_block` of Valavi and others (2023), with the random numbers of R.
    """
    x, y = places.T[:, :, None]
    inside = (x >= blocks[:, 0]) & (x <= blocks[:, 1]) & (y >= blocks[:, 2]) & (y <= blocks[:, 3])
    inside = inside[:, inside.any(axis=0)]
    block = np.full(len(places), -1)
    for rows in (np.flatnonzero(kind < 2), np.flatnonzero(kind >= 2)):
        pairs = np.argwhere(inside[rows])
        if len(pairs) > len(rows):  # one block at random for a place on an edge
            pairs = pairs[RGenerator(seed).order(len(pairs))]
        block[rows[pairs[::-1, 0]]] = pairs[::-1, 1]
    there, generator = block >= 0, RGenerator(seed)
    fold, best, spread, few = np.full(len(places), -1), 0, math.inf, True
    whole = inside.shape[1] // FOLDS * FOLDS
    for _ in range(DRAWS):
        drawn = np.tile(np.arange(FOLDS), whole // FOLDS)[generator.order(whole)]
        drawn = np.append(drawn, generator.order(FOLDS, inside.shape[1] - whole))
        counts = np.bincount(4 * drawn[block[there]] + kind[there], minlength=4 * FOLDS).reshape(FOLDS, 4)
        counts[:, :2] = counts[:, :2].sum(axis=0) - counts[:, :2]
        if counts.min() >= best and counts.std() < spread:
            best, spread, few = counts.min(), counts.std(), counts[:, 1].min() < 5 or counts[:, 3].sum() < 10
            fold[there] = drawn[block[there]]
    return np.full(len(places), -1) if best < 1 or few else fold


def _auto(split: Split) -> tuple[Floats, Floats]:
    model = AutoPU(n_jobs=1, random_state=split.seed).fit(split.X[~split.test], split.labeled[~split.test])
    scores = model.score_rows(split.X[split.test])
    return scores, model.probability_of(scores)


def _maxent(split: Split) -> tuple[Floats, Floats]:
    from elapid import MaxentModel

    numbers = split.X.select_dtypes("number")
    codes = split.X.drop(columns=list(numbers)).apply(lambda column: column.astype("category").cat.codes)
    X, train = pd.concat([numbers, codes], axis=1).astype(float), ~split.test
    for name in codes:  # a level without a training row counts as the most frequent one
        X.loc[~X[name].isin(X.loc[train, name]), name] = X.loc[train, name].mode()[0]
    records = int(split.labeled.sum())
    kinds = ["linear", *["quadratic"] * (records >= 10), *["hinge"] * (records >= 15), *["product"] * (records >= 80)]
    model = MaxentModel(feature_types=kinds, beta_multiplier=1.0, n_cpus=1, random_state=split.seed)
    categorical = [*range(numbers.shape[1], X.shape[1])] or None
    model.fit(X[train], split.labeled[train].astype(int), categorical=categorical)
    chances = np.ravel(model.predict(X[split.test]))
    return chances, chances


def _bags(split: Split) -> tuple[Floats, Floats]:
    found = OF_TABLES["LightGBM bags"][0](split)
    scores = np.asarray(found[0]) / 10.0
    return scores, expit(scores)


def _squares(split: Split) -> tuple[Floats, Floats]:
    train, numbers = ~split.test, split.X.select_dtypes("number")
    z = (numbers - numbers[train].mean()) / numbers[train].std().replace(0.0, 1.0)
    rest = [pd.get_dummies(split.X[name], dtype=float) for name in split.X if name not in numbers]
    X, labeled = np.hstack([z, z**2, *rest]), split.labeled[train]
    weights = np.where(labeled, 1.0, labeled.sum() / (~labeled).sum())
    model = LogisticRegression(max_iter=2000).fit(X[train], labeled, sample_weight=weights)
    return model.decision_function(X[split.test]), model.predict_proba(X[split.test])[:, 1]


METHODS = {"auto": _auto, "MaxEnt": _maxent, "LightGBM bags": _bags, "logistic, squares": _squares}


def _found(cells: pd.DataFrame, plan: Sequence[Any], printed: pd.DataFrame) -> dict[str, Any]:
    """Return the page: rows for each test and method, and where `auto` stands."""
    regions = cells.groupby("name")["region"].first()
    rows: list[dict[str, Any]] = []
    standing: list[dict[str, Any]] = []
    blocks = cells[cells["test"] == BLOCKS]
    often = blocks.groupby("name")["seed"].transform("nunique") > len(MORE_SEEDS)
    draws = blocks[often & (blocks["method"] == "auto")]
    for test, own, cv in (
        (SURVEYS, cells[cells["test"] == SURVEYS], "random"),
        (RANDOM, cells[cells["test"] == RANDOM], ""),
        (BLOCKS, blocks[blocks["seed"] == SEED], "spatial"),
        (FIVE, draws, "spatial"),
    ):
        mine = own[own["method"] == "auto"].dropna(subset="AUC")
        if mine.empty:
            rows.append({"name": test, "method": "auto", "note": "not run"})
            continue
        there = printed[(printed["cv"] == cv) & printed["name"].isin(mine["name"])]
        there = there.assign(method="printed " + there["model"])
        parts = [own[["name", "method", *MEASURES, "seconds"]], there.drop(columns=["model", "cv"])]
        if test == SURVEYS:
            parts.append(cells[(cells["test"] == RANDOM) & (cells["method"] == "auto")].assign(method="auto, " + RANDOM))
        every = pd.concat(parts).groupby(["method", "name"], sort=False).mean(numeric_only=True)
        auto = every.loc["auto"].dropna(subset="AUC")
        for method in every.index.unique(level=0):
            rows.append({"name": test, "method": method, **_figures(auto, every.loc[method], regions)})
            relative = f"printed {RELATIVES.get(method)}"
            if cv and relative in every.index.unique(level=0):
                rows[-1]["note"] = _beside(every.loc[method, "AUC"], every.loc[relative, "AUC"], relative)
        if test == SURVEYS:
            rows += [{"name": test, "method": f"preprint {name}", "AUC": value} for name, value in PREPRINT.items()]
        compared = every.drop(index=[name for name in every.index.unique(level=0) if "random background" in name])
        if test == SURVEYS:  # printed figures are of other models than those of all records
            compared = compared[~compared.index.get_level_values(0).str.startswith("printed")]
        standing += [] if test == FIVE else _standing(test, compared, auto)
    rows += _left(cells, plan)
    about = " ".join((__doc__ or "").split("\n\n", 1)[1].split())
    return {"title": "NCEAS: 226 species from presence-only records", "about": about, "columns": COLUMNS, "rows": rows,
            "standing": standing, "cells": cells.to_dict("records")}  # fmt: skip


def _figures(auto: pd.DataFrame, other: pd.DataFrame, regions: pd.Series) -> dict[str, Any]:
    """Return the means of a method, and the paired difference of `auto` in AUC."""
    auc = other["AUC"].dropna()
    found = {"species": len(auc), **{name: round(other[name].mean(), 3) for name in MEASURES if other[name].any()}}
    found |= auc.groupby(regions).mean().round(3).to_dict()
    if other["seconds"].any():
        found["seconds"] = round(other["seconds"].mean(), 1)
    gain = (auto["AUC"] - auc).dropna()
    if gain.any():
        error = gain.std() / len(gain) ** 0.5
        found |= {"difference": round(gain.mean(), 4), "standard error": round(error, 4)}
        found["Wilcoxon p"] = float(wilcoxon(gain).pvalue)
    return found


def _beside(own: pd.Series, printed: pd.Series, name: str) -> str:
    """Say how far a rival that was run here is from its printed relative, paired by species."""
    gap = (own - printed).dropna()
    error = gap.std() / len(gap) ** 0.5
    within = "within" if abs(gap.mean()) <= 2.0 * error else "more than"
    return f"{gap.mean():+.3f} (standard error {error:.3f}, {within} two) beside {name}, {len(gap)} species"


def _standing(test: str, every: pd.DataFrame, auto: pd.DataFrame) -> list[dict[str, Any]]:
    found = []
    for measure in MEASURES:
        wide = every[measure].unstack(level=0).loc[auto.index].dropna(subset="auto").dropna(axis=1)
        rivals = wide.drop(columns="auto")
        if rivals.shape[1]:
            best = str(rivals.mean().idxmax())
            found.append(paired(f"NCEAS, {test}", measure, wide["auto"], best, rivals[best], low=False))
    return found


def _left(cells: pd.DataFrame, plan: Sequence[Any]) -> list[dict[str, Any]]:
    """Return a row for each test and method that was not run, or could not be, for some species."""
    ran = cells.set_index(["test", "name", "seed", "method"])
    noted = cells[cells["note"].notna()] if "note" in cells else cells[:0]
    rows = [{"name": one["test"], "method": one["method"], "note": f"{one['name']}: {one['note']}"}
            for one in noted.to_dict("records")]  # fmt: skip
    planned = pd.DataFrame(
        [(test, one.name, seed, method) for test, one, seed, methods in plan for method in methods], columns=ran.index.names
    )
    planned["left"] = ~pd.MultiIndex.from_frame(planned).isin(ran.index)
    for (test, more, method), part in planned.groupby(["test", planned["seed"] > SEED, "method"], sort=False):
        if count := int(part["left"].sum()):
            what = FIVE if more else test
            rows.append({"name": what, "method": method, "note": f"not run: {count} of {len(part)} for lack of time"})
    return rows
