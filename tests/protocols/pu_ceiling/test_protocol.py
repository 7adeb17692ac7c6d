"""The protocol pu_ceiling: the best grid point on the test rows, with the rows of the protocol pu."""

import itertools

import pytest
import yaml

from pucli.core.errors import UsageError
from pucli.metrics import get_metric
from pucli.protocols.pu import protocol as pu
from pucli.protocols.pu_ceiling import protocol as ceiling
from pucli.runner import Context, load_experiment, plan

GRID = {"lam": [0.1, 10], "c_u": [0.5, 0.01]}
DECLARED = {
    "title": "Ceiling",
    "data": {"generate": "wang-two-gaussians", "parameters": {"mean_p2": 50}, "standardize": "none"},
    "split": {"scenario": "single-training-set", "label_frequencies": [0.25], "repeats": 1, "seed": 3},
    "tuning": {"folds": 3},
    "methods": {"gllc": {"method": "gllc", "grid": GRID}},
    "metrics": ["f1_ceiling", "f1_median"],
}


def declared(tmp_path, **changes):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({**DECLARED, **changes}, sort_keys=False))
    return load_experiment(tmp_path / "mine.yaml")


def test_the_ceiling_is_the_best_of_the_grid_points(tmp_path):
    made = declared(tmp_path, protocol="pu_ceiling")
    (cell,) = plan(made)
    result = ceiling.PROTOCOL.run_cell(cell, Context())
    alone = []
    for values in itertools.product(*GRID.values()):
        fixed = dict(zip(GRID, values, strict=True))
        (one,) = plan(declared(tmp_path, protocol="pu", methods={"gllc": {"method": "gllc", "grid": {}, **fixed}}))
        alone.append(pu.PROTOCOL.run_cell(one, Context()).metrics["f1"])
    assert result.details["f1"] == alone and len(set(alone)) > 1
    assert result.metrics["f1_ceiling"] == max(alone)
    assert {name: result.params[name] for name in GRID} == result.details["points"][alone.index(max(alone))]


def test_it_is_at_least_what_tuning_chooses_on_the_same_split(tmp_path):
    (chosen,) = plan(declared(tmp_path, protocol="pu"))
    (best,) = plan(declared(tmp_path, protocol="pu_ceiling"))
    assert chosen.key != best.key and chosen.group == best.group
    assert (
        pu.PROTOCOL.run_cell(chosen, Context()).metrics["f1"]
        <= ceiling.PROTOCOL.run_cell(best, Context()).metrics["f1_ceiling"]
    )


@pytest.mark.parametrize(
    "method",
    [
        {"method": "gllc", "grid": GRID},
        {"method": "glpual", "kernel": "rbf", "grid": {**GRID, "width": [1, 4]}},
        {"method": "ekf-glpual", "grid": {"lam1": [1, 30], "lam2": [0.01, 1], "c_u": [0.3, 0.05], "sigma": [1]}},
        {"method": "cpb-glpual", "kernel": "rbf", "prior": "true", "grid": {"width": [1, 4], "lam": [0.01, 1]}},
    ],
    ids=lambda entry: entry["method"],
)
@pytest.mark.slow
def test_path_wise_it_sees_what_it_sees_one_by_one(tmp_path, method):
    found = []
    for route in ("generic", "path"):
        (cell,) = plan(
            declared(tmp_path, protocol="pu_ceiling", methods={"one": {**method, "tuning": {"route": route}}})
        )
        found.append(ceiling.PROTOCOL.run_cell(cell, Context()))
    one_by_one, path_wise = found
    assert len(set(one_by_one.details["f1"])) > 1
    # fits are minima to a relative gap of 1e-6, so that a row or two near the boundary may differ
    assert path_wise.details["f1"] == pytest.approx(one_by_one.details["f1"], abs=0.01)
    assert path_wise.details["points"] == one_by_one.details["points"]


def test_a_column_without_a_grid_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"methods\.gllc\.grid: the protocol pu_ceiling needs a grid"):
        plan(declared(tmp_path, protocol="pu_ceiling", methods={"gllc": {"method": "gllc", "grid": {}}}))


def test_its_metrics_are_shown_in_per_cent():
    assert get_metric("f1_ceiling").scale == get_metric("f1_median").scale == 100.0


@pytest.mark.slow
@pytest.mark.parametrize("table", ["3.3", "4.1", "4.4", "5.1", "5.3"])
def test_declared_ceilings_have_the_splits_of_their_tables(table):
    of_table, of_ceiling = load_experiment(f"table-{table}"), load_experiment(f"ceiling-{table}")
    assert of_ceiling.split == of_table.split
    assert of_ceiling.data.standardize == of_table.data.standardize
    assert of_ceiling.data.parameters == of_table.data.parameters
    groups = {cell.group for cell in plan(of_table)}
    assert {cell.group for cell in plan(of_ceiling)} <= groups
