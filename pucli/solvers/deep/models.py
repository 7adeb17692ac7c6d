"""The models that the trainer drives: the Plummer autoencoder (Sansone 2018, algorithm 2) and its competitors.

A model has its networks and optimizers. Its method `step` takes batches from `next_rows` and draws of the prior from
`draw`, does one iteration, and returns the value of the main objective before it. The competitors follow their papers:
VAE (Kingma and Welling 2014, standard normal prior), AAE (Makhzani et al. 2016), WGAN-GP (Gulrajani et al. 2017, five
critic steps and penalty 10), Coulomb GAN (Unterthiner et al. 2018, ELU, Plummer kernel with eps = 1 in the space of the
rows), BiGAN (Donahue et al. 2017), VEEGAN (Srivastava et al. 2017, algorithm 1), AVB-AC (Mescheder et al. 2017,
adaptive contrast).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pucli.solvers.deep import require_torch
from pucli.solvers.deep.losses import coulomb_potential, plummer_autoencoder_loss, reconstruction_error
from pucli.solvers.deep.networks import Network, exported, perceptron

Tensor: TypeAlias = Any
# Arguments of a step: functions that return the next batch of rows, and a number of draws from the prior.
NextRows: TypeAlias = Callable[[], Tensor]
Draw: TypeAlias = Callable[[int], Tensor]


@dataclass(frozen=True)
class Settings:
    """Settings that all models share."""

    n_features: int  # d
    latent_dim: int  # h
    hidden: tuple[int, ...]  # neurons of the encoder's hidden layers; the decoder has them in reverse order
    output: str  # of the decoder: "linear" or "sigmoid"
    # weight of the discrepancy and softening of the kernel in (4.2)
    lam: float
    eps: float
    batch_norm: bool  # whether hidden layers are normalized
    learning_rate: float  # learning rate of Adam
    betas: tuple[float, float]  # decay rates of Adam's moments


class DeepModel:
    """Base of the models: networks by name, optimizers, and which networks a fitted model keeps."""

    prior = "uniform"  # on [-1, 1]^h, or "normal"
    hidden_activation = "relu"
    differentiated_twice: tuple[str, ...] = ()  # networks whose gradient is differentiated: cannot be compiled

    def __init__(self, settings: Settings, device: Any, precision: str = "float32", *, compiled: bool = False) -> None:
        self.settings = settings
        self.modules: dict[str, Any] = {}
        self.optimizers: list[Any] = []
        self.device = device
        self.precision = precision
        self.compiled = compiled
        self.build()

    def build(self) -> None:
        """Make the networks and their optimizers."""
        raise NotImplementedError

    def network(self, name: str, sizes: Sequence[int], output: str = "linear", batch_norm: bool | None = None) -> Any:
        """Return a new network, which the model stores under `name`."""
        norm = self.settings.batch_norm if batch_norm is None else batch_norm
        module = perceptron(
            sizes, hidden=self.hidden_activation, output=output, batch_norm=norm, precision=self.precision
        ).to(self.device)
        if self.compiled and name not in self.differentiated_twice:
            module.compile(dynamic=False)
        module.output_activation = output
        self.modules[name] = module
        return module

    def adam(self, *modules: Any) -> Any:
        """Return a new Adam optimizer of the parameters of `modules`."""
        parameters = [parameter for module in modules for parameter in module.parameters()]
        optimizer = require_torch().optim.Adam(
            parameters, lr=self.settings.learning_rate, betas=self.settings.betas, fused=True
        )
        self.optimizers.append(optimizer)
        return optimizer

    def encoder(self, n_out: int | None = None, output: str = "tanh") -> Any:
        """Return a new encoder with `n_out` outputs, by default the latent dimension."""
        s = self.settings
        return self.network("encoder", [s.n_features, *s.hidden, n_out or s.latent_dim], output)

    def decoder(self) -> Any:
        """Return a new decoder."""
        s = self.settings
        return self.network("decoder", [s.latent_dim, *reversed(s.hidden), s.n_features], s.output)

    def discriminator(self, n_in: int) -> Any:
        """Return a new discriminator of `n_in` features."""
        return self.network("discriminator", [n_in, *self.settings.hidden, 1], batch_norm=False)

    def step(self, next_rows: NextRows, draw: Draw) -> Tensor:
        """Do one iteration and return the objective, a tensor without gradient."""
        raise NotImplementedError

    def exported(self) -> dict[str, Network]:
        """Return the encoder (where there is one) and the decoder as NumPy networks."""
        kept = {name: self.modules[name] for name in ("encoder", "decoder") if name in self.modules}
        return {
            name: exported(module, hidden=self.hidden_activation, output=module.output_activation)
            for name, module in kept.items()
        }


def _with_first_outputs(networks: dict[str, Network], h: int) -> dict[str, Network]:
    """Return the networks, with the first h outputs of the encoder only."""
    encoder = networks["encoder"]
    weights, offsets = encoder.weights, encoder.offsets
    kept = encoder._replace(weights=[*weights[:-1], weights[-1][:h]], offsets=[*offsets[:-1], offsets[-1][:h]])
    return {**networks, "encoder": kept}


def contrast(first: Tensor, second: Tensor) -> Tensor:
    """Return the logistic loss of telling logits (n, 1) of the first kind from those of the second."""
    softplus = require_torch().nn.functional.softplus
    return softplus(-first).mean() + softplus(second).mean()


def descend(optimizer: Any, loss: Tensor) -> Tensor:
    """Do one optimizer step on `loss` and return its value."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


class PlainModel(DeepModel):
    """The autoencoder without a prior, the baseline of timings of the Plummer autoencoder."""

    def build(self) -> None:
        """Make the networks and their optimizers."""
        self.f, self.g = self.encoder(), self.decoder()
        self.optimizer = self.adam(self.f, self.g)

    def step(self, next_rows: NextRows, draw: Draw) -> Tensor:
        """Do one iteration and return the objective, a tensor without gradient."""
        X = next_rows()
        return descend(self.optimizer, reconstruction_error(X, self.g(self.f(X))))


class PlummerModel(PlainModel):
    """PAE: (4.2) is minimized over encoder and decoder together."""

    def step(self, next_rows: NextRows, draw: Draw) -> Tensor:
        """Do one iteration and return the objective, a tensor without gradient."""
        X = next_rows()
        codes = self.f(X)
        s = self.settings
        loss = plummer_autoencoder_loss(X, self.g(codes), codes, draw(len(X)), s.lam, s.eps)
        return descend(self.optimizer, loss)


class VariationalModel(DeepModel):
    """VAE: Gaussian posterior, standard normal prior, unit noise variance; the objective is minus the ELBO."""

    prior = "normal"

    def build(self) -> None:
        """Make the networks and their optimizers."""
        self.f, self.g = self.encoder(2 * self.settings.latent_dim, "linear"), self.decoder()
        self.optimizer = self.adam(self.f, self.g)

    def step(self, next_rows: NextRows, draw: Draw) -> Tensor:
        """Do one iteration and return the objective, a tensor without gradient."""
        X = next_rows()
        mean, log_variance = self.f(X).chunk(2, dim=1)
        codes = mean + draw(len(X)) * (0.5 * log_variance).exp()
        divergence = 0.5 * (log_variance.exp() + mean.square() - 1.0 - log_variance).sum() / len(X)
        return descend(self.optimizer, 0.5 * reconstruction_error(X, self.g(codes)) + divergence)

    def exported(self) -> dict[str, Network]:
        """Return the networks; of the encoder's outputs only the mean is kept."""
        return _with_first_outputs(super().exported(), self.settings.latent_dim)


class AdversarialModel(DeepModel):
    """AAE: reconstruction, then a discriminator between codes and prior, then the encoder against it."""

    def build(self) -> None:
        """Make the networks and their optimizers."""
        self.f, self.g = self.encoder(), self.decoder()
        self.d = self.discriminator(self.settings.latent_dim)
        self.reconstruct, self.judge, self.deceive = self.adam(self.f, self.g), self.adam(self.d), self.adam(self.f)

    def step(self, next_rows: NextRows, draw: Draw) -> Tensor:
        """Do one iteration and return the objective, a tensor without gradient."""
        softplus = require_torch().nn.functional.softplus
        X = next_rows()
        value = descend(self.reconstruct, reconstruction_error(X, self.g(self.f(X))))
        codes = self.f(X).detach()
        descend(self.judge, contrast(self.d(draw(len(X))), self.d(codes)))
        descend(self.deceive, softplus(-self.d(self.f(X))).mean())
        return value


class WassersteinModel(DeepModel):
    """WGAN-GP; the objective returned is the critic's estimate of the Wasserstein distance."""

    critic_steps = 5
    penalty = 10.0
    differentiated_twice = ("discriminator",)

    def build(self) -> None:
        """Make the networks and their optimizers."""
        self.g, self.d = self.decoder(), self.discriminator(self.settings.n_features)
        self.generate, self.criticize = self.adam(self.g), self.adam(self.d)

    def step(self, next_rows: NextRows, draw: Draw) -> Tensor:
        """Do one iteration and return the objective, a tensor without gradient."""
        torch = require_torch()
        for _ in range(self.critic_steps):
            X = next_rows()
            fake = self.g(draw(len(X))).detach()
            # a uniform number per row, from the trainer's stream
            share = 0.5 * (draw(len(X))[:, :1] + 1.0)
            between = (share * X + (1.0 - share) * fake).requires_grad_()
            slope = torch.autograd.grad(self.d(between).sum(), between, create_graph=True)[0]
            distance = self.d(X).mean() - self.d(fake).mean()
            penalty = (slope.square().sum(1).add(1e-12).sqrt() - 1.0).square().mean()
            descend(self.criticize, self.penalty * penalty - distance)
        descend(self.generate, -self.d(self.g(draw(len(X)))).mean())
        return distance.detach()


class CoulombModel(DeepModel):
    """Coulomb GAN: the discriminator learns the potential of real against generated rows; the generator climbs it."""

    hidden_activation = "elu"
    eps = 1.0

    def build(self) -> None:
        """Make the networks and their optimizers."""
        self.g, self.d = self.decoder(), self.discriminator(self.settings.n_features)
        self.generate, self.learn = self.adam(self.g), self.adam(self.d)

    def step(self, next_rows: NextRows, draw: Draw) -> Tensor:
        """Do one iteration and return the objective, a tensor without gradient."""
        torch = require_torch()
        X = next_rows()
        fake = self.g(draw(len(X)))
        points = torch.cat([X, fake.detach()])
        potential = coulomb_potential(points, X, fake.detach(), self.eps)
        value = descend(self.learn, 0.5 * (self.d(points)[:, 0] - potential).square().mean())
        descend(self.generate, -0.5 * self.d(fake).mean())
        return value


class BidirectionalModel(DeepModel):
    """BiGAN: a discriminator tells (x, f(x)) from (g(z), z); encoder and generator deceive it."""

    def build(self) -> None:
        """Make the networks and their optimizers."""
        self.f, self.g = self.encoder(), self.decoder()
        self.d = self.discriminator(self.settings.n_features + self.settings.latent_dim)
        self.judge, self.deceive = self.adam(self.d), self.adam(self.f, self.g)

    def step(self, next_rows: NextRows, draw: Draw) -> Tensor:
        """Do one iteration and return the objective, a tensor without gradient."""
        torch = require_torch()
        X = next_rows()
        codes = draw(len(X))
        real, fake = torch.cat([X, self.f(X)], dim=1), torch.cat([self.g(codes), codes], dim=1)
        value = descend(self.judge, contrast(self.d(real.detach()), self.d(fake.detach())))
        descend(self.deceive, contrast(self.d(fake), self.d(real)))
        return value


class ReconstructorModel(BidirectionalModel):
    """VEEGAN: the encoder returns generated rows to their codes; a discriminator tells (g(z), z) from (x, f(x)).

    The generator minimizes the discriminator's logit, the estimate of a divergence, plus |z - f(g(z))|^2.
    """

    def step(self, next_rows: NextRows, draw: Draw) -> Tensor:
        """Do one iteration and return the objective, a tensor without gradient."""
        torch = require_torch()
        X = next_rows()
        codes = draw(len(X))
        fake = self.g(codes)
        pair = torch.cat([fake, codes], dim=1)
        real = torch.cat([X, self.f(X)], dim=1).detach()
        descend(self.judge, contrast(self.d(pair.detach()), self.d(real)))
        return descend(self.deceive, self.d(pair).mean() + reconstruction_error(codes, self.f(fake)))


class AdversarialBayesModel(DeepModel):
    """AVB-AC: an implicit posterior, whose divergence from a Gaussian of its own moments a discriminator estimates.

    Codes are f_0(x) + sum_i f_i(x) v(e_i), with `terms` independent noises e_i and a network v whose outputs are
    standardized over the batch, so that f_0 is their mean and sum_i f_i^2 their variance. With the standardized codes
    u and the discriminator's logit T(x, u) of posterior against standard normal, minus the ELBO is
    |x - g(z)|^2 / 2 + T(x, u) - |u|^2 / 2 - sum ln sd + |z|^2 / 2.
    """

    prior = "normal"
    terms, noise = 4, 16

    def build(self) -> None:
        """Make the networks and their optimizers."""
        h = self.settings.latent_dim
        self.f, self.g = self.encoder((1 + self.terms) * h, "linear"), self.decoder()
        self.v = self.network("noise", [self.noise, 64, h], batch_norm=False)
        self.d = self.discriminator(self.settings.n_features + h)
        self.judge, self.fit = self.adam(self.d), self.adam(self.f, self.g, self.v)

    def step(self, next_rows: NextRows, draw: Draw) -> Tensor:
        """Do one iteration and return the objective, a tensor without gradient."""
        torch = require_torch()
        X = next_rows()
        n, h = len(X), self.settings.latent_dim
        needed = n * self.terms * self.noise
        v = self.v(draw(-(-needed // h)).reshape(-1)[:needed].reshape(-1, self.noise))
        v = ((v - v.mean(0)) / (v.std(0) + 1e-6)).reshape(n, self.terms, h)
        mean, factors = self.f(X).split([h, self.terms * h], dim=1)
        factors = factors.reshape(n, self.terms, h)
        deviation = (factors.square().sum(1) + 1e-8).sqrt()
        standard = (factors * v).sum(1) / deviation
        codes = mean + deviation * standard
        logit = self.d(torch.cat([X, standard], dim=1))
        contrast_terms = logit.sum() - 0.5 * standard.square().sum() - deviation.log().sum()
        loss = 0.5 * reconstruction_error(X, self.g(codes)) + (contrast_terms + 0.5 * codes.square().sum()) / n
        value = descend(self.fit, loss)
        drawn = self.d(torch.cat([X, draw(n)], dim=1))
        descend(self.judge, contrast(self.d(torch.cat([X, standard.detach()], dim=1)), drawn))
        return value

    def exported(self) -> dict[str, Network]:
        """Return the networks; of the encoder's outputs only the mean is kept."""
        return _with_first_outputs(super().exported(), self.settings.latent_dim)


MODELS: dict[str, type[DeepModel]] = {
    "pae": PlummerModel,
    "autoencoder": PlainModel,
    "vae": VariationalModel,
    "aae": AdversarialModel,
    "wgan-gp": WassersteinModel,
    "coulomb-gan": CoulombModel,
    "bigan": BidirectionalModel,
    "veegan": ReconstructorModel,
    "avb-ac": AdversarialBayesModel,
}
