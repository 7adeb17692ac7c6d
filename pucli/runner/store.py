"""The store of finished cells: one SQLite file (WAL mode) in the results folder, one writer, any number of readers.

Each cell is written in one transaction, so that only complete cells are stored even if the process is killed. The
writer holds an exclusive lock on a second SQLite file, `store.lock`, which the operating system releases when the
process ends.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, cast

from pucli.core.errors import RunError, UsageError
from pucli.core.json_values import json_values
from pucli.runner.cells import Cell, CellResult

STORE = "store.sqlite"
LOCK = "store.lock"
SCHEMA = 1

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
    finished TEXT NOT NULL          -- UTC
) WITHOUT ROWID;
"""
_JSON = ("setting", "settings", "params", "metrics", "certificate", "seconds", "notes", "flags", "details")
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
        self.path = folder / STORE
        with _file_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _take_lock(folder)
        try:
            with _file_errors(folder):
                self._db = self._open()
        except BaseException:
            self._lock.close()
            raise

    def _open(self) -> sqlite3.Connection:
        existed = self.path.exists()
        db = sqlite3.connect(self.path, isolation_level=None, timeout=30)
        try:
            complete = existed and _check(db, self.path)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            if not complete:
                db.executescript(f"BEGIN; {_TABLES} PRAGMA user_version={SCHEMA}; COMMIT;")
        except BaseException as error:
            db.close()
            if not (isinstance(error, sqlite3.DatabaseError) and _means_damage(error)):
                raise
            kept = _set_aside(self.path)
            raise UsageError(
                f"the store {self.path} is damaged ({error}). It was renamed to {kept.name} without changes. "
                "Run the same command again to start with an empty store, or put a good copy in its place first."
            ) from None
        return db

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

    def provenance_id(self, content: Mapping[str, Any]) -> int:
        """Store a provenance once and return its number."""
        text = json.dumps(content, sort_keys=True)
        with _file_errors(self.folder):
            self._db.execute("INSERT OR IGNORE INTO provenance(content) VALUES (?)", (text,))
            return int(self._db.execute("SELECT id FROM provenance WHERE content = ?", (text,)).fetchone()[0])

    def save(self, cell: Cell, result: CellResult, trials: bytes, provenance: int) -> None:
        """Write a finished cell in one transaction; a failed cell with the same key is replaced."""
        values = {
            "key": cell.key,
            "dataset": cell.dataset,
            "setting": _dumps(cell.setting),
            "repeat": cell.repeat,
            "method": cell.method,
            "settings": _dumps(cell.declared),
            "status": result.status,
            "params": _dumps(result.params),
            "metrics": _dumps(result.metrics),
            "certificate": _dumps(result.certificate),
            "seconds": _dumps(result.seconds),
            "n_fits": result.n_fits,
            "error": result.error,
            "notes": _dumps(result.notes),
            "flags": _dumps(result.flags),
            "details": _dumps(result.details),
            "trials": trials,
            "provenance": provenance,
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        with _file_errors(self.folder):
            self._db.execute(f"INSERT OR REPLACE INTO cells ({names}) VALUES ({marks})", tuple(values.values()))

    def adopt(self, folder: Path, cells: Iterable[Cell]) -> int:
        """Copy those of `cells` that are finished in the store of another experiment; return their number.

        The key of a cell identifies everything that determines its result, so both experiments give the same result.
        Trials, seconds and provenance are copied as well; the column is that of this experiment.
        """
        names = [*_COLUMNS.split(), "trials"]
        marks = ", ".join("?" * len(names))
        taken = 0
        with _reader(folder) as db, _file_errors(self.folder):
            for cell in cells:
                if db is None:
                    break
                found = db.execute(
                    f"SELECT {', '.join(names)} FROM cells WHERE key = ? AND status = 'done'", (cell.key,)
                ).fetchone()
                if found is None:
                    continue
                values = dict(zip(names, found, strict=True))
                made_by = db.execute("SELECT content FROM provenance WHERE id = ?", (values["provenance"],)).fetchone()
                values["provenance"] = self.provenance_id(json.loads(made_by[0]))
                values["method"] = cell.method
                self._db.execute(
                    f"INSERT OR REPLACE INTO cells ({', '.join(names)}) VALUES ({marks})", tuple(values.values())
                )
                taken += 1
        return taken

    def rows(self, keys: Iterable[str] | None = None) -> dict[str, StoredRow]:
        """Return the stored cells by key, without their trials."""
        with _file_errors(self.folder):
            return _rows(self._db, keys)


def read_rows(folder: Path, keys: Iterable[str] | None = None) -> dict[str, StoredRow]:
    """Return the stored cells of a results folder by key, without their trials, even during a run.

    Raises
    ------
    UsageError
        The store is damaged. It is not moved.
    """
    with _reader(folder) as db:
        return _rows(db, keys) if db else {}


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
    trials: dict[str, list[Any]] = json.loads(zlib.decompress(blob)) if blob else {}
    return trials


@contextlib.contextmanager
def _reader(folder: Path) -> Iterator[sqlite3.Connection | None]:
    path = folder / STORE
    if not path.exists():
        yield None
        return
    db = None
    try:
        db = _connect_read_only(path)
        yield db
    except sqlite3.DatabaseError as error:
        if not _means_damage(error):
            raise RunError(f"the store {path} cannot be read: {error}.") from None
        raise UsageError(
            f"the store {path} is damaged ({error}). Run the experiment without --collect, which renames "
            "the store and reports how to continue."
        ) from None
    finally:
        if db is not None:
            db.close()


def _connect_read_only(path: Path) -> sqlite3.Connection | None:
    """Return a connection, or None if a run has created the file but not yet its tables."""
    uri = path.resolve().as_uri()
    db = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=30)
    try:
        complete = _check(db, path)
    except sqlite3.OperationalError:
        # WAL needs a writable folder for its index; a closed store in a read-only folder can be read without it
        db.close()
        if path.with_name(f"{STORE}-wal").exists():
            raise
        db = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True)
        complete = _check(db, path)
    except BaseException:
        db.close()
        raise
    if not complete:
        db.close()
        return None
    return db


def _rows(db: sqlite3.Connection, keys: Iterable[str] | None) -> dict[str, StoredRow]:
    wanted = None if keys is None else set(keys)
    made_by = {number: json.loads(text) for number, text in db.execute("SELECT id, content FROM provenance")}
    names = _COLUMNS.split()
    found: dict[str, StoredRow] = {}
    for values in db.execute(f"SELECT {', '.join(names)} FROM cells"):
        row = dict(zip(names, values, strict=True))
        if wanted is None or row["key"] in wanted:
            row.update({name: json.loads(row[name]) for name in _JSON})
            row["provenance"] = made_by.get(row["provenance"], {})
            row["declared"] = row.pop("settings")
            found[row["key"]] = cast(StoredRow, row)
    return found


def _take_lock(folder: Path) -> sqlite3.Connection:
    lock = sqlite3.connect(folder / LOCK, isolation_level=None, timeout=0)
    try:
        lock.execute(
            "PRAGMA journal_mode=MEMORY"
        )  # nothing is ever written, so a killed process must not leave a journal
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        if "locked" not in str(error):
            raise
        raise UsageError(
            f"another run is writing to {folder}. Wait for it or stop it; `--collect` shows its results so far, "
            "and `--results DIR` runs in another folder."
        ) from None
    except sqlite3.DatabaseError:
        lock.close()
        raise UsageError(f"{folder / LOCK} is not a lock file of pucli; delete it and run again.") from None
    return lock


def _check(db: sqlite3.Connection, path: Path) -> bool:
    """Return whether the store has its tables; raise DatabaseError if it is damaged, UsageError for another version."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise sqlite3.DatabaseError(f"malformed: {verdict}")
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if version == 0 and not tables:
        return False  # created, but killed before the first transaction
    if version != SCHEMA:
        raise UsageError(
            f"{path} was written by another version of pucli (store format {version}; this version writes {SCHEMA}). "
            "Move it aside, or give another folder with --results."
        )
    if not {"cells", "provenance"} <= tables:
        raise sqlite3.DatabaseError("malformed: its tables are missing")
    return True


def _means_damage(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return str(error).startswith("malformed")
    return (code & 0xFF) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _set_aside(path: Path) -> Path:
    """Rename the store and its log to the first free `store.damaged-N.sqlite`."""
    number = 1
    while (kept := path.with_name(f"store.damaged-{number}.sqlite")).exists():
        number += 1
    for ending in ("-wal", "-shm", ""):
        source = path.with_name(path.name + ending)
        if source.exists():
            source.rename(kept.with_name(kept.name + ending))
    return kept


@contextlib.contextmanager
def _file_errors(folder: Path) -> Iterator[None]:
    """Turn errors of the file system into messages that name the folder and the remedy."""
    try:
        yield
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"{folder} is not a folder; give another folder with --results.") from None
    except OSError as error:
        raise UsageError(
            f"cannot write to the results folder {folder}: {error.strerror or error}; give another one with --results."
        ) from None
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            raise RunError(
                f"no space left while writing to {folder}. Finished cells are kept; free some space and run the same "
                "command again to continue."
            ) from None
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            raise UsageError(
                f"cannot write to the results folder {folder}: {error}; give another folder with --results."
            ) from None
        raise RunError(f"the store in {folder} cannot be written: {error}. The finished cells are kept.") from None


def _dumps(value: Any) -> str:
    return json.dumps(json_values(value), separators=(",", ":"), allow_nan=False)
