"""The USMO estimator: scikit-learn's checks, the peers, errors a user can act on."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from pucli.estimators.unbiased.ramp import RampPU
from pucli.estimators.unbiased.usmo import USMO
from tests.helpers import ROOT


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    signs = np.where(rng.random(250) < 0.4, 1.0, -1.0)
    X = np.concatenate([rng.normal(size=(40, 4)) + 0.5, rng.normal(size=(250, 4)) + 0.5 * signs[:, None]])
    return X, (np.arange(290) < 40).astype(int)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
def test_peers_reach_the_same_objective(data, kernel):
    X, y = data
    common = {"prior": 0.4, "lam": 0.02, "kernel": kernel, "width": 2.0, "degree": 2}
    ours = USMO(**common).fit(X, y)
    for solver in ("qp", "svr"):
        peer = USMO(solver=solver, **common).fit(X, y)
        assert peer.converged_
        tolerance = {"qp": 2e-6, "svr": 1e-3}[solver]
        assert peer.objective_ == pytest.approx(ours.objective_, rel=tolerance)
        assert peer.objective_ - peer.dual_gap_ <= ours.objective_ + 1e-9


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_model_gives_the_reported_objective(data, kernel):
    X, y = data
    model = USMO(prior=0.4, lam=0.02, kernel=kernel, width=2.0).fit(X, y)
    f = model.decision_function(X)
    c1, c2 = 0.4 / (0.04 * 40), 1 / (0.04 * 250)
    if kernel == "linear":
        norm = model._coef @ model._coef
    else:
        d = ((model.support_vectors_[:, None] - model.support_vectors_[None]) ** 2).sum(-1)
        norm = model.dual_coef_ @ np.exp(-d / 8) @ model.dual_coef_
    f_u = f[y == 0]
    value = -c1 * f[y == 1].sum() + c2 * np.maximum.reduce([0 * f_u, 0.5 + f_u / 2, f_u]).sum() + 0.5 * norm
    assert value == pytest.approx(model.objective_, rel=1e-6)
    assert 0 <= model.dual_gap_ <= 1e-6 * abs(model.objective_)


def test_linear_kernel_with_many_features_goes_by_kernel_rows(data, monkeypatch):
    X, y = data
    by_w = USMO(prior=0.4, kernel="linear").fit(X, y)
    monkeypatch.setattr("pucli.solvers.row_losses.linear.LINEAR_FEATURES", 3)
    by_rows = USMO(prior=0.4, kernel="linear").fit(X, y)
    assert by_rows.objective_ == pytest.approx(by_w.objective_, rel=3e-6)
    assert np.allclose(by_rows._coef, by_w._coef, atol=1e-2)
    assert not np.isnan(by_rows.violation_)


def test_linear_kernel_with_few_rows_for_its_features_goes_by_kernel_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(70, 40)) + np.where(np.arange(70) < 35, 0.5, -0.5)[:, None]
    for rows, features in ((70, 40), (70, 10)):
        fit = USMO(prior=0.3, lam=0.1, kernel="linear").fit(X[:rows, :features], np.arange(rows) < 15)
        assert np.isnan(fit.violation_) == (features == 10)
        assert fit._coef.shape == (features,)
        exact = USMO(prior=0.3, lam=0.1, kernel="linear", solver="qp").fit(X[:rows, :features], np.arange(rows) < 15)
        assert fit.objective_ == pytest.approx(exact.objective_, rel=2e-6)


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.2, 1.5, float("nan")])
def test_prior_outside_the_unit_interval_says_what_to_give(data, prior):
    with pytest.raises(ValueError, match=r"'prior' parameter of USMO must be a float in the range \(0.0, 1.0\)"):
        USMO(prior=prior).fit(*data)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"solver": "smo"}, "'solver' parameter"),
        ({"init": "random"}, "'init' parameter"),
        ({"kernel": "cosine"}, "'kernel' parameter"),
        ({"prior": "0.4"}, "'prior' parameter"),
        ({"lam": 0.0}, "'lam' parameter"),
        ({"lam": float("inf")}, "'lam' parameter"),
        ({"lam": 1e-200}, "larger lam"),
        ({"tol": -1.0}, "'tol' parameter"),
        ({"tol": float("nan")}, "'tol' parameter"),
        ({"width": float("inf")}, "'width' parameter"),
        ({"width": 1e-300}, "larger width"),
        ({"kernel": "polynomial", "coef0": float("nan")}, "'coef0' parameter"),
        ({"kernel": "polynomial", "degree": 400}, "lower degree"),
        ({"cache_size": 0}, "'cache_size' parameter"),
        ({"cache_size": None}, "'cache_size' parameter"),
        ({"max_iter": -1}, "'max_iter' parameter"),
    ],
)
@pytest.mark.slow
def test_wrong_parameters_are_named(data, wrong, message):
    for estimator in (USMO,) if {"solver", "init"} & set(wrong) else (USMO, RampPU):
        with pytest.raises(ValueError, match=message):
            estimator(**wrong).fit(*data)


@pytest.mark.parametrize("solver", ["qp", "svr"])
@pytest.mark.slow
def test_peers_refuse_problems_that_do_not_fit_into_memory(data, solver, monkeypatch):
    module = {"qp": "pucli.solvers.usmo.qp", "svr": "pucli.solvers.usmo.svr"}[solver]
    monkeypatch.setattr(f"{module}.LARGEST", 100)
    with pytest.raises(ValueError, match="solver='usmo'"):
        USMO(solver=solver).fit(*data)


def test_not_converged_warns_and_keeps_a_valid_bound(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        early = USMO(prior=0.4, init="uniform", max_iter=1, lam=1e-4, tol=1e-9).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        late = USMO(prior=0.4, lam=1e-4).fit(X, y)
    assert not early.converged_
    assert early.objective_ - early.dual_gap_ <= late.objective_ <= early.objective_


def test_the_size_of_the_cache_does_not_change_the_result(data):
    X, y = data
    fits = [
        USMO(prior=0.4, lam=1e-3, width=2.0, cache_size=size, random_state=0).fit(X, y) for size in (1e-6, 0.1, 200)
    ]
    for fit in fits[1:]:
        assert fit.converged_
        assert fit.objective_ == pytest.approx(fits[0].objective_, rel=2e-6)
        assert np.abs(fit.decision_function(X) - fits[0].decision_function(X)).max() < 0.05


MEMORY = """
import numpy as np
from pucli.estimators.unbiased.usmo import USMO
from pucli.protocols.usmo_curves.protocol import measured

rng = np.random.default_rng(0)
X = rng.normal(size=(4050, 5)) + np.where(rng.random(4050) < 0.4, 1.0, -1.0)[:, None]
model = USMO(prior=0.4, lam=0.01, width=3.0, cache_size=8, random_state=0)
model.fit(X[:150], np.arange(150) < 50)
_, peak = measured(lambda: model.fit(X, np.arange(4050) < 50))
print(peak, model.converged_)
"""


@pytest.mark.slow
def test_memory_is_bounded_by_the_cache_size():
    """4000 rows: a square matrix takes 128 MB; the cache is given 8. Other tests move the figure of this process."""
    done = subprocess.run([sys.executable, "-c", MEMORY], cwd=ROOT, capture_output=True, text=True, check=True)
    peak, converged = done.stdout.split()
    if peak == "nan":
        pytest.skip("no /proc: the peak of resident memory is not known here")
    assert converged == "True"
    assert float(peak) < 40


def test_input_may_be_a_read_only_memory_map(data, tmp_path):
    X, y = data
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for kernel in ("rbf", "linear"):
        assert USMO(prior=0.4, kernel=kernel).fit(mapped, y).objective_ == pytest.approx(
            USMO(prior=0.4, kernel=kernel).fit(X, y).objective_
        )
