"""An exact copy of a column is left out with a warning and changes no bit, and no order of columns or rows does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pucli import AutoPU
from pucli.estimators.auto.random_labeling import labeling_of
from pucli.solvers.ensemble.members import MEMBERS
from tests.solvers.ensemble.helpers import two_clouds

X, S, TRUTH = two_clouds(140, labeled=50)
FEW = MEMBERS[:2]


def table() -> pd.DataFrame:
    """Return columns of numbers, words, dates, flags and empty cells."""
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(town=np.resize(["Ulm", "Bonn", "Pisa"], len(X)))
    frame["since"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(X)) % 97, unit="D")
    frame["member"] = np.where(TRUTH & (X[:, 1] > 0), "yes", "no")
    frame.loc[::7, "b"] = np.nan
    return frame


@pytest.mark.slow  # two fits of the whole ensemble
def test_exact_copies_of_columns_change_no_bit() -> None:
    plain = AutoPU().fit(X, S)
    wide = np.hstack([X[:, :1], X])
    with pytest.warns(UserWarning, match=r"left out columns that are exact copies of others: 1 of 0\."):
        model = AutoPU().fit(wide, S)
    np.testing.assert_array_equal(model.held_out_, plain.held_out_)
    np.testing.assert_array_equal(model.decision_function(wide), plain.decision_function(X))
    assert model.n_features_in_ == X.shape[1] + 1 and model.estimates_ == plain.estimates_
    assert labeling_of(model, wide, S, 0).p_value == labeling_of(plain, X, S, 0).p_value


@pytest.mark.parametrize("name", table().columns)
def test_a_copy_in_a_table_is_named_whatever_its_kind(name: str) -> None:
    plain = AutoPU(members=FEW).fit(table(), S)
    with pytest.warns(UserWarning, match=f"'again' of '{name}'"):
        model = AutoPU(members=FEW).fit(table().assign(again=table()[name]), S)
    np.testing.assert_array_equal(model.held_out_, plain.held_out_)


@pytest.mark.slow  # two commands on a file
def test_the_command_leaves_copies_out_as_python_does(tmp_path: Path, pucli: Any) -> None:
    frame = table()
    for file, found in (("one.csv", frame), ("two.csv", frame.assign(**{f"{name}2": frame[name] for name in frame}))):
        found.assign(y=np.where(S, "yes", "")).to_csv(tmp_path / file, index=False)
        words = ["auto", str(tmp_path / file), "--label", "y", "--positive", "yes"]
        done = pucli(*words, "--scored", str(tmp_path / f"scored-{file}"))
        assert done.code == 0 and ("'a2' of 'a'" in done.err) == (file == "two.csv"), done.err
    one, two = (pd.read_csv(tmp_path / f"scored-{file}") for file in ("one.csv", "two.csv"))
    pd.testing.assert_frame_equal(one[["row", "score", "probability"]], two[["row", "score", "probability"]])


def test_levels_of_a_category_and_rare_numbers_are_kept() -> None:
    count = np.where(np.arange(len(X)) % 3, 0.0, X[:, 0])
    twice = np.column_stack([X, TRUTH, ~TRUTH, TRUTH, ~TRUTH, count, count]).astype(float)
    assert len(AutoPU(members=MEMBERS[:1]).fit(twice, S)._columns) == X.shape[1] + 6


@pytest.mark.slow  # four fits of the whole ensemble
def test_the_order_of_rows_moves_the_first_rows_less_than_another_seed() -> None:
    rows, labeled, _ = two_clouds(600, labeled=60, apart=1.5)
    order = np.random.default_rng(0).permutation(len(rows))

    def first(model: AutoPU, numbers: Any) -> set[int]:
        return set(numbers[model.ranking_.index[:50]].tolist())

    every = np.arange(len(rows))
    plain = first(AutoPU().fit(rows, labeled), every)
    assert first(AutoPU().fit(rows[order], labeled[order]), order) == plain
    assert min(len(plain & first(AutoPU(random_state=seed).fit(rows, labeled), every)) for seed in (1, 2)) < 50


@pytest.mark.slow  # two fits of the whole ensemble
def test_the_order_of_columns_of_a_table_changes_nothing_beyond_rounding() -> None:
    plain, turned = AutoPU().fit(table(), S), AutoPU().fit(table().iloc[:, ::-1], S)
    np.testing.assert_allclose(turned.held_out_, plain.held_out_, rtol=0, atol=1e-9)
