"""Random streams that depend on names instead of the order of execution."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from pucli.core.arrays import Bools, Ints


def stream(seed: int, *keys: object) -> np.random.Generator:
    """Return the random number generator for a named task.

    The stream depends only on `seed` and `keys` (any JSON values), so every cell of an experiment is independent of all
    other cells and of the number of workers.
    """
    return np.random.default_rng(np.random.SeedSequence(seed_sequence(seed, *keys)))


def seed_sequence(seed: int, *keys: object) -> list[int]:
    """Return eight 32-bit words that identify (`seed`, `keys`)."""
    text = json.dumps([seed, *keys], sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode()).digest()
    return [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 32, 4)]


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed for `stream` from a seed, a generator, which moves on, or None for a new one each time."""
    if not isinstance(random_state, np.random.RandomState):
        random_state = np.random.RandomState(random_state)
    return int(random_state.randint(2**31 - 1))


def sample_of_each_kind(
    labeled: Bools, rng: np.random.Generator, most_labeled: int, most_unlabeled: int | None = None
) -> Ints:
    """Return the numbers of a random sample of labeled and of unlabeled rows, in ascending order."""
    most = (most_labeled, most_labeled if most_unlabeled is None else most_unlabeled)
    kinds = (np.flatnonzero(labeled), np.flatnonzero(~labeled))
    return np.sort(np.concatenate([rng.permutation(rows)[:few] for rows, few in zip(kinds, most, strict=True)]))
