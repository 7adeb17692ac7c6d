"""The deep models: training, checkpoints, scores and bad input."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from pucli.estimators.density.plummer import VariationalAutoencoder
from tests.helpers import by_night
from tests.solvers.deep.helpers import DEEP_MODELS, rows, small

torch = pytest.importorskip("torch", reason="the extra [deep] is not installed: no torch")

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", by_night(sorted(DEEP_MODELS), ["pae"]))
def test_every_model_learns_where_the_rows_are(name):
    rng = np.random.default_rng(0)
    X = np.array([5.0, -3.0]) + 0.1 * rng.normal(size=(200, 2))
    model = small(DEEP_MODELS[name], n_iterations=600, learning_rate=3e-3, block=100).fit(X)
    np.testing.assert_allclose(model.sample(500, random_state=0).mean(axis=0), [5.0, -3.0], atol=1.5)
    assert model.n_iter_ == 600
    assert len(model.history_) == 6
    assert model.converged_


def test_training_lowers_the_objective_and_fills_the_prior():
    X = rows(256, 2)
    model = small(n_iterations=1500, learning_rate=2e-3, block=100, lam=1.0, batch_size=64, hidden=(32,)).fit(X)
    assert model.history_[-1] < 0.2 * model.history_[0]
    codes = model.transform(X)
    assert np.abs(codes).max() <= 1.0
    assert np.abs(codes.mean(axis=0)).max() < 0.2
    error = np.mean(np.sum((X - model.inverse_transform(codes)) ** 2, axis=1))
    assert error < 0.2 * X.var(axis=0).sum()


@pytest.mark.parametrize("name", by_night(sorted(DEEP_MODELS), ["pae", "wgan-gp"]))
def test_equal_seeds_give_equal_runs(name):
    X = rows()
    one, two, other = (small(DEEP_MODELS[name], random_state=seed).fit(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.history_, two.history_)
    np.testing.assert_array_equal(one.sample(5, random_state=0), two.sample(5, random_state=0))
    assert not np.array_equal(one.history_, other.history_)


def test_the_global_random_state_of_torch_is_not_changed():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    small().fit(rows())
    torch.testing.assert_close(torch.rand(3), expected)


@pytest.mark.parametrize("name", ["pae", "wgan-gp"])
def test_a_resumed_run_gives_the_result_of_an_uninterrupted_run(name, tmp_path):
    X = rows()
    estimator = DEEP_MODELS[name]
    whole = small(estimator).fit(X)
    file = tmp_path / "run.pt"
    small(estimator, checkpoint=file, report=lambda done, loss: done >= 40).fit(X)
    resumed = small(estimator, checkpoint=str(file)).fit(X)
    np.testing.assert_array_equal(resumed.history_, whole.history_)
    np.testing.assert_array_equal(resumed.sample(3, random_state=0), whole.sample(3, random_state=0))
    with pytest.raises(ValueError, match=r"run\.pt was written with other"):
        small(estimator, checkpoint=file, batch_size=8).fit(X)
    file.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"run\.pt is not a checkpoint of pucli; name another file"):
        small(estimator, checkpoint=file).fit(X)


def test_a_run_that_ends_inside_a_block_can_be_resumed(tmp_path):
    X = rows()
    whole = small().fit(X)
    small(checkpoint=tmp_path / "run.pt", n_iterations=33).fit(X)
    np.testing.assert_allclose(small(checkpoint=tmp_path / "run.pt").fit(X).history_, whole.history_, rtol=1e-6)


def test_patience_and_requests_stop_early():
    X = rows()
    patient = small(n_iterations=100_000, learning_rate=1e-12, patience=2).fit(X)
    assert patient.stopped_early_ and patient.converged_ and patient.n_iter_ < 100_000
    asked = small(n_iterations=1000, report=lambda done, loss: done == 40).fit(X)
    assert asked.n_iter_ == 40 and not asked.converged_


def test_fitted_models_need_no_torch(tmp_path):
    X = rows()
    model = small().fit(X)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    code = (
        "import pickle, sys, numpy as np\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        f"model = pickle.load(open({str(tmp_path / 'model.pkl')!r}, 'rb'))\n"
        "X = np.zeros((4, 3)); print(model.inverse_transform(model.transform(X)).shape, model.sample(2).shape)\n"
        "try: model.fit(X)\n"
        "except ImportError as error: print(error)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "(4, 3) (2, 3)" in out
    assert "pip install 'pucli[deep]'" in out


def test_the_package_does_not_import_torch():
    code = (
        "import sys, pucli.estimators.density.plummer, pucli.estimators.semi_supervised.classtering\n"
        "import pucli.methods\n"
        "print('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"batch_size": 1}, "batch_size"),
        ({"latent_dim": 0}, "latent_dim"),
        ({"lam": 0.0}, "'lam' parameter"),
        ({"eps": -1.0}, "'eps' parameter"),
        ({"n_iterations": 0}, "n_iterations"),
        ({"output": "softmax"}, "output"),
        ({"output": "sigmoid"}, "ranges over"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        small(**params).fit(rows())


def test_missing_values_and_wrong_codes_are_errors():
    X = rows()
    model = small().fit(X)
    with pytest.raises(ValueError, match=r"codes must have shape \(n, 2\)"):
        model.inverse_transform(X)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        small().fit(X)


def test_divergence_is_an_error_that_names_a_remedy():
    with pytest.raises(FloatingPointError, match="lower the learning rate"):
        small(learning_rate=1e30).fit(1e15 * rows())


def test_score_prefers_rows_of_the_same_kind():
    X = rows(200, 2)
    model = small(VariationalAutoencoder, n_iterations=500, learning_rate=3e-3).fit(X)
    assert model.score(X) > model.score(X + 30.0)


@pytest.mark.parametrize(
    "bad",
    [
        {"batch_size": 2.5},
        {"latent_dim": "x"},
        {"latent_dim": 1.5},
        {"lam": "abc"},
        {"lam": float("inf")},
        {"eps": None},
        {"hidden": "abc"},
        {"hidden": 16},
        {"hidden": (0,)},
        {"hidden": (8, 2.5)},
        {"betas": (0.5,)},
        {"betas": (0.5, 1.0)},
        {"betas": "abc"},
        {"batch_norm": "maybe"},
        {"patience": -1},
        {"block": 0.5},
        {"n_iterations": "many"},
        {"learning_rate": 0.0},
        {"checkpoint": 3},
        {"report": 3},
        {"random_state": "abc"},
        {"device": "foo"},
        {"device": "meta"},
        {"device": 1.5},
        {"device": "cuda:99"},
    ],
    ids=str,
)
def test_parameters_of_a_wrong_kind_are_named(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        small(**bad).fit(rows())


def test_sizes_of_layers_may_be_a_list_or_an_array():
    found = [small(hidden=hidden).fit(rows()).objective_ for hidden in ((8, 4), [8, 4], np.array([8, 4]))]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("kind", ["table", "empty", "weights", "list"])
def test_a_file_that_is_not_a_checkpoint_is_not_overwritten(kind, tmp_path):
    file = tmp_path / "customers.csv"
    if kind in ("table", "empty"):
        file.write_text("a,b\n1,2\n" if kind == "table" else "")
    else:
        torch.save({"weight": torch.zeros(2)} if kind == "weights" else [1, 2], file)
    before = file.read_bytes()
    with pytest.raises(ValueError, match=r"customers\.csv is not a checkpoint of pucli; name another file") as caught:
        small(checkpoint=file).fit(rows())
    assert "delete" not in str(caught.value)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "params", [{"n_iterations": 100_000, "learning_rate": 1e-12, "patience": 2}, {"n_iterations": 7}]
)
def test_a_finished_run_stays_as_it_is(params, tmp_path):
    X = rows()
    file = tmp_path / "run.pt"
    first = small(checkpoint=file, **params).fit(X)
    again = small(checkpoint=file, **params).fit(X)
    for name in ("n_iter_", "objective_", "residual_", "stopped_early_", "converged_"):
        assert getattr(again, name) == getattr(first, name), name
    assert np.isfinite(first.objective_) and first.residual_ > 0.0
    np.testing.assert_array_equal(again.history_, first.history_)
    np.testing.assert_array_equal(again.sample(3, random_state=0), first.sample(3, random_state=0))


def test_fewer_iterations_than_the_checkpoint_has_are_an_error(tmp_path):
    X = rows()
    small(checkpoint=tmp_path / "run.pt", n_iterations=40).fit(X)
    with pytest.raises(ValueError, match=r"n_iterations=20 is below the 40 iterations .*run\.pt"):
        small(checkpoint=tmp_path / "run.pt", n_iterations=20).fit(X)


def test_a_checkpoint_that_cannot_be_written_is_an_error_before_training(tmp_path):
    seen = []
    for file in (tmp_path / "absent" / "run.pt", tmp_path, "x" * 300):
        with pytest.raises(ValueError, match=r"checkpoint .* cannot be read and written"):
            small(checkpoint=file, report=lambda done, value: seen.append(done)).fit(rows())
    assert not seen
    small(checkpoint=tmp_path / "run.pt").fit(rows())
    assert [path.name for path in tmp_path.iterdir()] == ["run.pt"]


@pytest.mark.parametrize("wrong", [0, -3, 1.5, "many"])
def test_a_number_of_generated_rows_below_one_is_an_error(wrong):
    model = small().fit(rows())
    for call in (lambda: model.sample(wrong), lambda: model.score_samples(rows(), n_samples=wrong)):
        with pytest.raises(ValueError, match="n_samples must be a whole number of at least 1"):
            call()


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found["optimizers"][0]["state"][0].update(exp_avg=torch.zeros(2, 2)),
        lambda found: found["optimizers"][0]["state"][1].pop("exp_avg_sq"),
        lambda found: found["optimizers"][0]["state"].pop(0),
        lambda found: found["optimizers"][0]["state"][0]["exp_avg_sq"].fill_(-1.0),
        lambda found: found["optimizers"][0]["state"][0].update(step=None),
        lambda found: next(iter(found["modules"]["encoder"].values())).fill_(np.nan),
        lambda found: found["order"].fill_(10**9),
        lambda found: found.update(position=-1),
        lambda found: found.update(iteration=-3),
        lambda found: found.update(history=[np.nan]),
    ],
)
def test_a_changed_checkpoint_is_refused(change, tmp_path):
    """Sizes of another model would let the step of the optimizer write beyond its arrays."""
    file, X = tmp_path / "run.pt", rows()
    small(checkpoint=file, n_iterations=7).fit(X)
    content = torch.load(file, weights_only=True)
    change(content)
    torch.save(content, file)
    with pytest.raises(ValueError, match=r"run\.pt is damaged; delete it or name another file"):
        small(checkpoint=file, n_iterations=9).fit(X)
