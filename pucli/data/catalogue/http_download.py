"""Download of an address, bounded in size and time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

# Called with the file name, the bytes so far and the total bytes (None if unknown).
Progress = Callable[[str, int, int | None], None]

_TRIES = 3
_WAIT = 0.5  # seconds before the second try, doubled before each further try
_TIMEOUT = 30.0  # seconds without a response
_CHUNK = 2**16  # bytes
_SLOWEST = 2**13  # bytes per second on average, counted from _PATIENCE
_PATIENCE = 60.0  # seconds
_LONGEST = 3600.0  # seconds


def http_download(url: str, target: Path, name: str, largest: int, progress: Progress | None) -> str | None:
    """Download an address, with retries if they may help; return the problem, or None."""
    import requests

    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_WAIT * 2 ** (attempt - 1))
        try:
            _Arrival(url, target, name, largest, progress).wait()
        except _OutOfBounds as error:
            return str(error)
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else 0
            problem = f"HTTP {status}"
            if status < 500 and status != 429:
                return problem
        except requests.exceptions.SSLError as error:
            return f"no secure connection ({error})"
        except (requests.Timeout, requests.ConnectionError) as error:
            late = isinstance(error, requests.Timeout) or "timed out" in str(error)  # between two parts of the answer
            problem = f"no response within {_TIMEOUT:.0f} s" if late else "no connection"
        except (requests.RequestException, ValueError) as error:
            problem = f"{type(error).__name__}: {error}"
            if isinstance(error, ValueError):  # not a valid address, or not a valid answer
                return problem
        else:
            return None
    return f"{problem} ({_TRIES} tries)"


class _OutOfBounds(Exception):
    """A download is larger or slower than its limits."""


class _Arrival:
    """A download in a thread of its own, which can be given up at any time, also between two bytes of an answer.

    It is the file and the progress bar of pooch.
    """

    def __init__(self, url: str, target: Path, name: str, largest: int, progress: Progress | None) -> None:
        self.url, self.target, self.name, self.largest, self.progress = url, target, name, largest, progress
        self.size = self.total = 0
        self.error: BaseException | None = None
        self.given_up = False

    def wait(self) -> None:
        """Return when the file is complete; raise the error of the download, or _OutOfBounds if it is too slow."""
        # a daemon, so that a server that never ends does not keep the command from ending
        thread = threading.Thread(target=self._run, daemon=True)
        start = time.monotonic()
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.1)
                self._check_pace(time.monotonic() - start)
        finally:
            self.given_up = True
        if self.error is not None:
            raise self.error

    def _check_pace(self, seconds: float) -> None:
        if seconds > _LONGEST:
            raise _OutOfBounds(f"not complete after {_LONGEST:,.0f} s")
        if self.size < _SLOWEST * (seconds - _PATIENCE):
            raise _OutOfBounds(f"too slow: {self.size:,} bytes in {seconds:.0f} s")

    def _run(self) -> None:
        import pooch

        try:
            with self.target.open("wb") as self.output:
                pooch.HTTPDownloader(progressbar=self, timeout=_TIMEOUT, chunk_size=_CHUNK)(self.url, self, None)
        except BaseException as error:
            self.error = error

    def write(self, chunk: bytes) -> None:
        """Write a part of the answer, unless the whole is too large."""
        if self.given_up or max(self.total, self.size + len(chunk)) > self.largest:
            raise _OutOfBounds(f"larger than {self.largest:,} bytes")
        self.output.write(chunk)
        self.size += len(chunk)

    def update(self, _: int) -> None:
        """Tell the progress, in which pooch counts whole chunks."""
        if self.progress is not None:
            self.progress(self.name, min(self.size, self.total or self.size), self.total or None)

    def flush(self) -> None:
        """Do nothing: the file is flushed when it is closed."""

    reset = close = flush
