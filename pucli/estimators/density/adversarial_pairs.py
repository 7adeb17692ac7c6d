"""Deep density estimators with an adversary on pairs of a row and a code; Sansone (2018) compares with them.

Training needs torch (`pip install 'pucli[deep]'`); a fitted model consists of NumPy arrays and does not need it.
"""

from __future__ import annotations

from pucli.estimators.density.deep_density import AutoEncoder


class BidirectionalGAN(AutoEncoder):
    """Bidirectional GAN (BiGAN): generator and encoder deceive a discriminator of pairs.

    The discriminator minimizes the logistic loss of telling (x, f(x)) from (g(z), z), which encoder f and generator g
    raise together. Codes are uniform on [-1, 1]^h. The thesis uses ``batch_norm=True`` on high-dimensional rows.

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
    Donahue, Krahenbuhl, Darrell (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from pucli import BidirectionalGAN
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = BidirectionalGAN(hidden=(16,), n_iterations=100, block=50, random_state=0).fit(X)
    >>> model.transform(X).shape, model.sample(5).shape
    ((200, 2), (5, 3))
    """

    _model = "bigan"


class VEEGAN(AutoEncoder):
    """VEEGAN: a GAN whose encoder returns generated rows to their codes, so that no mode is dropped.

    The discriminator tells (g(z), z) from (x, f(x)). The generator g minimizes its logit plus |z - f(g(z))|^2, the
    reconstructor f the latter (algorithm 1). Codes are uniform on [-1, 1]^h. The thesis uses ``batch_norm=True``.

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
    Srivastava, Valkov, Russell, Gutmann, Sutton (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from pucli import VEEGAN
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = VEEGAN(hidden=(16,), n_iterations=100, block=50, random_state=0).fit(X)
    >>> model.transform(X).shape, model.sample(5).shape
    ((200, 2), (5, 3))
    """

    _model = "veegan"


class AdversarialVariationalBayes(AutoEncoder):
    """Adversarial variational Bayes with adaptive contrast (AVB-AC): a VAE with an implicit posterior.

    Minimizes minus the ELBO. The divergence of the codes' posterior from a Gaussian of the same moments is estimated by
    a discriminator, the rest in closed form. Codes are f_0(x) + sum_i f_i(x) v(e_i) with four noises e_i of 16
    dimensions and a small network v; `transform` gives f_0(x), their mean. Codes are standard normal.

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
    Mescheder, Nowozin, Geiger (2017), section 4 and appendix on adaptive contrast.

    Examples
    --------
    >>> import numpy as np
    >>> from pucli import AdversarialVariationalBayes
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = AdversarialVariationalBayes(hidden=(16,), n_iterations=100, block=50, random_state=0).fit(X)
    >>> model.transform(X).shape, model.sample(5).shape
    ((200, 2), (5, 3))
    """

    _model = "avb-ac"
    _prior = "normal"
