"""Figures 3.1, 3.4, 3.7, 3.8: real small runs from the command to the pictures, and what the cells keep for them."""

import numpy as np
import pytest
import yaml
from PIL import Image

from pucli.core.errors import UsageError
from pucli.data import load_dataset
from pucli.methods import make_estimator
from pucli.protocols.pu import protocol as pu
from pucli.protocols.pu_figures import protocol as pu_figures
from pucli.protocols.pu_figures import tsne_maps
from pucli.report.protocol_parts import extras_of
from pucli.runner import Context, load_experiment, parse_experiment, plan

METHODS = {
    "glpual/linear": {"method": "glpual", "grid": {"lam": [0.1, 10], "c_u": [0.1]}},
    "gllc/linear": {"method": "gllc", "grid": {"lam": [0.1, 10], "c_u": [0.1]}},
}
PANEL = {"data": "wine", "label_frequency": 0.5, "perplexity": 20}
MAPS = {
    "title": "Small maps",
    "protocol": "pu_figures",
    "data": {"names": ["wine"]},
    "split": {"scenario": "case-control", "label_frequencies": [0.5, 0.25], "repeats": 1, "seed": 3},
    "tuning": {"folds": 2},
    "options": {
        "maps": {
            "map": {"title": "classes", "panels": [PANEL], "labeled": False},
            "maps": {"title": "classes and labels", "panels": [PANEL]},
        }
    },
    "methods": METHODS,
    "comparisons": [],
}
FIELDS = {
    "title": "Small fields",
    "protocol": "pu_figures",
    "data": {"generate": "wang-two-gaussians", "parameters": {"mean_p2": [50]}, "standardize": "none"},
    "split": {"scenario": "single-training-set", "label_frequencies": [0.25], "repeats": 1, "seed": 3},
    "tuning": {"folds": 2},
    "options": {
        "grid": 15,
        "fields": {
            "all": {"title": "everywhere", "variant": "linear"},
            "near": {"title": "near the negatives", "variant": "linear", "window": [-30, 45]},
        },
    },
    "methods": METHODS,
    "metrics": ["f1", "crossing"],
    "comparisons": [],
}


def declared(content, **changes):
    made = parse_experiment({**content, **changes}, file="figures.yaml")
    made._name = "figures"
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "pictures", "texts"),
    [
        (MAPS, ["map", "maps", "maps-wrong"], ["maps.md"]),
        (FIELDS, ["all", "near"], []),
    ],
    ids=["maps", "fields"],
)
def test_reproduce_draws_the_figures_beside_the_table(pucli, tmp_path, content, pictures, texts):
    (tmp_path / "figures.yaml").write_text(yaml.safe_dump(content))
    done = pucli("reproduce", "figures.yaml", "--json")
    assert done.code == 0
    counts = done.document["report"]["cells"]
    assert counts["done"] == counts["total"] > 0
    folder = tmp_path / "results" / "figures"
    for name in pictures:
        (path,) = (folder / "figures").glob(f"{name}.*")
        if path.suffix == ".svg":
            assert path.read_text().count("<path") > 5  # not blank
            continue
        with Image.open(path) as image:
            assert len(np.unique(np.asarray(image.convert("RGB")).reshape(-1, 3), axis=0)) > 3  # not blank
    for name in [*texts, "table.md", "cells.csv.gz"]:
        assert (folder / name).stat().st_size > 0


@pytest.fixture(scope="module")
def maps():
    """The cells of `MAPS` and their results."""
    made = declared(MAPS)
    context = Context()
    return made, [(cell, pu_figures.PROTOCOL.run_cell(cell, context)) for cell in plan(made)]


@pytest.mark.slow
def test_only_the_rows_of_a_panel_are_run_and_they_score_as_in_the_table(maps):
    _, results = maps
    assert [(cell.setting["label_frequency"], cell.method) for cell, _ in results] == [
        (0.5, "glpual/linear"),
        (0.5, "gllc/linear"),
    ]
    plain = declared({key: value for key, value in MAPS.items() if key != "options"}, protocol="pu")
    table = {cell.method: cell for cell in plan(plain) if cell.setting["label_frequency"] == 0.5}
    for cell, result in results:
        scores = pu.PROTOCOL.run_cell(table[cell.method], Context())
        assert scores.metrics["f1"] == result.metrics["f1"] and scores.params == result.params
        assert cell.key != table[cell.method].key


@pytest.mark.slow
def test_a_map_has_every_row_once_with_its_true_class(maps):
    _, results = maps
    data = load_dataset("wine")
    for _, result in results:
        details = result.details
        y = np.array(details["classes"])
        assert len(details["points"]) == len(y) == len(data.y)
        assert np.sum(y == 1) == np.sum(data.y == 1)
        assert np.all(y[details["labeled"]] == 1)  # a labeled row is positive
        assert 0 <= details["same_class_neighbors"] <= 1 and details["kl_divergence"] > 0
        wrong = np.array(details["wrong"])
        tested = y[-len(wrong) :]
        tp, fp = np.sum((tested == 1) & (wrong == 0)), np.sum((tested == -1) & (wrong == 1))
        fn = np.sum((tested == 1) & (wrong == 1))
        assert np.isclose(result.metrics["f1"], 2 * tp / (2 * tp + fp + fn))
    assert results[0][1].details["points"] == results[1][1].details["points"]  # one map for all methods


def test_the_classes_on_the_map_belong_to_their_rows():
    """Rows of the two classes that lie far apart stay so on the map, which they would not with shuffled classes."""
    made = declared(MAPS)
    cell, context = plan(made)[0], Context()
    pu.PROTOCOL.run_cell(cell, context)
    rows = context.cache[cell.group]
    X, y = load_dataset("wine").X, load_dataset("wine").y
    train_y = rows.hidden_train.drawn()
    in_train, in_test = np.concatenate([train_y, rows.hidden.drawn()]), np.vstack([rows.X_train, rows.X_test])
    for label in (-1, 1):
        # standardization is one map of all rows: means of a class go to means of a class
        scaled = (X[y == label].mean(axis=0) - X.mean(axis=0)) / X.std(axis=0)
        mapped = in_test[in_train == label].mean(axis=0) - in_test.mean(axis=0)
        assert np.corrcoef(scaled, mapped)[0, 1] > 0.99


@pytest.mark.slow
def test_nothing_is_drawn_before_a_cell_is_done(maps):
    made, results = maps
    cells = [cell for cell, _ in results]
    assert tsne_maps.draw(made, []) == []
    one = {results[0][0].key: {**vars(results[0][1])}}
    assert [extra.path for extra in extras_of("pu_figures")(made, cells, one)] == [
        "figures/map",
        "figures/maps",
        "figures/maps-wrong",
        "maps.md",
    ]


def test_a_decision_field_is_the_sign_of_the_fitted_model():
    made = declared(FIELDS)
    context = Context()
    cell = plan(made)[0]
    result = pu_figures.PROTOCOL.run_cell(cell, context)
    rows = context.cache[cell.group]
    model = make_estimator("glpual", **result.params).fit(rows.X_train, rows.y_train)
    near = result.details["fields"][1]
    assert near["window"] == [-30, 45]
    axis = np.linspace(-30, 45, 15)
    for column, x in enumerate(axis):
        negative = model.decision_function(np.column_stack([np.full(15, x), axis])) <= 0
        np.testing.assert_array_equal(np.array(near["negative"])[:, column], negative)
    whole = result.details["fields"][0]["window"]
    assert whole[0] < rows.X_test.min() and rows.X_test.max() < whole[1]
    crossing = result.metrics["crossing"]
    assert abs(model.decision_function([[crossing, crossing]])[0]) < 0.2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"options": {}}, "either maps"),
        ({"options": {"maps": {"m": {"title": "t", "panels": []}}}}, "options.maps.m.panels"),
        ({"options": {"maps": {"m": {"title": "t", "panels": [{**PANEL, "data": "wifi"}]}}}}, "data sets are wine"),
        ({"options": {"maps": {"m": {"title": "t", "panels": [{**PANEL, "label_frequency": 0.1}]}}}}, "not in split"),
        (
            {"options": {"maps": {"m": {"title": "t", "panels": [PANEL, {**PANEL, "perplexity": 5}]}}}},
            "one perplexity",
        ),
        ({"options": FIELDS["options"]}, "standardize"),
    ],
)
def test_wrong_declarations(changes, message):
    with pytest.raises(UsageError, match=message):
        plan(declared(MAPS, **changes))


def test_a_field_needs_two_features():
    made = declared(FIELDS, data={"names": ["wine"], "standardize": "none"})
    with pytest.raises(UsageError, match="13 features"):
        pu_figures.PROTOCOL.run_cell(plan(made)[0], Context())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wang-figures", "wang-figure-3.4"])
def test_declared_figures_share_rows_and_tuning_with_their_table(name):
    made = load_experiment(name)
    table = load_experiment({"wang-figures": "table-3.3", "wang-figure-3.4": "table-3.1"}[name])
    of_table = {(c.dataset, str(c.setting), c.method, c.repeat): c.declared for c in plan(table)}
    cells = plan(made)
    assert len(cells) == 20
    for cell in cells:
        same = of_table[cell.dataset, str(cell.setting), cell.method, 0]
        for part in ("data", "split", "method"):
            assert cell.declared[part] == same[part]
    assert 0 < len(plan(made, "smoke")) < len(cells)
