"""The losses of the deep models against brute force, networks exported to NumPy, and the kernel likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from pucli.solvers.deep import losses
from pucli.solvers.deep.likelihood import kernel_log_likelihood, log_density
from pucli.solvers.deep.losses import _plummer_discrepancy, coulomb_potential, plummer_autoencoder_loss
from pucli.solvers.deep.networks import exported, perceptron

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
