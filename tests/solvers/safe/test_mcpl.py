"""MCPL: the saddle point against grids, cvxpy and a scipy minimizer; and the guarantee for every labeling."""

import functools
import itertools
import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning

from pucli.estimators.safe.implicit_lda import ICLDA
from pucli.estimators.safe.lda_baselines import EMLDA, SelfTrainingLDA
from pucli.estimators.safe.mcpl import MCPL, MCPLLDA, MCPLQDA
from tests.helpers import examples
from tests.oracles import clarabel
from tests.solvers.safe.problems import problem

ESTIMATORS = {
    "lda": MCPLLDA(),
    "lda with ridge": MCPLLDA(ridge=0.3),
    "qda": MCPLQDA(),
    "qda with ridge": MCPLQDA(ridge=0.1),
    "diagonal": MCPL("gaussian-diagonal"),
    "fixed": MCPL("gaussian-fixed"),
    "fixed at supervised": MCPL("gaussian-fixed", covariance="supervised", ridge=0.01),
    "bernoulli": MCPL("bernoulli", pseudo_rows=1.0),
    "poisson": MCPL("poisson", pseudo_rows=0.5),
}
IN_UNITS = [MCPLLDA(), MCPLQDA(), MCPL("gaussian-diagonal"), MCPL("gaussian-fixed", covariance="supervised")]
seeds = st.integers(0, 10**6)


def log_gains(fit, supervised, X):
    """Gain in log pi_k p_k(x) over supervised, for each row and class."""
    return fit.log_joint(X) - supervised.log_joint(X)


@pytest.mark.slow
@given(st.sampled_from(sorted(ESTIMATORS)), seeds)
@examples(60)
def test_never_worse_than_supervised_for_any_labeling(name, seed):
    """Theorem 4.5: 1000 random labelings and the worst one, which attains the bound."""
    X, y, _ = problem(name, seed)
    estimator, labeled = ESTIMATORS[name], y >= 0
    fit, supervised = clone(estimator).fit(X, y), clone(estimator).fit(X[labeled], y[labeled])
    gains = log_gains(fit, supervised, X[~labeled])
    own = fit.log_likelihood(X[labeled], y[labeled]) - supervised.log_likelihood(X[labeled], y[labeled])
    labelings = np.random.default_rng(seed).integers(0, len(fit.classes_), (1000, len(gains)))
    labelings[0] = gains.argmin(axis=1)
    totals = own + gains[np.arange(len(gains)), labelings].sum(axis=1)
    scale = 1e-8 * (1.0 + np.abs(totals).max() + abs(own))
    assert fit.converged_ and fit.improvement_ >= 0
    assert totals.min() >= fit.improvement_ - scale
    assert totals[0] == pytest.approx(fit.improvement_, abs=scale)
    assert own <= scale  # the supervised fit is the best on its own rows
    np.testing.assert_allclose(fit.soft_labels_.sum(axis=1), 1.0, atol=1e-9)
    assert fit.soft_labels_.min() >= 0
    soft = own + np.sum(fit.soft_labels_ * gains)
    assert soft == pytest.approx(fit.objective_, abs=scale)
    assert fit.objective_ - fit.improvement_ == pytest.approx(fit.gap_, abs=scale)
    assert 0 <= fit.gap_ <= 1e-7 * len(X)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_parameters_are_the_maximum_for_the_soft_labels(name):
    """(4.15), (4.16), (5.4), (5.5), (5.9): written out, from the soft labels."""
    X, y, _ = problem(name, 11, K=3, M=40, D=2)
    fit = clone(ESTIMATORS[name]).fit(X, y)
    weight = np.vstack([np.eye(3)[y[y >= 0]], fit.soft_labels_])
    counts = weight.sum(axis=0)
    np.testing.assert_allclose(fit.priors_, counts / len(X), rtol=1e-9)
    pseudo = getattr(fit, "pseudo_rows", 0.0)
    prior_mean = fit.pseudo_mean_ if pseudo else 0.0
    means = (weight.T @ X + pseudo * prior_mean) / (counts + pseudo)[:, None]
    np.testing.assert_allclose(fit.means_, means, rtol=1e-9, atol=1e-10)
    if pseudo or name.startswith("fixed"):
        return
    scatter = np.array([(weight[:, k, None] * (X - means[k])).T @ (X - means[k]) for k in range(3)])
    ridge = fit.ridge * np.eye(2)
    expected = {
        "lda": scatter.sum(axis=0) / len(X) + ridge,
        "qda": scatter / counts[:, None, None] + ridge,
        "dia": np.array([np.diag(S) for S in scatter]) / counts[:, None],
    }[name[:3]]
    np.testing.assert_allclose(fit.covariance_, expected, rtol=1e-7, atol=1e-9)


def scipy_saddle_value(fit_at, n_unlabeled, K, seed=0):
    """Minimize CL(Psi(Q), Q) over the logits of Q, by differences: no code shared with the solver but the maximum."""

    def value(logits):
        return fit_at(softmax(logits.reshape(n_unlabeled, K), axis=1))

    starts = np.random.default_rng(seed).normal(size=(3, n_unlabeled * K))
    return min(minimize(value, start, method="L-BFGS-B", options={"maxiter": 500}).fun for start in starts)


def gaussian_contrast(X, y, U, Q, shared):
    """CL(Psi(Q), Q) for LDA or QDA from weighted Gaussian log-likelihoods, with numpy alone."""
    K = Q.shape[1]

    def fit(rows, weight):
        priors = weight.sum(axis=0) / weight.sum()
        means = (weight.T @ rows) / weight.sum(axis=0)[:, None]
        scatter = [(weight[:, k, None] * (rows - means[k])).T @ (rows - means[k]) for k in range(K)]
        if shared:
            return priors, means, [sum(scatter) / weight.sum()] * K
        return priors, means, [S / n for S, n in zip(scatter, weight.sum(axis=0), strict=True)]

    def log_likelihood(parameters, rows, weight):
        total = 0.0
        for k, (p, m, S) in enumerate(zip(*parameters, strict=True)):
            inside = np.einsum("ij,ij->i", (rows - m) @ np.linalg.inv(S), rows - m)
            total += weight[:, k] @ (np.log(p) - 0.5 * inside - 0.5 * np.linalg.slogdet(2 * np.pi * S)[1])
        return total

    one_hot = np.eye(K)[y]
    rows, weight = np.vstack([X, U]), np.vstack([one_hot, Q])
    return log_likelihood(fit(rows, weight), rows, weight) - log_likelihood(fit(X, one_hot), rows, weight)


@pytest.mark.slow
@pytest.mark.parametrize("Estimator", [MCPLLDA, MCPLQDA])
@pytest.mark.parametrize("seed", [0, 1])
def test_saddle_value_against_a_scipy_minimizer(Estimator, seed):
    X, y, _ = problem("lda", seed, K=3, M=5, D=2)
    labeled = y >= 0
    fit = Estimator().fit(X, y)

    def contrast(Q):
        return gaussian_contrast(X[labeled], y[labeled], X[~labeled], Q, Estimator is MCPLLDA)

    assert contrast(fit.soft_labels_) == pytest.approx(fit.objective_, abs=1e-8)
    assert scipy_saddle_value(contrast, 5, 3) == pytest.approx(fit.objective_, abs=1e-4)


@pytest.mark.slow
def test_saddle_value_against_the_dual_in_cvxpy():
    """max over Psi of the least contrastive likelihood, concave in natural parameters, for LDA with three classes."""
    X, y, _ = problem("lda", 7, K=3, M=12, D=2)
    labeled = y >= 0
    fit, supervised = MCPLLDA().fit(X, y), MCPLLDA().fit(X[labeled], y[labeled])
    d = X.shape[1]
    P, eta, log_prior = cp.Variable((d, d), PSD=True), cp.Variable((3, d)), cp.Variable(3)

    def log_joint(x, k):
        # The eta_k' P^-1 eta_k of the cumulant as a matrix fraction keeps the problem concave.
        return (
            log_prior[k] + eta[k] @ x - 0.5 * cp.matrix_frac(eta[k], P) - 0.5 * x @ P @ x
            + 0.5 * cp.log_det(P) - 0.5 * d * np.log(2 * np.pi)
        )  # fmt: skip

    reference = supervised.log_joint(X)
    own = sum(log_joint(x, k) - r[k] for x, k, r in zip(X[labeled], y[labeled], reference[labeled], strict=True))
    least = [
        cp.min(cp.hstack([log_joint(x, k) - r[k] for k in range(3)]))
        for x, r in zip(X[~labeled], reference[~labeled], strict=True)
    ]
    best = -clarabel(-own - sum(least), [cp.sum(cp.exp(log_prior)) <= 1], accuracy=None)
    assert best == pytest.approx(fit.objective_, abs=1e-5)
    np.testing.assert_allclose(np.exp(log_prior.value), fit.priors_, atol=1e-4)
    np.testing.assert_allclose(np.linalg.inv(P.value), fit.covariance_, rtol=1e-3)


# The examples of section 4.3: one feature, two classes, one or two unlabeled points.


def example(values_0, values_1, u, **parameters):
    X = np.concatenate([values_0, values_1, np.atleast_1d(u)])[:, None]
    y = np.concatenate([np.zeros(len(values_0)), np.ones(len(values_1)), -np.ones(np.size(u))]).astype(int)
    fit = MCPL(**parameters).fit(X, y)
    return fit, MCPL(**parameters).fit(X[y >= 0], y[y >= 0])


def univariate_contrast(values_0, values_1, u, q, fixed):
    """CL(Psi(q), q) for weights q (..., M) of class 0, by (4.32), (4.33), (4.36), (4.37); `fixed` variances or None."""
    q = np.asarray(q, dtype=float)
    weights, labeled = (q, 1.0 - q), (np.asarray(values_0), np.asarray(values_1))
    N, total = len(values_0) + len(values_1), 0.0
    for k, (own, w) in enumerate(zip(labeled, weights, strict=True)):
        n = len(own) + w.sum(axis=-1)
        mean = (own.sum() + w @ u) / n
        square = np.sum((own - mean[..., None]) ** 2, axis=-1) + np.sum(w * (u - mean[..., None]) ** 2, axis=-1)
        variance = square / n if fixed is None else fixed[k]
        sup_mean, sup_variance = own.mean(), own.var() if fixed is None else fixed[k]
        sup_square = np.sum((own - sup_mean) ** 2) + w @ (u - sup_mean) ** 2
        total += n * (np.log(n / (N + len(u))) - 0.5 * np.log(variance)) - 0.5 * square / variance
        total -= n * (np.log(len(own) / N) - 0.5 * np.log(sup_variance)) - 0.5 * sup_square / sup_variance
    return total


FIXED, AT_SUPERVISED = {"family": "gaussian-fixed"}, {"family": "gaussian-fixed", "covariance": "supervised"}
SETTINGS = {
    "figure 4.2": ([-1.0], [1.0], FIXED, [1.0, 1.0]),
    "figure 4.4 fixed": ([-2.0, 1.0], [-0.5, 3.0], AT_SUPERVISED, [2.25, 3.0625]),
    "figure 4.4 free": ([-2.0, 1.0], [-0.5, 3.0], {"family": "gaussian-full"}, None),
}


@pytest.mark.parametrize("setting", sorted(SETTINGS))
def test_one_unlabeled_point_against_a_grid(setting):
    values_0, values_1, parameters, fixed = SETTINGS[setting]
    grid = np.linspace(0, 1, 20_001)
    for u in (-10.0, -3.3, -1.0, 0.2, 2.0, 9.0):
        fit, _ = example(values_0, values_1, u, **parameters)
        contrast = univariate_contrast(values_0, values_1, np.array([u]), grid[:, None], fixed)
        assert fit.objective_ == pytest.approx(contrast.min(), abs=1e-6)
        assert fit.soft_labels_[0, 0] == pytest.approx(grid[contrast.argmin()], abs=2e-4)


@pytest.mark.parametrize("setting", ["figure 4.4 fixed", "figure 4.4 free"])
def test_two_unlabeled_points_against_a_grid(setting):
    values_0, values_1, parameters, fixed = SETTINGS[setting]
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 401)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    for u in ([-6.0, 2.0], [0.3, 0.9], [8.0, -9.0], [1.0, 9.5]):
        fit, _ = example(values_0, values_1, u, **parameters)
        contrast = univariate_contrast(values_0, values_1, np.array(u), grid, fixed)
        assert contrast.min() - 1e-4 <= fit.objective_ <= contrast.min() + 1e-6
        np.testing.assert_allclose(fit.soft_labels_[:, 0], grid[contrast.argmin()], atol=0.02)


@pytest.mark.parametrize("setting", sorted(SETTINGS))
@pytest.mark.slow
def test_orthogonality_and_what_follows_from_it(setting):
    """(4.34) for soft labels; then CL does not depend on q, and u has the posterior that supervised gives it."""
    values_0, values_1, parameters, _ = SETTINGS[setting]
    for u in np.linspace(-10, 10, 21):
        fit, supervised = example(values_0, values_1, u, **parameters, tol=1e-10)
        gains = log_gains(fit, supervised, [[u]])[0]
        if 1e-4 < fit.soft_labels_[0, 0] < 1 - 1e-4:
            assert gains[0] == pytest.approx(gains[1], abs=1e-4)
            np.testing.assert_allclose(fit.predict_proba([[u]]), supervised.predict_proba([[u]]), atol=1e-5)
        assert fit.improvement_ > 0 or setting == "figure 4.2"


def test_three_classes_one_point():
    """Figure 4.3: with a third class the labels stay soft and the supervised posterior is copied."""
    X, y = np.array([[-1.0], [1.0], [3.0], [0.4]]), np.array([0, 1, 2, -1])
    fit, supervised = MCPL("gaussian-fixed", tol=1e-10).fit(X, y), MCPL("gaussian-fixed").fit(X[:3], y[:3])
    assert 0.05 < fit.soft_labels_.min() < fit.soft_labels_.max() < 0.95
    assert np.ptp(log_gains(fit, supervised, X[3:])) < 1e-6
    np.testing.assert_allclose(fit.predict_proba(X[3:]), supervised.predict_proba(X[3:]), atol=1e-6)


@pytest.mark.slow
@given(seeds, st.sampled_from([MCPLLDA(), MCPLQDA()]))
@examples(15)
def test_the_fit_does_not_depend_on_affine_maps_of_the_features(seed, estimator):
    X, y, _ = problem("lda", seed, D=3)
    rng = np.random.default_rng(seed)
    mapped = X @ (rng.normal(size=(3, 3)) + 3 * np.eye(3)) + 50 * rng.normal(size=3)
    first, second = clone(estimator).fit(X, y), clone(estimator).fit(mapped, y)
    assert second.improvement_ == pytest.approx(first.improvement_, abs=2e-6 * len(X) * (1 + first.improvement_))
    np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(mapped), atol=1e-3)


@pytest.mark.slow
@given(seeds, st.floats(-30, 30), st.sampled_from(IN_UNITS))
@examples(25)
def test_units_of_the_features_do_not_matter(seed, exponent, estimator):
    X, y, _ = problem("lda", seed, D=3)
    unit = 10.0**exponent
    for ridge in (0.0, 0.01):
        first = clone(estimator).set_params(ridge=ridge).fit(X, y)
        second = clone(estimator).set_params(ridge=ridge * unit**2).fit(unit * X, y)
        assert second.improvement_ == pytest.approx(first.improvement_, abs=2e-6 * len(X) * (1 + first.improvement_))
        np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(unit * X), atol=1e-3)


@pytest.mark.parametrize("estimator", IN_UNITS)
@pytest.mark.parametrize("constant", [0.0, 1e9, 1e-20, "rounding"])
def test_constant_columns_are_singular_without_a_ridge_and_harmless_with_one(estimator, constant):
    X, y, _ = problem("lda", 3, K=2, M=40, D=2)
    column = np.where(np.arange(len(X)) % 3, 0.1 + 0.2, 0.3) if constant == "rounding" else np.full(len(X), constant)
    with pytest.raises(ValueError, match="is singular on"):
        clone(estimator).fit(np.column_stack([X, column]), y)
    with_ridge = clone(estimator).set_params(ridge=1e-3)
    reference = clone(with_ridge).fit(X, y)
    fit = with_ridge.fit(np.column_stack([X, column]), y)
    assert fit.improvement_ == pytest.approx(reference.improvement_, abs=1e-4)


def test_features_of_very_different_size_with_a_ridge_converge():
    X, y, _ = problem("qda", 2, K=3, M=60, D=3)
    fit = MCPLQDA(ridge=1e-3).fit(X * np.array([1e7, 1.0, 1e-7]), y)
    assert fit.converged_ and fit.improvement_ > 0


def test_supervised_fit_is_linear_discriminant_analysis():
    X, _, y = problem("lda", 5, K=3, M=30, D=3)
    fit = MCPLLDA().fit(X, y)
    reference = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(X, y)
    np.testing.assert_allclose(fit.predict_proba(X), reference.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(fit.covariance_, reference.covariance_, atol=1e-10)
    assert fit.supervised_only_ and "supervised fit" in fit.guarantee_ and fit.soft_labels_.shape == (0, 3)


@pytest.mark.parametrize(("name", "estimator"), [("qda", MCPLQDA()), ("lda", MCPLLDA())])
def test_strict_improvement_on_continuous_data(name, estimator):
    """Corollary 4.11, and theorem 5.1, where the classes share a covariance."""
    for seed in range(10):
        X, y, _ = problem(name, seed)
        fit = estimator.fit(X, y)
        assert fit.improvement_ > 0
        assert f"at least {fit.improvement_:.6g}" in fit.guarantee_


def gains_of_all_samples(family, labeled, y, atoms, M):
    """Yield each sample of M rows of `atoms`, by number, and the gain in likelihood for each labeling, (2,) * M."""
    supervised = MCPL(family).fit(labeled, y)
    for drawn in itertools.product(range(len(atoms)), repeat=M):
        U = atoms[list(drawn)]
        fit = MCPL(family).fit(np.vstack([labeled, U]), np.append(y, np.full(M, -1)))
        own = fit.log_likelihood(labeled, y) - supervised.log_likelihood(labeled, y)
        yield list(drawn), own + functools.reduce(np.add.outer, log_gains(fit, supervised, U))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pucli.core.errors.DegenerateModelWarning")
@given(st.sampled_from(["bernoulli", "poisson", "gaussian-fixed"]), st.integers(1, 2), st.integers(2, 3), seeds)
@examples(60)
def test_strict_improvement_in_expectation_on_discrete_data(family, M, count, seed):
    """Theorem 4.12: (4.23) for a discrete p(x, y) with two values of x or more, over all samples and hidden labels.

    The gain is positive for every labeling, unless the sample meets (4.20). Each class has labeled rows for which the
    supremum is attained (Assumption 4.8), and the statistic x is injective.
    """
    rng = np.random.default_rng(seed)
    if family == "bernoulli":
        labeled, atoms = np.tile([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (2, 1)), np.array([[0, 0], [1, 0], [1, 1]])
    else:
        labeled, atoms = rng.integers(1, 4, (6, 2)).astype(float), np.indices((4, 4)).reshape(2, -1).T
    atoms = rng.permutation(atoms)[:count].astype(float)
    joint = rng.dirichlet(np.ones(2 * count)).reshape(count, 2)
    expected = 0.0
    for drawn, gains in gains_of_all_samples(family, labeled, np.repeat([0, 1], 3), atoms, M):
        balanced = np.allclose(atoms[drawn].mean(axis=0), labeled.mean(axis=0))
        assert gains.min() > (-1e-10 if balanced else 0.0)
        expected += float((functools.reduce(np.multiply.outer, joint[drawn]) * gains).sum())
    assert expected > 0.0


@pytest.mark.filterwarnings("ignore::pucli.core.errors.DegenerateModelWarning")
@pytest.mark.parametrize(("family", "atom"), [("poisson", 2.0), ("gaussian-fixed", 0.0)])
def test_no_improvement_on_a_single_value_at_the_labeled_mean(family, atom):
    """A counterexample to theorem 4.12 as printed: p(x) is discrete, too, if all its mass is at one value.

    The proof takes the sum of the statistics to have several values.
    """
    labeled, y = atom + np.array([[-1.0], [1.0], [-2.0], [2.0]]), np.array([0, 0, 1, 1])
    for M in (1, 2):
        ((_, gains),) = gains_of_all_samples(family, labeled, y, np.array([[atom]]), M)
        np.testing.assert_allclose(gains, 0.0, atol=1e-12)


def test_improvement_bound_needs_no_convergence():
    X, y, complete = problem("qda", 3, K=3, M=200, D=3)
    for max_iter in (1, 3, 6):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            early = MCPLQDA(max_iter=max_iter).fit(X, y)
        supervised = MCPLQDA().fit(X[y >= 0], y[y >= 0])
        assert early.improvement_ >= 0 and not early.converged_
        gain = early.log_likelihood(X, complete) - supervised.log_likelihood(X, complete)
        assert gain >= early.improvement_ - 1e-8
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        MCPLQDA(max_iter=1).fit(X, y)


@pytest.mark.parametrize("ridge", [0.0, 1e-3])
@pytest.mark.parametrize("Estimator", [MCPLLDA, MCPLQDA, ICLDA, EMLDA, SelfTrainingLDA])
def test_the_error_for_a_far_unlabeled_row_names_that_row(Estimator, ridge):
    X, y, _ = problem("lda", 9, K=3, M=60, D=3)
    X[-1] = 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = Estimator(ridge=ridge).fit(X, y)
    if Estimator in (MCPLLDA, MCPLQDA):
        supervised = Estimator(ridge=ridge).fit(X[y >= 0], y[y >= 0])
        own = fit.log_likelihood(X[y >= 0], y[y >= 0]) - supervised.log_likelihood(X[y >= 0], y[y >= 0])
        worst = own + log_gains(fit, supervised, X[y < 0]).min(axis=1).sum()
        assert fit.improvement_ > 0
        assert worst == pytest.approx(fit.improvement_, rel=1e-9)
    if Estimator is SelfTrainingLDA:
        return
    X[-1] = 1e10
    with pytest.raises(ValueError, match=f"row {len(X) - 1} is unlabeled and .* away from the labeled rows"):
        Estimator(ridge=ridge).fit(X, y)
    X[:, 0] = 1.0  # now the labeled rows are singular, far row or not
    if ridge == 0.0:
        X[-1, 1:] = 0.0
        with pytest.raises(ValueError, match="is singular on"):
            Estimator().fit(X, y)


def test_a_fall_back_describes_the_supervised_fit():
    """Soft labels that are cut short: no gain is certain, and objective and gap are those of what is returned."""
    found = 0
    for seed in range(20):
        X, y, _ = problem("qda", seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            early = MCPLQDA(max_iter=1).fit(X, y)
        if early.improvement_ > 0.0:
            continue
        found += 1
        fit, supervised = MCPLQDA().fit(X, y), MCPLQDA().fit(X[y >= 0], y[y >= 0])
        np.testing.assert_allclose(early.covariance_, supervised.covariance_, rtol=1e-8)
        assert early.objective_ == 0.0 and not early.converged_
        assert 0.0 <= fit.improvement_ <= fit.objective_ <= early.gap_
        assert "this is the supervised fit" in early.guarantee_
        assert "fell back to the supervised fit" in str(caught[0].message)
    assert found >= 2


def test_a_family_of_the_user():
    class Exponential:
        """Independent waiting times: t(x) = x, eta = -1 / mean."""

        def statistics(self, X):
            return X

        def natural(self, mean):
            return -1.0 / mean, float(np.sum(np.log(mean)))

        def inverse_root(self, mean):
            return np.diag(1.0 / mean)

        def log_carrier(self, X):
            return np.zeros(len(X))

    rng = np.random.default_rng(0)
    X, y = rng.exponential([[1.0, 2.0]], (60, 2)), np.arange(60) % 2
    X[y == 1] *= 3
    partial = np.where(np.arange(60) < 12, y, -1)
    fit, supervised = MCPL(Exponential()).fit(X, partial), MCPL(Exponential()).fit(X[:12], y[:12])
    assert fit.converged_ and fit.improvement_ > 0
    assert fit.log_likelihood(X, y) - supervised.log_likelihood(X, y) >= fit.improvement_ - 1e-9
