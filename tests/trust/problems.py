"""Generated problems: plain ones, and ones with the scales, offsets and degeneracies that break a solver."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pucli.core.arrays import Bools, Floats, Ints

KINDS = (
    "plain",
    "scale",
    "offset",
    "duplicates",
    "one labeled",
    "rank 1",
    "n < m",
    "constant",
    "far row",
    "weights",
    "all",
)
# Deviations to which a far row is moved.
FAR = 1e5


class Problem(NamedTuple):
    """The kind of a problem, rows X (n, m), which of them are labeled (n,), and weights by parameter.

    `own` (n,) has the weights of the rows themselves, None for one each.
    """

    kind: str
    X: Floats
    labeled: Bools
    weights: dict[str, float]
    own: Floats | None = None


def problem(
    rng: np.random.Generator, names: tuple[str, ...], rows: tuple[int, int] = (6, 40), features: int = 5
) -> Problem:
    """Return a problem with a number of rows in the interval `rows`, and a random weight for each of `names`.

    A "prior" lies between 0.05 and 0.95, a "width" within a factor of ten of the spread of the rows, and the others
    within one of ten of 1, or of a million of it where the kind is "weights" or "all".
    """
    n, m = int(rng.integers(*rows)), int(rng.integers(1, features + 1))
    kind = KINDS[int(rng.integers(0, len(KINDS)))]
    every = kind == "all"

    def has(name: str, chance: float = 0.3) -> bool:
        return kind == name or (every and bool(rng.random() < chance))

    if has("n < m") and features > 3:
        m = min(n + int(rng.integers(1, 20)), 60)
    labeled = np.zeros(n, bool)
    labeled[rng.permutation(n)[: 1 if kind == "one labeled" else int(rng.integers(1, n - 1))]] = True
    X = rng.normal(size=(n, m)) + np.outer(labeled, rng.normal(size=m))
    if has("duplicates"):
        X = X[rng.integers(0, max(n // 3, 1), n)]
    if has("rank 1"):
        X = np.outer(X[:, 0], rng.normal(size=m))
    if has("constant"):
        X[:, 0] = float(rng.integers(-3, 4))
    if has("far row"):
        X[int(rng.integers(0, n))] *= FAR
    if has("scale", 0.5):
        X = X * 10.0 ** float(rng.uniform(-30, 30))
    if has("offset"):
        X = X + np.abs(X).max() * 10.0 ** float(rng.uniform(0, 8))
    power = 6.0 if kind == "weights" or every else 1.0
    weights = {name: 10.0 ** float(rng.uniform(-power, power)) for name in names}
    if "prior" in weights:
        weights["prior"] = float(rng.uniform(0.05, 0.95))
    if "width" in weights:
        weights["width"] = 10.0 ** float(rng.uniform(-1, 1)) * (float(np.median(np.abs(X - X.mean(axis=0)))) or 1.0)
    return Problem(kind, X, labeled, weights)


def partly_labeled(rng: np.random.Generator, least: int | None = None, classes: int = 3) -> tuple[str, Floats, Ints]:
    """Return the kind of a problem, rows, and labels of two to `classes` classes, -1 for unlabeled rows.

    At least `least` rows of each class are labeled, None for two more than there are features.
    """
    task = problem(rng, ("prior",), (20, 50), 3)
    n, m = task.X.shape
    codes: Any = rng.integers(0, int(rng.integers(2, classes + 1)), n)
    y = np.where(rng.random(n) < 0.3, codes, -1)
    for k in np.unique(codes):
        y[np.flatnonzero(codes == k)[: m + 2 if least is None else least]] = k
    spread = np.ptp(task.X, axis=0) / 4
    return task.kind, task.X + codes[:, None] * spread * rng.normal(size=m), y
