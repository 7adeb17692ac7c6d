"""Blocks computed by the workers of a Dask cluster.

Each task applies a function to the name of a block. If a worker is lost, other workers compute its tasks again.
Results are added up in groups, in the order of the blocks, so that the bits do not depend on the workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeVar

from pucli.core.processes import explained_lost_workers
from pucli.distributed.blocks import Block
from pucli.distributed.training import Mergeable

M = TypeVar("M", bound=Mergeable)
# Number of results that one task adds up, and number of lost workers that a task survives.
GROUP, RETRIES = 16, 5
OF_BLOCKS = ("block", "write the Parquet files with smaller row groups")


class DaskRunner:
    """Computes blocks on the workers of a client."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def total(self, function: Callable[[Block], M], blocks: Sequence[Block]) -> M:
        """Return the sum of the results."""
        with explained_lost_workers(*OF_BLOCKS):
            level = self.client.map(function, list(blocks), pure=False, retries=RETRIES)
            while len(level) > 1:
                groups = [level[a : a + GROUP] for a in range(0, len(level), GROUP)]
                level = [self.client.submit(_added, group, pure=False, retries=RETRIES) for group in groups]
            found: M = level[0].result()
            return found

    def each(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return the result for each item."""
        with explained_lost_workers(*OF_BLOCKS):
            found: list[Any] = self.client.gather(self.client.map(function, list(items), pure=False, retries=RETRIES))
            return found


def _added(parts: list[Any]) -> Any:
    return reduce(lambda found, part: found.plus(part), parts)
