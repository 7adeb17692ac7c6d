"""Keys of cells: two different fits never share one, and a default cannot change under a key."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pucli.estimators import GLPUAL
from pucli.methods import METHODS, constructor_defaults
from pucli.protocols.common import declared_method, make
from pucli.runner import load_experiment, plan
from pucli.runner.cells import canonical_json
from pucli.runner.loading import parse_experiment
from pucli.solvers.ensemble.class_prior import VERSION
from tests.helpers import ROOT
from tests.runner.defaults import FILE, changed, present

RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
CHANGED = "the defaults of {} changed: raise its version in pucli/methods/, then run `python -m tests.runner.defaults`"
TEXT = (
    "title: One\nprotocol: pu\ndata: {{names: [breast-cancer]}}\n"
    "split: {{label_frequencies: [0.5], repeats: 1, seed: 1}}\nmethods: {{one: {{method: {}}}}}\nmetrics: [f1]\n"
)
VALUES = {
    "lam": st.sampled_from(["scale", 0.5, 1.0, 2]), "tol": st.sampled_from([1e-6, 1e-3]),
    "kernel": st.sampled_from(["linear", "rbf"]), "c_u": st.sampled_from(["balanced", 0.1, 1]),
}  # fmt: skip
PARAMS = st.fixed_dictionaries({}, optional=VALUES)


def key_and_fit(column, defaults):
    """The part of a key that is the method's, and the parameters of the estimator that it makes."""
    experiment = parse_experiment(
        {
            "title": "One", "data": {"names": ["breast-cancer"]},
            "split": {"scenario": "case-control", "label_frequencies": [0.5], "repeats": 1, "seed": 1},
            "methods": {"one": {"method": "glpual", **column}}, "defaults": {"glpual": defaults},
        },
        file="one.yaml",
    )  # fmt: skip
    method = declared_method(experiment, "one")
    model = make(method)
    assert isinstance(model, GLPUAL)
    return canonical_json(method), canonical_json(model.get_params())


@given(PARAMS, PARAMS, PARAMS, PARAMS)
def test_different_fits_have_different_keys(one, defaults_one, two, defaults_two):
    (key_one, fit_one), (key_two, fit_two) = key_and_fit(one, defaults_one), key_and_fit(two, defaults_two)
    if fit_one != fit_two:
        assert key_one != key_two


@given(PARAMS, PARAMS)
def test_a_cell_is_fitted_with_what_its_key_declares_and_the_defaults(column, defaults):
    key, fit = key_and_fit(column, defaults)
    assert json.loads(key)["params"] == json.loads(canonical_json({**defaults, **column}))
    assert fit == canonical_json({**constructor_defaults(METHODS["glpual"]), **defaults, **column})


def test_a_default_of_a_constructor_changes_only_with_the_version():
    names = changed(RECORDED, present())
    assert not names, CHANGED.format(", ".join(names))


def test_a_default_that_changed_without_the_version_is_noticed():
    now = present()
    now["glpual"]["defaults"]["tol"] = 0.5
    now["gllc"] = {"version": now["gllc"]["version"] + 1, "defaults": {}}
    del now["glpual"]["defaults"]["mu"]
    assert changed(RECORDED, now) == ["glpual"]


def test_the_defaults_of_every_method_with_committed_cells_are_recorded():
    for path in (ROOT / "results").glob("*/provenance.json"):
        for method in json.loads(path.read_text(encoding="utf-8"))["methods"]:
            assert method["method"] in RECORDED, "run `python -m tests.runner.defaults`"
    outdated = [name for name, now in present().items() if RECORDED.get(name, now)["version"] != now["version"]]
    assert not outdated, f"{', '.join(outdated)}: run `python -m tests.runner.defaults`"


@pytest.mark.parametrize(
    ("estimator", "version"), [("auto", VERSION), ("bbe", 2), ("bbe, prior: 0.3", None), ("km2", None), (None, VERSION)]
)
def test_a_prior_that_is_estimated_puts_its_version_into_the_key(tmp_path, estimator, version):
    path = tmp_path / "one.yaml"
    given = "" if estimator is None else f", prior_estimator: {estimator}"
    path.write_text(TEXT.format(f"upu, grid: {{}}{given}"))
    (cell,) = plan(load_experiment(path))
    assert cell.declared["method"].get("prior_version") == version
