"""The Plummer autoencoder and the deep density estimators it is compared with (Sansone 2018, chapter 4).

Training needs torch (`pip install 'pucli[deep]'`); a fitted model is NumPy arrays and needs it no more.
"""

from __future__ import annotations

from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from pucli.deep.likelihood import BANDWIDTHS, kernel_log_likelihood
from pucli.deep.networks import OUTPUTS, Network

_FINITE = Interval(Real, None, None, closed="neither")
_FROM_ONE = Interval(Integral, 1, None, closed="left")


class _DeepDensity(BaseEstimator):
    """Base: training through `pucli.deep.trainer`, sampling through the decoder, likelihood by kernel density."""

    _model = ""
    _prior = "uniform"

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        "latent_dim": [_FROM_ONE],
        "hidden": ["array-like"],
        "output": [StrOptions(set(OUTPUTS))],
        "batch_size": [Integral],
        "n_iterations": [_FROM_ONE],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "betas": ["array-like"],
        "batch_norm": ["boolean"],
        "patience": [_FROM_ONE, None],
        "block": [_FROM_ONE],
        "checkpoint": [str, PathLike, None],
        "report": [callable, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        latent_dim=2,
        *,
        hidden=(128, 128),
        output="linear",
        batch_size=128,
        n_iterations=20_000,
        learning_rate=1e-4,
        betas=(0.5, 0.9),
        batch_norm=False,
        patience=None,
        block=1000,
        checkpoint=None,
        device="auto",
        report=None,
        random_state=None,
    ):
        self.latent_dim = latent_dim
        self.hidden = hidden
        self.output = output
        self.batch_size = batch_size
        self.n_iterations = n_iterations
        self.learning_rate = learning_rate
        self.betas = betas
        self.batch_norm = batch_norm
        self.patience = patience
        self.block = block
        self.checkpoint = checkpoint
        self.device = device
        self.report = report
        self.random_state = random_state

    def fit(self, X, y=None):
        """Train on the rows of X (n, d); `y` is ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError : a batch of fewer than two rows, a parameter out of its range, or a checkpoint of another or a
            longer run.
        ImportError : torch is not installed. FloatingPointError : training diverged.
        """
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self._check_parameters(X)
        from pucli.deep.models import Settings
        from pucli.deep.trainer import Trainer

        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        settings = Settings(
            n_features=X.shape[1],
            latent_dim=self.latent_dim,
            hidden=tuple(int(size) for size in self.hidden),
            output=self.output,
            lam=float(getattr(self, "lam", 0.0)),
            eps=float(getattr(self, "eps", 0.0)),
            batch_norm=self.batch_norm,
            learning_rate=self.learning_rate,
            betas=(float(self.betas[0]), float(self.betas[1])),
        )
        trainer = Trainer(
            self._model,
            settings,
            X,
            batch_size=min(self.batch_size, len(X)),
            seed=seed,
            device=self.device,
            block=self.block,
        )
        path = None if self.checkpoint is None else Path(self.checkpoint)
        if path is not None:
            trainer.resume(path)
        self.stopped_early_ = trainer.run(
            self.n_iterations, patience=self.patience, checkpoint=path, report=self.report
        )
        for name, network in trainer.model.exported().items():
            setattr(self, f"_{name}", tuple(network))  # a plain tuple of arrays can be stored without trust
        self.n_iter_ = trainer.progress.iteration
        self.history_ = np.array(trainer.progress.history)
        self.objective_ = float(self.history_[-1]) if len(self.history_) else float(trainer.last_mean)
        self.dual_gap_ = float("nan")
        self.residual_ = trainer.residual()
        self.converged_ = self.stopped_early_ or self.n_iter_ >= self.n_iterations
        # the bandwidth of `score` is chosen on these, drawn once so that it does not depend on what is scored
        rng = np.random.default_rng(seed)
        self._validation = X[np.sort(rng.choice(len(X), min(len(X), 500), replace=False))]
        return self

    def _check_parameters(self, X: np.ndarray) -> None:
        if self.batch_size < 2:
            raise ValueError(
                f"batch_size must be at least 2, because the objective averages over pairs of rows; "
                f"got {self.batch_size!r}."
            )
        if not all(isinstance(size, Integral) and int(size) >= 1 for size in self.hidden):
            raise ValueError(f"hidden must hold integers of at least 1, one for each layer; got {self.hidden!r}.")
        if len(self.betas) != 2 or not all(isinstance(beta, Real) and 0 <= float(beta) < 1 for beta in self.betas):
            raise ValueError(f"betas must be two numbers in [0, 1); got {self.betas!r}.")
        if self.output == "sigmoid" and (X.min() < 0.0 or X.max() > 1.0):
            raise ValueError(
                f"output='sigmoid' answers values in [0, 1], but X ranges over [{X.min():g}, {X.max():g}]: scale X "
                "or use output='linear'."
            )
        for name in ("lam", "eps"):
            if not getattr(self, name, 1.0) > 0.0:
                raise ValueError(f"{name} must be positive; got {getattr(self, name)!r}.")

    def sample(self, n_samples=1, *, random_state=None):
        """Return rows of the learnt density, (n_samples, d): the decoder at codes of the prior."""
        check_is_fitted(self)
        if not isinstance(n_samples, Integral) or n_samples < 1:
            raise ValueError(f"n_samples must be a whole number of at least 1; got {n_samples!r}.")
        rng = check_random_state(random_state)
        shape = (n_samples, self._latent_dim())
        codes = rng.standard_normal(shape) if self._prior == "normal" else rng.uniform(-1.0, 1.0, shape)
        return Network(*self._decoder)(codes)

    def _latent_dim(self) -> int:
        return self._decoder[0][0].shape[1]

    def inverse_transform(self, X):
        """Return the decoded rows (n, d) of codes X (n, latent_dim)."""
        check_is_fitted(self)
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self._latent_dim():
            raise ValueError(f"codes must have shape (n, {self._latent_dim()}); got {X.shape}.")
        return Network(*self._decoder)(X)

    def score_samples(self, X, *, n_samples=10_000, random_state=0):
        """Return the log-likelihood (n,) of rows X (n, d), in nats, by kernel density on generated rows.

        n_samples : generated rows; the thesis has 100,000. The bandwidth is the best of ten between 1e-3 and 10^1.5
        for up to 500 of the training rows; `random_state` draws the generated rows.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        generated = self.sample(n_samples, random_state=random_state)
        return kernel_log_likelihood(generated, self._validation, X, BANDWIDTHS).log_likelihood

    def score(self, X, y=None):
        """Return the mean of `score_samples` over the rows of X (n, d)."""
        return float(self.score_samples(X).mean())


class _AutoEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _DeepDensity):
    """Base of the models with an encoder."""

    def transform(self, X):
        """Return the codes (n, latent_dim) of rows X (n, d)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return Network(*self._encoder)(X)

    @property
    def _n_features_out(self) -> int:
        return self._latent_dim()


class PlummerAutoencoder(_AutoEncoder):
    """Density estimation by an autoencoder whose codes are made uniform on [-1, 1]^h (Sansone 2018, eq. 4.2).

    Minimises the mean over rows of |x - g(f(x))|^2 plus `lam` times the unbiased squared maximum mean discrepancy
    between f(x) and uniform codes, for the Plummer kernel (|z - z'|^2 + eps)^(-1/2), by Adam on minibatches
    (algorithm 2). It is one minimisation: there is no adversary.

    Parameters
    ----------
    latent_dim : h, the intrinsic dimension of the data.
    lam : weight of the discrepancy. The thesis has 10 for the grid, 1 for the low-dimensional embedding and 0.1 for
        stacked digits, chosen for the lowest objective.
    eps : softening of the kernel, in squared units of the codes.
    hidden : neurons of the encoder's hidden layers (ReLU); the decoder has them reversed. Tables B.1, B.2: (128, 128);
        B.4: (2500, 2000, 1500, 1000, 500). The encoder ends in tanh.
    output : of the decoder: "linear", or "sigmoid" for rows in [0, 1].
    batch_size : rows per step, at least 2; at most the number of rows is used.
    n_iterations : steps in all; the thesis has 2,000,000.
    learning_rate, betas : of Adam.
    batch_norm : normalise the hidden layers.
    patience : stop when the mean objective has not reached a new minimum for so many blocks; None: never.
    block : iterations per entry of `history_`.
    checkpoint : file to write after every block, and to go on from if it exists; None: none. The same parameters, rows
        and seed are needed; `n_iterations` may be raised.
    device : "auto" takes a GPU if there is one; else "cpu", "cuda", ...
    report : called after every block with the iteration and the mean objective; a true answer stops the training.
    random_state : of weights, batches and codes.

    Attributes
    ----------
    history_ : mean objective of every finished block. objective_ : its last entry. dual_gap_ : NaN, not convex.
    residual_ : norm of the gradient at the last step. n_iter_ : steps done. stopped_early_ : ended by `patience`.
    converged_ : the steps asked for were done, or `patience` ended them; False where `report` stopped the training.

    References
    ----------
    E. Sansone, PhD thesis, University of Trento, 2018, chapter 4 and appendix B.
    """

    _model = "pae"
    _parameter_constraints = {  # noqa: RUF012
        **_DeepDensity._parameter_constraints,
        "lam": [_FINITE],
        "eps": [_FINITE],
    }

    def __init__(
        self,
        latent_dim=2,
        *,
        lam=1.0,
        eps=1e-4,
        hidden=(128, 128),
        output="linear",
        batch_size=128,
        n_iterations=20_000,
        learning_rate=1e-4,
        betas=(0.5, 0.9),
        batch_norm=False,
        patience=None,
        block=1000,
        checkpoint=None,
        device="auto",
        report=None,
        random_state=None,
    ):
        super().__init__(
            latent_dim,
            hidden=hidden,
            output=output,
            batch_size=batch_size,
            n_iterations=n_iterations,
            learning_rate=learning_rate,
            betas=betas,
            batch_norm=batch_norm,
            patience=patience,
            block=block,
            checkpoint=checkpoint,
            device=device,
            report=report,
            random_state=random_state,
        )
        self.lam = lam
        self.eps = eps


class VariationalAutoencoder(_AutoEncoder):
    """VAE (Kingma and Welling 2014): Gaussian posterior and unit noise; parameters as `PlummerAutoencoder`.

    Codes are standard normal, not uniform, as in that paper; `transform` answers the posterior mean.
    """

    _model = "vae"
    _prior = "normal"


class AdversarialAutoencoder(_AutoEncoder):
    """AAE (Makhzani et al. 2016): an autoencoder whose codes deceive a discriminator between them and uniform ones.

    Parameters as `PlummerAutoencoder`; the thesis shows it with `batch_norm=True` on high-dimensional rows.
    """

    _model = "aae"


class WassersteinGAN(_DeepDensity):
    """WGAN-GP (Gulrajani et al. 2017): penalty 10, five critic steps per generator step.

    Parameters as `PlummerAutoencoder`; no encoder.
    """

    _model = "wgan-gp"


class CoulombGAN(_DeepDensity):
    """Coulomb GAN (Unterthiner et al. 2018): the generator follows a learnt potential; no encoder.

    Parameters as `PlummerAutoencoder`. Hidden units are ELU.
    """

    _model = "coulomb-gan"


def deep_models() -> dict[str, type[Any]]:
    """Return the estimators by the name of their model."""
    every = (PlummerAutoencoder, VariationalAutoencoder, AdversarialAutoencoder, WassersteinGAN, CoulombGAN)
    return {estimator._model: estimator for estimator in every}
