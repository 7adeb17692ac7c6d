"""Fitting by name, and what a fitted model tells in the units of the rows."""

import importlib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from pucli.core.errors import UsageError
from pucli.data.columns.drift import ReferenceShares
from pucli.data.columns.encoder import TableEncoder
from pucli.data.rows.label_column import labeled_positives
from pucli.data.rows.training_rows import RowSource, TrainingRows, training_rows
from pucli.methods import METHODS, constructor_defaults
from pucli.metrics import pu_counts
from pucli.metrics.pu import proxy_accuracy
from pucli.models.fitting import estimator_of, fit, seeded
from pucli.models.scores import clusters, imputed, labeled_scores, log_density, true_label_scores
from pucli.tuning.paths.base import PathRoute


def pu_rows(X, s):
    return TrainingRows(X, s, [f"f{k}" for k in range(X.shape[1])], None, None, "unlabeled", {}, "rows")


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 50.0, 0.01] + [0.0, 7.0, 1.0]


def test_a_feature_that_is_constant_in_training_is_ignored(X):
    X[:, 1] = 3.0
    s = np.arange(60) < 20
    model = fit("glpual", {}, pu_rows(X, s.astype(int)), standardize=True).pipeline
    moved = X.copy()
    moved[:, 1] = np.linspace(-1000, 1000, 60)
    np.testing.assert_array_equal(model.decision_function(moved), model.decision_function(X))


@pytest.mark.parametrize(("denominator", "counted"), [("unlabeled", 25), ("all", 40)])
def test_known_negatives_are_counted_with_unlabeled_rows_only_in_a_single_training_set(X, denominator, counted):
    s, negative = (np.arange(60) < 20).astype(int), np.arange(60) >= 45
    X[negative] += 9.0
    encoder = TableEncoder.of_numbers(["f0", "f1", "f2"])
    rows = replace(pu_rows(X, s), encoder=encoder, negative=negative, denominator=denominator)
    saved = fit("auto", {}, rows, standardize=True).to_save()
    kept = np.arange(60) < 20 + counted
    assert saved.metadata["unlabeled"] == counted
    for found, expected in zip(encoder.usual_, ReferenceShares.of(X[kept], s[kept] == 0), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_methods_compute_on_sparse_rows_in_the_declared_form_and_in_no_other():
    X = csr_array(np.random.default_rng(0).normal(size=(60, 3)))
    for name, method in METHODS.items():
        if method.kind == "pu" and name != "auto":
            form = {key: 0.3 if value == "SHARE" else value for key, value in (method.sparse or {"prior": 0.3}).items()}
            form = {key: value for key, value in form.items() if key in constructor_defaults(method)}
            rows = pu_rows(X, (np.arange(60) < 20).astype(int))
            if method.sparse is None:
                with pytest.raises(UsageError, match="needs dense rows, and rows has 60 x 3 cells"):
                    fit(name, form, rows, standardize=False)
            else:
                assert fit(name, form, rows, standardize=False).estimator.decision_function(X).shape == (60,)


def test_every_declared_route_is_there():
    for method in METHODS.values():
        for path in filter(None, (method.path, method.features_path)):
            module, _, name = path.partition(":")
            assert issubclass(getattr(importlib.import_module(module), name), PathRoute), path


def test_only_random_methods_get_the_seed_and_a_given_seed_is_kept():
    assert seeded("glpual", {"lam": 1.0}, 7) == {"lam": 1.0}
    assert seeded("nnpu", {}, 7) == {"random_state": 7}
    assert seeded("nnpu", {"random_state": 1}, 7) == {"random_state": 1}


@pytest.mark.parametrize("standardize", [True, False])
def test_a_log_density_is_in_the_units_of_the_rows(X, standardize):
    rows = TrainingRows(X, None, ["a", "b", "c"], None, None, "all", {}, "rows")
    model = fit("gaussian-mixture", {}, rows, standardize=standardize).pipeline
    centered = X - X.mean(axis=0)
    cov = np.cov(X.T, bias=True)
    square = np.einsum("nd,de,ne->n", centered, np.linalg.inv(cov), centered)
    expected = -0.5 * (square + np.linalg.slogdet(cov)[1] + 3 * np.log(2 * np.pi))
    # the mixture adds 1e-6 to each variance, which raw rows feel
    np.testing.assert_allclose(log_density(model, X), expected, atol=1e-2 if standardize else 0.2)


def test_filling_does_not_change_present_cells(X):
    X[40:, 2] = np.nan
    rows = TrainingRows(X, None, ["a", "b", "c"], None, None, "all", {}, "rows")
    filled = imputed(fit("gaussian-mcpl", {}, rows, standardize=True).pipeline, X)
    there = ~np.isnan(X)
    np.testing.assert_array_equal(filled[there], X[there])
    assert np.isfinite(filled).all()


@pytest.mark.slow
def test_clusters_count_as_a_metric_where_a_model_has_them():
    X = np.repeat([[0.0, 0.0], [8.0, 8.0]], 30, axis=0) + np.random.default_rng(0).normal(size=(60, 2))
    y = np.repeat([0, 1], 30)
    rows = TrainingRows(X, np.where(np.arange(60) % 3, -1, y), ["a", "b"], None, None, "all", {}, "rows", unlabeled=-1)
    model = fit("classtering", {}, rows, standardize=True).pipeline
    assert len(clusters(model, X)) == 60
    assert true_label_scores(model, X, y)["nmi"] > 0.9


def test_an_unknown_method_names_the_nearest():
    with pytest.raises(UsageError, match="'glpual'"):
        estimator_of("glpul")


def test_rows_come_from_one_source(tmp_path):
    for source in (RowSource(), RowSource(dataset="wine", data=tmp_path / "rows.csv")):
        with pytest.raises(UsageError, match="either --dataset NAME"):
            training_rows("pu", source)


def test_a_file_is_read_once(tmp_path, monkeypatch):
    from pucli.data.files import tables as files
    from pucli.data.rows import tables

    path = tmp_path / "rows.csv"
    path.write_text("a,label\n" + "".join(f"{i},{'yes' if i % 3 else ''}\n" for i in range(12)))
    opened = []
    open_table = files.open_table
    monkeypatch.setattr(files, "open_table", lambda *a, **k: opened.append(a) or open_table(*a, **k))
    rows = training_rows("pu", RowSource(data=path, label="label", positive="yes"))
    assert len(opened) == 1
    assert rows.words == {"1": "yes", "0": "no"}
    assert rows.labeled.tolist() == [bool(i % 3) for i in range(12)]
    _, labels, _ = tables.read_labeled(path, label="label")
    y, *_ = labeled_positives(labels, "yes")
    assert y.tolist() == rows.y.tolist()


def test_a_file_of_numbers_is_read_to_the_bit_as_before_columns_had_kinds(tmp_path):
    from pucli.data import read_table

    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=(40, 3)), random.integers(0, 2, 40), np.full(40, 7.0)])
    np.savetxt(tmp_path / "rows.csv", np.column_stack([X, np.arange(40) % 3 == 0]), "%.17g", ",", header="a,b,c,d,e,y")
    (tmp_path / "rows.csv").write_text((tmp_path / "rows.csv").read_text().removeprefix("# "))
    rows = training_rows("pu", RowSource(data=tmp_path / "rows.csv", label="y"))
    old, _, names = read_table(tmp_path / "rows.csv", label="y")
    assert rows.feature_names == names
    assert np.array_equal(rows.X, old)
    assert rows.X.flags.c_contiguous == old.flags.c_contiguous


@pytest.mark.parametrize(("denominator", "prior"), [("unlabeled", 0.25), ("all", 0.4)])
def test_the_prior_of_a_model_is_that_of_the_rows_of_the_metric(denominator, prior):
    """An estimator has that of the unlabeled rows; in a single sample, the labeled ones are positives as well."""
    labeled, scores = np.arange(100) < 20, np.random.default_rng(0).normal(size=100)

    class Model(list):
        classes_ = np.array([0, 1])
        predict = staticmethod(lambda X: (scores > 0).astype(int))
        decision_function = staticmethod(lambda X: scores)

    found = labeled_scores(Model([SimpleNamespace(prior_=0.25)]), None, labeled, denominator)
    counts = pu_counts(labeled, scores > 0, True)
    assert found["proxy_accuracy"] == pytest.approx(proxy_accuracy(counts, denominator, prior))
