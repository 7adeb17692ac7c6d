"""Running: the same numbers for any number of processes, after a kill, after a failure; one writer at a time."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml

from pucli.core.errors import RunError, UsageError
from pucli.core.json_values import json_values
from pucli.report import collect
from pucli.report.formats.markdown import markdown
from pucli.runner import (
    Interrupted,
    dry_run,
    load_experiment,
    plan,
    read_rows,
    read_trials,
    run,
)
from pucli.runner.execute import _on_dask
from pucli.runner.store import Store
from pucli.runner.store_files import LOCK, STORE
from tests.helpers import ROOT

SMALL = {
    "title": "Small",
    "data": {"generate": "wang-two-gaussians", "parameters": {"mean_p2": [50, 200]}},
    "split": {"scenario": "single-training-set", "label_frequencies": [0.25], "repeats": 3, "seed": 1},
    "tuning": {"folds": 3, "score": "puf", "greedy": {"step": 0.1}},
    "methods": {
        "glpual": {"method": "glpual", "grid": {"lam": [0.1, 1, 10], "sigma": [1], "c_u": [0.1, 0.3]}},
        "gllc/rbf": {
            "method": "gllc",
            "kernel": "rbf",
            "max_rank": 40,
            "grid": {"lam": [1, 10], "width": [1, 4], "sigma": [1], "c_u": [0.1]},
        },
    },
    "profiles": {"first": {"repeats": 1}},
}


def declare(tmp_path: Path, **changes):
    file = tmp_path / "small.yaml"
    file.write_text(yaml.safe_dump({**SMALL, **changes}))
    return load_experiment(file)


def numbers(folder: Path) -> dict[str, dict]:
    """Everything stored that must not depend on how the run went: all but seconds, dates and provenance."""
    rows = read_rows(folder / "small")
    for key, row in rows.items():
        for name in ("seconds", "finished", "provenance"):
            del row[name]
        row["trials"] = read_trials(folder / "small", key)
    return rows


@pytest.fixture(scope="module")
def sequential(tmp_path_factory):
    """One uninterrupted run in this process: its folder and what it stored."""
    folder = tmp_path_factory.mktemp("sequential")
    experiment = declare(folder)
    events = []
    summary = run(experiment, results_dir=folder, on_event=events.append)
    return experiment, folder, summary, events


@pytest.mark.slow
def test_uninterrupted_run(sequential):
    experiment, folder, summary, events = sequential
    assert (summary.total, summary.ran, summary.failed, summary.already_done) == (12, 12, 0, 0)
    assert [e.kind for e in events] == ["plan", *["cell"] * 12, "end"]
    assert [e.done for e in events[1:-1]] == list(range(1, 13))
    assert events[-2].remaining_seconds == 0
    rows = read_rows(folder / "small")
    assert set(rows) == {cell.key for cell in plan(experiment)}
    for row in rows.values():
        assert row["status"] == "done"
        assert 0 <= row["metrics"]["f1"] <= 1 and row["metrics"]["tp"] + row["metrics"]["fn"] > 0
        assert set(row["seconds"]) == {"tune", "fit", "predict"}
        assert row["certificate"]["converged"] is True
        assert row["provenance"]["threads_per_process"] == 1 and row["provenance"]["versions"]["numpy"]
    json.dumps(json_values(summary))


@pytest.mark.slow
def test_every_trial_is_kept(sequential):
    experiment, folder, _, _ = sequential
    for cell in plan(experiment):
        trials = read_trials(folder / "small", cell.key)
        assert len(trials["score"]) >= (6 if cell.method == "glpual" else 4)
        assert trials["stage"].count(0) == (6 if cell.method == "glpual" else 4)
        row = read_rows(folder / "small", [cell.key])[cell.key]
        chosen = [i for i in range(len(trials["score"])) if trials["param.c_u"][i] == row["params"]["c_u"]]
        assert chosen


@pytest.mark.slow
def test_methods_of_one_split_see_the_same_test_rows(sequential):
    experiment, folder, _, _ = sequential
    rows = read_rows(folder / "small")
    positives: dict[str, set] = {}
    for cell in plan(experiment):
        metrics = rows[cell.key]["metrics"]
        positives.setdefault(cell.group, set()).add(metrics["tp"] + metrics["fn"])
    assert len(positives) == 6 and all(len(counts) == 1 for counts in positives.values())


@pytest.mark.slow
def test_second_run_does_nothing(sequential):
    experiment, folder, _, _ = sequential
    before = (folder / "small" / STORE).read_bytes()
    summary = run(experiment, results_dir=folder)
    assert (summary.ran, summary.already_done) == (0, 12)
    assert (folder / "small" / STORE).read_bytes() == before


@pytest.mark.slow
def test_parallel_is_bit_identical(sequential, tmp_path):
    experiment, folder, _, _ = sequential
    run(experiment, results_dir=tmp_path, n_jobs=2)
    assert numbers(tmp_path) == numbers(folder)


@pytest.mark.slow
def test_a_part_first_then_the_rest(sequential, tmp_path):
    """A smaller profile, one method, one method more: the cells are those of the whole run."""
    experiment, folder, _, _ = sequential
    assert run(experiment, results_dir=tmp_path, profile="first", methods=["gllc"]).ran == 2
    assert run(experiment, results_dir=tmp_path, methods=["gllc"]).ran == 4
    assert run(experiment, results_dir=tmp_path).ran == 6
    assert numbers(tmp_path) == numbers(folder)


_RUNNER = """
    import sys
    from pucli.runner import load_experiment, run
    experiment = load_experiment(sys.argv[1])
    run(experiment, results_dir=sys.argv[2], on_event=lambda event: print(event.kind, event.done, flush=True))
"""


def start(folder: Path, results: Path) -> subprocess.Popen:
    command = [sys.executable, "-c", textwrap.dedent(_RUNNER), str(folder / "small.yaml"), str(results)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no SIGSTOP on this system")
def test_a_second_run_is_refused_until_the_first_is_killed_and_then_equals_an_uninterrupted_one(sequential, tmp_path):
    experiment, folder, _, _ = sequential
    process = start(folder, tmp_path)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("cell 3"):
            break
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(UsageError, match="another run is writing to"):
        run(experiment, results_dir=tmp_path)
    process.kill()
    process.wait()
    kept = read_rows(tmp_path / "small")
    assert 3 <= len(kept) < 12
    summary = run(experiment, results_dir=tmp_path)
    assert summary.already_done == len(kept) and summary.ran == 12 - len(kept)
    assert numbers(tmp_path) == numbers(folder)


@pytest.mark.slow
def test_an_interrupt_keeps_finished_cells_and_names_the_command_to_resume(sequential, tmp_path):
    experiment, folder, _, _ = sequential

    def stop_at_four(event):
        if event.kind == "cell" and event.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"4 of 12 runs are done.*same command again") as caught:
        run(experiment, results_dir=tmp_path, on_event=stop_at_four)
    assert caught.value.exit_code == 130
    assert len(read_rows(tmp_path / "small")) == 4
    assert run(experiment, results_dir=tmp_path).ran == 8
    assert numbers(tmp_path) == numbers(folder)


@pytest.mark.slow
def test_collect_while_another_process_is_writing(sequential, tmp_path):
    experiment, _, _, _ = sequential
    cells = []

    def look(event):
        if event.kind == "cell" and event.done == 5:
            script = (
                "import sys; from pucli.report import collect; from pucli.runner import *; "
                "report = collect(load_experiment(sys.argv[1]), results_dir=sys.argv[2], figures=False); "
                "print(report.cells['done'], report.cells['missing'])"
            )
            command = [sys.executable, "-c", script, str(experiment.path), str(tmp_path)]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            cells.append(subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout)

    run(experiment, results_dir=tmp_path, on_event=look)
    assert cells == ["5 7\n"]
    assert "partial" not in markdown(collect(experiment, results_dir=tmp_path, figures=False))


def test_second_run_of_the_same_process_is_refused(tmp_path):
    with Store(tmp_path / "small"), pytest.raises(UsageError, match="another run is writing to"):
        run(declare(tmp_path), results_dir=tmp_path)


@pytest.mark.slow
def test_failed_cells_are_rows_and_are_tried_again(tmp_path):
    methods = {**SMALL["methods"], "glpual/bad": {"method": "glpual", "n_neighbors": 10_000, "grid": {}}}
    experiment = declare(tmp_path, methods=methods)
    summary = run(experiment, results_dir=tmp_path, profile="first")
    assert (summary.ran, summary.failed) == (6, 2)
    assert "glpual/bad, repeat 1" in summary.errors[0]
    failed = [row for row in read_rows(tmp_path / "small").values() if row["status"] == "failed"]
    assert len(failed) == 2
    assert all("n_neighbors" in row["error"] and str(ROOT) not in row["error"] for row in failed)
    again = run(experiment, results_dir=tmp_path, profile="first")
    assert (again.ran, again.failed, again.already_done) == (2, 2, 4)
    report = collect(experiment, results_dir=tmp_path, profile="first", figures=False)
    assert report.cells == {"total": 6, "done": 4, "failed": 2, "missing": 0}
    text = markdown(report)
    assert "2 failed" in text and "n_neighbors" in text


@pytest.mark.slow
def test_too_few_labeled_rows_fail_their_cell_only(tmp_path):
    split = {**SMALL["split"], "label_frequencies": [0.004, 0.25], "repeats": 1}
    summary = run(declare(tmp_path, split=split), results_dir=tmp_path)
    assert (summary.total, summary.failed) == (8, 4)
    assert "labeled rows cannot fill 3 folds" in summary.errors[0]


def test_not_converged_is_flagged(tmp_path):
    methods = {"glpual": {"method": "glpual", "solver": "admm", "max_iter": 1, "grid": {}}}
    experiment = declare(tmp_path, methods=methods)
    run(experiment, results_dir=tmp_path, profile="first")
    for row in read_rows(tmp_path / "small").values():
        assert "not converged" in row["flags"] and row["certificate"]["converged"] is False
    assert collect(experiment, results_dir=tmp_path, profile="first", figures=False).flags["not converged"] == 2


@pytest.mark.slow
def test_dry_run_before_between_and_after(tmp_path):
    experiment = declare(tmp_path)
    before = dry_run(experiment, results_dir=tmp_path)
    assert (before.total, before.done, before.left, before.seconds) == (12, 0, 12, None)
    assert before.fits == 6 * (1 + 6 * 3) + 6 * (1 + 4 * 3) and before.fits_at_least
    assert not (tmp_path / "small").exists()
    run(experiment, results_dir=tmp_path, profile="first")
    between = dry_run(experiment, results_dir=tmp_path)
    assert (between.done, between.left) == (4, 8)
    assert between.seconds > 0 and between.seconds_known_for == 8
    assert between.fits > 4 * 19 + 4 * 13 and not between.fits_at_least  # with the refinements that were seen
    assert dry_run(experiment, results_dir=tmp_path, n_jobs=2).seconds == pytest.approx(between.seconds / 2)
    after = dry_run(experiment, results_dir=tmp_path, profile="first")
    assert (after.left, after.fits, after.seconds) == (0, 0, 0.0)
    assert after.reductions == ["1 of 3 repeats"]
    json.dumps(json_values(after))


@pytest.mark.slow
def test_damaged_store_is_kept_aside(tmp_path):
    experiment = declare(tmp_path)
    run(experiment, results_dir=tmp_path, profile="first")
    path = tmp_path / "small" / STORE
    damaged = path.read_bytes()[:2000] + b"\0" * 3000 + path.read_bytes()[5000:]
    path.write_bytes(damaged)
    with pytest.raises(UsageError, match="damaged") as caught:
        collect(experiment, results_dir=tmp_path, profile="first")
    assert path.read_bytes() == damaged  # a reader moves nothing
    with pytest.raises(UsageError, match=r"renamed to store.damaged-1.sqlite") as caught:
        run(experiment, results_dir=tmp_path, profile="first")
    assert caught.value.exit_code == 2
    assert (path.parent / "store.damaged-1.sqlite").read_bytes() == damaged and not path.exists()
    assert run(experiment, results_dir=tmp_path, profile="first").ran == 4
    # once more: the first one stays
    path.write_text("this is no database, though it is long enough to look at" * 20)
    with pytest.raises(UsageError, match=r"store.damaged-2.sqlite"):
        run(experiment, results_dir=tmp_path, profile="first")
    assert (path.parent / "store.damaged-1.sqlite").read_bytes() == damaged


def test_a_store_of_another_version_is_not_changed(tmp_path):
    experiment = declare(tmp_path)
    (tmp_path / "small").mkdir()
    with sqlite3.connect(tmp_path / "small" / STORE) as db:
        db.execute("PRAGMA user_version=99")
        db.execute("CREATE TABLE cells (key TEXT)")
    with pytest.raises(UsageError, match="another version of pucli"):
        run(experiment, results_dir=tmp_path)
    assert (tmp_path / "small" / STORE).exists()


def test_results_folder_that_cannot_be_written(tmp_path):
    experiment = declare(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="not a folder"):
        run(experiment, results_dir=tmp_path / "file")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that nobody can write to; /proc is one")
def test_read_only_folder():
    with pytest.raises(UsageError, match="cannot write to the results folder /proc"):
        Store(Path("/proc/small"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write to read-only folders")
def test_read_only_permissions(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir(mode=0o500)
    with pytest.raises(UsageError, match="cannot write to the results folder"):
        Store(folder)


@pytest.mark.slow
def test_no_space_left(tmp_path, monkeypatch):
    """The disk is full after some cells: one message, those cells are kept, and the run goes on when there is room."""
    experiment = declare(tmp_path)
    opened = Store._open

    def small_disk(self):
        db = opened(self)
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count={pages + 3}")
        return db

    monkeypatch.setattr(Store, "_open", small_disk)
    with pytest.raises(RunError, match="no space left while writing") as caught:
        run(experiment, results_dir=tmp_path)
    assert caught.value.exit_code == 1
    kept = len(read_rows(tmp_path / "small"))
    assert 0 < kept < 12
    monkeypatch.setattr(Store, "_open", opened)
    assert run(experiment, results_dir=tmp_path).already_done == kept


@pytest.mark.slow
def test_stored_files_have_no_paths(sequential):
    _, folder, _, _ = sequential
    content = (folder / "small" / STORE).read_bytes()
    assert str(ROOT).encode() not in content and str(folder).encode() not in content


def test_wrong_execution_options(tmp_path):
    experiment = declare(tmp_path)
    with pytest.raises(UsageError, match="n-jobs"):
        run(experiment, results_dir=tmp_path, n_jobs=0)
    with pytest.raises(UsageError, match=r"unknown backend 'lokky'; did you mean 'loky'"):
        run(experiment, results_dir=tmp_path, backend="lokky")


def test_the_error_without_dask_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'pucli\[dask\]'"):
        run(declare(tmp_path), results_dir=tmp_path, backend="dask")


@pytest.mark.slow
def test_dask_is_bit_identical(sequential, tmp_path):
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    experiment, folder, _, _ = sequential
    run(experiment, results_dir=tmp_path, n_jobs=2, backend="dask")
    assert numbers(tmp_path) == numbers(folder)


def test_a_lock_file_of_another_program(tmp_path):
    (tmp_path / LOCK).write_text("not a lock file at all, and long enough to be looked at " * 20)
    with pytest.raises(UsageError, match="not a lock file of pucli"):
        Store(tmp_path)


def test_lost_dask_workers_end_in_one_line_that_says_what_is_kept(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the extra [dask] is not installed")
    from distributed.comm import CommClosedError

    class Client:
        def __init__(self, *address, **how):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

        def run(self, *args):
            return None

        def submit(self, *args, **how):
            return self

        def result(self):
            raise distributed.KilledWorker("run_group-1", None, 3)

        def cancel(self, futures):
            raise CommClosedError("the scheduler is gone")

    monkeypatch.setattr(distributed, "Client", Client)
    monkeypatch.setattr(distributed, "as_completed", list)
    with pytest.raises(RunError, match=r"4 workers died on one group of runs.* Finished runs are kept\. Give"):
        list(_on_dask([[], []], None, 2))
