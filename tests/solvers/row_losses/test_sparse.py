"""Sparse rows: the same models as dense ones, in memory of the non-zeros; other methods make them dense or refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix, random_array

from pucli.estimators import BSVM, GLPUAL, MCPLLDA, USMO, NaiveSVC
from pucli.estimators.base import input_rows
from pucli.estimators.unbiased.upu import UPU
from pucli.solvers.row_losses.linear import solve_linear
from pucli.solvers.svm.hinge import hinge_losses


def wide(n: int = 300, m: int = 80) -> tuple[csr_array, np.ndarray]:
    rng = np.random.default_rng(0)
    X = random_array((n, m), density=0.1, rng=rng, format="csr", data_sampler=rng.standard_normal)
    f = X @ rng.standard_normal(m)
    return X, (f > 0.3) & (rng.random(n) < 0.6)


KEPT = [
    NaiveSVC(kernel="linear"),
    BSVM(tol=1e-8),
    USMO(kernel="linear", prior=0.2, tol=1e-8),
    UPU(loss="double-hinge", prior=0.2, tol=1e-8),
]


@pytest.mark.parametrize("model", KEPT, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("container", [csr_array, csr_matrix])
def test_methods_that_keep_rows_sparse_fit_the_model_of_dense_rows(model, container, monkeypatch) -> None:
    X, labeled = wide()
    y = labeled.astype(int)
    dense = model.fit(X.toarray(), y)
    scores, objective = dense.decision_function(X.toarray()), dense.objective_
    monkeypatch.setattr(csr_array, "toarray", None)  # nothing is made dense
    found = model.fit(container(X), y)
    assert found.converged_
    assert found.objective_ - found.dual_gap_ <= objective + 1e-9 * abs(objective)
    assert found.objective_ == pytest.approx(objective, rel=1e-3)  # libsvm stops early
    np.testing.assert_allclose(found.decision_function(container(X)), scores, atol=1e-2 * np.ptp(scores))


def test_the_certificate_of_conjugate_gradients_is_as_tight() -> None:
    X, labeled = wide(400, 30)
    losses = hinge_losses(np.where(labeled, 1.0, -1.0), np.where(labeled, 2.0, 0.5))
    dense = solve_linear(X.toarray(), losses, 0.0, np.zeros(30), tol=1e-9)
    sparse = solve_linear(X, losses, 0.0, np.zeros(30), tol=1e-9)
    assert sparse.converged and sparse.gap <= 1e-9 * abs(sparse.objective)
    assert sparse.objective == pytest.approx(dense.objective, rel=1e-8)


def test_other_methods_make_rows_dense_unless_they_fill_the_memory(monkeypatch) -> None:
    X, labeled = wide(60, 10)
    y = labeled.astype(int)
    for model, labels in ((GLPUAL(), y), (MCPLLDA(ridge=0.1), np.where(np.arange(60) < 40, y, -1))):
        dense = model.fit(X.toarray(), labels).predict(X.toarray())
        assert np.array_equal(model.fit(X, labels).predict(X), dense)
    monkeypatch.setattr("pucli.core.memory.available_bytes", lambda: 1000)
    with pytest.raises(ValueError, match=r"dense form takes .* GB of memory.*keeps rows sparse"):
        GLPUAL().fit(X, y)
    assert input_rows.COPIES * 8 * 600 > 1000


@pytest.mark.filterwarnings("ignore:no class prior is given")
@pytest.mark.slow
def test_a_prior_is_estimated_from_sparse_rows_as_from_dense_ones(monkeypatch) -> None:
    X, labeled = wide()
    y, rows = labeled.astype(int), np.concatenate([np.flatnonzero(labeled), np.flatnonzero(~labeled)])
    model = USMO(kernel="linear", random_state=0)
    assert model.fit(X, y).prior_ == model.fit(X.toarray()[rows], y[rows]).prior_
    monkeypatch.setattr("pucli.core.memory.available_bytes", lambda: 1000)
    with pytest.raises(ValueError, match="give prior"):
        model.fit(X, y)
