"""Controls of agreement tell planted right results from wrong ones, and say where the prints are too alike to tell."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml

from pucli.report import Gathered, assemble
from pucli.report.tables.controls import (
    LEVEL,
    OTHER_DATASET,
    OTHER_METHOD,
    OTHER_SETTING,
    PLAIN,
    Control,
    TableSamples,
    adjust,
    as_often,
    controls_of,
    controls_text,
    kind_of,
    of_all_looks,
    read_controls,
)
from pucli.report.tables.samples import Samples
from pucli.report.tables.verdict import AS_OFTEN, BY_VARIANT, plain
from pucli.runner import load_experiment, plan
from pucli.runner.profiles import scope
from tests.helpers import ROOT

DATASETS = ["enb", "hd", "ld", "seeds", "umd", "acc", "ecoli", "ssmcr", "rd", "wifi"]
FREQUENCIES = [0.5, 0.25]
SPREAD = np.array([-0.9, -0.3, 0.3, 0.9])


def prints(apart):
    """Return figures of two methods, by method, data set and frequency; those of the second are `apart` points off."""
    return {
        (method, name, frequency): 40.0 + 5 * number + 10 * (frequency == 0.25) + apart * (method == "gllc")
        for method in ("glpual", "gllc")
        for number, name in enumerate(DATASETS)
        for frequency in FREQUENCIES
    }


@pytest.fixture
def declared(tmp_path):
    def of(published):
        folder = tmp_path / "published"
        folder.mkdir(exist_ok=True)
        lines = [f"{d},{f:g},{m},{mean:.2f},1" for (m, d, f), mean in published.items()]
        (folder / "mine.csv").write_text("\n".join(["dataset,label_frequency,method,f1_mean,f1_sd", *lines]) + "\n")
        grid = {"width": [1, 2]}
        content = {
            "title": "planted", "data": {"names": DATASETS},
            "split": {"scenario": "case-control", "label_frequencies": FREQUENCIES, "repeats": 4, "seed": 1},
            "methods": {
                "glpual/thesis": {"method": "glpual", "kernel": "rbf", "form": "thesis", "grid": grid},
                "glpual/rkhs": {"method": "glpual", "kernel": "rbf", "grid": grid},
                "gllc": {"method": "gllc", "grid": {"lam": [1, 2]}}, "svc-naive": {"method": "svc-naive"},
            },
            "published": "mine.csv",
        }  # fmt: skip
        (tmp_path / "planted.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return load_experiment(tmp_path / "planted.yaml")

    return of


def stored(cells, mean_of):
    """Return the rows of the store: the values of a cell lie around `mean_of(column, data set, frequency)`."""
    return {
        cell.key: {
            "status": "done", "metrics": {"f1": (mean_of(cell.method, cell.dataset, cell.setting["label_frequency"])
                                                 + SPREAD[cell.repeat]) / 100},
            "seconds": {"tune": 1.0, "fit": 0.1, "predict": 0.01}, "params": {}, "certificate": {}, "n_fits": 1,
            "flags": [], "notes": [], "error": "", "finished": "", "provenance": {},
        }
        for cell in cells
    }  # fmt: skip


def found(experiment, mean_of):
    cells = plan(experiment)
    rows = stored(cells, mean_of)
    samples = Samples.of(experiment, cells, rows)
    controls = adjust(controls_of([TableSamples(samples)]))
    report = assemble(Gathered(experiment, scope(experiment, "full"), cells, rows, Path("nowhere") / "planted"))
    return controls, {plain(r.verdict) for r in report.rows if r.column == "glpual/thesis"}


def own(controls, method, kind):
    (one,) = [c for cs in of_all_looks(controls).values() for c in cs if (c.method, c.kind) == (method, kind)]
    return one


def test_right_results_are_told_from_wrong_ones(declared):
    published = prints(apart=20)

    def right(column, dataset, frequency):
        """Return the own print of each method, of glpual in its second form alone; the SVC is off."""
        if column in ("glpual/thesis", "svc-naive"):
            return 3.0
        return published[column.partition("/")[0], dataset, frequency]

    controls, verdicts = found(declared(published), right)
    assert as_often(controls) == {} and verdicts == {BY_VARIANT}
    assert own(controls, "glpual", OTHER_METHOD).own == 20 and own(controls, "glpual", OTHER_METHOD).other == 0
    assert own(controls, "glpual", OTHER_METHOD).p == own(controls, "glpual", OTHER_METHOD).least == 2**-10

    def wrong(column, dataset, frequency):
        """Return the print of the other method for each."""
        if column in ("glpual/thesis", "svc-naive"):
            return 3.0
        return published["gllc" if column.startswith("glpual") else "glpual", dataset, frequency]

    controls, _ = found(declared(published), wrong)
    assert set(as_often(controls)) == {"glpual", "gllc"}
    assert own(controls, "glpual", OTHER_METHOD).own == 0 and own(controls, "glpual", OTHER_METHOD).other == 20
    assert own(controls, "glpual", OTHER_METHOD).p == 1.0


def test_prints_that_are_alike_cannot_be_told_apart(declared):
    published = prints(apart=0.1)

    def right(column, dataset, frequency):
        return 3.0 if column == "glpual/thesis" else published[column.partition("/")[0].replace("svc-naive", "gllc"),
                                                               dataset, frequency]  # fmt: skip

    controls, verdicts = found(declared(published), right)
    assert verdicts == {AS_OFTEN} and set(as_often(controls)) == {"glpual", "gllc"}
    assert "its own print in 20 of 20 figures, with the print of gllc in 20" in as_often(controls)["glpual"]
    # the print of another data set is told, and a plain SVC is as near as the method, in one look each
    assert own(controls, "glpual", OTHER_DATASET).p < 0.001
    (svc,) = [c for c in controls if (c.method, c.kind) == ("gllc", PLAIN)]
    assert (svc.looks, svc.own, svc.other) == (1, 20, 20)


def test_a_setting_that_prints_the_same_figures_is_a_control_too(declared):
    published = {place: mean - 10 * (place[2] == 0.25) for place, mean in prints(apart=20).items()}

    def right(column, dataset, frequency):
        return 3.0 if column == "svc-naive" else published[column.partition("/")[0], dataset, frequency]

    controls, _ = found(declared(published), right)
    one = own(controls, "gllc", OTHER_SETTING)
    assert (one.own, one.other, one.p) == (20, 20, 1.0) and own(controls, "gllc", OTHER_METHOD).p < LEVEL


def test_methods_that_could_not_reach_the_level_do_not_count_in_the_adjustment():
    def control(method, p, least):
        return Control("t", "f1", method, "", 1, OTHER_METHOD, "x", 9, 1.0, 0.0, p, least)

    many = [control(f"m{number}", 1.0, 0.25) for number in range(50)]
    adjusted = {c.method: c.adjusted for c in adjust([control("a", 0.02, 0.01), control("b", 0.02, 0.01), *many])}
    assert adjusted["a"] == adjusted["b"] == 0.04 and adjusted["m0"] == 1.0


def test_the_file_holds_the_controls(tmp_path):
    controls = [Control("a b", "f1", "usmo", "", 1, OTHER_DATASET, "", 48, 16.0, 1.625, 0.0001, 0.0001, 0.04)]
    (tmp_path / "controls.csv").write_text(controls_text(controls))
    assert read_controls(tmp_path) == controls and read_controls(tmp_path / "nowhere") == []
    assert kind_of("usmo-0.01") == ("usmo", "0.01") and kind_of("lower-1se") == ("lower-1se", "")


def test_no_committed_table_is_told_from_other_prints_and_usmo_comes_nearest():
    """Its own print against that of ramp and of its start; Wang's tables cannot tell their methods apart."""
    families = of_all_looks(read_controls(ROOT / "results"))
    adjusted = {method: controls[0].adjusted for (_, _, method), controls in families.items()}
    assert LEVEL < adjusted.pop("usmo") == adjusted.pop("qp") < min(adjusted.values())
    own_print = {(tables, method): controls for (tables, _, method), controls in families.items()}
    rivals = [c for c in own_print["usmo-table-iii usmo-table-iv", "usmo"] if c.kind == OTHER_METHOD]
    assert {c.print for c in rivals} == {"ramp", "init"} and all(c.own >= 4 * c.other and c.p < LEVEL for c in rivals)
    gllc = next(c for c in own_print["table-3.3", "glpual"] if c.print == "gllc")
    assert gllc.other > gllc.own and not math.isnan(gllc.p)
