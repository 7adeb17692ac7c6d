"""The class prior in the objective of an estimator: the parameter, and the estimate if it is not given."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse

from pucli.arrays import Bools, Floats
from pucli.errors import EstimatedPriorWarning
from pucli.estimators.base.parameters import PROPORTION, RandomState, one_of
from pucli.estimators.base.pu import PUClassifier
from pucli.memory import check_memory
from pucli.solvers.prior.estimate import estimate_prior

PRIOR = [PROPORTION, None]
PRIOR_ESTIMATOR = [one_of("bbe", "km2")]
# An estimate is kept this far from 0 and 1, at which the methods that use it are not defined.
MARGIN = 0.01
# The most sparse rows of each kind that are made dense for an estimate.
SPARSE_ROWS = 800


class PriorInObjective(PUClassifier):
    """Base of PU classifiers with the class prior of the unlabeled rows in their objective.

    Attributes
    ----------
    prior_ : float
        The prior used.
    """

    prior_: float

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Such a model does not fit labels taken as classes (no positive among the unlabeled rows), so the accuracy
        # that scikit-learn's checks require does not apply.
        tags.classifier_tags.poor_score = True
        return tags


def _some_dense(X: Any, labelled: Bools) -> tuple[Floats, Bools]:
    """Return some of the sparse rows X (n, m) of each kind as an array, as many as an estimate draws."""
    kinds = [np.flatnonzero(labelled), np.flatnonzero(~labelled)]
    rows = np.concatenate(
        [kind[np.linspace(0, len(kind) - 1, min(len(kind), SPARSE_ROWS)).astype(int)] for kind in kinds]
    )
    check_memory(8.0 * len(rows) * X.shape[1], f"estimating the prior from {len(rows)} rows", "give prior")
    return X[rows].toarray(), labelled[rows]


def resolve_prior(prior: float | None, X: Floats, labelled: Bools, random_state: RandomState, estimator: str) -> float:
    """Return the share of positives among the unlabeled rows, as given or estimated.

    Parameters
    ----------
    prior : float or None
        None estimates it, with a warning (EstimatedPriorWarning) that also gives the other estimator's value.
    X : ndarray of shape (n, m)
    labelled : ndarray of bool, shape (n,)
        Which rows are labelled positives.
    random_state : int, RandomState or None
        Seed of the folds, and of the rows of the estimate if there are more than 800 of a kind.
    estimator : {"bbe", "km2"}
        Best bin estimation, or kernel mean embedding.

    Returns
    -------
    float
        Strictly between 0 and 1; an estimate is kept 0.01 away from them.
    """
    if prior is not None:
        return float(prior)
    if issparse(X):
        X, labelled = _some_dense(X, labelled)
    estimate = estimate_prior(X, labelled, estimator, random_state=random_state).prior
    found = float(np.clip(estimate, MARGIN, 1.0 - MARGIN))
    # a separate seed, so that the second estimate does not change later draws
    second = "km2" if estimator == "bbe" else "bbe"
    other = estimate_prior(X, labelled, second, random_state=0).prior
    warnings.warn(
        f"no class prior is given: the estimate {found:.2g} of {estimator.upper()} is taken for the share of positives "
        f"among the unlabeled rows; {second.upper()}'s is {other:.2g}. Both are rough. Set prior if the share is "
        "known; `pucli prior` gives an interval.",
        EstimatedPriorWarning,
        stacklevel=5,
    )
    return found
