"""The class prior of estimators whose objective holds it: the parameter, and the estimate where it is not given."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pucli.arrays import Bools, Floats
from pucli.errors import EstimatedPriorWarning
from pucli.estimators.base.parameters import PROPORTION, RandomState
from pucli.estimators.base.pu import PUClassifier
from pucli.solvers.prior.estimate import estimate_prior

PRIOR = [PROPORTION, None]
# An estimate is kept this far from 0 and 1, where the methods that use it are not defined.
MARGIN = 0.01


class PriorInObjective(PUClassifier):
    """Base of PU classifiers whose objective holds the prior of the unlabeled rows.

    Attributes
    ----------
    prior_ : float
        The prior used.
    """

    prior_: float

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Labels read as classes (no positive among the unlabeled rows) are not what such a model fits: the accuracy
        # that scikit-learn's checks ask for does not apply.
        tags.classifier_tags.poor_score = True
        return tags


def resolve_prior(prior: float | None, X: Floats, labelled: Bools, random_state: RandomState) -> float:
    """Return the share of positives among the unlabeled rows: the one given, or the estimate by best bins (BBE).

    Parameters
    ----------
    prior : float or None
        None estimates it, with a warning (EstimatedPriorWarning) that says what the kernel mean embedding (KM2) says.
    X : ndarray of shape (n, m)
    labelled : ndarray of bool, shape (n,)
        True for labelled positives.
    random_state : int, RandomState or None
        Draws folds, and the rows of the estimate where there are more than 800 of a kind.

    Returns
    -------
    float
        Strictly between 0 and 1; an estimate is kept 0.01 away from them.
    """
    if prior is not None:
        return float(prior)
    found = float(np.clip(estimate_prior(X, labelled, "bbe", random_state=random_state).prior, MARGIN, 1.0 - MARGIN))
    # a seed of its own: the second opinion must not change what is drawn afterwards
    other = estimate_prior(X, labelled, "km2", random_state=0).prior
    warnings.warn(
        f"no class prior is given: the estimate {found:.2g} of BBE is taken for the share of positives among the "
        f"unlabeled rows; KM2's is {other:.2g}. Both are rough. Set prior if the share is known; `pucli prior` gives "
        "an interval.",
        EstimatedPriorWarning,
        stacklevel=5,
    )
    return found
