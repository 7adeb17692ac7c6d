"""Declared experiments: what loads, what is refused and how, what a profile leaves, what a key depends on."""

import json
import sys
from pathlib import Path

import pytest
import yaml

from pucli.core.errors import UsageError
from pucli.runner import experiment_names, experiment_schema, load_experiment, parse_experiment, plan
from pucli.runner.cells import ONE_CLASS, CellResult, key_of
from pucli.runner.experiment import Experiment
from pucli.runner.profiles import coarse, scope, tuning_settings
from tests.helpers import planned

SMALL = {
    "title": "Small",
    "data": {"generate": "wang-two-gaussians", "parameters": {"mean_p2": [50, 200], "irrelevant": 0}},
    "split": {"scenario": "single-training-set", "label_frequencies": [0.25, 0.5], "repeats": 3, "seed": 1},
    "tuning": {"folds": 3, "score": "puf", "greedy": {"step": 0.1}},
    "methods": {
        "glpual": {"method": "glpual", "grid": {"lam": "decades", "c_u": [0.1, 0.3]}},
        "gllc/a": {"method": "gllc", "kernel": "rbf", "grid": {"lam": [1, 10]}, "tuning": {"greedy": False}},
        "gllc/b": {"method": "gllc", "grid": {"lam": [1, 10]}, "coarse_grid": {"lam": [5]}},
    },
    "profiles": {"quick": {"repeats": 1, "grid": "coarse", "parameters": {"mean_p2": [50]}}},
}


def load(tmp_path: Path, **changes) -> Experiment:
    """Write SMALL with `changes` ("data.names" -> value; ... removes) and load it."""
    content = json.loads(json.dumps(SMALL))
    for path, value in changes.items():
        *parents, last = path.split("__")
        section = content
        for name in parents:
            section = section.setdefault(name, {})
        if value is ...:
            del section[last]
        else:
            section[last] = value
    file = tmp_path / "small.yaml"
    file.write_text(yaml.safe_dump(content))
    return load_experiment(file)


def refused(tmp_path: Path, **changes) -> str:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, **changes)
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.parametrize("value", [0, 1, 1.5, -0.5])
def test_a_label_frequency_is_a_share_of_some_positives(tmp_path, value):
    for section in ("split", "profiles__quick"):
        said = refused(tmp_path, **{f"{section}__label_frequencies": [0.5, value]})
        assert f"small.yaml: {section.replace('__', '.')}.label_frequencies.1: " in said and "than" in said


def test_nothing_is_named_twice(tmp_path):
    for path, value in (
        ("metrics", ["f1", "accuracy", "f1"]),
        ("split__label_frequencies", [0.5, 0.5]),
        ("profiles__quick__methods", ["glpual", "glpual"]),
    ):
        assert f"small.yaml: {path.replace('__', '.')}: {value[0]} is named twice" in refused(tmp_path, **{path: value})
    said = refused(tmp_path, data={"names": ["wine", "seeds", "wine"]}, profiles={})
    assert "small.yaml: data.names: wine is named twice" in said


@pytest.mark.parametrize("name", ["..", "..x", "a\\b", "a\nb", "-a", ".hidden"])
def test_the_results_of_an_experiment_stay_in_the_folder_of_results(tmp_path, name):
    load(tmp_path)
    file = (tmp_path / "small.yaml").rename(tmp_path / f"{name}.yaml")
    with pytest.raises(UsageError, match=r"must begin with a letter.*rename the file"):
        load_experiment(file)
    assert "small.yaml: reuses.0: " in refused(tmp_path, reuses=[name])
    assert "small.yaml: variants.other.0: " in refused(tmp_path, variants={"other": [f"{name}/x"]})


@pytest.mark.parametrize("name", ["table-3.1", pytest.param("table-3.3", marks=pytest.mark.slow)])
def test_declared_experiments_plan(name):
    assert name in experiment_names()
    smoke, quick, full = (len(planned(name, profile)) for profile in ("smoke", "quick", "full"))
    assert 0 < smoke < quick < full


def test_wrong_key_names_file_path_and_nearest(tmp_path):
    message = refused(tmp_path, data__nams=["seeds"])
    assert "small.yaml" in message and "data.nams" in message and "'names'" in message
    message = refused(tmp_path, tuning__greedy={"stepp": 0.1})
    assert "tuning.greedy.stepp" in message and "'step'" in message
    message = refused(tmp_path, profiles__quick={"repeat": 1})
    assert "profiles.quick.repeat: unknown key" in message and "'repeats'" in message
    message = refused(tmp_path, methods__glpual__tuning={"cv_repeat": 2})
    assert "methods.glpual.tuning.cv_repeat: unknown key" in message and "'cv_repeats'" in message


def test_wrong_types_and_values(tmp_path):
    assert "split.repeats" in refused(tmp_path, split__repeats="ten")
    assert "split.repeats" in refused(tmp_path, split__repeats=0)
    assert "split.seed: this key is required" in refused(tmp_path, split__seed=...)
    assert "data.standardize" in refused(tmp_path, data__standardize="all")
    assert "greedy.step" in refused(tmp_path, tuning__greedy={"step": 2})
    assert "names" in refused(tmp_path, data__names=["seeds"])  # beside generate
    with pytest.raises(UsageError, match=r"split.label_frequencies"):
        plan(load(tmp_path, split__label_frequencies=[]))
    with pytest.raises(UsageError, match=r"split.label_frequencies.*finite"):
        load(tmp_path, split__label_frequencies=[float("nan")])


def test_wrong_references(tmp_path):
    message = refused(tmp_path, methods__glpual__method="glpaul")
    assert "methods.glpual.method" in message and "'glpual'" in message
    message = refused(tmp_path, methods__glpual__grid={"lamb": [1]})
    assert "methods.glpual.grid.lamb" in message and "'lam'" in message
    # a misspelled key of the entry, which would otherwise count as a parameter
    message = refused(tmp_path, methods__glpual__gird={"lam": [1]})
    assert "methods.glpual.gird" in message and "'grid'" in message
    message = refused(tmp_path, methods__glpual__grid={"lam": [1, -1]})
    assert "methods.glpual.grid.lam: lam of glpual must be a number above 0" in message and "not -1" in message
    message = refused(tmp_path, methods__glpual__sigma=0)
    assert "methods.glpual.sigma: " in message and "not 0" in message
    cpb = {"glpual": {"method": "cpb-glpual", "prior": "true"}}
    assert load(tmp_path, methods=cpb, comparisons=[], profiles={}).methods["glpual"].params == {"prior": "true"}
    cpb["glpual"]["prior"] = "treu"
    assert "not 'treu'" in refused(tmp_path, methods=cpb, comparisons=[], profiles={})
    message = refused(tmp_path, tuning__score="puff")
    assert "tuning.score" in message and "'puf'" in message
    assert "unknown column 'gllc'" in refused(tmp_path, comparisons=[["gllc", "glpual"]])
    message = refused(tmp_path, data={"names": ["seds"]}, profiles={})
    assert "small.yaml: data.names: unknown data set 'seds'" in message and "'seeds'" in message
    assert "'mean_p2'" in refused(tmp_path, data__parameters={"mean_p": [50]}, profiles={})
    assert "is not a generated data set" in refused(tmp_path, data={"generate": "seeds"}, profiles={})
    assert "notes.0.dataset: 'sed'" in refused(tmp_path, notes=[{"text": "a", "dataset": "sed"}])
    assert "notes.0.verdicts" in refused(tmp_path, notes=[{"text": "a", "verdicts": ["wors"]}])
    assert "mean_p3" in refused(tmp_path, profiles__quick={"parameters": {"mean_p3": [1]}})


def test_defaults_of_columns(tmp_path):
    assert "defaults.bsvm: no column has this method" in refused(tmp_path, defaults={"bsvm": {"tol": 0.1}})
    message = refused(tmp_path, defaults={"glpual": {"tolerance": 0.1}})
    assert "defaults.glpual.tolerance: glpual has no such parameter" in message
    assert "defaults.glpual.tol: " in refused(tmp_path, defaults={"glpual": {"tol": -1.0}})
    before = {cell.key for cell in plan(load(tmp_path))}
    changed = {cell.key: cell for cell in plan(load(tmp_path, defaults={"glpual": {"tol": 1e-3}}))}
    assert {cell.method for key, cell in changed.items() if key not in before} == {"glpual"}


def test_protocols_without_standardization_refuse_it():
    """An option that would do nothing is an error."""
    declared = {
        "title": "A",
        "data": {"names": ["usmo-heart"], "standardize": "train"},
        "split": {"label_frequencies": [0.2], "repeats": 1, "seed": 1},
    }
    for protocol, method in (("usmo", "usmo"), ("deep", "vae"), ("adversarial_labels", "mcpl")):
        options = {"examples": {}} if protocol == "adversarial_labels" else {}
        content = {**declared, "protocol": protocol, "methods": {"a": {"method": method}}, "options": options}
        with pytest.raises(UsageError, match=r"data\.standardize: none"):
            plan(parse_experiment(content, file="a.yaml"))


def test_yaml_mistakes(tmp_path):
    file = tmp_path / "broken.yaml"
    file.write_text("title: a\ntitle: b\n")
    with pytest.raises(UsageError, match=r"broken.yaml: line 2.*'title' is given twice"):
        load_experiment(file)
    file.write_text("title: [a\nmethods: {")
    with pytest.raises(UsageError, match=r"broken.yaml: line"):
        load_experiment(file)
    file.write_text("- a\n")
    with pytest.raises(UsageError, match="mapping"):
        load_experiment(file)
    with pytest.raises(UsageError, match="no such file"):
        load_experiment(tmp_path / "absent.yaml")
    with pytest.raises(UsageError, match=r"table-3\.1"):
        load_experiment("table-31")


def test_numbers_without_a_point_are_numbers(tmp_path):
    text = yaml.safe_dump(SMALL).replace("- 0.3", "- 3e-1")
    (tmp_path / "small.yaml").write_text(text)
    assert load_experiment(tmp_path / "small.yaml").methods["glpual"].grid["c_u"] == [0.1, 0.3]


def test_plan_counts_and_groups(tmp_path):
    experiment = load(tmp_path)
    cells = plan(experiment)
    assert len(cells) == 2 * 2 * 3 * 3  # settings x frequencies x methods x repeats
    assert len({cell.key for cell in cells}) == len(cells)
    groups: dict[str, set] = {}
    for cell in cells:
        groups.setdefault(cell.group, set()).add(cell.method)
    assert len(groups) == 12 and all(methods == set(experiment.methods) for methods in groups.values())
    fits = {cell.method: cell.n_fits for cell in cells}
    assert fits == {"glpual": 1 + 18 * 3, "gllc/a": 1 + 2 * 3, "gllc/b": 1 + 2 * 3}
    assert {cell.method for cell in cells if cell.open_ended} == {"glpual", "gllc/b"}


def test_profile_and_filters(tmp_path):
    experiment = load(tmp_path)
    cells = plan(experiment, "quick")
    assert len(cells) == 1 * 2 * 3 * 1
    by_method = {cell.method: cell.declared["method"]["grid"] for cell in cells}
    assert by_method["glpual"] == {"lam": [1e-4, 1.0, 1e4], "c_u": [0.1, 0.3]}
    assert by_method["gllc/b"] == {"lam": [5]}
    reductions = "; ".join(scope(experiment, "quick").reductions)
    assert (
        "1 of 3 repeats" in reductions and "coarse" in reductions and "mean_p2 in 50 instead of 50, 200" in reductions
    )
    assert scope(experiment, "full").reductions == []
    assert {cell.method for cell in plan(experiment, methods=["gllc"])} == {"gllc/a", "gllc/b"}
    assert {cell.method for cell in plan(experiment, methods=["gllc/b"])} == {"gllc/b"}
    for wrong in ({"methods": ["glpul"]}, {"datasets": ["seeds"]}, {"profile": "quik"}):
        with pytest.raises(UsageError, match=r"did you mean|Known"):
            plan(experiment, **wrong)


@pytest.mark.parametrize(("scenario", "denominator"), [("case-control", "unlabeled"), ("single-training-set", "all")])
def test_settings_of_a_profile_come_before_those_of_a_column_and_of_the_experiment(tmp_path, scenario, denominator):
    experiment = load(
        tmp_path, split__scenario=scenario, profiles__few={"cv_repeats": 2}, methods__glpual__tuning={"cv_repeats": 5}
    )
    found = {
        (column, name): tuning_settings(experiment, experiment.methods[column], experiment.profiles[name], {})
        for column in ("glpual", "gllc/a")
        for name in ("quick", "few")
    }
    assert {place: one["cv_repeats"] for place, one in found.items()} == {
        ("glpual", "quick"): 5, ("gllc/a", "quick"): 1, ("glpual", "few"): 2, ("gllc/a", "few"): 2,
    }  # fmt: skip
    assert {one["denominator"] for one in found.values()} == {denominator}


def test_the_format_of_results_is_part_of_the_key(monkeypatch):
    before = key_of({"a": 1})
    monkeypatch.setattr("pucli.runner.cells.RESULT_FORMAT", 2)
    assert key_of({"a": 1}) != before


def test_predictions_of_one_class_are_flagged():
    for predictions, flags in (([1, 1], [ONE_CLASS]), ([1, -1], []), (None, [])):
        found = CellResult(predictions=predictions)
        found.flag_constant()
        assert (found.flags, found.predictions) == (flags, None)


def test_coarse_keeps_the_ends():
    assert coarse([1, 2, 3, 4, 5, 6, 7, 8, 9]) == [1, 5, 9]
    assert coarse([0.5, 0.3, 0.1, 0.05, 0.01]) == [0.5, 0.1, 0.01]
    assert coarse([1, 2]) == [1, 2]


def test_profiles_share_cells_whose_settings_agree(tmp_path):
    experiment = load(tmp_path, profiles__fewer={"repeats": 1})
    full = {cell.key for cell in plan(experiment)}
    fewer = {cell.key for cell in plan(experiment, "fewer")}
    assert fewer < full
    quick = {cell.method: cell.key for cell in plan(experiment, "quick")}
    assert quick["gllc/a"] in full  # two values: coarse changes nothing
    assert quick["glpual"] not in full


@pytest.mark.parametrize(
    "change",
    [
        {"split__seed": 2},
        {"data__standardize": "none"},
        {"tuning__folds": 4},
        {"tuning__score": "puf-pooled"},
        {"tuning__greedy": {"step": 0.2}},
        {"methods__glpual__c_p": 2.0},
        {"methods__glpual__grid": {"lam": "decades", "c_u": [0.1, 0.2]}},
        {"split__train": 0.6},
    ],
)
def test_key_follows_every_setting(tmp_path, change):
    before = {cell.key for cell in plan(load(tmp_path), methods=["glpual"])}
    after = {cell.key for cell in plan(load(tmp_path, **change), methods=["glpual"])}
    assert not before & after


def test_key_ignores_what_does_not_matter(tmp_path):
    before = {cell.key for cell in plan(load(tmp_path))}
    assert before == {cell.key for cell in plan(load(tmp_path, title="Other", comparisons=[]))}
    assert key_of({"a": 1, "b": [2.0]}) == key_of({"b": [2], "a": 1.0})


def test_key_follows_method_version(tmp_path, monkeypatch):
    import dataclasses

    from pucli import methods

    before = {cell.key for cell in plan(load(tmp_path), methods=["glpual"])}
    newer = dataclasses.replace(methods.METHODS["glpual"], version=99)
    monkeypatch.setitem(methods.METHODS, "glpual", newer)
    assert not before & {cell.key for cell in plan(load(tmp_path), methods=["glpual"])}


def test_protocol_refuses_what_it_does_not_know(tmp_path):
    with pytest.raises(UsageError, match="single-training-set"):
        plan(load(tmp_path, split__scenario="single-training"))
    with pytest.raises(UsageError, match=r"split.unlabeled_train belongs to the scenario case-control"):
        plan(load(tmp_path, split__unlabeled_train=0.5))
    with pytest.raises(
        UsageError, match=r"\(protocol pu\): options\.a: unknown key; the keys here are irrelevant_per_feature"
    ):
        plan(load(tmp_path, options={"a": 1}))
    with pytest.raises(UsageError, match=r"unknown protocol 'pv'"):
        plan(load(tmp_path, protocol="pv"))


def test_schema_accepts_the_declared_files():
    schema = experiment_schema()
    assert schema["additionalProperties"] is False
    assert {"title", "data", "split", "methods"} <= set(schema["required"])
    assert schema["properties"]["methods"]["type"] == "object"
    json.dumps(schema)


def test_a_figure_names_the_columns_that_its_kind_compares(tmp_path):
    pair, alone = {"a": "gllc/a", "b": "gllc/b"}, {"name": "time", "kind": "seconds-by-rows"}
    load(tmp_path, figures=[alone, {"name": "boxes", "kind": "paired-difference", **pair}])
    for wrong in (
        {**alone, **pair},
        {**alone, "b": "gllc/b"},
        {"name": "boxes", "kind": "paired-difference", "a": "gllc/a"},
    ):
        assert "paired-difference needs both a and b" in refused(tmp_path, figures=[wrong])


def test_loading_an_experiment_makes_few_calls():
    """Reading YAML by nodes and a signature for every value made 23,000 calls for this table."""
    load_experiment("table-3.3")  # what is imported and cached is not counted
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        load_experiment("table-3.3")
    finally:
        sys.setprofile(before)
    assert 0 < calls < 4780
