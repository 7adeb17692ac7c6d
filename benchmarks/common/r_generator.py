"""R's default random numbers: Mersenne Twister, inversion for `rnorm`, rejection for `sample` (R 3.6 and later).

A generator takes the numbers of `set.seed(seed)` in the order in which an R program draws them, so that what such a
program drew can be drawn again. The Mersenne Twister is numpy's; its first state, and what is made of its numbers, are
those of R (Matsumoto and Nishimura 1998; Wichura 1988, AS 241, for the quantiles of the normal distribution).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from pucli.core.arrays import Floats, Ints

STATES, SCRAMBLES = 624, 50
MULTIPLIER, TWO_TO_32 = 69069, 2**32
# What R takes for 2^-32, and the smallest number that a draw may be.
UNIT, SMALLEST = 2.3283064365386963e-10, 0.5 * 2.328306437080797e-10
# A normal number takes two draws: the first one's 27 bits, and the second one below them.
NORMAL_STEPS = 134_217_728


class RGenerator:
    """The generator after `set.seed(seed)`.

    Examples
    --------
    >>> RGenerator(42).uniform(3).round(7).tolist()
    [0.914806, 0.9370754, 0.2861395]
    """

    def __init__(self, seed: int) -> None:
        seed %= TWO_TO_32
        for _ in range(SCRAMBLES):
            seed = (MULTIPLIER * seed + 1) % TWO_TO_32
        state = []
        for _ in range(STATES + 1):
            seed = (MULTIPLIER * seed + 1) % TWO_TO_32
            state.append(seed)
        self._bits = np.random.MT19937()
        # the first number is R's place in the state, which starts at its end
        key = np.array(state[1:], dtype=np.uint32)
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": STATES}}

    def uniform(self, n: int) -> Floats:
        """Return runif(n)."""
        drawn: Floats = np.clip(self._bits.random_raw(n) * UNIT, SMALLEST, 1.0 - SMALLEST)
        return drawn

    def normal(self, n: int) -> Floats:
        """Return rnorm(n)."""
        pairs = self.uniform(2 * n).reshape(n, 2)
        drawn: Floats = ndtri((np.floor(NORMAL_STEPS * pairs[:, 0]) + pairs[:, 1]) / NORMAL_STEPS)
        return drawn

    def order(self, n: int, size: int | None = None) -> Ints:
        """Return sample(1:n, size) - 1; the default of `size` is n."""
        left = np.arange(n)
        drawn = np.empty(n if size is None else size, dtype=np.int64)
        for number in range(len(drawn)):
            place = self._below(n - number)
            drawn[number] = left[place]
            left[place] = left[n - number - 1]
        return drawn

    def _below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1: as many random bits as n - 1 has, until they are below n."""
        bits = (n - 1).bit_length()
        while True:
            value = 0
            for _ in range(0, bits + 1, 16):
                value = 65536 * value + int(self.uniform(1)[0] * 65536)
            if (value := value & ((1 << bits) - 1)) < n:
                return value
