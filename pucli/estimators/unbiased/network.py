"""Networks trained on PU risks: the base of UPU with the sigmoid loss and of NNPU."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_random_state

from pucli.core.arrays import Bools, Floats
from pucli.core.errors import warn_user
from pucli.core.saved_state import STATEMENT, Array, Parts, State, Whole
from pucli.estimators.base.class_prior import PRIOR, PRIOR_ESTIMATOR, PriorInObjective
from pucli.estimators.base.parameters import CUT, FROM_ONE, NOT_NEGATIVE, POSITIVE, Constraints, RandomState
from pucli.solvers.upu.network import Network, Risk, Training, network_score, train_network, train_until_learned

# Steps of Adam if the number of epochs is not given.
STEPS = 500


class NetworkPU(PriorInObjective):
    """Base of UPU and NNPU: a network m - hidden - ReLU - 1 with the sigmoid loss, trained by Adam."""

    prior: float | None
    hidden: int
    n_epochs: int | None
    learning_rate: float
    weight_decay: float
    batch_size: int
    prior_estimator: str
    random_state: RandomState

    _parameter_constraints: ClassVar[Constraints] = {
        "prior": PRIOR,
        "hidden": [FROM_ONE],
        "n_epochs": [FROM_ONE, None],
        "learning_rate": [POSITIVE],
        "weight_decay": [NOT_NEGATIVE],
        "batch_size": [FROM_ONE],
        "prior_estimator": PRIOR_ESTIMATOR,
        "random_state": ["random_state"],
        "cut": CUT,
    }

    saved_state: ClassVar[State] = {
        "n_epochs_": Whole(),
        "network_": Parts(Array("m", "h"), Array("h"), Array("h"), Array(1)),
        "negative_risk_": STATEMENT,
    }

    def _train(self, X: Floats, labelled: Bools, non_negative: bool, **rule: float) -> None:
        """Train the network and keep it; `rule` holds beta and gamma of the non-negative risk."""
        random = check_random_state(self.random_state)
        self.prior_ = self._resolved_prior(X, labelled, random)
        self.n_epochs_ = self.n_epochs or max(1, round(STEPS / np.ceil(len(X) / self.batch_size)))
        rng = np.random.default_rng(random.randint(0, 2**31, size=4))
        training = Training(
            hidden=self.hidden,
            epochs=self.n_epochs_,
            learning_rate=self.learning_rate,
            decay=self.weight_decay,
            batch_size=self.batch_size,
        )
        train = train_until_learned if self.n_epochs is None else train_network
        result = train(X, labelled, Risk(self.prior_, non_negative, **rule), rng, training)
        self.network_ = tuple(result.network)  # plain, so that a model file can hold it
        self.negative_risk_ = result.risks.negative
        self._keep_certificate(result)

    def _warn_unless_converged(self) -> None:
        if not hasattr(self, "network_"):
            super()._warn_unless_converged()
        elif not self.converged_:
            warn_user(
                f"{type(self).__name__} has not learned: its risk is not below that of predicting one class "
                "throughout; check the prior. Where classes overlap at it, BLSSVM and NaiveSVC still rank the rows.",
                ConvergenceWarning,
            )

    def _network_score(self, X: Floats) -> Floats:
        score: Floats = network_score(Network(*self.network_), X)
        return score
