"""Model files hold every kind of model that a member of `auto` may have."""

from __future__ import annotations

import numpy as np
import pytest

from pucli import AutoPU
from pucli.models.saved import SavedModel, load_model, make_pipeline, save_model
from pucli.solvers.ensemble.members import MEDIUM, MEMBERS, SMALL, WIDE, members_for
from pucli.solvers.ensemble.screening import WIDE_COLUMNS


@pytest.mark.slow  # fits each member on a table of a size that has it
@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
def test_a_model_of_each_member_is_saved_and_loaded(member, categories, tmp_path):
    random = np.random.default_rng(0)
    n, m = member.above + 60, (WIDE_COLUMNS if member.wide else member.wider) + 8
    assert member in members_for(MEMBERS, n, m)
    level = random.integers(0, 5, n)
    X = np.column_stack(
        [np.eye(5)[level] if categories else random.normal(size=(n, 5)), random.normal(size=(n, m - 5))]
    )
    y = ((X[:, 0] + X[:, 6] > 0.5) & (np.arange(n) % 3 > 0)).astype(int)
    model = AutoPU(members=[member], random_state=0).fit(X, y)
    model.members = None
    names = [f"x{k}" for k in range(m)]
    save_model(tmp_path / "a.model", SavedModel(make_pipeline(model, standardize=False), "auto", names))
    loaded = load_model(tmp_path / "a.model").pipeline
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_every_size_of_table_has_members():
    sizes = [(n, m) for n in (SMALL, MEDIUM, MEDIUM + 1) for m in (WIDE, WIDE + 1, WIDE_COLUMNS + 1)]
    assert {member.name for n, m in sizes for member in members_for(MEMBERS, n, m)} == {one.name for one in MEMBERS}
