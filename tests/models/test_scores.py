"""What a model says of rows is checked in one place, whatever the method."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.core.errors import UsageError
from pucli.models.scores import checked_scores, true_label_scores


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_number(value):
    scores = np.array([1.0, -2.0, value, 3.0])
    with pytest.raises(UsageError, match=r"1 of 4 rows no score .* row 13") as caught:
        checked_scores(scores, "score", 10)
    assert "\n" not in str(caught.value)
    assert checked_scores(scores[:2], "score").tolist() == [1.0, -2.0]


def test_a_probability_lies_between_0_and_1():
    rounded = checked_scores(np.array([1.0 + 2e-16, -1e-17, 0.5]), "probability", share=True)
    assert rounded.tolist() == [1.0, 0.0, 0.5]
    for wrong in (1.1, -0.2, np.nan):
        with pytest.raises(UsageError, match="no probability"):
            checked_scores(np.array([0.5, wrong]), "probability", share=True)


class _Wild:
    """A classifier whose scores overflow."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def decision_function(self, X):
        return X[:, 0] * 1e308

    def __getitem__(self, place):
        return self


def test_evaluate_refuses_them_too():
    y = np.array([0, 1, 0, 1])
    assert "f1" in true_label_scores(_Wild(), np.full((4, 1), 0.5), y)
    with np.errstate(over="ignore"), pytest.raises(UsageError, match="no score"):
        true_label_scores(_Wild(), np.full((4, 1), 1e10), y)


def test_label_spreading_with_rows_out_of_reach(pucli, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 40))
    lines = [",".join(map(str, row)) + f",{'p' if i < 4 else 'n' if i >= 10 else ''}" for i, row in enumerate(X)]
    (tmp_path / "few.csv").write_text(",".join(f"x{j}" for j in range(40)) + ",y\n" + "\n".join(lines) + "\n")
    words = ("--data", "few.csv", "--label", "y", "--model", "few.model", "-q")
    assert pucli("train", "--method", "label-spreading", *words).code == 0
    done = pucli("predict", "--model", "few.model", "--data", "few.csv")
    assert done.code == 2 and "no score that can be used" in done.err and done.out == ""
