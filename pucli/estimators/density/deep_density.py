"""Base of the deep density estimators: training, sampling through the decoder, and likelihood by kernel density.

Training needs torch (`pip install 'pucli[deep]'`); a fitted model consists of NumPy arrays and does not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pucli.core.arrays import Floats
from pucli.core.saved_state import Array, Flag, Layers, State, TextValue
from pucli.estimators.base.certificate import Certified
from pucli.estimators.base.input_rows import dense_rows, validated
from pucli.estimators.base.parameters import FROM_ONE, FROM_TWO, POSITIVE, Constraints, RandomState, one_of
from pucli.solvers.deep.likelihood import kernel_log_likelihood
from pucli.solvers.deep.networks import OUTPUTS, Network
from pucli.solvers.result import Certificate

PRECISIONS = ("auto", "float32", "bfloat16")
# The most training rows on which the bandwidth of `score_samples` is chosen.
VALIDATION_ROWS = 500


class DeepDensity(Certified, BaseEstimator):
    """Base of the deep density estimators, trained by `pucli.solvers.deep.trainer`.

    Parameters and attributes are those of `PlummerAutoencoder`, without `lam` and `eps`.
    """

    _model = ""
    _prior = "uniform"
    _decoder: tuple[Any, ...]
    n_features_in_: int

    _parameter_constraints: ClassVar[Constraints] = {
        "latent_dim": [FROM_ONE],
        "hidden": ["array-like"],
        "output": [one_of(*OUTPUTS)],
        "batch_size": [FROM_TWO],
        "n_iterations": [FROM_ONE],
        "learning_rate": [POSITIVE],
        "betas": ["array-like"],
        "batch_norm": ["boolean"],
        "patience": [FROM_ONE, None],
        "block": [FROM_ONE],
        "checkpoint": [str, PathLike, None],
        "device": [str],
        "precision": [one_of(*PRECISIONS)],
        "report": [callable, None],
        "random_state": ["random_state"],
    }

    saved_state: ClassVar[State] = {
        "history_": Array("blocks", finite=False),
        "stopped_early_": Flag(),
        "precision_": TextValue("float32", "bfloat16"),
        "_decoder": Layers("codes", "m"),
        "_validation": Array("n", "m"),
    }

    def __init__(  # noqa: PLR0913
        self,
        latent_dim: int = 2,
        *,
        hidden: Sequence[int] = (128, 128),
        output: str = "linear",
        batch_size: int = 128,
        n_iterations: int = 20_000,
        learning_rate: float = 1e-4,
        betas: tuple[float, float] = (0.5, 0.9),
        batch_norm: bool = False,
        patience: int | None = None,
        block: int = 1000,
        checkpoint: str | PathLike[str] | None = None,
        device: str = "auto",
        precision: str = "auto",
        report: Callable[[int, float], object] | None = None,
        random_state: RandomState = None,
    ) -> None:
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
        self.precision = precision
        self.report = report
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Train on rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.
        y : ignored
            Not used; for the convention of scikit-learn.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of its range, or the checkpoint is that of another or a longer run.
        ImportError
            If torch is not installed.
        FloatingPointError
            If training diverges.
        """
        self._validate_params()
        rows = dense_rows(self, validated(self, X, least_rows=2))
        self._check_parameters(rows)
        from pucli.solvers.deep.models import Settings
        from pucli.solvers.deep.trainer import Trainer

        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        settings = Settings(
            n_features=rows.shape[1],
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
            rows,
            batch_size=min(self.batch_size, len(rows)),
            seed=seed,
            device=self.device,
            precision=self.precision,
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
        self.precision_ = trainer.precision
        self.history_ = np.array(trainer.progress.history)
        done = trainer.progress.iteration
        self._keep_certificate(
            Certificate(
                objective=self.history_[-1] if len(self.history_) else trainer.last_mean,
                residual=trainer.residual(),
                n_iter=done,
                converged=bool(self.stopped_early_ or done >= self.n_iterations),
            )
        )
        # the bandwidth of `score_samples` is chosen on these, drawn once so that it does not depend on the scored rows
        rng = np.random.default_rng(seed)
        self._validation = rows[np.sort(rng.choice(len(rows), min(len(rows), VALIDATION_ROWS), replace=False))]
        return self

    def _check_parameters(self, X: Floats) -> None:
        if not all(isinstance(size, Integral) and int(size) >= 1 for size in self.hidden):
            raise ValueError(f"hidden must be integers of at least 1, one for each layer; got {self.hidden!r}.")
        if len(self.betas) != 2 or not all(isinstance(beta, Real) and 0 <= float(beta) < 1 for beta in self.betas):
            raise ValueError(f"betas must be two numbers in [0, 1); got {self.betas!r}.")
        if self.output == "sigmoid" and (X.min() < 0.0 or X.max() > 1.0):
            raise ValueError(
                f"output='sigmoid' gives values in [0, 1], but X ranges over [{X.min():g}, {X.max():g}]: scale X "
                "or use output='linear'."
            )

    def sample(self, n_samples: int = 1, *, random_state: RandomState = None) -> Floats:
        """Return rows drawn from the learned density, (n_samples, d): decoded draws from the prior of the codes."""
        check_is_fitted(self)
        _check_count(n_samples)
        rng = check_random_state(random_state)
        shape = (n_samples, self._latent_dim())
        codes = rng.standard_normal(shape) if self._prior == "normal" else rng.uniform(-1.0, 1.0, shape)
        rows: Floats = Network(*self._decoder)(codes)
        return rows

    def _latent_dim(self) -> int:
        return int(self._decoder[0][0].shape[1])

    def inverse_transform(self, X: ArrayLike) -> Floats:
        """Return the decoded rows (n, d) of codes X (n, latent_dim)."""
        check_is_fitted(self)
        codes = np.asarray(X, dtype=np.float64)
        if codes.ndim != 2 or codes.shape[1] != self._latent_dim():
            raise ValueError(f"codes must have shape (n, {self._latent_dim()}); got {codes.shape}.")
        rows: Floats = Network(*self._decoder)(codes)
        return rows

    def score_samples(self, X: ArrayLike, *, n_samples: int = 10_000, random_state: RandomState = 0) -> Floats:
        """Return the log-likelihood of rows by kernel density on generated rows.

        The bandwidth is the best of ten between 1e-3 and 10^1.5 on at most 500 of the training rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.
        n_samples : int, default=10000
            Number of generated rows; the thesis has 100,000.
        random_state : int, RandomState or None, default=0
            Seed of the generated rows.

        Returns
        -------
        ndarray of shape (n,)
            Log-likelihood in nats.
        """
        check_is_fitted(self)
        _check_count(n_samples)
        rows = dense_rows(self, validated(self, X, reset=False))
        generated = self.sample(n_samples, random_state=random_state)
        return kernel_log_likelihood(generated, self._validation, rows)[0]

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return the mean of `score_samples` over the rows of X (n, d)."""
        return float(self.score_samples(X).mean())


class AutoEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DeepDensity):
    """Base of the models with an encoder."""

    _encoder: tuple[Any, ...]

    saved_state: ClassVar[State] = {
        "_encoder": Layers("m", "codes"),
    }

    def transform(self, X: ArrayLike) -> Floats:
        """Return the codes (n, latent_dim) of rows X (n, d)."""
        check_is_fitted(self)
        rows = dense_rows(self, validated(self, X, reset=False))
        codes: Floats = Network(*self._encoder)(rows)
        return codes

    @property
    def _n_features_out(self) -> int:
        return self._latent_dim()


def _check_count(n_samples: object) -> None:
    if not FROM_ONE.is_satisfied_by(n_samples):
        raise ValueError(f"n_samples must be a whole number of at least 1; got {n_samples!r}.")
