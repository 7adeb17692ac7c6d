"""Copies of labeled rows are no evidence: `tune` keeps them in one fold and says so; experiments keep their folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pucli import tune
from pucli.core.errors import UsageError
from pucli.models.compare.tasks import own_task
from pucli.tuning.folds import copies_together

RNG = np.random.default_rng(0)
S = (np.arange(120) < 30).astype(int)
X = RNG.normal(size=(120, 4)) + 0.5 * S[:, None]
AGAIN = np.append(np.arange(120), np.tile(np.arange(30), 5))
HOW: dict[str, Any] = {"params": {"kernel": "rbf", "lam": 0.01}, "grid": {"width": [0.3, 3.0]}, "cv_repeats": 1}


@pytest.mark.slow
@pytest.mark.parametrize(("jitter", "times"), [(0.0, 6), (1e-6, 3)])
def test_a_narrow_kernel_is_not_chosen_because_it_remembers_copies(jitter: float, times: int) -> None:
    again = AGAIN[: 120 + 30 * (times - 1)]
    rows = X[again] + jitter * RNG.normal(size=(len(again), 4))
    apart = tune("blssvm", rows, S[again], **HOW, groups=None)
    together = tune("blssvm", rows, S[again], **HOW)
    assert apart.params["width"] == 0.3 and apart.score > 0.95
    assert together.params["width"] == 3.0 and together.score < 0.8
    assert together.notes[0].startswith(
        f"{30 * times} of {30 * times} labeled rows are copies of others, or nearly: copies"
    )
    assert not any("copies" in note for note in apart.notes)


@pytest.mark.slow
@pytest.mark.parametrize("values", [3, 1000])
def test_rows_that_are_equal_by_chance_are_no_copies(values: int) -> None:
    rows = np.floor(values * (RNG.random((300, 3)) ** np.where(np.arange(300) < 60, 0.5, 1.0)[:, None]))
    s = (np.arange(300) < 60).astype(int)
    found, plain = (tune("blssvm", rows, s, grid={"lam": [0.1, 1.0]}, groups=groups) for groups in ("copies", None))
    assert found.notes == plain.notes and found.score == plain.score and found.params == plain.params


@pytest.mark.slow
def test_too_few_different_rows_are_said() -> None:
    few = np.append(np.arange(30, 120), np.repeat(np.arange(3), 20))
    found = tune("blssvm", X[few], S[few], grid={"lam": [0.1, 1.0]})
    assert "too few are different to keep copies in one fold, so the score is too good" in found.notes[0]


def test_as_many_different_rows_as_folds_are_enough() -> None:
    rows = np.append(np.repeat(np.eye(3), 4, axis=0), 5.0 + RNG.normal(size=(12, 3)), axis=0)
    labeled = np.arange(24) < 12
    groups, notes = copies_together(rows, labeled, 3)
    assert groups is not None and "copies were kept in one fold" in notes[0]
    assert copies_together(rows, labeled, 4)[0] is None


def test_other_words_for_groups_are_refused() -> None:
    with pytest.raises(UsageError, match="groups='person': give the group of each row, 'copies' or None"):
        tune("blssvm", X, S, groups="person")


def test_a_comparison_on_a_file_keeps_copies_on_one_side(tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    lines = [",".join([*(f"{value:.6f}" for value in X[i]), str(S[i])]) for i in AGAIN.tolist()]
    path.write_text("a,b,c,d,y\n" + "\n".join(lines) + "\n")
    task = own_task(path, "y", "1", known=False)
    assert any("180 of 180 labeled rows are copies" in note for note in task.notes)
    assert task.groups is not None
    np.testing.assert_array_equal(task.groups[:30], task.groups[120:150])
