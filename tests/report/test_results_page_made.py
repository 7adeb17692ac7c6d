"""Numbers of results/README.md on how the cells were made, on benchmarks, and on AutoPU."""

# ruff: noqa: E501 - sentences of the page stand on one line

import json

import pandas as pd
import yaml

from benchmarks.common.quality_tasks import tasks
from tests.helpers import ROOT
from tests.report.page_numbers import PAGE, RESULTS, cells, listed, table
from tests.test_committed_cells import QUICK, TRAINS_LONG

TEXT = " ".join(PAGE.split())


def missing(claims):
    return "\n".join(claim for claim in claims if claim not in TEXT)


def ways():
    """Every entry of every provenance.json, with the table."""
    found = []
    for path in sorted(RESULTS.glob("*/provenance.json")):
        made = json.loads(path.read_text(encoding="utf-8"))["made_with"]
        found += [{"table": path.parent.name, "hash": "source_sha256" in way, **way} for way in made]
    return pd.DataFrame(found)


def test_every_cell_has_a_hash_of_the_source():
    made = ways()
    assert made["hash"].all()
    claim = f"All {len(made)} entries, with all {made['cells'].sum():,} cells, have the hash of the source"
    assert not missing([claim]), claim
    for path in sorted(RESULTS.glob("*/cells.csv")):
        assert made["cells"][made["table"] == path.parent.name].sum() == len(cells(path.parent.name)), path


def test_experiments_of_which_no_whole_cell_is_run_again():
    long = []
    for path in sorted(RESULTS.glob("*/cells.csv")):
        rows = cells(path.parent.name)
        seconds = rows[[name for name in rows if name.startswith("seconds_")]].fillna(0).sum(axis=1)
        if seconds[rows["status"] == "done"].min() > TRAINS_LONG:
            long.append(path.parent.name)
    claim = f"Of {listed(long)}, whose cells take minutes to an hour, it takes the first point of a curve."
    assert f"takes at most {QUICK:g} s" in TEXT and not missing([claim]), claim


def bench(name, part="rows"):
    return pd.DataFrame(json.loads((RESULTS / "bench" / f"{name}.json").read_text(encoding="utf-8"))[part])


def test_targets_of_the_benchmarks_that_are_not_reached():
    rows = bench("glpual_family")
    clarabel = rows[rows["name"].str.contains("Clarabel / ours")].sort_values("ratio")
    zeros = clarabel["note"].str.extract(r"(\d+) zeros")[0].astype(int)
    assert clarabel["ratio"].min() >= 50 and zeros.iloc[:2].min() > zeros.iloc[2:].max()
    cpb = rows[rows["name"].str.contains("linear: fit over GLPUAL's fit")]["ratio"].tolist()
    assert max(cpb) <= 3
    printed = rows[rows["name"].str.contains("printed ADMM with mu = ")]
    author, best = (printed[printed["note"].str.contains(word)] for word in ("the author's", "fewest iterations"))
    steps = best["note"].str.extract(r"ADMM (\d+) it")[0].astype(int)
    alone = best["note"].str.extract(r"alone: ([\d.e+]+)")[0].astype(float)
    assert author["note"].str.contains("lower bound").sum() == 2
    found = bench("defaults")
    noticed = found["finds"] + found["warns"]
    fewer = found[found["finds"] < 28]
    assert noticed.min() >= 28
    late = int((fewer["seed"] == 7).sum())
    workers = [f"{ratio:.2f}" for ratio in bench("workers-full")["ratio"]]
    claims = [
        f"it is {listed([f'{ratio:.1f}' for ratio in best['ratio']])} times (`bench/glpual_family.md`). The ADMM then needs {steps.min()} to {steps.max():,} iterations",
        f"takes {alone.iloc[0]:.0f} and {alone.iloc[1]:.0f} times as long as making and factorising the matrix in the first two",
        f"it is {author['ratio'].min():.0f} times or more",
        f"is {clarabel['ratio'].min():.0f} to {clarabel['ratio'].max():.0f} times as fast",
        f"takes {min(cpb):.1f} and {max(cpb):.1f} times as long",
        f"every method does so on {noticed.min()} or more, with each seed tried. Finding them without a warning falls below 28 in {len(fewer)} of the {len(found)} rows, {late} of them with seed 7.",
    ]
    claims.append(f"{listed(workers)} times with 10,000, 100,000 and 1,000,000 rows.")
    assert len(clarabel) == 5 and not missing(claims), missing(claims)


def test_targets_of_auto_that_are_not_reached():
    rows = bench("quality-full").query("tasks == 'all' and labelling == 'case-control' and method == 'auto'")
    two = [rows.iloc[k] for k in (0, 1)]
    error = [f"{row['prior error']:.3f}".lstrip("0") for row in two]
    assert max(row["prior error"] for row in two) < 0.06
    figures = [[f"{row[name]:.3f}".lstrip("0") for row in two] for name in ("F1", "AUC")]
    claims = [
        f"The mean error of the prior is {error[0]} and {error[1]}, below the target of .06",
        "it has {} and {}, and {} and {}.".format(*figures[0], *figures[1]),
    ]
    assert len(rows) == 2 and not missing(claims), missing(claims)


def test_others_on_labels_that_are_not_random():
    rows = bench("quality-full").query("tasks == 'all' and not method.str.contains('true|hidden')")
    wide = rows.pivot(index=["labelling", "labelled"], columns="method", values="F1")
    ranking = rows.pivot(index=["labelling", "labelled"], columns="method", values="AUC").idxmax(axis=1)
    biased = wide.index.get_level_values("labelling").str.startswith("sar")
    assert (wide[~biased].idxmax(axis=1) == "auto").all()
    assert (ranking[~biased] == "auto").all()
    ahead = wide[biased].sub(wide.loc[biased, "auto"], axis=0)
    bagging, sparse = ahead["pulearn bagging"], ahead["e-glpual"]
    each = bench("quality-full", "cells").query("frequency == 0.25")
    each = each[each["task"].isin(tasks("look-once"))].groupby(["method", "labelling"])["f1"].mean()
    labellings = ["sar-feature", "sar-score", "sar-feature, case-control", "sar-score, case-control"]

    def four(method):
        return listed([f"{each[method, labelling]:.3f}".lstrip("0") for labelling in labellings])

    claims = [
        f"pulearn's bagging has the larger F1 in {(bagging > 0).sum()}, by {bagging.min():.3f} to {bagging.max():.3f}, and E-GLPUAL in {(sparse > 0).sum()}, by up to {sparse.max():.3f},".replace(
            "0.", "."
        ),
        f"AutoPU has the largest AUC in {(ranking[biased] == 'auto').sum()}.",
        f"{four('pulearn bagging')} on that half, E-GLPUAL {four('e-glpual')}.",
    ]
    assert len(ahead) == 8 and not missing(claims), missing(claims)


def test_benchmarks_of_others():
    f1, auc = (table("pu-bench", metric).query("method == 'auto'").set_index("dataset") for metric in ("f1", "auc"))
    mushroom, spambase, game = (f1.loc[name] for name in ("mushroom", "spambase", "connect-4"))
    assert mushroom["verdict"] == game["verdict"] == "worse" and len(auc) == 3
    naive = table("pu-bench", "f1").query("method == 'svc-naive' and dataset == 'connect-4'").iloc[0]["published_mean"]
    rows = table("puicl", "auc").query("method == 'auto'").set_index("dataset")
    svc = table("puicl", "auc").query("method == 'svc-naive'")["obtained_mean"].mean()
    ahead = (rows["obtained_mean"] - rows["published_mean"]).rename(
        {"adult-puicl": "adult", "mushroom-puicl": "mushroom", "letter-u-c": "letter"}
    )
    named = [f"{name} by {abs(gain):.1f}" for name, gain in ahead.sort_values(key=abs, ascending=False).items()]
    more = [text for text in named if ahead[text.split()[0]] > 0]
    less = [text for text in named if ahead[text.split()[0]] < 0]
    assert rows.query("verdict == 'better'").index.tolist() == ["spambase"]
    assert rows.query("verdict == 'worse'").index.tolist() == ["abalone"]
    ranking = auc.loc["connect-4"]
    claims = [
        f"AutoPU has an F1 of {spambase['obtained_mean']:.1f} on spambase, where the best of PU-Bench's nine methods has {spambase['published_mean']:.1f}.",
        f"the best of the nine, {mushroom['published_mean']:.1f} and {game['published_mean']:.1f}: it has {mushroom['obtained_mean']:.1f} and {game['obtained_mean']:.1f}, and the verdict is *worse*.",
        f"the published naive network ({naive:.1f}) by {game['obtained_mean'] - naive:.1f}; what the nine have more is ranking (AUC {ranking['published_mean']:.1f}, AutoPU {ranking['obtained_mean']:.1f})",
        f"is {rows['obtained_mean'].mean():.1f}, PUICL's {rows['published_mean'].mean():.1f}, the SVC's {svc:.1f}.",
        f"AutoPU is ahead on {len(more)} of the {len(rows)} sets ({', '.join(more)}) and behind on {len(less)} ({', '.join(less)})",
    ]
    assert not missing(claims), missing(claims)


def test_the_prior_of_table_5_1_is_a_constant():
    for name in ("table-5.1", "ceiling-5.1", "plain-5.1", "variants-5.1"):
        text = (ROOT / "experiments" / f"{name}.yaml").read_text(encoding="utf-8")
        methods = yaml.safe_load(text)["methods"].values()
        assert {entry["prior"] for entry in methods if "prior" in entry} == {0.44751}, name
    assert round(324 / 724, 5) == 0.44751
    for name in ("table-4.4", "table-5.3"):
        assert "These columns are given the true prior" in (RESULTS / name / "table.md").read_text(encoding="utf-8")
    claim = "the constant 0.44751 (324 of the 724 unlabeled rows)"
    assert not missing([claim]), claim


def test_the_time_of_the_deep_models_and_of_auto_as_a_command():
    made = {
        path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("pae-*/provenance.json")
    }
    hours = sum(one["process_seconds"] for one in made.values()) / 3600
    assert {"AAE", "PAE", "VAE"} == set(cells("pae-iterations-4.1")["method"].str.upper())
    assert {"PAE", "VAE"} == set(cells("pae-iterations-4.2")["method"].str.upper())
    (auto,) = [
        line for line in json.loads((RESULTS / "bench" / "scale.json").read_text())["rows"] if line["name"] == "auto"
    ]
    claims = [
        f"The cells of the seven `pae` experiments took {hours:.1f} process hours",
        f"{auto['1e+03']:.1f} s as a command",
    ]
    assert len(made) == 7 and not missing(claims), missing(claims)
