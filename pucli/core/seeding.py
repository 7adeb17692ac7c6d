"""Random streams that depend on names instead of the order of execution."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def stream(seed: int, *keys: object) -> np.random.Generator:
    """Return the random number generator for a named task.

    The stream depends only on `seed` and `keys` (any JSON values), so every cell of an experiment is independent of all
    other cells and of the number of workers.
    """
    return np.random.default_rng(np.random.SeedSequence(seed_words(seed, *keys)))


def seed_words(seed: int, *keys: object) -> list[int]:
    """Return eight 32-bit words that identify (`seed`, `keys`)."""
    text = json.dumps([seed, *keys], sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode()).digest()
    return [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 32, 4)]
