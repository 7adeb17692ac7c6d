"""Every option of every command changes what it says it changes.

The list of options is built from Typer: an option without an entry here fails `test_no_option_is_left_out`.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
import yaml

from pucli.cli.main import app, command_names
from tests.cli.test_reproduce import SMALL
from tests.helpers import ROOT

# What differs between two runs of one command, or names what was asked for instead of what was found.
PASSING = {"seconds", "data", "command", "model", "file", "plot", "trials", "title"}


def all_options():
    """Return (command, parameter name, its words) of everything that Typer knows."""
    group = typer.main.get_command(app)
    context = group.make_context("pucli", ["list", "--help"], resilient_parsing=True)
    return [
        (name, option.name, [*option.opts, *option.secondary_opts])
        for name in command_names()
        for option in group.get_command(context, name).params
        if option.name != "help"
    ]


@dataclass(frozen=True)
class Effect:
    """Two command lines that differ in one option.

    before, after : the lines; `pucli` is left out. `after` is refused with the words `refused` where there are some.
    view : key of the JSON document to compare, "" for all that is no passing value.
    needs : name of a fixture without which the test is skipped. slow : the test is marked slow.
    """

    before: str
    after: str
    refused: str = ""
    view: str = ""
    needs: str = ""
    slow: bool = False


OWN = "--data both.csv --label bought --positive yes"
DECLARED = "--dataset wine"
LEARNERS = {
    "train": "train --method gllc {rows}",
    "tune": "tune --method gllc {rows} --grid lam=0.1,1 --param sigma=1 --param c_u=0.1 --cv 3",
    "prior": "prior {rows} --estimator km2 --replicates 0",
    "advise": "advise {rows}",
    "auto": "auto {rows}",
}
# The options that name rows, alike in all commands that learn: rows before, rows after.
ROWS = {
    "dataset": (DECLARED, "--dataset breast-cancer"),
    "data": (OWN, OWN.replace("both", "shifted")),
    "label": (OWN, OWN.replace("bought", "rented")),
    "positive": (OWN, OWN.replace("yes", "no")),
    "scenario": (DECLARED, f"{DECLARED} --scenario single-training-set"),
    "label_frequency": (DECLARED, f"{DECLARED} --label-frequency 0.3"),
    "seed": (DECLARED, f"{DECLARED} --seed 1"),
    "split": (DECLARED, f"{DECLARED} --split splits.json"),
    "repeat": (DECLARED, f"{DECLARED} --repeat 1"),
    "rows": (OWN, f"{OWN} --rows 80"),
    "kinds": (OWN, f"{OWN} --as visits=category"),
    "drop": (OWN, f"{OWN} --drop income"),
    "only": (OWN, f"{OWN} --only income --only age"),
    "ids": (OWN, f"{OWN} --id income"),
    "columns": (OWN, f"{OWN} --columns"),
}
TRAIN = LEARNERS["train"].format(rows=OWN)
BLSSVM = TRAIN.replace("gllc", "blssvm")
EVALUATE = "evaluate --model own.model --data true.csv --label really"
TUNE = LEARNERS["tune"].format(rows=OWN)
RBF = "tune --method svc-naive --data scaled.csv --label bought --positive yes --grid C=1,10"
REPRODUCE = "reproduce small.yaml --profile smoke --method gllc"

EFFECTS: dict[tuple[str, str], Effect] = {
    **{
        (command, option): Effect(line.format(rows=before), line.format(rows=after), slow=command in ("auto", "advise"))
        for command, line in LEARNERS.items()
        for option, (before, after) in ROWS.items()
    },
    **{
        (command, "mirror"): Effect(
            line.format(rows="--dataset seeds"),
            f"{line.format(rows='--dataset seeds')} --mirror MIRROR",
            needs="mirror",
            slow=command in ("auto", "advise"),
        )
        for command, line in LEARNERS.items()
    },
    ("list", "what"): Effect("list methods", "list datasets"),
    ("fetch", "names"): Effect("fetch wine", "fetch breast-cancer"),
    ("fetch", "experiment"): Effect("fetch wine", "fetch --experiment small.yaml"),
    ("fetch", "everything"): Effect("fetch wine", "fetch --all"),
    ("fetch", "mirror"): Effect("fetch seeds", "fetch seeds --mirror MIRROR", needs="mirror"),
    ("train", "method"): Effect(TRAIN, TRAIN.replace("gllc", "glpual")),
    ("train", "param"): Effect(TRAIN, f"{TRAIN} --param lam=7"),
    ("train", "tune"): Effect(TRAIN, f"{TRAIN} --tune --param sigma=1 --param c_u=0.1", view="params"),
    ("train", "folds"): Effect(f"{TRAIN} --tune", f"{TRAIN} --tune --cv 90", refused="cannot fill 90 folds"),
    ("train", "standardise"): Effect(TRAIN, f"{TRAIN} --raw"),
    ("train", "backend"): Effect(BLSSVM, f"{BLSSVM} --backend dask", refused="only Parquet files are read in blocks"),
    ("train", "scheduler"): Effect(TRAIN, f"{TRAIN} --scheduler tcp://localhost:1", refused="add --backend dask"),
    ("train", "predictions"): Effect(TRAIN, f"{TRAIN} --predictions out", refused="needs --backend dask"),
    ("predict", "model"): Effect(
        "predict --model own.model --data new.csv", "predict --model other.model --data new.csv"
    ),
    ("predict", "data"): Effect(
        "predict --model own.model --data new.csv", "predict --model own.model --data shifted.csv"
    ),
    ("predict", "ids"): Effect(
        "predict --model own.model --data new.csv", "predict --model own.model --data new.csv --id remark"
    ),
    ("predict", "top"): Effect(
        "predict --model own.model --data new.csv", "predict --model own.model --data new.csv --top 3"
    ),
    ("evaluate", "model"): Effect(EVALUATE, EVALUATE.replace("own", "other")),
    ("evaluate", "data"): Effect(EVALUATE, EVALUATE.replace("true.csv", "few.csv")),
    ("evaluate", "label"): Effect(EVALUATE, EVALUATE.replace("really", "reversed")),
    ("evaluate", "positive"): Effect(EVALUATE, f"{EVALUATE} --positive no"),
    ("evaluate", "labels"): Effect(EVALUATE, f"{EVALUATE} --labels pu"),
    ("evaluate", "dataset"): Effect(
        "evaluate --model wine.model --dataset wine",
        "evaluate --model wine.model --dataset iris",
        refused="trained on wine",
    ),
    ("evaluate", "split"): Effect(
        "evaluate --model wine.model --dataset wine", "evaluate --model wine.model --dataset wine --split splits.json"
    ),
    ("evaluate", "repeat"): Effect(
        "evaluate --model wine.model --dataset wine", "evaluate --model wine.model --dataset wine --repeat 2"
    ),
    ("evaluate", "mirror"): Effect(
        "evaluate --model seeds.model --dataset seeds",
        "evaluate --model seeds.model --dataset seeds --mirror MIRROR",
        needs="mirror",
    ),
    ("tune", "method"): Effect(TUNE, TUNE.replace("gllc", "glpual")),
    ("tune", "param"): Effect(TUNE, TUNE.replace("sigma=1", "sigma=9"), view="params"),
    ("tune", "grid"): Effect(TUNE, TUNE.replace("lam=0.1,1", "lam=0.1,1,10"), view="points"),
    ("tune", "folds"): Effect(TUNE, TUNE.replace("--cv 3", "--cv 4"), view="fits"),
    ("tune", "cv_repeats"): Effect(TUNE, f"{TUNE} --cv-repeats 2", view="fits"),
    ("tune", "score"): Effect(TUNE, f"{TUNE} --score puf-pooled", view="score"),
    ("tune", "greedy"): Effect(TUNE, f"{TUNE} --greedy 0.5", view="points"),
    ("tune", "standardise"): Effect(RBF, f"{RBF} --raw", view="score"),
    ("advise", "prior"): Effect("advise " + OWN, "advise " + OWN + " --prior 0.3", view="reasons"),
    ("prior", "estimator"): Effect(
        LEARNERS["prior"].format(rows=OWN), f"prior {OWN} --estimator tice --replicates 0", view="estimates"
    ),
    ("prior", "replicates"): Effect(
        f"prior {OWN} --estimator tice --replicates 2",
        f"prior {OWN} --estimator tice --replicates 4",
        view="estimates",
    ),
    ("prior", "confidence"): Effect(
        f"prior {OWN} --estimator tice --replicates 9",
        f"prior {OWN} --estimator tice --replicates 9 --confidence 0.5",
        view="estimates",
    ),
    ("split", "name"): Effect("split wine", "split iris"),
    ("split", "scenario"): Effect("split wine", "split wine --scenario single-training-set"),
    ("split", "label_frequency"): Effect("split wine", "split wine --label-frequency 0.3"),
    ("split", "repeats"): Effect("split wine", "split wine --repeats 3"),
    ("split", "mirror"): Effect("split seeds", "split seeds --mirror MIRROR", needs="mirror"),
    ("reproduce", "experiment"): Effect(f"{REPRODUCE} --dry-run", f"{REPRODUCE} --dry-run".replace("small", "large")),
    ("reproduce", "profile"): Effect(f"{REPRODUCE} --dry-run", "reproduce small.yaml --method gllc --dry-run"),
    ("reproduce", "method"): Effect(f"{REPRODUCE} --dry-run", f"{REPRODUCE} --method glpual --dry-run"),
    ("reproduce", "dataset"): Effect(REPRODUCE, f"{REPRODUCE} --dataset wine", refused="wine"),
    ("reproduce", "n_jobs"): Effect(f"{REPRODUCE} --dry-run", f"{REPRODUCE} --dry-run --n-jobs 2", view="n_jobs"),
    ("reproduce", "dry"): Effect(REPRODUCE, f"{REPRODUCE} --dry-run"),
    ("reproduce", "backend"): Effect(REPRODUCE, f"{REPRODUCE} --backend lokky", refused="'loky'"),
    ("reproduce", "only_collect"): Effect(REPRODUCE, f"{REPRODUCE} --collect"),
    ("reproduce", "max_cells"): Effect(REPRODUCE, f"{REPRODUCE} --max-cells 1"),
    ("report", "experiment"): Effect("report small.yaml", "report large.yaml", refused="large"),
    ("report", "formats"): Effect("report small.yaml", "report small.yaml --format md", view="report"),
    ("report", "everything"): Effect("report small.yaml", "report --all", refused="no declared experiment"),
    ("report", "profile"): Effect("report small.yaml", "report small.yaml --profile full"),
    ("report", "method"): Effect("report small.yaml", "report small.yaml --method glpual"),
    ("report", "dataset"): Effect("report small.yaml", "report small.yaml --dataset wine", refused="wine"),
    ("report", "results"): Effect("report small.yaml", "report small.yaml --results elsewhere", refused="elsewhere"),
    ("status", "experiment"): Effect("status small.yaml", "status large.yaml", refused="large"),
    ("status", "profile"): Effect("status small.yaml", "status small.yaml --profile full"),
    ("status", "method"): Effect("status small.yaml", "status small.yaml --method glpual"),
    ("status", "dataset"): Effect("status small.yaml", "status small.yaml --dataset wine", refused="wine"),
    ("status", "results"): Effect("status small.yaml", "status small.yaml --results elsewhere", refused="elsewhere"),
    ("schema", "what"): Effect("schema experiment", "schema datasets"),
    ("new", "kind"): Effect("new experiment mine", "new dataset yours", view="files"),
    ("new", "name"): Effect("new experiment mine", "new experiment yours"),
}

OF_OWN_TABLE = ("data", "label", "positive", "labels", "kinds", "drop", "only", "ids")
OF_COMPARISON = ("metric", "repeats", "label_frequency", "tune", "seed", "n_jobs")
# Options whose effect another test shows: the file and the test, in which the option must occur.
SHOWN = {
    ("train", "model"): "test_train.py::test_predict_and_evaluate_agree",
    ("predict", "destination"): "test_train.py::test_predict_and_evaluate_agree",
    ("predict", "recall"): "test_every_option.py::test_where_the_scores_are_cut",
    ("predict", "goal"): "test_every_option.py::test_where_the_scores_are_cut",
    ("predict", "share"): "test_every_option.py::test_where_the_scores_are_cut",
    ("predict", "precision"): "test_every_option.py::test_where_the_scores_are_cut",
    ("auto", "top"): "test_auto.py::test_the_wanted_number_of_rows_is_predicted_positive",
    ("auto", "goal"): "test_every_option.py::test_where_the_scores_are_cut",
    ("auto", "recall"): "test_every_option.py::test_where_the_scores_are_cut",
    ("auto", "precision"): "test_every_option.py::test_where_the_scores_are_cut",
    ("auto", "share"): "test_every_option.py::test_where_the_scores_are_cut",
    ("auto", "model"): "test_auto.py::test_auto_trains_saves_and_ranks",
    ("auto", "report"): "test_outputs.py::test_missing_folders_are_made",
    ("auto", "scored"): "test_auto.py::test_auto_trains_saves_and_ranks",
    ("auto", "n_jobs"): "test_every_option.py::test_jobs_are_passed_on",
    ("tune", "n_jobs"): "test_every_option.py::test_jobs_are_passed_on",
    ("tune", "trials"): "test_train.py::test_tune_reports_choice_and_trials",
    ("advise", "plot"): "test_prior_advise.py::test_the_picture",
    ("split", "destination"): "test_outputs.py::test_missing_folders_are_made",
    ("split", "seed"): "test_every_option.py::test_the_seed_of_a_split",
    ("reproduce", "only_failed"): "test_reproduce.py::test_a_limit_and_only_failed_cells",
    ("reproduce", "shard"): "test_reproduce.py::test_parts_of_a_run_are_merged",
    ("reproduce", "merge"): "test_reproduce.py::test_parts_of_a_run_are_merged",
    ("reproduce", "scheduler"): "test_reproduce.py::test_options_of_parts_that_cannot_be_followed",
    ("reproduce", "results"): "test_reproduce.py::test_parts_of_a_run_are_merged",
    ("reproduce", "allow_changes"): "test_every_option.py::test_changes_are_allowed",
    ("report", "allow_changes"): "test_every_option.py::test_changes_are_allowed",
    ("site", "folder"): "test_outputs.py::test_missing_folders_are_made",
    ("site", "results"): "test_outputs.py::test_missing_folders_are_made",
    **{("compare", name): "test_compare.py::test_a_table_of_the_user" for name in OF_OWN_TABLE},
    **{("compare", name): "test_compare.py::test_what_decides_and_how_often" for name in OF_COMPARISON},
    **{("compare", name): "test_compare.py::test_page_and_latex" for name in ("page", "tex", "dataset")},
    ("compare", "methods"): "test_compare.py::test_page_and_latex",
    ("compare", "mirror"): "test_compare.py::test_a_mirror_is_used",
    ("status", "watch"): "test_status.py::test_watching_ends_when_all_cells_are_done",
    ("status", "catalogue"): "../test_plug_ins.py::test_another_catalogue_is_named",
    ("new", "parent"): "test_new.py::test_the_folder_is_chosen",
    **{
        ("new", name): "test_new.py::test_a_data_set_from_a_table_of_the_user" for name in ("data", "label", "positive")
    },
    **{("new", name): "test_new.py::test_an_experiment_runs" for name in ("method", "dataset")},
    ("reproduce", "catalogue"): "../test_plug_ins.py::test_another_catalogue_is_named",
    ("report", "catalogue"): "../test_plug_ins.py::test_another_catalogue_is_named",
    ("reproduce", "mirror"): "test_every_option.py::test_a_mirror_reaches_the_cells",
    ("bench", "name"): "test_reproduce.py::test_bench_prints_and_writes_its_results",
    ("bench", "full"): "test_reproduce.py::test_bench_full_uses_the_large_sizes_and_keeps_the_default_result",
    ("bench", "results"): "test_outputs.py::test_a_path_below_a_file_is_a_usage_error",
}
SHARED_BY_ALL = {"json_document", "quiet"}


def test_no_option_is_left_out():
    """An option without an entry fails here: show its effect in EFFECTS, or name the test that does in SHOWN."""
    known = {(command, name) for command, name, _ in all_options()}
    offline = {(command, name) for command, name in known if name == "offline"}
    shown = set(EFFECTS) | set(SHOWN) | offline | {key for key in known if key[1] in SHARED_BY_ALL}
    assert known - shown == set()
    assert shown - known == set()


def source_of(where: str) -> str:
    """Return the source of a test, its decorators included."""
    file, _, name = where.partition("::")
    text = (ROOT / "tests" / "cli" / file).read_text()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(line.lineno for line in node.decorator_list)])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    raise AssertionError(f"there is no test {where}")


@pytest.mark.parametrize("key", SHOWN, ids="-".join)
def test_the_named_tests_exist(key):
    source = source_of(SHOWN[key])
    words = next(words for command, option, words in all_options() if (command, option) == key)
    if words[0].startswith("-") and "test_outputs" not in SHOWN[key]:
        assert any(f'"{word}"' in source or f"{word} " in source for word in words), (SHOWN[key], words)


@pytest.fixture
def place(pucli, customers, tmp_path):
    """A folder with every file that the command lines above name."""
    rows = pd.read_csv(customers.true)
    known = np.where(np.arange(len(rows)) < 30, "yes", "no")
    both = rows.drop(columns="really").assign(bought=known, rented=known[::-1])
    both["visits"] = both["visits"].round()
    both.to_csv("both.csv", index=False)
    random = np.random.default_rng(0)
    both.assign(age=random.normal(size=len(both)), income=random.normal(size=len(both))).to_csv(
        "shifted.csv", index=False
    )
    both.assign(age=both["age"] * 1e3).to_csv("scaled.csv", index=False)
    rows.assign(reversed=np.where(rows["really"] == "yes", "no", "yes")).to_csv("true.csv", index=False)
    rows.iloc[40:90].to_csv("few.csv", index=False)
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(SMALL))
    large = {**SMALL, "split": {**SMALL["split"], "repeats": 5}, "profiles": {"smoke": {"repeats": 3}, "full": {}}}
    (tmp_path / "large.yaml").write_text(yaml.safe_dump(large))
    return pucli


def prepare(pucli, line: str, tmp_path: Path) -> None:
    """Make what a command line reads besides tables: models, splits, results."""
    train = "train --method gllc --data true.csv --label really --drop reversed"
    needed = {
        "own.model": train,
        "other.model": f"{train} --param lam=1e6 --param c_u=9",
        "wine.model": "train --method gllc --dataset wine",
        "seeds.model": f"train --method gllc --dataset seeds --mirror {ROOT.parent}/shared/data/uci",
    }
    for name, words in needed.items():
        if name in line:
            assert pucli(*words.split(), "--model", name).code == 0
    if "splits.json" in line:
        assert pucli("split", "wine", "--seed", 5, "--repeats", 4, "--out", "splits.json").code == 0
    if line.startswith(("report", "status")):
        assert pucli("reproduce", "small.yaml", "--profile", "smoke").code == 0


def seen(document: dict[str, Any], view: str) -> str:
    """Return what is compared of a JSON document."""

    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: kept(item) for key, item in value.items() if key not in PASSING or key == view}
        return [kept(item) for item in value] if isinstance(value, list) else value

    return json.dumps(kept(document[view] if view else document), sort_keys=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "effect"),
    [
        pytest.param(key, effect, id="-".join(key), marks=[pytest.mark.slow] if effect.slow else [])
        for key, effect in EFFECTS.items()
    ],
)
def test_an_option_has_its_effect(place, tmp_path, data_cache, request, key, effect):
    mirror = request.getfixturevalue(effect.needs) if effect.needs else ""
    prepare(place, f"{effect.before} {effect.after}", tmp_path)
    if effect.needs == "mirror":
        for path in data_cache.rglob("*"):
            path.unlink() if path.is_file() else None
    results = []
    for line in (effect.before, effect.after):
        words = [str(mirror) if word == "MIRROR" else word for word in line.split()]
        results.append(place(*words, "--json"))
    before, after = results
    if effect.refused:
        assert after.code == 2
        assert effect.refused in after.document["error"]["message"]
        return
    assert after.code in (0, 1), after.out
    if effect.needs == "mirror":
        assert before.code == 1 and after.code == 0
        return
    assert before.code in (0, 1), before.out
    if key[1] == "dataset" and key[0] in LEARNERS:
        assert before.document["data"] != after.document["data"]
    assert seen(before.document, effect.view) != seen(after.document, effect.view)


BASE = {
    **{command: line.format(rows=OWN) for command, line in LEARNERS.items()},
    "list": "list methods",
    "fetch": "fetch wine",
    "predict": "predict --model own.model --data new.csv",
    "evaluate": EVALUATE,
    "split": "split wine",
    "reproduce": REPRODUCE,
    "report": "report small.yaml",
    "status": "status small.yaml",
    "schema": "schema experiment",
    "new": "new experiment mine",
    "compare": "compare gllc blssvm --dataset wine --repeats 2",
    "bench": "bench list",
}
OTHERS = set(command_names()) - set(BASE)


@pytest.mark.slow
@pytest.mark.parametrize("command", [pytest.param(c, marks=[pytest.mark.slow] * (c == "auto")) for c in BASE])
def test_json_and_quiet(place, tmp_path, command):
    prepare(place, BASE[command], tmp_path)
    words = BASE[command].split()
    document = place(*words, "--json")
    assert isinstance(document.document, dict)
    again = [*words[:-1], "yours"] if command == "new" else words  # what is there is not written again
    quiet = place(*again, "--quiet")
    assert quiet.code == document.code
    assert all(line.startswith("warning: ") for line in quiet.err.splitlines()), quiet.err
    assert quiet.out


@pytest.mark.parametrize(
    "command", sorted({command for command, name, _ in all_options() if name == "offline"} - {"reproduce", "auto"})
)
def test_offline_never_uses_the_network(place, tmp_path, monkeypatch, command):
    asked = []

    def get(*arguments, **keywords):
        asked.append(arguments)
        raise OSError("no network in tests")

    monkeypatch.setattr("pucli.data.download.urlopen", get, raising=False)
    monkeypatch.setattr("urllib.request.urlopen", get)
    monkeypatch.setenv("PUCLI_OFFLINE", "1")
    line = {
        "fetch": "fetch seeds",
        "split": "split seeds",
        "compare": "compare gllc blssvm --dataset seeds",
        "evaluate": "evaluate --model seeds.model --dataset seeds",
    }.get(command)
    if line is None:
        line = LEARNERS[command].format(rows="--dataset seeds")
    if command == "evaluate":
        if not (ROOT.parent / "shared" / "data" / "uci").is_dir():
            pytest.skip("no local copy of the UCI files beside the checkout (../shared/data/uci)")
        prepare(place, line, tmp_path)
        for path in Path(tmp_path).parent.rglob("seeds*"):
            if path.is_file() and path.suffix != ".model":
                path.unlink()
    done = place(*line.split(), "--offline")
    assert asked == []
    assert done.code in (0, 1)
    assert done.code == 0 or "offline" in done.err


def test_jobs_are_passed_on(place, monkeypatch):
    asked = {}

    class Seen(Exception):
        pass

    def tune(*_, n_jobs, **__):
        asked["tune"] = n_jobs
        raise Seen

    def fit(method, params, *_, **__):
        asked["auto"] = params["n_jobs"]
        raise Seen

    monkeypatch.setattr("pucli.tuning.tune", tune)
    monkeypatch.setattr("pucli.models.fit", fit)
    place(*TUNE.split(), "--n-jobs", "3")
    place(*LEARNERS["auto"].format(rows=OWN).split(), "--n-jobs", "3")
    assert asked == {"tune": 3, "auto": 3}


def test_the_seed_of_a_split(pucli, tmp_path):
    for seed in (0, 1):
        assert pucli("split", "wine", "--seed", seed, "--out", f"{seed}.json").code == 0
    assert (tmp_path / "0.json").read_text() != (tmp_path / "1.json").read_text()


def test_a_mirror_reaches_the_cells(place, tmp_path, mirror):
    declared = {**SMALL, "data": {"names": ["seeds"]}, "split": {**SMALL["split"], "scenario": "case-control"}}
    (tmp_path / "declared.yaml").write_text(yaml.safe_dump(declared))
    words = ("reproduce", "declared.yaml", "--profile", "smoke", "--method", "gllc")
    assert place(*words, "--mirror", "nowhere").code in (1, 2)
    assert place(*words, "--mirror", mirror).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("command", ["reproduce", "report"])
def test_changes_are_allowed(place, tmp_path, monkeypatch, command):
    asked = []
    prepare(place, "report small.yaml", tmp_path)
    monkeypatch.setattr("pucli.runner.check_committed", lambda *_, allow_changes: asked.append(allow_changes))
    line = {"reproduce": REPRODUCE, "report": "report small.yaml"}[command].split()
    place(*line)
    place(*line, "--allow-changes")
    assert asked == [False, True]


@pytest.mark.slow
def test_where_the_scores_are_cut(place):
    """Each of --for, --recall, --precision and --share moves the cut, in auto and in predict."""
    own = ("auto", *OWN.split(), "--json")
    goals = [("--for", "f1"), ("--recall", "0.5"), ("--precision", "0.05"), ("--share", "0.1")]
    trained = []
    for goal in goals:
        done = place(*own, *goal)
        assert done.code == 0, done.out
        trained.append(done.document["cut"]["goal"])
    assert trained == ["f1", "recall", "precision", "share"]
    assert place(*own, "--model", "auto.model").code == 0
    words = ("predict", "--model", "auto.model", "--data", "both.csv", "--json")
    moved = [place(*words, *goal).document["counts"] for goal in [*goals, ("--share", "0.9")]]
    assert moved[0] == place(*words).document["counts"]  # f1 is what auto cuts for
    assert len({json.dumps(counts) for counts in moved[1:]}) == 4
