"""The class prior of estimators whose objective holds it: the parameter, and the estimate where it is not given."""

from __future__ import annotations

from typing import Any

import numpy as np

from pucli.arrays import Bools, Floats
from pucli.estimators.base.parameters import PROPORTION, RandomState
from pucli.estimators.base.pu import PUClassifier
from pucli.solvers.prior.estimate import estimate_prior

PRIOR = [PROPORTION, None]
# An estimate is kept this far from 0 and 1, where the methods that use it are not defined.
MARGIN = 0.01


class PriorInObjective(PUClassifier):
    """Base of PU classifiers whose objective holds the prior of the unlabeled rows."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Labels read as classes (no positive among the unlabeled rows) are not what such a model fits: the accuracy
        # that scikit-learn's checks ask for does not apply.
        tags.classifier_tags.poor_score = True
        return tags


def resolve_prior(prior: float | None, X: Floats, labelled: Bools, random_state: RandomState) -> float:
    """Return `prior`, or KM2's estimate where it is None, kept 0.01 away from 0 and 1."""
    if prior is not None:
        return float(prior)
    return float(np.clip(estimate_prior(X, labelled, "km2", random_state=random_state).prior, MARGIN, 1.0 - MARGIN))
