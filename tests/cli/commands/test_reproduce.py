"""reproduce, report and fetch: a small experiment from its file to its table, and what may go wrong."""

import hashlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from pucli.cli.terminal import plus_minus
from pucli.data import dataset_entry
from tests.helpers import ROOT

SMALL = {
    "title": "A small table",
    "data": {"generate": "wang-two-gaussians", "parameters": {"mean_p2": [50, 200]}},
    "split": {"scenario": "single-training-set", "label_frequencies": [0.25], "repeats": 2, "seed": 1},
    "tuning": {"folds": 3, "score": "puf"},
    "methods": {
        "gllc": {"method": "gllc", "grid": {"lam": [0.1, 1, 10], "c_u": [0.1, 0.3]}},
        "glpual": {"method": "glpual", "grid": {"lam": [0.1, 1, 10], "c_u": [0.1, 0.3]}},
    },
    "profiles": {"smoke": {"repeats": 1}, "full": {}},
}


@pytest.fixture
def small(tmp_path):
    """Write the experiment with changes, and return its file name."""

    def declare(**changes):
        (tmp_path / "small.yaml").write_text(yaml.safe_dump({**SMALL, **changes}))
        return "small.yaml"

    return declare


def refused(done, *words, code=2):
    assert done.code == code
    assert done.out == ""
    assert "Traceback" not in done.err
    message = done.err.partition("pucli: ")[2]
    for word in words:
        assert str(word) in message
    return message


@pytest.mark.slow
def test_reproduce_from_file_to_table(pucli, small, tmp_path):
    done = pucli("reproduce", small())
    assert done.code == 0
    assert "A small table" in done.out
    assert "8 of 8 done" in done.out
    folder = tmp_path / "results" / "small"
    for name in ("table.md", "table.csv", "table.tex", "cells.csv.gz", "provenance.json", "store.sqlite"):
        assert (folder / name).stat().st_size > 0
    assert "small 8/8" in done.err  # plain lines, as nobody looks at a screen
    table = pd.read_csv(folder / "table.csv")
    for row in table.itertuples():
        assert plus_minus(row.obtained_mean, row.obtained_sd) in done.out


@pytest.mark.slow
def test_a_finished_cell_is_never_run_again(pucli, small):
    first = pucli("reproduce", small(), "--profile", "smoke", "--json").document
    assert (first["run"]["ran"], first["run"]["already_done"], first["run"]["total"]) == (4, 0, 4)
    more = pucli("reproduce", "small.yaml", "--json").document
    assert (more["run"]["ran"], more["run"]["already_done"]) == (4, 4)
    again = pucli("reproduce", "small.yaml", "--json").document
    assert (again["run"]["ran"], again["run"]["already_done"]) == (0, 8)
    assert again["report"]["rows"] == more["report"]["rows"]


@pytest.mark.slow
def test_parts_of_a_run_are_merged(pucli, small):
    for part in (1, 2):
        done = pucli("reproduce", small(), "--shard", f"{part}/2", "--results", f"part{part}", "--json").document
        assert (done["run"]["ran"], done["run"]["left"]) == (4, 4)
    merged = pucli("reproduce", "small.yaml", "--merge", "part1", "--merge", "part2")
    assert "8 of 8 done" in merged.out and "8 runs imported from part1, part2" in merged.err
    again = pucli("reproduce", "small.yaml", "--json").document
    assert again["run"]["ran"] == 0
    parts = ("--merge", "part1", "--merge", "part2")
    few = ("reproduce", "small.yaml", *parts, "--profile", "smoke", "--results", "few", "--json")
    assert pucli(*few).document["imported"] == 4
    assert "not imported, because of another profile than smoke: 4 finished runs" in pucli(*few[:-1]).err
    assert "not imported" not in merged.err


@pytest.mark.slow
def test_a_limit_of_cells(pucli, small):
    first = pucli("reproduce", small(), "--max-cells", "3", "--json").document
    assert (first["run"]["ran"], first["run"]["left"]) == (3, 5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--shard", "2"], "--shard 2: give two numbers"),
        (["--shard", "3/2"], "shard 3/2"),
        (["--collect", "--max-cells", "2"], "--collect runs nothing, so --max-cells has no effect"),
        (["--status", "--merge", "part1"], "--status runs nothing, so --merge has no effect"),
        (["--dry-run", "--shard", "1/2"], "--dry-run runs nothing, so --shard has no effect"),
    ],
)
def test_options_of_parts_that_cannot_be_followed(pucli, small, words, message):
    refused(pucli("reproduce", small(), *words), message)


def test_a_folder_without_cells_cannot_be_merged(pucli, small):
    refused(pucli("reproduce", small(), "--merge", "nowhere"), "nowhere: no store of small")


@pytest.mark.slow
def test_a_dry_run_has_separators_of_thousands(pucli, data_cache):
    done = pucli("reproduce", "table-3.1", "--dry-run")
    assert "4,381,200 fits" in done.out and "2,000,025" in done.out and "2000025" not in done.out


def test_a_dry_run_is_judged_by_committed_times(pucli, small):
    assert "unknown, no similar run" in pucli("reproduce", small(), "--dry-run").out
    pucli("reproduce", "small.yaml", "--profile", "smoke")
    for path in Path("results/small").glob("store*"):
        path.unlink()
    plan = pucli("reproduce", "small.yaml", "--dry-run", "--json").document
    assert plan["left"] == 8 and plan["seconds"] > 0 and plan["seconds_known_for"] == 8


def test_a_dry_run_is_judged_by_another_table_with_the_same_data_and_method(pucli, small):
    pucli("reproduce", small(), "--profile", "smoke", "--method", "gllc")
    Path("results/small").rename("results/earlier")
    own = {
        "mine": {"method": "gllc", "grid": {"lam": [0.1, 1], "c_u": [0.2, 0.3]}},
        "glpual": SMALL["methods"]["glpual"],
    }
    plan = pucli("reproduce", small(methods=own), "--dry-run", "--json").document
    assert plan["left"] == 8 and plan["seconds"] > 0 and plan["seconds_known_for"] == 4
    assert {row["method"]: row["seconds"] is None for row in plan["rows"]} == {"mine": False, "glpual": True}


def of_two_sets(small):
    """Declare an experiment on a data set of scikit-learn and on one that has to be downloaded."""
    split = {**SMALL["split"], "scenario": "case-control"}
    return small(data={"names": ["seeds", "breast-cancer"]}, split=split), "--profile", "smoke", "--method", "gllc"


def test_a_data_set_that_cannot_be_had_leaves_the_others_running(pucli, small, mirror, monkeypatch):
    words = of_two_sets(small)
    done = pucli("reproduce", *words, "--json")
    run = done.document["run"]
    assert (done.code, run["ran"], run["failed"], run["left"]) == (1, 1, 0, 1)
    assert [found["name"] for found in run["unavailable"]] == ["seeds"]
    assert "`pucli fetch seeds`" in done.err and "PUCLI_MIRROR" in done.err
    refused(pucli("reproduce", *words, "--dataset", "seeds", "--results", "none"), "pucli fetch seeds", code=1)
    monkeypatch.setenv("PUCLI_MIRROR", str(mirror))
    again = pucli("reproduce", *words, "--json")
    run = again.document["run"]
    assert (again.code, run["ran"], run["already_done"], run["unavailable"]) == (0, 1, 1, [])


def test_a_dry_run_lists_downloads_with_sizes(pucli, small):
    words = of_two_sets(small)
    (file,) = dataset_entry("seeds").files
    found = pucli("reproduce", *words, "--dry-run", "--json").document["downloads"]
    assert found == [{"dataset": "seeds", "file": file.name, "bytes": file.bytes}] and file.bytes > 1000
    assert "1 file: seeds (0.01 MB)" in pucli("reproduce", *words, "--dry-run").out
    assert "or1 (size unknown)" not in pucli("reproduce", "table-3.3", "--dry-run").out
    assert "spambase (size unknown)" in pucli("reproduce", "puicl", "--dry-run").out


def test_fail_on_a_verdict(pucli, small, tmp_path):
    table = tmp_path / "small.csv"
    words = "reproduce", small(published="small.csv", random=False), "--profile", "smoke", "--method", "gllc"
    for mean, code, verdict in ((200, 1, "worse"), (-100, 0, "better")):
        table.write_text(f"mean_p2,method,f1_mean,f1_sd\n50,gllc,{mean},1\n200,gllc,{mean},1\n")
        done = pucli(*words, "--fail-on", "worse")
        assert done.code == code and f"verdicts  2 {verdict}" in done.out
        assert ("--fail-on: 2 figures worse" in done.err) == bool(code)
    assert pucli(*words, "--collect", "--fail-on", "worse", "--fail-on", "better").code == 1
    refused(pucli(*words, "--fail-on", "wrose"), "'worse'")
    refused(pucli(*words, "--dry-run", "--fail-on", "worse"), "--dry-run runs nothing")


def test_a_table_without_published_figures_says_so(pucli, small):
    done = pucli("reproduce", small(), "--profile", "smoke", "--method", "gllc")
    assert "verdicts  none: no figure of this table was published" in done.out and "obtained" in done.out


def test_json_of_reproduce(pucli, small):
    done = pucli("reproduce", small(), "--profile", "smoke", "--method", "gllc", "--json", "--quiet")
    assert (done.code, done.err) == (0, "")
    document = done.document
    assert set(document) >= {"run", "verdicts", "report"}
    assert document["report"]["cells"] == {"total": 2, "done": 2, "failed": 0, "missing": 0}
    assert {row["method"] for row in document["report"]["rows"]} == {"gllc"}


def test_dry_run_runs_nothing(pucli, small, tmp_path):
    document = pucli("reproduce", small(), "--dry-run", "--json").document
    assert (document["total"], document["left"], document["seconds"]) == (8, 8, None)
    assert not (tmp_path / "results").exists()
    assert "8 of 8 runs, " in pucli("reproduce", "small.yaml", "--dry-run").out
    pucli("reproduce", "small.yaml", "--profile", "smoke")
    judged = pucli("reproduce", "small.yaml", "--dry-run", "--json").document
    assert (judged["done"], judged["left"]) == (4, 4)
    assert judged["seconds"] > 0


@pytest.mark.slow
def test_collect_and_report_build_the_table_from_stored_cells(pucli, small, tmp_path):
    refused(pucli("report", small()), "no run of small is finished", "pucli reproduce small")
    pucli("reproduce", "small.yaml", "--profile", "smoke")
    ran = pucli("reproduce", "small.yaml", "--profile", "smoke", "--collect", "--json").document
    assert ran["run"] is None
    reported = pucli("report", "small.yaml", "--json").document
    assert reported["report"]["rows"] == ran["report"]["rows"]
    assert any(name.endswith("table.tex") for name in reported["report"]["files"])
    partial = pucli("reproduce", "small.yaml", "--collect").out
    assert "4 not run yet" in partial


@pytest.mark.slow
def test_report_takes_the_profile_that_was_run(pucli, small):
    pucli("reproduce", small(), "--profile", "smoke", "--method", "gllc")
    document = pucli("report", "small.yaml", "--json").document
    assert document["report"]["cells"]["done"] == 2


@pytest.mark.slow
def test_a_failed_cell_gives_exit_code_1_and_its_reason(pucli, small, tmp_path):
    methods = {**SMALL["methods"], "broken": {"method": "gllc", "n_neighbors": 5000, "grid": {"lam": [1]}}}
    done = pucli("reproduce", small(methods=methods), "--profile", "smoke")
    assert done.code == 1
    assert "2 failed" in done.out
    assert "n_neighbors=5000" in done.err
    cells = pd.read_csv(tmp_path / "results" / "small" / "cells.csv.gz")
    assert cells["status"].value_counts().to_dict() == {"done": 4, "failed": 2}
    assert pucli("report", "small.yaml").code == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"titel": "x"}, ["titel", "'title'"]),
        ({"split": {**SMALL["split"], "repeat": 3}}, ["split.repeat", "'repeats'"]),
        ({"split": {**SMALL["split"], "repeats": "two"}}, ["split.repeats"]),
        ({"methods": {"x": {"method": "glpaul"}}}, ["methods.x.method", "'glpual'"]),
        ({"methods": {"x": {"method": "gllc", "lamb": 1}}}, ["methods.x.lamb", "'lam'"]),
        ({"data": {"names": ["wines"]}}, ["'wine'"]),
    ],
)
def test_a_mistake_in_a_declared_file(pucli, small, tmp_path, changes, words):
    refused(pucli("reproduce", small(**changes)), *words)
    assert not (tmp_path / "results").exists()


def test_a_file_that_is_not_yaml(pucli, tmp_path):
    (tmp_path / "bad.yaml").write_text("title: [")
    refused(pucli("reproduce", "bad.yaml"), "bad.yaml", "line")
    refused(pucli("reproduce", "none.yaml"), "none.yaml")


def test_a_results_folder_that_cannot_be_written(pucli, small, tmp_path):
    (tmp_path / "taken").write_text("a file")
    refused(pucli("reproduce", small(), "--results", "taken"), "taken", "--results")


@pytest.mark.slow
def test_a_damaged_store_is_kept_aside(pucli, small, tmp_path):
    pucli("reproduce", small(), "--profile", "smoke")
    store = tmp_path / "results" / "small" / "store.sqlite"
    damaged = b"nothing that SQLite wrote" * 100
    store.write_bytes(damaged)
    refused(pucli("reproduce", "small.yaml", "--profile", "smoke"), "damaged", "store.damaged-1.sqlite")
    assert store.with_name("store.damaged-1.sqlite").read_bytes() == damaged
    assert pucli("reproduce", "small.yaml", "--profile", "smoke").code == 0


def test_a_second_run_at_the_same_time(pucli, small, tmp_path):
    from pucli.runner.store import Store

    with Store(tmp_path / "results" / "small"):
        refused(pucli("reproduce", small(), "--profile", "smoke"), "another run", "--collect")


@pytest.mark.slow
def test_ctrl_c_stops_cleanly_and_names_the_command_to_resume(small, data_cache, tmp_path):
    small(split={**SMALL["split"], "repeats": 400})
    words = [sys.executable, "-m", "pucli", "reproduce", "small.yaml"]
    # a suite that runs in the background ignores SIGINT, and its children would, too
    process = subprocess.Popen(
        words,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    first = process.stderr.readline()  # it is running once it says how far it is
    assert first.startswith("small 0/1,600")
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert re.search(r"pucli: interrupted.* kept in results/small.* run the same command again to continue", err, re.I)


def test_the_results_folder_may_be_set_in_the_environment(pucli, small, tmp_path, monkeypatch):
    monkeypatch.setenv("PUCLI_RESULTS_DIR", "elsewhere")
    monkeypatch.setenv("PUCLI_PROFILE", "smoke")
    assert pucli("reproduce", small(), "--method", "gllc").code == 0
    assert (tmp_path / "elsewhere" / "small" / "table.md").exists()


# --- fetch --------------------------------------------------------------------------------------------------------


def test_fetch_takes_files_from_a_mirror_and_checks_them(pucli, mirror, data_cache):
    done = pucli("fetch", "seeds", "wine", "--mirror", mirror, "--json")
    assert done.code == 0
    seeds, wine = done.document["fetched"]
    (path,) = seeds["files"]
    assert path.startswith(str(data_cache))
    declared = yaml.safe_load((ROOT / "datasets.yaml").read_text())["seeds"]["files"][0]["sha256"]
    assert hashlib.sha256(Path(path).read_bytes()).hexdigest() == declared
    assert (wine["origin"], wine["files"]) == ("scikit-learn", [])
    trained = pucli("train", "--method", "gllc", "--dataset", "seeds", "--json")
    assert trained.code == 0
    assert trained.document["features"] == 7


def test_fetch_without_network_names_missing_files_and_continues(pucli):
    done = pucli("fetch", "seeds", "wine", "--json")
    assert done.code == 1
    document = done.document
    assert [entry["name"] for entry in document["failed"]] == ["seeds"]
    assert "--mirror" in document["failed"][0]["message"]
    assert [entry["name"] for entry in document["fetched"]] == ["wine"]


def test_a_file_with_the_wrong_content_never_reaches_the_cache(pucli, tmp_path, data_cache, monkeypatch):
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "seeds_dataset.txt").write_text("1 2 3\n")
    assert "6 bytes, and 9,304 are declared" in pucli("fetch", "seeds", "--mirror", folder).err
    (folder / "seeds_dataset.txt").write_text("1" * 9304)
    done = pucli("fetch", "seeds", "--mirror", folder)
    assert done.code == 1
    assert "checksum mismatch" in done.err
    assert not list(data_cache.rglob("seeds_dataset.txt"))
    monkeypatch.setenv("PUCLI_MIRROR", str(folder))
    refused(pucli("train", "--method", "gllc", "--dataset", "seeds"), "checksum mismatch", code=1)


def test_a_mirror_that_does_not_exist(pucli):
    refused(pucli("fetch", "seeds", "--mirror", "nowhere"), "nowhere", "--mirror")


def test_fetch_for_an_experiment(pucli, small, mirror):
    small(data={"names": ["wine", "seeds"]})
    document = pucli("fetch", "--experiment", "small.yaml", "--mirror", mirror, "--json").document
    assert [entry["name"] for entry in document["fetched"]] == ["wine", "seeds"]


@pytest.mark.slow
def test_an_empty_store_beside_finished_cells_is_told(pucli, tmp_path):
    from pucli.runner.store import Store

    (tmp_path / "small.yaml").write_text(
        "title: Small\ndata: {generate: wang-two-gaussians, parameters: {mean_p2: [50]}}\n"
        "split: {scenario: single-training-set, label_frequencies: [0.25], repeats: 3, seed: 1}\n"
        "methods: {gllc: {method: gllc, grid: {}}}\n"
    )
    words = ("reproduce", "small.yaml", "--results", "r", "-q")
    assert pucli(*words, "--max-cells", "2").code == 0
    for path in (tmp_path / "r" / "small").glob("store.*"):
        path.unlink()
    with Store(tmp_path / "r" / "small"):
        pass
    done = pucli(*words, "--max-cells", "1")
    assert done.code == 0 and "is empty, but cells.csv.gz beside it lists 2 finished runs" in done.err
    assert "is empty" not in pucli(*words).err
