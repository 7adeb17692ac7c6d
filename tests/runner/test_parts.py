"""Parts of a run: shards and their merging, limits, failed cells alone, and the time that is left."""

import contextlib
import shutil
import sqlite3
from dataclasses import replace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pucli.core.errors import RunError, UsageError
from pucli.runner import load_experiment, merge_stores, plan, read_rows, run
from pucli.runner.cells import Cell, CellResult
from pucli.runner.cost import Pace, TimeLeft, kinds
from pucli.runner.plan import part_of
from pucli.runner.run import _ordered_groups
from pucli.runner.store import Store
from pucli.runner.store_files import STORE
from tests.helpers import seal

SMALL = {
    "title": "Small",
    "data": {"generate": "wang-two-gaussians", "parameters": {"mean_p2": [50, 200]}},
    "split": {"scenario": "single-training-set", "label_frequencies": [0.25], "repeats": 2, "seed": 1},
    "methods": {
        "glpual": {"method": "glpual", "grid": {}},
        "gllc": {"method": "gllc", "grid": {}},
    },
}


@pytest.fixture
def experiment(tmp_path):
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(SMALL))
    return load_experiment(tmp_path / "small.yaml")


@pytest.mark.slow
def test_shards_together_are_the_whole_run(experiment, tmp_path):
    whole = run(experiment, results_dir=tmp_path / "whole")
    parts = [run(experiment, results_dir=tmp_path / str(n), shard=(n, 3)) for n in (1, 2, 3)]
    assert sum(part.ran for part in parts) == whole.ran == 8
    assert [part.left for part in parts] == [8 - part.ran for part in parts]
    assert merge_stores(experiment, [tmp_path / "1", tmp_path / "2" / "small"], results_dir=tmp_path / "all") == (
        parts[0].ran + parts[1].ran
    )
    assert merge_stores(experiment, [tmp_path / "3", tmp_path / "1"], results_dir=tmp_path / "all") == parts[2].ran
    rows = [read_rows(tmp_path / name / "small") for name in ("whole", "all")]
    assert {k: (r["metrics"], r["params"]) for k, r in rows[0].items()} == {
        k: (r["metrics"], r["params"]) for k, r in rows[1].items()
    }
    assert run(experiment, results_dir=tmp_path / "all").ran == 0


@pytest.mark.slow
def test_merging_says_where_results_differ(experiment, tmp_path):
    run(experiment, results_dir=tmp_path / "one", max_cells=2)
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    with contextlib.closing(sqlite3.connect(tmp_path / "other" / "small" / STORE)) as db, db:
        db.execute("UPDATE cells SET metrics = json_set(metrics, '$.f1', 0.123)")
        seal(db)
    with pytest.warns(UserWarning, match="2 runs have another result in a later folder, and the first is kept: .*f1"):
        taken = merge_stores(experiment, [tmp_path / "one", tmp_path / "other"], results_dir=tmp_path / "all")
    assert taken == 2
    assert 0.123 not in [row["metrics"]["f1"] for row in read_rows(tmp_path / "all" / "small").values()]


def test_a_store_that_is_removed_during_a_run(experiment, tmp_path):
    folder = tmp_path / "run" / "small"

    def remove(event):
        if event.kind == "cell" and event.done == 3:
            shutil.rmtree(folder)

    with pytest.raises(RunError, match=r"removed or replaced during the run.*store\.rescued\.sqlite"):
        run(experiment, results_dir=tmp_path / "run", on_event=remove)
    (folder / "store.rescued.sqlite").rename(folder / STORE)
    assert run(experiment, results_dir=tmp_path / "run").already_done == 3


def test_a_failed_cell_is_replaced_by_one_that_another_run_finished(experiment, tmp_path):
    cells = plan(experiment)[:3]
    for name, status in (("all", "failed"), ("other", "done")):
        with Store(tmp_path / name / "small") as store:
            for cell in cells[:2]:
                store.save(cell, CellResult({"f1": 0.5}, status=status), b"", store.provenance_id({}))
    assert merge_stores(experiment, [tmp_path / "other"], results_dir=tmp_path / "all") == 2
    assert {row["status"] for row in read_rows(tmp_path / "all" / "small").values()} == {"done"}


def test_groups_run_by_repeat_and_the_longest_first():
    cells = [
        Cell("d", {}, repeat, "m", {"method": {"name": "m"}, "n": n, "repeat": repeat}, f"{n}-{repeat}", n_fits=n)
        for repeat in (1, 0)
        for n in (10, 1000, 100)
    ]
    ordered = [group[0] for group in _ordered_groups(cells, Pace({}), None)]
    assert [(cell.repeat, cell.n_fits) for cell in ordered] == [(r, n) for r in (0, 1) for n in (1000, 100, 10)]


def test_a_refinement_of_unknown_length_is_counted_from_cells_that_have_run():
    pace = Pace({})
    (cell,) = cells_of({"m": 1})
    longer = replace(cell, open_ended=True, n_fits=5)
    assert pace.fits(longer) == (5, False)
    for n_fits in (10, 12):
        pace.learn(kinds(cell.dataset, cell.declared), 1.0, n_fits)
    assert pace.fits(longer) == (12, True) and pace.fits(cell) == (1, True)  # the last fit follows the tuning


def test_merging_names_a_folder_without_a_store(experiment, tmp_path):
    with pytest.raises(UsageError, match=r"nothing: no store of small"):
        merge_stores(experiment, [tmp_path / "nothing"], results_dir=tmp_path / "all")
    assert not (tmp_path / "all").exists()


@given(st.lists(st.integers(0, 5), max_size=12), st.integers(1, 5))
def test_parts_are_disjoint_and_keep_groups_together(groups, parts):
    cells = [Cell("d", {}, n, "m", {"n": n}, str(group)) for n, group in enumerate(groups)]
    found = [part_of(cells, (number, parts)) for number in range(1, parts + 1)]
    assert sorted(cell.key for part in found for cell in part) == sorted(cell.key for cell in cells)
    for part in found:
        assert {c.group for c in part}.isdisjoint(c.group for other in found if other is not part for c in other)
    sizes = [len({cell.group for cell in part}) for part in found]
    assert max(sizes) - min(sizes) <= 1


def test_a_part_that_does_not_exist(experiment):
    for shard in ((0, 2), (3, 2)):
        with pytest.raises(UsageError, match="shard"):
            part_of(plan(experiment), shard)


def test_a_limit_stops_the_run_and_the_next_run_continues(experiment, tmp_path):
    first = run(experiment, results_dir=tmp_path, max_cells=3)
    assert (first.ran, first.left) == (3, 5)
    second = run(experiment, results_dir=tmp_path, max_cells=100)
    assert (second.ran, second.already_done, second.left) == (5, 3, 0)
    with pytest.raises(UsageError, match="--max-cells"):
        run(experiment, results_dir=tmp_path, max_cells=0)


def cells_of(costs):
    """One cell for each (method, number), in groups of one."""
    return [
        Cell("d", {}, n, method, {"method": {"name": method}, "n": n}, f"{method}{n}")
        for method, count in costs.items()
        for n in range(count)
    ]


def test_time_left_is_counted_by_kind_of_cell():
    """After the one slow cell has run, the quick ones that are left are not taken for slow ones."""
    cells = cells_of({"slow": 1, "quick": 100})
    left = TimeLeft(Pace({}), cells, n_jobs=1)
    assert left.seconds() is None
    left.finish(cells[0], 40.0, 1)
    assert left.seconds() == pytest.approx(100 * 40.0)  # nothing is known of the quick ones
    left.finish(cells[1], 0.1, 1)
    assert left.seconds() == pytest.approx(99 * 0.1)
    for cell in cells[2:]:
        left.finish(cell, 0.1, 1)
    assert left.seconds() == 0


def test_time_left_knows_processes_and_groups():
    cells = cells_of({"m": 8})
    for n_jobs, expected in ((1, 70.0), (4, 17.5), (100, 10.0)):
        left = TimeLeft(Pace({}), cells, n_jobs)
        left.finish(cells[0], 10.0, 1)
        assert left.seconds() == pytest.approx(expected)
