"""The losses of the deep models against brute force, networks exported to NumPy, and the kernel likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from pucli.solvers.deep import losses
from pucli.solvers.deep.likelihood import kernel_log_likelihood, log_density
from pucli.solvers.deep.losses import _plummer_discrepancy, coulomb_potential, plummer_autoencoder_loss
from pucli.solvers.deep.networks import exported, perceptron
from tests.helpers import examples

torch = pytest.importorskip("torch", reason="the extra [deep] is not installed: no torch")

pytestmark = pytest.mark.slow


def brute_force(codes, prior, eps):
    """The three sums of (4.2), written out."""
    n = len(codes)

    def k(a, b):
        return 1.0 / np.sqrt(np.sum((a - b) ** 2) + eps)

    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    return sum(k(prior[i], prior[j]) - 2 * k(prior[i], codes[j]) + k(codes[i], codes[j]) for i, j in pairs) / (
        n * (n - 1)
    )


@pytest.mark.parametrize(("n", "h"), [(2, 1), (7, 3)])
def test_discrepancy_is_the_sum_over_pairs(n, h):
    rng = np.random.default_rng(0)
    codes, prior = rng.uniform(-1, 1, (2, n, h))
    found = _plummer_discrepancy(torch.tensor(codes), torch.tensor(prior), 1e-4)
    assert float(found) == pytest.approx(brute_force(codes, prior, 1e-4), rel=1e-10)


@pytest.mark.parametrize(("n", "h"), [(2, 1), (7, 3), (33, 10)])
def test_processor_and_device_code_agree(n, h):
    """The compiled pass and the tensor operations give the same value and gradient, also for equal codes."""
    rng = np.random.default_rng(n)
    prior = torch.tensor(rng.uniform(-1, 1, (n, h)))
    found = []
    by_device, on_device = losses._discrepancy()
    for apply in (by_device["cpu"], on_device):
        codes = torch.tensor(np.random.default_rng(1).uniform(-1, 1, (n, h)))
        codes[:2] = 0.25
        codes.requires_grad_(True)
        value = apply(codes, prior, 1e-2)
        (3.0 * value).backward()
        found.append((value.item(), codes.grad.numpy()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-10, atol=1e-12)


def objective(X, Y, codes, prior, lam, eps):
    return float(plummer_autoencoder_loss(*map(torch.tensor, (X, Y, codes, prior)), lam, eps))


def root_of_the_kernel(h, eps):
    """Theorem 1 (a): return z -> k~(z, u) times the root of the weight of u, at the nodes u of a rule on [-1, 1]^h."""
    nodes, weights = np.polynomial.legendre.leggauss({1: 80, 2: 24}[h])
    u = np.stack(np.meshgrid(*[nodes] * h), axis=-1).reshape(-1, h)
    w = np.sqrt(np.prod(np.stack(np.meshgrid(*[weights] * h), axis=-1).reshape(-1, h), axis=1))

    def k(a, b):
        return 1.0 / np.sqrt(((a[:, None] - b) ** 2).sum(axis=2) + eps)

    values, vectors = np.linalg.eigh(w[:, None] * k(u, u) * w)
    kept = values > 1e-12 * values[-1]
    return lambda z: (k(z, u) * w) @ (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T


@given(st.integers(1, 3), st.integers(2, 8), st.integers(0, 10**6))
@examples(30)
def test_lemma_5_the_integral_is_the_largest_difference_of_expectations_squared(h, size, seed):
    """(b) and (c) for two distributions on the same points: a witness of norm 1 reaches it, and no other exceeds it."""
    rng = np.random.default_rng(seed)
    z = rng.uniform(-1, 1, (size, h))
    K = 1.0 / np.sqrt(((z[:, None] - z) ** 2).sum(axis=2) + 1e-2)
    difference = rng.dirichlet(np.ones(size)) - rng.dirichlet(np.ones(size))
    squared = difference @ K @ difference
    witness, *others = [difference, *rng.normal(size=(20, size))]
    reached = [(weights @ K @ difference) / np.sqrt(weights @ K @ weights) for weights in (witness, *others)]
    assert reached[0] ** 2 == pytest.approx(squared) and max(np.abs(reached)) <= reached[0] * (1 + 1e-9)
    assert squared > 0.0 and np.linalg.eigvalsh(K)[0] > 0.0


@given(st.sampled_from([1, 2]), st.integers(2, 30), st.floats(0.01, 100.0), st.integers(0, 10**6))
@examples(30)
def test_theorem_1_the_objective_in_another_form_and_its_lower_bound(h, n, lam, seed):
    """(a), (b) and the bound -2 lambda K / (N - 1), with the integral over [-1, 1]^h by quadrature."""
    rng = np.random.default_rng(seed)
    codes, prior = rng.uniform(-1, 1, (2, n, h)) * rng.uniform(0, 1, (2, 1, 1))
    X, Y = rng.uniform(-1, 1, (2, n, 3)) * rng.integers(0, 2)
    eps = 0.5
    root, largest = root_of_the_kernel(h, eps), eps**-0.5
    between = np.sum((root(prior).mean(axis=0) - root(codes).mean(axis=0)) ** 2)
    paired = np.sum(1.0 / np.sqrt(((prior - codes) ** 2).sum(axis=1) + eps))
    other = np.mean(((X - Y) ** 2).sum(axis=1))
    other += lam * (n * between - 2.0 * largest + 2.0 * paired / n) / (n - 1)
    found = objective(X, Y, codes, prior, lam, eps)
    assert found == pytest.approx(other, rel=1e-6, abs=1e-6 * lam)
    assert found > -2.0 * lam * largest / (n - 1)


def test_the_lower_bound_of_theorem_1_is_approached():
    """Codes that are the prior's points in another order: the objective is negative, near the bound for small eps."""
    prior = np.linspace(-1, 1, 10)[:, None]
    X = np.zeros((10, 1))
    found = objective(X, X, np.roll(prior, 5, axis=0), prior, 3.0, 1e-6)
    assert found == pytest.approx(-2.0 * 3.0 * 1e3 / 9, rel=2e-3)


def deviations(n, draws, lam, eps=0.25):
    """Draws of the objective minus its expectation (4.1), for f(x) = x and g = -1 on [-1, 1], x = 1 or -1, z as often.

    The error of a row is 0 or 4, the ends of its range for M = d = 1. A third of the points of the prior are at 1.
    """
    rng = np.random.default_rng(0)
    kernel = np.array([eps**-0.5, (4.0 + eps) ** -0.5])
    expected = 2.0 + lam * 2.0 * (1 / 2 - 1 / 3) ** 2 * (kernel[0] - kernel[1])
    x, z = (2.0 * (rng.random((draws, n, 1)) < share) - 1.0 for share in (1 / 2, 1 / 3))
    return np.array([objective(a, np.full((n, 1), -1.0), a, b, lam, eps) - expected for a, b in zip(x, z, strict=True)])


@pytest.mark.parametrize(("lam", "t", "s"), [(0.0, 0.8, 1.0), (0.1, 0.9, 2.0), (1.0, 0.9, 1.6), (10.0, 1.0, 1.4)])
def test_theorem_1_the_deviation_from_the_expectation_for_fixed_networks(lam, t, s):
    """(c): the bound holds over 2000 draws, and without lambda four times its exponent would be too much."""
    n, draws, largest = 40, 2000, 2.0
    share = np.mean(np.abs(deviations(n, draws, lam)) > t + lam * s)
    parts = -n * t**2 / 8, -(n // 2) * s**2 / (8 * largest**2)
    assert share <= 2.0 * np.exp(parts).sum() if lam else share <= 2.0 * np.exp(parts[0])
    assert lam or share > 2.0 * np.exp(4.0 * parts[0])


def test_theorem_1_does_not_hold_for_networks_that_have_seen_the_rows():
    """A continuous g that returns the training rows and errs between them: zero error in the sample, .78 in truth.

    Statement (c) takes f and g for given before the rows are drawn, so that it says nothing of a trained model.
    """
    n = 2000
    rows = np.sort(np.random.default_rng(0).uniform(-1, 1, n))
    between = 0.5 * (rows[1:] + rows[:-1])
    at = np.concatenate([rows, between])
    value = np.concatenate([rows, -np.sign(between)])[np.argsort(at)]
    new = np.random.default_rng(1).uniform(-1, 1, (2, 20_000))
    seen = np.mean((rows - np.interp(rows, np.sort(at), value)) ** 2)
    true = np.mean((new[0] - np.interp(new[0], np.sort(at), value)) ** 2)
    t = 0.5
    assert seen < 1e-20 and true - seen > t
    assert 2.0 * np.exp(-n * t**2 / 8) < 1e-20  # what (c) allows for the error of reconstruction


def test_loss_is_reconstruction_plus_weighted_discrepancy():
    rng = np.random.default_rng(1)
    X, Y, codes, prior = rng.normal(size=(4, 6, 2))
    found = plummer_autoencoder_loss(*map(torch.tensor, (X, Y, codes, prior)), 3.0, 0.01)
    assert float(found) == pytest.approx(np.mean(np.sum((X - Y) ** 2, axis=1)) + 3.0 * brute_force(codes, prior, 0.01))


def test_gradient_agrees_with_finite_differences():
    rng = np.random.default_rng(2)
    codes = torch.tensor(rng.uniform(-1, 1, (6, 3)), requires_grad=True)
    prior = torch.tensor(rng.uniform(-1, 1, (6, 3)))
    assert torch.autograd.gradcheck(lambda c: _plummer_discrepancy(c, prior, 0.05), (codes,), eps=1e-6, atol=1e-6)


@pytest.mark.parametrize("h", [2, 10])
def test_single_precision_does_not_change_the_kernel_of_near_pairs(h):
    """Codes that nearly coincide, where k is at its greatest: inner products alone would lose their distances."""
    rng = np.random.default_rng(4)
    codes = (0.9 + 1e-3 * rng.uniform(-1, 1, (40, h))).astype(np.float32)
    prior = rng.uniform(-1, 1, (40, h)).astype(np.float32)
    values, gradients = [], []
    for dtype in (torch.float32, torch.float64):
        z = torch.tensor(codes, dtype=dtype, requires_grad=True)
        value = _plummer_discrepancy(z, torch.tensor(prior, dtype=dtype), 1e-4)
        value.backward()
        values.append(value.item())
        gradients.append(z.grad.numpy().astype(float))
    assert values[0] == pytest.approx(values[1], rel=2e-5)
    np.testing.assert_allclose(gradients[0], gradients[1], atol=1e-3 * np.abs(gradients[1]).max())


def test_discrepancy_has_expectation_zero_for_equal_distributions():
    rng = np.random.default_rng(3)

    def estimates(half_width, count):
        codes = (torch.tensor(rng.uniform(-half_width, half_width, (20, 2))) for _ in range(count))
        return [float(_plummer_discrepancy(z, torch.tensor(rng.uniform(-1, 1, (20, 2))), 1e-2)) for z in codes]

    equal, narrow = estimates(1.0, 400), estimates(0.5, 100)
    assert abs(np.mean(equal)) < 4.0 * np.std(equal) / 20.0
    assert np.mean(narrow) > np.std(narrow)


def test_coulomb_potential_by_hand():
    points, real, fake = (torch.tensor(v, dtype=torch.double) for v in ([[0.0]], [[1.0]], [[2.0], [0.0]]))
    expected = 1 / np.sqrt(2.0) - 0.5 * (1 / np.sqrt(5.0) + 1.0)
    assert float(coulomb_potential(points, real, fake, 1.0)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("hidden", ["relu", "elu"])
@pytest.mark.parametrize("output", ["linear", "tanh", "sigmoid"])
def test_exported_network_equals_the_trained_one(hidden, output):
    module = perceptron([3, 5, 4, 2], hidden=hidden, output=output, batch_norm=True)
    X = torch.randn(30, 3)
    module(X)  # moves the running statistics off their start
    module.eval()
    network = exported(module, hidden=hidden, output=output)
    np.testing.assert_allclose(network(X.numpy().astype(float)), module(X).detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("d", [2, 20])
def test_kernel_density_against_the_definition(d):
    rng = np.random.default_rng(0)
    generated, test = rng.normal(size=(30, d)), rng.normal(size=(7, d))
    bandwidths = np.array([0.3, 2.0])
    squares = ((test[:, None] - generated) ** 2).sum(axis=2)
    for j, h in enumerate(bandwidths):
        expected = logsumexp(-squares / (2 * h * h), axis=1) - np.log(30) - 0.5 * d * np.log(2 * np.pi * h * h)
        np.testing.assert_allclose(log_density(generated, test, bandwidths)[:, j], expected, rtol=1e-9)


def test_bandwidth_is_chosen_on_validation_rows_alone():
    rng = np.random.default_rng(0)
    generated, validation = rng.normal(size=(2, 400, 1))
    near, bandwidth = kernel_log_likelihood(generated, validation, validation)
    _, same = kernel_log_likelihood(generated, validation, validation + 50.0)
    assert bandwidth == same
    assert 0.05 < bandwidth < 1.5
    truth = -0.5 * np.log(2 * np.pi) - 0.5 * np.mean(validation**2)
    assert near.mean() == pytest.approx(truth, abs=0.1)
