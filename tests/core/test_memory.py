"""Memory is checked before it is taken, and few rows of many features need none of m x m numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from pucli.core import memory
from pucli.estimators import (
    CPBGLPUAL,
    CPLS,
    EKFGLPUAL,
    EMLDA,
    GLLC,
    GLPUAL,
    ICLS,
    MCPLLDA,
    UPU,
    ElasticGLPUAL,
    GaussianMCPL,
    LaplacianSVM,
    LeastSquares,
    LowDensitySeparation,
)
from pucli.solvers.kernels import few_rows
from pucli.solvers.kernels.quadratic_surface import check_memory

RNG = np.random.default_rng(0)
TRUTH = np.arange(40) % 2
X = RNG.normal(size=(40, 70)) + TRUTH[:, None]
SEMI, PU = np.where(np.arange(40) < 20, TRUTH, -1), TRUTH * (np.arange(40) < 20)


@pytest.mark.parametrize(
    "model",
    [LaplacianSVM(), LowDensitySeparation(), EMLDA(ridge=1.0), MCPLLDA(), GaussianMCPL(), ElasticGLPUAL(), EKFGLPUAL()],
)
def test_a_fit_that_needs_more_memory_than_there_is_is_refused(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pucli.core.memory.available_bytes", lambda: 1000)
    monkeypatch.setattr("pucli.solvers.kernels.quadratic_surface.available_bytes", lambda: 1000)
    y = PU if isinstance(model, ElasticGLPUAL | EKFGLPUAL) else SEMI
    with pytest.raises(ValueError, match=r"40 rows(.*70 columns.*GB|.*bytes)"):
        model.fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        GLPUAL(tol=1e-9),
        GLLC(),
        CPBGLPUAL(prior=0.3, tol=1e-9),
        UPU(prior=0.3, loss="squared"),
        UPU(prior=0.3, loss="double-hinge", tol=1e-9),
        LeastSquares(lam=1.0),
        CPLS(lam=1.0),
        ICLS(lam=1.0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_few_rows_have_the_model_of_all_features(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    y = PU if hasattr(model, "pos_label") else SEMI
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = model.fit(X, y).decision_function(X)
        coef, objective = model._coef, model.objective_
        monkeypatch.setattr(few_rows, "WIDE", 50)
        by_rows = model.fit(X, y)
    np.testing.assert_allclose(by_rows.decision_function(X), whole, atol=2e-4)
    np.testing.assert_allclose(by_rows._coef, coef, atol=2e-4)
    assert by_rows.objective_ == pytest.approx(objective, rel=1e-6, abs=1e-9)


def test_the_least_of_machine_container_and_process_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    files = tmp_path / "limit", tmp_path / "used"
    monkeypatch.setattr(memory, "CONTAINER", (files,))
    monkeypatch.setattr(memory, "_of_machine", lambda: 900)
    monkeypatch.setattr(memory, "_of_process", lambda: None)
    assert memory.available_bytes() == 900
    for limit, left in (("700", 600), ("50", 0), ("max", 900)):
        files[0].write_text(limit)
        files[1].write_text("100")
        assert memory.available_bytes() == left
    monkeypatch.setattr(memory, "_of_process", lambda: 300)
    assert memory.available_bytes() == 300


def test_the_memory_of_the_machine_is_unknown_where_the_system_does_not_report_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    limit = tmp_path / "limit"
    monkeypatch.setattr(memory, "CONTAINER", ((limit, tmp_path / "used"),))
    assert (memory.total_bytes() or 0) > 1e8
    limit.write_text("700")
    assert memory.total_bytes() == 700
    monkeypatch.delattr(memory.os, "sysconf")  # as on Windows
    assert memory.total_bytes() == 700
    limit.write_text("max")
    assert memory.total_bytes() is None
    check_memory(100, 20)
