"""With an unpenalized intercept, a common offset of the rows changes nothing: neither the solution nor its proof."""

import numpy as np
import pytest

from pucli.estimators import BLSSVM, BSVM, CPBGLPUAL, GLLC, GLPUAL, UPU, ElasticGLPUAL
from pucli.solvers.kernels.intercept import with_intercept, without_offset
from tests.oracles import problem

MODELS = {
    "glpual": GLPUAL(),
    "gllc": GLLC(),
    "blssvm": BLSSVM(),
    "bsvm": BSVM(),
    "e-glpual": ElasticGLPUAL(),
    "cpb-glpual": CPBGLPUAL(prior=0.3),
    "upu squared": UPU(prior=0.3, loss="squared"),
    "upu double hinge": UPU(prior=0.3, loss="double-hinge"),
}


@pytest.mark.parametrize("offset", [1e6, 1e8])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_solution_is_that_of_centered_rows(name, wide, offset):
    X, y = problem(3, n=120, m=80 if wide else 4, n_p=30)
    X[:, -1] -= X[:, -1].mean()
    shift = np.full(X.shape[1], offset)
    shift[-1] = 0.0  # a column that is not far away is left as it is
    model = MODELS[name]
    near = model.fit(X, y)
    expected, objective = near.decision_function(X), near.objective_
    far = model.fit(X + shift, y)
    assert far.converged_
    gap = 0.0 if np.isnan(far.dual_gap_) else far.dual_gap_
    assert abs(far.objective_ - objective) <= gap + 2e-6 * abs(objective)
    np.testing.assert_allclose(far.decision_function(X + shift), expected, atol=2e-3)


def test_rows_near_the_origin_are_not_copied():
    Z = with_intercept(np.random.default_rng(0).normal(size=(50, 3)) + 100.0)
    kept, center = without_offset(Z)
    assert kept is Z and not center.any()
