"""What `tune` is given: the name of a method, and the labels in any form that the estimators take."""

from __future__ import annotations

from typing import Any

import numpy as np

from pucli.arrays import AnyArray
from pucli.errors import UsageError
from pucli.estimators.base.labels import positive_label
from pucli.methods import METHODS, Method, get_method


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
