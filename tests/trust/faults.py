"""Faults of the system and of the network: one line, the documented exit code, nothing half written."""

from __future__ import annotations

import contextlib
import http.server
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from pucli.core.errors import PucliError
from pucli.data.catalogue.download import fetch
from pucli.runner.store import Store
from tests.trust import preload, processes
from tests.trust.hostile_archives import toy_catalogue
from tests.trust.lines import Line

# Limits that the child sets on itself before it runs the command line.
_LIMITED = """import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from pucli.__main__ import main
import pucli.cli.main, pucli.models.fitting, pucli.data.rows.user_file, pandas, sklearn.pipeline
name, value = sys.argv[1:3]
resource.setrlimit(getattr(resource, name), (int(value), int(value)))
sys.argv = ["pucli", *sys.argv[3:]]
sys.exit(main())"""
# Bytes of address space, fewer than a command needs after its imports.
LITTLE_MEMORY = (300_000_000, 700_000_000)
# A clock that runs backwards by an hour at each look.
_CLOCK = """import time
_now, _looks = time.time, [0]
def _back():
    _looks[0] += 1
    return _now() - 3600.0 * _looks[0]
time.time = _back
"""


def lines(full: bool) -> list[Line]:
    """Return the lines of the system's faults and of the network's; `full` has a mirror that hangs."""
    with tempfile.TemporaryDirectory() as folder:
        return [_system(Path(folder)), _network(Path(folder), full)]


def _system(root: Path) -> Line:
    line = Line("faults of the system: one line, the documented exit code, the old file stands, a second run works")
    processes.write_table(root)
    processes.write_experiment(root)
    train = ["train", "--method", "blssvm", "--data", "rows.csv", "--label", "y", "-q", "--model"]
    (root / "m.model").write_bytes(b"old")
    (root / "file").write_bytes(b"")
    places = {"/proc/pucli/m.model": "a place that cannot be written", "file/m.model": "a file for a folder"}
    for place, what in {**places, "/dev/full": "a device", ".": "a folder for a file"}.items():
        line.count(what, _judged(_command([*train, place], root), {2}))
    line.count("no room for a file", _kept(root, _limited("RLIMIT_FSIZE", 1024, [*train, "m.model"], root), {1}))
    line.count("no file handles", _kept(root, _limited("RLIMIT_NOFILE", 4, [*train, "m.model"], root), {1, 2}))
    store = ["reproduce", "small.yaml", "-q", "--results"]
    line.count("no room for a store", _judged(_limited("RLIMIT_FSIZE", 8192, [*store, "r"], root), {1}))
    line.count("the store again", _judged(_command([*store, "r"], root), {0}))
    with _small_disk(root / "disk") as disk:
        if disk is not None:
            line.count("a full disk, model", _judged(_command([*train, "disk/m.model"], root, fill=disk), {1}))
            line.count("a full disk, store", _judged(_command([*store, "disk/r"], root, fill=disk), {1}))
            (disk / "filler").unlink(missing_ok=True)
            line.count("room again, model", _judged(_command([*train, "disk/m.model"], root), {0}))
            if subprocess.run(["mount", "-o", "remount,ro", str(disk)], capture_output=True).returncode == 0:
                line.count("a read-only disk, model", _judged(_command([*train, "disk/n.model"], root), {2}))
                line.count("a read-only disk, store", _judged(_command([*store, "disk/s"], root), {2}))
    _writes(line, root, train, store)
    for memory in LITTLE_MEMORY:
        outcome = _limited("RLIMIT_AS", memory, [*train, "m.model"], root)
        line.count(f"{memory / 1e6:.0f} MB of memory", _kept(root, outcome, {1}))
    line.count("a store that is in use", _held(root, [*store, "held"]))
    (root / "clock").mkdir()
    (root / "clock" / "sitecustomize.py").write_text(_CLOCK)
    package = str(Path(__file__).resolve().parents[2])
    clock = {"PYTHONPATH": os.pathsep.join([str(root / "clock"), package])}
    line.count(
        "a clock that runs back", _judged(processes.finished(processes.started([*store, "back"], root, clock)), {0})
    )
    return line


def _writes(line: Line, root: Path, train: list[str], store: list[str]) -> None:
    """Count writes that fail or end early, where a library can be preloaded."""
    library = preload.faulty_writes(root)
    if library is None:
        line.note = "no C compiler, so that no write was made to fail"
        return
    # the disk refuses the model before it is complete, and fails in the middle of a run
    kinds = (("writes that fail", "EIO", {2}, {1}), ("writes that end early", "short", {0}, {0}))
    for what, kind, of_model, of_store in kinds:
        faulty = preload.environment(library, kind, "n.model")
        (root / "n.model").write_bytes(b"old")
        problem = _judged(processes.finished(processes.started([*train, "n.model"], root, faulty)), of_model)
        if not problem and kind == "EIO" and (root / "n.model").read_bytes() != b"old":
            problem = "the old file is gone"
        line.count(f"{what}, model", problem or _judged(_command([*train, "n.model"], root), {0}))
        place = f"{kind}-store"
        faulty = preload.environment(library, kind, f"/{place}/")
        problem = _judged(processes.finished(processes.started([*store, place], root, faulty)), of_store)
        line.count(f"{what}, store", problem or _judged(_command([*store, place], root), {0}))


def _held(root: Path, words: list[str]) -> str:
    """Return what is wrong when a run starts on a store that another process holds."""
    with Store(root / words[-1] / "small"):
        second = _judged(_command(words, root), {2})
    return second or _judged(_command(words, root), {0})


def _command(words: list[str], root: Path, fill: Path | None = None) -> tuple[int, str]:
    """Run a command line, on a disk that is filled first if one is given."""
    if fill is not None:
        with contextlib.suppress(OSError), (fill / "filler").open("wb", buffering=0) as stream:
            while stream.write(b"x" * 1024):
                pass
    return processes.finished(processes.started(words, root))


def _limited(limit: str, value: int, words: list[str], root: Path) -> tuple[int, str]:
    """Run a command line under a limit of the system, set once everything is imported."""
    package = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, limit, str(value), *words],
        cwd=root,
        env={**os.environ, "PYTHONPATH": package, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=processes.PATIENCE,
    )
    return done.returncode, done.stderr


def _judged(outcome: tuple[int, str], codes: set[int]) -> str:
    code, err = outcome
    if code not in codes:
        return f"exit code {code}: {err[-250:]}"
    if code != 0 and ("Traceback" in err or "defect" in err or "pucli: " not in err):
        return f"not one clear line: {err[-250:]}"
    return ""


def _kept(root: Path, outcome: tuple[int, str], codes: set[int]) -> str:
    problem = _judged(outcome, codes)
    if not problem and (root / "m.model").read_bytes() != b"old":
        problem = "the old file is gone"
    if not problem and (left := [path.name for path in root.glob(".m.model*")]):
        problem = f"left behind: {left}"
    return problem


@contextmanager
def _small_disk(place: Path) -> Iterator[Path | None]:
    """Mount a disk of 256 KiB, None where that is not allowed."""
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], capture_output=True)
    if done.returncode != 0:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], capture_output=True)


_DATA = b"a,b,kind\n" + b"1,2,yes\n3,4,no\n" * 2000
Handler: TypeAlias = http.server.BaseHTTPRequestHandler
Reply: TypeAlias = Callable[[Handler, int], None]


def _network(root: Path, full: bool) -> Line:
    """Fetch from mirrors that misbehave: the right bytes come, or none, and a second fetch brings them."""
    line = Line("mirrors that misbehave: the right bytes or none, one line, and a second fetch brings them")
    (root / "datasets.yaml").write_text(toy_catalogue(_DATA))
    for name, (reply, comes) in {**_REPLIES, **(_SLOW if full else {})}.items():
        cache = root / "cache" / name.replace(" ", "-")
        problem = ""
        with _server(reply) as url:
            try:
                [found] = fetch("toy", mirror=url, cache=cache, catalogue=root / "datasets.yaml")
                if found.read_bytes() != _DATA:
                    problem = "other bytes in the cache"
            except PucliError as error:
                problem = f"nothing came: {error}"[:250] if comes else ""
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
        left = [path.name for path in cache.rglob("*") if path.is_file() and path.read_bytes() != _DATA]
        if not problem and left:
            problem = f"left behind: {left}"
        with _server(_good) as url:
            try:
                fetch("toy", mirror=url, cache=cache, catalogue=root / "datasets.yaml")
            except PucliError as error:
                problem = problem or f"the second fetch: {error}"[:250]
        line.count(name, problem)
    return line


@contextmanager
def _server(reply: Reply) -> Iterator[str]:
    asked = [0]

    class Answering(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked[0] += 1
            reply(self, asked[0])

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _send(handler: Handler, body: bytes, length: int | None = None, status: int = 200) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    handler.wfile.write(body)


def _good(handler: Handler, number: int) -> None:
    _send(handler, _DATA)


def _fails_first(handler: Handler, number: int) -> None:
    if number == 1:
        _send(handler, b"busy", status=500)
    else:
        _send(handler, _DATA)


def _redirect(handler: Handler, where: str) -> None:
    handler.send_response(302)
    handler.send_header("Location", where)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def _redirects_once(handler: Handler, number: int) -> None:
    if "again" in handler.path:
        _send(handler, _DATA)
    else:
        _redirect(handler, "/again/toy.csv")


def _hangs(handler: Handler, number: int) -> None:
    threading.Event().wait(60)


# What the mirror does -> its reply, and whether the data should come all the same.
_REPLIES: dict[str, tuple[Reply, bool]] = {
    "good": (_good, True),
    "500 then 200": (_fails_first, True),
    "redirects": (_redirects_once, True),
    "redirects to itself": (lambda handler, number: _redirect(handler, handler.path), False),
    "redirects to a file": (lambda handler, number: _redirect(handler, "file:///etc/passwd"), False),
    "claims a greater length": (lambda handler, number: _send(handler, _DATA, len(_DATA) + 100), False),
    "claims a smaller length": (lambda handler, number: _send(handler, _DATA, len(_DATA) - 100), False),
    "changes a byte": (lambda handler, number: _send(handler, b"b" + _DATA[1:]), False),
    "stops half way": (lambda handler, number: _send(handler, _DATA[: len(_DATA) // 2], len(_DATA)), False),
    "sends a page": (lambda handler, number: _send(handler, b"<html>log in</html>"), False),
    "sends nothing": (lambda handler, number: _send(handler, b""), False),
    "404": (lambda handler, number: _send(handler, b"no", status=404), False),
}
_SLOW: dict[str, tuple[Reply, bool]] = {"hangs": (_hangs, False)}
