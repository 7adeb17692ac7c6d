"""Every option of every command changes what it says it changes.

The list of options is built from Typer: an option without an entry here fails `test_no_option_is_left_out`.
"""

from __future__ import annotations

import ast
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
import yaml

from pucli.cli.main import app, command_names
from pucli.models import advice
from tests.cli.commands.test_reproduce import SMALL
from tests.cli.option_effects import EFFECTS, EVALUATE, LEARNERS, OWN, REPRODUCE, SHARED_BY_ALL, SHOWN, TUNE
from tests.helpers import ROOT

# What differs between two runs of one command, or names what was asked for instead of what was found.
PASSING = {"seconds", "data", "command", "model", "file", "plot", "trials", "title"}


# Commands that only read, as they stand in EFFECTS: the line without the option is run once for all of its options.
READING = {"train", "tune", "prior", "auto", "predict", "evaluate", "list"}
BEFORE: dict[str, Any] = {}
# The results of the small experiment, run once for all that read them.
RESULTS: list[Path] = []


@cache
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


def test_no_option_is_left_out():
    """An option without an entry fails here: show its effect in EFFECTS, or name the test that does in SHOWN."""
    known = {(command, name) for command, name, _ in all_options()}
    shown = set(EFFECTS) | set(SHOWN) | {key for key in known if key[1] in SHARED_BY_ALL}
    assert known - shown == set()
    assert shown - known == set()


def source_of(where: str) -> str:
    """Return the source of a test, its decorators included."""
    file, _, name = where.partition("::")
    text = (ROOT / "tests" / file).read_text()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(line.lineno for line in node.decorator_list)])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    raise AssertionError(f"there is no test {where}")


@pytest.mark.parametrize("key", SHOWN, ids="-".join)
def test_the_named_tests_exist(key):
    source = source_of(SHOWN[key])
    words = next(words for command, option, words in all_options() if (command, option) == key)
    if words[0].startswith("-") and "test_output.py" not in SHOWN[key]:
        assert any(f'"{word}"' in source or f"{word} " in source for word in words), (SHOWN[key], words)


@pytest.fixture
def place(pucli, customers, tmp_path, monkeypatch):
    """A folder with every file that the command lines above name; forests of few trees show an effect as well."""
    monkeypatch.setattr(advice, "TREES", 20)
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
        "seeds.model": "train --method gllc --dataset seeds",
    }
    for name, words in needed.items():
        if name in line:
            if name == "seeds.model":
                assert pucli("fetch", "seeds", "--mirror", ROOT.parent / "shared" / "data" / "uci").code == 0
            assert pucli(*words.split(), "--model", name).code == 0
    if "splits.json" in line:
        assert pucli("split", "wine", "--seed", 5, "--repeats", 4, "--out", "splits.json").code == 0
    if line.startswith("report"):
        if not RESULTS:
            assert pucli("reproduce", "small.yaml", "--profile", "smoke").code == 0
            RESULTS.append(tmp_path / "results")
        else:
            shutil.copytree(RESULTS[0], tmp_path / "results")


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

    def run(line: str) -> Any:
        return place(*(str(mirror) if word == "MIRROR" else word for word in line.split()), "--json")

    if effect.refused:
        after = run(effect.after)
        assert after.code == 2
        assert effect.refused in after.document["error"]["message"]
        return
    shared = key[0] in READING and not effect.needs
    before = BEFORE.get(effect.before) if shared else None
    if before is None:
        before = run(effect.before)
    if shared:
        BEFORE[effect.before] = before
    after = run(effect.after)
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
    "auto": f"auto {OWN} --unlabeled no",
    "list": "list methods",
    "fetch": "fetch wine",
    "predict": "predict --model own.model --data new.csv",
    "evaluate": EVALUATE,
    "split": "split wine",
    "reproduce": REPRODUCE,
    "report": "report small.yaml",
    "new": "new experiment mine",
    "compare": "compare gllc blssvm --dataset wine --repeats 2",
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


@pytest.mark.parametrize("command", ["compare", "evaluate", "fetch", "prior", "split", "train", "tune"])
def test_offline_never_uses_the_network(place, tmp_path, monkeypatch, command):
    asked = []

    def get(*arguments, **keywords):
        asked.append(arguments)
        raise OSError("no network in tests")

    monkeypatch.setattr("pucli.data.catalogue.download.urlopen", get, raising=False)
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
    done = place(*line.split())
    assert asked == []
    assert done.code in (0, 1)
    assert done.code == 0 or "PUCLI_OFFLINE" in done.err


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
    monkeypatch.setattr("pucli.models.auto.ranking.fit", fit)
    place(*TUNE.split(), "--n-jobs", "3")
    place(*LEARNERS["auto"].format(rows=OWN).split(), "--n-jobs", "3")
    assert asked == {"tune": 3, "auto": 3}


def test_the_seed_of_a_split(pucli, tmp_path):
    for seed in (0, 1):
        assert pucli("split", "wine", "--seed", seed, "--out", f"{seed}.json").code == 0
    assert (tmp_path / "0.json").read_text() != (tmp_path / "1.json").read_text()


def test_the_labeling_of_a_split(pucli, tmp_path):
    labeled = {}
    for how in ("scar", "sar-score"):
        assert pucli("split", "wine", "--labeling", how, "--repeats", 1, "--out", f"{how}.json").code == 0
        labeled[how] = json.loads((tmp_path / f"{how}.json").read_text())["splits"][0]["labeled"]
    assert set(labeled["scar"]) != set(labeled["sar-score"])
    assert len(labeled["scar"]) == len(labeled["sar-score"])


@pytest.mark.slow
def test_a_mirror_reaches_the_cells(place, tmp_path, mirror, monkeypatch):
    declared = {**SMALL, "data": {"names": ["seeds"]}, "split": {**SMALL["split"], "scenario": "case-control"}}
    (tmp_path / "declared.yaml").write_text(yaml.safe_dump(declared))
    words = ("reproduce", "declared.yaml", "--profile", "smoke", "--method", "gllc")
    for folder, codes in (("nowhere", (1, 2)), (str(mirror), (0,))):
        monkeypatch.setenv("PUCLI_MIRROR", folder)
        assert place(*words).code in codes


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
def test_where_the_threshold_lies(place):
    """Each of --recall, --precision and --share moves the threshold, in auto and in predict, and --for f1 back."""
    own = ("auto", *OWN.split(), "--json")
    goals = [("--for", "f1"), ("--recall", "0.5"), ("--precision", "0.05"), ("--share", "0.1")]
    trained = []
    for goal in goals[1:]:
        done = place(*own, *goal)
        assert done.code == 0, done.out
        trained.append(done.document["threshold"]["goal"])
    assert trained == ["recall", "precision", "share"]
    assert place(*own, "--model", "auto.model").code == 0
    words = ("predict", "--model", "auto.model", "--data", "both.csv", "--json")
    moved = [place(*words, *goal).document["counts"] for goal in [*goals, ("--share", "0.9")]]
    assert moved[0] == place(*words).document["counts"]  # auto sets the threshold for f1
    assert len({json.dumps(counts) for counts in moved[1:]}) == 4
    rows = sum(moved[-1].values())  # the share is that of the rows that are predicted
    assert abs(moved[3]["yes"] - round(0.1 * rows)) <= 1 and abs(moved[4]["yes"] - round(0.9 * rows)) <= 1
