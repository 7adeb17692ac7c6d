"""A method that predicts one class is flagged, whatever the protocol."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from pucli.protocols import steps
from pucli.protocols.classtering import protocol as classtering
from pucli.protocols.semi_supervised import protocol as semi_supervised
from pucli.protocols.usmo import protocol as usmo
from pucli.protocols.usmo_curves import protocol as usmo_curves
from pucli.runner import Context, parse_experiment, plan
from pucli.runner.cells import ONE_CLASS, protocol_names
from pucli.runner.execute import run_group
from tests.protocols.presence_only.test_protocol import DECLARED as SPECIES
from tests.protocols.presence_only.test_protocol import give_tables
from tests.protocols.pu_figures.test_protocol import FIELDS
from tests.protocols.test_hidden_labels import CASES, SPLIT, give, rows_of

PLAIN = {"one": {"method": "svc-naive"}}
# an experiment of each protocol that predicts, without tuning
EXPERIMENTS = {
    "pu": {**CASES["pu"].declared, "methods": PLAIN},
    "pu_benchmarks": {**CASES["pu_benchmarks"].declared, "methods": PLAIN},
    "pu_figures": {**FIELDS, "methods": {"one/linear": {"method": "svc-naive"}}},
    "semi_supervised": CASES["semi_supervised"].declared,
    "classtering": {**CASES["classtering"].declared, "methods": {"spread": {"method": "label-spreading"}}},
    "usmo": {
        "protocol": "usmo",
        "data": {"names": ["usmo-heart"], "standardize": "none"},
        "split": SPLIT,
        "methods": {"usmo": {"method": "usmo", "kernel": "linear"}},
    },
    "usmo_curves": CASES["usmo_curves"].declared,
    "presence_only": SPECIES,
}
# protocols whose cells have no predictions of classes
WITHOUT = {
    "adversarial_labels": "soft labels of single points",
    "class_prior": "class priors",
    "deep": "densities",
    "pu_ceiling": "the best score over a grid, as a diagnosis",
    "strict_improvement": "slopes of a line",
}


class Fixed:
    """A model whose predictions are given, with what the protocols ask of a model."""

    classes_: ClassVar = np.array([0, 1])
    objective_ = dual_gap_ = 0.0
    converged_ = True
    signs: Any = None

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return np.resize(self.signs, len(X)).astype(float)

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)

    def own_loss(self, X, y):
        return 0.0


def flags_of(monkeypatch, name, signs):
    """Return the flags of the cells of a protocol whose models predict these signs in turn."""
    model = type("Given", (Fixed,), {"signs": np.array(signs)})
    for module in (steps, classtering, semi_supervised, usmo, usmo_curves):
        monkeypatch.setattr(module, "make", lambda *_, **__: model())
    X, y = rows_of()
    for case in CASES.values():
        give(monkeypatch, case, X, y)
    monkeypatch.setattr(usmo, "read_rows", lambda *_: (X, y))
    give_tables(monkeypatch)
    cells = plan(parse_experiment({"title": "Constants", **EXPERIMENTS[name]}, file="constants.yaml"))
    found = [finished.result for cell in cells for finished in run_group([cell], Context())]
    assert found and {result.status for result in found} == {"done"}, [result.error for result in found]
    assert all(result.predictions is None for result in found)
    return [result.flags for result in found]


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.slow
def test_constant_predictions_are_flagged_and_others_are_not(monkeypatch, name):
    for signs in ([1], [-1]):
        assert all(ONE_CLASS in flags for flags in flags_of(monkeypatch, name, signs))
    assert not any(ONE_CLASS in flags for flags in flags_of(monkeypatch, name, [1, -1]))


def test_every_protocol_predicts_or_says_why_not():
    own = {name for name, package in protocol_names().items() if not package}
    assert {*EXPERIMENTS, *WITHOUT} == own and not EXPERIMENTS.keys() & WITHOUT
