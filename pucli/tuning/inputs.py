"""Inputs of `tune`: a method, labels in any form that the estimators take, a rule, and the class prior."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import coo_array, issparse

from pucli.core.arrays import AnyArray, Bools, Ints
from pucli.core.errors import UsageError, unknown
from pucli.core.seeding import sample_of_each_kind, stream
from pucli.data.table_libraries import numeric_rows
from pucli.estimators.base.labels import plain_labels, positive_label, refuse_missing_labels
from pucli.methods import METHODS, Method, check_value, constructor_defaults, estimator_class, get_method
from pucli.tuning.routes import Point
from pucli.tuning.scorers import RANKING, Rule, check_rule

# Rows of each kind from which the class prior is estimated, and limits of the estimate.
PRIOR_ROWS, PRIOR_RANGE = 800, (0.02, 0.98)


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


def finite_rows(method: Method, X: Any) -> Any:
    """Return rows (n, m) as floats, or sparse as they are."""
    rows: Any = X if issparse(X) else np.asarray(numeric_rows(estimator_class(method)(), X), dtype=np.float64)
    if rows.ndim != 2:
        raise UsageError(f"the rows have the shape {rows.shape}; tune takes a table of rows and features.")
    values = coo_array(rows).data if issparse(rows) else rows
    if not np.isfinite(values).all():
        wrong = np.argwhere(~np.isfinite(values))[0]
        row, column = (index[wrong[0]] for index in coo_array(rows).coords) if issparse(rows) else wrong
        way_out = "pucli.data.TableEncoder().fit_transform fills and marks empty cells"
        raise UsageError(f"row {row}, feature {column} is empty or infinite; {way_out}.")
    return rows


def labeling(labels: Any, pos_label: Any = None) -> AnyArray:
    """Return 1 for labeled positives and 0 for unlabeled rows, shape (n,)."""
    labels = plain_labels(labels)
    refuse_missing_labels(labels)
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
        f"the labels are {shown or 'none'}; give two, one for labeled positives and one for unlabeled rows."
    )


def rule_for(method: Method, name: str | None, denominator: str, fixed: Point) -> Rule:
    """Return the selection rule called `name`, or the default rule of the method."""
    takes_threshold = "threshold" in estimator_class(method)._get_param_names()
    name = name or (RANKING if takes_threshold else "f1")
    population = check_rule(name, denominator)
    if name == RANKING and not takes_threshold:
        raise UsageError(
            f"{method.name} has no parameter 'threshold', which the score {RANKING} sets; use the score f1."
        )
    moves_threshold = name == RANKING and fixed.get("threshold") is None
    return Rule(name, population, method.regularization, method.ridge, moves_threshold=moves_threshold)


def check_parameters(method: Method, fixed: Point, grid: Mapping[str, list[Any]]) -> None:
    """Raise UsageError for a parameter that the method does not have or a value out of range."""
    if "threshold" in grid:
        raise UsageError(
            f"threshold: no parameter of a grid; the score {RANKING} moves it to the greatest estimated F1."
        )
    known = estimator_class(method)._get_param_names()
    for name in [*fixed, *grid]:
        if name not in known:
            raise unknown("parameter", name, known, of=method.name)
    for name, values in [*((name, [value]) for name, value in fixed.items()), *grid.items()]:
        for value in values:
            check_value(method.name, name, value)


def estimator_of_prior(method: Method, fixed: Point, grid: Point) -> str | None:
    """Return the name of the prior estimator that every fit would use, or None if no fit estimates its class prior."""
    takes = method.prior.startswith("estimated") and "prior" in estimator_class(method)._get_param_names()
    if not takes or fixed.get("prior") is not None or {"prior", "prior_estimator"} & set(grid):
        return None
    return str(fixed.get("prior_estimator", constructor_defaults(method).get("prior_estimator", "auto")))


def share_of_positives(X: Any, labeled: Bools, seed: int, estimator: str = "auto", groups: Ints | None = None) -> float:
    """Return the estimated share of positives among the unlabeled rows."""
    from pucli.solvers.ensemble.class_prior import hidden_share_of
    from pucli.solvers.prior.estimate import estimate_prior

    rows = sample_of_each_kind(labeled, stream(seed, "class prior"), PRIOR_ROWS)
    few = X[rows].toarray() if issparse(X) else X[rows]
    low, high = PRIOR_RANGE
    together = None if groups is None else groups[rows]
    if estimator == "auto":
        found = hidden_share_of(few, labeled[rows], seed, together).prior
    else:
        found = estimate_prior(few, labeled[rows], estimator, random_state=seed, groups=together).prior
    return float(np.clip(found, low, high))


def in_population(hidden: float, labeled: Bools, denominator: str) -> float:
    """Return the share of positives in the rows of a denominator, from the share among the unlabeled rows."""
    if denominator == "unlabeled":
        return hidden
    n, known = len(labeled), int(np.count_nonzero(labeled))
    return (known + hidden * (n - known)) / n
