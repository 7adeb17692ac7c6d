"""Data chosen with the printed figures in view count in no sum, and the splits are compared with all else equal."""

import math
import re

import pytest
import yaml
from scipy.stats import t

from pucli.report import Gathered, assemble
from pucli.report.all_experiments import judged_rows, verdict_counts
from pucli.report.results_page import _Figures
from pucli.report.tables.controls import TableSamples, controls_of
from pucli.report.tables.published import IN_VIEW, chosen_in_view, read_published
from pucli.report.tables.samples import Samples
from pucli.runner import load_experiment, plan
from pucli.runner.profiles import scope
from tests.helpers import ROOT
from tests.report.page_numbers import RESULTS, cells, table

CHOSEN = {"or1-script", "or2-script"}
WITH_CHOSEN = [f"{name}-{table}" for name in ("selections", "author") for table in ("3.3", "4.4")]
WITH_VERDICTS = ["selections-3.3", "selections-4.4", "selections-5.3"]
OF = _Figures(ROOT / "results")
SETTINGS = ("label_frequency=0.5", "label_frequency=0.25")


@pytest.fixture
def planted(tmp_path):
    """A table of one known and one chosen data set, whose cells all have the printed figure of the known one."""
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "mine.csv").write_text(
        "dataset,label_frequency,method,f1_mean,f1_sd\nSeeds,0.5,glpual,80,1\nOR1,0.5,glpual,40,1\n"
    )
    content = {
        "title": "planted",
        "data": {"names": ["seeds", "or1-script"]},
        "split": {"scenario": "case-control", "label_frequencies": [0.5], "repeats": 4, "seed": 1},
        "methods": {"glpual": {"method": "glpual", "grid": {"c_u": [0.1, 0.5]}}},
        "published": {"file": "mine.csv", "rename": {"OR1": "or1-script"}},
    }
    (tmp_path / "planted.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    experiment = load_experiment(tmp_path / "planted.yaml")
    rows = {
        cell.key: {
            "status": "done", "metrics": {"f1": 0.8 + 0.001 * cell.repeat}, "seconds": {}, "params": {},
            "certificate": {}, "n_fits": 1, "flags": [], "notes": [], "error": "", "finished": "", "provenance": {},
        }
        for cell in plan(experiment)
    }  # fmt: skip
    return Gathered(experiment, scope(experiment, "full"), plan(experiment), rows, tmp_path / "planted")


def test_a_chosen_data_set_has_verdicts_and_stands_apart_in_its_table(planted):
    report = assemble(planted)
    assert {row.dataset: row.verdict for row in report.rows} == {"seeds": "reproduced", "or1-script": "better"}
    assert report.verdicts == {"reproduced": 1} and not report.causes
    apart = {line.setting: (line.rows, line.published_mean) for line in report.summary}
    assert apart == {"": (1, 80.0), f"data {IN_VIEW}": (1, 40.0)}


def test_a_chosen_data_set_is_no_control(planted):
    samples = Samples.of(planted.experiment, planted.cells, planted.rows)
    assert {one.figures for one in controls_of([TableSamples(samples)])} <= {1}
    printed = read_published(planted.experiment, samples.parameters)
    assert {figure.dataset for figure in printed} == {"seeds", "or1-script"}


@pytest.mark.parametrize("name", WITH_CHOSEN)
def test_the_chosen_data_sets_were_run_in_every_column_and_are_printed(name):
    assert chosen_in_view(load_experiment(name)) == CHOSEN
    rows = table(name)
    for dataset in sorted(CHOSEN):
        own = rows[rows["dataset"] == dataset]
        assert set(own["column"]) == set(load_experiment(name).methods) and set(own["setting"]) == set(SETTINGS)
        assert own.loc[own["method"] != "svc-naive", "published_mean"].notna().any()
        assert own.loc[own["metric"].str.startswith("f1"), "repeats"].min() >= load_experiment(name).split.repeats


def test_no_figure_of_a_chosen_data_set_counts():
    rows = judged_rows(ROOT / "results")
    chosen = [one for one in rows if one.figure[1] in CHOSEN]
    assert {one.experiment for one in chosen} == set(WITH_VERDICTS)
    assert {(one.primary, one.apart) for one in chosen} == {(False, f"data {IN_VIEW}")}
    assert all(set(verdict_counts(rows)[name].apart) == {f"data {IN_VIEW}"} for name in WITH_VERDICTS)
    assert not any(one.primary for one in rows if one.experiment.startswith("selections"))


def test_agreement_leaves_chosen_data_out():
    assert " of 32 (" in OF.agreement("author-3.3", "glpual/thesis") and " of 28 (" in OF.agreement("author-4.4", "upu")


@pytest.mark.parametrize(
    ("stated", "author", "column", "metric", "repeats", "sets"),
    [
        ("table-3.3", "author-3.3", "gllc/thesis", "f1", 10, 16),
        ("table-4.4", "author-4.4", "glpual", "f1", 5, 14),
        ("stated-4.4", "author-4.4", "ekf-glpual", "irrelevant_zeroed", 5, 14),
    ],
)
def test_the_gain_of_a_split_is_that_of_the_cells(stated, author, column, metric, repeats, sets):
    rows = table(author, metric)
    printed = rows[rows["column"] == column].set_index(["dataset", "setting"])["published_mean"]
    apart, left_out = [], CHOSEN | ({"pb", "avila"} if sets == 14 else set())  # table 4.4 prints 14 sets
    for name in (stated, author):
        own = cells(name)
        own = own[(own["column"] == column) & (own["repeat"] < repeats) & ~own["dataset"].isin(left_out)]
        place = own["setting"].str.extract(r'"label_frequency": ?([\d.]+)', expand=False)
        means = 100 * own.groupby(["dataset", "label_frequency=" + place])[metric].mean()
        assert len(means) == 2 * sets
        apart.append((means - printed[means.index].to_numpy()).abs())
    gains = (apart[0] - apart[1]).groupby(level=0).mean()
    half = t.ppf(0.975, sets - 1) * gains.std() / math.sqrt(sets)
    found = OF.by_split(stated, author, column, metric)
    numbers = [float(number) for number in found[2].replace("(", "").replace(")", "").replace("to ", "").split()]
    expected = [gains.mean(), gains.mean() - half, gains.mean() + half]
    assert [float(found[0]), float(found[1])] == pytest.approx([one.mean() for one in apart], abs=0.051)
    assert numbers == pytest.approx(expected, abs=0.051) and found[3] == f"{int((gains > 0).sum())} of {sets}"


def test_the_two_splits_differ_in_nothing_else():
    one, other = load_experiment("stated-4.4"), load_experiment("author-4.4")
    assert one.methods.items() <= other.methods.items()
    assert one.options.items() <= other.options.items()
    assert (one.split.repeats, one.split.seed) == (other.split.repeats, other.split.seed)
    assert one.data.standardize == other.data.standardize
    assert set(other.dataset_names) - set(one.dataset_names) == CHOSEN
    assert one.tuning.model_copy(update={"denominator": "all"}) == other.tuning
    for method in {declared.method for declared in one.methods.values()}:
        assert one.defaults[method] == other.defaults[method]


def test_the_page_shows_the_gains():
    page = re.sub(" +", " ", (RESULTS / "README.md").read_text(encoding="utf-8"))
    for column in ("glpual/thesis", "gllc/thesis", "upu", "nnpu"):
        assert f"| {' | '.join(OF.by_split('table-3.3', 'author-3.3', column))} |" in page


def test_cpb_glpual_has_one_penalty_grid_and_seed_under_both_splits():
    one, other = load_experiment("odds-5.3"), load_experiment("author-3.3")
    assert one.methods["cpb-glpual/share"] == other.methods["cpb-glpual/penalty-1"]
    assert one.defaults["cpb-glpual"] == other.defaults["cpb-glpual"]
    assert (one.split.seed, one.data.standardize) == (other.split.seed, other.data.standardize)
    gain = OF.by_split("odds-5.3", "author-3.3", "cpb-glpual/penalty-1", "f1", "cpb-glpual/share")
    assert gain[-1].endswith("of 13")
