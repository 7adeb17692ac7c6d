"""The class prior in the objective of an estimator: the parameter, and the estimate if it is not given."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from pucli.core.arrays import Bools, Floats, Ints
from pucli.core.errors import EstimatedPriorWarning, by_interface, warn_user
from pucli.core.memory import check_memory
from pucli.data.splits.groups import group_numbers
from pucli.estimators.base.parameters import PROPORTION, RandomState, one_of
from pucli.methods import estimator_class, get_method
from pucli.solvers.prior.estimate import estimate_prior

PRIOR = [PROPORTION, None]
PRIOR_ESTIMATOR = [one_of("auto", "bbe", "km2")]
# An estimate is kept this far from 0 and 1, at which the methods that use it are not defined.
MARGIN = 0.01
# The most sparse rows of each kind that are made dense for an estimate.
SPARSE_ROWS = 800


def _some_rows(X: Any, labeled: Bools) -> Ints:
    """Return the indices of some of the sparse rows X (n, m) of each kind, as many as an estimate draws."""
    kinds = [np.flatnonzero(labeled), np.flatnonzero(~labeled)]
    rows = np.concatenate(
        [kind[np.linspace(0, len(kind) - 1, min(len(kind), SPARSE_ROWS)).astype(int)] for kind in kinds]
    )
    check_memory(8.0 * len(rows) * X.shape[1], f"estimating the prior from {len(rows)} rows", "give prior")
    return rows


def resolve_prior(
    prior: float | None,
    X: Any,
    labeled: Bools,
    random_state: RandomState,
    estimator: str,
    groups: ArrayLike | None = None,
) -> float:
    """Return the share of positives among the unlabeled rows, as given or estimated."""
    numbers = None if groups is None else group_numbers(groups, len(labeled))
    if prior is not None:
        return float(prior)
    if issparse(X):
        rows = _some_rows(X, labeled)
        X, labeled, numbers = X[rows].toarray(), labeled[rows], None if numbers is None else numbers[rows]
    of = _of_auto if estimator == "auto" else partial(_of_one_method, name=estimator)
    found, how = of(X, labeled, random_state, numbers)
    found = float(np.clip(found, MARGIN, 1.0 - MARGIN))
    warn_user(
        f"no class prior is given: the estimate {round(found, 2):g} of {how}. Set prior if the share is known.",
        EstimatedPriorWarning,
    )
    return found


def _of_auto(X: Floats, labeled: Bools, random_state: RandomState, groups: Ints | None) -> tuple[float, str]:
    """Return the estimate of `AutoPU`, and words on it."""
    # the room of the automatic classifier is above this one, so that it is found by its name
    auto = estimator_class(get_method("auto"))
    found = auto.hidden_share(X, labeled, random_state, groups)
    low, high = round(found.low, 3), round(found.high, 3)
    name = by_interface(f"estimator {found.method!r} of estimate_priors", f"`pucli prior --estimator {found.method}`")
    share = f"{name} ({low:g} to {high:g} with 90% confidence)"
    return found.prior, f"{share} is taken for the share of positives among the unlabeled rows"


def _of_one_method(
    X: Floats, labeled: Bools, random_state: RandomState, groups: Ints | None, *, name: str
) -> tuple[float, str]:
    """Return the estimate of a method, and words on it."""
    found = estimate_prior(X, labeled, name, random_state=random_state, groups=groups).prior
    return found, (
        f"{name.upper()}, which is rough, is taken for the share of positives among the unlabeled rows; "
        f"{by_interface('estimate_priors', '`pucli prior`')} gives an interval, and other estimates"
    )
