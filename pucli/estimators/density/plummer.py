"""The Plummer autoencoder and the deep density estimators it is compared with (Sansone 2018, chapter 4).

Training needs torch (`pip install 'pucli[deep]'`); a fitted model consists of NumPy arrays and does not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import ClassVar

from pucli.estimators.base.parameters import POSITIVE, Constraints, RandomState
from pucli.estimators.density.deep_density import AutoEncoder, DeepDensity


class PlummerAutoencoder(AutoEncoder):
    """Density estimation by an autoencoder whose codes are made uniform on [-1, 1]^h (Sansone 2018, eq. 4.2).

    Minimizes the mean over rows of |x - g(f(x))|^2 plus `lam` times the unbiased squared maximum mean discrepancy
    between f(x) and uniform codes, for the Plummer kernel (|z - z'|^2 + eps)^(-1/2), by Adam on minibatches
    (algorithm 2). There is no adversary.

    Parameters
    ----------
    latent_dim : int, default=2
        Dimension h of the codes, the intrinsic dimension of the data.
    lam : float, default=1.0
        Weight of the discrepancy. The thesis has 10 for the grid, 1 for the low-dimensional embedding and 0.1 for
        stacked digits, chosen for the lowest objective.
    eps : float, default=1e-4
        Softening of the kernel, in squared units of the codes.
    hidden : sequence of int, default=(128, 128)
        Units of the encoder's hidden layers (ReLU); the decoder has them in reverse order. Tables B.1, B.2: (128, 128);
        B.4: (2500, 2000, 1500, 1000, 500). The encoder ends in tanh.
    output : {"linear", "sigmoid"}, default="linear"
        Output of the decoder; "sigmoid" is for rows in [0, 1].
    batch_size : int, default=128
        Rows per step, at least 2; at most the number of rows is used.
    n_iterations : int, default=20000
        Total number of steps; the thesis has 2,000,000.
    learning_rate : float, default=1e-4
        Learning rate of Adam.
    betas : pair of float in [0, 1), default=(0.5, 0.9)
        Decay rates of Adam's moments.
    batch_norm : bool, default=False
        Whether to normalize the hidden layers.
    patience : int or None, default=None
        Stop when the mean objective has not reached a new minimum for this many blocks; None means never.
    block : int, default=1000
        Iterations per entry of `history_`.
    checkpoint : path or None, default=None
        File that is written after every block, and from which training resumes if it exists. Parameters, rows and seed
        must be the same, but `n_iterations` may be larger.
    device : str, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda", ...
    precision : {"auto", "float32", "bfloat16"}, default="auto"
        Of the hidden layers. "auto" is bfloat16 on a GPU that has it, and float32 elsewhere. On a GPU, networks in
        bfloat16 are compiled. A GPU checkpoint of a version before 0.2.0 needs "float32".
    report : callable or None, default=None
        Called after every block with the iteration and the mean objective; a true result stops the training.
    random_state : int, RandomState or None, default=None
        Seed of weights, batches and codes.

    Attributes
    ----------
    history_ : ndarray
        Mean objective of every finished block.
    objective_ : float
        Last entry of `history_`.
    dual_gap_ : float
        NaN: the problem is not convex.
    residual_ : float
        Norm of the gradient at the last step.
    n_iter_ : int
        Number of steps.
    precision_ : str
        "float32" or "bfloat16".
    stopped_early_ : bool
        Whether `patience` ended the training.
    converged_ : bool
        Whether all steps were done or `patience` ended the training; False if `report` stopped it.

    References
    ----------
    E. Sansone, PhD thesis, University of Trento, 2018, chapter 4 and appendix B.

    Examples
    --------
    >>> import numpy as np
    >>> from pucli import PlummerAutoencoder
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = PlummerAutoencoder(hidden=(16,), n_iterations=200, block=100, random_state=0).fit(X)
    >>> model.transform(X).shape, model.sample(5).shape
    ((200, 2), (5, 3))
    """

    _model = "pae"
    _parameter_constraints: ClassVar[Constraints] = {
        **DeepDensity._parameter_constraints,
        "lam": [POSITIVE],
        "eps": [POSITIVE],
    }

    def __init__(  # noqa: PLR0913
        self,
        latent_dim: int = 2,
        *,
        lam: float = 1.0,
        eps: float = 1e-4,
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
            precision=precision,
            report=report,
            random_state=random_state,
        )
        self.lam = lam
        self.eps = eps


class VariationalAutoencoder(AutoEncoder):
    """Variational autoencoder (VAE): Gaussian posterior and unit noise.

    Minimizes the mean over rows of the reconstruction error plus the divergence of the codes' posterior from the
    standard normal. Codes are standard normal, not uniform, as in the original paper; `transform` gives the posterior
    mean.

    Parameters
    ----------
    latent_dim : int, default=2
        Dimension of the codes.
    hidden : sequence of int, default=(128, 128)
        Units of the hidden layers (ReLU).
    output, batch_size, n_iterations, learning_rate, betas, batch_norm, patience, block, checkpoint, device
        As in `PlummerAutoencoder`.
    precision, report, random_state
        As in `PlummerAutoencoder`.

    Attributes
    ----------
    history_, objective_, dual_gap_, residual_, n_iter_, stopped_early_, converged_
        As in `PlummerAutoencoder`.

    References
    ----------
    Kingma and Welling (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from pucli import VariationalAutoencoder
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = VariationalAutoencoder(hidden=(16,), n_iterations=100, block=50, random_state=0).fit(X)
    >>> model.sample(5).shape
    (5, 3)
    """

    _model = "vae"
    _prior = "normal"


class AdversarialAutoencoder(AutoEncoder):
    """Adversarial autoencoder (AAE): a discriminator makes the codes follow the uniform distribution.

    Minimizes the reconstruction error, the loss of the discriminator and the loss of the encoder in turn. The thesis
    uses ``batch_norm=True`` on high-dimensional rows.

    Parameters
    ----------
    latent_dim : int, default=2
        Dimension of the codes.
    hidden : sequence of int, default=(128, 128)
        Units of the hidden layers (ReLU).
    output, batch_size, n_iterations, learning_rate, betas, batch_norm, patience, block, checkpoint, device
        As in `PlummerAutoencoder`.
    precision, report, random_state
        As in `PlummerAutoencoder`.

    Attributes
    ----------
    history_, objective_, dual_gap_, residual_, n_iter_, stopped_early_, converged_
        As in `PlummerAutoencoder`.

    References
    ----------
    Makhzani et al. (2016).

    Examples
    --------
    >>> import numpy as np
    >>> from pucli import AdversarialAutoencoder
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = AdversarialAutoencoder(hidden=(16,), n_iterations=100, block=50, random_state=0).fit(X)
    >>> model.sample(5).shape
    (5, 3)
    """

    _model = "aae"


class WassersteinGAN(DeepDensity):
    """Wasserstein GAN with gradient penalty (WGAN-GP): penalty 10, five critic steps per generator step.

    The critic estimates the Wasserstein distance between rows and generated rows, which the generator minimizes. It
    has no encoder.

    Parameters
    ----------
    latent_dim : int, default=2
        Dimension of the codes.
    hidden : sequence of int, default=(128, 128)
        Units of the hidden layers (ReLU).
    output, batch_size, n_iterations, learning_rate, betas, batch_norm, patience, block, checkpoint, device
        As in `PlummerAutoencoder`.
    precision, report, random_state
        As in `PlummerAutoencoder`.

    Attributes
    ----------
    history_, objective_, dual_gap_, residual_, n_iter_, stopped_early_, converged_
        As in `PlummerAutoencoder`.

    References
    ----------
    Gulrajani et al. (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from pucli import WassersteinGAN
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = WassersteinGAN(hidden=(16,), n_iterations=100, block=50, random_state=0).fit(X)
    >>> model.sample(5).shape
    (5, 3)
    """

    _model = "wgan-gp"


class CoulombGAN(DeepDensity):
    """Coulomb GAN: the generator follows a potential field that a discriminator learns.

    In the field, rows attract generated rows, and generated rows repel each other. It has no encoder.

    Parameters
    ----------
    latent_dim : int, default=2
        Dimension of the codes.
    hidden : sequence of int, default=(128, 128)
        Units of the hidden layers (ELU).
    output, batch_size, n_iterations, learning_rate, betas, batch_norm, patience, block, checkpoint, device
        As in `PlummerAutoencoder`.
    precision, report, random_state
        As in `PlummerAutoencoder`.

    Attributes
    ----------
    history_, objective_, dual_gap_, residual_, n_iter_, stopped_early_, converged_
        As in `PlummerAutoencoder`.

    References
    ----------
    Unterthiner et al. (2018).

    Examples
    --------
    >>> import numpy as np
    >>> from pucli import CoulombGAN
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = CoulombGAN(hidden=(16,), n_iterations=100, block=50, random_state=0).fit(X)
    >>> model.sample(5).shape
    (5, 3)
    """

    _model = "coulomb-gan"
