"""Held-out rows for methods that learn from no labels or from several classes."""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Ints
from pucli.core.errors import UsageError
from pucli.data.splits.scenarios import TRAIN


def held_out_rows(n: int, seed: int, repeat: int) -> tuple[Ints, Ints]:
    """Divide n rows at random into training and held-out rows."""
    order = np.random.default_rng([seed, repeat]).permutation(n)
    held = order[round(TRAIN * n) :]
    return np.sort(order[: n - len(held)]), np.sort(held)


def hidden_classes(
    classes: Ints, label_frequency: float, *, seed: int, repeat: int, unlabeled: int
) -> tuple[Ints, Ints, Ints]:
    """Split rows of several classes and hide the class of most training rows; both draws are stratified."""
    from sklearn.model_selection import train_test_split

    if not 0 < label_frequency < 1:
        raise UsageError(f"--label-frequency must be above 0 and below 1, not {label_frequency}.")
    random = np.random.RandomState(np.random.MT19937(np.random.SeedSequence([seed, repeat])))
    try:
        kept, test = train_test_split(np.arange(len(classes)), train_size=TRAIN, stratify=classes, random_state=random)
        labeled, _ = train_test_split(
            np.arange(len(kept)), train_size=label_frequency, stratify=classes[kept], random_state=random
        )
    except ValueError as error:
        raise UsageError(f"--label-frequency {label_frequency}: {error}") from error
    y = np.full(len(kept), unlabeled)
    y[labeled] = classes[kept][labeled]
    return kept, test, y
