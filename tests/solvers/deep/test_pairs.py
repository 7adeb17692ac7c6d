"""The models with an adversary on pairs: their losses against independent ones, and what they converge to."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.estimators import VEEGAN, AdversarialVariationalBayes, BidirectionalGAN
from pucli.solvers.deep.models import MODELS, Settings, contrast

torch = pytest.importorskip("torch", reason="the extra [deep] is not installed: no torch")

pytestmark = pytest.mark.slow

SETTINGS = Settings(3, 2, (8,), "linear", 1.0, 1e-4, False, 1e-3, (0.5, 0.9))


def draws(model, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shape = SETTINGS.latent_dim
    if model.prior == "normal":
        return lambda n: torch.randn((n, shape), generator=generator)
    return lambda n: 2.0 * torch.rand((n, shape), generator=generator) - 1.0


def fresh(name):
    torch.manual_seed(0)
    return MODELS[name](SETTINGS, torch.device("cpu"))


def test_contrast_is_the_cross_entropy_of_two_kinds():
    rng = np.random.default_rng(0)
    a, b = torch.tensor(rng.normal(size=(7, 1))), torch.tensor(rng.normal(size=(9, 1)))
    loss = torch.nn.functional.binary_cross_entropy_with_logits
    expected = loss(a, torch.ones_like(a)) + loss(b, torch.zeros_like(b))
    assert float(contrast(a, b)) == pytest.approx(float(expected))


@pytest.mark.parametrize("name", ["bigan", "veegan"])
def test_the_first_step_moves_each_network_along_its_own_loss(name):
    """Before Adam, gradients are those of the losses as the papers state them, by automatic differentiation."""
    X = torch.randn((16, 3), generator=torch.Generator().manual_seed(1))
    model = fresh(name)
    seen = {}
    judge = model.optimizers[0]
    step = judge.step
    judge.step = lambda: (seen.update({k: p.grad.clone() for k, p in enumerate(model.d.parameters())}), step())[1]
    value = model.step(lambda: X, draws(model))
    again = fresh(name)
    codes = draws(again)(16)
    data, generated = torch.cat([X, again.f(X)], 1).detach(), torch.cat([again.g(codes), codes], 1).detach()
    p = torch.sigmoid
    if name == "bigan":
        loss = -torch.log(p(again.d(data))).mean() - torch.log(1 - p(again.d(generated))).mean()
        assert float(value.detach()) == pytest.approx(float(loss.detach()), rel=1e-5)
    else:
        loss = -torch.log(p(again.d(generated))).mean() - torch.log(1 - p(again.d(data))).mean()
    for k, gradient in enumerate(torch.autograd.grad(loss, list(again.d.parameters()))):
        torch.testing.assert_close(seen[k], gradient, atol=1e-5, rtol=1e-4)


def test_the_reconstructor_learns_from_codes_alone():
    """In VEEGAN the logit does not move the encoder: its gradient is that of |z - f(g(z))|^2."""
    model = fresh("veegan")
    X = torch.randn((16, 3), generator=torch.Generator().manual_seed(1))
    model.step(lambda: X, draws(model))
    found = [p.grad.clone() for p in model.f.parameters()]
    again = fresh("veegan")
    codes = draws(again)(16)
    error = (codes - again.f(again.g(codes).detach())).square().sum() / 16
    for a, b in zip(found, torch.autograd.grad(error, list(again.f.parameters())), strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


@pytest.mark.nightly
def test_with_adversarial_bayes_the_evidence_of_a_gaussian_is_reached():
    """Rows from N(0, 1 + b^2) have the bound E ln N(x; 0, 1 + b^2) for decoder b z: it is reached and not passed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1)) * np.sqrt(1.0 + 4.0)
    model = AdversarialVariationalBayes(
        1, hidden=(32,), n_iterations=3000, learning_rate=2e-3, block=500, random_state=0
    ).fit(X)
    evidence = (
        0.5 * np.log(5.0) + 0.5
    )  # minus the mean log-density, without ln(2 pi) / 2, which the objective leaves out
    assert model.history_[-1] == pytest.approx(evidence, abs=0.15)
    assert model.sample(4000, random_state=0).std() == pytest.approx(np.sqrt(4.0), abs=0.3)


@pytest.mark.nightly
@pytest.mark.parametrize("estimator", [BidirectionalGAN, VEEGAN])
def test_codes_and_generated_rows_have_the_places_of_their_pairs(estimator):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((400, 1)) < 0.5, -2.0, 2.0) + 0.1 * rng.normal(size=(400, 1))
    model = estimator(1, hidden=(32,), n_iterations=3000, learning_rate=2e-3, block=500, random_state=0).fit(X)
    generated = model.sample(1000, random_state=0)
    assert np.mean(np.abs(np.abs(generated) - 2.0) < 0.7) > 0.6
    assert 0.15 < np.mean(generated > 0) < 0.85
