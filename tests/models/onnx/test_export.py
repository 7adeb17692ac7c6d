"""Models as ONNX files: in onnxruntime they say what `pucli predict` says, to 1e-6."""

from __future__ import annotations

import doctest
import gzip
import importlib.util
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from pucli import AutoPU
from pucli.core.errors import UsageError
from pucli.data.columns.encoder import TableEncoder
from pucli.methods import METHODS, make_estimator
from pucli.models.onnx import export
from pucli.models.onnx.columns import encoded
from pucli.models.onnx.ensemble import _category_trees, forest_trees
from pucli.models.onnx.export import exported
from pucli.models.onnx.graph import OnnxGraph
from pucli.models.prediction import _predicted
from pucli.models.saved import SavedModel, load_model, make_pipeline, save_model, saved_form
from pucli.solvers.ensemble.boosting.bags import BagKind, Boosted, fit_bags
from pucli.solvers.ensemble.boosting.categories import CategoryTrees, find_categories
from pucli.solvers.ensemble.forests import ForestKind, fit_forest
from pucli.solvers.ensemble.least_squares.linear import Linear
from pucli.solvers.ensemble.members import MEMBERS
from pucli.solvers.ensemble.trees import join, make_bins
from tests.models.saved_models.make import FOLDER, VARIANTS, new_rows, table, wide_table

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed; pip install -e '.[onnx]'")
pytest.importorskip("onnx", reason="onnx is not installed; pip install -e '.[onnx]'")

CLUSTERS = {"classtering", "label-spreading", "lds"}
EXPORTED = [
    name
    for name in [*METHODS, *VARIANTS]
    if METHODS[VARIANTS.get(name, (name,))[0]].kind in ("pu", "semi-supervised") and name not in CLUSTERS
]


def scored(found, frame):
    """Return the outputs of an ONNX file for the rows of a table, given as the documentation says."""
    session = onnxruntime.InferenceSession(found.content)
    feed = {}
    for one in session.get_inputs():
        text = one.type == "tensor(string)"
        cells = frame[one.name]
        feed[one.name] = cells.fillna("").astype(str).to_numpy(object) if text else cells.to_numpy(np.float64)
    return dict(zip(found.outputs, session.run(list(found.outputs), feed), strict=True))


def prepared(frame, dates=(), texts=()):
    """Return a table with dates as days and text without punctuation, as the documentation says."""
    frame = frame.copy()
    for name in dates:
        frame[name] = (pd.to_datetime(frame[name]) - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    for name in texts:
        frame[name] = frame[name].fillna("").str.lower().str.replace(r"\W+", " ", regex=True)
    return frame


def check(saved, frame, dates=(), texts=()):
    """An exported model says of the rows of a table what the model says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = _predicted(saved, saved.table_encoder.transform(frame), 0)
    found = scored(exported(saved), prepared(frame, dates, texts))
    assert set(found) == {"prediction", "score", "probability"} & set(expected)
    assert found.pop("prediction").tolist() == expected["prediction"].tolist()
    for name, values in found.items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-9, atol=1e-9, err_msg=name)


def committed(name, tmp_path):
    path = tmp_path / f"{name}.model"
    path.write_bytes(gzip.decompress((FOLDER / f"{name}.model.gz").read_bytes()))
    return load_model(path)


@pytest.mark.parametrize("name", EXPORTED)
def test_every_model_says_the_same(name, tmp_path):
    saved = committed(name, tmp_path)
    random = np.random.default_rng(0)
    if saved.encoder is not None and not saved.encoder.is_plain:
        check(saved, new_rows(wide_table()), dates=["since"])
        return
    frame = new_rows(table())
    check(saved, pd.concat([frame, frame + random.normal(size=frame.shape) * 3.0]))


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(EXPORTED)))
def test_other_models_are_refused_in_one_line(name, tmp_path):
    with pytest.raises(UsageError, match=f"a model of {name} ") as refused:
        exported(committed(name, tmp_path))
    assert "pucli predict" in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("upu", {"loss": "squared", "kernel": "rbf", "prior": 0.3}),
        ("usmo", {"kernel": "polynomial", "degree": 2, "prior": 0.3}),
        ("svc-naive", {"prior": 0.3, "width": 0.7}),
        ("glpual", {"threshold": 0.25}),
        ("laplacian-svm", {"kernel": "linear"}),
        ("mcpl", {"family": "gaussian-diagonal"}),
        ("mcpl", {"family": "gaussian-fixed"}),
        ("mcpl-qda", {"ridge": 0.1}),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_other_parameters(method, params):
    random = np.random.default_rng(1)
    X = random.normal(size=(90, 3)) + 1.5 * (np.arange(90) < 40)[:, None]
    y = np.where(np.arange(90) < 20, 1, 0)
    if METHODS[method].kind != "pu":
        y = np.where(np.arange(90) % 3 == 0, -1, (np.arange(90) < 40).astype(int))
    check(of_rows(method, params, X, y), pd.DataFrame(X * 2.0, columns=list("abc")))


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_counting_classes(family):
    random = np.random.default_rng(8)
    X = random.poisson(1.0 + 2.0 * (np.arange(90) < 40)[:, None], (90, 3)).astype(float)
    X = X if family == "poisson" else np.minimum(X, 1.0)
    y = np.where(np.arange(90) % 3 == 0, -1, (np.arange(90) < 40).astype(int))
    pipeline = make_pipeline(make_estimator("mcpl", family=family, pseudo_rows=1.0), standardize=False).fit(X, y)
    check(SavedModel(pipeline, "mcpl", list("abc")), pd.DataFrame(X, columns=list("abc")))


@pytest.mark.parametrize("method", ["mcpl-lda", "mcpl-qda", "laplacian-svm"])
def test_three_classes(method):
    random = np.random.default_rng(2)
    y = np.arange(90) % 3
    X = random.normal(size=(90, 3)) + y[:, None]
    saved = of_rows(method, {}, X, np.where(np.arange(90) % 5 == 0, -1, y))
    check(saved, pd.DataFrame(X, columns=list("abc")))


def of_rows(method, params, X, y):
    names = list("abcdefgh")[: X.shape[1]]
    return SavedModel(make_pipeline(make_estimator(method, **params), standardize=True).fit(X, y), method, names)


def cells(n, seed):
    """Return n rows with columns of every kind that a graph can encode."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 90, n).astype(float),
            "income": np.exp(random.normal(10.0, 1.0, n)),
            "job": random.choice(["cook", "nurse", "pilot", "Dr. Müller"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "rooms": random.choice(["1", "2", "3", "4+"], n),
            "member": random.choice(["yes", "no"], n),
            "asked": random.choice(["True", "False"], n),
            "ticked": random.choice(["x", ""], n),
            "note": [" ".join(random.choice(["good", "bad", "Room", "Essen, gut", "x"], 6)) for _ in range(n)],
            "since": pd.Timestamp("1959-11-30") + pd.to_timedelta(random.integers(0, 60_000_000, n), unit="min"),
        }
    )
    for name in ("age", "job", "member", "since", "note"):
        frame[name] = frame[name].mask(random.random(n) < 0.15)
    return frame


def test_cells_of_every_kind_are_encoded_alike():
    frame, new = cells(200, 0), cells(300, 1)
    new.loc[:3, "job"] = ["captain", " nurse", "NA", "3"]
    new.loc[:3, "member"] = ["YES", "No", "perhaps", ""]
    new.loc[:3, "note"] = ["", "!!", "Good-bad ROOM a good", None]
    new.loc[0, "since"] = pd.Timestamp("2024-02-29 23:59:59.999999")
    encoder = TableEncoder({"job": "category"}, max_categories=3).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = encoder.transform(new)
    graph = OnnxGraph()
    found, inputs = encoded(graph, encoder)
    assert [one.name for one in inputs] == list(new.columns)
    given = prepared(new.assign(job=new["job"].str.strip()), dates=["since"], texts=["note"])
    features = computed(graph, found, given)
    np.testing.assert_allclose(features, expected, rtol=1e-12, atol=1e-9)
    assert {"age is empty", "job=(other values)", "since hour sin", "note: good", "note is empty"} <= set(
        encoder.get_feature_names_out()
    )


def computed(graph, value, frame=None, **given):
    """Return a value of a graph."""
    import onnx

    model = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            "part",
            graph.inputs,
            [onnx.helper.make_tensor_value_info(value, onnx.TensorProto.DOUBLE, None)],
            graph.constants,
        ),
        opset_imports=[onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("ai.onnx.ml", 5)],
        ir_version=10,
    )
    session = onnxruntime.InferenceSession(model.SerializeToString())
    for one in session.get_inputs() if frame is not None else ():
        column = frame[one.name]
        given[one.name] = (
            column.fillna("").astype(str).to_numpy(object) if "string" in one.type else column.to_numpy(np.float64)
        )
    return session.run([value], given)[0]


def test_curves_are_those_of_numpy_at_every_knot_and_between():
    random = np.random.default_rng(3)
    knots = [np.array([1.5]), np.array([0.0, 0.0, 1.0, 1.0 + 2**-52]), np.sort(random.normal(size=1000))]
    values = [np.array([7.0]), np.array([1.0, 2.0, 3.0, 9.0]), random.normal(size=1000)]
    every = np.concatenate([*knots, random.normal(size=500), [-9.0, 9.0]])
    x = np.tile(np.sort(np.concatenate([every, np.nextafter(every, -9.0), np.nextafter(every, 9.0)]))[:, None], 3)
    graph = OnnxGraph()
    found = computed(graph, graph.interpolated(graph.input("x", 3), list(zip(knots, values, strict=True))), x=x)
    expected = np.column_stack([np.interp(x[:, k], knots[k], values[k]) for k in range(3)])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("grown", ["extra", "bags", "none"])
def test_trees_split_at_the_very_borders(grown):
    random = np.random.default_rng(4)
    X = np.column_stack([random.normal(size=(300, 2)), random.integers(0, 3, 300)])
    labeled = random.random(300) < 0.3 + 0.3 * (X[:, 0] > 0)
    bins = make_bins(X)
    if grown == "bags":
        grown_trees = Boosted(bins.of(X), labeled, np.zeros(3, bool), BagKind(), random).grow(10)
        forest = join([tree for tree, _ in grown_trees])
    else:
        folds = random.integers(0, 3, (1, 300)).astype(np.int8)
        kind = ForestKind(trees=20, least=5 if grown == "extra" else 299)
        forest = fit_forest(bins.of(X), labeled, folds, kind, random)[0].forest
    at = [np.resize(bins.borders[a:b], 300) for a, b in zip(bins.start[:-1], bins.start[1:], strict=True)]
    Z = np.vstack([X, np.column_stack(at), np.nextafter(np.column_stack(at), np.inf)])
    expected = forest.sum(bins.of(Z))
    trees, constant = forest_trees(forest, bins)
    if grown == "none":
        assert len(trees.roots) == 0
        np.testing.assert_allclose(expected, constant)
        return
    graph = OnnxGraph()
    found = computed(graph, graph.trees(graph.input("x", 3), trees, 1), x=Z)
    np.testing.assert_allclose(found[:, 0] + constant, expected, rtol=1e-12)


def test_distances_of_far_rows_keep_their_digits():
    random = np.random.default_rng(5)
    X = 1e6 + random.normal(size=(40, 3))
    graph = OnnxGraph()
    x = graph.input("x", 3)
    found = computed(graph, graph.distances(x, X[:7]), x=X)
    np.testing.assert_allclose(found, cdist(X, X[:7], "sqeuclidean"), rtol=1e-12)
    graph = OnnxGraph()
    found = computed(graph, graph.distances(graph.input("x", 3), X[:7], city_block=True), x=X)
    np.testing.assert_allclose(found, cdist(X, X[:7], "cityblock"), rtol=1e-12)


def test_columns_may_have_any_names():
    random = np.random.default_rng(9)
    X = random.normal(size=(60, 5)) + 2.0 * (np.arange(60) < 30)[:, None]
    names = ["x", "sum", "~3", "d e", "="]
    pipeline = make_pipeline(make_estimator("blssvm", kernel="rbf"), standardize=True).fit(X, np.arange(60) < 20)
    check(SavedModel(pipeline, "blssvm", names), pd.DataFrame(X, columns=names))


def test_unlabeled_rows_without_a_word_are_those_that_are_not_positive():
    X = np.random.default_rng(0).normal(size=(60, 2)) + 3 * (np.arange(60) < 20)[:, None]
    model = saved_form(AutoPU(members=MEMBERS[:1]).fit(X, np.where(np.arange(60) < 12, "yes", "")))
    session = onnxruntime.InferenceSession(exported(model).content)
    told = session.run(["prediction", "probability"], {name: X[:, j] for j, name in enumerate(model.feature_names)})
    assert set(told[0]) == {"yes", "not yes"}
    np.testing.assert_allclose(told[1], model.pipeline.predict_proba(X)[:, 1], atol=1e-6)


def test_columns_named_like_outputs_and_cells_that_cannot_be_filled():
    random = np.random.default_rng(6)
    X = random.normal(size=(60, 2)) + 2.0 * (np.arange(60) < 30)[:, None]
    y = (np.arange(60) < 20).astype(int)
    pipeline = make_pipeline(make_estimator("blssvm"), standardize=False).fit(X, y)
    found = exported(SavedModel(pipeline, "blssvm", ["score", "~1"]))
    assert list(found.outputs) == ["prediction", "output_score"]
    X[0, 1] = np.nan
    said = scored(found, pd.DataFrame(X, columns=["score", "~1"]))
    assert said["prediction"][0] == "" and np.isnan(said["output_score"][0])
    np.testing.assert_allclose(said["output_score"][1:], pipeline.decision_function(X[1:]))


def test_the_example_runs():
    result = doctest.testmod(export)
    assert result.attempted and not result.failed


def test_without_the_package_the_extra_is_named(monkeypatch, tmp_path):
    saved = committed("blssvm", tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'pucli\[onnx\]'"):
        exported(saved)


def test_a_model_beyond_the_bound_of_the_format_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(export, "LARGEST_FILE", 100)
    with pytest.raises(UsageError, match="max_rank"):
        exported(committed("glpual-rbf", tmp_path))


def test_the_same_model_gives_the_same_bytes(tmp_path):
    saved = committed("auto", tmp_path)
    assert exported(saved).content == exported(saved).content
    assert json.loads(json.dumps(exported(saved).outputs)) == {
        "prediction": "string",
        "score": "float64",
        "probability": "float64",
    }


@pytest.mark.parametrize("turned", [False, True])
def test_trees_divide_the_levels_of_categories_alike(turned):
    random = np.random.default_rng(6)
    level, other = random.integers(0, 7, 900), random.integers(0, 4, 900)
    X = np.column_stack([random.normal(size=900), np.eye(7)[level], np.eye(4)[other], random.random(900)])
    s = np.isin(level, [1, 2, 5]) & (X[:, 0] > 0.2) & (random.random(900) < 0.6)
    signs = np.where(np.arange(X.shape[1]) % 2 == turned, -1.0, 1.0)
    bins, categories = make_bins(X * signs), find_categories(X, signs)
    folds = np.stack([np.arange(900) % 5, np.arange(900) // 7 % 5]).astype(np.int8)
    model, _, _ = fit_bags(bins.of(X * signs), s, folds, BagKind(rounds=20), random, categories)
    assert categories.count == 2 and np.count_nonzero(model.levels) > 20
    new = np.vstack([X[:200], np.zeros((3, X.shape[1]))])
    graph = OnnxGraph()
    found = computed(graph, _category_trees(graph, model, bins, graph.input("x", X.shape[1])), x=new * signs)
    np.testing.assert_allclose(found[:, 0], model.score(bins.of(new * signs)), rtol=1e-12)


@pytest.mark.slow  # fits auto above the size from which it has bags and linear least squares
def test_a_wide_table_with_categories(tmp_path):
    random = np.random.default_rng(7)
    level = random.integers(0, 6, 900)
    X = np.column_stack([np.eye(6)[level], random.normal(size=(900, 300))])
    y = (np.isin(level, [1, 4]) & (X[:, 7] > 0.0) & (random.random(900) < 0.9)).astype(int)
    model = AutoPU(random_state=0).fit(X, y)
    kinds = {type(member.model) for member in model.ensemble_.members}
    assert {Linear, CategoryTrees} <= kinds
    saved = SavedModel(make_pipeline(model, standardize=False), "auto", [f"x{k}" for k in range(X.shape[1])])
    save_model(tmp_path / "wide.model", saved)
    np.testing.assert_array_equal(load_model(tmp_path / "wide.model").pipeline.predict(X), model.predict(X))
    check(saved, pd.DataFrame(X[:150], columns=[f"x{k}" for k in range(X.shape[1])]))
