"""Values that only labelled rows have, although unlabeled positives should have them too."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pucli.data.columns.kinds import column_kinds
from pucli.data.columns.leakage import leaks

N, LABELLED = 800, 100


def table(share: float, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows of which a share of the labelled ones has a value, a number, a day and a word of their own."""
    rng = np.random.default_rng(seed)
    labelled = np.arange(N) < LABELLED
    own = labelled & (np.arange(N) < share * LABELLED)
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
    return frame, labelled


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_what_only_labelled_rows_have_is_named(share):
    frame, labelled = table(share)
    kinds = column_kinds(frame)
    assert leaks(frame, labelled, kinds) == {}
    found = leaks(frame, labelled, kinds, hidden=True)
    assert set(found) == {"channel", "contacts", "day", "letter"}
    assert f"is 'survey' in {100 * share:.0f} % of the labelled and in none of the 700 other rows" in found["channel"]


def test_what_some_unlabeled_rows_have_too_is_not():
    frame, labelled = table(0.5)
    frame.iloc[LABELLED : LABELLED + 20] = frame.iloc[:20].to_numpy()
    assert leaks(frame, labelled, column_kinds(frame), hidden=True) == {}


def test_few_other_rows_are_no_reason():
    frame, labelled = table(0.25)
    few = np.arange(N) < LABELLED + 80
    assert leaks(frame[few], labelled[few], column_kinds(frame[few]), hidden=True) == {}
