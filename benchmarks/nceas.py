"""`auto` on all 226 species of NCEAS, six regions, beside MaxEnt and the published figures of 16 models.

Every species has presence-only records, and a survey of presences and absences that tests and never trains (Elith and
others 2020). The features are those of Valavi and others (2023); ontveg, toxicats, age and calc are categories. One
model of all records predicts all sites of the survey, with a target-group background (sites where any species of the
group was recorded) and with a random one (10,000 places). "random folds" leaves out a fifth of the records, of the
background and of the sites in turn, of each kind at random, for the 171 species with printed figures: one seed for all
of them, four more for every fifth. "blocks" repeats the spatial cross-validation of Valavi and others for the 171
species that they publish: their blocks, five folds, seed 32, the best of 100 draws, models trained on the records of
four folds, scores of all folds ranked together. R's random numbers are replayed, so that the folds should be theirs; no
printed folds are there to compare. Methods: `auto` (case-control, score for AUC, PRG and Boyce, calibrated probability
for COR), MaxEnt (elapid, the features that maxent.jar takes for as many records, regularization 1, cloglog), ten bags
of LightGBM (benchmark `real_tables`) and a logistic regression of standardized features, their squares and one-hot
categories, the background weighted to the records (C = 1). In folds and blocks the rivals run for every fifth species:
printed columns are there for all. Measures: AUC, PRG (area under the precision-recall-gain curve, as R's prg), COR
(Pearson) and the continuous Boyce index, each with the mean over species; AUC of each region; difference (`auto` minus
the method), standard error and p of Wilcoxon's test are of AUC, paired by species. A preprint of 2026 ("A Niche in the
Machine", EcoEvoRxiv 11797) prints mean AUC for all species: .762 of a fine-tuned TabPFN, MaxNet .732, random forest
.727, BRT .724, GAM .717. The order of work makes an early stop balanced: species go in steps of five, first the surveys
with target-group background, then every fifth species in blocks and with a random background, then the others in
blocks, every fifth in random folds, the others with a random background, the others in random folds, and more seeds of
these. All this was fixed before the first result, random folds before theirs: the other results were known.
"""

from __future__ import annotations

import json
import math
import sqlite3
import struct
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import wilcoxon
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve
from threadpoolctl import threadpool_limits

from benchmarks.common.r_generator import RGenerator
from benchmarks.common.result_files import explained
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
SURVEYS, RANDOM = "all records, target-group", "all records, random background"
BLOCKS, PARTS = "blocks, target-group", "random folds, target-group"
FOLDS, DRAWS, STEP, MORE_SEEDS = 5, 100, 5, 4
MEASURES = ["AUC", "PRG", "COR", "Boyce"]
COLUMNS = (
    *("what", "method", "species", *MEASURES, "difference", "standard_error", "p", *FEATURES, "seconds", "note"),
)
RELATIVES = {"MaxEnt": "printed MaxEnt", "logistic, squares": "printed Lasso", "LightGBM bags": "printed BRT"}


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
    seed: int = 32,
    minutes: float = math.inf,
) -> dict[str, Any]:
    """Return the table of benchmark `nceas`.

    Each finished cell is a line of the file `cells`, which another run takes up. After `minutes` of processor time no
    further cell is begun; the page names what is left. The folder has clones of rvalavi/SDM_with_Python and
    rvalavi/GEB-2021-0553 (github.com), or the tables of the R package disdat as NAME.csv.gz.
    """
    folder, cells = Path(folder), Path(cells)
    printed = pd.read_csv(published).rename(columns={"ROC": "AUC", "species": "name"})
    plan = _plan([*all_species(folder)], {*printed["name"]}, seed)
    cells.parent.mkdir(parents=True, exist_ok=True)
    with cells.open("a+") as file:
        file.seek(0)
        done = {(one["test"], one["name"], one["method"], one["seed"]): one for one in map(json.loads, file)}
        for number, (key, one) in enumerate(plan.items(), start=1):
            if key not in done and time.process_time() < 60 * minutes:
                done[key] = _cell(key[0], one, key[2], folder, key[3])
                print(json.dumps(done[key]), file=file, flush=True)
            progress(number, len(plan))
    rows, standing = found(pd.DataFrame(done.values()), printed, seed)
    left = Counter((key[0], key[2]) for key in plan if key not in done)
    rows += [{"name": test, "method": method, "note": f"not run for lack of time: {count} species"}
             for (test, method), count in left.items()]  # fmt: skip
    return {"title": "NCEAS: 226 species from presence-only records", "rows": rows,
            "cells": [*done.values()], "about": explained(__doc__),
            "standing": standing}  # fmt: skip


def all_species(folder: Path) -> Iterator[Species]:
    """Yield all species, by region."""
    for region, features in FEATURES.items():
        columns = ["x", "y", *features.split()]
        records, random = (_table(folder, f"{region}*_{kind}.csv*") for kind in ("po", "bg"))
        for group, of_group in records.groupby("group", sort=False):
            end = f"_{group}" if region in ("AWT", "NSW") else ""
            background = _table(folder, f"tgb_{region}_{group}.csv*", f"tgb_samples/{region}/{group}/*.csv")
            sites, survey = (_table(folder, f"{region}test_{kind}{end}.csv*") for kind in ("env", "pa"))
            for name, own in of_group.groupby("spid", sort=False):
                parts = [table[columns] for table in (own, background, random, sites)]
                yield Species(str(name), region, parts[0], parts[1], parts[2], parts[3], survey[name].to_numpy() == 1)


def _file(folder: Path, *patterns: str) -> Path:
    for pattern in patterns:
        for path in sorted(folder.rglob(pattern)):
            return path
    raise UsageError(
        f"{folder}: no file {' or '.join(patterns)}; clone rvalavi/SDM_with_Python and rvalavi/GEB-2021-0553 "
        "(github.com) into a folder, and name it by --only folder=DIR."
    )


def _table(folder: Path, *patterns: str) -> pd.DataFrame:
    table = pd.read_csv(_file(folder, *patterns))
    for column in {*CATEGORIES} & {*table}:
        table[column] = "level " + table[column].astype(int).astype(str)
    return table


def _plan(known: Sequence[Species], printed: set[str], seed: int) -> dict[tuple[str, str, str, int], Species]:
    """Return the species of each test, name, method and seed, in the order of work."""
    first, others = known[::STEP], [one for start in range(1, STEP) for one in known[start::STEP]]
    stages = (
        (SURVEYS, [*first, *others], METHODS, [seed]),
        (BLOCKS, first, METHODS, [seed]),
        (RANDOM, first, METHODS, [seed]),
        (BLOCKS, others, ["auto"], [seed]),
        (PARTS, first, METHODS, [seed]),
        (RANDOM, others, METHODS, [seed]),
        (PARTS, others, ["auto"], [seed]),
        (PARTS, first, ["auto"], range(seed + 1, seed + 1 + MORE_SEEDS)),
    )
    return {
        (test, one.name, method, number): one
        for test, some, methods, seeds in stages
        for number in seeds
        for one in some
        if test not in (BLOCKS, PARTS) or one.name in printed
        for method in methods
    }


def _cell(test: str, one: Species, method: str, folder: Path, seed: int) -> dict[str, Any]:
    """Return the measures of a method on the sites of all folds together."""
    started = time.process_time()
    rows = pd.concat([one.records, one.random if test == RANDOM else one.target_group, one.sites], ignore_index=True)
    kind = np.append(np.arange(len(rows) - len(one.sites)) < len(one.records), 2 + one.present)
    sites, places = kind > 1, rows[["x", "y"]].to_numpy()
    fold = (~sites).astype(int)  # one fold is left out, all sites
    if test == BLOCKS:
        fold = block_folds(places, kind, blocks_of(_file(folder, f"*{one.region}.gpkg")), seed)
    elif test == PARTS:
        order = np.random.default_rng(seed).permutation(len(rows))
        order = order[np.argsort(kind[order], kind="stable")]  # kind by kind, each in an order by chance
        fold[order] = np.arange(len(rows)) % FOLDS
    scores = np.zeros((2, len(rows)))
    for k in np.unique(fold[sites]):
        taken = sites == (fold == k)
        X, of = rows.drop(columns=["x", "y"])[taken].reset_index(drop=True), kind[taken]
        with threadpool_limits(1):
            scores[:, taken & sites] = METHODS[method](Split(X, of == 3, of == 1, of > 1, seed))
    return {
        **{"test": test, "name": one.name, "region": one.region, "seed": seed, "method": method},
        **measures(one.present, *scores[:, sites]),
        **{"records": len(one.records), "seconds": time.process_time() - started},
    }


def measures(present: Bools, scores: Floats, chances: Floats) -> dict[str, float]:
    """Return the measures of scores (n,) and probabilities (n,) given which sites have the species."""
    found = (roc_auc_score(present, scores), gain_area(present, scores), np.corrcoef(chances, present)[0, 1])
    return dict(zip(MEASURES, map(float, (*found, boyce(present, scores, True))), strict=True))


def gain_area(present: Bools, scores: Floats) -> float:
    """Return the area under the precision-recall-gain curve (Flach and Kull 2015) where the recall gain is positive.

    Examples
    --------
    >>> gain_area(np.array([True, True, False, False]), np.array([4.0, 2.0, 3.0, 1.0]))
    0.75
    """
    false, recall, _ = roc_curve(present, scores, drop_intermediate=False)
    share = present.mean()  # the recall with a gain of zero
    late = recall > share
    false, recall = np.append(np.interp(share, recall, false), false[late]), np.append(share, recall[late])
    gain = 1.0 - share / (1.0 - share) * (1.0 - recall) / recall
    return float(np.trapezoid(1.0 - false / recall, gain))


def blocks_of(path: Path) -> Floats:
    """Return least and largest x, least and largest y of each block of a GeoPackage, shape (b, 4)."""
    with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as base:
        table = base.execute("select table_name from gpkg_contents").fetchone()[0]
        shapes = base.execute(f'select geom from "{table}" order by rowid').fetchall()
    return np.array([struct.unpack_from("<4d", shape, 8) for (shape,) in shapes])


def block_folds(places: Floats, kind: Ints, blocks: Floats, seed: int) -> Ints:
    """Return the fold (n,) of the rows at places (n, 2) in blocks (b, 4), sites last.

    The kinds are 0 for background, 1 for a record, 2 for a site without and 3 for one with the species. The rule is
    that of `spatial_block` of Valavi and others (2023), with the random numbers of R.
    """
    x, y = places.T[:, :, None]
    inside = (x >= blocks[:, 0]) & (x <= blocks[:, 1]) & (y >= blocks[:, 2]) & (y <= blocks[:, 3])
    inside = inside[:, inside.any(axis=0)]
    block, n = inside.argmax(axis=1), inside.shape[1]
    known = np.argwhere(inside[kind < 2])
    known = known[RGenerator(seed).order(len(known))][::-1]  # a record on an edge is in one of its blocks at random
    block[known[:, 0]] = known[:, 1]
    generator, best, spread = RGenerator(seed), 0, math.inf
    chosen: Ints = block
    for _ in range(DRAWS):
        fold = np.append(generator.order(n - n % FOLDS) % FOLDS, generator.order(FOLDS, n % FOLDS))[block]
        counts = np.bincount(4 * fold + kind, minlength=4 * FOLDS).reshape(FOLDS, 4)
        counts[:, :2] = counts[:, :2].sum(axis=0) - counts[:, :2]  # a fold trains on the rows of the others
        if counts.min() >= best and counts.std() < spread:
            best, spread, chosen = counts.min(), counts.std(), fold
    return chosen


def _auto(split: Split) -> tuple[Floats, Floats]:
    model = AutoPU(n_jobs=1, random_state=split.seed).fit(split.X[~split.test], split.labeled[~split.test])
    scores = model.score_rows(split.X[split.test])
    return scores, model.probability_of(scores)


def _maxent(split: Split) -> tuple[Floats, Floats]:
    from elapid import MaxentModel

    X, train = split.X[sorted(split.X, key=CATEGORIES.__contains__)].copy(), ~split.test
    places = [place for place, name in enumerate(X) if name in CATEGORIES]
    for name in X.columns[places]:
        codes = pd.Categorical(X[name], sorted(X.loc[train, name].unique())).codes
        X[name] = np.where(codes < 0, np.bincount(codes[train]).argmax(), codes)  # an unknown level is the commonest
    least = {"linear": 0, "quadratic": 10, "hinge": 15, "product": 80}
    kinds = [kind for kind, records in least.items() if split.labeled.sum() >= records]
    model = MaxentModel(feature_types=kinds, beta_multiplier=1.0, n_cpus=1, random_state=split.seed)
    model.fit(X[train].astype(float), split.labeled[train].astype(int), categorical=places or None)
    chances = np.ravel(model.predict(X[~train].astype(float)))
    return chances, chances


def _bags(split: Split) -> tuple[Floats, Floats]:
    scores = np.asarray(OF_TABLES["LightGBM bags"][0](split)[0]) / 10.0
    return scores, expit(scores)


def _squares(split: Split) -> tuple[Floats, Floats]:
    train, numbers = ~split.test, split.X.select_dtypes("number")
    z = (numbers - numbers[train].mean()) / numbers[train].std().replace(0.0, 1.0)
    levels = [pd.get_dummies(split.X[name], dtype=float) for name in split.X if name in CATEGORIES]
    X, labeled = np.hstack([z, z**2, *levels]), split.labeled[train]
    weights = {True: 1.0, False: labeled.sum() / (~labeled).sum()}
    scores = LogisticRegression(max_iter=2000, class_weight=weights).fit(X[train], labeled).decision_function(X[~train])
    return scores, expit(scores)


METHODS = {"auto": _auto, "MaxEnt": _maxent, "LightGBM bags": _bags, "logistic, squares": _squares}


def found(cells: pd.DataFrame, printed: pd.DataFrame, seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a row for each test and method, and where `auto` stands in each test."""
    more = cells[cells["seed"] != seed]
    cells = cells[cells["seed"] == seed]
    auto = cells[cells["method"] == "auto"]
    tests = printed["cv"].map({"random": PARTS, "spatial": BLOCKS})
    every = [
        cells,
        *(part.assign(method=f"auto, seed {number}") for number, part in more.groupby("seed")),
        auto[auto["test"] == RANDOM].assign(test=SURVEYS, method=f"auto, {RANDOM}"),
        printed.assign(method="printed " + printed["model"], test=tests),
    ]
    rows, standing = [], []
    for test, part in pd.concat(every).merge(auto[["test", "name"]]).groupby("test", sort=False):
        of = {str(name): one.set_index("name") for name, one in part.groupby("method", sort=False)}
        for name, one in of.items():
            regions = one["AUC"].groupby(one.index.str[:-2].str.upper()).mean()
            row = {"name": test, "method": name, "species": len(one), **one[[*MEASURES, "seconds"]].mean(), **regions}
            row |= paired("", "AUC", of["auto"]["AUC"], name, one["AUC"], low=False)
            row["p"] = wilcoxon((of["auto"]["AUC"] - one["AUC"]).dropna()).pvalue if name != "auto" else None
            if (relative := RELATIVES.get(name, "")) in of:
                gap = paired("", "AUC", one["AUC"], relative, of[relative]["AUC"], low=False)
                row["note"] = "{difference:+.3f} beside {best_other} (standard error {standard_error:.3f})".format(
                    **gap
                )
            rows.append(row)
        for measure in MEASURES:
            wide = pd.DataFrame({name: one[measure] for name, one in of.items() if not name.startswith("auto,")})
            wide = wide.dropna(subset="auto").dropna(axis=1)
            rivals = wide.drop(columns="auto").mean()
            if len(rivals):
                best = str(rivals.idxmax())
                standing.append(paired(f"NCEAS, {test}", measure, wide["auto"], best, wide[best], low=False))
    return rows, standing
