"""Members of the ensemble that an installed package adds."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from pucli.core import plug_ins
from pucli.estimators.auto.auto_pu import AutoPU
from pucli.estimators.auto.member_list import all_members
from pucli.solvers.ensemble.members import MEMBERS
from tests.helpers import add_distribution
from tests.solvers.ensemble.helpers import two_clouds

MODULE = """
from dataclasses import dataclass

import numpy as np

from pucli.solvers.ensemble.members import Member
from pucli.estimators.auto.member_list import OfferedMember


@dataclass
class Direction:
    weights: np.ndarray

    def score(self, X):
        return X @ self.weights


def fit(rows, rng):
    held_out = np.empty(len(rows.X))
    for b in np.unique(rows.folds[0]):
        kept = rows.folds[0] != b
        held_out[~kept] = between(rows.X[kept], rows.labeled[kept]).score(rows.X[~kept])
    return between(rows.X, rows.labeled), held_out, {"folds": int(rows.folds[0].max()) + 1}


def between(X, labeled):
    return Direction(X[labeled].mean(axis=0) - X[~labeled].mean(axis=0))


NEAREST = OfferedMember("nearest-mean", "raw", fit, saved_types=("mine_members.Direction",))
TAKEN = Member("extra-trees", "bins", fit)
"""


@pytest.fixture
def offered(tmp_path_factory, monkeypatch):
    """Install a package that offers two members, one of them with a name that is in use."""
    site = tmp_path_factory.mktemp("site")
    (site / "mine_members.py").write_text(MODULE)
    points = {"pucli.members": {"nearest": "mine_members:NEAREST", "taken": "mine_members:TAKEN"}}
    add_distribution(site, "mine-members", "1.0", points, monkeypatch)
    yield
    plug_ins.forget()
    sys.modules.pop("mine_members", None)


@pytest.mark.usefixtures("offered")
def test_an_offered_member_is_trained_shown_and_saved(tmp_path) -> None:
    with pytest.warns(UserWarning, match="'extra-trees' is already in use"):
        assert [member.name for member in all_members()] == [*(m.name for m in MEMBERS), "nearest-mean"]
    assert "mine_members.Direction" in AutoPU.saved_types
    X, s, _ = two_clouds(80, labeled=30)
    (mine,) = (member for member in all_members() if member.name == "nearest-mean")
    model = AutoPU(members=[MEMBERS[0], mine]).fit(X, s)
    line = next(line for line in model.leaderboard_ if line["name"] == "nearest-mean")
    assert line["parameters"] == {"folds": 5}
    assert line["pu_auc"] > 0.6
    from pucli.models.saved import SavedModel, load_model, make_pipeline, save_model

    pipeline = make_pipeline(AutoPU(members=None), standardize=False)
    pipeline.steps[-1] = (pipeline.steps[-1][0], model.set_params(members=None))
    save_model(tmp_path / "m.model", SavedModel(pipeline, "auto", ["a", "b", "c", "d"], {}))
    loaded = load_model(tmp_path / "m.model").pipeline[-1]
    np.testing.assert_array_equal(loaded.score_rows(X), model.score_rows(X))


def test_without_packages_the_members_are_our_own() -> None:
    assert all_members() == MEMBERS
