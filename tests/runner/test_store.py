"""The store: what anyone changed in it is named, set aside and computed again, and no finished cell is lost."""

from __future__ import annotations

import contextlib
import gzip
import shutil
import sqlite3
from dataclasses import replace

import pytest

from pucli.core.errors import RunError, UsageError
from pucli.core.yaml_files import read_yaml
from pucli.report.cells_csv import FILE, cells_csv, read_cells_csv
from pucli.report.formats.markdown import grid
from pucli.runner.cells import Cell, CellResult
from pucli.runner.store import Store, decode_trials, encode_trials, read_rows, read_trials
from pucli.runner.store_files import STORE
from pucli.runner.stored_rows import differing, limits
from tests.helpers import seal

CELLS = [Cell("wine", {"label_frequency": 0.5}, repeat, "glpual", {"repeat": repeat}, "wine") for repeat in range(6)]


def result(repeat, f1=0.75):
    return CellResult({"f1": f1, "puf": 1.5}, {"lam": repeat}, {"lam": [1.0, 2.0]}, {"n_iter": 3}, {"fit": 0.5})


def filled(folder, cells=CELLS):
    """Write finished cells, and return the folder."""
    with Store(folder) as store:
        made_by = store.provenance_id({"commit": "abc", "seed": 1})
        for cell in cells:
            one = result(cell.repeat)
            store.save(cell, one, encode_trials(one.trials), made_by)
    return folder


def damage(folder, page, size=4096):
    """Zero a page of a store; page 1 has the names of its tables."""
    with (folder / STORE).open("r+b") as file:
        file.seek(size * (page - 1))
        file.write(bytes(size))


def edit(folder, *statements, sealed=False):
    """Run statements on a store; sealed: its rows get the checksums of what they hold then."""
    with contextlib.closing(sqlite3.connect(folder / STORE)) as db, db:
        for statement in statements:
            db.execute(statement)
        if sealed:
            seal(db)
    return folder


def test_what_was_written_is_read(tmp_path):
    rows = read_rows(filled(tmp_path))
    assert len(rows) == 6 and {row["metrics"]["f1"] for row in rows.values()} == {0.75}
    assert read_trials(tmp_path, CELLS[0].key) == {"lam": [1.0, 2.0]}


def test_intact_cells_of_a_store_with_a_damaged_page_are_kept(tmp_path):
    text = "x" * 500
    cells = [Cell("wine", {}, repeat, "glpual", {"repeat": repeat, "text": text}, "wine") for repeat in range(40)]
    before = read_rows(filled(tmp_path, cells))
    damage(tmp_path, (tmp_path / STORE).stat().st_size // 4096 // 2)
    with pytest.raises(UsageError, match=r"start with the \d+ cells of it that are intact, or put a good copy"):
        Store(tmp_path)
    with Store(tmp_path) as store:
        after = store.rows()
    assert 30 < len(after) < 40 and after.items() <= before.items()
    assert read_trials(tmp_path, next(iter(after))) == {"lam": [1.0, 2.0]}
    assert (tmp_path / "store.damaged-1.sqlite").stat().st_size > 0


def test_nothing_is_kept_of_a_store_without_its_first_page(tmp_path):
    damage(filled(tmp_path), 1)
    with pytest.raises(UsageError, match="start with an empty store"):
        Store(tmp_path)
    with Store(tmp_path) as store:
        assert not store.rows()


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        "metrics = 'x'",
        """metrics = '{"f1":"a"}'""",
        """metrics = '{"f1":7.0}'""",
        """metrics = '{"f1":1e999}'""",
        "metrics = '[]'",
        "status = 'fine'",
        "n_fits = 'many'",
        "notes = '[1]'",
        """seconds = '{"fit":1e300}'""",
    ],
)
def test_a_row_that_was_changed_is_named_set_aside_and_run_again(tmp_path, change, sealed):
    edit(filled(tmp_path), f"UPDATE cells SET {change} WHERE repeat = 2", sealed=sealed)
    with pytest.raises(UsageError, match="1 of its cells") as caught:
        read_rows(tmp_path)
    assert CELLS[2].key[:16] in str(caught.value) and "\n" not in str(caught.value)
    with Store(tmp_path) as store, pytest.warns(UserWarning, match="set aside"):
        assert set(store.rows()) == {cell.key for cell in CELLS} - {CELLS[2].key}
    assert len(read_rows(tmp_path)) == 5
    filled(tmp_path, [CELLS[2]])
    assert len(read_rows(tmp_path)) == 6
    with contextlib.closing(sqlite3.connect(tmp_path / STORE)) as db:
        assert db.execute("SELECT key FROM damaged").fetchall() == [(CELLS[2].key,)]


@pytest.mark.parametrize(
    "change",
    [
        """metrics = '{"f1":0.76,"puf":1.5}'""",
        "trials = x'00'",
        "error = CAST(x'ff00' AS TEXT)",
        "method = 'other'",
    ],
)
def test_what_only_the_checksum_notices(tmp_path, change):
    edit(filled(tmp_path), f"UPDATE cells SET {change} WHERE repeat = 2")
    with pytest.raises(UsageError, match=r"1 of its cells .*its checksum is another one"):
        read_rows(tmp_path)


def test_a_changed_provenance_is_noticed(tmp_path):
    edit(filled(tmp_path), """UPDATE provenance SET content = '{"commit":"xyz"}'""")
    with pytest.raises(UsageError, match="6 of its cells"):
        read_rows(tmp_path)


@pytest.mark.parametrize("content", ["[]", '{"versions":3}'])
def test_a_provenance_of_another_shape(tmp_path, content):
    edit(filled(tmp_path), f"UPDATE provenance SET content = '{content}'", sealed=True)
    with pytest.raises(UsageError, match="its provenance is not as pucli writes it"):
        read_rows(tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER better AFTER INSERT ON cells BEGIN UPDATE cells SET metrics = '{}' WHERE key = NEW.key; END",
        "CREATE VIEW other AS SELECT * FROM cells",
        "CREATE TABLE more (a)",
        "CREATE INDEX by_method ON cells (method)",
    ],
)
def test_what_pucli_does_not_write_is_refused(tmp_path, statement):
    edit(filled(tmp_path), statement)
    for act in (read_rows, Store):
        with pytest.raises(UsageError, match="does not write"):
            act(tmp_path)
    assert (tmp_path / STORE).exists()


@pytest.mark.parametrize("change", ["removed", "replaced", "folder", "moved"])
def test_a_store_that_goes_away_during_a_run(tmp_path, change):
    folder = tmp_path / "run"
    filled(tmp_path / "other", CELLS[:1])

    def go_away():
        if change == "folder":
            shutil.rmtree(folder)
        elif change == "moved":
            (folder / STORE).rename(folder / "away.sqlite")
        else:
            for path in folder.glob(f"{STORE}*"):
                path.unlink()
        if change == "replaced":
            shutil.copyfile(tmp_path / "other" / STORE, folder / STORE)

    with Store(folder) as store:
        made_by = store.provenance_id({"commit": "abc"})
        for cell in CELLS[:4]:
            store.save(cell, result(cell.repeat), b"", made_by)
        go_away()
        with pytest.raises(RunError, match="was removed or replaced") as caught:
            store.save(CELLS[4], result(4), b"", made_by)
    (rescued,) = folder.glob("store.rescued*.sqlite")
    assert rescued.name in str(caught.value)
    kept = tmp_path / "kept"
    kept.mkdir()
    rescued.rename(kept / STORE)
    assert set(read_rows(kept)) == {cell.key for cell in CELLS[:4]}


def test_the_log_of_another_store_is_not_adopted(tmp_path):
    other = Store(tmp_path / "other")
    made_by = other.provenance_id({"commit": "other"})
    other.save(CELLS[0], result(0), b"", made_by)
    folder = filled(tmp_path / "own")
    shutil.copyfile(tmp_path / "other" / f"{STORE}-wal", folder / f"{STORE}-wal")
    other.close()
    with pytest.warns(UserWarning, match="log of another store"):
        store = Store(folder)
    with store:
        assert len(store.rows()) == 6
    assert len(read_rows(folder)) == 6


def test_the_own_log_after_a_crash_is_read(tmp_path):
    store = Store(tmp_path / "run")
    made_by = store.provenance_id({"commit": "abc"})
    for cell in CELLS:
        store.save(cell, result(cell.repeat), b"", made_by)
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in (STORE, f"{STORE}-wal"):
        shutil.copyfile(tmp_path / "run" / name, crashed / name)
    store.close()
    assert (crashed / f"{STORE}-wal").stat().st_size > 0
    with Store(crashed) as again:
        assert len(again.rows()) == 6


def test_merging_checks_what_it_copies(tmp_path):
    source = edit(filled(tmp_path / "source"), "UPDATE cells SET params = '{}' WHERE repeat = 1")
    with Store(tmp_path / "all") as store:
        assert store.adopt(source, CELLS[:1]) == 1
        with pytest.raises(UsageError, match="1 of its cells"):
            store.adopt(source, CELLS[1:2])
    assert set(read_rows(tmp_path / "all")) == {CELLS[0].key}


def test_only_finished_cells_are_adopted_and_get_the_column_of_the_experiment(tmp_path):
    with Store(tmp_path / "source") as store:
        made_by = store.provenance_id({})
        store.save(CELLS[0], result(0), b"", made_by)
        store.save(CELLS[1], CellResult(status="failed", error="no"), b"", made_by)
    with Store(tmp_path / "all") as store:
        assert store.adopt(tmp_path / "source", [replace(cell, method="renamed") for cell in CELLS[:3]]) == 1
        assert {key: row["method"] for key, row in store.rows().items()} == {CELLS[0].key: "renamed"}


def test_results_differ_beyond_the_last_digits_and_times_do_not_count():
    one = {"metrics": {"f1": 0.5, "puf": 1.2, "seconds": 1.0}}
    for change, names in (
        ({"f1": 0.5 + 1e-9}, []),
        ({"f1": 0.501}, ["f1"]),
        ({"puf": None}, ["puf"]),
        ({"seconds": 9.0}, []),
    ):
        assert list(differing(one, {"metrics": one["metrics"] | change})) == names


def test_flipped_bits_and_zeroed_pages_end_in_one_line(tmp_path):
    whole = (filled(tmp_path / "whole") / STORE).read_bytes()
    folder, noticed = tmp_path / "bad", 0
    folder.mkdir()
    pages = [(start, b"\0" * 4096) for start in range(0, len(whole), 4096)]
    bits = [(place, bytes([whole[place] ^ 4])) for place in range(97, len(whole), 397)]
    for place, content in pages + bits:
        (folder / STORE).write_bytes(whole[:place] + content + whole[place + len(content) :])
        try:
            rows = read_rows(folder)
        except (UsageError, RunError) as error:
            assert "\n" not in str(error)
            noticed += 1
        else:
            assert all(row["metrics"] == {"f1": 0.75, "puf": 1.5} for row in rows.values())
    assert noticed > len(pages)


def test_a_loop_of_links_and_a_folder_in_place_of_the_store(tmp_path):
    (tmp_path / STORE).symlink_to(STORE)
    with pytest.raises(UsageError, match="links"):
        read_rows(tmp_path)
    (tmp_path / STORE).unlink()
    (tmp_path / STORE).mkdir()
    with pytest.raises(UsageError, match="not a file"):
        read_rows(tmp_path)


def test_a_store_and_cells_that_may_not_be_read_keep_their_content(tmp_path, monkeypatch):
    """The remedy is another permission, not to remove the file with the finished cells."""
    filled(tmp_path)

    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pucli.report.cells_csv.gzip.open", denied)
    monkeypatch.setattr("pucli.runner.store_files.connect_read_only", lambda path: sqlite3.connect("/nowhere/at/all"))
    with pytest.raises(UsageError, match="check its permissions"):
        read_cells_csv(tmp_path)
    with pytest.raises(RunError, match="Check its permissions"):
        read_rows(tmp_path)


@pytest.mark.parametrize("blob", [b"x", b"\x78\x9c", "text", encode_trials({"a": [1]})[:-8]])
def test_damaged_trials(blob):
    with pytest.raises(UsageError, match="trials"):
        decode_trials(blob)


def test_cells_csv_that_was_edited_by_hand(tmp_path):
    text = cells_csv(CELLS, read_rows(filled(tmp_path)))
    path = tmp_path / FILE
    path.write_bytes(gzip.compress(text.encode()))
    rows = read_cells_csv(tmp_path)
    assert len(rows) == 6

    def write(content):
        path.write_bytes(gzip.compress(content.encode()))

    lines = text.splitlines(keepends=True)
    same = (text + "\n\n", text.replace("\n", "\r\n"), "\ufeff" + text, lines[0] + "".join(lines[:0:-1]))
    for edited in same:
        write(edited)
        assert read_cells_csv(tmp_path) == rows
    write(text + lines[2])
    with pytest.raises(UsageError, match="line 8 has the cell of line 3 again"):
        read_cells_csv(tmp_path)
    for cut in (text + '"', text[:-20], text + "abc,d\n"):
        write(cut)
        with pytest.raises(UsageError, match=f"{FILE}: line"):
            read_cells_csv(tmp_path)
    path.write_bytes(gzip.compress(text.encode())[:-20])
    with pytest.raises(UsageError, match=f"{FILE}: "):
        read_cells_csv(tmp_path)
    write(text.replace("0.75", "7.5", 1))
    with pytest.raises(UsageError, match=r"line 2: f1 is 7\.5"):
        read_cells_csv(tmp_path)
    write(text)
    for wrong in ("[]", '{"made_with": 3}', '{"made_with": [1]}', "{", '{"profile": 3}', "[" * 100_000):
        (tmp_path / "provenance.json").write_text(wrong)
        assert len(read_cells_csv(tmp_path)) == 6


def test_limits_of_metrics():
    assert limits("f1") == (0.0, 1.0) and limits("f_published") == (0.0, 100.0)
    assert limits("puf")[1] == float("inf")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("010", "010"),
        ("1:30", "1:30"),
        ("1:30.5", "1:30.5"),
        ("10", 10),
        ("-3", -3),
        ("0", 0),
        ("1e-4", 1e-4),
        ("1.5", 1.5),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        (".inf", float("inf")),
        ("true", True),
        ("null", None),
    ],
)
def test_yaml_is_read_as_a_reader_would(tmp_path, text, value):
    path = tmp_path / "a.yaml"
    path.write_text(f"a: {text}\n")
    assert read_yaml(path) == {"a": value}


def test_a_merge_key_twice(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("x: &x {a: 1}\ny: &y {a: 2}\nz: {<<: *x}\n")
    assert read_yaml(path)["z"] == {"a": 1}
    path.write_text("x: &x {a: 1}\ny: &y {a: 2}\nz:\n  <<: *x\n  <<: *y\n")
    with pytest.raises(UsageError, match=r"line 5.*'<<' is given twice"):
        read_yaml(path)


def test_a_cell_of_a_markdown_table_stays_one():
    table = grid(["a"], [["x\\|y"], ["u\nv"], ["p|q"]], "l")
    assert "x\\\\\\|y" in table and "u v" in table and "p\\|q" in table
    assert len(table.splitlines()) == 5
