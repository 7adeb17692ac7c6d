"""Short runs of the deep models, and rows for them."""

from __future__ import annotations

import numpy as np

from pucli.estimators.density.plummer import PlummerAutoencoder
from pucli.methods import METHODS, estimator_class
from pucli.solvers.deep.models import MODELS

DEEP_MODELS = {name: estimator_class(METHODS[name]) for name in MODELS if name in METHODS}


def small(estimator=PlummerAutoencoder, **params):
    return estimator(
        **{"hidden": (16,), "n_iterations": 60, "block": 20, "batch_size": 16, "random_state": 0, **params}
    )


def rows(n=64, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))
