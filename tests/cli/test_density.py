"""Densities and clusterings on the command line: training without labels, log-likelihoods, and what is refused."""

from __future__ import annotations

import importlib

import numpy as np
import pandas as pd
import pytest

from pucli.estimators import GaussianMCPL
from pucli.solvers.deep import require_torch


@pytest.fixture
def table(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 10.0, 0.1]
    pd.DataFrame(rows, columns=["a", "b", "c"]).to_csv(tmp_path / "rows.csv", index=False)
    return rows


def refused(result, *words):
    assert result.code == 2
    for word in words:
        assert word in result.err
    assert "Traceback" not in result.err


def test_a_density_is_trained_saved_and_applied(pucli, table):
    words = ("train", "--method", "gaussian-mixture", "--data", "rows.csv", "--model", "m.model")
    trained = pucli(*words, "--json")
    assert trained.code == 0, trained.err
    assert (trained.document["rows"], trained.document["features"]) == (60, 3)
    predictions = pucli("predict", "--model", "m.model", "--data", "rows.csv", "--json").document["predictions"]
    found = np.array([entry["log_likelihood"] for entry in predictions])
    # one Gaussian by maximum likelihood, written out in the units of the file
    centered = table - table.mean(axis=0)
    cov = np.cov(table.T, bias=True)
    square = np.einsum("nd,de,ne->n", centered, np.linalg.inv(cov), centered)
    expected = -0.5 * (square + np.linalg.slogdet(cov)[1] + 3 * np.log(2 * np.pi))
    np.testing.assert_allclose(found, expected, atol=1e-3)
    refused(pucli("evaluate", "--model", "m.model", "--data", "rows.csv", "--label", "a"), "density", "pucli predict")


@pytest.fixture
def incomplete(tmp_path):
    """Rows of three correlated features in unlike units; c is missing in the last 20 rows, b and c in the last 8."""
    rows = np.random.default_rng(1).multivariate_normal([5, 0, -1], [[1, 20, 0.1], [20, 900, 1], [0.1, 1, 0.04]], 60)
    rows[40:, 2] = np.nan
    rows[52:, 1] = np.nan
    return rows


def write(tmp_path, rows, name="rows.csv"):
    pd.DataFrame(rows, columns=["a", "b", "c"]).to_csv(tmp_path / name, index=False)


@pytest.mark.parametrize("standardize", [True, False])
def test_missing_cells_are_trained_on_and_filled_in(pucli, tmp_path, incomplete, standardize):
    write(tmp_path, incomplete)
    words = ("--method", "gaussian-mcpl", "--data", "rows.csv", *(() if standardize else ("--raw",)))
    document = pucli("train", *words, "--model", "m.model", "--json").document
    assert (document["missing_cells"], document["n_complete"], document["pattern"]) == (28, 40, "monotone")
    assert document["improvement"] > 0 and "whatever the missing entries are" in document["guarantee"]
    pattern = "28, in a monotone pattern; 40 of 60 rows are complete"
    assert pattern in pucli("train", *words).out
    found = pucli("predict", "--model", "m.model", "--data", "rows.csv", "--json").document["predictions"]
    filled = np.array([[row[name] for name in "abc"] for row in found])
    model = GaussianMCPL().fit(incomplete)
    np.testing.assert_allclose(filled, model.impute(incomplete), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose([row["log_likelihood"] for row in found], model.score_samples(incomplete), atol=1e-6)
    pucli("predict", "--model", "m.model", "--data", "rows.csv", "--out", "p.parquet")
    assert pd.read_parquet("p.parquet").to_dict("records") == found


def test_other_cells_are_left_out_if_missing_cells_are_not_nested(pucli, tmp_path, incomplete):
    incomplete[3, 0] = np.nan
    write(tmp_path, incomplete)
    done = pucli("train", "--method", "gaussian-mcpl", "--data", "rows.csv", "--model", "m.model")
    assert done.code == 0 and "not monotone: row 3 lacks columns" in done.err and "entries are left out" in done.err
    refused(pucli("train", "--method", "gaussian-mixture", "--data", "rows.csv"), "missing (empty or NaN)", "'a'")


def test_a_declared_set_holds_out_test_rows(pucli):
    words = ("train", "--method", "gaussian-mixture", "--dataset", "iris", "--json")
    one, two, other = (pucli(*words, "--seed", seed).document for seed in (1, 1, 2))
    assert (one["rows"], one["test"]["rows"]) == (105, 45)
    assert one["test"] == two["test"] != other["test"]


@pytest.mark.slow
def test_the_plummer_autoencoder_shows_progress_and_can_be_resumed(pucli, table):
    torch = pytest.importorskip("torch", reason="the extra [deep] is not installed: no torch")
    torch.set_num_threads(1)
    small = ("--param", "block=10", "--param", "batch_size=16", "--param", "checkpoint=run.pt")
    words = ("train", "--method", "pae", "--data", "rows.csv", "--model", "m.model", *small)
    first = pucli(*words, "--param", "n_iterations=20")
    assert first.code == 0, first.err
    assert "train pae 20/20" in first.err and "objective" in first.err
    resumed = pucli(*words, "--param", "n_iterations=30", "--json")
    assert resumed.document["n_iter"] == 30
    assert "report" not in resumed.document["params"]
    predictions = pucli("predict", "--model", "m.model", "--data", "rows.csv", "--json").document["predictions"]
    assert np.isfinite([entry["log_likelihood"] for entry in predictions]).all()


def test_the_error_without_torch_names_what_to_install(pucli, table, monkeypatch):
    find = importlib.import_module

    def absent(name, *package):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return find(name, *package)

    require_torch.cache_clear()
    monkeypatch.setattr(importlib, "import_module", absent)
    refused(pucli("train", "--method", "pae", "--data", "rows.csv"), "pip install 'pucli[deep]'")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--data", "rows.csv", "--label", "a"), "models a density without labels"),
        (("--data", "rows.csv", "--tune"), "models a density"),
        (("--data", "rows.csv", "--param", "n_components=100"), "cannot be trained"),
    ],
)
def test_errors_name_what_a_density_cannot_do(pucli, table, words, message):
    refused(pucli("train", "--method", "gaussian-mixture", *words), message)


def test_a_clustering_is_not_trained_to_predict_labels(pucli):
    refused(pucli("train", "--method", "constrained-kmeans", "--dataset", "iris"), "clusters", "ConstrainedKMeans")


@pytest.mark.slow
def test_a_bad_parameter_of_a_deep_model_is_named(pucli, table):
    pytest.importorskip("torch", reason="the extra [deep] is not installed: no torch")
    words = ("train", "--method", "pae", "--data", "rows.csv")
    refused(pucli(*words, "--param", "latent_dim=1.5"), "latent_dim")
    refused(pucli(*words, "--param", "device=foo"), "device")


@pytest.mark.slow
def test_a_list_of_numbers_can_be_set_from_the_shell(pucli, table):
    torch = pytest.importorskip("torch", reason="the extra [deep] is not installed: no torch")
    torch.set_num_threads(1)
    words = ("train", "--method", "pae", "--data", "rows.csv", "--param", "n_iterations=5", "--model", "m.model")
    for text, expected in (("8,4", [8, 4]), ("8", [8]), ("(8, 4,)", [8, 4])):
        found = pucli(*words, "--param", f"hidden={text}", "--param", "betas=0,0.9", "--json")
        assert found.code == 0, found.err
        assert (found.document["params"]["hidden"], found.document["params"]["betas"]) == (expected, [0, 0.9])
    assert pucli("predict", "--model", "m.model", "--data", "rows.csv").code == 0
    refused(pucli(*words, "--param", "hidden=8,x"), "hidden")


@pytest.mark.parametrize(
    ("blocks", "message"), [(0, "Nothing was written"), (2, "The checkpoint run.pt is kept; run the")]
)
@pytest.mark.slow
def test_ctrl_c_names_the_saved_checkpoint(pucli, table, tmp_path, monkeypatch, blocks, message):
    pytest.importorskip("torch", reason="the extra [deep] is not installed: no torch").set_num_threads(1)
    from pucli.solvers.deep.trainer import Trainer

    next_rows = Trainer.next_rows

    def interrupted(self):
        if self.progress.iteration == 10 * blocks + 5:
            raise KeyboardInterrupt
        return next_rows(self)

    words = ["train", "--method", "pae", "--data", "rows.csv", "--model", "m.model"]
    words += ["--param", "block=10", "--param", "n_iterations=40", "--param", "checkpoint=run.pt"]
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "next_rows", interrupted)
        stopped = pucli(*words)
    assert stopped.code == 130 and message in stopped.err
    assert (tmp_path / "run.pt").exists() == (blocks > 0)
    assert pucli(*words, "--json").document["n_iter"] == 40
