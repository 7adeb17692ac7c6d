"""Every number of results/README.md that the committed files can give is computed here from them.

First the publications of Wang; test_results_page_others.py has the rest.
"""

# ruff: noqa: E501 - sentences of the page stand on one line

import itertools
import json

import pytest
import yaml

from pucli.report.all_experiments import judged_rows, with_counts
from pucli.runner import load_experiment
from tests.helpers import ROOT
from tests.report.page_numbers import HALF, PAGE, QUARTER, RESULTS, ahead, cells, counted, mean, table, wide
from tests.report.variants import judged


def claims_3_1():
    n = "table-3.1"
    for base in ("glpual", "gllc"):
        three = " | ".join(f"{mean(n, f'{base}/{v}'):.2f}" for v in ("linear", "thesis", "rkhs"))
        yield f"| {base.upper()} | {mean(n, f'{base}/linear', of='published'):.2f} | {three} |"
    linear = table(n)[table(n)["column"] == "glpual/linear"].set_index("setting")["obtained_mean"]
    yield f"{linear['mean_p2=50']:.1f} at distance 50, falling to {linear['mean_p2=1000']:.1f} at 1000"
    thesis = table(n)[table(n)["column"] == "glpual/thesis"]
    low, high = thesis["obtained_mean"].min(), thesis["obtained_mean"].max()
    there = thesis["published_mean"]
    yield f"({low:.1f} to {high:.1f} against {there.min():.1f} to {there.max():.1f})"
    assert set(thesis["verdict"]) == {"reproduced"}
    gllc = table(n)[table(n)["column"] == "gllc/linear"].set_index("setting")
    below = gllc[gllc["verdict"] == "worse"].eval("published_mean - obtained_mean")
    assert list(below.index) == ["mean_p2=200", "mean_p2=1000"]
    yield f"three of its five figures are inconclusive, the other two (1000 and 200) are {below.iloc[1]:.1f} and {below.iloc[0]:.1f} points above ours"
    yield f"has {mean(n, 'svc-naive/kernel'):.2f} with the same kernel and {mean(n, 'svc-naive/linear'):.2f} in linear form"
    exact = cells(n)[cells(n)["column"].isin(["glpual/linear", "gllc/linear"])]
    assert exact["converged"].all() and (exact["dual_gap"] <= 1e-6 * exact["objective"]).all()
    assert ahead(n, "glpual/thesis", "gllc/thesis")[2] == ahead(n, "glpual/linear", "gllc/linear")[2] == 0


def claims_3_3():
    n = "table-3.3"
    for setting, base in itertools.product((HALF, QUARTER), ("glpual", "gllc")):
        two = " | ".join(f"{mean(n, f'{base}/{v}', setting):.2f}" for v in ("thesis", "rkhs"))
        published = mean(n, f"{base}/thesis", setting, of="published")
        yield f"| {setting.partition('=')[2]} | {base.upper()} | {published:.2f} | {two} |"
    yield f"Of its 32 figures {counted(n, 'glpual/thesis')}"
    rkhs = cells(n)[cells(n)["variant"] == "rkhs"]
    stopped = rkhs[rkhs["flags"].str.contains("not converged")].eval("dual_gap / objective")
    yield f"{len(stopped)} of {len(rkhs)} fits stopped above the tolerance (on SSMCR, at relative gaps of {stopped.min():.1e} to {stopped.max():.1e})".replace(
        "e-0", "e-"
    )
    assert set(rkhs.loc[stopped.index, "dataset"]) == {"ssmcr"}
    grid = yaml.safe_load((ROOT / "experiments" / f"{n}.yaml").read_text())["methods"]["glpual/rkhs"]["grid"]
    chosen = [json.loads(text) for text in rkhs["params"]]
    left = {name: sum(params[name] not in grid[name] for params in chosen) for name in ("width", "lam")}
    yield f"{left['width']} widths and {left['lam']} ridges of the {len(rkhs)} cells left it"
    gains = [
        mean(n, f"{base}/rkhs", s) - mean(n, f"{base}/thesis", s)
        for base in ("glpual", "gllc")
        for s in (HALF, QUARTER)
    ]
    yield "({:+.1f} and {:+.1f} for GLPUAL) should be read with that in mind; for GLLC it is larger ({:+.1f}, {:+.1f})".format(
        *gains
    )
    thesis, rows, _ = ahead(n, "glpual/thesis", "gllc/thesis")
    yield f"ahead in {thesis} of {rows} rows in thesis form, in {ahead(n, 'glpual/rkhs', 'gllc/rkhs')[0]} in rkhs form; no single row differs"
    assert ahead(n, "glpual/thesis", "gllc/thesis")[2] == ahead(n, "glpual/rkhs", "gllc/rkhs")[2] == 0
    for name, label in (("upu", "uPU"), ("nnpu", "nnPU")):
        here = [mean(n, name, s) for s in (HALF, QUARTER)]
        there = [mean(n, name, s, of="published") for s in (HALF, QUARTER)]
        yield f"{label} {here[0]:.1f} and {here[1]:.1f} (published {there[0]:.1f}, {there[1]:.1f})"
    yield f"svc-naive {mean(n, 'svc-naive', HALF):.1f} and {mean(n, 'svc-naive', QUARTER):.1f}"
    yield f"uPU: {counted(n, 'upu')}; nnPU: {counted(n, 'nnpu')}"
    place = ["dataset", "setting", "repeat"]
    equal = [cells(n)[cells(n)["method"] == m].set_index(place)["f1"] for m in ("upu", "nnpu")]
    yield f"their F1 is equal in {int((equal[0] == equal[1]).sum())} of {len(equal[0])} cells"
    w = wide(n)
    counts = [int((w["svc-naive"] > w[f"glpual/{v}"]).sum()) for v in ("thesis", "rkhs")]
    yield f"than the thesis form of GLPUAL in {counts[0]} of 32 rows, than its rkhs form in {counts[1]}"


def claims_figures():
    text = (RESULTS / "wang-figures" / "maps.md").read_text()
    rows = {line.split("|")[2].strip(): line.split("|") for line in text.splitlines() if line.startswith("| figure")}
    same = {name: float(row[8]) for name, row in rows.items()}
    yield f"two parts (silhouette {float(rows['wifi'][9]):.2f})"
    assert round(float(rows["wifi"][10]), 2) == 0.76  # three quarters
    yield f"({min(same[name] for name in ('or1', 'or2', 'pen')):.1f} % and more of the ten nearest rows"
    shares = {name: float(rows[name][4]) / float(rows[name][3]) for name in ("ld", "avila")}
    strewn = [100 * (shares[name] ** 2 + (1 - shares[name]) ** 2) for name in ("ld", "avila")]
    yield f"same-class share {same['ld']:.1f} % and {same['avila']:.1f} %, where classes strewn at random have {strewn[0]:.1f} % and {strewn[1]:.1f} %"
    f1 = wide("wang-figures", index=("dataset",))
    pairs = [
        f"{label} ({f1.loc[d, 'glpual/thesis']:.1f} against {f1.loc[d, 'gllc/thesis']:.1f})"
        for d, label in (("pen", "Pen"),)
    ]
    pairs += [
        f"{label} ({f1.loc[d, 'glpual/thesis']:.1f}, {f1.loc[d, 'gllc/thesis']:.1f})"
        for d, label in (("or2", "OR2"), ("ecoli", "Ecoli"), ("avila", "Avila"))
    ]
    yield f"{', '.join(pairs)} and RD ({f1.loc['rd', 'glpual/thesis']:.1f}, {f1.loc['rd', 'gllc/thesis']:.1f})"
    at = wide("wang-figure-3.4", "crossing", index=("setting",)).loc[
        [f"mean_p2={m}" for m in (50, 100, 200, 500, 1000)]
    ]
    for column, shown in (("glpual/linear", "10.5, 17, 0, 38, 199"), ("gllc/linear", "6, 8, 17, 45, 203"),
                          ("glpual/thesis", "8, 8, 9, 7, 11"), ("gllc/thesis", "8, 12, 11, 9, 12")):  # fmt: skip
        assert [abs(float(a) - b) <= 0.5 for a, b in zip(shown.split(", "), at[column], strict=True)] == [True] * 5
        yield shown
    thesis = table("wang-figure-3.4", "f1").query("variant == 'thesis'")["obtained_mean"]
    yield f"F1 {thesis.min():.0f} to {thesis.max():.0f}"


def claims_4():
    n, z = "table-4.1", "table-4.2"
    shares = {
        c: [mean(z, c, of=o, metric="irrelevant") for o in ("published", "obtained")] for c in ("e-glpual", "glpual")
    }
    for column, label in (("e-glpual", "E-GLPUAL"), ("glpual", "GLPUAL, linear")):
        f1 = [mean(n, column, of=o) for o in ("published", "obtained")]
        yield f"| {label} | {f1[0]:.2f} | {f1[1]:.2f} | {shares[column][0]:.0f} % | {shares[column][1]:.0f} % |"
    yield f"| GLPUAL, kernel, thesis form | {mean(n, 'glpual/thesis', of='published'):.2f} | {mean(n, 'glpual/thesis'):.2f} |"
    yield f"| svc-naive, linear, cut at zero | | {mean(n, 'svc-naive'):.2f} |"
    yield f"E-GLPUAL is ahead of GLPUAL in {ahead(n, 'e-glpual', 'glpual')[0]} of 5 rows"
    assert set(table(n)[(table(n)["setting"] == "mean_p2=50")]["verdict"]) == {"inconclusive", ""}
    yield f"Of the five shares of E-GLPUAL {counted(z, 'e-glpual', 'irrelevant')}"
    n, z = "table-4.4", "table-4.5"
    ekf_columns = (("ekf-glpual", "EKF-GLPUAL, PUF"), ("ekf-glpual/lower-1se", "EKF-GLPUAL, stable rule"))
    for column, label in (*ekf_columns, ("glpual", "GLPUAL")):
        for setting in (HALF, QUARTER):
            f1 = [mean(n, column, setting, of=o, published_only=True) for o in ("published", "obtained")]
            yield f"| {setting.partition('=')[2]} | {label} | {f1[0]:.2f} | {f1[1]:.2f} |"
    for column, label in ekf_columns:
        for setting in (HALF, QUARTER):
            both = [
                mean(z, column, setting, of=o, metric="irrelevant", published_only=True)
                for o in ("published", "obtained")
            ]
            yield f"| {setting.partition('=')[2]} | {label}: irrelevant features dropped (%) | {both[0]:.2f} | {both[1]:.2f} |"
    yield f"with PUF: {counted(n, 'ekf-glpual')}"
    yield f"with the stable rule: {counted(n, 'ekf-glpual/lower-1se')}"
    yield f"GLPUAL: {counted(n, 'glpual')}"
    ahead_of_it = [ahead(n, column, "glpual")[0] for column, _ in ekf_columns]
    yield "ahead of GLPUAL in {} (PUF) and {} (stable rule) of 32 rows".format(*ahead_of_it)
    ekf = cells(n)[cells(n)["method"] == "ekf-glpual"]
    assert len(ekf) == 640 and ekf["converged"].all()
    lam1 = ekf["params"].map(lambda params: json.loads(params)["lam1"])
    low, high = ekf[lam1 <= 20]["irrelevant_zeroed"], ekf[lam1 > 20]["irrelevant_zeroed"]
    yield (
        f"20 or less, which are {100 * len(low) / len(ekf):.0f} %, {100 * (low == 0).mean():.0f} % drop none; "
        f"the others drop {100 * high.mean():.0f} % on average"
    )
    share = ekf["irrelevant_zeroed"]
    yield f"In {100 * (share == 0).mean():.0f} % of the 640 cells none is dropped and in {100 * (share == 1).mean():.0f} % all are"
    tuned = ekf["n_fits"].sum() / 1e6
    hours = (ekf["seconds_tune"].sum() + ekf["seconds_fit"].sum()) / 3600
    pen = ekf[ekf["dataset"] == "pen"]["seconds_tune"].sum() / 3600
    yield f"{tuned:.1f} million points took {hours:.1f} hours, {pen:.1f} of them Pen"
    here = [mean(n, m, s, published_only=True) for s in (HALF, QUARTER) for m in ("upu", "nnpu")]
    there = [mean(n, m, s, of="published", published_only=True) for s in (HALF, QUARTER) for m in ("upu", "nnpu")]
    yield "({:.1f} and {:.1f} against {:.1f} and {:.1f}; {:.1f} and {:.1f} against {:.1f} and {:.1f})".format(
        *here[:2], *there[:2], *here[2:], *there[2:]
    )
    svc = [mean(n, "svc-naive", s, published_only=True) for s in (HALF, QUARTER)]
    yield f"The plain SVC has {svc[0]:.1f} and {svc[1]:.1f} on the same sets"


def claims_5():
    n = "table-5.1"
    yield f"| CPB-GLPUAL, linear, the declared grid | {mean(n, 'cpb-glpual', of='published'):.2f} | {mean(n, 'cpb-glpual'):.2f} |"
    for column, label in (("cpb-glpual/weak-ridge", "CPB-GLPUAL, linear, weaker ridges"), ("cpb-glpual/estimated", "CPB-GLPUAL, linear, prior estimated"),
                          ("cpb-glpual/kernel", "CPB-GLPUAL, kernel"), ("glpual/thesis", "GLPUAL, kernel, thesis form"), ("svc-naive", "svc-naive, linear, cut at the prior")):  # fmt: skip
        yield f"| {label} | | {mean(n, column):.2f} |"
    yield f"| GLPUAL, linear | {mean(n, 'glpual', of='published'):.2f} | {mean(n, 'glpual'):.2f} |"
    near = cells(n)[(cells(n)["column"] == "cpb-glpual") & cells(n)["setting"].str.contains('"mean_p2":50,')]
    off = near[~near["flags"].str.contains("edge of the grid")]
    assert len(near) == 5 and len(off) == 1
    yield f"calls next to nothing positive (F1 {off['f1'].iloc[0]:.2f})"
    yield f"{100 * near['f1'].mean():.0f} was obtained"
    n = "table-5.3"
    for setting in (HALF, QUARTER):
        forms = " | ".join(f"{mean(n, f'cpb-glpual/{v}', setting):.2f}" for v in ("rkhs", "thesis", "thesis-penalty"))
        yield f"| {setting.partition('=')[2]} | {mean(n, 'cpb-glpual/rkhs', setting, of='published'):.2f} | {forms} |"
    yield f"of its 32 figures {counted(n, 'cpb-glpual/rkhs')}"
    printed = (
        table(n).query("published_mean.notna()", engine="python").drop_duplicates(["dataset", "setting", "method"])
    )
    printed = printed.pivot_table(index=["dataset", "setting"], columns="method", values="published_mean")
    yield f"its own table has {int((printed['cpb-glpual'] > printed['glpual']).sum())} of {len(printed)}"
    yield f"the rkhs form is ahead in {ahead(n, 'cpb-glpual/rkhs', 'glpual')[0]} of 32 rows"
    yield f"GLPUAL has {mean(n, 'glpual', HALF):.1f} and {mean(n, 'glpual', QUARTER):.1f} on the same splits"
    yield f"The plain SVC, which is not told the prior, has {mean(n, 'svc-naive', HALF):.1f} and {mean(n, 'svc-naive', QUARTER):.1f}"
    same = (
        table("table-3.3").drop_duplicates(["dataset", "setting", "method"]).set_index(["dataset", "setting", "method"])
    )
    for place, row in table(n).set_index(["dataset", "setting", "method"]).iterrows():
        if place[2] in ("glpual", "upu", "nnpu"):
            assert row["published_mean"] == same.loc[place, "published_mean"]


def claims_ceilings():
    distances = [f"mean_p2={d}" for d in (50, 100, 200, 500, 1000)]
    for n, columns in (
        ("4.1", ("e-glpual", "glpual", "glpual/thesis")),
        ("5.1", ("cpb-glpual", "cpb-glpual/kernel", "glpual", "glpual/thesis")),
    ):
        best = wide(f"ceiling-{n}", "f1_ceiling", index=("setting",))
        for column in columns:
            printed = [mean(f"table-{n}", column, d, of="published") for d in distances]
            shown = (f"{p:.1f}, {best.loc[d, column]:.1f}" for p, d in zip(printed, distances, strict=True))
            yield f"| {n} {column} | " + " | ".join(shown) + " |"
    best, table_5_1 = cells("ceiling-5.1"), cells("table-5.1")
    linear = best[(best["column"] == "cpb-glpual") & ~best["setting"].str.contains('"mean_p2":50,')]["f1_ceiling"]
    means = wide("ceiling-5.1", "f1_ceiling", index=("setting",)).loc[distances[1:]]
    low, high = means["cpb-glpual"].min(), means["cpb-glpual"].max()
    yield f"the best of 16 points of a wide grid (ridges 10^-6 to 10, two similarities) has {low:.0f} to {high:.0f} on the test rows"
    assert len(linear) == 20 and (linear > 0.9).sum() == 2
    yield f"(in two of the twenty sets a point reaches {100 * linear.nlargest(2).min():.0f} and {100 * linear.max():.0f}, in no other more than {100 * linear.nlargest(3).min():.0f})"
    far = table_5_1[
        (table_5_1["column"] == "cpb-glpual/weak-ridge") & ~table_5_1["setting"].str.contains('"mean_p2":50,')
    ]
    yield f"the median AUC of the weaker ridges there is {far['auc'].median():.2f}"
    yield f"with a kernel the best is {means['cpb-glpual/kernel'].min():.0f} to {means['cpb-glpual/kernel'].max():.0f}"
    near = wide("ceiling-5.1", "f1_ceiling", index=("setting",)).loc["mean_p2=50"]
    yield f"the best point of the wide grid has {near['cpb-glpual']:.0f}, and"
    reached = {}
    for n in ("3.3", "4.4", "5.3"):
        for note in load_experiment(f"table-{n}").notes:
            if f"(ceiling-{n})" in note.text:
                reached.setdefault((n, note.method), []).append(note.cause == "tuning noise")

    def counts(n, *columns):
        found = [one for column in columns for one in reached[n, column]]
        return sum(found), len(found)

    within, of = counts("3.3", "glpual/thesis", "gllc/thesis")
    yield f"of the {of} figures below the published ones, the grid has points within two standard errors of {within}"
    within, of = counts("3.3", "glpual/rkhs", "gllc/rkhs")
    yield f"rkhs forms: of {of} such figures, {within}"
    (a, n_a), (b, n_b), (c, n_c) = (counts("4.4", k) for k in ("ekf-glpual", "ekf-glpual/lower-1se", "glpual"))
    yield f"EKF-GLPUAL with PUF, {a} of {n_a}; with the stable rule, {b} of {n_b}; GLPUAL, {c} of {n_c}"
    (a, n_a), (b, n_b) = (counts("5.3", f"cpb-glpual/{k}") for k in ("thesis-penalty", "rkhs"))
    yield f"printed updates with the penalty tuned, {a} of {n_a}; rkhs form, {b} of {n_b}"
    places = ["dataset", "setting", "column"]
    for n, column in (("5.3", "cpb-glpual/thesis-penalty"), ("4.4", "ekf-glpual")):
        best = table(f"ceiling-{n}", "f1_ceiling")
        best = best[best["column"] == column].set_index(places)["obtained_mean"]
        chosen = table(f"table-{n}", "f1").set_index(places)["obtained_mean"]
        yield f"{(best - chosen[best.index]).mean():.1f} points below the best"


def claims_variants():
    def two(name, column, of="obtained"):
        return f"{mean(name, column, HALF, of=of):.1f}, {mean(name, column, QUARTER, of=of):.1f}"

    for column, label in (
        ("glpual/thesis", "GLPUAL, thesis form"),
        ("gllc/thesis", "GLLC, thesis form"),
        ("upu", "uPU"),
        ("nnpu", "nnPU"),
    ):
        others = (
            [two("upu-3.3", f"{column}/{v}") for v in ("short", "long", "wide")] if column[-2:] == "pu" else [""] * 3
        )
        shown = [two("table-3.3", column, "published"), two("table-3.3", column), two("raw-3.3", column), *others]
        yield " ".join(f"| {label} | {' | '.join(shown)} |".split())
    raw, settings = judged("table-3.3", "raw-3.3"), judged("table-3.3", "upu-3.3")
    yield f"Features as they come give {raw['agrees'].sum()} of the {len(raw)} figures. Of the {raw['disagreed'].sum()} that are better or worse"
    assert list(raw[raw["agrees"] & raw["disagreed"]]["column"]) == ["gllc/thesis"]
    disagreed = settings[settings["disagreed"]]
    yield f"Of the {len(disagreed.groupby(['dataset', 'setting', 'column']))} figures of uPU and nnPU that are better or worse, one is given"
    assert list(disagreed[disagreed["agrees"]]["variant"]) == ["nnpu/long"]


def claims_plain():
    rows = table("plain-5.1", "f1").pivot_table(index="setting", columns="column", values="obtained_mean", sort=False)
    printed = table("table-5.1", "f1").drop_duplicates(["setting", "column"]).set_index(["column", "setting"])
    here = [f"{value:.1f}" for value in rows["glpual/thesis"]]
    there = [f"{printed.loc[('glpual', place), 'published_mean']:.2f}" for place in rows.index]
    yield f"{', '.join(here[:4])} and {here[4]} at distances 50 to 1000 against {', '.join(there[:4])} and {there[4]} in print"
    agree = judged("table-5.1", "plain-5.1").query("variant == 'glpual/thesis'")["agrees"]
    yield f"{agree.sum()} of the five are reproduced. Linear as described they do not: {rows['glpual'].min():.0f} to {rows['glpual'].max():.0f}"
    kernel = rows["cpb-glpual/kernel"]
    yield f"with a kernel, {kernel.min():.0f} to {kernel.max():.0f} against 96 to 97, and is not reached"


def claims_readings():
    def entry(number, reading, column):
        rows = judged(f"table-{number}", f"variants-{number}", reading=reading).query("variant == @column")
        assert len(rows) == 5
        return f"{rows['mean'].mean():.1f} ({rows['agrees'].sum()})"

    printed = [mean("table-4.1", c, of="published") for c in ("e-glpual", "glpual", "glpual/thesis")]
    e, linear, kernel, cpb = (f"{value:.2f}" for value in (*printed, mean("table-5.1", "cpb-glpual", of="published")))
    yield f"| published | {e} | | {linear} | {kernel} | {cpb} | |"
    most = 0
    for scaled, words in ((1, "standardised"), (0, "not standardised")):
        for angle in (0, 45, 90):
            reading = f"scaled={scaled}, angle={angle}"
            of_4_1 = [entry("4.1", reading, c) for c in ("e-glpual", "e-glpual/at-prior", "glpual", "glpual/thesis")]
            of_5_1 = [entry("5.1", reading, c) for c in ("cpb-glpual", "cpb-glpual/at-prior")]
            yield f"| {words}, {angle} degrees | {' | '.join([*of_4_1, *of_5_1])} |"
            most = max(most, *(int(text[-2]) for text in of_4_1[:2]))
            if angle == 0:
                yield f"{of_5_1[1][:4]} in place of {of_5_1[0][:4]}"
    yield f"Of E-GLPUAL at most {most} of 5 figures come out"
    weighed = cells("variants-4.1").query("column == 'e-glpual/prior-weights'")
    yield f"{(weighed['f1'] == 0).sum()} of the {len(weighed)} models call no row positive, and none of the figures"
    assert not table("variants-4.1", "f1").query("column == 'e-glpual/prior-weights'")["obtained_mean"].gt(1).any()
    glpual = [table("table-4.1", "f1").query("column == 'glpual'")["published_mean"].iloc[k] for k in (0, -1)]
    yield f"as it does in print ({glpual[0]:.1f} to {glpual[1]:.1f})"
    raw = table("variants-4.1", "f1").query("column == 'glpual/thesis' and setting.str.contains('scaled=0')")
    assert 92.5 < raw["obtained_mean"].min() < 93


@pytest.mark.slow
@pytest.mark.parametrize(
    "claims",
    [
        claims_3_1,
        claims_3_3,
        claims_figures,
        claims_4,
        claims_5,
        claims_ceilings,
        claims_variants,
        claims_plain,
        claims_readings,
    ],
)
def test_the_page_agrees_with_the_cells(claims):
    text = " ".join(PAGE.split())
    missing = [claim for claim in claims() if claim not in text]
    assert not missing, "\n".join(missing)


def test_the_counts_of_verdicts_are_those_of_the_tables():
    assert with_counts(PAGE, judged_rows(RESULTS)) == PAGE, "run `pucli report --all`"


def test_every_folder_with_results_is_on_the_page():
    for path in RESULTS.glob("*/cells.csv"):
        assert path.parent.name in PAGE, path.parent.name
