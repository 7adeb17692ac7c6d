"""Example 3.7 and Theorem 3.8 as cells: within the margin nothing changes, beyond it every label gains."""

import numpy as np
import pytest

from pucli.core.errors import UsageError
from pucli.protocols.strict_improvement import protocol
from pucli.report.protocol_parts import extras_of
from pucli.runner import Context, load_experiment, parse_experiment, plan

DECLARED = {
    "title": "A",
    "protocol": "strict_improvement",
    "data": {"generate": "bertazzi-points", "parameters": {"example": [4]}, "standardize": "none"},
    "split": {"scenario": "none", "repeats": 1, "seed": 0},
    "options": {"positions": [0.0, 0.3, 1.9, 2.1, 7.0, -0.2, -3.0]},
    "methods": {"cpls": {"method": "cpls", "fit_intercept": False}},
    "metrics": ["guaranteed_gain"],
}


def test_gain_exactly_beyond_the_margin():
    experiment = parse_experiment(DECLARED, file="a.yaml")
    for cell in plan(experiment):
        u, result = cell.setting["u"], protocol.PROTOCOL.run_cell(cell, Context())
        found, slope = result.metrics, result.details["supervised_slope"]
        assert slope == pytest.approx(0.5)
        gains = [found["gain_if_0"], found["gain_if_1"]]
        if 0.0 <= slope * u <= 1.0:
            assert not found["condition_holds"]
            assert gains == [0.0, 0.0] and found["slope_change"] == found["guaranteed_gain"] == 0.0
            if u:
                assert found["adversarial_label"] == pytest.approx(slope * u)  # on the supervised line
        else:
            assert found["condition_holds"] == 1.0
            assert min(gains) == pytest.approx(found["guaranteed_gain"], rel=1e-6) and found["guaranteed_gain"] > 0
            assert found["adversarial_label"] == float(u > 0)
            # the least squares line of the points with that label
            assert slope + found["slope_change"] == pytest.approx((2.0 + max(u, 0.0)) / (4.0 + u**2))


def test_condition_of_several_points_and_of_a_falling_line():
    assert protocol.improves_strictly(0.5, np.array([1.0, 4.0]))
    assert not protocol.improves_strictly(0.2, np.array([1.0, 4.0]))
    assert protocol.improves_strictly(-0.5, np.array([1.0, -4.0]))
    assert not protocol.improves_strictly(-0.5, np.array([0.1, -1.0]))


def test_the_declared_figure_has_a_panel_for_each_position():
    experiment = load_experiment("safe-figure-3.1")
    assert len(plan(experiment, "smoke")) == 1
    cells = plan(experiment)
    rows = {cell.key: {**vars(protocol.PROTOCOL.run_cell(cell, Context()))} for cell in cells}
    (drawn,) = extras_of("strict_improvement")(experiment, cells, rows)
    assert drawn.path == "figures/figure-3.1"
    titles = [ax.get_title(loc="left") or ax.get_title() for ax in drawn.content.axes]
    assert titles == ["u = 1: nothing changes", "u = 4: gains 0.8 or more", "u = -1: gains 0.05 or more"]
    assert extras_of("strict_improvement")(experiment, cells, {}) == []


def test_an_intercept_is_refused():
    with pytest.raises(UsageError, match="fit_intercept: false"):
        plan(parse_experiment({**DECLARED, "methods": {"cpls": {"method": "cpls"}}}, file="a.yaml"))
