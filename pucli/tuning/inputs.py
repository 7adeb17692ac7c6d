"""What `tune` is given: the name of a method, labels in any form that the estimators take, and the class prior."""

from __future__ import annotations

from typing import Any

import numpy as np

from pucli.arrays import AnyArray, Bools
from pucli.errors import UsageError
from pucli.estimators.base.labels import positive_label
from pucli.methods import METHODS, Method, get_method
from pucli.seeding import stream


def named_method(method: Any) -> Method:
    """Return the method of this name; raise UsageError, with the name to give, for an estimator."""
    if isinstance(method, str):
        return get_method(method)
    kind = method if isinstance(method, type) else type(method)
    names = [name for name, entry in METHODS.items() if entry.estimator == f"{kind.__module__}:{kind.__name__}"]
    example = repr(names[0]) if names else "'glpual'"
    raise UsageError(
        f"tune takes the name of a method, not a {kind.__name__}: tune({example}, X, y); `params` holds the parameters "
        "that are fixed."
    )


def labelling(labels: Any, pos_label: Any = None) -> AnyArray:
    """Return 1 for labelled positives and 0 for unlabeled rows, shape (n,).

    Parameters
    ----------
    labels : array-like of shape (n,)
        1 and 0, or two other labels, of which `pucli.estimators.base.labels.positive_label` marks the positives.
    pos_label : label, optional
        The label of labelled positives.

    Raises
    ------
    UsageError
        There are more than two labels, or one that is neither 0 nor 1.
    """
    found = np.asarray(labels)
    if found.dtype.kind == "O":
        found = np.array(found.tolist())
    classes = np.unique(found)
    if len(classes) == 2:
        return np.asarray(found == positive_label(classes, pos_label)).astype(np.int8)
    if len(classes) == 1 and classes[0] in (0, 1):
        return found.astype(np.int8)
    shown = ", ".join(repr(label) for label in classes[:3].tolist()) + ", ..." * (len(classes) > 3)
    raise UsageError(
        f"the labels are {shown or 'none'}; give two, one for labelled positives and one for unlabeled rows."
    )


# Rows of each kind from which the class prior is estimated, and limits of the estimate.
PRIOR_ROWS, PRIOR_RANGE = 800, (0.02, 0.98)


def share_of_positives(X: Any, labelled: Bools, denominator: str, seed: int) -> float:
    """Return the estimated share of positives among the unlabeled rows, or among all rows (denominator "all").

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, m)
        Rows; at most `PRIOR_ROWS` of each kind are used.
    labelled : ndarray of shape (n,)
        Which rows are labelled positives.
    denominator : {"unlabeled", "all"}
        The rows whose positives are counted.
    seed : int
        Seed of the sample and of the folds.
    """
    from scipy.sparse import issparse

    from pucli.solvers.prior.estimate import estimate_prior

    rng = stream(seed, "class prior")
    rows = np.sort(
        np.concatenate([rng.permutation(np.flatnonzero(kind))[:PRIOR_ROWS] for kind in (labelled, ~labelled)])
    )
    few = X[rows].toarray() if issparse(X) else X[rows]
    low, high = PRIOR_RANGE
    hidden = float(np.clip(estimate_prior(few, labelled[rows], random_state=seed).prior, low, high))
    if denominator == "unlabeled":
        return hidden
    n, known = len(labelled), int(np.count_nonzero(labelled))
    return (known + hidden * (n - known)) / n
