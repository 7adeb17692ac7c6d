"""Is the ranking better than chance? The ranks of held-out known positives among the unlabeled rows, and their test.

The test is the rank-sum test of Mann and Whitney (1947). Held-out scores of pure noise exceed its null law: the folds
share their training rows, and the same rows choose parameters and weights. So the standardized rank sum is compared
with a normal law of larger mean and deviation (measured: docs/limits.md). It assumes nothing about the unlabeled rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from pucli.core.arrays import Floats, Ints
from pucli.metrics.ranking import auc

# Mean and standard deviation of the standardized rank sum where labels are independent of the columns.
MEAN, DEVIATION = 0.5, 1.3
# Shares of the unlabeled rows for which the known positives are counted.
SHARES = (0.01, 0.05, 0.1, 0.2)
# With a larger p-value the order may be chance.
LEVEL = 0.05
# With fewer known positives no figure is worth anything, and no row is flagged.
FEWEST = 5


@dataclass(frozen=True)
class FirstKnown:
    """How many held-out known positives rank among the first rows."""

    rows: int
    known: int


@dataclass(frozen=True)
class ChanceTest:
    """Ranks of held-out known positives among the unlabeled rows, and the p-value that the order is chance."""

    known: int
    unlabeled: int
    median_rank: float  # from 1; by chance half of the unlabeled rows
    first: list[FirstKnown]  # known positives among the first rows by held-out score
    p_value: float

    @property
    def words(self) -> str:
        """The result in one sentence."""
        few = [one for one in self.first if one.rows <= 0.11 * self.unlabeled]
        first = few[-1] if few else self.first[0]
        expected = self.known * first.rows / self.unlabeled
        by_chance = f"{expected:,.0f}" if expected >= 9.5 else f"{expected:.2g}"
        return (
            f"{'better than' if self.better else 'could be'} chance ({p_text(self.p_value)}): of {self.known:,} "
            f"held-out known positives {first.known:,} rank in the first {first.rows:,} (by chance {by_chance}); "
            f"median rank {self.median_rank:,.0f} of {self.unlabeled:,}"
        )

    @property
    def better(self) -> bool:
        """Whether chance alone is an unlikely cause of the ranks."""
        return self.known >= FEWEST and self.p_value <= LEVEL


def p_text(p_value: float) -> str:
    """Return a p-value in words.

    Examples
    --------
    >>> p_text(0.53), p_text(0.0042), p_text(1e-9)
    ('p = .53', 'p = .0042', 'p < .001')
    """
    return "p < .001" if p_value < 0.001 else f"p = {p_value:.2g}".replace("0.", ".")


def ranks_among(known: Floats, unlabeled: Floats) -> Ints:
    """Return the rank (p,) of each score among those of the unlabeled rows, from 1 for the highest; ties rank last."""
    return 1 + len(unlabeled) - np.searchsorted(np.sort(unlabeled), known, side="left")


def chance_test(known: Floats, unlabeled: Floats) -> ChanceTest:
    """Test whether held-out known positives (p,) rank above the unlabeled rows (u,) by more than chance."""
    p, u, ranks = len(known), len(unlabeled), ranks_among(known, unlabeled)
    z = (auc(known, unlabeled) - 0.5) / np.sqrt((p + u + 1) / (12.0 * p * u))
    counts = sorted({max(1, round(share * u)) for share in SHARES})
    first = [FirstKnown(rows, int(np.count_nonzero(ranks <= rows))) for rows in counts]
    return ChanceTest(p, u, float(np.median(ranks)), first, float(ndtr((MEAN - z) / DEVIATION)))
