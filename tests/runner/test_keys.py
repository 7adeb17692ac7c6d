"""Keys of cells: they stay when defaults change, and two different settings never share one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pucli import methods
from pucli.methods import METHODS, complete_params, constructor_defaults, get_method
from pucli.protocols.common import key_params, make
from pucli.runner import experiment_names, load_experiment, plan
from pucli.runner.cells import canonical_json

# what changes no result, or is given by the protocol: experiments need not write it out
NOT_DECLARED = {
    "random_state", "n_jobs", "verbose", "verbose_interval", "device", "precision", "checkpoint", "report", "block",
    "n_iterations", "weights_init", "means_init", "precisions_init", "warm_start", "pos_label", "callback",
}  # fmt: skip

NAMES = ("a", "b", "c")
VALUES = st.sampled_from([0, 1, 2.5, None, "auto", [1, 2]])
PARAMS = st.dictionaries(st.sampled_from(NAMES), VALUES)
COMPLETE = st.fixed_dictionaries(dict.fromkeys(NAMES, VALUES))


def fit_of(declared, defaults, present):
    """The parameters of the fit that an experiment declares today."""
    return {**present, **defaults, **declared}


@given(PARAMS, PARAMS, COMPLETE, PARAMS, PARAMS, COMPLETE, PARAMS)
def test_different_parameters_have_different_keys(one, defaults_one, present, two, defaults_two, changed, former):
    """Whatever columns and experiments declare, and whatever the constructor's defaults are on the two days."""
    keys = [
        canonical_json(key_params(one, defaults_one, present, former)),
        canonical_json(key_params(two, defaults_two, changed, former)),
    ]
    fits = [
        canonical_json(fit_of(one, defaults_one, present)),
        canonical_json(fit_of(two, defaults_two, changed)),
    ]
    if fits[0] != fits[1]:
        assert keys[0] != keys[1]


@given(PARAMS, PARAMS, COMPLETE, PARAMS)
def test_a_key_contains_every_parameter_of_the_fit(declared, defaults, present, former):
    key = key_params(declared, defaults, present, former)
    assert {**former, **key} == fit_of(declared, defaults, present)


@given(PARAMS, COMPLETE)
def test_a_key_made_from_former_defaults_has_what_the_column_declares(declared, former):
    assert key_params(declared, former, dict.fromkeys(NAMES, "changed"), former) == declared
    assert key_params(declared, {}, former, former) == declared


def test_every_constructor_parameter_has_a_former_default():
    """A new parameter of a method needs an entry, or it changes the key of every cell; a new method needs none."""
    for name, method in METHODS.items():
        missing = set(constructor_defaults(method)) - set(method.former_defaults) if method.former_defaults else set()
        assert not missing, f"{name}: give {', '.join(sorted(missing))} a value in pucli/former_defaults.py"


@pytest.mark.slow
@pytest.mark.parametrize("name", experiment_names())
def test_keys_do_not_depend_on_the_current_defaults(name, monkeypatch):
    """Experiments write out every parameter that they do not tune, in every profile."""
    experiment = load_experiment(name, check_methods=False)
    before = {profile: {cell.key for cell in plan(experiment, profile)} for profile in experiment.profiles}

    def changed(method):
        today = constructor_defaults(method)
        return {key: value if key in NOT_DECLARED else "changed" for key, value in today.items()}

    monkeypatch.setattr(methods, "constructor_defaults", changed)
    for profile, keys in before.items():
        assert {cell.key for cell in plan(experiment, profile)} == keys, profile


def test_a_changed_default_gives_a_new_cell_and_keeps_old_ones(monkeypatch):
    """Who declares nothing gets the new default and a new key; an old key makes the old estimator."""
    declared = {"name": "glpual", "params": {"lam": 3.0}}
    assert "tol" not in declared["params"] and make(declared).tol == METHODS["glpual"].former_defaults["tol"]
    assert make(declared, {"lam": 3.0, "tol": 0.1}).tol == 0.1
    assert make(declared, tol=0.2).tol == 0.2
    old = methods.estimator_class(METHODS["glpual"])

    class Changed(old):
        def __init__(self, lam="auto", tol=0.5):
            super().__init__(lam=lam, tol=tol)

    monkeypatch.setattr(methods, "estimator_class", lambda _: Changed)
    assert complete_params("glpual", {"lam": 3.0}) == {"lam": 3.0, "tol": METHODS["glpual"].former_defaults["tol"]}
    assert make(declared).tol == METHODS["glpual"].former_defaults["tol"]


@pytest.mark.parametrize(("estimator", "version"), [("auto", True), ("bbe", False)])
def test_a_prior_estimated_as_by_auto_puts_its_version_into_the_key(tmp_path, estimator, version):
    path = tmp_path / "one.yaml"
    path.write_text(
        "title: One\nprotocol: pu\ndata: {names: [breast-cancer]}\n"
        "split: {label_frequencies: [0.5], repeats: 1, seed: 1}\n"
        f"methods: {{upu: {{method: upu, prior_estimator: {estimator}, grid: {{}}}}}}\nmetrics: [f1]\n"
    )
    (cell,) = plan(load_experiment(path))
    assert cell.declared["method"].get("prior_version") == (get_method("auto").version if version else None)
