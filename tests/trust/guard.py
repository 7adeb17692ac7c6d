"""Cases run one by one, each in its own process, which is watched and limited.

``python -m tests.trust.guard`` imports what commands need once, then reads one JSON document per line from
stdin: ``{"words", "folder", "seconds", "memory"}``. For each it forks, runs the command line in the folder, and replies
with ``{"code", "err", "seconds", "breaches"}``. A breach is a program that was started, a connection, or a file outside
the folder that was opened for writing or moved.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

FILE_SIZE = 2**30
# By the clock a case may take so many times its seconds, which are those of the processor.
PATIENCE = 8
_STARTS = {"os.system", "os.exec", "os.posix_spawn", "os.spawn", "subprocess.Popen", "os.fork", "socket.connect"}
_MOVES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod"}
_CALLS = {"eval", "exec", "system", "popen", "__import__"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Outcome(NamedTuple):
    """Outcome of a case: exit code (negative: the signal), stderr, seconds of the processor, and breaches."""

    code: int
    err: str
    seconds: float
    breaches: list[str]


class Guard:
    """The other end of the process that runs cases; a context manager."""

    def __init__(self, warm_up: Sequence[Sequence[str]] = (), folder: Path | None = None) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PUCLI_OFFLINE": "1",
        }
        environment.pop("PUCLI_DEBUG", None)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.trust.guard"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self._ask({"warm_up": [list(words) for words in warm_up], "folder": str(folder or Path.cwd())})

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def run(self, words: Sequence[str], folder: Path, *, seconds: float = 20.0, memory: int = 2**30) -> Outcome:
        """Run a command line in `folder`, with limits on seconds and on bytes beyond those of the imports."""
        found = self._ask({"words": list(words), "folder": str(folder), "seconds": seconds, "memory": memory})
        return Outcome(**found)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def _serve() -> None:
    replies = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    for line in sys.stdin:
        request = json.loads(line)
        if "warm_up" in request:
            os.chdir(request["folder"])
            for words in request["warm_up"]:
                _command(words)
            reply: dict[str, Any] = {}
        else:
            reply = _case(request)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def _case(request: dict[str, Any]) -> dict[str, Any]:
    """Run one case in its own process and wait for it."""
    folder = Path(request["folder"])
    breach_file, err_file = folder.with_name(f"{folder.name}.breaches"), folder.with_name(f"{folder.name}.err")
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        _child(request, folder, breach_file, err_file)
    status, used = signal.SIGKILL.value, None
    while time.perf_counter() - started < PATIENCE * request["seconds"]:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.002)
    else:
        os.kill(child, signal.SIGKILL)  # not waited for: the system may take long to take its memory back
        status, used = signal.SIGKILL.value, None
    seconds = used.ru_utime + used.ru_stime if used is not None else request["seconds"]
    breaches = breach_file.read_text().splitlines() if breach_file.exists() else []
    err = err_file.read_text(errors="replace") if err_file.exists() else ""
    for file in (breach_file, err_file):
        file.unlink(missing_ok=True)
    return {"code": os.waitstatus_to_exitcode(status), "err": err, "seconds": seconds, "breaches": breaches}


def _child(request: dict[str, Any], folder: Path, breach_file: Path, err_file: Path) -> None:
    """Run one case in the forked process; never returns."""
    code = 70
    try:
        os.chdir(folder)
        temporary = folder / ".tmp"
        temporary.mkdir(exist_ok=True)
        os.environ.update(TMPDIR=str(temporary), PUCLI_DATA_DIR=str(folder / "cache"))
        import tempfile

        tempfile.tempdir = str(temporary)
        out = os.open(err_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        note = os.open(breach_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(out, 2)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + request["memory"], size + request["memory"]))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
        seconds = int(request["seconds"]) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        sys.addaudithook(_hook(folder, note))
        code = _command(request["words"])
        sys.stderr.flush()
    except BaseException as error:
        os.write(2, f"escaped: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def _hook(folder: Path, note: int) -> Any:
    """Return an audit hook that writes breaches to the descriptor `note`."""
    inside = str(folder.resolve())
    allowed = ("/dev/null", "__pycache__", "/numba")

    def outside(place: object) -> bool:
        if isinstance(place, int) or place is None:
            return False
        path = os.path.abspath(os.fsdecode(place))  # type: ignore[arg-type]  # noqa: PTH100
        return not path.startswith(inside) and not any(part in path for part in allowed)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        breach = event in _STARTS
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING:
            breach = outside(arguments[0])
        elif event in _MOVES:
            breach = any(outside(place) for place in arguments if isinstance(place, (str, bytes, os.PathLike)))
        elif event == "pickle.find_class":
            breach = arguments[1] in _CALLS
        if breach:
            os.write(note, f"{event} {arguments!r}"[:300].replace("\n", " ").encode() + b"\n")

    return hook


def run_here(words: Sequence[str]) -> int:
    """Run a command line in this process, as its user would, and return the exit code."""
    return importlib.import_module("pucli.cli.main").main(words)  # by its name: the command line stands above


def _command(words: Sequence[str]) -> int:
    """Run a command line; ``!fetch CATALOGUE MIRROR NAME`` loads a data set through another catalogue."""
    if words[0] != "!fetch":
        return run_here(words)
    from pucli.core.errors import PucliError
    from pucli.data.catalogue.download import fetch

    try:
        fetch(words[3], mirror=words[2], catalogue=words[1], offline=True)
    except PucliError as error:
        print(f"pucli: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    _serve()
