"""The labels that no method sees, in one object that takes predictions and gives metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import AnyArray
from pucli.metrics import classification_scores


class HiddenLabels:
    """True labels of the rows that a protocol scores; nothing else in `pucli.protocols` reads them.

    Parameters
    ----------
    y : array of shape (n,)
        The labels, in the order of the rows.
    """

    def __init__(self, y: AnyArray) -> None:
        self._y = y

    def classification(
        self,
        predictions: ArrayLike,
        decision: ArrayLike | None = None,
        *,
        probability: ArrayLike | None = None,
        also: Sequence[str] = (),
    ) -> dict[str, float]:
        """Return every registered metric of predicted classes in {-1, +1}, with scores and probabilities if given."""
        return classification_scores(self._y, predictions, decision, positive=1, probability=probability, also=also)

    def score(self, metric: Callable[..., float], *predicted: Any) -> float:
        """Return a metric, which is a function of the true labels and of what is predicted."""
        return float(metric(self._y, *predicted))

    def drawn(self, rows: AnyArray | slice = slice(None)) -> AnyArray:
        """Return the labels of the rows that a figure draws; they are stored after the method was scored."""
        return np.array(self._y[rows])
