"""Systems that rounding has made indefinite still have an answer, which does not claim a gap."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from sklearn.exceptions import ConvergenceWarning

from pucli.estimators import BLSSVM, GLLC
from pucli.solvers.kernels.cholesky import nearest_factor, solve_refined
from pucli.solvers.prior.density_ratio import density_ratio
from pucli.solvers.upu.squared import solve_squared_upu

RNG = np.random.default_rng(0)
LARGE = 1e6 * RNG.normal(size=200)
NEARLY_EQUAL = np.column_stack([LARGE, LARGE + 1e-3 * RNG.normal(size=200), np.ones(200)])
LABELED = np.arange(200) < 50


def test_squared_risks_of_nearly_equal_large_columns_are_finite_and_near_those_of_one_column():
    one = np.column_stack([LARGE / 1e6, np.ones(200)])
    found, plain = (solve_squared_upu(Z, LABELED, 0.3, 1e-8) for Z in (NEARLY_EQUAL, one))
    assert np.isfinite(found.coef).all() and found.gap > 0.0 and not found.converged
    assert abs(found.objective - plain.objective) < 1e-4


@pytest.mark.parametrize("estimator", [GLLC(), BLSSVM()])
def test_estimators_say_that_nearly_equal_large_columns_leave_the_accuracy_unknown(estimator):
    z = RNG.normal(size=160) + 2.0 * (np.arange(160) < 80)
    X = 1e6 * z[:, None] + 1e-4 * RNG.normal(size=(160, 300))
    with pytest.warns(ConvergenceWarning):
        estimator.fit(X, (np.arange(160) < 40).astype(int))
    assert np.isfinite(estimator.decision_function(X)).all()
    assert np.mean(estimator.predict(X) == (np.arange(160) < 80)) > 0.8


def test_a_definite_system_is_solved_as_it_is_and_an_indefinite_one_refused():
    A = np.diag([1.0, 4.0])
    factor, exact = nearest_factor(A)
    assert exact and factor[0].diagonal().tolist() == [1.0, 2.0]
    assert solve_refined(A, np.ones(2))[0].tolist() == [1.0, 0.25]
    with pytest.raises(LinAlgError):
        nearest_factor(np.diag([1.0, -1.0]))


@pytest.mark.parametrize(
    ("positive", "population", "prior"),
    [(np.ones(10), np.ones(20), 1.0), (np.full(10, 1e300), np.zeros(20), 0.01)],
)
def test_equal_scores_have_a_density_ratio_without_a_warning(positive, population, prior):
    with np.errstate(all="raise", under="ignore"):
        assert density_ratio(positive, population) == prior
