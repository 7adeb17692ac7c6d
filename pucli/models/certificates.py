"""Certificates and warnings of fits, which cells store besides the metrics."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def certificate(model: Any) -> dict[str, Any]:
    """Return those of objective, dual_gap, residual, n_iter and converged that a fitted model has."""
    found: dict[str, Any] = {}
    for name in ("objective", "dual_gap", "residual"):
        value = getattr(model, f"{name}_", None)
        if value is not None and not (name == "residual" and np.isnan(value)):  # convex methods have none
            found[name] = float(value)
    if getattr(model, "n_iter_", None) is not None:
        found["n_iter"] = int(np.max(model.n_iter_))
    if getattr(model, "converged_", None) is not None:
        found["converged"] = bool(model.converged_)
    return found


@contextmanager
def watched() -> Iterator[dict[str, Any]]:
    """Count fits that did not converge and record each other warning once, instead of printing them."""
    from sklearn.exceptions import ConvergenceWarning

    from pucli.core.errors import DegenerateModelWarning, EstimatedPriorWarning, PlugInWarning, TrainingRowsWarning

    seen: dict[str, Any] = {"not converged": 0, "texts": []}

    def keep(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, (DegenerateModelWarning, EstimatedPriorWarning, PlugInWarning, TrainingRowsWarning)):
            return  # the metrics, the declared parameters, `pucli list`, and the protocol say so
        if issubclass(category, ConvergenceWarning):
            seen["not converged"] += 1
        elif not issubclass(category, (DeprecationWarning, FutureWarning)):
            text = " ".join(str(message).split())
            if text not in seen["texts"]:
                seen["texts"].append(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = keep
        yield seen
