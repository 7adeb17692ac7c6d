"""Files of a store: its lock, its damage, logs of other stores, and errors of the file system."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pucli.core.errors import RunError, UsageError

STORE = "store.sqlite"
LOCK = "store.lock"
SCHEMA = 1
OWN_TABLES = {"cells", "provenance", "damaged"}


def identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one of the same name, None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def free_name(path: Path) -> Path:
    """Return a path that is not taken: `path`, or with the first free number."""
    number, found = 1, path
    while found.exists():
        number += 1
        found = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return found


def has_foreign_log(path: Path, *, writer: bool = False) -> bool:
    """Return whether the write-ahead log beside a store belongs to another one: with it, finished cells are missing.

    SQLite does not notice, and would write the pages of the log into the store. `writer` says that no other process
    writes, so that a store that cannot be read with its log was not copied in the middle of a transaction.
    """
    log = path.with_name(f"{path.name}-wal")
    try:
        if log.stat().st_size == 0:
            return False
        with tempfile.TemporaryDirectory() as folder:
            alone, both = Path(folder) / "alone", Path(folder) / "both"
            shutil.copyfile(path, alone)
            shutil.copyfile(path, both)
            shutil.copyfile(log, both.with_name("both-wal"))
            before = _keys(alone)
            after = _keys(both)
    except OSError:
        return False
    if not before:
        return False
    return writer if after is None else not before <= after


def _keys(path: Path) -> set[str] | None:
    """Return the keys of the finished cells of a store, None if it cannot be read."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA journal_mode")
            return {key for (key,) in db.execute("SELECT key FROM cells WHERE status = 'done'")}
    except sqlite3.DatabaseError:
        return None


def take_lock(folder: Path) -> sqlite3.Connection:
    """Return the lock of the only process that writes; raise UsageError if another one has it."""
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


def has_tables(db: sqlite3.Connection, path: Path) -> bool:
    """Return whether the store has its tables; raise DatabaseError if it is damaged, UsageError for another version."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise sqlite3.DatabaseError(f"malformed: {' '.join(str(verdict).split())}")
    parts = db.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    tables = {name for kind, name, _ in parts if kind == "table"}
    others = [
        f"{kind} {name!r:.60}"
        for kind, name, sql in parts
        if (sql is not None and kind != "table")
        or (kind == "table" and name not in OWN_TABLES)
        or (kind == "table" and not str(sql).upper().lstrip().startswith("CREATE TABLE"))
    ]
    if others:
        raise UsageError(
            f"{path} has the {others[0]}, which pucli does not write and which could change results; move the store "
            "aside, or give another folder with --results."
        )
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


def means_damage(error: sqlite3.Error) -> bool:
    """Return whether an error says that the file is damaged, not that it cannot be reached."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return str(error).startswith("malformed")
    return (code & 0xFF) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def set_aside(path: Path) -> Path:
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
def file_errors(folder: Path) -> Iterator[None]:
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
                f"no space left while writing to {folder}. Finished runs are kept; free some space and run the same "
                "command again to continue."
            ) from None
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            raise UsageError(
                f"cannot write to the results folder {folder}: {error}; give another folder with --results."
            ) from None
        raise RunError(f"the store in {folder} cannot be written: {error}. The finished runs are kept.") from None


def text_of(content: bytes) -> str:
    """Return the text of a cell; a byte that is no text is replaced, which the checksum of the row notices."""
    return content.decode("utf-8", errors="replace")


def connect_read_only(path: Path) -> sqlite3.Connection | None:
    """Return a connection, or None if a run has created the file but not yet its tables."""
    uri = path.resolve().as_uri()
    db = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=30)
    db.text_factory = text_of
    try:
        complete = has_tables(db, path)
    except sqlite3.OperationalError:
        # WAL needs a writable folder for its index; a closed store in a read-only folder can be read without it. In a
        # writable one a run may be writing, and SQLite must not take the file for one that never changes.
        db.close()
        if path.with_name(f"{STORE}-wal").exists() or os.access(path.parent, os.W_OK):
            raise
        db = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True)
        db.text_factory = text_of
        complete = has_tables(db, path)
    except BaseException:
        db.close()
        raise
    if not complete:
        db.close()
        return None
    return db
