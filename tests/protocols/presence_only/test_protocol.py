"""Models of presence-only records: blocks, folds, and a survey that only the metrics read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pucli.core.errors import UsageError
from pucli.data.catalogue.datasets import Dataset
from pucli.data.splits.groups import square_blocks
from pucli.metrics.classification import auc
from pucli.metrics.top import boyce
from pucli.protocols import steps
from pucli.protocols.presence_only import protocol as presence_only
from pucli.protocols.presence_only.protocol import ELSEWHERE, EVERYWHERE
from pucli.runner import Context, parse_experiment, plan
from pucli.runner.execute import run_group

DECLARED = {
    "title": "Two species",
    "protocol": "presence_only",
    "data": {"names": ["disdat-swi"]},
    "split": {"repeats": 1, "seed": 3},
    "options": {
        "species": ["oak", "ash"],
        "background": "tgb",
        "coordinates": ["x", "y"],
        "block_width": 10,
        "folds": 3,
    },
    "methods": {"svc": {"method": "svc-naive", "grid": {}}},
    "metrics": ["auc", "boyce"],
}
NAMES = ("x", "y", "warm", "wet")


def tables(seed: int = 0) -> dict[str, Dataset]:
    """A plain of 60 times 60: it is warm in the east, where oaks are, and wet in the north, where ashes are."""
    rng = np.random.default_rng(seed)

    def drawn(n: int):
        place = rng.uniform(0, 60, size=(n, 2))
        return np.hstack([place, place / 30 - 1 + rng.normal(scale=0.3, size=(n, 2))])

    def likely(X, species):
        return X[:, 2 if species == "oak" else 3] + rng.normal(scale=0.5, size=len(X)) > 0

    pool = drawn(400)
    records = {name: pool[likely(pool, name)][:60] for name in ("oak", "ash")}
    background, sites = drawn(150), drawn(200)
    X = np.vstack([records["oak"], records["ash"], background])
    y = np.repeat(["oak", "ash", "tgb"], [60, 60, 150])
    seen = np.column_stack([likely(sites, name) for name in ("oak", "ash")]).astype(float)
    number = np.arange(1000, 1200)
    return {
        "disdat-swi": Dataset("disdat-swi", X, y, NAMES, ""),
        "disdat-swi-sites": Dataset("disdat-swi-sites", sites, number, NAMES, ""),
        "disdat-swi-survey": Dataset("disdat-swi-survey", seen, number, ("oak", "ash"), ""),
    }


def give_tables(monkeypatch, **changed: Dataset) -> dict[str, Dataset]:
    """Let the protocol read these tables."""
    given = {**tables(), **changed}
    monkeypatch.setattr(presence_only, "read_dataset", lambda name, *_, **how: given[name])
    return given


def planned(**changes):
    return plan(parse_experiment({**DECLARED, **changes}, file="species.yaml"))


def test_each_species_is_tested_everywhere_and_in_blocks_that_its_model_has_not_seen(monkeypatch):
    given = give_tables(monkeypatch)
    cells = planned()
    assert [tuple(cell.setting.values()) for cell in cells] == [
        (name, tested) for name in ("oak", "ash") for tested in (EVERYWHERE, ELSEWHERE)
    ]
    assert [cell.n_fits for cell in cells] == [1, 3, 1, 3] and len({cell.key for cell in cells}) == 4
    of_sites = square_blocks(given["disdat-swi-sites"].X[:, :2], 10)
    for cell in cells:
        rows = presence_only.PROTOCOL.prepare(cell, Context())
        assert rows.X_train.shape == (210, 2) and rows.y_train.sum() == 60  # coordinates are no features
        assert np.array_equal(np.sort(np.concatenate([test for _, test in rows.folds])), np.arange(200))
        if cell.setting["tested"] == EVERYWHERE:
            assert len(rows.folds) == 1 and len(rows.folds[0][0]) == 210
            continue
        where = square_blocks(np.vstack([given["disdat-swi"].X, given["disdat-swi-sites"].X])[:, :2], 10)
        of_sites = where[-200:]
        for train, test in rows.folds:
            assert not set(rows.groups[train]) & set(of_sites[test])
            assert 0 < rows.y_train[train].sum() < 60


def test_auc_and_boyce_index_are_those_of_the_scores_of_all_sites(monkeypatch):
    given = give_tables(monkeypatch)
    scores = np.random.default_rng(1).permutation(200).astype(float)

    class Given:
        classes_ = np.array([0, 1])

        def fit(self, X, s):
            return self

        def decision_function(self, X):
            return scores[[np.flatnonzero((given["disdat-swi-sites"].X[:, 2:] == row).all(axis=1))[0] for row in X]]

        def predict(self, X):
            return (self.decision_function(X) > 100).astype(int)

    monkeypatch.setattr(steps, "make", lambda *_: Given())
    truth = np.where(given["disdat-swi-survey"].X[:, 0] == 1, 1, -1)
    for cell in planned(data={"names": ["disdat-swi"], "standardize": "none"})[:2]:
        metrics = presence_only.PROTOCOL.run_cell(cell, Context()).metrics
        assert metrics["auc"] == auc(truth, scores, 1) and metrics["boyce"] == boyce(truth, scores, 1)


def test_the_survey_changes_nothing_but_the_metrics(monkeypatch):
    given = give_tables(monkeypatch)
    cells = planned()
    first = [presence_only.PROTOCOL.prepare(cell, Context()) for cell in cells]
    metrics = [presence_only.PROTOCOL.run_cell(cell, Context()).metrics for cell in cells]
    survey = given["disdat-swi-survey"]
    give_tables(monkeypatch, **{"disdat-swi-survey": replace(survey, X=1 - survey.X)})
    for cell, rows, before in zip(cells, first, metrics, strict=True):
        other = presence_only.PROTOCOL.prepare(cell, Context())
        assert np.array_equal(rows.hidden.drawn(), -other.hidden.drawn())
        for one, two in zip(rows.folds, other.folds, strict=True):
            assert all(map(np.array_equal, one, two))
        assert presence_only.PROTOCOL.run_cell(cell, Context()).metrics["auc"] == pytest.approx(
            1 - before["auc"], abs=1e-12
        )
        assert before["auc"] > 0.7


def test_sites_of_a_block_without_records_or_background_are_predicted_once(monkeypatch):
    given = tables()
    sites = given["disdat-swi-sites"]
    X = sites.X.copy()
    X[:5, 0] += 500.0
    give_tables(monkeypatch, **{"disdat-swi-sites": replace(sites, X=X)})
    rows = presence_only.PROTOCOL.prepare(planned()[1], Context())
    assert np.array_equal(np.sort(np.concatenate([test for _, test in rows.folds])), np.arange(200))
    assert set(range(5)) <= set(rows.folds[0][1])


def test_groups_of_a_method_are_the_blocks(monkeypatch):
    give_tables(monkeypatch)
    seen = []

    class Grouped:
        classes_ = np.array([0, 1])

        def fit(self, X, s, groups):
            seen.append(groups)
            return self

        def decision_function(self, X):
            return X[:, 0]

        def predict(self, X):
            return (X[:, 0] > 0).astype(int)

    monkeypatch.setattr(steps, "make", lambda *_: Grouped())
    cell = planned()[0]
    presence_only.PROTOCOL.run_cell(cell, Context())
    assert np.array_equal(seen[0], presence_only.PROTOCOL.prepare(cell, Context()).groups)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": {"svc": {"method": "svc-naive", "grid": {"C": [1.0, 2.0]}}}}, "methods.svc.grid.*does not tune"),
        ({"split": {"repeats": 2, "seed": 1}}, "one repeat"),
        ({"options": {**DECLARED["options"], "specie": ["oak"]}}, "options.specie.*did you mean 'species'"),
    ],
)
def test_what_the_protocol_does_not_do_is_named(changes, message):
    with pytest.raises(UsageError, match=message):
        planned(**changes)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("species", ["elm"], "no row has the class 'elm'"),
        ("coordinates", ["x", "yy"], "unknown feature 'yy'"),
    ],
)
def test_a_wrong_name_is_named(monkeypatch, option, value, message):
    give_tables(monkeypatch)
    cell = planned(options={**DECLARED["options"], option: value})[0]
    (finished,) = run_group([cell], Context())
    assert finished.result.status == "failed" and message in finished.result.error


def test_tables_of_other_sites_are_refused(monkeypatch):
    survey = tables()["disdat-swi-survey"]
    give_tables(monkeypatch, **{"disdat-swi-survey": replace(survey, y=survey.y[::-1])})
    with pytest.raises(UsageError, match="needs the rows of disdat-swi-survey"):
        presence_only.PROTOCOL.prepare(planned()[0], Context())
