"""The store of finished cells: one SQLite file (WAL mode) in the results folder, one writer, any number of readers.

Each cell is written in one transaction, so that only complete cells are stored even if the process is killed. The
writer holds an exclusive lock on a second SQLite file, `store.lock`, which the operating system releases when the
process ends.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import stat
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, cast

from pucli.core.errors import RunError, UsageError
from pucli.core.json_values import json_values
from pucli.runner import store_files as files
from pucli.runner.cells import Cell, CellResult
from pucli.runner.salvage import salvaged
from pucli.runner.stored_rows import DamagedRowError, check_row, checksum

MOST_TRIALS = 2**28  # bytes to which the trials of a cell may unpack

_TABLES = """
CREATE TABLE IF NOT EXISTS provenance (id INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY,           -- SHA-256 of settings
    dataset TEXT NOT NULL, setting TEXT NOT NULL, repeat INTEGER NOT NULL, method TEXT NOT NULL,
    settings TEXT NOT NULL,         -- JSON: everything that determines the result, `declared` in StoredRow
    status TEXT NOT NULL,           -- done | failed
    params TEXT NOT NULL, metrics TEXT NOT NULL, certificate TEXT NOT NULL, seconds TEXT NOT NULL,
    n_fits INTEGER NOT NULL,
    error TEXT NOT NULL, notes TEXT NOT NULL, flags TEXT NOT NULL, details TEXT NOT NULL,
    trials BLOB NOT NULL,           -- zlib of JSON: column -> values
    provenance INTEGER NOT NULL REFERENCES provenance(id),
    finished TEXT NOT NULL,         -- UTC
    checksum TEXT NOT NULL          -- `checksum` of the row
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS damaged (key TEXT NOT NULL, why TEXT NOT NULL, row TEXT NOT NULL);
"""
_JSON = ("setting", "settings", "params", "metrics", "certificate", "seconds", "notes", "flags", "details")
_OF_RESULT = ("status", "params", "metrics", "certificate", "seconds", "n_fits", "error", "notes", "flags", "details")
_COLUMNS = (
    "key dataset setting repeat method settings status params metrics certificate seconds n_fits error notes flags "
    "details provenance finished"
)


class StoredRow(TypedDict):
    """A finished cell as returned by the store; missing numbers are None."""

    key: str
    dataset: str
    setting: dict[str, Any]
    repeat: int
    method: str
    declared: dict[str, Any]
    status: str
    params: dict[str, Any]
    metrics: dict[str, float | None]
    certificate: dict[str, Any]
    seconds: dict[str, float]
    n_fits: int
    error: str
    notes: list[str]
    flags: list[str]
    details: dict[str, Any]
    provenance: dict[str, Any]
    finished: str


StoredRows: TypeAlias = Mapping[str, StoredRow]


class Store:
    """Context manager that writes to a store. `folder` is created if it does not exist."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / files.STORE
        with files.file_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = files.take_lock(folder)
        try:
            with files.file_errors(folder):
                self._db = self._open()
        except BaseException:
            self._lock.close()
            raise

    def _open(self) -> sqlite3.Connection:
        existed = self.path.exists()
        if existed and files.has_foreign_log(self.path, writer=True):
            kept = files.free_name(self.path.with_name(f"{files.STORE}-wal"))
            self.path.with_name(f"{files.STORE}-wal").rename(kept)
            what = f"{files.STORE}-wal in {self.folder} is the log of another store; it was renamed to {kept.name}."
            warnings.warn(what, stacklevel=3)
        db = sqlite3.connect(self.path, isolation_level=None, timeout=30)
        db.text_factory = files.text_of
        try:
            complete = existed and files.has_tables(db, self.path)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            if not complete:
                db.executescript(f"BEGIN; {_TABLES} PRAGMA user_version={files.SCHEMA}; COMMIT;")
            self._file = files.identity(self.path)
        except BaseException as error:
            db.close()
            if not (isinstance(error, sqlite3.DatabaseError) and files.means_damage(error)):
                raise
            kept = files.set_aside(self.path)
            raise UsageError(
                f"the store {self.path} is damaged ({error}). It was renamed to {kept.name} without changes. Run the "
                f"same command again to start with {self._salvage(kept)}, or put a good copy in its place first."
            ) from None
        return db

    def _salvage(self, kept: Path) -> str:
        """Write the intact rows of a damaged store to a new one, and say how many they are."""
        rows = salvaged(kept, ", ".join([*_COLUMNS.split(), "trials"]))
        if not rows:
            return "an empty store"
        with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as self._db:
            self._db.executescript(f"BEGIN; {_TABLES} PRAGMA user_version={files.SCHEMA}; COMMIT;")
            self._file = files.identity(self.path)
            self._db.execute("BEGIN")
            for row, content in rows:
                self._insert({**row, "provenance": self.provenance_id(json.loads(content))})
            self._db.execute("COMMIT")
        return f"the {len(rows)} cells of it that are intact"

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Merge the write-ahead log into the main file and release the lock."""
        with contextlib.suppress(sqlite3.Error):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()
        self._lock.close()

    def check_place(self) -> None:
        """Raise RunError if the store was removed or replaced; what this run has finished is written beside it.

        SQLite would go on with the file that no longer has a name, and lose everything at the end.
        """
        if files.identity(self.path) == self._file:
            return
        with files.file_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            kept = files.free_name(self.folder / "store.rescued.sqlite")
            with contextlib.closing(sqlite3.connect(kept)) as copy:
                self._db.backup(copy)
        raise RunError(
            f"the store {self.path} was removed or replaced during the run. All finished runs are kept in {kept.name} "
            f"there; rename it to {files.STORE} and run the same command again to continue."
        )

    def provenance_id(self, content: Mapping[str, Any]) -> int:
        """Store a provenance once and return its number."""
        text = json.dumps(content, sort_keys=True)
        self.check_place()
        with files.file_errors(self.folder):
            self._db.execute("INSERT OR IGNORE INTO provenance(content) VALUES (?)", (text,))
            return int(self._db.execute("SELECT id FROM provenance WHERE content = ?", (text,)).fetchone()[0])

    def save(self, cell: Cell, result: CellResult, trials: bytes, provenance: int) -> None:
        """Write a finished cell in one transaction; a failed cell with the same key is replaced."""
        values = {name: getattr(cell, name) for name in ("key", "dataset", "setting", "repeat", "method")}
        values |= {name: getattr(result, name) for name in _OF_RESULT}
        values |= {"settings": cell.declared, "trials": trials, "provenance": provenance}
        values |= {name: _dumps(values[name]) for name in _JSON}
        self._insert({**values, "finished": datetime.now(UTC).isoformat(timespec="seconds")})

    def _insert(self, values: dict[str, Any]) -> None:
        """Write a row, with its checksum, in one transaction."""
        self.check_place()
        with files.file_errors(self.folder):
            query = "SELECT content FROM provenance WHERE id = ?"
            (made_by,) = self._db.execute(query, (values["provenance"],)).fetchone()
            values = {**values, "checksum": checksum(values, made_by)}
            names, marks = ", ".join(values), ", ".join("?" * len(values))
            self._db.execute(f"INSERT OR REPLACE INTO cells ({names}) VALUES ({marks})", tuple(values.values()))
        self.check_place()

    def adopt(self, folder: Path, cells: Iterable[Cell]) -> int:
        """Copy those of `cells` that are finished in the store of another experiment; return their number.

        The key of a cell identifies everything that determines its result, so both experiments give the same result.
        Trials, seconds and provenance are copied as well; the column is that of this experiment.
        """
        names = [*_COLUMNS.split(), "trials"]
        taken = 0
        with _reader(folder) as db:
            for cell in cells:
                if db is None:
                    break
                found = db.execute(
                    f"SELECT {', '.join(names)} FROM cells WHERE key = ? AND status = 'done'", (cell.key,)
                ).fetchone()
                if found is None:
                    continue
                _, damaged = _rows(db, {cell.key})
                if damaged:
                    raise _damaged_rows(folder / files.STORE, damaged)
                values = dict(zip(names, found, strict=True))
                made_by = db.execute("SELECT content FROM provenance WHERE id = ?", (values["provenance"],)).fetchone()
                values["provenance"] = self.provenance_id(json.loads(made_by[0]))
                values["method"] = cell.method
                self._insert(values)
                taken += 1
        return taken

    def rows(self, keys: Iterable[str] | None = None) -> dict[str, StoredRow]:
        """Return the stored cells by key, without their trials; rows that are damaged are set aside, with a warning."""
        with files.file_errors(self.folder):
            found, damaged = _rows(self._db, keys)
            if damaged:
                self._set_rows_aside(damaged)
        return found

    def _set_rows_aside(self, damaged: Mapping[str, str]) -> None:
        """Move rows to the table `damaged`, so that their cells are run again."""
        self._db.execute("BEGIN")
        for key, why in damaged.items():
            for row in self._db.execute("SELECT * FROM cells WHERE key = ?", (key,)).fetchall():
                self._db.execute("INSERT INTO damaged VALUES (?, ?, ?)", (key, why, repr(row)))
            self._db.execute("DELETE FROM cells WHERE key = ?", (key,))
        self._db.execute("COMMIT")
        key, why = next(iter(damaged.items()))
        warnings.warn(
            f"{len(damaged)} of the cells in {self.path} are damaged (the first is {key[:16]}: {why}); they were set "
            "aside and are run again.",
            stacklevel=4,
        )


def read_rows(folder: Path, keys: Iterable[str] | None = None) -> dict[str, StoredRow]:
    """Return the stored cells of a results folder by key, without their trials, even during a run.

    Raises
    ------
    UsageError
        The store is damaged. It is not moved.
    """
    with _reader(folder) as db:
        found, damaged = _rows(db, keys) if db else ({}, {})
    if damaged:
        raise _damaged_rows(folder / files.STORE, damaged)
    return found


def _damaged_rows(path: Path, damaged: Mapping[str, str]) -> UsageError:
    key, why = next(iter(damaged.items()))
    return UsageError(
        f"the store {path} is damaged: {len(damaged)} of its cells are not as they were written (the first is "
        f"{key[:16]}: {why}). Run the experiment with that folder again, which sets these cells aside and computes "
        "them anew."
    )


def read_trials(folder: Path, key: str) -> dict[str, list[Any]]:
    """Return all trials of a cell by column, or {} if there are none."""
    with _reader(folder) as db:
        row = db.execute("SELECT trials FROM cells WHERE key = ?", (key,)).fetchone() if db else None
    return decode_trials(row[0]) if row else {}


def encode_trials(trials: Mapping[str, list[Any]]) -> bytes:
    """Return trials as compressed JSON, column by column."""
    return zlib.compress(_dumps(trials).encode(), 6) if trials else b""


def decode_trials(blob: bytes) -> dict[str, list[Any]]:
    """Return the trials in `blob`, see `encode_trials`; NaN becomes None."""
    if not blob:
        return {}
    try:
        text = zlib.decompressobj().decompress(blob, MOST_TRIALS)
        trials: dict[str, list[Any]] = json.loads(text)
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise UsageError("the trials of a cell are damaged; run the experiment again to compute them anew.") from error
    return trials


@contextlib.contextmanager
def _reader(folder: Path) -> Iterator[sqlite3.Connection | None]:
    path = folder / files.STORE
    try:
        there = path.stat()
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise UsageError(
            f"the store {path} cannot be read ({error.strerror}); check its permissions and links."
        ) from error
    if not stat.S_ISREG(there.st_mode):
        raise UsageError(f"{path} is not a file; remove it, or give another folder with --results.")
    if files.has_foreign_log(path):
        raise UsageError(
            f"{path}-wal is the log of another store, which would hide finished runs; remove it, or run the "
            "experiment, which renames it."
        )
    db = None
    try:
        db = files.connect_read_only(path)
        yield db
    except sqlite3.DatabaseError as error:
        if not files.means_damage(error):
            raise RunError(
                f"the store {path} cannot be read: {error}. Check its permissions and those of its folder."
            ) from None
        raise UsageError(
            f"the store {path} is damaged ({error}). Running its experiment on that folder (without "
            "--collect) renames the store and reports how to continue."
        ) from None
    finally:
        if db is not None:
            db.close()


def _rows(db: sqlite3.Connection, keys: Iterable[str] | None) -> tuple[dict[str, StoredRow], dict[str, str]]:
    """Return the rows by key, and what is wrong with those that are not as they were written."""
    wanted = None if keys is None else set(keys)
    made_by = dict(db.execute("SELECT id, content FROM provenance"))
    names = [*_COLUMNS.split(), "trials", "checksum"]
    found: dict[str, StoredRow] = {}
    damaged: dict[str, str] = {}
    for values in db.execute(f"SELECT {', '.join(names)} FROM cells"):
        row = dict(zip(names, values, strict=True))
        if wanted is not None and row["key"] not in wanted:
            continue
        try:
            found[row["key"]] = _checked(row, made_by)
        except Exception as error:  # anything may stand in a row
            why = str(error) if isinstance(error, DamagedRowError) else "it cannot be read"
            damaged[str(row["key"])] = why
    return found, damaged


def _checked(row: dict[str, Any], made_by: Mapping[int, str]) -> StoredRow:
    """Return a row of the table as a `StoredRow`; raise any error if it is not as it was written."""
    content = made_by.get(row["provenance"], "{}")
    if row.pop("checksum") != checksum(row, content):
        raise DamagedRowError("its checksum is another one")
    del row["trials"]
    row.update({name: json.loads(row[name]) for name in _JSON})
    row["provenance"] = json.loads(content)
    row["declared"] = row.pop("settings")
    check_row(row)
    return cast(StoredRow, row)


def _dumps(value: Any) -> str:
    return json.dumps(json_values(value), separators=(",", ":"), allow_nan=False)
