"""Learning curves and the examples of section 4.3 as experiments: cells, what they measure, what the report adds."""

import numpy as np
import pytest

import pucli.methods as methods
from pucli.core.errors import UsageError
from pucli.data import load_dataset
from pucli.protocols.adversarial_labels import protocol as adversarial_labels
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.semi_supervised import protocol as semi_supervised
from pucli.protocols.semi_supervised.report import curves_of, harm_markdown, harm_rows
from pucli.report.protocol_parts import extras_of
from pucli.runner import Context, load_experiment, parse_experiment, plan
from pucli.runner.profiles import scope

CURVES = {
    "title": "curves",
    "protocol": "semi_supervised",
    "data": {"names": ["wine"]},
    "split": {"scenario": "learning-curve", "repeats": 3, "seed": 1},
    "options": {"labeled": [12, 13], "unlabeled": [10, 40, 1000]},
    "methods": {
        "lda/supervised": {"method": "mcpl-lda", "ridge": 0.1},
        "lda/mcpl": {"method": "mcpl-lda", "ridge": 0.1},
        "lda/em": {"method": "em-lda", "ridge": 0.1},
        "lda/oracle": {"method": "mcpl-lda", "ridge": 0.1},
        "ls/supervised": {"method": "least-squares"},
        "ls/cpls": {"method": "cpls"},
    },
    "metrics": ["error"],
}


def experiment(**changes):
    made = parse_experiment({**CURVES, **changes}, file="curves.yaml")
    made._name = "curves"
    return made


@pytest.fixture(scope="module")
def stored():
    """The cells of `CURVES`, and what they gave, as the store would return it."""
    made = experiment()
    cells, context = plan(made), Context()
    results = {cell.key: semi_supervised.PROTOCOL.run_cell(cell, context) for cell in cells}
    return cells, {key: {**vars(result)} for key, result in results.items()}


def test_a_cell_is_a_method_and_a_repeat_and_groups_share_rows():
    cells = plan(experiment())
    assert len(cells) == 18 and len({cell.key for cell in cells}) == 18
    assert len({cell.group for cell in cells}) == 3
    assert [cell.declared["split"]["labeled"] for cell in cells[:3]] == [12, 13, 12]


def test_the_label_frequency_does_not_enter_a_cell():
    keys = [cell.key for cell in plan(experiment())]
    with_one = experiment(split={**CURVES["split"], "label_frequencies": [0.9]})
    assert [cell.key for cell in plan(with_one)] == keys


def test_the_safe_methods_are_never_worse_in_their_own_loss(stored):
    cells, rows = stored
    curves = curves_of(cells, rows)
    harm = {row["method"]: row for row in harm_rows(curves)}
    assert set(harm) == {"lda/mcpl", "lda/em", "lda/oracle", "ls/cpls"}
    for safe in ("lda/mcpl", "ls/cpls", "lda/oracle"):
        assert harm[safe]["worse_loss"] == 0
    for label in ("lda/mcpl", "ls/cpls"):
        for curve in curves["wine", label]:
            assert np.all(np.array(curve["loss_gain"]) >= np.array(curve["guaranteed_gain"]) - 1e-9)
            assert min(curve["guaranteed_gain"]) >= 0
    assert harm["lda/mcpl"]["fits"] == 9 and harm["lda/mcpl"]["repeats"] == 3
    text = harm_markdown(list(harm.values()))
    assert "lda/mcpl" in text and "0 (0.0 %)" in text


def test_oracle_is_the_best_and_supervised_is_its_own_reference(stored):
    cells, rows = stored
    for cell in cells:
        curve = rows[cell.key]["details"]["curve"]
        assert (
            curve["n_unlabeled"][:2] == [10, 40]
            and curve["n_unlabeled"][2] == 178 - 53 - cell.declared["split"]["labeled"]
        )
        if cell.method.endswith("supervised"):
            assert curve["loss_gain"] == [0.0] * 3 and curve["worse_error"] == [0.0] * 3
        if cell.method == "lda/mcpl":
            oracle = next(c for c in cells if c.method == "lda/oracle" and c.repeat == cell.repeat)
            assert np.all(np.array(rows[oracle.key]["details"]["curve"]["loss"]) <= np.array(curve["loss"]) + 1e-9)


def test_hidden_labels_are_not_seen(monkeypatch):
    """Only the oracle's fit changes when the unlabeled rows' labels do."""
    made = experiment()
    cells = [cell for cell in plan(made) if cell.repeat == 0]

    def fitted(cell, flip):
        context, seen = Context(), []
        context.cache[cell.group] = semi_supervised.PROTOCOL.prepare(cell, context)
        rows = context.cache[cell.group]
        if flip:
            rows.true_classes[rows.n_labeled :] = 1 - rows.true_classes[rows.n_labeled :]
        original = semi_supervised._fit
        monkeypatch.setattr(semi_supervised, "_fit", lambda *args: seen.append(original(*args)) or seen[-1])
        semi_supervised.PROTOCOL.run_cell(cell, context)
        monkeypatch.setattr(semi_supervised, "_fit", original)
        return seen[-1].decision_function(rows.X_test)

    for cell in cells:
        same = np.array_equal(fitted(cell, False), fitted(cell, True))
        assert same != cell.method.endswith("oracle")


def test_results_do_not_depend_on_the_order_of_cells(stored):
    cells, rows = stored
    context = Context()
    for cell in (cells[7], cells[1]):
        again = semi_supervised.PROTOCOL.run_cell(cell, context)
        np.testing.assert_equal(again.details, rows[cell.key]["details"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"options": {"unlabelled": [3]}}, "options.unlabelled"),
        ({"split": {**CURVES["split"], "scenario": "case-control"}}, "learning-curve"),
        ({"methods": {"lda/mcpl": {"method": "mcpl-lda"}}}, "lda/supervised"),
        ({"methods": {"lda": {"method": "mcpl-lda"}}}, "family/role"),
    ],
)
def test_wrong_declarations(changes, message):
    with pytest.raises(UsageError, match=message):
        plan(experiment(**changes))


def test_a_data_set_without_room_for_unlabeled_rows():
    made = experiment(options={"labeled": [170, 170]})
    with pytest.raises(UsageError, match="none is left to be unlabeled"):
        semi_supervised.PROTOCOL.run_cell(plan(made)[0], Context())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["safe-learning-curves", "safe-figures-4"])
def test_declared_experiments_load_and_plan(name):
    declared = load_experiment(name)
    for profile in declared.profiles:
        assert plan(declared, profile)
    assert extras_of(declared.protocol).__module__ == f"pucli.protocols.{declared.protocol}.report"
    assert all(entry.method in methods.METHODS for entry in declared.methods.values())


@pytest.mark.slow
def test_examples_of_section_4_3():
    made = load_experiment("safe-figures-4")
    cells = plan(made, "smoke")
    assert [(cell.setting["example"], cell.method) for cell in cells] == [
        (1, "unit"),
        (2, "unit"),
        (3, "fixed"),
        (3, "free"),
    ]
    rows = {}
    for cell in cells:
        result = adversarial_labels.PROTOCOL.run_cell(cell, Context())
        rows[cell.key] = {**vars(result)}
        assert result.metrics["least_improvement"] >= 0
        assert result.metrics["orthogonal_share"] == 1.0
        assert result.metrics["largest_posterior_change"] < 1e-3
        one = result.details["one"]
        assert result.metrics["least_soft_label"] == np.min(one["soft_labels"]) < np.max(one["soft_labels"])
        assert result.metrics["largest_gap"] >= np.max(one["gap"]) > 0
        contrast = np.array(one["contrast"])
        assert np.ptp(contrast, axis=1).max() < 1e-4  # CL is constant in the label of u
    middle = rows[cells[0].key]["details"]["one"]["soft_labels"][5]
    np.testing.assert_allclose(middle, 0.5, atol=1e-6)  # u = 0, by symmetry
    drawn = extras_of("adversarial_labels")(made, cells, rows)
    assert [extra.path.rsplit("-", 1)[1] for extra in drawn] == ["4.1", "4.2", "4.3", "4.4", "4.5", "4.6"]
    assert extras_of("adversarial_labels")(made, cells, {}) == []


def test_learning_curve_extras(stored):
    cells, rows = stored
    names = [extra.path for extra in extras_of("semi_supervised")(experiment(), cells, rows)]
    assert names == ["harm.md", "harm.csv", "figures/curves-wine"]
    assert scope(experiment(), "full").repeats == 3


def test_labeled_points():
    drawn = load_dataset("bertazzi-points", rng=np.random.default_rng(0), parameters={"example": 3})
    assert drawn.X[:, 0].tolist() == [-2.0, 1.0, -0.5, 3.0] and drawn.y.tolist() == [0, 0, 1, 1]
    with pytest.raises(UsageError, match="unknown example"):
        load_dataset("bertazzi-points", rng=np.random.default_rng(0), parameters={"example": 5})


class Constant:
    """Predicts one class; its own loss per row is the share of another class plus `extra`."""

    def __init__(self, label, extra=0.0):
        self.label, self.extra, self.improvement_ = label, extra, 2.0

    def predict(self, X):
        return np.full(len(X), self.label)

    def own_loss(self, X, y):
        return float(np.sum(y != self.label)) + self.extra * len(y)


def test_harm_is_that_of_a_model_to_its_supervised_one_on_all_rows_and_on_test_rows():
    rows = semi_supervised.CurveRows(
        np.zeros((6, 1)),
        X_test=np.zeros((4, 1)),
        hidden=HiddenLabels(np.array([1, 1, 1, 0])),
        true_classes=np.array([0, 0, 0, 0, 1, 1]),
        n_labeled=2,
    )
    zero, one = Constant(0), Constant(1)
    found = semi_supervised._measure(one, zero, rows, 6)
    assert (found["n_unlabeled"], found["error"], found["error_full"]) == (4, 0.25, 4 / 6)
    assert (found["worse_loss"], found["worse_error"], found["worse_test_error"]) == (1.0, 1.0, 0.0)
    assert found["loss"] == pytest.approx(4 / 6) and found["loss_gain"] == pytest.approx(-2 / 6)
    assert found["guaranteed_gain"] == pytest.approx(2.0 / 6)
    found = semi_supervised._measure(zero, one, rows, 6)
    assert (found["worse_loss"], found["worse_error"], found["worse_test_error"]) == (0.0, 0.0, 1.0)
    same = semi_supervised._measure(zero, zero, rows, 6)
    assert not any(same[name] for name in ("worse_loss", "worse_error", "worse_test_error", "guaranteed_gain"))
    assert semi_supervised._measure(Constant(0, 1e-3), zero, rows, 6)["worse_loss"] == 1.0
