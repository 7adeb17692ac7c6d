"""Thread-safe LRU cache, bounded by array size, for values that several fits compute from the same rows."""

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
    """Thread-safe LRU cache of values computed from rows, bounded by `most` numbers in all values together.

    A value that exceeds the bound alone is not kept.
    """

    def __init__(self, most: int = MOST_NUMBERS) -> None:
        self.most = most
        self._values: OrderedDict[tuple[Any, ...], tuple[int, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def clear(self) -> None:
        """Remove all values."""
        with self._lock:
            self._values.clear()

    def get(self, what: tuple[Any, ...], X: Floats, numbers: int, make: Callable[[], Made]) -> Made:
        """Return the value stored under a name and rows; compute and store it if there is none."""
        key = (*what, X.shape, hashlib.sha256(X.tobytes()).digest())
        with self._lock:
            size, found = self._values.pop(key, (0, None))
        if found is None:
            size, found = numbers, make()
        if size <= self.most:
            with self._lock:
                self._values[key] = size, found
                while sum(size for size, _ in self._values.values()) > self.most:
                    self._values.popitem(last=False)
        made: Made = found
        return made


KEPT = Kept()
