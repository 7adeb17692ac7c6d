"""Numbers of results/README.md on Sansone, Bertazzi and the USMO paper, computed from the committed files."""

# ruff: noqa: E501 - sentences of the page stand on one line

import json

import numpy as np
import pandas as pd
import pytest

from tests.report.page_numbers import PAGE, RESULTS, cells, listed, table, wide
from tests.report.variants import other_starts


def usmo_rows(name, metric, methods):
    rows = table(name, metric).copy()
    rows["kind"] = rows["column"].str.partition("-")[0]
    return rows[rows["kind"].isin(methods)]


def claims_usmo():
    both = ("usmo-table-iii", "usmo-table-iv")
    worst = [cells(n)["objective_difference_ppm"] for n in both]
    yield f"over {worst[0].notna().sum()} + {worst[1].notna().sum()} comparisons"
    yield f"is {1e-6 * worst[0].max():.1e} (Table III) and {1e-6 * worst[1].max():.1e} (Table IV)".replace("e-0", "e-")
    far = {
        m: [usmo_rows(n, m, ("qp", "usmo")).eval("obtained_mean - published_mean").abs().mean() for n in both]
        for m in ("f_pub", "f_maj", "f1")
    }
    corr = [usmo_rows(n, "f_pub", ("qp", "usmo"))[["obtained_mean", "published_mean"]].corr().iloc[0, 1] for n in both]
    yield f"is {far['f_pub'][0]:.1f} points in Table III and {far['f_pub'][1]:.1f} in Table IV (correlation {corr[0]:.2f} and {corr[1]:.2f})"
    yield f"it is {far['f_maj'][0]:.1f} and {far['f_maj'][1]:.1f} for the F of the majority class, {far['f1'][0]:.1f} and {far['f1'][1]:.1f} for that of the positive class"
    for n, name in zip(both, ("III", "IV"), strict=True):
        parts = []
        for kind in ("qp", "usmo", "ramp", "init"):
            counts = usmo_rows(n, "f_pub", (kind,))["verdict"].value_counts()
            parts.append(f"{kind} {counts.get('reproduced', 0)} ({counts.get('inconclusive', 0)})")
        yield f"Table {name}: {', '.join(parts)}"
    for kind in ("init",):
        most = max(usmo_rows(n, "f_pub", (kind,)).eval("obtained_mean - published_mean").abs().max() for n in both)
        yield f"off by up to {most:.0f} points"
    starts = pd.concat([other_starts(number).assign(table=number) for number in ("iii", "iv")])
    off = starts[starts["verdict"].isin(["better", "worse"])]
    any_agrees = off.groupby(["table", "dataset", "method"])["agrees"].any()
    ramp, init = (any_agrees[any_agrees.index.get_level_values("method").str.startswith(k)] for k in ("ramp", "init"))
    assert ramp.sum() == 0
    yield f"give none of the {len(ramp)} figures that differ"
    yield f"gives {init.sum()} of the {len(init)} figures that differ"
    moved = []
    for n, number in zip(both, ("iii", "iv"), strict=True):
        at_zero = usmo_rows(n, "f_pub", ("ramp",)).set_index(["dataset", "method"])["obtained_mean"]
        others = starts[(starts["table"] == number) & (starts["start"] != "uniform")].set_index(["dataset", "method"])
        moved += list((others["mean"] - at_zero[others.index]).abs())
    yield f"F changes by {np.mean(moved):.1f} points on average"
    shares = [usmo_rows(n, "f_pub", (kind,))["verdict"] for n in both for kind in ("qp", "usmo")]
    assert all((verdicts == "reproduced").mean() >= 0.4 for verdicts in shares)
    differ = [verdicts.isin(["better", "worse"]).sum() for verdicts in shares]
    yield f"differ in {min(differ)} to {max(differ)} of {len(shares[0])}"


def speeds():
    curves = pd.read_csv(RESULTS / "usmo-figures-4-7" / "curves.csv")
    return curves.pivot_table(index=["dataset", "unlabeled"], columns="method", values="seconds")


def ratio(rows, a, b, digits=0):
    r = rows[a] / rows[b]
    return f"{r.min():.{digits}f} to {r.max():.{digits}f}"


def claims_usmo_figures():
    s = speeds().swaplevel()
    yield f"at 4000 unlabeled rows {ratio(s.loc[4000], 'qp/linear', 'usmo/linear')} times faster than the QP solver and {ratio(s.loc[4000], 'ramp/linear', 'usmo/linear')} times faster than ramp"
    yield f"USMO is {ratio(s.loc[1000], 'qp/gaussian', 'usmo/gaussian')} times faster than the QP solver and {ratio(s.loc[1000], 'svr/gaussian', 'usmo/gaussian')} times faster than SVR at 1000 rows"
    yield f"ramp takes {ratio(s.loc[4000], 'ramp/gaussian', 'usmo/gaussian', 1)} times as long as USMO at 4000 rows, {ratio(s.loc[250], 'ramp/gaussian', 'usmo/gaussian', 1)} times at 250"
    curves = pd.read_csv(RESULTS / "usmo-figures-4-7" / "curves.csv").set_index(
        ["dataset", "repeat", "unlabeled", "method"]
    )
    apart, f1 = [], []
    for kernel in ("linear", "gaussian"):
        pair = [curves.xs(f"{m}/{kernel}", level="method") for m in ("usmo", "qp")]
        common = pair[0].index.intersection(pair[1].index)
        a, b = (p.loc[common] for p in pair)
        apart.append(
            ((a["objective"] - b["objective"]).abs() / np.maximum(a["objective"].abs(), b["objective"].abs())).max()
        )
        f1.append((a["f1"] - b["f1"]).abs().max())
    assert max(apart) <= 1e-5
    yield f"objectives to {max(apart):.0e}, F to {max(f1):.4f}".replace("e-0", "e-")


def claims_safe():
    harm = pd.read_csv(RESULTS / "safe-learning-curves" / "harm.csv")
    total = harm.groupby("method")[["fits", "worse_loss", "worse_test_error"]].sum()
    assert (total["fits"] == 8300).all() and harm["dataset"].nunique() == 14 and (harm["repeats"] == 100).all()
    yield "14 data sets, 100 repeats"
    yield "8300 fits a method"
    assert (total.loc[["least-squares/cpls", "ridge/cpls", "lda/mcpl"], "worse_loss"] == 0).all()
    loss, test = (100 * total[name] / total["fits"] for name in ("worse_loss", "worse_test_error"))
    gain = harm.assign(gain=100 * (harm["reference_error"] - harm["error"])).groupby("method")["gain"].mean()
    yield f"ICLS in {loss['least-squares/icls']:.1f} % ({loss['ridge/icls']:.1f} % with the ridge; it has no such guarantee), EM in {loss['lda/em']:.1f} %, self-training in {loss['lda/self-training']:.1f} %"
    yield f"in {test['least-squares/cpls']:.1f} % of the fits of CPLS ({test['ridge/cpls']:.1f} % with the ridge), {test['lda/mcpl']:.1f} % of MCPL-LDA, {test['least-squares/icls']:.1f} % of ICLS, {test['lda/self-training']:.1f} % of self-training and {test['lda/em']:.1f} % of EM"
    yield f"{gain['least-squares/cpls']:+.1f} ({abs(gain['ridge/cpls']):.1f}), {gain['lda/mcpl']:+.1f}, {gain['least-squares/icls']:+.1f}, {gain['lda/self-training']:+.1f} and {gain['lda/em']:+.1f}"
    oracle = gain[gain.index.str.endswith("oracle")]
    yield f"gains {oracle.min():.0f} to {oracle.max():.0f}"
    one = cells("safe-figure-3.1")
    u = one["setting"].map(lambda text: json.loads(text)["u"])
    inside, beyond = one[u == 1].iloc[0], one.set_index(u).loc[[4, -1]]
    assert (inside[["slope_change", "guaranteed_gain", "gain_if_0", "gain_if_1"]] == 0).all()
    assert (beyond["condition_holds"] == 1).all() and not inside["condition_holds"]
    yield f"the most adversarial label {inside['adversarial_label']:g} lies on the supervised line"
    slopes = 0.5 + beyond["slope_change"]
    yield f"the slope falls to {slopes[4]:.1f} (u = 4) and {slopes[-1]:.1f} (u = -1)"
    least = beyond[["gain_if_0", "gain_if_1"]].min(axis=1)
    yield f"the risk by at least {least[4]:.2f} and {least[-1]:.2f} for every label"
    two = cells("safe-figures-4").set_index("method")["orthogonal_share_of_two"].dropna()
    yield f"in {100 * two['fixed']:.0f} % (fixed variances) and {100 * two['free']:.0f} % (free)"
    assert (cells("safe-figures-4")["orthogonal_share"] == 1).all() and (
        cells("safe-figures-4")["least_improvement"] >= 0
    ).all()


# the sets of figures 2.2 and 2.5
OF_THE_THESIS = ["g50c", "cake", "toes", "iris", "mnist-t10k", "usmo-isolet"]


def over_sets(name, metric):
    """The means over the sets of the thesis, for each number of labels and column."""
    each = wide(name, metric)
    return each[each.index.get_level_values("dataset").isin(OF_THE_THESIS)].groupby("setting").mean()


def claims_classtering():
    w = over_sets("classtering-clustering", "nmi")
    columns = ["classtering/collapsed", "classtering/thesis", "label-spreading", "gaussian-mixture", "k-means"]
    for labels in range(0, 100, 10):
        values = [w.loc[f"labels={labels}", c] for c in columns]
        yield (
            f"| {labels} | "
            + " | ".join("" if np.isnan(v) else f"{v:.2f}" for v in values).replace("|  |", "| |")
            + " |"
        )
    ahead = (w["classtering/collapsed"] - w["label-spreading"]).dropna()
    assert len(ahead) == 9 and ahead.min() > 0 and ahead.idxmin() == "labels=90"
    done = cells("classtering-clustering").query("status == 'done'")
    assert done.groupby(["dataset", "setting", "column"])["repeat"].count().eq(10).all()
    by = wide("classtering-clustering", "nmi").swaplevel()
    ours, others = by["classtering/collapsed"], by[["k-means", "gaussian-mixture"]]
    at = ours["labels=90"]
    behind = [d for d in at.index if at[d] <= others.loc[("labels=90", d), "k-means"] + 0.005]
    assert sorted(behind) == ["g50c", "spiral"]
    yield f"G50C ({at['g50c']:.2f} both) and Spiral ({at['spiral']:.0f} both)"
    tests = pd.read_csv(RESULTS / "classtering-clustering" / "comparisons.csv")
    tests = tests.query("a == 'classtering/collapsed' and b == 'k-means' and setting == 'labels=90'")
    assert (tests["n"] == 10).all()
    ahead = tests.query("mean_difference > 0 and p_adjusted < 0.05")["dataset"]
    assert set(ahead) == set(tests["dataset"]) - {"g50c", "spiral"} and len(ahead) == 8
    gm = others["gaussian-mixture"]["labels=90"]
    yield f"TOES ({at['toes']:.2f} against {gm['toes']:.2f}), CAKE ({at['cake']:.2f}, {gm['cake']:.2f}), Atom and Ring ({at['atom']:.2f}, {gm['atom']:.2f} and {gm['ring']:.2f})"
    spread, rest = by["label-spreading"]["labels=90"], at.index != "spiral"
    yield f"for Spiral alone ({spread['spiral']:.2f} against {at['spiral']:.0f}): over the other nine sets"
    yield f"it has {spread[rest].mean():.2f}, Classtering {at[rest].mean():.2f}"
    yield f"NMI rises from {ours['labels=0', 'cake']:.2f} without labels to {at['cake']:.2f}"
    none = cells("classtering-clustering").query("setting == '{\"labels\":0}' and column == 'classtering/collapsed'")
    found = none.groupby("dataset")["n_components"].median().astype(int)
    yield f"({found['cake']} in CAKE, {found['usmo-isolet']} in Isolet, {found['mnist-t10k']} in the digits, medians over the draws)"
    yield f"each of the {found['spiral']} components"
    first = [
        next(k for k in (0, 10, 30, 90) if round(ours[f"labels={k}", d], 2) == 1) for d in ("atom", "chainlink", "ring")
    ]
    yield "from {}, {} and {} labels on".format(*first)
    e = 100 * wide("classtering-classification", "error", index=("setting",))
    numbers = (1, *range(10, 80, 10))
    for labels in numbers:
        columns = ("classtering/collapsed", "classtering/thesis", "laplacian-svm", "lds", "label-spreading")
        yield f"| {labels} | " + " | ".join(f"{e.loc[f'labels={labels}', c]:.1f}" for c in columns) + " |"
    each = 100 * wide("classtering-classification", "error").swaplevel()
    pairs = pd.read_csv(RESULTS / "classtering-classification" / "comparisons.csv")
    pairs = pairs[pairs["a"] == "classtering/collapsed"]
    clear = {
        (other, sign): set(zip(rows["setting"], rows["dataset"], strict=True))
        for other in ("laplacian-svm", "lds", "label-spreading")
        for sign in (-1, 1)
        for rows in [
            pairs[(pairs["b"] == other) & (pairs["p_adjusted"] < 0.05) & (sign * pairs["mean_difference"] > 0)]
        ]
    }
    one = "labels=1"
    assert clear["laplacian-svm", -1] == {(one, "mnist-t10k"), (one, "usmo-isolet")}
    assert not clear["laplacian-svm", 1] and not clear["label-spreading", 1]
    raw = pairs[pairs["b"] == "laplacian-svm"].set_index(["setting", "dataset"])
    yield f"adjusted for all {len(raw)} comparisons, it is ahead on the digits and Isolet"
    g50c, toes = (raw.loc[("labels=10", name)] for name in ("g50c", "toes"))
    assert g50c["p_adjusted"] > 0.05 and toes["p_adjusted"] > 0.05
    yield f"(p {g50c['p']:.3f} and {toes['p']:.3f} before the adjustment)".replace(" 0.", " .")
    of_laplacian = pairs[pairs["b"] == "laplacian-svm"].set_index("setting")["mean_difference"]
    few = of_laplacian[[one, "labels=10"]]
    many = of_laplacian.drop([one, "labels=10"])
    equal = (many.abs() < 1e-12).sum()
    yield f"in {(few < 0).sum()} of {len(few)} comparisons with 1 and 10 labels, in {(many < -1e-12).sum()} of {len(many)} with more ({equal} are equal)"
    of_cake = pairs[(pairs["b"] == "laplacian-svm") & (pairs["dataset"] == "cake") & (pairs["setting"] != one)]
    assert len(of_cake) == 7 and (of_cake["mean_difference"] > 0).all()
    with_cake = e["classtering/collapsed"] - e["laplacian-svm"]
    others = each[each.index.get_level_values("dataset") != "cake"].groupby("setting").mean()
    assert (others["classtering/collapsed"] < others["laplacian-svm"]).all()
    assert set(with_cake[with_cake > 0].index) == {f"labels={k}" for k in range(20, 80, 10)}
    cake = each.loc[("labels=50", "cake")]
    yield f"({cake['classtering/collapsed']:.1f} per cent against {cake['laplacian-svm']:.1f} with 50)"
    always = {(f"labels={k}", "g50c") for k in numbers}
    assert clear["lds", -1] == always | {(one, "cake"), (one, "toes")}
    assert clear["lds", 1] == {(one, "mnist-t10k"), (one, "usmo-isolet"), ("labels=30", "cake")}
    few_labels = each.loc[one].loc[["mnist-t10k", "usmo-isolet"]]
    yield "({:.0f} and {:.0f} per cent against {:.0f} and {:.0f})".format(
        *few_labels["lds"], *few_labels["classtering/collapsed"]
    )
    most = each.loc["labels=50"]
    assert [d for d, row in most.iterrows() if row.max() - row.min() > 1.4] == ["cake", "g50c"]
    g50c = each.xs("g50c", level="dataset").drop(columns="classtering/thesis")
    best = g50c.idxmin(axis=1)
    assert set(best[best != "classtering/collapsed"].items()) == {
        ("labels=60", "laplacian-svm"), ("labels=70", "laplacian-svm")
    }  # fmt: skip
    ours, lds = (g50c.loc[[f"labels={k}" for k in (1, 10, 50)], c] for c in ("classtering/collapsed", "lds"))
    yield "({:.0f}, {:.0f} and {:.0f} per cent with 1, 10 and 50, Bayes 5)".format(*ours)
    yield "LDS has {:.0f}, {:.0f} and {:.0f} here".format(*lds)
    made = json.loads((RESULTS / "classtering-classification" / "provenance.json").read_text(encoding="utf-8"))
    assert made["cells"]["done"] == 2400
    yield f"these {made['cells']['done']} cells took {made['process_seconds']:.0f} process-seconds"


def pae(name, metric):
    rows = table(name, metric)
    return rows.set_index("method")[["obtained_mean", "published_mean", "published_sd"]]


def better_of(name):
    rows = table(name, "log_likelihood")
    return rows[rows["verdict"] == "better"]["method"].tolist()


def claims_pae_long():
    runs = cells("pae-long-4.1").sort_values("repeat")
    assert all(json.loads(params)["n_iterations"] == 2_000_000 for params in runs["params"])
    ends, modes = listed([f"{v:.2f}" for v in runs["log_likelihood"]]), listed([f"{v:.0f}" for v in runs["modes"]])
    yield f"{ends}, with {modes} of the 25 modes, where"
    curves = pd.read_csv(RESULTS / "pae-long-4.1" / "curves.csv").pivot(
        index="repeat", columns="iterations", values="log_likelihood"
    )
    for run, (_, row) in zip(("first", "second", "third", "fourth", "fifth"), curves.iterrows(), strict=True):
        yield f"| PAE, grid, {run} run | " + " | ".join(f"{v:.2f}" for v in row) + " |"
    best, end = curves.max(axis=1), runs["log_likelihood"]
    on_the_way = f"{best.max():.2f} to {best.min():.2f} on the way and end at {end.max():.2f} to {end.min():.2f}."
    yield f"five runs reach {on_the_way}"
    assert set(curves.idxmax(axis=1)) == {500_000, 1_000_000}
    published, deviation = -4.8, 0.4
    yield f"{(published - best.max()) / deviation:.1f} to {(published - best.min()) / deviation:.1f} published deviations"
    minutes = (runs["seconds_fit"] + runs["seconds_predict"]) / 60
    yield f"A run takes {minutes.min():.0f} to {minutes.max() - 0.5:.0f} minutes"


def claims_pae_curves():
    curves = pd.read_csv(RESULTS / "pae-iterations-4.1" / "curves.csv")
    looks = curves.groupby(["method", "iterations"])["log_likelihood"]
    assert (looks.size() == 10).all()
    mean, sd = looks.mean(), looks.std()
    for m in ("PAE", "VAE", "AAE"):
        values = [f"{value:.2f}" for value in mean[m]]
        yield f"| {m}, grid | {' | '.join(values[:-1])} | | {values[-1]} |"
    end = {m: sd[m].iloc[-1] for m in ("PAE", "VAE", "AAE")}
    yield f"are {end['PAE']:.2f} (PAE), {end['VAE']:.2f} (VAE) and {end['AAE']:.2f} (AAE)"
    assert (mean["AAE"].loc[5000:].diff().dropna() < 0).all()
    runs = cells("pae-iterations-4.1").pivot(index="repeat", columns="method", values=["log_likelihood", "modes"])
    modes, ll = runs["modes"]["AAE"], runs["log_likelihood"]
    yield f"ends with {modes.min():.0f} to {modes.max():.0f} of the 25 modes"
    assert (ll["VAE"] > ll["PAE"]).all() and (ll["PAE"] > ll["AAE"]).all()
    printed = pae("pae-iterations-4.1", "log_likelihood")["published_mean"]
    yield f"PAE ({printed['PAE']}) is ahead of VAE ({printed['VAE']}) and AAE ({printed['AAE']})"
    assert ll["VAE"].mean() > printed["VAE"]


def claims_pae_embedding():
    curves = pd.read_csv(RESULTS / "pae-iterations-4.2" / "curves.csv")
    looks = curves.groupby(["method", "iterations"])["log_likelihood"]
    assert (looks.size() == 10).all()
    for m in ("PAE", "VAE"):
        values = [f"{value:.0f}" for value in looks.mean()[m].loc[1000:]]
        yield f"| {m}, embedding | {' | '.join(values)} | |"
    runs = curves.pivot(index=["method", "repeat"], columns="iterations", values="log_likelihood")
    pae_runs, end = runs.loc["PAE"], runs[120_000]
    early = pae_runs[2000]
    yield f"{early.min():.0f} to {early.max():.0f} at 2,000 iterations"
    assert (pae_runs[[5000, 10_000, 20_000]].lt(early, axis=0)).all(axis=None)
    assert (pae_runs.loc[:, 10_000:].diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    yield f"ends at {end['PAE'].min():.0f} to {end['PAE'].max():.0f} (standard deviation {end['PAE'].std():.0f}"
    yield f"VAE levels off at {runs.loc['VAE', 120_000].min():,.0f} to {runs.loc['VAE', 120_000].max():,.0f}"
    assert (end["VAE"] > end["PAE"]).all()


def claims_pae():
    runs = cells("pae-table-4.1")
    assert (runs.groupby("method").size() == 10).all()
    ll, near, modes = (runs.groupby("method")[name] for name in ("log_likelihood", "near", "modes"))
    yield f"lie between {ll.mean().max():.1f} and {ll.mean().min():.1f}"
    yield f"deviations of {ll.std().min():.2f} to {ll.std().max():.2f}"
    collapsed = ["BiGAN", "VEEGAN"]
    share = 100 * near.mean().drop(collapsed)
    yield f"near a mode: {share.min():.0f} to {share.max():.0f} %"
    others = runs[~runs["method"].isin(collapsed)]
    assert others[others["modes"] < 25]["method"].tolist() == ["CouGAN"]
    reached = modes.mean()
    least, most = modes.min(), modes.max()
    yield (
        f"BiGAN reaches {reached['BiGAN']:.0f} of the 25 modes on average ({least['BiGAN']:.0f} to {most['BiGAN']:.0f} in "
        f"single runs) and VEEGAN {reached['VEEGAN']:.0f} ({least['VEEGAN']:.0f} to {most['VEEGAN']:.0f})"
    )
    yield f"AVB-AC has {ll.mean()['AVB-AC']:.2f}, next to"
    yield f"AAE has {ll.mean()['AAE']:.2f}, below"
    order, name = ("PAE", "CouGAN", "WGAN", "VAE", "AAE", "BiGAN", "VEEGAN", "AVB-AC"), "pae-table-4.2"
    ll, modes, near = (pae(name, metric) for metric in ("log_likelihood", "modes", "near"))
    printed = [
        f"{ll.loc[m, 'published_mean']:.0f} +- {ll.loc[m, 'published_sd']:.0f}" if m != "CouGAN" else "failure"
        for m in order
    ]
    yield "| published log-likelihood | " + " | ".join(printed) + " |"
    runs = cells(name)
    assert (runs.groupby("method").size() == 10).all()
    spread = runs.groupby("method")["log_likelihood"].std()
    obtained = (f"{ll.loc[m, 'obtained_mean']:.0f} +- {spread[m]:.0f}" for m in order)
    yield "ten runs | " + " | ".join(obtained) + " |"
    yield "| modes of 10 | " + " | ".join(f"{modes.loc[m, 'obtained_mean']:.1f}" for m in order) + " |"
    collapsed = runs[runs["method"].isin(["BiGAN", "VEEGAN"])]["modes"]
    yield f"collapse to {collapsed.min():.0f} or {collapsed.max():.0f} modes"
    assert (runs[~runs["method"].isin(["CouGAN", "BiGAN", "VEEGAN"])]["modes"] == 10).all()
    behind = runs.pivot(index="repeat", columns="method", values="log_likelihood")
    assert all((behind["PAE"] < behind[m]).all() for m in ("WGAN", "VAE", "AAE"))
    yield "| near a centre (%) | " + " | ".join(f"{100 * near.loc[m, 'obtained_mean']:.0f}" for m in order) + " |"
    yield from claims_pae_curves()
    yield from claims_pae_embedding()
    yield from claims_pae_long()
    better = [(n[-3:], m) for n in ("pae-table-4.1", "pae-table-4.2") for m in better_of(n)]
    assert better == [
        ("4.1", "BiGAN"),
        ("4.1", "VEEGAN"),
        ("4.2", "VAE"),
        ("4.2", "BiGAN"),
        ("4.2", "VEEGAN"),
        ("4.2", "AVB-AC"),
    ]
    yield "The six *better* of pae-table-4.1 and pae-table-4.2 (BiGAN and VEEGAN in both, VAE and AVB-AC in the second)"
    whole = {}
    for table_name in ("pae-table-4.1", "pae-table-4.2"):
        rate = cells(table_name).groupby("method")["iterations_per_second"].mean()
        hours = 10 * 2e6 / rate / 3600
        whole[table_name] = f"{hours.sum():.0f} hours for table {table_name[-3:]}", f"(PAE{{}} {hours['PAE']:.0f})"
    yield whole["pae-table-4.1"][0]
    yield whole["pae-table-4.1"][1].format(" alone")
    yield f"{whole['pae-table-4.2'][0]} {whole['pae-table-4.2'][1].format('')}"
    speed = pae("pae-table-4.3", "iterations")
    yield "| published | " + " | ".join(f"{speed.loc[m, 'published_mean']:.1f}" for m in order) + " |"
    yield (
        "| obtained, one thread of a shared processor | "
        + " | ".join(f"{speed.loc[m, 'obtained_mean']:.2f}" for m in order)
        + " |"
    )
    for of, label in (("published", "published"), ("obtained", "obtained")):
        values = speed[f"{of}_mean"] / speed.loc["VAE", f"{of}_mean"]
        yield (
            f"| {label}, relative to VAE | "
            + " | ".join("1" if m == "VAE" else f"{values[m]:.2f}" for m in order)
            + " |"
        )
    # the heading, and how far the four in the middle are apart
    for of in ("published_mean", "obtained_mean"):
        assert list(speed[of].sort_values().index[[0, -3, -2, -1]]) == ["WGAN", "CouGAN", "PAE", "VAE"]
    middle = speed.loc[["AAE", "BiGAN", "VEEGAN", "AVB-AC"]]
    apart = middle.max(numeric_only=True) / middle.min(numeric_only=True)
    here, there = apart["obtained_mean"], apart["published_mean"]
    yield f"differ by {here - 1:.0%} here, by a factor of {there:.1f} in print".replace("%", " %")
    modes = pae("pae-figures-4.4-4.5", "modes")["obtained_mean"]
    shown = modes.sort_values(ascending=False)
    yield "that {}, {}, {}, {}, {}, {}, {} and {} generate".format(*shown.index)
    yield "fall into {:.0f}, {:.0f}, {:.0f}, {:.0f}, {:.0f}, {:.0f}, {:.0f} and {:.0f} of the 1,000".format(*shown)


@pytest.mark.parametrize("claims", [claims_usmo, claims_usmo_figures, claims_safe, claims_classtering, claims_pae])
def test_the_page_agrees_with_the_cells(claims):
    text = " ".join(PAGE.split())
    missing = [claim for claim in claims() if claim not in text]
    assert not missing, "\n".join(missing)
