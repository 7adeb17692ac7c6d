"""Random streams that depend on names, not on the order in which work is done."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def stream(seed: int, *keys: object) -> np.random.Generator:
    """Return the generator of one named piece of work.

    The stream is a function of `seed` and `keys` (any JSON values) alone: every cell of an experiment is
    independent of all others and of the number of workers.
    """
    return np.random.default_rng(np.random.SeedSequence(seed_words(seed, *keys)))


def seed_words(seed: int, *keys: object) -> list[int]:
    """Return eight 32-bit words that identify (`seed`, `keys`)."""
    text = json.dumps([seed, *keys], sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode()).digest()
    return [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 32, 4)]
