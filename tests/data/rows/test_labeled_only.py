"""Values that only labeled rows have, although unlabeled positives should have them too."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pucli.data.columns.kinds import column_kinds
from pucli.data.columns.leakage import leaks

N, LABELED = 800, 100


def table(share: float, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows of which a share of the labeled ones has a value, a number, a day and a word of their own."""
    rng = np.random.default_rng(seed)
    labeled = np.arange(N) < LABELED
    own = labeled & (np.arange(N) < share * LABELED)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, N) + 400 * own, unit="D")
    texts = [" ".join(rng.choice(["good", "poor", "old", "new", "red"], 6)) + " called" * int(mark) for mark in own]
    frame = pd.DataFrame(
        {
            "channel": np.where(own, "survey", rng.choice(["web", "shop"], N)),
            "contacts": rng.normal(size=N) + 20.0 * own,
            "day": day.strftime("%Y-%m-%d"),
            "letter": texts,
            "age": rng.integers(20, 80, N),
        }
    )
    return frame, labeled


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_what_only_labeled_rows_have_is_named(share):
    frame, labeled = table(share)
    kinds = column_kinds(frame)
    assert leaks(frame, labeled, kinds) == {}
    found = leaks(frame, labeled, kinds, hidden=True)
    assert set(found) == {"channel", "contacts", "day", "letter"}
    assert f"is 'survey' in {100 * share:.0f} % of the labeled and in none of the 700 other rows" in found["channel"]


def test_what_some_unlabeled_rows_have_too_is_not():
    frame, labeled = table(0.5)
    frame.iloc[LABELED : LABELED + 20] = frame.iloc[:20].to_numpy()
    assert leaks(frame, labeled, column_kinds(frame), hidden=True) == {}


def test_few_other_rows_are_no_reason():
    frame, labeled = table(0.25)
    few = np.arange(N) < LABELED + 80
    assert leaks(frame[few], labeled[few], column_kinds(frame[few]), hidden=True) == {}
