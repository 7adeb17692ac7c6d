"""The protocol classtering: which rows are labeled, tested and compared; and the sets it is run on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from pucli.core.errors import UsageError
from pucli.data.catalogue.mixtures import cake, embedded_gaussians, embedding, g50c, gaussian_grid, grid_centers, toes
from pucli.protocols.classtering import protocol
from pucli.protocols.steps import SplitRows
from pucli.report.protocol_parts import extras_of
from pucli.runner import Context, load_experiment, parse_experiment, plan

DECLARED = {
    "title": "labels",
    "protocol": "classtering",
    "data": {"names": ["iris"], "standardize": "train"},
    "split": {"scenario": "labels-per-class", "repeats": 6, "seed": 3},
    "options": {"task": "classification", "labels": [2, 8]},
    "methods": {"few": {"method": "classtering", "n_components": 3, "n_factors": 2}},
    "metrics": ["error"],
}


def experiment(**changes):
    options = {**DECLARED["options"], **changes.pop("options", {})}
    made = parse_experiment({**DECLARED, "options": options, **changes}, file="labels.yaml")
    made._name = "labels"
    return made


def prepared(cells):
    return [protocol.PROTOCOL.prepare(cell, Context()) for cell in cells]


def test_generated_sets_can_be_named_and_left_out():
    declared = load_experiment("classtering-clustering")
    named = {name: {cell.dataset for cell in plan(declared, "quick", datasets=[name])} for name in ("iris", "CAKE")}
    assert named == {"iris": {"iris"}, "CAKE": {"cake"}}
    assert {"iris", "cake", "toes"} < {cell.dataset for cell in plan(declared, "quick")}


def test_a_data_set_may_have_its_own_numbers_of_labels():
    own = plan(experiment(options={"labels_of": {"iris": [8]}}))
    assert [cell.key for cell in own] == [cell.key for cell in plan(experiment()) if cell.setting["labels"] == 8]
    with pytest.raises(UsageError, match=r"options\.labels_of: 'iris2' is none of iris"):
        plan(experiment(options={"labels_of": {"iris2": [8]}}))


@pytest.mark.slow
def test_the_curves_of_the_thesis_have_all_of_its_numbers_of_labels():
    for name, sets, numbers in (("clustering", 6, range(0, 100, 10)), ("classification", 6, [1, *range(10, 80, 10)])):
        cells = plan(load_experiment(f"classtering-{name}"), "ten")
        found = {}
        for cell in cells:
            found.setdefault(cell.dataset, set()).add(cell.setting["labels"])
        assert sum(labels == set(numbers) for labels in found.values()) == sets
        assert {cell.repeat for cell in cells} == set(range(10))


def test_folds_are_disjoint_and_test_rows_are_never_labeled():
    rows = prepared([cell for cell in plan(experiment()) if cell.setting["labels"] == 8][:5])
    assert sum(len(part.hidden.drawn()) for part in rows) == 150
    for part in rows:
        assert len(part.X_train) + len(part.hidden.drawn()) == 150
        np.testing.assert_array_equal(np.bincount(part.y_train[part.y_train >= 0]), [8, 8, 8])
        np.testing.assert_allclose(part.X_train.mean(axis=0), 0.0, atol=1e-12)


def test_larger_sets_of_labels_contain_the_smaller_ones():
    few, many = (prepared([cell for cell in plan(experiment()) if cell.setting["labels"] == n])[0] for n in (2, 8))
    np.testing.assert_array_equal(few.X_train, many.X_train)
    chosen = few.y_train >= 0
    np.testing.assert_array_equal(few.y_train[chosen], many.y_train[chosen])


def test_clustering_uses_all_rows_and_zero_labels_only_where_declared():
    made = experiment(
        options={"task": "clustering", "labels": [0, 4], "unsupervised": ["few"]},
        methods={**DECLARED["methods"], "other": {"method": "classtering", "n_components": 2}},
    )
    cells = plan(made)
    assert {cell.method for cell in cells if cell.setting["labels"] == 0} == {"few"}
    assert {cell.method for cell in cells if cell.setting["labels"] == 4} == {"few", "other"}
    rows = prepared(cells[:1])[0]
    assert len(rows.X_train) == len(rows.hidden.drawn()) == 150
    assert (rows.y_train == -1).all()


@pytest.mark.parametrize("task", ["clustering", "classification"])
def test_a_cell_measures_the_predictions_of_the_method(task):
    made = experiment(options={"task": task})
    cell = next(cell for cell in plan(made) if cell.setting["labels"] == 8)
    result = protocol.PROTOCOL.run_cell(cell, Context())
    assert result.metrics["nmi"] > 0.7
    assert result.metrics["n_components"] == 3.0
    assert ("error" in result.metrics) == (task == "classification")
    if task == "classification":
        assert result.metrics["error"] < 0.2
    assert np.isfinite(result.certificate["objective"])


@pytest.mark.slow
def test_grid_is_searched_on_labeled_rows_and_parameters_can_depend_on_the_set():
    made = experiment(
        methods={"few": {"method": "classtering", "n_factors": 2, "grid": {"n_components": [1, 3]}}},
        options={"per_dataset": {"iris": {"few": {"n_factors": 3}}}},
    )
    few, many = (next(cell for cell in plan(made) if cell.setting["labels"] == n) for n in (2, 8))
    assert protocol.PROTOCOL.run_cell(few, Context()).params["n_components"] == 1  # nothing to choose by
    chosen = protocol.PROTOCOL.run_cell(many, Context()).params
    assert chosen == {"n_factors": 3, "n_components": 3}


@pytest.mark.slow
def test_search_of_a_grid_hides_the_labels_of_held_out_rows(monkeypatch):
    rng = np.random.default_rng(0)
    given = np.where(np.arange(30) < 12, np.arange(30) % 2, -1)
    rows = SplitRows(rng.normal(size=(30, 2)), given)
    fits, fit = [], protocol._fit

    def spy(name, params, X, seen, seed):
        model, hidden = fit(name, params, X, seen, seed), np.flatnonzero(seen != given)
        np.testing.assert_array_equal(seen[hidden], -1)
        fits.append(hidden)

        def predict(held):
            np.testing.assert_array_equal(held, X[hidden])
            return np.zeros(len(held))

        model.predict = predict
        return model

    monkeypatch.setattr(protocol, "_fit", spy)
    grid = {"n_components": [1, 2]}
    protocol._searched({"name": "classtering", "params": {}, "grid": grid, "inner_folds": 3}, rows)
    assert [len(hidden) for hidden in fits] == [4] * 6
    np.testing.assert_array_equal(np.sort(np.concatenate(fits)), np.repeat(np.flatnonzero(given >= 0), 2))


@pytest.mark.slow
def test_figures_of_done_cells():
    made = experiment(options={"task": "clustering", "labels": [8]})
    cell = plan(made)[0]
    stored = {cell.key: vars(protocol.PROTOCOL.run_cell(cell, Context()))}
    names = [extra.path for extra in extras_of("classtering")(made, plan(made), stored)]
    assert names == ["figures/labels-iris"]


@pytest.mark.slow
def test_sets_that_can_be_drawn_are_mapped_with_their_classes():
    made = experiment(
        options={"task": "clustering", "labels": [3, 6], "generated": ["toes"]},
        methods={"k": {"method": "constrained-kmeans", "n_clusters": 5}, "spread": {"method": "label-spreading"}},
    )
    cells = [cell for cell in plan(made) if cell.dataset == "toes" and cell.repeat == 0]
    stored = {cell.key: vars(protocol.PROTOCOL.run_cell(cell, Context())) for cell in cells}
    assert all(len(row["details"]["X"]) == 1000 for row in stored.values())
    extras = extras_of("classtering")(made, cells, stored)
    assert [extra.path for extra in extras] == ["figures/labels-toes", "figures/map-toes"]
    assert [ax.get_title() for ax in extras[1].content.axes] == ["true classes", "k", "spread"]


def test_some_classes_and_rows_can_be_kept():
    kept = {"classes": {"iris": ["setosa", "virginica"]}, "rows": {"iris": 40}}
    rows = prepared(plan(experiment(options={"task": "clustering", **kept}))[:1])[0]
    assert rows.X_train.shape == (40, 4)
    np.testing.assert_array_equal(np.unique(rows.hidden.drawn()), [0, 1])
    with pytest.raises(UsageError, match="none of the classes"):
        prepared(plan(experiment(options={"classes": {"iris": ["rosa"]}}))[:1])


DECLARED_EXPERIMENTS = {
    "classtering-clustering": {"g50c", "cake", "toes", "iris", "mnist-t10k", "usmo-isolet"}
    | {"atom", "chainlink", "ring", "spiral"},
    "classtering-classification": {"g50c", "cake", "toes", "iris", "mnist-t10k", "usmo-isolet"},
    "pae-table-4.1": {"gaussian-grid"},
    "pae-table-4.2": {"embedded-gaussians"},
    "pae-table-4.3": {"mnist-t10k"},
    "pae-iterations-4.1": {"gaussian-grid"},
    "pae-long-4.1": {"gaussian-grid"},
    "pae-iterations-4.2": {"embedded-gaussians"},
    "pae-figures-4.4-4.5": {"mnist-t10k"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DECLARED_EXPERIMENTS)
def test_declared_experiments_can_be_planned(name):
    declared = load_experiment(name)
    full = plan(declared, "full")
    assert {cell.dataset for cell in full} == DECLARED_EXPERIMENTS[name]
    assert len(plan(declared, "smoke")) < len(plan(declared, "quick")) < len(full) or name.startswith("pae")
    if name.startswith("pae-table-4"):
        peers = {"CouGAN", "WGAN", "VAE", "AAE", "BiGAN", "VEEGAN", "AVB-AC"}
        assert {cell.method for cell in full} == {"PAE", *peers}
    if name in ("pae-table-4.1", "pae-table-4.2"):
        assert {cell.declared["options"]["iterations"] for cell in full} == {2_000_000}
        assert {cell.repeat for cell in full} == set(range(10))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": []}, "options.labels"),
        ({"tasks": 1}, "options.tasks"),
        ({"embed": {"wine": 2}}, "options.embed: 'wine'"),
        ({"rows": {"wine": 2}}, "options.rows: 'wine'"),
        ({"per_dataset": {"iris": {"none": {}}}}, "no such column"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(UsageError, match=message):
        plan(experiment(options=options))


def test_g50c_has_a_bayes_error_of_five_per_cent():
    X, y = g50c(np.random.default_rng(0), rows=20_000)
    wrong = np.mean((X.sum(axis=1) > 0) != (y > 0))
    assert wrong == pytest.approx(0.05, abs=0.005)
    assert X.shape == (20_000, 50)
    assert X[y > 0].std() == pytest.approx(1.0, abs=0.01)


def test_cake_is_a_disc_whose_opposite_quarters_agree():
    X, y = cake(np.random.default_rng(0), rows=4000)
    Z = X - [2.0, 1.0]
    assert np.hypot(*Z.T).max() <= 3.0
    assert np.mean(np.hypot(*Z.T) < 3.0 / np.sqrt(2.0)) == pytest.approx(0.5, abs=0.03)
    np.testing.assert_array_equal(y > 0, np.prod(Z, axis=1) < 0)


def test_toes_has_balanced_classes_of_two_and_three_groups():
    X, y = toes(np.random.default_rng(0), rows=600, sd=1e-6)
    assert (y > 0).sum() == 300
    assert [len(np.unique(np.round(X[y == label]), axis=0)) for label in (1, -1)] == [2, 3]


def test_grid_and_embedding_have_their_stated_densities():
    X, y = gaussian_grid(np.random.default_rng(0), rows=5000, spacing=10.5, sd=0.316)
    distance = X - grid_centers(10.5)[y]
    log_likelihood = norm.logpdf(distance, scale=0.316).sum(axis=1).mean() - np.log(25)
    assert log_likelihood == pytest.approx(-3.76, abs=0.05)
    rows, label = embedded_gaussians(np.random.default_rng(0), rows=300)
    centers, basis = embedding(5.0)
    np.testing.assert_allclose(basis @ basis.T, np.eye(10), atol=1e-12)
    inside = rows @ basis.T
    np.testing.assert_allclose(inside @ basis, rows, atol=1e-10)
    assert (inside - centers[label]).std() == pytest.approx(1.0, abs=0.05)
