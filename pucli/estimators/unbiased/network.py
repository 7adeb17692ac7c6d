"""The network of UPU with the sigmoid loss and of NNPU: m - hidden - ReLU - 1, trained by Adam."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pucli.core.arrays import Bools, Floats
from pucli.core.errors import warn_user
from pucli.core.saved_state import STATEMENT, Array, Parts, State, Whole
from pucli.estimators.base.class_prior import PRIOR, PRIOR_ESTIMATOR
from pucli.estimators.base.parameters import FROM_ONE, NOT_NEGATIVE, POSITIVE, THRESHOLD, Constraints
from pucli.solvers.upu.network import (
    NetworkWeights,
    Risk,
    TrainingSettings,
    network_score,
    train_network,
    train_until_learned,
)

# Steps of Adam if the number of epochs is not given.
STEPS = 500
NETWORK_PARAMETERS: Constraints = {
    "prior": PRIOR,
    "hidden": [FROM_ONE],
    "n_epochs": [FROM_ONE, None],
    "learning_rate": [POSITIVE],
    "weight_decay": [NOT_NEGATIVE],
    "batch_size": [FROM_ONE],
    "prior_estimator": PRIOR_ESTIMATOR,
    "random_state": ["random_state"],
    "threshold": THRESHOLD,
}
NETWORK_STATE: State = {
    "n_epochs_": Whole(),
    "network_": Parts(Array("m", "h"), Array("h"), Array("h"), Array(1)),
    "negative_risk_": STATEMENT,
}


def fit_network(model: Any, X: Floats, labeled: Bools, risk: Risk, random: np.random.RandomState) -> None:
    """Train the network of a model on a risk, and keep it with its certificate."""
    model.n_epochs_ = model.n_epochs or max(1, round(STEPS / np.ceil(len(X) / model.batch_size)))
    rng = np.random.default_rng(random.randint(0, 2**31, size=4))
    training = TrainingSettings(
        hidden=model.hidden,
        epochs=model.n_epochs_,
        learning_rate=model.learning_rate,
        decay=model.weight_decay,
        batch_size=model.batch_size,
    )
    train = train_until_learned if model.n_epochs is None else train_network
    result = train(X, labeled, risk, rng, training)
    model.network_ = tuple(result.network)  # plain, so that a model file can hold it
    model.negative_risk_ = result.risks.negative
    model._keep_certificate(result)


def score_by_network(model: Any, X: Floats) -> Floats:
    """Return f(x) (n,) of rows X (n, m) by the network of a fitted model."""
    score: Floats = network_score(NetworkWeights(*model.network_), X)
    return score


def warn_unless_learned(model: Any) -> None:
    """Warn if the network of a fitted model has not learned."""
    if not model.converged_:
        warn_user(
            f"{type(model).__name__} has not learned: its risk is not below that of predicting one class "
            "throughout; check the prior. Where classes overlap at it, BLSSVM and NaiveSVC still rank the rows.",
            ConvergenceWarning,
        )
