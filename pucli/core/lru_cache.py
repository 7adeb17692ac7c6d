"""What was computed from rows, kept for further fits on the same rows, as in the search of a grid."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from pucli.core.arrays import Floats

Made = TypeVar("Made")
MOST_NUMBERS = 40_000_000  # 320 MB


class Kept:
    """Things made of rows, the least recently used ones given up when together they hold more than `most` numbers.

    What alone holds more is not kept. Several threads can use it.
    """

    def __init__(self, most: int = MOST_NUMBERS) -> None:
        self.most = most
        self._things: OrderedDict[tuple[Any, ...], tuple[int, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._things)

    def clear(self) -> None:
        """Give everything up."""
        with self._lock:
            self._things.clear()

    def get(self, what: tuple[Any, ...], X: Floats, numbers: int, make: Callable[[], Made]) -> Made:
        """Return what was kept under a name and rows, or make it and keep it.

        Parameters
        ----------
        what : tuple
            Its name, with everything but the rows on which it depends.
        X : ndarray of shape (n, d)
            The rows.
        numbers : int
            About how many numbers it holds.
        make : callable
            Makes it.
        """
        key = (*what, X.shape, hashlib.sha256(X.tobytes()).digest())
        with self._lock:
            size, found = self._things.pop(key, (0, None))
        if found is None:
            size, found = numbers, make()
        if size <= self.most:
            with self._lock:
                self._things[key] = size, found
                while sum(size for size, _ in self._things.values()) > self.most:
                    self._things.popitem(last=False)
        made: Made = found
        return made


KEPT = Kept()
